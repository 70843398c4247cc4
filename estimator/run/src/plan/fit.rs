//! GPUs that techniques have reshaped and fitted into their clock.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::prelude::*;
use warpwatt_gpu::GpuSpec;
use warpwatt_techlib::quantity::Voltage;
use warpwatt_techniques::Fit;

use super::{Axes, Combination};
use crate::built::try_to_build;
use crate::clock::follow_vdd;
use crate::diag::{Diag, Sink, SourceId};
use crate::outcome::{Note, NoteKind};
use crate::pricing::NodeCircuits;
use crate::study::{Clock, Configuration, Faults, Variant};

/// Technologies whose configurations are fitted at once.
const AT_ONCE: usize = 64;

/// What fitting a configuration into a GPU at a technology came to.
#[derive(Clone, Debug)]
pub(super) struct Fitted {
    /// The GPU, among those that the configuration makes of it.
    pub(super) spec: usize,
    pub(super) notes: Arc<Vec<Note>>,
    /// The supply that techniques run it at, where it is not the technology's.
    pub(super) supply: Option<Voltage>,
}

/// A GPU that is fitted, or why it cannot be built.
type Made = Result<(GpuSpec, Fit), String>;

/// The fitted GPUs. Few differ: a technology only makes another GPU where a technique must take another cycle or the clock follows the supply.
#[derive(Debug, Default)]
pub(super) struct Fits {
    timed_as: Vec<u32>,
    /// By GPU, technology and configuration.
    fitted: BTreeMap<[u32; 3], Fitted>,
    /// By GPU and configuration.
    specs: BTreeMap<[u32; 2], Specs>,
}

/// The GPUs that a configuration makes of one, each once.
#[derive(Debug, Default)]
struct Specs {
    all: Vec<Arc<GpuSpec>>,
    /// Their places, by the clocks that the supply allows: thousands of them differ in nothing else.
    by_clock: BTreeMap<[u32; 2], Vec<usize>>,
}

impl Specs {
    /// The place of a GPU, which it is given if it has none.
    fn place(&mut self, spec: GpuSpec) -> usize {
        let clocks = [spec.sm.clock_mhz, spec.noc.clock_mhz];
        let alike = self.by_clock.entry(clocks).or_default();
        let known = alike.iter().find(|place| *self.all[**place] == spec);
        known.copied().unwrap_or_else(|| {
            alike.push(self.all.len());
            self.all.push(Arc::new(spec));
            self.all.len() - 1
        })
    }
}

impl Fits {
    /// Fits whatever the combinations need. What cannot be built is left in `sink`.
    pub(super) fn all(
        axes: &Axes,
        combinations: &[Combination],
        sink: &mut Sink,
        source: SourceId,
    ) -> Option<Fits> {
        let mut fits = Fits {
            timed_as: timed_as(axes),
            ..Fits::default()
        };
        let wanted = combinations.iter().map(|combination| {
            let [_, gpu, technology, configuration] = *combination;
            [gpu, technology, fits.timed_as(configuration)]
        });
        let wanted: BTreeSet<[u32; 3]> = wanted.collect();
        let wanted: Vec<[u32; 3]> = wanted.into_iter().collect();
        let mut faults = Faults::default();
        // A GPU takes some kilobytes until it is known to be one that is there.
        let technologies: Vec<&[[u32; 3]]> = wanted.chunk_by(|a, b| a[..2] == b[..2]).collect();
        for technologies in technologies.chunks(AT_ONCE) {
            let fitted = technologies.par_iter().map(|places| fit_all(axes, places));
            let fitted: Vec<Vec<Made>> = fitted.collect();
            let places = technologies.iter().copied().flatten();
            for (place, fitted) in places.zip(fitted.into_iter().flatten()) {
                let here = &axes.configurations[place[2] as usize];
                let known = fitted.and_then(|fitted| fits.add(axes, *place, fitted));
                if let Err(why) = known {
                    faults.push(unbuilt(here, &why, source));
                }
            }
        }
        faults.leave(sink);
        (!sink.has_errors()).then_some(fits)
    }

    /// Adds what was fitted.
    fn add(
        &mut self,
        axes: &Axes,
        place: [u32; 3],
        (spec, fit): (GpuSpec, Fit),
    ) -> Result<(), String> {
        let [gpu, technology, configuration] = place;
        let known = self.specs.entry([gpu, configuration]).or_default();
        // In the first technology only: it is sizes that circuits refuse.
        let built = match known.all.is_empty() {
            true => {
                let stack = &axes.configurations[configuration as usize].stack;
                try_to_build(&spec, stack, &axes.technologies[technology as usize])
            }
            false => Ok(()),
        };
        let notes = super::span::notes(NoteKind::Timing, fit.notes);
        let fitted = Fitted {
            spec: known.place(spec),
            notes: Arc::new(notes.collect()),
            supply: fit.supply,
        };
        self.fitted.insert(place, fitted);
        built.map_err(|error| error.to_string())
    }

    /// The first configuration with the techniques of this one. Structures of a study's own take no time, so it is timed once for all of them.
    pub(super) fn timed_as(&self, configuration: u32) -> u32 {
        self.timed_as[configuration as usize]
    }

    /// What a GPU, a technology and a configuration came to.
    pub(super) fn at(&self, place: [u32; 3]) -> &Fitted {
        &self.fitted[&place]
    }

    /// The GPU that was fitted.
    pub(super) fn spec(&self, gpu: u32, configuration: u32, number: usize) -> &Arc<GpuSpec> {
        &self.specs[&[gpu, configuration]].all[number]
    }
}

fn unbuilt(configuration: &Configuration, why: &str, source: SourceId) -> Diag {
    let message = format!("`{}` cannot be built: {why}", configuration.label);
    let diag = Diag::error("study::fit", message);
    let places = configuration.range.iter();
    places.fold(diag, |diag, range| diag.at(source, range.clone(), ""))
}

fn timed_as(axes: &Axes) -> Vec<u32> {
    let mut first: BTreeMap<String, u32> = BTreeMap::new();
    let configurations = axes.configurations.iter().zip(0..);
    configurations
        .map(|(configuration, place)| *first.entry(configuration.stack.label()).or_insert(place))
        .collect()
}

/// Fits the configurations of a technology, which is left then.
fn fit_all(axes: &Axes, places: &[[u32; 3]]) -> Vec<Made> {
    let fitted = places.iter().map(|[gpu, technology, configuration]| {
        fit(
            &axes.gpus[*gpu as usize],
            &axes.technologies[*technology as usize],
            &axes.configurations[*configuration as usize],
            axes.clock,
        )
    });
    let fitted = fitted.collect();
    if let Some([_, technology, _]) = places.first() {
        axes.leave(*technology as usize);
    }
    fitted
}

fn fit(
    variant: &Variant,
    circuits: &NodeCircuits,
    configuration: &Configuration,
    clock: Clock,
) -> Made {
    let mut spec = variant.spec.clone();
    if clock == Clock::FollowsVdd {
        follow_vdd(&mut spec, circuits).map_err(|error| error.to_string())?;
    }
    configuration.stack.reshape(&mut spec);
    let fit = configuration
        .stack
        .fit(&mut spec, circuits)
        .map_err(|error| error.to_string())?;
    Ok((spec, fit))
}

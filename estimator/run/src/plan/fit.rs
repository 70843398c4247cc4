//! GPUs that techniques have reshaped and fitted into their clock.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::prelude::*;
use warpwatt_gpu::GpuSpec;

use super::{Axes, Combination};
use crate::clock::follow_vdd;
use crate::diag::{Diag, Sink, SourceId};
use crate::outcome::{Note, NoteKind};
use crate::study::{Clock, Faults};

/// What fitting a configuration into a GPU at a technology came to.
#[derive(Clone, Debug)]
pub(super) struct Fitted {
    /// The GPU, among those that the configuration makes of it.
    pub(super) spec: usize,
    pub(super) notes: Arc<Vec<Note>>,
}

/// The fitted GPUs. Few differ: a technology only makes another GPU where a technique must take another cycle or the clock follows the supply.
#[derive(Debug, Default)]
pub(super) struct Fits {
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

/// Fits at once: as many technologies as that have what circuits cost in them remembered meanwhile.
const AT_ONCE: usize = 256;

impl Fits {
    /// Fits whatever the combinations need. What cannot be built is left in `sink`.
    pub(super) fn all(
        axes: &Axes,
        combinations: &[Combination],
        sink: &mut Sink,
        source: SourceId,
    ) -> Option<Fits> {
        let wanted: BTreeSet<[u32; 3]> = combinations.iter().map(|[_, rest @ ..]| *rest).collect();
        let wanted: Vec<[u32; 3]> = wanted.into_iter().collect();
        let mut fits = Fits::default();
        let mut faults = Faults::default();
        for places in wanted.chunks(AT_ONCE) {
            // Each on its own and in any order: what circuits cost does not depend on who asked first.
            let fitted = places.par_iter().map(|place| fit(axes, *place));
            let fitted: Vec<_> = fitted.collect();
            for (place, fitted) in places.iter().zip(fitted) {
                fits.keep(axes, *place, fitted, (&mut faults, source));
            }
            let technologies = places.chunk_by(|[_, one, _], [_, other, _]| one == other);
            for [_, technology, _] in technologies.filter_map(<[_]>::first) {
                axes.leave(*technology as usize);
            }
        }
        faults.leave(sink);
        (!sink.has_errors()).then_some(fits)
    }

    /// Keeps what came of a fit.
    fn keep(
        &mut self,
        axes: &Axes,
        place: [u32; 3],
        fitted: Result<(GpuSpec, Vec<Note>), String>,
        (faults, source): (&mut Faults, SourceId),
    ) {
        let [gpu, _, configuration] = place;
        match fitted {
            Ok((spec, notes)) => {
                let known = self.specs.entry([gpu, configuration]).or_default();
                let spec = known.place(spec);
                let notes = Arc::new(notes);
                self.fitted.insert(place, Fitted { spec, notes });
            }
            Err(message) => {
                let configuration = &axes.configurations[configuration as usize];
                let message = format!("`{}` cannot be built: {message}", configuration.label);
                let diag = Diag::error("study::fit", message);
                let places = configuration.range.iter();
                faults.push(places.fold(diag, |diag, range| diag.at(source, range.clone(), "")));
            }
        }
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

fn fit(axes: &Axes, place: [u32; 3]) -> Result<(GpuSpec, Vec<Note>), String> {
    let [gpu, technology, configuration] = place.map(|place| place as usize);
    let circuits = &axes.technologies[technology];
    let stack = &axes.configurations[configuration].stack;
    let mut spec = axes.gpus[gpu].spec.clone();
    if axes.clock == Clock::FollowsVdd {
        follow_vdd(&mut spec, circuits).map_err(|error| error.to_string())?;
    }
    stack.reshape(&mut spec);
    let fit = stack
        .fit(&mut spec, circuits)
        .map_err(|error| error.to_string())?;
    let notes = super::span::notes(NoteKind::Timing, fit.notes).collect();
    Ok((spec, notes))
}

//! Points with their keys, and which of them share an execution and a timing run. Whatever does not depend on the whole point is made once.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;
use serde::Serialize;
use warpwatt_board::board::Board;
use warpwatt_suite::Lower;
use warpwatt_techniques::Stack;

use super::fit::{Fits, Fitted};
use super::structures;
use super::{Axes, Combination, Execution, Names, Plan, PlannedPoint, Timing};
use crate::digest::digest;
use crate::outcome::{Note, NoteKind};
use crate::pricing::technology_name;
use crate::registers::{Limits, limits};
use crate::store::{OUTCOMES, PointKey};
use crate::study::{Clock, Watched, lowering};

/// The limits of registers of a kernel, a GPU and a configuration, and what is to be said about them.
type Limited = BTreeMap<[u32; 3], (Limits, Vec<Note>)>;

pub(super) fn span(axes: Axes, combinations: &[Combination], fits: &Fits) -> Plan {
    let keys = Keys::new(&axes);
    let mut plan = Plan {
        names: Names::of(&axes),
        axes,
        lowered: Vec::new(),
        points: Vec::with_capacity(combinations.len()),
        executions: Vec::new(),
        timings: Vec::new(),
    };
    let mut configurations = plan.axes.configurations.iter();
    let values = configurations.any(|configuration| configuration.stack.needs_values());
    let mut limited = Limited::new();
    // A timing run is its execution, its configuration and its GPU; GPUs of different settings may come out alike.
    let mut by_place: BTreeMap<([u32; 3], usize), usize> = BTreeMap::new();
    let mut by_supply: BTreeMap<(u32, u64), usize> = BTreeMap::new();
    let mut by_content: BTreeMap<(usize, u32, [u8; 32]), usize> = BTreeMap::new();
    let mut alike: BTreeMap<(usize, [u8; 32], String), usize> = BTreeMap::new();
    // Whoever looks on as time passes, or follows bits, sees one configuration.
    let shares = plan.axes.peak.is_none() && plan.axes.reliability.is_none();
    for (combination, (key, fitted)) in combinations.iter().zip(known(combinations, fits, &keys)) {
        let [kernel, gpu, technology, configuration] = *combination;
        // A technique changes what is counted, which counts that are there cannot show.
        let foreign = plan.axes.kernels[kernel as usize].subject.is_foreign();
        let plain = |stack: &Stack| stack.members().is_empty();
        if foreign && !plain(&plan.axes.configurations[configuration as usize].stack) {
            continue;
        }
        let configuration = fits.timed_as(configuration);
        let place = [kernel, gpu, configuration];
        let (limits, unmet) = limited
            .entry(place)
            .or_insert_with(|| limits_at(&plan.axes, place));
        let timing = *by_place.entry((place, fitted.spec)).or_insert_with(|| {
            let spec = fits.spec(gpu, configuration, fitted.spec);
            let subject = &plan.axes.kernels[kernel as usize].subject;
            let loaded = subject.loaded(lowering(spec));
            let wanted = Execution {
                kernel: kernel as usize,
                lower: loaded.map_or_else(Lower::default, |loaded| loaded.lower),
                warp_width: spec.sm.warp_width,
                values,
                limits: limits.clone(),
            };
            let execution = position(&mut plan.executions, wanted);
            let content = digest([json(&**spec).as_bytes()]);
            *by_content
                .entry((execution, configuration, content))
                .or_insert_with(|| {
                    let own = plan.timings.len();
                    let stack = &plan.axes.configurations[configuration as usize].stack;
                    let decisions = (execution, content, stack.decides());
                    plan.timings.push(Timing {
                        execution,
                        configuration: configuration as usize,
                        gpu: gpu as usize,
                        spec: Arc::clone(spec),
                        together: match shares {
                            true => *alike.entry(decisions).or_insert(own),
                            false => own,
                        },
                    });
                    own
                })
        });
        let notes = joined(&fitted.notes, unmet);
        let lowered = fitted.supply.map(|supply| {
            let place = (technology, supply.si().to_bits());
            *by_supply.entry(place).or_insert_with(|| {
                let circuits = &plan.axes.technologies[technology as usize];
                plan.lowered.push(circuits.at_supply(supply));
                plan.lowered.len() - 1
            })
        });
        plan.points.push(PlannedPoint {
            combination: *combination,
            lowered,
            key,
            timing,
            notes: (!notes.is_empty()).then_some(notes),
        });
    }
    plan
}

/// The key and the GPU of each combination. Of a million they take half of the time that planning takes, so all threads look.
fn known<'f>(
    combinations: &[Combination],
    fits: &'f Fits,
    keys: &Keys,
) -> Vec<(PointKey, &'f Fitted)> {
    let known = combinations.par_iter().map(|combination| {
        let [_, gpu, technology, configuration] = *combination;
        let place = [gpu, technology, fits.timed_as(configuration)];
        (keys.at(*combination), fits.at(place))
    });
    known.collect()
}

/// What was fitted, and what of a kernel's wants is unmet.
fn joined(fitted: &Arc<Vec<Note>>, unmet: &[Note]) -> Arc<Vec<Note>> {
    match unmet {
        [] => Arc::clone(fitted),
        unmet => Arc::new(fitted.iter().chain(unmet).cloned().collect()),
    }
}

fn limits_at(axes: &Axes, [kernel, gpu, configuration]: [u32; 3]) -> (Limits, Vec<Note>) {
    let gpu = &axes.gpus[gpu as usize].spec;
    let subject = &axes.kernels[kernel as usize].subject;
    let Some(loaded) = subject.loaded(lowering(gpu)) else {
        return (Limits::new(), Vec::new());
    };
    let stack = &axes.configurations[configuration as usize].stack;
    let (limits, unmet) = limits(loaded, stack, gpu);
    (limits, notes(NoteKind::Registers, unmet).collect())
}

pub(super) fn notes(kind: NoteKind, texts: Vec<String>) -> impl Iterator<Item = Note> {
    texts.into_iter().map(move |text| Note {
        kind,
        text: text.into(),
    })
}

/// Where `wanted` is among `executions`, to which it is added if it is not there.
fn position(executions: &mut Vec<Execution>, wanted: Execution) -> usize {
    let known = executions.iter().position(|known| *known == wanted);
    known.unwrap_or_else(|| {
        executions.push(wanted);
        executions.len() - 1
    })
}

/// How all points of a study are run, where that is not the plain way.
fn operation(axes: &Axes) -> Vec<String> {
    let clock = (axes.clock != Clock::default()).then(|| format!("{:?}", axes.clock));
    let cooling = axes.cooling.as_ref().map(|cooling| format!("{cooling:?}"));
    let peak = axes
        .peak
        .map(|window| format!("peak power over {window:?}"));
    let sampling = axes.sampling.map(|error| format!("sampled to {error:?}"));
    let first = clock.into_iter().chain(cooling);
    first.chain(peak).chain(sampling).collect()
}

/// Equal values have equal texts.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Digests of what decides points, part by part: names and contents of kernels, GPUs, technologies, configurations with the study's own structures and
/// what is followed bit by bit.
struct Keys {
    parts: [Vec<[u8; 32]>; 4],
}

impl Keys {
    fn new(axes: &Axes) -> Keys {
        let kernels = axes.kernels.iter().map(|kernel| {
            let name = json(kernel.subject.name());
            digest([name.as_bytes(), kernel.subject.hash().as_bytes()])
        });
        let gpus = axes.gpus.iter().map(|gpu| {
            let names = json(&(&gpu.preset, &gpu.axes));
            digest([names.as_bytes(), json(&gpu.spec).as_bytes()])
        });
        let operation = operation(axes);
        let technologies = axes.technologies.iter().map(|circuits| {
            let name = json(&technology_name(circuits));
            let parts = [name.as_bytes(), circuits.described().content()];
            digest(
                parts
                    .into_iter()
                    .chain(operation.iter().map(String::as_bytes)),
            )
        });
        let configurations = axes.configurations.iter().map(|configuration| {
            let own = configuration.structures.iter();
            let mut own: Vec<String> = own.map(|it| structures::canonical(it)).collect();
            own.extend(axes.reliability.as_ref().map(Watched::canonical));
            own.extend(axes.board.as_ref().map(Board::text));
            let parts = own.iter().map(String::as_bytes);
            digest([configuration.label.as_bytes()].into_iter().chain(parts))
        });
        Keys {
            parts: [
                kernels.collect(),
                gpus.collect(),
                technologies.collect(),
                configurations.collect(),
            ],
        }
    }

    /// The hash of everything that decides a point, and the versions of the program and the store.
    fn at(&self, combination: Combination) -> PointKey {
        let format = OUTCOMES.to_le_bytes();
        let version = env!("CARGO_PKG_VERSION").as_bytes();
        let place = |part: usize| &self.parts[part][combination[part] as usize][..];
        PointKey(digest([
            &format[..],
            version,
            place(0),
            place(1),
            place(2),
            place(3),
        ]))
    }
}

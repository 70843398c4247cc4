//! What the points of a plan are priced from.

use std::collections::BTreeMap;

use warpwatt_circuit::Flavours;

use super::built::built;
use super::plan::structures;
use super::plan::{Axes, Plan, PlannedPoint, Timing};
use crate::pricing::{NodeCircuits, laid_out};
use crate::recipe::{Gpu, Part, Process, Recipe, Recipes};
use crate::study::Configuration;

impl From<&Plan> for Recipes {
    /// Those of all points of `plan`.
    fn from(plan: &Plan) -> Self {
        let technologies = &plan.axes.technologies;
        let mut gpus = Gpus::new(&plan.axes, &plan.timings);
        let points = plan.points.iter().map(|point| Recipe {
            gpu: gpus.number(point),
            process: match point.lowered {
                Some(place) => technologies.len() + place,
                None => point.technology(),
            },
        });
        let processes = technologies.iter().chain(&plan.lowered);
        Self {
            points: points.collect(),
            processes: processes.map(Process::of).collect(),
            gpus: gpus.known,
        }
    }
}

/// The GPUs of a plan, each once.
struct Gpus<'p> {
    axes: &'p Axes,
    timings: &'p [Timing],
    known: Vec<Gpu>,
    numbers: BTreeMap<Key, usize>,
}

/// Timing and configuration, and the design: its number, with the flavours of each node.
type Key = ([usize; 2], (usize, Vec<Flavours>));

impl<'p> Gpus<'p> {
    fn new(axes: &'p Axes, timings: &'p [Timing]) -> Self {
        Self {
            axes,
            timings,
            known: Vec::new(),
            numbers: BTreeMap::new(),
        }
    }

    /// The GPU of a point. Operating points of one design share it.
    fn number(&mut self, point: &PlannedPoint) -> usize {
        let circuits = &self.axes.technologies[point.technology()];
        let configuration = &self.axes.configurations[point.configuration()];
        let key = ([point.timing, point.configuration()], circuits.design());
        if let Some(&number) = self.numbers.get(&key) {
            return number;
        }
        let timing = &self.timings[point.timing];
        let gpu = gpu(configuration, timing, circuits);
        let known = self.known.iter().position(|known| *known == gpu);
        let number = known.unwrap_or_else(|| {
            self.known.push(gpu);
            self.known.len() - 1
        });
        self.numbers.insert(key, number);
        number
    }
}

/// A GPU as it is timed, and what of it is priced.
fn gpu(configuration: &Configuration, timing: &Timing, circuits: &NodeCircuits) -> Gpu {
    let sms = timing.spec.sm.count;
    let own = configuration.structures.iter().map(|structure| Part {
        name: structure.name.value.clone(),
        spec: structure.spec.value.clone(),
        instances: structures::instances(structure, sms),
        gates: None,
        flavours: None,
    });
    let built = built(&timing.spec, &configuration.stack);
    // What cannot be built has no price either, and no point that would ask for it.
    let built = laid_out(&built, sms, circuits).unwrap_or(built);
    let built = built.iter().map(|structure| Part::of(structure, sms));
    let mut parts: Vec<Part> = built.chain(own).collect();
    parts.sort_by(|a, b| a.name.cmp(&b.name));
    Gpu {
        spec: (*timing.spec).clone(),
        parts,
    }
}

#[cfg(test)]
mod tests;

//! What the points of a study were priced from, so that they can be priced again: with other values of their technology, or to show how a figure came about.
//!
//! The result store keeps them beside the outcomes. They hold the values of each technology with sources and uncertainties, not its name, so that what is
//! explained is what was computed.

mod built;
mod figures;
mod written;

pub use built::{Built, BuiltPart};
pub use figures::{Figures, GatedFigures, powered_share, reprice};

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use warpwatt_circuit::{Granularity, OperatingPoint, Profile, Spec};
use warpwatt_gpu::GpuSpec;
use warpwatt_techlib::Technology;
use warpwatt_techlib::quantity::Temperature;
use warpwatt_techniques::Structure;

use crate::outcome::Outcome;
use crate::pricing::NodeCircuits;

/// The recipes of a study's points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "written::Recipes", into = "written::Recipes")]
pub struct Recipes {
    /// What circuits are made of, each once.
    pub processes: Vec<Process>,
    /// What is built, each once.
    pub gpus: Vec<Gpu>,
    /// Of each point, in the order of the manifest: its GPU and its process.
    pub points: Vec<Recipe>,
}

/// A GPU made in a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// Among the GPUs.
    pub gpu: usize,
    /// Among the processes.
    pub process: usize,
}

/// A technology at an operating point. Processes share technologies.
#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    /// Its values.
    pub technology: Arc<Technology>,
    /// Of which sleep transistors are, if not of that.
    pub switch: Option<Arc<Technology>>,
    /// How it runs.
    pub at: OperatingPoint,
    /// Whose rules the circuit models follow.
    pub profile: Profile,
    /// The temperature at which power and temperature came to rest, if a point was priced there: leakage is that of this temperature, all else that of `at`.
    pub rest: Option<Temperature>,
}

/// A GPU as it was timed, and its priced structures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gpu {
    /// After techniques have reshaped it.
    pub spec: GpuSpec,
    /// By name.
    pub parts: Vec<Part>,
}

/// A structure that is priced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// What it is.
    pub spec: Spec,
    /// How many the whole GPU has.
    pub instances: u64,
    /// What switches it off.
    pub gates: Option<Gates>,
}

/// Sleep transistors of a structure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gates {
    /// What one switch cuts off.
    pub granularity: Granularity,
    /// Parts of the whole GPU that are switched on their own.
    pub domains: u64,
    /// The counter of parts that are on, summed over cycles.
    pub powered: String,
    /// The counter of parts switched on.
    pub wakes: String,
}

impl Recipes {
    /// The same of points that were priced at the temperatures of their own heat: each of them has a process of its own.
    #[must_use]
    pub fn at_rest(mut self, points: &[Outcome]) -> Self {
        for (recipe, outcome) in self.points.iter_mut().zip(points) {
            if let Some(heat) = outcome.at_rest() {
                let cold = &self.processes[recipe.process];
                let rest = Some(Temperature::from_k(heat.junction_k));
                let process = Process {
                    rest,
                    ..cold.clone()
                };
                let known = self.processes.iter().position(|known| *known == process);
                recipe.process = known.unwrap_or_else(|| {
                    self.processes.push(process);
                    self.processes.len() - 1
                });
            }
        }
        self
    }
}

impl Process {
    /// That of `circuits`.
    pub fn of(circuits: &NodeCircuits) -> Self {
        let (technology, switch) = circuits.shared();
        Self {
            technology: Arc::clone(technology),
            switch: (!Arc::ptr_eq(switch, technology)).then(|| Arc::clone(switch)),
            at: *circuits.operating_point(),
            profile: circuits.profile(),
            rest: None,
        }
    }

    /// How it runs where it leaks.
    pub fn resting(&self) -> OperatingPoint {
        OperatingPoint {
            temperature: self.rest.unwrap_or(self.at.temperature),
            ..self.at
        }
    }

    /// The technology of sleep transistors.
    pub fn switch(&self) -> &Technology {
        self.switch.as_ref().unwrap_or(&self.technology)
    }
}

impl Part {
    /// `structure`, as often as a GPU of that many streaming multiprocessors has it.
    pub fn of(structure: &Structure, sms: u32) -> Self {
        Self {
            name: structure.name.to_owned(),
            spec: structure.spec.clone(),
            instances: structure.count.of(sms),
            gates: structure.gates.as_ref().map(|gates| Gates {
                granularity: gates.granularity,
                domains: u64::from(gates.domains) * u64::from(sms),
                powered: gates.powered.to_owned(),
                wakes: gates.wakes.to_owned(),
            }),
        }
    }
}

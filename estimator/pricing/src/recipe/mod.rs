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
use warpwatt_circuit::{Flavours, Granularity, OperatingPoint, Profile, Spec};
use warpwatt_gpu::GpuSpec;
use warpwatt_techlib::quantity::Temperature;
use warpwatt_techlib::{Flavour, Technology};
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
    /// Of which memory cells are, if not of that.
    pub cells: Option<Arc<Technology>>,
    /// Of which sleep transistors are, if not of that.
    pub switch: Option<Arc<Technology>>,
    /// How it runs.
    pub at: OperatingPoint,
    /// Whose rules the circuit models follow.
    pub profile: Profile,
    /// Other flavours of its node, of which parts may be.
    pub others: Vec<Arc<Technology>>,
    /// The temperature at which power and temperature came to rest, if a point was priced there: leakage is that of this temperature, all else that of `at`.
    pub rest: Option<Temperature>,
}

/// The technologies of a process, or what is made in their stead.
#[derive(Clone, Copy, Debug)]
pub struct World<'t> {
    /// Of memory cells.
    pub cells: &'t Technology,
    /// Of all else.
    pub technology: &'t Technology,
    /// Of sleep transistors.
    pub switch: &'t Technology,
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
    /// Of which flavours it is, where they are not those of the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flavours: Option<Flavours>,
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
        let mut others: Vec<Arc<Technology>> = Vec::new();
        for (_, other) in circuits.others() {
            for one in [other.cells(), other.described().shared()] {
                let known = others.iter().any(|known| Arc::ptr_eq(known, one));
                if !known && !Arc::ptr_eq(one, technology) {
                    others.push(Arc::clone(one));
                }
            }
        }
        Self {
            technology: Arc::clone(technology),
            cells: None,
            switch: (!Arc::ptr_eq(switch, technology)).then(|| Arc::clone(switch)),
            at: *circuits.operating_point(),
            profile: circuits.profile(),
            others,
            rest: None,
        }
    }

    /// The same for what is of other flavours of its node, as far as it has them.
    #[must_use]
    pub fn of_flavours(&self, flavours: Option<Flavours>) -> Self {
        let Some(Flavours { cells, periphery }) = flavours else {
            return self.clone();
        };
        let find = |flavour: Flavour| {
            let other = self.others.iter().find(|other| other.flavour == flavour);
            Arc::clone(other.unwrap_or(&self.technology))
        };
        let (own, other) = (self.technology.device.vdd.value, find(periphery));
        // A chip has one supply: transistors for a higher one run at that of the others.
        let lower = (other.device.vdd.value > own).then_some(own);
        Self {
            technology: other,
            cells: (cells != periphery).then(|| find(cells)),
            at: OperatingPoint {
                vdd: self.at.vdd.or(lower),
                ..self.at
            },
            ..self.clone()
        }
    }

    /// The technology of memory cells.
    pub fn cells(&self) -> &Arc<Technology> {
        self.cells.as_ref().unwrap_or(&self.technology)
    }

    /// How it runs where it leaks.
    pub fn resting(&self) -> OperatingPoint {
        OperatingPoint {
            temperature: self.rest.unwrap_or(self.at.temperature),
            ..self.at
        }
    }

    /// Its own technologies.
    pub fn world(&self) -> World<'_> {
        World {
            cells: self.cells(),
            technology: &self.technology,
            switch: self.switch(),
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
            flavours: structure.flavours,
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

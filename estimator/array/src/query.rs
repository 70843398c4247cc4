//! What the circuit models are asked.

use warpwatt_circuit::{CircuitError, Cost, OperatingPoint, Settings, Spec, cost_with};
use warpwatt_techlib::quantity::Length;
use warpwatt_techlib::{Flavour, Technology};

use super::{Libraries, LibraryName, Refusal};

/// Transistors of cells and of everything around them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flavours {
    /// Of the memory cells.
    pub cell: Flavour,
    /// Of the rest.
    pub periphery: Flavour,
}

/// One structure, where it is made and where it runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// The structure.
    pub spec: Spec,
    /// Whose equations, and what they optimise.
    pub settings: Settings,
    /// The technology library.
    pub library: LibraryName,
    /// The node.
    pub node: Length,
    /// The transistors.
    pub flavours: Flavours,
    /// Where it runs.
    pub point: OperatingPoint,
    /// What the user should know about how the question was read.
    pub notes: Vec<String>,
}

impl Query {
    /// Banks of the structure.
    pub(super) fn banks(&self) -> u32 {
        match &self.spec {
            Spec::Ram(spec) => spec.banks,
            Spec::Cache(spec) => spec.banks,
            Spec::Cam(spec) => spec.banks,
            Spec::FullyAssociative(spec) => spec.banks,
            _ => 1,
        }
    }

    /// Reads the technologies that the query needs.
    pub fn read_into(&self, libraries: &mut Libraries) {
        for flavour in [self.flavours.cell, self.flavours.periphery] {
            libraries.read(self.library, self.node, flavour);
        }
    }

    /// The cost. Where only the power gating cannot be had, the structure is priced without it, and a note says why.
    pub(crate) fn cost(
        &mut self,
        cell: &Technology,
        periphery: &Technology,
    ) -> Result<Cost, Refusal> {
        let price =
            |settings: &Settings| cost_with(cell, periphery, &self.point, settings, &self.spec);
        let first = price(&self.settings);
        let cost = match (first, self.settings.gating) {
            (Err(error), Some(_)) => {
                let plain = Settings {
                    gating: None,
                    ..self.settings
                };
                let cost = price(&plain).map_err(|error| explained(&error))?;
                self.notes.push(format!("no power gating: {error}"));
                self.settings = plain;
                cost
            }
            (result, _) => result.map_err(|error| explained(&error))?,
        };
        match unreal(&cost) {
            Some(figure) => Err(Refusal::new(format!(
                "the {figure} of this structure is no finite number of at least zero"
            ))
            .help("please report this specification: the models should have refused it")),
            None => Ok(cost),
        }
    }
}

fn explained(error: &CircuitError) -> Refusal {
    Refusal::new(error.to_string())
}

/// A figure that cannot be.
fn unreal(cost: &Cost) -> Option<&'static str> {
    [
        ("area", cost.area.si()),
        ("access time", cost.access_time.si()),
        ("cycle time", cost.cycle_time.si()),
        ("read energy", cost.read_energy.si()),
        ("leakage", cost.leakage.si()),
    ]
    .into_iter()
    .find(|(_, value)| !(value.is_finite() && *value >= 0.0))
    .map(|(name, _)| name)
}

//! The cost of every structure of one configuration.

use std::collections::BTreeMap;
use std::sync::Arc;

use warpwatt_circuit::{Cost, Flavours, Gated};
use warpwatt_structures::{Charge, Structure};
use warpwatt_techlib::quantity::Energy;
use warpwatt_techniques::Circuits;

use super::PricingError;
use super::floor::{laid_out, made};

/// Structures with their costs, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CostTable {
    entries: BTreeMap<String, CostEntry>,
}

/// A structure and its cost.
#[derive(Clone, Debug, PartialEq)]
pub struct CostEntry {
    /// What it belongs to.
    pub group: String,
    /// How many of it the whole GPU has.
    pub instances: u64,
    /// Whether events on it are not events of this circuit and have no price.
    pub leakage_only: bool,
    /// Which counters say how often it works; none: those that are called after it.
    pub charges: Vec<Charge>,
    /// Of which flavours it is, where they are not those of the technology.
    pub flavours: Option<Flavours>,
    /// Cost of one.
    pub cost: Arc<Cost>,
    /// What switches it off.
    pub gates: Option<Switched>,
}

/// A structure with sleep transistors.
#[derive(Clone, Debug, PartialEq)]
pub struct Switched {
    /// What they do to one instance.
    pub gated: Gated,
    /// Parts of the whole GPU that are switched on their own.
    pub domains: u64,
    /// The counter of parts that are on, summed over cycles.
    pub powered: &'static str,
    /// The counter of parts switched on.
    pub wakes: &'static str,
}

impl CostTable {
    /// A table without structures.
    pub fn new() -> Self {
        Self::default()
    }

    /// The costs of `structures` on a GPU of `sms` streaming multiprocessors, which is laid out first.
    ///
    /// # Errors
    /// If a structure cannot be built, or two have one name.
    pub fn of(
        structures: &[Structure],
        sms: u32,
        circuits: &dyn Circuits,
    ) -> Result<Self, PricingError> {
        Self::of_laid_out(&laid_out(structures, sms, circuits)?, sms, circuits)
    }

    /// The costs of what [`laid_out`] made. A floor plan holds at any temperature, so that it is drawn once for all of them.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub fn of_laid_out(
        structures: &[Structure],
        sms: u32,
        circuits: &dyn Circuits,
    ) -> Result<Self, PricingError> {
        let mut table = Self::new();
        for structure in structures {
            let circuits = made(circuits, structure.flavours);
            let refused = |source| PricingError::Circuit {
                name: structure.name.to_owned(),
                source: Box::new(source),
            };
            let cost = circuits.cost(&structure.spec).map_err(refused)?;
            let gates = match &structure.gates {
                None => None,
                Some(gates) => Some(Switched {
                    gated: circuits
                        .gated(&structure.spec, gates.granularity)
                        .map_err(refused)?,
                    domains: u64::from(gates.domains) * u64::from(sms),
                    powered: gates.powered,
                    wakes: gates.wakes,
                }),
            };
            let entry = CostEntry {
                group: structure.group.name().to_owned(),
                instances: structure.count.of(sms),
                leakage_only: structure.leakage_only,
                charges: structure.charges.clone(),
                flavours: structure.flavours,
                cost,
                gates,
            };
            table.insert(structure.name, entry)?;
        }
        Ok(table)
    }

    /// Adds a structure.
    ///
    /// # Errors
    /// If the name is taken.
    pub fn insert(&mut self, name: &str, entry: CostEntry) -> Result<(), PricingError> {
        if self.entries.contains_key(name) {
            return Err(PricingError::Duplicate {
                name: name.to_owned(),
            });
        }
        self.entries.insert(name.to_owned(), entry);
        Ok(())
    }

    /// Every structure, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &CostEntry)> {
        self.entries
            .iter()
            .map(|(name, entry)| (name.as_str(), entry))
    }

    /// The structure `name`.
    pub fn get(&self, name: &str) -> Option<&CostEntry> {
        self.entries.get(name)
    }

    /// What structures are charged for, each with the structure's name.
    pub fn charges(&self) -> impl Iterator<Item = (&str, &Charge)> {
        self.iter()
            .flat_map(|(name, entry)| entry.charges.iter().map(move |charge| (name, charge)))
    }

    /// Whether the table has the structure `name`.
    pub fn contains(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }
}

impl CostEntry {
    /// The actions that have a price, with it. An energy of exactly zero is a cost the model does not know, hence no price.
    pub fn prices(&self) -> impl Iterator<Item = (&'static str, Energy)> {
        [
            ("read", Some(self.cost.read_energy)),
            ("write", Some(self.cost.write_energy)),
            ("search", self.cost.search_energy),
        ]
        .into_iter()
        .filter_map(|(action, energy)| Some((action, energy.filter(|e| e.si() > 0.0)?)))
    }

    /// The price of `action`.
    pub fn energy(&self, action: &str) -> Option<Energy> {
        self.prices()
            .find(|(name, _)| *name == action)
            .map(|(_, energy)| energy)
    }
}

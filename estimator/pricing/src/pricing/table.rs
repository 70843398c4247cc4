//! The cost of every structure of one configuration.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use warpwatt_circuit::{Cost, Flavours, Gated};
use warpwatt_structures::{Charge, Structure};
use warpwatt_techlib::quantity::Energy;
use warpwatt_techniques::Circuits;

use super::PricingError;
use super::floor::{laid_out, made};
use crate::outcome::Action;

/// Structures with their costs, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CostTable {
    entries: BTreeMap<Cow<'static, str>, CostEntry>,
}

/// A structure and its cost.
#[derive(Clone, Debug, PartialEq)]
pub struct CostEntry {
    /// What it belongs to.
    pub group: &'static str,
    /// How many of it the whole GPU has.
    pub instances: u64,
    /// Whether events on it are not events of this circuit and have no price.
    pub leakage_only: bool,
    /// Which counters say how often it works; none: those that are called after it.
    pub charges: Arc<Vec<Charge>>,
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
                group: structure.group.name(),
                instances: structure.count.of(sms),
                leakage_only: structure.leakage_only,
                charges: Arc::clone(&structure.charges),
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
    pub fn insert(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        entry: CostEntry,
    ) -> Result<(), PricingError> {
        match self.entries.entry(name.into()) {
            Entry::Vacant(place) => {
                place.insert(entry);
                Ok(())
            }
            Entry::Occupied(place) => Err(PricingError::Duplicate {
                name: place.key().to_string(),
            }),
        }
    }

    /// Every structure, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &CostEntry)> {
        self.entries.iter().map(|(name, entry)| (&**name, entry))
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
    /// The actions that have a price, with it.
    pub fn prices(&self) -> impl Iterator<Item = (Action, Energy)> {
        let actions = [Action::Read, Action::Write, Action::Search].into_iter();
        actions.filter_map(|action| Some((action, self.energy(action)?)))
    }

    /// The price of `action`. An energy of exactly zero is a cost the model does not know, hence no price; what switching a part on costs its gates say.
    pub fn energy(&self, action: Action) -> Option<Energy> {
        let energy = match action {
            Action::Read => Some(self.cost.read_energy),
            Action::Write => Some(self.cost.write_energy),
            Action::Search => self.cost.search_energy,
            Action::Wake => None,
        };
        energy.filter(|energy| energy.si() > 0.0)
    }
}

//! A structure of an SM that circuit models price.

use std::fmt;

use warpwatt_circuit::{Granularity, Spec};

/// Something with an area, a leakage and actions that cost energy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Structure {
    /// Its name. The action `read` of `icache.data` is counted as `icache.data.read`.
    pub name: &'static str,
    /// What it belongs to.
    pub group: Group,
    /// What it is made of.
    pub spec: Spec,
    /// How many an SM has.
    pub per_sm: u32,
    /// Whether only its area and leakage count: its size is known well enough for them, but its accesses are not modelled as those of this circuit.
    pub leakage_only: bool,
    /// What switches parts of it off.
    pub gates: Option<Gates>,
}

/// Sleep transistors of a structure, and what counts how they are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gates {
    /// What one switch cuts off.
    pub granularity: Granularity,
    /// Parts of an SM that are switched on their own.
    pub domains: u32,
    /// The counter of parts that are on, summed over cycles.
    pub powered: &'static str,
    /// The counter of parts switched on.
    pub wakes: &'static str,
}

/// Parts of an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Fetch, instruction buffer, scoreboard, operand collection: what the filter-cache paper calls the pipeline front end.
    FrontEnd,
    /// Register file and on-chip memories.
    Storage,
    /// What lanes read, write and compute with.
    Execution,
}

impl Group {
    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::FrontEnd => "front_end",
            Self::Storage => "storage",
            Self::Execution => "execution",
        }
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Structure {
    /// A structure of the front end.
    pub fn front_end(name: &'static str, spec: Spec) -> Self {
        Self {
            name,
            group: Group::FrontEnd,
            spec,
            per_sm: 1,
            leakage_only: false,
            gates: None,
        }
    }

    /// One structure an SM that a technique adds to what lanes work with.
    pub fn added(name: &'static str, spec: Spec) -> Self {
        Self::execution(name, spec, 1)
    }

    /// Something that lanes work with.
    pub fn execution(name: &'static str, spec: Spec, per_sm: u32) -> Self {
        Self {
            name,
            group: Group::Execution,
            spec,
            per_sm,
            leakage_only: false,
            gates: None,
        }
    }

    /// A memory of which only area and leakage count.
    pub fn storage(name: &'static str, spec: Spec, per_sm: u32) -> Self {
        Self {
            name,
            group: Group::Storage,
            spec,
            per_sm,
            leakage_only: true,
            gates: None,
        }
    }
}

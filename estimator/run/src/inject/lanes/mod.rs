//! Faults of lanes: what they do to a program, and which techniques find them.
//!
//! A transient fault flips one bit of one result of one lane. A permanent one holds a bit of all results of a lane of one SM at one value. Lanes are told
//! apart by the threads that they execute, as in [`ResultCheck`](warpwatt_techniques::ResultCheck).

mod permanent;
mod placement;
mod transient;

use warpwatt_reliability::inject::{Class, Tally};
use warpwatt_techniques::LaneCheck;

pub use permanent::{Defect, Permanent, permanent};
pub use placement::{Copied, Placement};
pub use transient::{Transients, transient};

/// What is wrong with a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A bit of one result is flipped.
    Transient,
    /// A bit of all results is zero.
    StuckAt0,
    /// A bit of all results is one.
    StuckAt1,
}

impl Fault {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Transient, Self::StuckAt0, Self::StuckAt1];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Transient => "transient",
            Self::StuckAt0 => "stuck_at_0",
            Self::StuckAt1 => "stuck_at_1",
        }
    }

    /// The fault called `name`.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fault| fault.name() == name)
    }

    /// The value that bits are held at, if they are.
    pub fn held(self) -> Option<bool> {
        match self {
            Self::Transient => None,
            Self::StuckAt0 => Some(false),
            Self::StuckAt1 => Some(true),
        }
    }
}

/// A technique that may find faults.
pub struct Checker {
    /// As reports name it.
    pub label: String,
    /// How.
    pub check: LaneCheck,
}

/// What faults of one kind did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Campaign {
    /// Faults that could be drawn.
    pub population: u64,
    /// Executions; each stands for all faults that cannot differ from it.
    pub executed: usize,
    /// Without a technique; [`Class::Unoccupied`]: no result of the lane ever differed.
    pub tally: Tally,
    /// What each technique found.
    pub found: Vec<Found>,
}

/// What a technique found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Of all faults.
    pub all: u64,
    /// Of those that do harm without it.
    pub harmful: u64,
    /// Of those that corrupt the result silently without it.
    pub silent: u64,
}

impl Campaign {
    fn new(population: u64, executed: usize, checkers: usize) -> Self {
        Self {
            population,
            executed,
            tally: Tally::default(),
            found: vec![Found::default(); checkers],
        }
    }

    /// So many faults that do the same, and are found by the same.
    fn add(&mut self, class: Class, count: u64, found: impl IntoIterator<Item = bool>) {
        self.tally.add(class, count);
        let mut one = Tally::default();
        one.add(class, count);
        for (sum, found) in self.found.iter_mut().zip(found) {
            if found {
                sum.all += count;
                sum.harmful += one.vulnerable();
                sum.silent += one.silent();
            }
        }
    }
}

//! From PTX towards what a GPU runs.
//!
//! `ptxas` is not public; what it does shows in its machine code (`workloads/kernels/sass`, docs/machine-code.md). Each pass does one of these things, before
//! registers are allocated. Results stay as they are, bit by bit; instructions become those that the machine would count.

mod accesses;
mod addresses;
mod branches;
mod copies;
mod dead;
mod edit;
mod expand;
mod fuse;
mod layout;
mod markers;
mod operands;
mod parameters;
mod pressure;
mod schedule;
#[cfg(test)]
mod tests;
mod values;

use crate::program::Entry;

/// What stands between PTX and the program that is executed, counted and timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lower {
    /// Nothing: an instruction of PTX is an instruction.
    #[default]
    Ptx,
    /// Passes that make of PTX about what `ptxas` makes of it for Volta and later.
    SassLike,
}

impl Lower {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Ptx, Self::SassLike];

    /// Its name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ptx => "ptx",
            Self::SassLike => "sass-like",
        }
    }
}

/// Why an entry stays PTX although it was to be lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// It calls device functions: what a call keeps is not followed here.
    Calls,
    /// It has more slots than there is room for a register beside each of them.
    Slots,
}

impl Left {
    /// The reason, as a sentence goes on.
    pub fn why(self) -> &'static str {
        match self {
            Self::Calls => "it calls device functions",
            Self::Slots => "it has more than 30000 registers, literals and parameters",
        }
    }
}

/// A pass over an entry.
struct Pass {
    /// Its name, for a check that fails.
    name: &'static str,
    run: fn(&mut Entry),
}

/// In their order: what folds away first, then what becomes several instructions.
const PASSES: [Pass; 12] = [
    Pass {
        name: "layout",
        run: layout::run,
    },
    Pass {
        name: "parameters",
        run: parameters::run,
    },
    Pass {
        name: "copies",
        run: copies::run,
    },
    Pass {
        name: "fuse",
        run: fuse::run,
    },
    Pass {
        name: "addresses",
        run: addresses::run,
    },
    Pass {
        name: "accesses",
        run: accesses::run,
    },
    Pass {
        name: "dead",
        run: dead::run,
    },
    Pass {
        name: "branches",
        run: branches::run,
    },
    Pass {
        name: "markers",
        run: markers::run,
    },
    Pass {
        name: "operands",
        run: operands::run,
    },
    Pass {
        name: "expand",
        run: expand::run,
    },
    Pass {
        name: "schedule",
        run: schedule::run,
    },
];

/// Slots that an entry may have to be lowered: a register may come to each literal and parameter, and slots are numbered in 16 bits.
const MOST_SLOTS: usize = 30_000;

/// Runs the passes over an entry whose reconvergence is not yet set.
pub(crate) fn lower(entry: &mut Entry, lowering: Lower) {
    if lowering == Lower::Ptx {
        return;
    }
    let slots = entry.words.len() + entry.doubles.len();
    entry.left = match entry.functions.is_empty() {
        false => Some(Left::Calls),
        true => (slots > MOST_SLOTS).then_some(Left::Slots),
    };
    if entry.left.is_some() {
        return;
    }
    for pass in &PASSES {
        (pass.run)(entry);
        debug_assert!(!entry.code.is_empty(), "{} left nothing", pass.name);
    }
}

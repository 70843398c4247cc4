//! Values that live and die within a strand: what a compiler may keep in a small register file beside the main one.
//!
//! M. Gebhart, S. W. Keckler, W. J. Dally, "A Compile-Time Managed Multi-Level Register File Hierarchy", MICRO 2011. A strand is a piece of the program in which
//! nothing depends on a long-latency instruction of the same strand. Where one ends the warp may give its place among the active warps to another, and
//! with it everything that does not lie in the main register file. Strands also end at backward branches, barriers, fences and calls, and where
//! paths meet of which one has passed the end of a strand.
//!
//! Beyond the paper, which leaves it open: lanes that wait for the other side of a branch lose what the main register file does not have if that side ends a
//! strand. So a branch at which lanes may part ends the strand if anything between it and the place where its sides meet does.
//!
//! This analysis finds the values; which of them go where depends on how large the small files are, and is for the model of the hardware to decide.

mod cuts;
#[cfg(test)]
mod tests;
mod values;

use crate::cfg::Blocks;
use crate::lifetime::MOST_BLOCKS;
use crate::program::{Entry, Inst};

/// What is known of an instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// A strand begins here: nothing that an earlier instruction put into a small register file is there any more.
    pub begins: bool,
    /// Reads of values that can be kept. The first read of a value that nobody in its strand writes takes it from the main register file.
    pub reads: Vec<ValueRead>,
    /// Writes of such values.
    pub writes: Vec<ValueWrite>,
}

/// A read of a value that can be kept: on every path of every lane to here, the last to write the register was a write of the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueRead {
    /// The 32-bit register.
    pub word: u16,
    /// The value, by a number of its own.
    pub value: u32,
}

/// A write of a value that can be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueWrite {
    /// The 32-bit register.
    pub word: u16,
    /// The value, by a number of its own.
    pub value: u32,
    /// Somebody may read what is written from the main register file: behind the end of the strand, or where paths have met on one of which the register
    /// has an older value.
    pub outlives: bool,
}

/// Marks the instructions of an entry, one element an instruction; `is_long` says which of them warps wait for outside the pool of active warps.
///
/// Registers that device functions use are in no value, nor is anything in programs of more than 10,000 basic blocks.
pub fn marks(entry: &Entry, is_long: impl Fn(&Inst) -> bool) -> Vec<Marks> {
    if entry.code.is_empty() {
        return Vec::new();
    }
    let blocks = Blocks::of(&entry.code);
    if blocks.starts.len() > MOST_BLOCKS {
        let each = Marks {
            begins: true,
            ..Marks::default()
        };
        return vec![each; entry.code.len()];
    }
    let cuts = cuts::cuts(entry, &blocks, is_long);
    values::marks(entry, &blocks, &cuts)
}

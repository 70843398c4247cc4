//! Fault injection: where a bit that flips in some cycle of a timing run lies, what the program does with it next, and what a sample of such flips says.
//!
//! Nothing is executed here. A [`Timeline`] is taken of a timing run; [`Sites`] are all bits of a structure in all its cycles, and tell who holds one; what a
//! program does next with a register or with a byte of shared memory, [`registers`] and [`shared`] say. Flips between which the program does nothing with
//! the bit cannot differ in what they do, so that one execution stands for them.

mod random;
pub mod registers;
pub mod shared;
mod sites;
pub mod statistics;
mod tally;
mod timeline;

pub use random::Random;
pub use sites::{Held, Holder, Sites};
pub use tally::{Class, Tally};
pub use timeline::{CtaLine, LaunchLine, Moments, Recorder, Timeline, WarpLine};

use crate::{Structure, UnknownStructure};

/// What bits flip in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// Words of instructions that wait for issue.
    InstructionBuffer,
    /// The vector registers.
    RegisterFile,
    /// Shared memory.
    SharedMemory,
    /// Results of the lanes on their way to the registers: at functional level, the result of one lane of one dynamic instruction.
    PipelineLatch,
}

impl Target {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::InstructionBuffer,
        Self::RegisterFile,
        Self::SharedMemory,
        Self::PipelineLatch,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        self.structure().map_or("pipeline_latch", Structure::name)
    }

    /// The structure that ACE analysis knows it as, if it does.
    pub fn structure(self) -> Option<Structure> {
        match self {
            Self::InstructionBuffer => Some(Structure::InstructionBuffer),
            Self::RegisterFile => Some(Structure::RegisterFile),
            Self::SharedMemory => Some(Structure::SharedMemory),
            Self::PipelineLatch => None,
        }
    }

    /// The target called `name`.
    ///
    /// # Errors
    /// If none is called that.
    pub fn of(name: &str) -> Result<Self, UnknownStructure> {
        let found = Self::ALL.into_iter().find(|target| target.name() == name);
        found.ok_or_else(|| UnknownStructure(name.to_owned()))
    }
}

/// What becomes of a flipped bit, as far as the trace tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Nothing reads it before it is overwritten, or ever.
    Dead,
    /// An instruction reads it.
    Read {
        /// Its number in its warp, counted from zero.
        step: u32,
        /// By then it must have flipped: the last cycle before the instruction takes it.
        until: u64,
    },
}

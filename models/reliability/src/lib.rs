//! Which bits of a GPU's storage a program needs.
//!
//! A flip of a bit matters only if the bit is needed for architecturally correct execution (ACE; Mukherjee et al., MICRO 2003). Residencies of needed bits,
//! times how long they last, over all bits of a structure and all cycles are its architectural vulnerability factor (AVF). Counts only: rates of upsets
//! and what protection costs are others' concern.

mod ace;
mod cover;
pub mod inject;
mod journal;
mod ledger;
mod probe;
mod protection;
mod residency;
mod structure;
mod windows;

pub use ace::{Fact, Liveness, Verdict};
pub use cover::Cover;
pub use journal::{Journal, Journals, Note, What};
pub use ledger::{BitCycles, Closed, Held, Late, Ledger};
pub use probe::{LaunchAvf, Probe, ProtectionFactory, Shape, all_of, whole_structures};
pub use protection::{Protection, Whole};
pub use residency::{Outcome, Residency};
pub use structure::{Structure, UnknownStructure};
pub use windows::OverTime;

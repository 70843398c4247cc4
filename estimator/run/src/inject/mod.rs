//! Fault injection: flips of single bits, drawn from all bits of a structure in all cycles of a timing run, each executed to its end.
//!
//! A [`Golden`] run is executed and timed. A [`Plan`] draws sites and finds out who holds them and what is done with them next, so that flips which cannot
//! differ are executed once. A [`campaign`] executes CTAs with flips in them, and goes on with others only where they touch what came out different.

mod campaign;
pub mod flops;
mod golden;
mod journal;
pub mod lanes;
mod plan;
mod program;
pub mod protected;
mod worker;

pub use campaign::{Unfinished, campaign};
pub use golden::{Golden, timed};
pub use journal::Journal;
pub use plan::{Draw, Plan, Strike, What};

/// What decides the outcome of a flip besides kernel and GPU: raised when it changes, so that journals of other versions are not taken up.
pub const MODEL_VERSION: u32 = 2;

/// A CTA that executes more than this many times the warp instructions of the golden run hangs; so does a case that does.
pub const HANG_FACTOR: u64 = 10;

/// At least as many a CTA may execute: a few rounds more of a short loop are no hang.
pub const HANG_LEAST: u64 = 10_000;

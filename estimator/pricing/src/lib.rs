//! Counts become joules: what structures cost, the join with what was counted, the outcome of a point, and what it was priced from.
//!
//! No files, no threads, no command: everything here is a function of its arguments.

pub mod by_sm;
pub mod digest;
pub mod label;
pub mod outcome;
pub mod pace;
pub mod peak;
pub mod performance;
pub mod pricing;
pub mod recipe;
pub mod reliability;
pub mod uncertainty;

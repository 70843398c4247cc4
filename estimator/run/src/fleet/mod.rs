//! A study shared by machines that have nothing in common but a directory.
//!
//! The directory is a queue of units of work: executions of kernels, and timing runs with their points. A unit is a file that lies in the folder of its state, and
//! whoever renames it has it; nobody needs to be asked, and there is no process that all others depend on. Workers show that they live by a number that they
//! count up in a file of their own; the unit of one that has fallen silent is taken again. What a unit comes to appears whole, and is the same whoever does it.

mod beat;
mod cost;
mod gathered;
mod hand;
mod outcome_file;
mod queue;
mod rival;
mod schedule;
mod sheet;
mod state;
mod worker;
mod write;

pub use beat::Sign;
pub use cost::{Job, Kind, jobs, seal};
pub use gathered::{AGAIN, Gathered};
pub use queue::{Laid, Queue};
pub use schedule::{Schedule, schedules};
pub use sheet::{LEASE_S, Sheet};
pub use state::{Hand, State};
pub use worker::{Ended, Worked, Worker};

#[cfg(test)]
mod tests;

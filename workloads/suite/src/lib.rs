//! Launch files, input generators, the kernel suite and its references.
//!
//! [`LaunchFile`] describes what to run; [`kernels`] is the suite that ships, each [`Kernel`] with its PTX, its launch file
//! and an independent reference of what it must compute.

mod kernels;
pub mod launch;
mod reference;
mod run;

pub use kernels::{Class, Kernel, PaperRow, SuiteError, kernel, kernels};
pub use launch::{Case, LaunchFile, Problem};
pub use reference::{Inputs, Outputs, Reference};
pub use run::{CaseRun, Executed, FinalBuffer, RunError, RunOptions, run_case};

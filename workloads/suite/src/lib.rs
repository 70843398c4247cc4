//! Launch files, input generators, the kernel suite and its references.
//!
//! [`LaunchFile`] describes what to run; [`kernels`] is the suite that ships, each [`Kernel`] with its PTX, its launch file
//! and an independent reference of what it must compute.

mod counts;
mod kernels;
pub mod launch;
pub mod machine_code;
mod papers;
mod reference;
mod run;
mod session;

pub use counts::Counts;
pub use warpwatt_ptx::Lower;

pub use kernels::{Build, Class, Kernel, SuiteError, kernel, kernels};
pub use launch::{Case, LaunchFile, Problem};
pub use machine_code::machine_launch;
pub use papers::{Benchmark, Paper, called, paper, papers};
pub use reference::{Inputs, Outputs, Reference};
pub use run::{CaseRun, Executed, FinalBuffer, RunOptions, run_case, run_machine_code};
pub use session::{Progress, RunError, Session};

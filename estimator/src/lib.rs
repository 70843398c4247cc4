//! Power, energy and area estimator for GPUs: studies, pricing, reports, the warpwatt command.

#[cfg(unix)]
pub use warpwatt_analysis::program;
pub use warpwatt_analysis::{
    boards, explain, gather, optimise, run, sensitivity, single, uncertainty, vulnerability,
};
pub use warpwatt_array as array;
pub use warpwatt_board as board;
pub use warpwatt_input::{diag, expression, goal, input, table as input_table, toml_reader};
pub use warpwatt_pricing::{
    by_sm, digest, label, outcome, pace, peak, performance, pricing, recipe,
};
pub use warpwatt_report::{self as report, papers, select};
pub use warpwatt_run::{cache, foreign, inject, reliability, timeline};
pub use warpwatt_store as store;
pub use warpwatt_study as study;
pub use warpwatt_study::technology;

pub mod command;
pub mod schema;
pub use warpwatt_validation as validate;

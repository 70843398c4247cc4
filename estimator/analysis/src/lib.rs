//! What is found out from priced points: uncertainty, sensitivity, explanations, searches, vulnerability, digests of very many points.

pub mod boards;
pub mod explain;
pub mod gather;
pub mod logic;
#[cfg(not(target_family = "wasm"))]
pub mod optimise;
#[cfg(unix)]
pub mod program;
mod reported;
mod resolve;
pub mod run;
pub mod sensitivity;
pub mod single;
pub mod uncertainty;
pub mod vulnerability;

#[cfg(test)]
mod peak_tests;

use warpwatt_input::{diag, goal, input};
use warpwatt_pricing::{outcome, performance, pricing, recipe};
use warpwatt_report as report;
use warpwatt_run::reliability;
use warpwatt_store as store;
use warpwatt_study as study;

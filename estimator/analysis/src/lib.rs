//! What is made of priced points: metrics by name, comparisons with a baseline, reports, uncertainty, explanations, searches.

pub mod explain;
pub mod optimise;
pub mod papers;
pub mod report;
mod resolve;
pub mod run;
pub mod select;
pub mod sensitivity;
pub mod uncertainty;
pub mod vulnerability;

use warpwatt_input::diag;
use warpwatt_pricing::{label, outcome, peak, recipe};
use warpwatt_run::{boards, reliability};
use warpwatt_store as store;
use warpwatt_study::{self as study, goal};

//! Running a study, as this program understands studies.

pub use crate::resolve::{catalogue, parameters, resolve, resolve_text};
pub use warpwatt_run::*;

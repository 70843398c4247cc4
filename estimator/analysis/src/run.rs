//! Running a study, as this program understands studies.

pub use crate::reported::reported;
pub use crate::resolve::{catalogue, catalogue_of, parameters, resolve, resolve_text};
pub use warpwatt_run::*;

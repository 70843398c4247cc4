//! The report as a page that prices a study anew as one turns it.
//!
//! The page carries what was counted, and the models as a WebAssembly module, which is this crate too: [`Session`] is what the module does. It plans a study as
//! a run does and prices it as a run does, so that what the page shows is what `warpwatt run` would show.

mod controls;
#[cfg(target_family = "wasm")]
mod exports;
#[cfg(not(target_family = "wasm"))]
mod instrument;
mod session;

#[cfg(not(target_family = "wasm"))]
pub use instrument::{MODULE, MOST_POINTS, counts, turnable};
pub use session::{Outcome, Reply, Session};

use warpwatt_input::{diag, toml_reader};

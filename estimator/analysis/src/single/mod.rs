//! One run of one kernel without a study: on which GPU, where it is priced, and what is told of it as data and as text.
//!
//! The `warpwatt kernel` command and the Python package tell the same of a run, from here.

mod drawn;
mod energy;
mod facts;
mod gpu;
mod lowered;
mod page;
mod place;
mod spent;
mod timing;

pub use drawn::{Drawn, prediction};
pub use energy::{Energy, Program};
pub use facts::{Facts, Told};
pub use gpu::spec;
pub use lowered::Lowered;
pub use page::{FITTED, Look, Seen, Shown};
pub use place::Place;
pub use spent::{Instructions, Parts};
pub use timing::Timing;

/// Characters of a bar that is the whole.
const BAR: f64 = 40.0;

/// A share of a whole as a bar.
fn bar(share: f64) -> String {
    "▇".repeat((BAR * share).round() as usize)
}

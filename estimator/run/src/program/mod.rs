//! A program that runs its kernels on the executor: what it tells while it runs, timed and priced beside it.

mod groups;
mod listen;
mod timeline;
mod timer;

pub use groups::{Like, differences};
pub use listen::{Copied, Heard, Item, MOST_ITEMS, Wrong, listen};
pub use timeline::{Timed, in_time, way_name, write as write_timeline};
pub use timer::{Answer, Answers, Bounds, Timer};
pub use warpwatt_cudart::protocol::{Launched, Way};

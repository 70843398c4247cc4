//! A program that runs its kernels on the executor: what it tells while it runs, timed and priced beside it.

mod listen;
mod sums;
mod timer;

pub use listen::{Copied, Heard, Item, MOST_ITEMS, Stopped, listen};
pub use sums::{KernelSums, Sums, Totals, sums};
pub use timer::{Answer, Bounds, Timer};

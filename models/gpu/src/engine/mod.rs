//! Simulated time: what happens when, in which order, under which clock.

mod clock;
mod ticks;
mod wheel;

pub use clock::ClockRatio;
pub(crate) use ticks::{NEVER, Ticks};
pub use wheel::{EventQueue, Past};

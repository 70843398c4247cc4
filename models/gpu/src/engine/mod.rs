//! Simulated time: what happens when, in which order, under which clock.

mod clock;
mod wheel;

pub use clock::ClockRatio;
pub use wheel::{EventQueue, Past};

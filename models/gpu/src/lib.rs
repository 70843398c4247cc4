//! A discrete-event model of a GPU, fed by warp traces.
//!
//! It counts events and cycles; what they cost is not its concern.

#[expect(dead_code)]
mod counters;
mod error;
mod hooks;
mod run;
mod spec;

pub use counters::{COUNTERS, CounterInfo};
pub use error::{GpuError, Resource};
pub use hooks::{FetchEvent, FetchFilter, FetchObserver, FilterFactory, Hooks, ObserverFactory};
pub use run::{LaunchRun, Run};
pub use spec::*;

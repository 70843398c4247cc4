//! A discrete-event model of a GPU, fed by warp traces.
//!
//! It counts events and cycles; what they cost is not its concern.

mod counters;
mod engine;
mod error;
mod event;
mod hooks;
mod machine;
mod memory;
mod occupancy;
mod program;
mod run;
mod sm;
mod spec;

pub use counters::{COUNTERS, CounterInfo};
pub use engine::{ClockRatio, EventQueue, Past};
pub use error::{GpuError, Resource};
pub use hooks::{
    Course, Extent, FetchEvent, FetchFilter, FetchObserver, FilterFactory, Hooks, IssueEvent,
    IssueFactory, IssueHook, ObserverFactory, PlaceEvent,
};
pub use machine::simulate;
pub use run::{LaunchRun, Run, Work};
pub use spec::*;
/// The traces that hooks see.
pub use warpwatt_simt::trace;

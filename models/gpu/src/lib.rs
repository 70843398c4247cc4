//! A discrete-event model of a GPU, fed by warp traces.
//!
//! It counts events and cycles; what they cost is not its concern.

mod counters;
mod engine;
mod error;
mod event;
mod hardware;
mod hooks;
mod instructions;
mod machine;
mod memory;
mod occupancy;
mod program;
mod registers;
mod request;
mod run;
mod sampling;
mod sm;
mod sms;
mod spec;
mod watch;

pub use counters::{COUNTERS, CounterInfo};
pub use engine::{ClockRatio, EventQueue, Past};
pub use error::{GpuError, Lack, Resource};
pub use hardware::{HARDWARE_EVENTS, HardwareEvent};
pub use hooks::{
    CacheEvent, Chosen, CodeEvent, Condition, Dispatcher, DispatcherFactory, Extent, FetchEvent,
    FetchFilter, FetchObserver, Fetched, FilterFactory, Hooks, IssueEvent, IssueFactory, IssueHook,
    IssuePlan, MetadataFactory, Move, ObserverFactory, PlaceEvent, Port, Reexecution, Reexecutor,
    Rewrite, SharedEvent, SharedFactory, SharedObserver, SharedUse, SmCache, StorageFactory,
    StorageObserver, Throttle,
};
pub use instructions::{Caused, caused};
pub use machine::{Control, simulate, simulate_under};
pub use occupancy::{resident_ctas, resident_warps};
pub use run::{LaunchRun, Run, Work};
pub use sampling::{Batch, LEAST_BATCHES, LaunchSample, Sampling, Way};
pub use sm::{WarpState, WarpView};
pub use spec::*;
/// The traces that hooks see.
pub use warpwatt_simt::trace;
pub use watch::{MemoryView, SmView, Watcher, Watchers};

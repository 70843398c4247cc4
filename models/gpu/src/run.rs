//! What a timing run leaves.

use warpwatt_activity::Activity;

/// The counts of one run: all launches, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// SM cycles from the first launch until the last one has finished, its memory traffic included.
    pub cycles: u64,
    /// The whole GPU: the sum over `per_sm` and what belongs to no SM.
    pub activity: Activity,
    /// One entry an SM.
    pub per_sm: Vec<Activity>,
    /// One entry a launch, in order.
    pub launches: Vec<LaunchRun>,
    /// What the simulation did for that.
    pub work: Work,
}

impl Run {
    /// Whether a part of it was not timed.
    pub fn is_sampled(&self) -> bool {
        self.launches.iter().any(|launch| launch.sample.is_some())
    }
}

/// Steps of a simulation. Each takes a bounded time, so that the time of a run grows with them, and with nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Events handled.
    pub events: u64,
    /// Cycles of single SMs looked at.
    pub ticks: u64,
    /// Those of them in which SMs were looked at on several threads. Nothing else depends on the threads.
    pub beside: u64,
}

/// One launch of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchRun {
    /// The kernel.
    pub kernel: String,
    /// SM cycles from its start to its end.
    pub cycles: u64,
    /// CTAs that an SM could hold at once.
    pub ctas_per_sm: u32,
    /// Warps of these.
    pub warps_per_sm: u32,
    /// What limits them.
    pub limited_by: crate::Resource,
    /// What was timed of it, if not all of it was: counts and cycles of the run are estimates then.
    pub sample: Option<crate::LaunchSample>,
}

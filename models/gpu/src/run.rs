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
}

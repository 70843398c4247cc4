//! Where techniques attach to the pipeline. What is not attached costs nothing and changes nothing.

use warpwatt_activity::Activity;

/// Makes one filter for each SM; the argument is the SM's number.
pub type FilterFactory = Box<dyn Fn(u32) -> Box<dyn FetchFilter>>;
/// Makes one observer for each SM; the argument is the SM's number.
pub type ObserverFactory = Box<dyn Fn(u32) -> Box<dyn FetchObserver>>;

/// The attachments of a run.
#[derive(Default)]
pub struct Hooks {
    /// Stands before the I-cache and may serve fetches.
    pub fetch_filter: Option<FilterFactory>,
    /// Watch the front end and change nothing.
    pub fetch_observers: Vec<ObserverFactory>,
}

/// A small store before the I-cache.
///
/// Contract: a fetch looks up once. If it misses, the I-cache is accessed, and the instruction is filled when it comes; a fetch that starts in a
/// later cycle than the fill sees it. With `fetch.stages = 2` the I-cache is read a cycle after the look-up, and so the fill comes a cycle later.
pub trait FetchFilter {
    /// Whether the filter holds the instruction at `pc` (a byte address).
    fn lookup(&mut self, pc: u64) -> bool;
    /// The I-cache delivers the instruction at `pc`.
    fn fill(&mut self, pc: u64);
    /// Adds the filter's own counters.
    fn report(&self, activity: &mut Activity);
}

/// A warp's slot and the instruction it fetches, gets or issues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchEvent {
    /// The SM's cycle.
    pub cycle: u64,
    /// The warp's slot in the SM.
    pub warp: u8,
    /// The instruction's byte address.
    pub pc: u64,
}

/// Watches the front end of an SM.
pub trait FetchObserver {
    /// The arbiter granted a fetch.
    fn fetched(&mut self, event: FetchEvent) {
        let _ = event;
    }
    /// The instruction is decoded in the warp's buffer from `event.cycle` on; said in advance for an I-cache hit.
    fn delivered(&mut self, event: FetchEvent) {
        let _ = event;
    }
    /// The instruction left the buffer.
    fn issued(&mut self, event: FetchEvent) {
        let _ = event;
    }
    /// The warp in slot `warp` has finished.
    fn retired(&mut self, warp: u8) {
        let _ = warp;
    }
    /// Adds the observer's counters.
    fn report(&self, activity: &mut Activity);
}

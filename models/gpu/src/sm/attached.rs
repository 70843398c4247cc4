//! What techniques have attached to an SM. It stands beside the SM, not in it: what is attached may be shared by threads that run beside each other, and an SM
//! without attachments goes from one thread to another.

use warpwatt_activity::Activity;
use warpwatt_simt::trace::KernelTrace;

use super::ldst::Wanted;
use crate::{
    CacheEvent, CodeEvent, FetchFilter, FetchObserver, Hooks, IssueHook, SmCache, StorageObserver,
};

/// Nothing, where nothing is attached.
#[derive(Default)]
pub(crate) struct Attached {
    pub filter: Option<Box<dyn FetchFilter>>,
    pub observers: Vec<Box<dyn FetchObserver>>,
    pub issue: Vec<Box<dyn IssueHook>>,
    pub storage: Vec<Box<dyn StorageObserver>>,
}

impl Attached {
    /// To SM number `id`.
    pub fn new(id: u32, hooks: &Hooks) -> Self {
        Self {
            filter: hooks.fetch_filter.as_ref().map(|make| make(id)),
            observers: hooks.fetch_observers.iter().map(|make| make(id)).collect(),
            issue: hooks.issue.iter().map(|make| make(id)).collect(),
            storage: hooks.storage.iter().map(|make| make(id)).collect(),
        }
    }

    /// Whether any of it counts.
    pub fn counts(&self) -> bool {
        self.filter.is_some() || !self.observers.is_empty() || !self.issue.is_empty()
    }

    /// Whether what the filter serves is decoded already.
    pub fn skips_decode(&self) -> bool {
        self.filter.as_ref().is_some_and(|it| it.skips_decode())
    }

    /// A launch begins in cycle `now`.
    pub fn begin(&mut self, trace: &KernelTrace, now: u64) {
        for hook in &mut self.issue {
            hook.begin(trace);
        }
        for observer in &mut self.storage {
            observer.begin(now, trace);
        }
    }

    /// The launch has ended on all SMs.
    pub fn has_ended(&mut self, now: u64) {
        for observer in &mut self.storage {
            observer.end(now);
        }
    }

    /// What is summed up over time is so to `cycle`.
    pub fn up_to(&mut self, cycle: u64) {
        for hook in &mut self.issue {
            hook.up_to(cycle);
        }
    }

    /// Shows what happens in a cache to those who see where bits lie.
    #[inline]
    pub fn watch_cache(&mut self, cycle: u64, cache: SmCache, event: CacheEvent) {
        for observer in &mut self.storage {
            observer.cached(cycle, cache, event);
        }
    }

    /// Shows them that a unit takes an instruction.
    #[inline]
    pub fn watch_entry(&mut self, cycle: u64, wanted: Wanted) {
        for observer in &mut self.storage {
            observer.entered(cycle, wanted.warp, wanted.inst);
        }
    }

    /// Shows them what happens in the I-cache.
    #[inline]
    pub fn watch_code(&mut self, cycle: u64, event: CodeEvent) {
        for observer in &mut self.storage {
            observer.code_cached(cycle, event);
        }
    }

    /// Adds the counters of all of it.
    pub fn report(&self, activity: &mut Activity) {
        if let Some(filter) = &self.filter {
            filter.report(activity);
        }
        for observer in &self.observers {
            observer.report(activity);
        }
        for hook in &self.issue {
            hook.report(activity);
        }
    }

    /// Adds those that do not add up over time.
    pub fn report_levels(&self, activity: &mut Activity) {
        if let Some(filter) = &self.filter {
            filter.report_levels(activity);
        }
        for hook in &self.issue {
            hook.report_levels(activity);
        }
    }
}

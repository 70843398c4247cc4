//! The release-flag cache: `pir` instructions that need not be fetched and decoded again.

use warpwatt_activity::Activity;
use warpwatt_gpu::trace::KernelTrace;
use warpwatt_gpu::{GpuSpec, IssueEvent, IssueHook, IssuePlan};

use super::{Code, Management};

/// Direct-mapped, shared by the warps of an SM, indexed by the place of the `pir` in the code (section 2.5.5).
#[derive(Clone, Debug)]
pub struct FlagCache {
    entries: Vec<u64>,
    /// Look-ups.
    pub reads: u64,
    /// Flags written, after a miss.
    pub writes: u64,
}

/// No instruction stands there.
const EMPTY: u64 = u64::MAX;

impl FlagCache {
    /// An empty cache; without entries everything misses.
    pub fn new(entries: u32) -> Self {
        Self {
            entries: vec![EMPTY; entries as usize],
            reads: 0,
            writes: 0,
        }
    }

    /// Other code is fetched from now on.
    pub fn forget(&mut self) {
        self.entries.fill(EMPTY);
    }

    /// Whether the `pir` at `place` is there; it is from now on.
    pub fn looks_up(&mut self, place: u64) -> bool {
        if self.entries.is_empty() {
            return false;
        }
        self.reads += 1;
        let entry = (place % self.entries.len() as u64) as usize;
        let hit = self.entries[entry] == place;
        self.entries[entry] = place;
        self.writes += u64::from(!hit);
        hit
    }
}

/// Counts what of the metadata in front of instructions is decoded: all but each `pir` that is remembered. It changes no time, so that it stands apart from what does.
pub(super) struct Decoded {
    management: Management,
    gpu: GpuSpec,
    code: Code,
    flags: FlagCache,
    decoded: u64,
}

impl Decoded {
    /// Of an SM with such a cache.
    pub fn new(management: Management, gpu: GpuSpec, flags: FlagCache) -> Self {
        Self {
            management,
            gpu,
            code: Code::default(),
            flags,
            decoded: 0,
        }
    }
}

impl IssueHook for Decoded {
    fn begin(&mut self, trace: &KernelTrace) {
        self.code = self.management.code(&self.gpu, trace);
        self.flags.forget();
    }

    fn issued(&mut self, event: &IssueEvent<'_>, _: &mut IssuePlan) {
        let inst = &self.code.insts[event.step.inst as usize];
        self.decoded += inst.pbrs();
        if let Some(place) = inst.pir {
            self.decoded += u64::from(!self.flags.looks_up(place));
        }
    }

    fn report(&self, activity: &mut Activity) {
        if !self.flags.entries.is_empty() {
            activity.add("release_flag_cache.read", self.flags.reads);
            activity.add("release_flag_cache.write", self.flags.writes);
        }
        activity.add("metadata_decoded", self.decoded);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_fall_together_replace_each_other() {
        let mut cache = FlagCache::new(2);
        let hits: Vec<bool> = [0, 1, 0, 2, 0, 1]
            .map(|place| cache.looks_up(place))
            .to_vec();
        assert_eq!(hits, [false, false, true, false, false, true]);
        assert_eq!((cache.reads, cache.writes), (6, 4));
        assert!(!FlagCache::new(0).looks_up(7));
    }
}

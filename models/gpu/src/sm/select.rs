//! Which warp is served next.

use crate::{GpuSpec, Policy};

/// The scheduling policy over masks of warps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Select {
    policy: Policy,
    group_size: u32,
    groups: u32,
}

impl Select {
    pub fn new(spec: &GpuSpec) -> Self {
        let group_size = spec.scheduler.group_size;
        Self {
            policy: spec.scheduler.policy,
            group_size,
            groups: spec.warps_per_sm().div_ceil(group_size),
        }
    }

    /// The warp to serve among `candidates` (not empty), after this stage served `last` and the issue stage `last_issued`.
    #[inline]
    pub fn next(&self, candidates: u64, last: u32, last_issued: u32) -> u32 {
        match self.policy {
            Policy::RoundRobin => after(candidates, last),
            Policy::TwoLevel => self.two_level(candidates, last, last_issued),
        }
    }

    fn two_level(&self, candidates: u64, last: u32, last_issued: u32) -> u32 {
        let first = last_issued / self.group_size;
        for step in 0..self.groups {
            let group = (first + step) % self.groups;
            let members = candidates & self.members(group);
            if members != 0 {
                return after(members, last);
            }
        }
        after(candidates, last)
    }

    fn members(&self, group: u32) -> u64 {
        let ones = u64::MAX >> (64 - self.group_size);
        ones << (group * self.group_size)
    }
}

/// Round robin: the first candidate above `last`, or else the lowest.
#[inline]
fn after(candidates: u64, last: u32) -> u32 {
    let above = candidates & (u64::MAX << last) & !(1 << last);
    (if above != 0 { above } else { candidates }).trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn select(policy: Policy) -> Select {
        let mut spec = GpuSpec::preset("tesla-16sm").unwrap();
        spec.scheduler.policy = policy;
        Select::new(&spec)
    }

    #[test]
    fn round_robin_goes_around() {
        let select = select(Policy::RoundRobin);
        assert_eq!(select.next(0b1011, 0, 0), 1);
        assert_eq!(select.next(0b1011, 1, 0), 3);
        assert_eq!(select.next(0b1011, 3, 0), 0);
        assert_eq!(select.next(1 << 63, 63, 0), 63);
    }

    #[test]
    fn two_level_stays_in_the_group_of_the_last_issued_warp() {
        let select = select(Policy::TwoLevel);
        let candidates = 1 << 2 | 1 << 9 | 1 << 30;
        assert_eq!(
            select.next(candidates, 0, 8),
            9,
            "warp 8's group holds warps 8 to 15"
        );
        assert_eq!(
            select.next(candidates, 0, 16),
            30,
            "no candidate in 16 to 23: the next group that has one"
        );
        assert_eq!(select.next(candidates, 2, 0), 2);
    }
}

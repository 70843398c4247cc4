//! Which warp is served next.

use super::warp::Warp;
use crate::{GpuSpec, Policy};

/// The scheduling policy over masks of warps.
#[derive(Clone, Debug)]
pub(crate) struct Select {
    policy: Policy,
    group_size: u32,
    groups: u32,
    active_warps: u32,
}

/// What a policy may look at besides the candidates.
pub(crate) struct Seen<'s> {
    /// The warp that this scheduler served last.
    pub last: u32,
    /// Warps that wait for memory or at a barrier.
    pub waiting: u64,
    /// Of each warp, when it was placed and since when it has been ready.
    pub ages: &'s Ages,
    /// By slot, for how many instructions each has issued.
    pub warps: &'s [Warp],
}

/// What policies know of each warp; numbers of a kind side by side, so that those of all warps lie in few lines of the processor's cache.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ages {
    /// Warps placed so far.
    next: u64,
    /// The policy wants to know since when warps have been ready.
    of_ready: bool,
    /// By warp slot: the order of placement.
    pub placed: Vec<u64>,
    /// By warp slot: the cycle since which the warp's oldest instruction has been ready, if the policy wants to know.
    ready: Vec<u64>,
}

impl Ages {
    pub fn new(warps: u32, spec: &GpuSpec) -> Self {
        Self {
            next: 0,
            of_ready: spec.scheduler.policy == Policy::FirstReady,
            placed: vec![0; warps as usize],
            ready: vec![0; warps as usize],
        }
    }

    /// A warp is placed in a slot.
    pub fn place(&mut self, slot: usize) {
        self.placed[slot] = self.next;
        self.next += 1;
    }

    /// A warp's oldest instruction can go from now on.
    #[inline]
    pub fn is_ready(&mut self, slot: usize, now: u64) {
        if self.of_ready {
            self.ready[slot] = now;
        }
    }
}

/// The candidate with the least number; of equals the lowest.
#[inline]
fn least(candidates: u64, number: impl Fn(usize) -> u64) -> u32 {
    let mut rest = candidates;
    let mut best = (u64::MAX, candidates.trailing_zeros());
    while rest != 0 {
        let warp = rest.trailing_zeros();
        rest &= rest - 1;
        best = best.min((number(warp as usize), warp));
    }
    best.1
}

impl Select {
    pub fn new(spec: &GpuSpec) -> Self {
        let group_size = spec.scheduler.group_size;
        Self {
            policy: spec.scheduler.policy,
            group_size,
            groups: spec.warps_per_sm().div_ceil(group_size),
            active_warps: spec.scheduler.active_warps,
        }
    }

    /// The warp to fetch for among `candidates` (not empty), after fetch served `last` and issue `last_issued`.
    #[inline]
    pub fn fetch(&self, candidates: u64, last: u32, last_issued: u32) -> u32 {
        match self.policy {
            Policy::TwoLevel => self.two_level(candidates, last, last_issued),
            _ => after(candidates, last),
        }
    }

    /// The warp to issue among `candidates` (not empty). `active` is the scheduler's pool of active warps, used by one policy.
    #[inline]
    pub fn issue(&self, candidates: u64, seen: &Seen<'_>, active: &mut u64) -> Option<u32> {
        let last = seen.last;
        let warp = match self.policy {
            Policy::RoundRobin => after(candidates, last),
            Policy::TwoLevel => self.two_level(candidates, last, last),
            Policy::Gto if candidates >> last & 1 != 0 => last,
            Policy::Gto | Policy::Oldest => least(candidates, |warp| seen.ages.placed[warp]),
            Policy::Fair => least(candidates, |warp| seen.warps[warp].issued),
            Policy::FirstReady => least(candidates, |warp| seen.ages.ready[warp]),
            Policy::ActivePool => return self.pool_issue(candidates, seen, active),
        };
        Some(warp)
    }

    /// Warps that wait for memory or at a barrier leave the pool; candidates outside it enter in the order of placement as long as there is room.
    fn pool_issue(&self, candidates: u64, seen: &Seen<'_>, active: &mut u64) -> Option<u32> {
        *active &= !seen.waiting;
        let mut outside = candidates & !*active;
        while outside != 0 && active.count_ones() < self.active_warps {
            let warp = least(outside, |warp| seen.ages.placed[warp]);
            *active |= 1 << warp;
            outside &= !(1 << warp);
        }
        let inside = candidates & *active;
        (inside != 0).then(|| after(inside, seen.last))
    }

    /// Whether warps enter a pool before they issue.
    #[inline]
    pub fn has_pool(&self) -> bool {
        self.policy == Policy::ActivePool
    }

    /// Warps of `own` that can be issued as long as none of them begins to wait: all if the pool has room, or else those in it.
    #[inline]
    pub fn pool_reaches(&self, own: u64, waiting: u64, active: u64) -> u64 {
        let stays = active & !waiting;
        if stays.count_ones() < self.active_warps {
            own
        } else {
            stays
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

    fn spec(policy: Policy) -> GpuSpec {
        let mut spec = GpuSpec::preset("tesla-16sm").unwrap();
        spec.scheduler.policy = policy;
        spec.scheduler.active_warps = 2;
        spec
    }

    fn select(policy: Policy) -> Select {
        Select::new(&spec(policy))
    }

    fn ages() -> Ages {
        Ages::new(64, &spec(Policy::FirstReady))
    }

    fn issue(policy: Policy, candidates: u64, last: u32, ages: &Ages) -> u32 {
        issue_of(policy, candidates, last, (ages, &[]))
    }

    fn issue_of(
        policy: Policy,
        candidates: u64,
        last: u32,
        (ages, warps): (&Ages, &[Warp]),
    ) -> u32 {
        let seen = Seen {
            last,
            waiting: 0,
            ages,
            warps,
        };
        select(policy)
            .issue(candidates, &seen, &mut 0)
            .expect("one is chosen")
    }

    #[test]
    fn round_robin_goes_around() {
        let ages = ages();
        assert_eq!(issue(Policy::RoundRobin, 0b1011, 0, &ages), 1);
        assert_eq!(issue(Policy::RoundRobin, 0b1011, 1, &ages), 3);
        assert_eq!(issue(Policy::RoundRobin, 0b1011, 3, &ages), 0);
        assert_eq!(issue(Policy::RoundRobin, 1 << 63, 63, &ages), 63);
    }

    #[test]
    fn two_level_stays_in_the_group_of_the_last_issued_warp() {
        let select = select(Policy::TwoLevel);
        let candidates = 1 << 2 | 1 << 9 | 1 << 30;
        assert_eq!(
            select.fetch(candidates, 0, 8),
            9,
            "warp 8's group holds warps 8 to 15"
        );
        assert_eq!(
            select.fetch(candidates, 0, 16),
            30,
            "no candidate in 16 to 23: the next group that has one"
        );
        assert_eq!(select.fetch(candidates, 2, 0), 2);
    }

    #[test]
    fn greedy_stays_and_otherwise_the_oldest_goes() {
        let mut ages = ages();
        for (age, placed) in ages.placed.iter_mut().rev().zip(0..) {
            *age = placed;
        }
        assert_eq!(issue(Policy::Gto, 0b0110, 1, &ages), 1);
        assert_eq!(issue(Policy::Gto, 0b0110, 0, &ages), 2, "placed before 1");
        assert_eq!(issue(Policy::Oldest, 0b0110, 1, &ages), 2);
    }

    #[test]
    fn fair_takes_the_one_that_issued_least_and_first_ready_the_one_that_waits_longest() {
        let mut ages = ages();
        let mut warps = vec![Warp::new(2); 5];
        warps[3].issued = 5;
        warps[4].issued = 4;
        ages.is_ready(3, 10);
        ages.is_ready(4, 20);
        assert_eq!(issue_of(Policy::Fair, 0b11000, 0, (&ages, &warps)), 4);
        assert_eq!(issue(Policy::FirstReady, 0b11000, 0, &ages), 3);
    }

    #[test]
    fn a_warp_that_waits_for_memory_makes_room_in_the_pool() {
        let (select, ages, mut active) = (select(Policy::ActivePool), ages(), 0);
        let mut seen = Seen {
            last: 63,
            waiting: 0,
            ages: &ages,
            warps: &[],
        };
        assert_eq!(select.issue(0b1111, &seen, &mut active), Some(0));
        assert_eq!(active, 0b0011, "two warps are active");
        assert_eq!(select.pool_reaches(0b1111, 0, active), 0b0011);
        assert_eq!(
            select.issue(0b1100, &seen, &mut active),
            None,
            "neither of them can issue"
        );
        seen.waiting = 0b0001;
        assert_eq!(select.pool_reaches(0b1111, seen.waiting, active), 0b1111);
        assert_eq!(select.issue(0b1100, &seen, &mut active), Some(2));
        assert_eq!(active, 0b0110);
    }
}

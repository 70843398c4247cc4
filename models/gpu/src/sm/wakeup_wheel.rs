//! A timing wheel of wake-ups: a warp whose result or branch is known to come in a certain cycle needs no event of its own.

use crate::engine::NEVER;

/// Cycles that the wheel spans. A warp that wakes later is put at the last of them, and on the wheel again from there.
const HORIZON: u64 = 64;

/// When the warps of an SM wake: a set of warps for each cycle.
#[derive(Clone, Debug)]
pub(crate) struct WakeupWheel {
    /// By cycle modulo the horizon.
    warps: [u64; HORIZON as usize],
    /// One bit a cycle: whether its set has a member.
    occupied: u64,
}

impl WakeupWheel {
    /// None.
    pub fn new() -> Self {
        Self {
            warps: [0; HORIZON as usize],
            occupied: 0,
        }
    }

    /// The warp is to be looked at in `cycle`, which is not before `now`; not if that is never.
    #[inline]
    pub fn plan(&mut self, warp: usize, cycle: u64, now: u64) {
        debug_assert!(cycle >= now);
        if cycle == NEVER {
            return;
        }
        let slot = cycle.min(now + HORIZON - 1) % HORIZON;
        self.warps[slot as usize] |= 1 << warp;
        self.occupied |= 1 << slot;
    }

    /// The first cycle from `from` on with a look, or never. None that was planned for before may be left.
    #[inline]
    pub fn first(&self, from: u64) -> u64 {
        let ahead = self.occupied.rotate_right((from % HORIZON) as u32);
        if ahead == 0 {
            return NEVER;
        }
        from + u64::from(ahead.trailing_zeros())
    }

    /// The warps to be looked at now.
    #[inline]
    pub fn take(&mut self, now: u64) -> u64 {
        let slot = now % HORIZON;
        self.occupied &= !(1 << slot);
        std::mem::take(&mut self.warps[slot as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_warp_is_looked_at_in_its_cycle_or_at_the_horizon() {
        let mut wheel = WakeupWheel::new();
        wheel.plan(3, 100, 98);
        wheel.plan(4, 100, 98);
        wheel.plan(5, 98, 98);
        wheel.plan(6, 1000, 98);
        wheel.plan(7, NEVER, 98);
        assert_eq!(wheel.first(98), 98);
        assert_eq!(wheel.take(98), 1 << 5);
        assert_eq!(wheel.first(99), 100);
        assert_eq!(wheel.take(99), 0);
        assert_eq!(wheel.take(100), 1 << 3 | 1 << 4);
        assert_eq!(wheel.first(101), 98 + HORIZON - 1);
        assert_eq!(wheel.take(98 + HORIZON - 1), 1 << 6);
        assert_eq!(wheel.first(200), NEVER);
    }
}

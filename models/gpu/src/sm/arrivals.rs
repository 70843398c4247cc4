//! Instructions on their way from an I-cache or filter hit to the buffer. The way has one length, so that they arrive in the order in which they set out, but for
//! those that need not be decoded: these overtake others, but none of their own warp.

use crate::engine::NEVER;

/// A ring of arrivals.
#[derive(Clone, Debug)]
pub(crate) struct Arrivals {
    /// The cycle of the first one, or never.
    first: u64,
    /// Cycle and warp; as many as a power of two.
    ring: Box<[(u64, u8)]>,
    /// Those that have arrived and those that were put in, since the ring was last empty.
    taken: usize,
    put: usize,
}

impl Arrivals {
    /// Room for `most` at once.
    pub fn new(most: usize) -> Self {
        Self {
            first: NEVER,
            ring: vec![(0, 0); most.next_power_of_two()].into_boxed_slice(),
            taken: 0,
            put: 0,
        }
    }

    #[inline]
    fn at(&self, number: usize) -> (u64, u8) {
        self.ring[number & (self.ring.len() - 1)]
    }

    /// An instruction of `warp` arrives in `cycle`, no earlier than those of its warp before it; when that is.
    #[inline]
    pub fn push(&mut self, cycle: u64, warp: u8) -> u64 {
        debug_assert!(self.put - self.taken < self.ring.len());
        let last = self.ring.len() - 1;
        let (mut cycle, mut place) = (cycle, self.put);
        while place != self.taken {
            let before = self.at(place - 1);
            if before.1 == warp {
                cycle = cycle.max(before.0);
            }
            if before.0 <= cycle {
                break;
            }
            self.ring[place & last] = before;
            place -= 1;
        }
        self.ring[place & last] = (cycle, warp);
        self.first = self.first.min(cycle);
        self.put += 1;
        cycle
    }

    /// The cycle and the warp of the next instruction that has arrived by `now`.
    #[inline]
    pub fn pop(&mut self, now: u64) -> Option<(u64, u8)> {
        let (cycle, taken) = (self.first, self.taken);
        if cycle > now {
            return None;
        }
        let (_, warp) = self.at(taken);
        self.taken += 1;
        if self.taken == self.put {
            // Back to the start: the ring's first places stay in the processor's cache.
            (self.taken, self.put, self.first) = (0, 0, NEVER);
        } else {
            self.first = self.at(self.taken).0;
        }
        Some((cycle, warp))
    }

    /// When the first instruction for any of `warps` arrives, or never.
    #[inline]
    pub fn first_for(&self, warps: u64) -> u64 {
        let mut number = self.taken;
        while number != self.put {
            let (cycle, warp) = self.at(number);
            if warps >> (warp & 63) & 1 != 0 {
                return cycle;
            }
            number += 1;
        }
        NEVER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_need_not_be_decoded_overtakes_other_warps_and_not_its_own() {
        let mut arrivals = Arrivals::new(8);
        assert_eq!(arrivals.push(10, 1), 10);
        assert_eq!(arrivals.push(11, 2), 11);
        assert_eq!(arrivals.push(9, 3), 9);
        assert_eq!(arrivals.push(9, 2), 11);
        let order: Vec<_> = std::iter::from_fn(|| arrivals.pop(20)).collect();
        assert_eq!(order, [(9, 3), (10, 1), (11, 2), (11, 2)]);
    }

    #[test]
    fn they_arrive_in_order_and_not_before_their_cycle() {
        let mut arrivals = Arrivals::new(3);
        for round in 0..5 {
            arrivals.push(10 * round + 1, 7);
            arrivals.push(10 * round + 2, 3);
            assert_eq!(arrivals.first_for(1 << 3), 10 * round + 2);
            assert_eq!(arrivals.first_for(1 << 4), NEVER);
            assert_eq!(arrivals.pop(10 * round), None);
            assert_eq!(arrivals.pop(10 * round + 1), Some((10 * round + 1, 7)));
            assert_eq!(arrivals.pop(10 * round + 1), None);
            assert_eq!(arrivals.pop(10 * round + 9), Some((10 * round + 2, 3)));
            assert_eq!(arrivals.pop(10 * round + 9), None);
        }
    }
}

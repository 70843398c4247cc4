//! Which of the coming slots of a resource are taken: one bit each.

/// Words of 64 slots in the ring.
const WORDS: u64 = 16;

/// Slots ahead that can be taken; one word less than the ring, so that no word holds slots of two rounds. What lies further ahead is always free.
const AHEAD: u64 = 64 * (WORDS - 1);

/// A resource that serves one at a time and is promised slot by slot, in any order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calendar {
    /// Slot s is bit s mod 64 of word s / 64, around the ring.
    taken: [u64; WORDS as usize],
    /// Slots before this one are over.
    from: u64,
}

impl Calendar {
    /// Slots before `now` are over; time does not go back.
    #[inline]
    pub fn forget(&mut self, now: u64) {
        if now - self.from >= AHEAD {
            self.taken = Default::default();
        } else {
            for word in self.from / 64..now / 64 {
                self.taken[(word % WORDS) as usize] = 0;
            }
            self.taken[word(now)] &= u64::MAX << (now % 64);
        }
        self.from = now;
    }

    /// The first free slot that is not before `slot`, which is not over.
    #[inline]
    pub fn free_from(&self, mut slot: u64) -> u64 {
        while slot - self.from < AHEAD {
            let free = !self.taken[word(slot)] >> (slot % 64);
            if free != 0 {
                return slot + u64::from(free.trailing_zeros());
            }
            slot = (slot / 64 + 1) * 64;
        }
        slot
    }

    /// Takes a slot that is not over.
    #[inline]
    pub fn take(&mut self, slot: u64) {
        if slot - self.from < AHEAD {
            self.taken[word(slot)] |= 1 << (slot % 64);
        }
    }
}

fn word(slot: u64) -> usize {
    (slot / 64 % WORDS) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Beside a set of numbers.
        #[test]
        fn slots_are_taken_once(steps in prop::collection::vec((0u64..200, 0u64..900), 1..300)) {
            let (mut calendar, mut taken, mut now) = (Calendar::default(), BTreeSet::new(), 0);
            for (pass, ahead) in steps {
                now += if pass > 190 { 2000 } else { pass / 20 };
                calendar.forget(now);
                let wanted = now + ahead;
                let free = (wanted..).find(|slot| !taken.contains(slot)).unwrap();
                if free < now + AHEAD {
                    prop_assert_eq!(calendar.free_from(wanted), free);
                    calendar.take(free);
                    taken.insert(free);
                }
            }
        }
    }

    #[test]
    fn what_lies_too_far_ahead_is_free() {
        let mut calendar = Calendar::default();
        calendar.take(AHEAD);
        assert_eq!(calendar.free_from(AHEAD), AHEAD);
    }
}

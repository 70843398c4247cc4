//! Which of the coming slots of a resource are taken: one bit each.

/// Words of 64 slots in the ring: how far ahead slots can be taken. What lies further ahead is always free.
const WORDS: u64 = 16;

/// A resource that serves one at a time and is promised slot by slot, in any order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calendar {
    /// The word in which time stands.
    word: u64,
    /// Slot s is bit s mod 64 of word s / 64, around the ring.
    taken: [u64; WORDS as usize],
}

impl Calendar {
    /// Slots before `now` are over; time does not go back.
    #[inline]
    pub fn forget(&mut self, now: u64) {
        let word = now / 64;
        if word != self.word {
            self.turn(word);
        }
    }

    /// Time comes to another word: those that it leaves stand for slots to come.
    fn turn(&mut self, word: u64) {
        for over in self.word..word.min(self.word + WORDS) {
            self.taken[(over % WORDS) as usize] = 0;
        }
        self.word = word;
    }

    /// The first free slot that is not before `slot`, which is not over.
    #[inline]
    pub fn free_from(&self, mut slot: u64) -> u64 {
        while slot / 64 - self.word < WORDS {
            let free = !self.taken[place(slot)] >> (slot % 64);
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
        if slot / 64 - self.word < WORDS {
            self.taken[place(slot)] |= 1 << (slot % 64);
        }
    }
}

fn place(slot: u64) -> usize {
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
                if free / 64 < now / 64 + WORDS {
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
        let far = 64 * WORDS;
        calendar.take(far);
        assert_eq!(calendar.free_from(far), far);
    }
}

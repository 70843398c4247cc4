//! A ring of reservations for slots of time to come, as the reservation table of a pipelined unit.

/// Slots that can be promised ahead, in whole words of 64 from the one in which time stands. For what lies further ahead nothing is ever promised.
const SLOTS: u64 = 1024;
const WORD: u64 = 64;

/// Places of the ring before anything is promised that needs more: few, so that they stay in the processor's cache.
const FIRST: usize = 128;

/// A ring of slots, each with what has been promised for it.
#[derive(Clone, Debug)]
pub(crate) struct ReservationRing<T> {
    /// As many as a power of two, and more than the slots from now to the last one that is promised.
    places: Vec<Slot<T>>,
}

/// A place of the ring: the slot that it was used for last, by the lower bits of its number, and what has been promised for that.
#[derive(Clone, Copy, Debug, Default)]
struct Slot<T> {
    slot: u32,
    promised: T,
}

impl<T: Copy + Default> ReservationRing<T> {
    /// Nothing is promised.
    pub fn new() -> Self {
        Self {
            places: vec![Slot::default(); FIRST],
        }
    }

    #[inline]
    fn place(&self, slot: u32) -> usize {
        slot as usize & (self.places.len() - 1)
    }

    /// What is promised for a slot that is not over.
    #[inline]
    pub fn at(&self, slot: u64) -> T {
        let slot = slot as u32;
        let place = &self.places[self.place(slot)];
        if place.slot == slot {
            place.promised
        } else {
            T::default()
        }
    }

    /// The same, to promise more; `None` if that is too far ahead of `now`.
    #[inline]
    pub fn at_mut(&mut self, slot: u64, now: u64) -> Option<&mut T> {
        if slot / WORD - now / WORD >= SLOTS / WORD {
            return None;
        }
        if slot - now >= self.places.len() as u64 {
            self.grow(slot - now);
        }
        let slot = slot as u32;
        let place = self.place(slot);
        let place = &mut self.places[place];
        if place.slot != slot {
            *place = Slot {
                slot,
                promised: T::default(),
            };
        }
        Some(&mut place.promised)
    }

    /// Room for what is promised so far ahead.
    #[cold]
    fn grow(&mut self, ahead: u64) {
        let places = (ahead as usize + 1).next_power_of_two();
        let few = std::mem::replace(&mut self.places, vec![Slot::default(); places]);
        let mask = few.len() - 1;
        for (at, old) in few.into_iter().enumerate() {
            // A place that was never used says nothing of the slot that it names.
            if old.slot as usize & mask == at {
                let place = self.place(old.slot);
                self.places[place] = old;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Most places have not been used when it grows.
    #[test]
    fn what_was_promised_stays_when_the_ring_grows() {
        let mut ring = ReservationRing::new();
        for slot in [256, 257, 400, 800] {
            *ring.at_mut(slot, 200).unwrap() = slot;
        }
        assert_eq!(
            [256, 257, 400, 800].map(|slot| ring.at(slot)),
            [256, 257, 400, 800]
        );
        assert_eq!(ring.at(512), 0);
    }

    proptest! {
        /// Beside a map.
        #[test]
        fn what_was_promised_is_found_in_its_slot(steps in prop::collection::vec((0u64..200, 0u64..900, 1u8..9), 1..300)) {
            let (mut coming, mut promised, mut now) = (ReservationRing::<u8>::new(), BTreeMap::new(), 0);
            for (pass, ahead, what) in steps {
                now += if pass > 190 { 2000 } else { pass / 20 };
                let slot = now + ahead;
                prop_assert_eq!(coming.at(slot), promised.get(&slot).copied().unwrap_or(0));
                *coming.at_mut(slot, now).unwrap() |= what;
                *promised.entry(slot).or_insert(0) |= what;
            }
        }
    }

    #[test]
    fn for_what_lies_too_far_ahead_nothing_is_promised() {
        let mut coming = ReservationRing::<u8>::new();
        *coming.at_mut(1023, 63).unwrap() = 1;
        assert_eq!(coming.at(1023), 1);
        assert_eq!(coming.at_mut(1024, 63), None);
        assert_eq!(coming.at(1024), 0);
        assert_eq!(coming.at_mut(1024, 64), Some(&mut 0));
    }
}

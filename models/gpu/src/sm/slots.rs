//! Places that instructions take and leave: collectors, and the room before units.

/// Kinds of places, each with a fixed number of them that are described by when they are free.
#[derive(Clone, Debug)]
pub(crate) struct Slots<const KINDS: usize> {
    /// The first cycle in which a place of a kind is free; `u64::MAX` if all are taken until somebody says how long.
    first: [u64; KINDS],
    others: [Others; KINDS],
    /// When the others of all kinds are free, those of a kind side by side, so that all lie in few lines of the processor's cache.
    until: Box<[u64]>,
}

/// The places of a kind but the one that is free first: a ring of the times when they are free, of which that is known, ascending from `head` on and around
/// the end.
#[derive(Clone, Copy, Debug)]
struct Others {
    /// Where the ring begins, and one less than the places that it has, which are as many as a power of two.
    start: u32,
    last: u32,
    head: u32,
    known: u32,
}

impl Others {
    /// The index of the `number`th known time.
    #[inline]
    fn at(self, number: u32) -> usize {
        (self.start + ((self.head + number) & self.last)) as usize
    }

    /// Takes the one that is free first.
    #[inline]
    fn pop(&mut self, until: &[u64]) -> Option<u64> {
        self.known = self.known.checked_sub(1)?;
        let first = until[self.at(0)];
        self.head = (self.head + 1) & self.last;
        Some(first)
    }

    /// Another one is free from `cycle` on: mostly behind all others, else those that are later move up.
    #[inline]
    fn insert(&mut self, cycle: u64, until: &mut [u64]) {
        let mut number = self.known;
        self.known += 1;
        while number > 0 {
            let before = until[self.at(number - 1)];
            if before <= cycle {
                break;
            }
            until[self.at(number)] = before;
            number -= 1;
        }
        until[self.at(number)] = cycle;
    }
}

impl<const KINDS: usize> Slots<KINDS> {
    /// So many places of each kind, free from the start; of kinds of which there are none, none is ever taken.
    pub fn new(counts: [u32; KINDS]) -> Self {
        let mut end = 0;
        let others = counts.map(|count| {
            let places = count.next_power_of_two();
            end += places;
            Others {
                start: end - places,
                last: places - 1,
                head: 0,
                known: count.saturating_sub(1),
            }
        });
        Self {
            first: [0; KINDS],
            others,
            until: vec![0; end as usize].into_boxed_slice(),
        }
    }

    /// When one of a kind is free.
    #[inline]
    pub fn first(&self, kind: usize) -> u64 {
        self.first[kind]
    }

    /// Takes the place of a kind that is free first, for ever until [`free_from`](Self::free_from) says how long.
    #[inline]
    pub fn take(&mut self, kind: usize) {
        debug_assert!(self.first[kind] != u64::MAX);
        self.first[kind] = self.others[kind].pop(&self.until).unwrap_or(u64::MAX);
    }

    /// Takes the place of a kind that is free first, until `cycle`.
    #[inline]
    pub fn take_until(&mut self, kind: usize, cycle: u64) {
        let others = &mut self.others[kind];
        self.first[kind] = match others.pop(&self.until) {
            None => cycle,
            Some(first) => {
                others.insert(cycle.max(first), &mut self.until);
                cycle.min(first)
            }
        };
    }

    /// A place of a kind that was taken is free from `cycle` on.
    #[inline]
    pub fn free_from(&mut self, kind: usize, cycle: u64) {
        let first = self.first[kind];
        if first != u64::MAX {
            self.others[kind].insert(cycle.max(first), &mut self.until);
        }
        self.first[kind] = cycle.min(first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The place taken is the one that is free first, whatever the order in which they were left.
        #[test]
        fn the_first_is_the_least(count in 1u32..9, steps in prop::collection::vec((any::<bool>(), 0u64..30), 1..100)) {
            let mut slots = Slots::new([count]);
            let mut free = vec![0; count as usize];
            for (take, cycle) in steps {
                if take && !free.is_empty() {
                    free.remove(0);
                    if cycle % 3 == 0 {
                        slots.take_until(0, cycle);
                        free.push(cycle);
                        free.sort_unstable();
                    } else {
                        slots.take(0);
                    }
                } else if !take && free.len() < count as usize {
                    slots.free_from(0, cycle);
                    free.push(cycle);
                    free.sort_unstable();
                }
                prop_assert_eq!(slots.first(0), free.first().copied().unwrap_or(u64::MAX));
            }
        }
    }
}

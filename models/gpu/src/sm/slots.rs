//! Places that instructions take and leave: collectors, and the room before units.

/// Kinds of places, each with a fixed number of them that are described by when they are free.
#[derive(Clone, Debug)]
pub(crate) struct Slots<const KINDS: usize> {
    /// The first cycle in which a place of a kind is free; `u64::MAX` if all are taken until somebody says how long.
    first: [u64; KINDS],
    kinds: [Kind; KINDS],
}

/// The places of a kind.
#[derive(Clone, Debug)]
struct Kind {
    /// When those are free of which that is known, ascending from `head` on and around the end; as many as a power of two.
    until: Box<[u64]>,
    head: u32,
    known: u32,
}

impl Kind {
    /// The index of the `number`th known time.
    #[inline]
    fn at(&self, number: u32) -> usize {
        (self.head + number) as usize & (self.until.len() - 1)
    }
}

impl<const KINDS: usize> Slots<KINDS> {
    /// So many places of each kind, free from the start.
    pub fn new(counts: [u32; KINDS]) -> Self {
        Self {
            first: [0; KINDS],
            kinds: counts.map(|count| Kind {
                until: vec![0; (count as usize).next_power_of_two()].into_boxed_slice(),
                head: 0,
                known: count,
            }),
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
        let places = &mut self.kinds[kind];
        debug_assert!(places.known > 0);
        places.head = places.at(1) as u32;
        places.known -= 1;
        self.first[kind] = if places.known == 0 {
            u64::MAX
        } else {
            places.until[places.at(0)]
        };
    }

    /// A place of a kind that was taken is free from `cycle` on.
    #[inline]
    pub fn free_from(&mut self, kind: usize, cycle: u64) {
        let places = &mut self.kinds[kind];
        // Mostly behind all others; else those that are later move up.
        let mut number = places.known;
        while number > 0 {
            let before = places.until[places.at(number - 1)];
            if before <= cycle {
                break;
            }
            let later = places.at(number);
            places.until[later] = before;
            number -= 1;
        }
        let at = places.at(number);
        places.until[at] = cycle;
        places.known += 1;
        self.first[kind] = self.first[kind].min(cycle);
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
                    slots.take(0);
                    free.remove(0);
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

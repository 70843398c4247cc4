//! Places that instructions take and leave: collectors, and the room before units.

/// A fixed number of places, each described by when it is free.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    /// Of the places whose time is known, ascending from `head` on and around the end; as many as a power of two.
    until: Box<[u64]>,
    head: usize,
    known: usize,
    /// The least of them; `u64::MAX` if all are taken until somebody says how long.
    first: u64,
}

impl Slots {
    /// So many places, free from the start.
    pub fn new(count: u32) -> Self {
        Self {
            until: vec![0; (count as usize).next_power_of_two()].into_boxed_slice(),
            head: 0,
            known: count as usize,
            first: 0,
        }
    }

    /// When one is free.
    #[inline]
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The index of the `number`th known time.
    #[inline]
    fn at(&self, number: usize) -> usize {
        (self.head + number) & (self.until.len() - 1)
    }

    /// Takes the place that is free first, for ever until [`free_from`](Self::free_from) says how long.
    #[inline]
    pub fn take(&mut self) {
        debug_assert!(self.known > 0);
        self.head = self.at(1);
        self.known -= 1;
        self.first = if self.known == 0 {
            u64::MAX
        } else {
            self.until[self.head]
        };
    }

    /// A place that was taken is free from `cycle` on.
    #[inline]
    pub fn free_from(&mut self, cycle: u64) {
        // Mostly behind all others; else those that are later move up.
        let mut number = self.known;
        while number > 0 {
            let before = self.until[self.at(number - 1)];
            if before <= cycle {
                break;
            }
            self.until[self.at(number)] = before;
            number -= 1;
        }
        self.until[self.at(number)] = cycle;
        self.known += 1;
        self.first = self.first.min(cycle);
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
            let mut slots = Slots::new(count);
            let mut free = vec![0; count as usize];
            for (take, cycle) in steps {
                if take && !free.is_empty() {
                    slots.take();
                    free.remove(0);
                } else if !take && free.len() < count as usize {
                    slots.free_from(cycle);
                    free.push(cycle);
                    free.sort_unstable();
                }
                prop_assert_eq!(slots.first(), free.first().copied().unwrap_or(u64::MAX));
            }
        }
    }
}

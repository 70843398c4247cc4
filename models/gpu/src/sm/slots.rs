//! Places that instructions take and leave: collectors, and the room before units.

/// Words of a line of the processor's cache.
const LINE: usize = 8;

/// Kinds of places, in several equal parts of each a fixed number, which are described by when they are free.
#[derive(Clone, Debug)]
pub(crate) struct Slots<const KINDS: usize> {
    /// By part and kind what [`Kind`] says, so that what is looked at together lies in one line of the processor's cache.
    words: Box<[u64]>,
    /// Where the first part begins, and words of a part.
    base: u32,
    stride: u32,
    /// Where each kind begins in its part, and how many words it has.
    kinds: [(u16, u16); KINDS],
}

/// The words of a kind in a part: the first cycle in which a place is free, `u64::MAX` if all are taken until somebody says how long; where the ring begins, and
/// how many others are known; and when these are free, ascending from the beginning on and around the end.
struct Kind<'w>(&'w mut [u64]);

impl Kind<'_> {
    /// Words before the ring.
    const HEAD: usize = 2;

    #[inline]
    fn known(&self) -> usize {
        self.0[1] as u32 as usize
    }

    /// The word of the `number`th known time.
    #[inline]
    fn at(&self, number: usize) -> usize {
        let place = Self::HEAD + (self.0[1] >> 32) as usize + number;
        if place < self.0.len() {
            place
        } else {
            place - (self.0.len() - Self::HEAD)
        }
    }

    /// Takes the one that is free first of those that are known.
    #[inline]
    fn pop(&mut self) -> Option<u64> {
        let known = self.known().checked_sub(1)?;
        let first = self.0[self.at(0)];
        let begin = self.at(1) - Self::HEAD;
        self.0[1] = (begin as u64) << 32 | known as u64;
        Some(first)
    }

    /// Another one is free from `cycle` on: mostly behind all others, else those that are later move up.
    #[inline]
    fn insert(&mut self, cycle: u64) {
        let mut number = self.known();
        self.0[1] += 1;
        while number > 0 {
            let before = self.0[self.at(number - 1)];
            if before <= cycle {
                break;
            }
            let place = self.at(number);
            self.0[place] = before;
            number -= 1;
        }
        let place = self.at(number);
        self.0[place] = cycle;
    }
}

impl<const KINDS: usize> Slots<KINDS> {
    /// So many places of each kind in each part, free from the start; of kinds of which there are none, none is ever taken.
    pub fn new(counts: [u32; KINDS], parts: usize) -> Self {
        let mut end = 0;
        let kinds = counts.map(|count| {
            let words = Kind::HEAD + count.saturating_sub(1) as usize;
            // What fits into a line lies in one.
            if end % LINE + words > LINE {
                end = end.next_multiple_of(LINE);
            }
            end += words;
            ((end - words) as u16, words as u16)
        });
        let stride = end.next_multiple_of(LINE);
        let mut words = vec![0; parts * stride + LINE].into_boxed_slice();
        let base = words
            .as_ptr()
            .align_offset(LINE * size_of::<u64>())
            .min(LINE);
        for part in 0..parts {
            for ((start, _), count) in kinds.iter().zip(counts) {
                let start = base + part * stride + usize::from(*start);
                words[start + 1] = u64::from(count.saturating_sub(1));
            }
        }
        Self {
            words,
            base: base as u32,
            stride: stride as u32,
            kinds,
        }
    }

    #[inline]
    fn start(&self, part: usize, kind: usize) -> usize {
        self.base as usize + part * self.stride as usize + usize::from(self.kinds[kind].0)
    }

    #[inline]
    fn kind(&mut self, part: usize, kind: usize) -> Kind<'_> {
        let start = self.start(part, kind);
        Kind(&mut self.words[start..][..usize::from(self.kinds[kind].1)])
    }

    /// When one of a kind is free.
    #[inline]
    pub fn first(&self, part: usize, kind: usize) -> u64 {
        self.words[self.start(part, kind)]
    }

    /// Takes the place of a kind that is free first, for ever until [`free_from`](Self::free_from) says how long.
    #[inline]
    pub fn take(&mut self, part: usize, kind: usize) {
        let mut kind = self.kind(part, kind);
        debug_assert!(kind.0[0] != u64::MAX);
        kind.0[0] = kind.pop().unwrap_or(u64::MAX);
    }

    /// Takes the place of a kind that is free first, until `cycle`.
    #[inline]
    pub fn take_until(&mut self, part: usize, kind: usize, cycle: u64) {
        let mut kind = self.kind(part, kind);
        kind.0[0] = match kind.pop() {
            None => cycle,
            Some(first) => {
                kind.insert(cycle.max(first));
                cycle.min(first)
            }
        };
    }

    /// A place of a kind that was taken is free from `cycle` on.
    #[inline]
    pub fn free_from(&mut self, part: usize, kind: usize, cycle: u64) {
        let mut kind = self.kind(part, kind);
        let first = kind.0[0];
        if first != u64::MAX {
            kind.insert(cycle.max(first));
        }
        kind.0[0] = cycle.min(first);
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
            let mut slots = Slots::new([count], 2);
            let mut free = vec![0; count as usize];
            for (take, cycle) in steps {
                if take && !free.is_empty() {
                    free.remove(0);
                    if cycle % 3 == 0 {
                        slots.take_until(1, 0, cycle);
                        free.push(cycle);
                        free.sort_unstable();
                    } else {
                        slots.take(1, 0);
                    }
                } else if !take && free.len() < count as usize {
                    slots.free_from(1, 0, cycle);
                    free.push(cycle);
                    free.sort_unstable();
                }
                prop_assert_eq!(slots.first(1, 0), free.first().copied().unwrap_or(u64::MAX));
            }
        }
    }
}

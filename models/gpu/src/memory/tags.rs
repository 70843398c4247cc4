//! Which line of memory is in which place of a cache, and in what order the places of a set were used.

use rustc_hash::FxHashMap;

use crate::Index;

/// No line has this number.
const EMPTY: u64 = u64::MAX;

/// Sets of more ways are looked up in a table, of fewer by comparing tags.
const COMPARED: usize = 16;

/// The tags of a cache with least-recently-used replacement.
#[derive(Clone, Debug)]
pub(crate) struct Tags {
    sets: u64,
    /// Places of a set that can be used now, and those that there are.
    ways: usize,
    most_ways: usize,
    index: Index,
    /// Set after set.
    lines: Vec<u64>,
    order: Vec<Neighbours>,
    /// By set.
    ends: Vec<Ends>,
    /// Where each line is, if sets are large.
    places: FxHashMap<u64, u32>,
    /// Nothing has come since all was forgotten.
    clean: bool,
}

/// The places of its set that were used right before and right after a place.
#[derive(Clone, Copy, Debug, Default)]
struct Neighbours {
    older: u32,
    newer: u32,
    set: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    oldest: u32,
    newest: u32,
}

impl Tags {
    pub fn new(sets: u32, ways: u32, index: Index) -> Self {
        let places = (sets * ways) as usize;
        let mut tags = Self {
            sets: u64::from(sets),
            ways: 0,
            most_ways: ways as usize,
            index,
            lines: vec![EMPTY; places],
            order: vec![Neighbours::default(); places],
            ends: vec![Ends::default(); sets as usize],
            places: FxHashMap::default(),
            clean: false,
        };
        tags.clear(ways as usize);
        tags
    }

    /// Forgets everything; from now on `ways` places of each set are used. Whether there was anything to forget.
    pub fn clear(&mut self, ways: usize) -> bool {
        let ways = ways.clamp(1, self.most_ways);
        if self.clean && ways == self.ways {
            return false;
        }
        self.clean = true;
        self.ways = ways;
        self.lines.fill(EMPTY);
        self.places.clear();
        for (set, ends) in self.ends.iter_mut().enumerate() {
            let first = set * self.most_ways;
            let places = &mut self.order[first..first + ways];
            for (place, neighbours) in (first as u32..).zip(places) {
                *neighbours = Neighbours {
                    older: place.wrapping_sub(1),
                    newer: place + 1,
                    set: set as u32,
                };
            }
            *ends = Ends {
                oldest: first as u32,
                newest: (first + ways - 1) as u32,
            };
        }
        true
    }

    #[inline]
    fn set(&self, line: u64) -> usize {
        let number = match self.index {
            Index::Linear => line,
            Index::Hashed => fold(line, self.sets),
        };
        let set = if self.sets.is_power_of_two() {
            number & (self.sets - 1)
        } else {
            number % self.sets
        };
        set as usize
    }

    /// Where `line` is.
    #[inline]
    pub fn find(&self, line: u64) -> Option<u32> {
        if self.ways > COMPARED {
            return self.places.get(&line).copied();
        }
        let first = self.set(line) * self.most_ways;
        let lines = &self.lines[first..first + self.ways];
        let way = lines.iter().position(|&held| held == line)?;
        Some((first + way) as u32)
    }

    /// Gives `line` the place of its set that was used longest ago among those that are `free`; also the line that was there.
    pub fn replace(&mut self, line: u64, free: impl Fn(u32) -> bool) -> Option<(u32, u64)> {
        let ends = self.ends[self.set(line)];
        let mut place = ends.oldest;
        while !free(place) {
            if place == ends.newest {
                return None;
            }
            place = self.order[place as usize].newer;
        }
        let old = std::mem::replace(&mut self.lines[place as usize], line);
        if self.ways > COMPARED {
            if old != EMPTY {
                self.places.remove(&old);
            }
            self.places.insert(line, place);
        }
        self.clean = false;
        self.touch(place);
        Some((place, old))
    }

    /// The line in a place that holds one.
    pub fn line(&self, place: u32) -> u64 {
        self.lines[place as usize]
    }

    /// A place is now the one of its set that was used last.
    #[inline]
    pub fn touch(&mut self, place: u32) {
        let Neighbours { older, newer, set } = self.order[place as usize];
        let ends = &mut self.ends[set as usize];
        if ends.newest == place {
            return;
        }
        if ends.oldest == place {
            ends.oldest = newer;
        } else {
            self.order[older as usize].newer = newer;
        }
        self.order[newer as usize].older = older;
        self.order[ends.newest as usize].newer = place;
        self.order[place as usize].older = ends.newest;
        ends.newest = place;
    }
}

/// The number's digits to the base `sets`, folded by exclusive or.
pub(crate) fn fold(number: u64, sets: u64) -> u64 {
    let bits = u64::BITS - (sets - 1).leading_zeros();
    if bits == 0 {
        return 0;
    }
    let (mut rest, mut folded) = (number, 0);
    while rest != 0 {
        folded ^= rest & ((1 << bits) - 1);
        rest >>= bits;
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Lines a power-of-two stride apart share a set under the low bits and spread under the fold.
    #[test]
    fn a_fold_spreads_strides() {
        let sets: std::collections::BTreeSet<u64> =
            (0..64).map(|line| fold(line * 64, 64)).collect();
        assert_eq!(sets.len(), 64);
        assert_eq!(fold(5, 64), 5);
        assert_eq!(fold(5, 1), 0, "there is one place");
    }

    proptest! {
        /// As a list of lines a set, the one used last at its end; large sets and small ones.
        #[test]
        fn the_line_used_longest_ago_goes(ways in prop::sample::select(vec![1usize, 2, 4, 24]), lines in prop::collection::vec(0u64..80, 1..300)) {
            let mut tags = Tags::new(2, 24, Index::Linear);
            tags.clear(ways);
            let mut model = [Vec::new(), Vec::new()];
            for line in lines {
                let set: &mut Vec<u64> = &mut model[(line % 2) as usize];
                let held = set.iter().position(|&held| held == line);
                prop_assert_eq!(tags.find(line).is_some(), held.is_some());
                match (tags.find(line), held) {
                    (Some(place), Some(at)) => {
                        tags.touch(place);
                        set.remove(at);
                    }
                    _ => {
                        let (_, old) = tags.replace(line, |_| true).unwrap();
                        let gone = if set.len() == ways { set.remove(0) } else { EMPTY };
                        prop_assert_eq!(old, gone);
                    }
                }
                set.push(line);
            }
            prop_assert!(tags.clear(ways) && !tags.clear(ways));
            prop_assert_eq!(tags.find(0), None);
        }
    }
}

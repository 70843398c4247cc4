//! Which line of memory is in which place of a cache, and in what order the places of a set were used.

use rustc_hash::FxHashMap;

use crate::Index;

/// No line has this number.
const EMPTY: u64 = u64::MAX;

/// Sets of more ways are looked up in a table, of fewer by comparing tags.
const COMPARED: usize = 16;

/// The tags of a cache with least-recently-used replacement, each with a state.
#[derive(Clone, Debug)]
pub(crate) struct Tags<S> {
    sets: u64,
    /// Places of a set that can be used now, and those that there are.
    ways: usize,
    most_ways: usize,
    index: Index,
    /// Set after set.
    lines: Vec<u64>,
    order: Vec<Place<S>>,
    /// By set.
    ends: Vec<Ends>,
    /// Where each line is, if sets are large.
    places: FxHashMap<u64, u32>,
    /// Nothing has come since all was forgotten.
    clean: bool,
}

/// The places of its set that were used right before and right after a place, and its state: what an access needs lies together.
#[derive(Clone, Copy, Debug)]
struct Place<S> {
    older: u32,
    newer: u32,
    set: u32,
    state: S,
}

#[derive(Clone, Copy, Debug)]
struct Ends {
    oldest: u32,
    newest: u32,
}

impl<S: Default> Place<S> {
    /// In a set where nothing has been used yet.
    fn of(place: u32, set: u32) -> Self {
        Self {
            older: place.wrapping_sub(1),
            newer: place + 1,
            set,
            state: S::default(),
        }
    }
}

impl Ends {
    /// Of a set of so many places where nothing has been used yet.
    fn of(first: u32, ways: u32) -> Self {
        Self {
            oldest: first,
            newest: first + ways - 1,
        }
    }
}

impl<S: Copy + Default> Tags<S> {
    pub fn new(sets: u32, ways: u32, index: Index) -> Self {
        let places = (sets * ways) as usize;
        let mut tags = Self {
            sets: u64::from(sets),
            ways: ways as usize,
            most_ways: ways as usize,
            index,
            lines: vec![EMPTY; places],
            order: Vec::with_capacity(places),
            ends: Vec::with_capacity(sets as usize),
            places: FxHashMap::default(),
            clean: true,
        };
        for set in 0..sets {
            let places = set * ways..(set + 1) * ways;
            tags.ends.push(Ends::of(places.start, ways));
            tags.order.extend(places.map(|place| Place::of(place, set)));
        }
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
        let sets = self.order.chunks_exact_mut(self.most_ways);
        for ((set, ends), order) in (0..).zip(&mut self.ends).zip(sets) {
            let first = set * self.most_ways as u32;
            *ends = Ends::of(first, ways as u32);
            for (place, order) in (first..).zip(order) {
                *order = Place::of(place, set);
            }
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

    /// Gives `line` the place of its set that was used longest ago among those whose states are `free`; also the line that was there and its state.
    pub fn replace(&mut self, line: u64, free: impl Fn(&S) -> bool) -> Option<(u32, u64, S)> {
        let ends = self.ends[self.set(line)];
        let mut place = ends.oldest;
        while !free(&self.order[place as usize].state) {
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
        let state = std::mem::take(self.state_mut(place));
        Some((place, old, state))
    }

    /// The state of a place.
    #[inline]
    pub fn state(&self, place: u32) -> &S {
        &self.order[place as usize].state
    }

    /// The same, to change it.
    #[inline]
    pub fn state_mut(&mut self, place: u32) -> &mut S {
        &mut self.order[place as usize].state
    }

    /// The line in a place that holds one.
    pub fn line(&self, place: u32) -> u64 {
        self.lines[place as usize]
    }

    /// A place is now the one of its set that was used last.
    #[inline]
    pub fn touch(&mut self, place: u32) {
        let Place {
            older, newer, set, ..
        } = self.order[place as usize];
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
            let mut tags = Tags::<()>::new(2, 24, Index::Linear);
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
                        let (_, old, ()) = tags.replace(line, |_| true).unwrap();
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

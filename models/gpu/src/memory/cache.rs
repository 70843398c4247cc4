//! Tags of a sectored cache whose lines are reserved when they miss, with those who wait for each line.

use super::tags::Tags;
use crate::Index;

/// A line's state; sectors are bits.
#[derive(Clone, Copy, Debug)]
struct Line {
    valid: u8,
    /// Asked for and not yet there. A line with such sectors stays where it is.
    pending: u8,
    dirty: u8,
    /// First of those who wait for it.
    waiting: u32,
}

impl Default for Line {
    fn default() -> Self {
        Self {
            valid: 0,
            pending: 0,
            dirty: 0,
            waiting: NOBODY,
        }
    }
}

const NOBODY: u32 = u32::MAX;

/// A cache's tags.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    tags: Tags<Line>,
    waiters: Vec<Waiter>,
    free: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Waiter {
    target: u32,
    /// Sectors still missing.
    mask: u8,
    next: u32,
}

/// What was in a line that had to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Evicted {
    pub line: u64,
    pub dirty: u8,
}

/// The sectors of an access by what becomes of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub hit: u8,
    pub pending: u8,
    pub missing: u8,
}

impl Cache {
    pub fn new(sets: u32, ways: u32, index: Index) -> Self {
        Self {
            tags: Tags::new(sets, ways, index),
            waiters: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Forgets everything; from now on `ways` lines of each set are used. Nothing may be on its way.
    pub fn clear(&mut self, ways: usize) {
        self.tags.clear(ways);
    }

    /// Where `line` is.
    #[inline]
    pub fn find(&self, line: u64) -> Option<u32> {
        self.tags.find(line)
    }

    /// The line in a place that holds one.
    pub fn line(&self, place: u32) -> u64 {
        self.tags.line(place)
    }

    /// Reserves the place of the least recently used line that nothing is on its way for; `None` if there is none.
    pub fn reserve(&mut self, line: u64) -> Option<(u32, Option<Evicted>)> {
        let (place, line, old) = self.tags.replace(line, |line| line.pending == 0)?;
        let evicted = (old.dirty != 0).then_some(Evicted {
            line,
            dirty: old.dirty,
        });
        Some((place, evicted))
    }

    /// Sectors of a line are there from now on, unless all places of its set are waited for; what has to go for it goes unseen. Whether they were there already.
    pub fn bring(&mut self, line: u64, mask: u8, dirty: bool) -> bool {
        let found = self.find(line);
        let hit = found.is_some_and(|place| mask & !self.tags.state(place).valid == 0);
        let place = found.or_else(|| self.reserve(line).map(|(place, _)| place));
        if let Some(place) = place {
            self.write(place, mask, dirty);
        }
        hit
    }

    /// Looks at sectors of a line and makes it the most recently used.
    #[inline]
    pub fn look(&mut self, place: u32, mask: u8) -> Found {
        self.tags.touch(place);
        let line = *self.tags.state(place);
        Found {
            hit: mask & line.valid,
            pending: mask & line.pending & !line.valid,
            missing: mask & !line.valid & !line.pending,
        }
    }

    /// Sectors of the line that are neither there nor on their way, and those that are on their way.
    #[inline]
    pub fn peek(&self, place: u32, mask: u8) -> (u8, u8) {
        let line = *self.tags.state(place);
        let absent = mask & !line.valid;
        (absent & !line.pending, absent & line.pending)
    }

    /// How many wait for any of these sectors of the line.
    pub fn merged(&self, place: u32, mask: u8) -> u32 {
        let mut entry = self.tags.state(place).waiting;
        let mut count = 0;
        while entry != NOBODY {
            let waiter = self.waiters[entry as usize];
            count += u32::from(waiter.mask & mask != 0);
            entry = waiter.next;
        }
        count
    }

    /// Sectors are asked for.
    pub fn request(&mut self, place: u32, mask: u8) {
        self.tags.state_mut(place).pending |= mask;
    }

    /// `target` waits for sectors of a line.
    pub fn wait(&mut self, place: u32, mask: u8, target: u32) {
        let waiter = Waiter {
            target,
            mask,
            next: NOBODY,
        };
        let entry = match self.free.pop() {
            Some(entry) => {
                self.waiters[entry as usize] = waiter;
                entry
            }
            None => {
                self.waiters.push(waiter);
                (self.waiters.len() - 1) as u32
            }
        };
        let first = &mut self.tags.state_mut(place).waiting;
        if *first == NOBODY {
            *first = entry;
            return;
        }
        let mut last = *first;
        while self.waiters[last as usize].next != NOBODY {
            last = self.waiters[last as usize].next;
        }
        self.waiters[last as usize].next = entry;
    }

    /// Sectors have come; tells of everyone whose last sector that was, in the order in which they began to wait.
    pub fn fill(&mut self, place: u32, mask: u8, served: &mut Vec<u32>) {
        let line = self.tags.state_mut(place);
        line.valid |= mask;
        line.pending &= !mask;
        let mut previous = NOBODY;
        let mut entry = line.waiting;
        while entry != NOBODY {
            let waiter = &mut self.waiters[entry as usize];
            waiter.mask &= !mask;
            let (next, target, done) = (waiter.next, waiter.target, waiter.mask == 0);
            if done {
                served.push(target);
                self.free.push(entry);
                match previous {
                    NOBODY => line.waiting = next,
                    previous => self.waiters[previous as usize].next = next,
                }
            } else {
                previous = entry;
            }
            entry = next;
        }
    }

    /// Sectors will have been written once they are there.
    pub fn dirty(&mut self, place: u32, mask: u8) {
        self.tags.state_mut(place).dirty |= mask;
    }

    /// Sectors of a line, if it is there, are no longer what memory has; those on their way come all the same.
    pub fn invalidate(&mut self, line: u64, mask: u8) {
        if let Some(place) = self.find(line) {
            self.tags.state_mut(place).valid &= !mask;
        }
    }

    /// Sectors are written; `dirty` if they are not written further.
    pub fn write(&mut self, place: u32, mask: u8, dirty: bool) {
        self.tags.touch(place);
        let line = self.tags.state_mut(place);
        line.valid |= mask;
        if dirty {
            line.dirty |= mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> Cache {
        Cache::new(2, 2, Index::Linear)
    }

    #[test]
    fn a_line_is_found_after_it_came_and_its_waiters_are_told_in_order() {
        let mut cache = cache();
        let (place, evicted) = cache.reserve(6).unwrap();
        assert_eq!(evicted, None);
        assert_eq!(
            cache.look(place, 0b11),
            Found {
                hit: 0,
                pending: 0,
                missing: 0b11
            }
        );
        cache.request(place, 0b11);
        cache.wait(place, 0b01, 7);
        cache.wait(place, 0b11, 8);
        cache.wait(place, 0b01, 9);
        let mut served = Vec::new();
        cache.fill(place, 0b01, &mut served);
        assert_eq!(served, [7, 9]);
        cache.fill(place, 0b10, &mut served);
        assert_eq!(served, [7, 9, 8]);
        assert_eq!(cache.find(6), Some(place));
        assert_eq!(cache.look(place, 0b11).hit, 0b11);
    }

    #[test]
    fn the_least_recently_used_line_goes_but_none_that_something_is_on_its_way_for() {
        let mut cache = cache();
        for line in [0, 2] {
            let (place, _) = cache.reserve(line).unwrap();
            cache.write(place, 1, line == 2);
        }
        cache.look(cache.find(0).unwrap(), 1);
        let (place, evicted) = cache.reserve(4).unwrap();
        assert_eq!(evicted, Some(Evicted { line: 2, dirty: 1 }));
        cache.request(place, 1);
        let (other, _) = cache.reserve(6).unwrap();
        cache.request(other, 1);
        assert_eq!(
            cache.reserve(8),
            None,
            "both lines of the set are on their way"
        );
        assert!(cache.reserve(9).is_some(), "the other set is free");
    }
}

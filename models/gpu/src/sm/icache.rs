//! The instruction cache: tags with least-recently-used replacement, and the misses on their way.

use super::units::modulo;

/// Tags of a set-associative cache of instruction lines.
#[derive(Clone, Debug)]
pub(crate) struct Icache {
    /// Set after set; within a set the most recently used line first.
    lines: Vec<u64>,
    ways: usize,
    sets: u32,
}

/// No line has this number.
const EMPTY: u64 = u64::MAX;

impl Icache {
    pub fn new(sets: u32, ways: u32) -> Self {
        Self {
            lines: vec![EMPTY; (sets * ways) as usize],
            ways: ways as usize,
            sets,
        }
    }

    fn set(&mut self, line: u64) -> &mut [u64] {
        let first = modulo(line as u32, self.sets) * self.ways;
        &mut self.lines[first..first + self.ways]
    }

    /// Whether `line` is there; if so it becomes the most recently used of its set.
    #[inline]
    pub fn lookup(&mut self, line: u64) -> bool {
        let set = self.set(line);
        if set[0] == line {
            return true;
        }
        match set.iter().position(|&held| held == line) {
            Some(way) => {
                set[..=way].rotate_right(1);
                true
            }
            None => false,
        }
    }

    /// Puts `line` in place of the least recently used line of its set; gives the one that was there.
    pub fn fill(&mut self, line: u64) -> Option<u64> {
        let set = self.set(line);
        set.rotate_right(1);
        let old = std::mem::replace(&mut set[0], line);
        (old != EMPTY).then_some(old)
    }
}

/// The lines requested and the warps that wait for them. A warp waits for at most one, so the table is never full.
#[derive(Clone, Debug)]
pub(crate) struct Misses {
    entries: Vec<Miss>,
}

/// A line on its way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Miss {
    pub line: Option<u64>,
    /// The warps, in the order of their misses, with the instruction each waits for.
    pub waiters: Vec<(u8, u64)>,
}

impl Misses {
    pub fn new(warps: u32) -> Self {
        let entry = Miss {
            line: None,
            waiters: Vec::with_capacity(warps as usize),
        };
        Self {
            entries: vec![entry; warps as usize],
        }
    }

    /// Adds a warp to the miss on `line`; gives the number of a miss that did not exist before.
    pub fn wait(&mut self, line: u64, warp: u8, pc: u64) -> Option<u8> {
        if let Some(miss) = self.entries.iter_mut().find(|miss| miss.line == Some(line)) {
            miss.waiters.push((warp, pc));
            return None;
        }
        let free = self.entries.iter().position(|miss| miss.line.is_none())?;
        self.entries[free].line = Some(line);
        self.entries[free].waiters.push((warp, pc));
        Some(free as u8)
    }

    pub fn get(&self, miss: u8) -> &Miss {
        &self.entries[usize::from(miss)]
    }

    pub fn free(&mut self, miss: u8) {
        let entry = &mut self.entries[usize::from(miss)];
        entry.line = None;
        entry.waiters.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_line_of_the_set_goes() {
        let mut cache = Icache::new(2, 2);
        for line in [0, 2] {
            assert!(!cache.lookup(line));
            assert_eq!(cache.fill(line), None);
        }
        assert!(cache.lookup(0), "now 2 is the older one");
        assert_eq!(cache.fill(4), Some(2));
        assert!(cache.lookup(0) && cache.lookup(4) && !cache.lookup(2));
        assert!(!cache.lookup(1), "the other set is empty");
    }

    #[test]
    fn misses_on_one_line_merge() {
        let mut misses = Misses::new(4);
        assert_eq!(misses.wait(7, 0, 56), Some(0));
        assert_eq!(misses.wait(7, 1, 60), None);
        assert_eq!(misses.wait(8, 2, 64), Some(1));
        assert_eq!(misses.get(0).waiters, [(0, 56), (1, 60)]);
        misses.free(0);
        assert_eq!(misses.wait(9, 3, 72), Some(0));
    }
}

//! The release-flag cache: `pir` instructions that need not be fetched and decoded again.

/// Direct-mapped, shared by the warps of an SM, indexed by the place of the `pir` in the code (section 2.5.5).
#[derive(Clone, Debug)]
pub struct FlagCache {
    entries: Vec<u64>,
    /// Look-ups.
    pub reads: u64,
    /// Flags written, after a miss.
    pub writes: u64,
}

/// No instruction stands there.
const EMPTY: u64 = u64::MAX;

impl FlagCache {
    /// An empty cache; without entries everything misses.
    pub fn new(entries: u32) -> Self {
        Self {
            entries: vec![EMPTY; entries as usize],
            reads: 0,
            writes: 0,
        }
    }

    /// Other code is fetched from now on.
    pub fn forget(&mut self) {
        self.entries.fill(EMPTY);
    }

    /// Whether the `pir` at `place` is there; it is from now on.
    pub fn looks_up(&mut self, place: u64) -> bool {
        if self.entries.is_empty() {
            return false;
        }
        self.reads += 1;
        let entry = (place % self.entries.len() as u64) as usize;
        let hit = self.entries[entry] == place;
        self.entries[entry] = place;
        self.writes += u64::from(!hit);
        hit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_fall_together_replace_each_other() {
        let mut cache = FlagCache::new(2);
        let hits: Vec<bool> = [0, 1, 0, 2, 0, 1]
            .map(|place| cache.looks_up(place))
            .to_vec();
        assert_eq!(hits, [false, false, true, false, false, true]);
        assert_eq!((cache.reads, cache.writes), (6, 4));
        assert!(!FlagCache::new(0).looks_up(7));
    }
}

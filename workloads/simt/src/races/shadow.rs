//! What is remembered of every word of a memory.

use rustc_hash::FxHashMap;

use super::clocks::Clocks;
use super::finding::AccessKind;

/// Words that are remembered at the most: 64 MiB of data. Further ones are not looked at.
const MAX_WORDS: usize = 1 << 24;

/// An access to a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub cta: u32,
    pub warp: u32,
    /// The warp's own count at that time.
    pub clock: u32,
    pub line: u32,
    pub kind: AccessKind,
    /// Which bytes of the word, a bit each.
    pub bytes: u8,
    /// It is a store that changed them.
    pub changed: bool,
}

impl Access {
    fn conflicts(&self, other: &Access) -> bool {
        let both_read = self.kind == AccessKind::Read && other.kind == AccessKind::Read;
        let both_atomic = self.kind == AccessKind::Atomic && other.kind == AccessKind::Atomic;
        self.bytes & other.bytes != 0 && !both_read && !both_atomic
    }

    /// Whether nothing need be known of it any more once `later`, which is ordered behind it, is remembered.
    fn covered(&self, later: &Access) -> bool {
        let kind = later.kind == AccessKind::Write || self.kind == later.kind;
        kind && self.bytes & !later.bytes == 0
    }
}

/// Readers of other CTAs that are remembered: a writer of any CTA then races with one that is not its own.
const FOREIGN: usize = 2;

#[derive(Debug, Default)]
pub(super) struct Shadow {
    /// Of each word the accesses that later ones may race with: nearly always only one or two.
    words: FxHashMap<u64, Vec<Access>>,
    /// What a word holds before the first store is not known to a kernel, so that this store changes it in any case.
    undefined: bool,
}

impl Shadow {
    /// Of shared memory, which kernels find with any contents.
    pub fn of_undefined() -> Self {
        Self {
            undefined: true,
            ..Self::default()
        }
    }

    pub fn clear(&mut self) {
        self.words.clear();
    }

    /// Remembers an access, after calling `race` with every earlier one that it races with, and itself.
    pub fn access(
        &mut self,
        word: u64,
        mut access: Access,
        clocks: &Clocks,
        mut race: impl FnMut(&Access, &Access),
    ) {
        if self.words.len() >= MAX_WORDS && !self.words.contains_key(&word) {
            return;
        }
        let accesses = self.words.entry(word).or_default();
        let read = |access: &Access| access.kind == AccessKind::Read;
        access.changed |= self.undefined && !read(&access) && accesses.iter().all(read);
        let mut foreign = 0;
        accesses.retain(|earlier| {
            let same_warp = earlier.warp == access.warp && earlier.cta == access.cta;
            let ordered = same_warp || clocks.ordered(earlier, access.warp);
            if !ordered && earlier.conflicts(&access) {
                race(earlier, &access);
            }
            let other_reader = earlier.cta != access.cta && earlier.kind == access.kind;
            foreign += usize::from(other_reader);
            let redundant = ordered && earlier.covered(&access);
            !(redundant || (other_reader && foreign > FOREIGN))
        });
        accesses.push(access);
    }
}

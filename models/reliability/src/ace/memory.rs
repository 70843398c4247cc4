//! Which bytes of memory are needed, from the end of a launch back to its beginning.
//!
//! What lies in device memory at the end of a launch is its output, all of it. Shared and local memory end with their CTA and thread. A store is dead if every
//! byte of it is overwritten, or ends, before an instruction that is needed loads it.
//!
//! Warps run in an order that timing decides. A word is followed only where that order cannot matter: device memory that a single warp accesses, shared memory
//! that no two warps access without a barrier between them, one of them storing. All other words are needed always.

use rustc_hash::{FxHashMap, FxHashSet};
use warpwatt_simt::trace::{LaneMask, MemoryOp, MemoryOpKind, Space, Step};

/// Words that are followed in device memory at the most; beyond that all of it is needed always.
const MOST_WORDS: usize = 1 << 22;

/// Marks a word of shared memory that is needed always.
const ALWAYS: u8 = 0x80;

/// Calls `each(lane, space, word, bytes)` for each 32-bit word that an access touches; `bytes` has a bit for each of its four bytes.
pub(crate) fn for_each_word(
    op: MemoryOp,
    step: &Step,
    lanes: LaneMask,
    mut each: impl FnMut(u32, Space, u64, u8),
) {
    let Some(addresses) = &step.addresses else {
        return;
    };
    addresses.for_each(step.executed, |lane, address| {
        if lanes >> lane & 1 == 0 {
            return;
        }
        let (space, first) = match op.space {
            Space::Generic => {
                let space = Space::of(address);
                (space, address - space.window_base())
            }
            space => (space, address),
        };
        let last = first.saturating_add(u64::from(op.bytes.max(1)) - 1);
        for word in first / 4..=last / 4 {
            let from = first.max(4 * word) % 4;
            let to = last.min(4 * word + 3) % 4;
            each(lane, space, word, (0xf << from & 0xf >> (3 - to)) as u8);
        }
    });
}

/// Words of device memory that one warp writes more than once and nobody else accesses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rewritten {
    words: FxHashSet<u64>,
    /// What the warp at hand has stored to.
    stored: FxHashSet<u64>,
    /// There are too many words, or not all accesses are known.
    given_up: bool,
}

impl Rewritten {
    /// Nothing is known.
    pub fn give_up(&mut self) {
        self.given_up = true;
        self.words.clear();
        self.stored.clear();
    }

    /// Another warp begins.
    pub fn next_warp(&mut self) {
        self.stored.clear();
    }

    /// In a first reading: collects what a warp stores more than once.
    pub fn collect(&mut self, op: MemoryOp, step: &Step) {
        if self.given_up || op.kind != MemoryOpKind::Store {
            return;
        }
        for_each_word(op, step, LaneMask::MAX, |_, space, word, _| {
            if space == Space::Global && !self.stored.insert(word) {
                self.words.insert(word);
            }
        });
        if self.words.len() + self.stored.len() > MOST_WORDS {
            self.give_up();
        }
    }

    /// Whether there is anything to follow.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// In a second reading: finds out which of the words warp `warp` accesses.
    pub fn own(&self, owners: &mut FxHashMap<u64, usize>, warp: usize, op: MemoryOp, step: &Step) {
        for_each_word(op, step, LaneMask::MAX, |_, space, word, _| {
            if space == Space::Global && self.words.contains(&word) {
                let owner = owners.entry(word).or_insert(warp);
                if *owner != warp {
                    *owner = usize::MAX;
                }
            }
        });
    }

    /// Leaves those words that have a single owner.
    pub fn keep_owned(&mut self, owners: &FxHashMap<u64, usize>) {
        self.words
            .retain(|word| owners.get(word) != Some(&usize::MAX));
    }
}

/// The needed bytes of one CTA's shared memory: four bits a word.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedNeeds {
    words: Vec<u8>,
    /// Who accessed a word last, in a reading forwards: phase, warp, and whether anybody has stored in this phase.
    seen: Vec<(u32, u32, bool)>,
    /// All words are needed always.
    all: bool,
}

impl SharedNeeds {
    /// Another CTA, with so many bytes; `all` if not all of its accesses are known.
    pub fn begin(&mut self, bytes: u32, all: bool) {
        let words = bytes.div_ceil(4) as usize;
        self.words.clear();
        self.words.resize(words, 0);
        self.seen.clear();
        self.seen.resize(words, (u32::MAX, 0, false));
        self.all = all;
    }

    /// In a reading forwards: a warp accesses memory between its barriers number `phase` and the next.
    pub fn watch(&mut self, op: MemoryOp, step: &Step, warp: u32, phase: u32) {
        let stores = matches!(op.kind, MemoryOpKind::Store);
        for_each_word(op, step, LaneMask::MAX, |_, space, word, _| {
            if space != Space::Shared {
                return;
            }
            let (Some(seen), Some(needed)) = (
                self.seen.get_mut(word as usize),
                self.words.get_mut(word as usize),
            ) else {
                return;
            };
            if op.kind == MemoryOpKind::Atomic {
                *needed |= ALWAYS;
            }
            let here = seen.0 == phase;
            if here && seen.1 != warp && (seen.2 || stores) {
                *needed |= ALWAYS;
            }
            *seen = (phase, warp, stores || (here && seen.2));
        });
    }

    /// Everything is needed always.
    pub fn give_up(&mut self) {
        self.all = true;
    }

    fn get(&mut self, word: u64) -> Option<&mut u8> {
        let needed = self.words.get_mut(word as usize);
        needed.filter(|needed| !self.all && **needed & ALWAYS == 0)
    }
}

/// The needed bytes of memory as one warp sees it.
#[derive(Debug)]
pub(crate) struct Needed<'n> {
    pub rewritten: &'n Rewritten,
    pub shared: &'n mut SharedNeeds,
    pub own: &'n mut OwnNeeds,
}

/// The needed bytes that only one warp accesses: four bits a word.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnNeeds {
    /// Words of device memory that the warp rewrites; those that are not in here are needed.
    global: FxHashMap<u64, u8>,
    /// Words of local memory by lane; those that are not in here are not needed.
    local: FxHashMap<(u32, u64), u8>,
    /// Local memory is needed always.
    local_always: bool,
}

impl OwnNeeds {
    /// At the end of a warp: what is in its local memory is not needed, unless it is always.
    pub fn new(local_always: bool) -> Self {
        Self {
            local_always,
            ..Self::default()
        }
    }
}

impl Needed<'_> {
    /// The bits of a word, if they are followed: a word that is not is needed always.
    fn word(&mut self, lane: u32, space: Space, word: u64) -> Option<&mut u8> {
        match space {
            Space::Global if self.rewritten.words.contains(&word) => {
                Some(self.own.global.entry(word).or_insert(0xf))
            }
            Space::Shared => self.shared.get(word),
            Space::Local if !self.own.local_always => {
                Some(self.own.local.entry((lane, word)).or_insert(0))
            }
            _ => None,
        }
    }

    /// `lanes` load what they need.
    pub fn load(&mut self, op: MemoryOp, step: &Step, lanes: LaneMask) {
        for_each_word(op, step, lanes, |lane, space, word, bytes| {
            if let Some(needed) = self.word(lane, space, word) {
                *needed |= bytes;
            }
        });
    }

    /// Stores; gives the lanes that store something needed. Lanes may store to the same word, and each may be the one that counts.
    pub fn store(&mut self, op: MemoryOp, step: &Step) -> LaneMask {
        let mut live = 0;
        for_each_word(op, step, LaneMask::MAX, |lane, space, word, bytes| {
            let needed = self.word(lane, space, word).map_or(0xf, |needed| *needed);
            live |= u64::from(needed & bytes != 0) << lane;
        });
        for_each_word(op, step, LaneMask::MAX, |lane, space, word, bytes| {
            if let Some(needed) = self.word(lane, space, word) {
                *needed &= !bytes;
            }
        });
        live
    }
}

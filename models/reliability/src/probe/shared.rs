//! Shared memory: from the store of a word to its last needed load (Biswas et al., ISCA 2005, section 3).

use warpwatt_simt::trace::{LaneMask, MemoryOp, MemoryOpKind, Space, Step};

use super::words::Words;
use crate::ace::for_each_word;
use crate::{Ledger, Residency, Structure};

/// The shared memory of a resident CTA.
#[derive(Clone, Debug)]
pub(crate) struct SharedWords {
    words: Vec<Word>,
    bits: u64,
    since: u64,
    /// Warps of the CTA that have been placed, and those that have not finished.
    pub placed: u32,
    pub left: u32,
}

/// A word: since when it holds what it holds, and until when that is needed.
#[derive(Clone, Copy, Debug)]
struct Word {
    since: u64,
    needed: u64,
}

impl SharedWords {
    /// That of a CTA of `warps` warps that starts.
    pub fn new(bytes: u32, warps: u32, now: u64) -> Self {
        let word = Word {
            since: now,
            needed: now,
        };
        Self {
            words: vec![word; bytes.div_ceil(4) as usize],
            bits: 8 * u64::from(bytes),
            since: now,
            placed: 0,
            left: warps,
        }
    }

    /// A step accesses these words with its lanes, of which those in `needed` need what they read.
    pub fn accessed(
        &mut self,
        now: u64,
        words: &Words,
        step: &Step,
        needed: LaneMask,
        ledger: &mut Ledger,
    ) {
        let op = MemoryOp::new(
            if words.generic {
                Space::Generic
            } else {
                Space::Shared
            },
            MemoryOpKind::Load,
            words.bytes,
        );
        if words.loads {
            for_each_word(op, step, needed, |_, _, word, _| self.loads(word, now));
        }
        if words.writes_memory {
            for_each_word(op, step, LaneMask::MAX, |_, _, word, bytes| {
                self.stores(word, bytes, now, ledger);
            });
        }
    }

    /// Bytes of a word are loaded by what is needed.
    fn loads(&mut self, word: u64, now: u64) {
        if let Some(word) = self.words.get_mut(word as usize) {
            word.needed = word.needed.max(now);
        }
    }

    /// Bytes of a word are stored. A word of which only a part is stays the old one, so that what is left of it is followed on.
    fn stores(&mut self, number: u64, bytes: u8, now: u64, ledger: &mut Ledger) {
        if bytes != 0xf {
            return;
        }
        if let Some(word) = self.words.get_mut(number as usize) {
            ledger.ace(word.residency(number as u32));
            let since = word.since.max(now);
            *word = Word {
                since,
                needed: since,
            };
        }
    }

    /// The CTA has finished.
    pub fn end(&self, now: u64, ledger: &mut Ledger) {
        for (number, word) in self.words.iter().enumerate() {
            ledger.ace(word.residency(number as u32));
        }
        ledger.occupied(Structure::SharedMemory, self.bits, self.since, now);
    }
}

impl Word {
    fn residency(self, entry: u32) -> Residency {
        Residency {
            structure: Structure::SharedMemory,
            warp: 0,
            entry,
            bits: 32,
            from: self.since,
            to: self.needed,
        }
    }
}

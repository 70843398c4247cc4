//! Instructions in the I-cache: each of their fields from the coming of the line to its last read for an instruction that needs it.
//!
//! Lines are copies, so that an eviction needs nothing; they stay from launch to launch.

use rustc_hash::FxHashMap;

use super::encoding::{FIELDS, Fields, widths};
use crate::{Ledger, Residency, Structure};

/// The contents of an I-cache.
#[derive(Clone, Debug)]
pub(super) struct CodeCache {
    /// Bytes of an instruction, and instructions of a line.
    bytes: u64,
    line: usize,
    /// Bits of each field.
    widths: [u32; FIELDS],
    /// By the number of the instruction in the address space of code: until when each field has been accounted for.
    accounted: Vec<[u64; FIELDS]>,
    /// By the byte address at which they begin: lines that are there, and since when.
    lines: FxHashMap<u64, u64>,
}

impl CodeCache {
    /// An empty one, of instructions of `bytes` bytes.
    pub fn new(bytes: u32, line_bytes: u32) -> Self {
        Self {
            bytes: u64::from(bytes),
            line: (line_bytes / bytes).max(1) as usize,
            widths: widths(8 * bytes),
            accounted: Vec::new(),
            lines: FxHashMap::default(),
        }
    }

    fn number(&self, address: u64) -> usize {
        (address / self.bytes) as usize
    }

    fn bits(&self) -> u64 {
        8 * self.bytes * self.line as u64
    }

    /// A line comes.
    pub fn filled(&mut self, line: u64, now: u64) {
        let first = self.number(line);
        let end = first + self.line;
        if self.accounted.len() < end {
            self.accounted.resize(end, [0; FIELDS]);
        }
        self.accounted[first..end].fill([now; FIELDS]);
        self.lines.insert(line, now);
    }

    /// A line goes.
    pub fn evicted(&mut self, line: u64, now: u64, ledger: &mut Ledger) {
        if let Some(since) = self.lines.remove(&line) {
            ledger.occupied(Structure::InstructionCache, self.bits(), since, now);
        }
    }

    /// Needed fields of the instruction at `address` are read. What the model hands out together with it from the next line may not be there.
    pub fn read(&mut self, address: u64, mut fields: Fields, now: u64, ledger: &mut Ledger) {
        let line = address - address % (self.bytes * self.line as u64);
        if fields == 0 || !self.lines.contains_key(&line) {
            return;
        }
        let number = self.number(address);
        let accounted = &mut self.accounted[number];
        // Fields that were read last at the same time go together.
        while fields != 0 {
            let from = accounted[fields.trailing_zeros() as usize];
            let mut bits = 0;
            for (field, until) in accounted.iter_mut().enumerate() {
                if fields >> field & 1 != 0 && *until == from {
                    bits += self.widths[field];
                    fields &= !(1 << field);
                    *until = from.max(now);
                }
            }
            ledger.ace(Residency {
                structure: Structure::InstructionCache,
                warp: 0,
                entry: number as u32,
                bits,
                from,
                to: now,
            });
        }
    }

    /// A launch ends: what is there has been there until now.
    pub fn settle(&mut self, now: u64, ledger: &mut Ledger) {
        let bits = self.bits();
        for since in self.lines.values_mut() {
            ledger.occupied(Structure::InstructionCache, bits, *since, now);
            *since = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::encoding::{WHOLE, needed};
    use super::*;
    use crate::Verdict;

    /// Lines of four instructions of 64 bits.
    #[test]
    fn fields_are_needed_until_their_last_read() {
        let (mut cache, mut ledger) = (CodeCache::new(8, 32), Ledger::new(0, 16, Vec::new()));
        let dead = needed(Verdict::Dead, false, true);
        ledger.start_at(0);
        cache.filled(32, 10);
        cache.read(40, WHOLE, 20, &mut ledger);
        cache.read(40, dead, 30, &mut ledger);
        cache.read(48, dead, 35, &mut ledger);
        cache.read(64, WHOLE, 40, &mut ledger);
        cache.read(40, 0, 45, &mut ledger);
        cache.evicted(32, 50, &mut ledger);
        cache.read(40, WHOLE, 55, &mut ledger);
        let found = ledger.close(60).structures[Structure::InstructionCache as usize];
        // The next line is not there, and then none is.
        assert_eq!(found.ace, 64 * 10 + 20 * 10 + 20 * 25);
        assert_eq!(found.occupied, 4 * 64 * 40);
    }

    #[test]
    fn lines_stay_from_launch_to_launch() {
        let (mut cache, mut ledger) = (CodeCache::new(8, 32), Ledger::new(0, 16, Vec::new()));
        ledger.start_at(0);
        cache.filled(0, 10);
        cache.settle(100, &mut ledger);
        let first = ledger.close(100);
        ledger.start_at(100);
        cache.read(0, WHOLE, 130, &mut ledger);
        cache.settle(150, &mut ledger);
        let second = ledger.close(150);
        let of = |closed: &crate::Closed| {
            let it = closed.structures[Structure::InstructionCache as usize];
            (it.ace, it.occupied)
        };
        assert_eq!(of(&first), (0, 256 * 90));
        assert_eq!(of(&second), (64 * 30, 256 * 50));
        let [late] = second.late[..] else {
            panic!("{:?}", second.late)
        };
        assert_eq!((late.launch, late.more.ace), (0, 64 * 90));
    }
}

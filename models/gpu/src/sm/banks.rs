//! Banks of the register file: reads go in the order of issue, writes in the cycle in which the result comes.

use super::reservation_ring::ReservationRing;
use super::units::modulo;
use crate::program::Read;
use crate::{GpuSpec, WritePort};

/// Most banks of an SM.
const MOST: usize = 64;

/// The banks of an SM: each of its equal back ends reads from and writes to its share. Time is counted in turns, the reads of a bank: so many a cycle.
#[derive(Clone, Debug)]
pub(crate) struct Banks {
    /// By bank, from when on it can read again.
    reads_from: [u64; MOST],
    /// Banks that write in a turn, as bits; where they have a port of their own for that a turn is a cycle.
    writes: ReservationRing<u64>,
    /// Banks of a back end.
    share: u32,
    /// Reads of a bank in a cycle.
    reads: u64,
    /// Cycles from an issue to the first read.
    lead: u64,
    /// Whether a write takes the turn of a read.
    shared: bool,
}

/// Whose registers are accessed: a warp of a back end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner {
    pub part: usize,
    pub warp: u32,
}

/// Turns of the banks, from the first that is possible, until all registers of an instruction are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadTurns {
    /// Beside what else they serve.
    pub last: u64,
    /// If they served nobody else.
    pub alone: u64,
}

impl Banks {
    /// Divided among `parts` equal back ends.
    pub fn new(spec: &GpuSpec, parts: u32) -> Self {
        let operands = &spec.operands;
        Self {
            reads_from: [0; MOST],
            writes: ReservationRing::new(),
            share: operands.banks / parts,
            reads: u64::from(operands.bank_reads),
            lead: u64::from(operands.collect_cycles),
            shared: operands.write_port == WritePort::Shared,
        }
    }

    #[inline]
    fn bank(&self, word: u16, owner: Owner) -> usize {
        let bank = modulo(u32::from(word) + owner.warp, self.share);
        (owner.part * self.share as usize + bank) % MOST
    }

    /// Reads registers for an instruction that issues at `now`, each no earlier than its turn from `begin` on, counted from the first that is possible.
    #[inline]
    pub fn read<'r>(
        &mut self,
        reads: impl Iterator<Item = &'r Read>,
        owner: Owner,
        begin: u64,
        now: u64,
    ) -> ReadTurns {
        let first = (now + self.lead) * self.reads;
        let (mut last, mut alone) = (first + begin, begin);
        for read in reads {
            let bank = self.bank(read.word, owner);
            alone = begin + u64::from(read.turn);
            let mut at = self.reads_from[bank].max(first + alone);
            if self.shared {
                while self.writes.at(at) >> bank & 1 != 0 {
                    at += 1;
                }
            }
            self.reads_from[bank] = at + 1;
            last = last.max(at);
        }
        ReadTurns {
            last: last - first,
            alone,
        }
    }

    /// Writes results that come in `cycle`, not before `now`; gives the cycle in which they are written. Where the port is shared a write has priority: a read
    /// that has been promised its turn goes in the next, and those behind it.
    #[inline]
    pub fn write(&mut self, words: &[u16], owner: Owner, cycle: u64, now: u64) -> u64 {
        let turns = if self.shared { self.reads } else { 1 };
        let first = cycle * turns;
        let mut last = first;
        for &word in words {
            let bank = self.bank(word, owner);
            if self.shared && first < self.reads_from[bank] {
                self.reads_from[bank] += 1;
                continue;
            }
            let mut turn = first;
            while let Some(writing) = self.writes.at_mut(turn, now * turns) {
                if *writing >> bank & 1 == 0 {
                    *writing |= 1 << bank;
                    break;
                }
                turn += 1;
            }
            last = last.max(turn);
        }
        // Mostly in time: then there is nothing to divide.
        if last == first {
            cycle
        } else {
            cycle + (last - first) / turns
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: Owner = Owner { part: 0, warp: 0 };

    fn banks(write_port: WritePort) -> Banks {
        let mut spec = GpuSpec::preset("gtx480").unwrap();
        spec.operands.write_port = write_port;
        Banks::new(&spec, 1)
    }

    /// One register for an instruction that issues at `now`; how many reads late it is.
    fn read(banks: &mut Banks, word: u16, now: u64) -> u64 {
        let read = Read { word, turn: 0 };
        banks.read([read].iter(), OWNER, 0, now).last
    }

    /// An instruction reads two cycles after its issue.
    #[test]
    fn a_read_makes_way_for_a_write_that_shares_its_port() {
        let mut own = banks(WritePort::Own);
        assert_eq!(own.write(&[3], OWNER, 10, 5), 10);
        assert_eq!(read(&mut own, 3, 8), 0);
        let mut shared = banks(WritePort::Shared);
        assert_eq!(shared.write(&[3], OWNER, 10, 5), 10);
        assert_eq!(shared.write(&[3], OWNER, 11, 5), 11);
        assert_eq!(read(&mut shared, 3, 8), 2, "after both");
        assert_eq!(read(&mut shared, 4, 8), 0, "another bank");
        assert_eq!(read(&mut shared, 3, 8), 3, "a port serves one at a time");
    }

    #[test]
    fn two_results_do_not_go_into_one_bank_at_once() {
        for port in [WritePort::Own, WritePort::Shared] {
            let mut banks = banks(port);
            assert_eq!(banks.write(&[3], OWNER, 10, 5), 10);
            assert_eq!(banks.write(&[3], Owner { part: 0, warp: 16 }, 10, 5), 11);
            assert_eq!(banks.write(&[4], OWNER, 10, 5), 10);
        }
    }

    /// Reads that were promised their turns before keep them; the bank is busy a turn longer.
    #[test]
    fn a_write_among_promised_reads_costs_the_next_one() {
        let mut banks = banks(WritePort::Shared);
        for turn in 0..4 {
            assert_eq!(read(&mut banks, 3, 8), turn);
        }
        assert_eq!(banks.write(&[3], OWNER, 12, 9), 12);
        assert_eq!(read(&mut banks, 3, 9), 4, "cycle 15 instead of 14");
    }
}

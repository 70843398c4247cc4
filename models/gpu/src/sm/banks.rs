//! Banks of the register file: reads go in the order of issue, writes in the cycle in which the result comes.

use super::calendar::Calendar;
use super::units::modulo;
use crate::{GpuSpec, WritePort};

/// The banks that a back end reads from and writes to. Time is counted in reads of a bank, so many a cycle.
#[derive(Clone, Debug)]
pub(crate) struct Banks {
    banks: Vec<Bank>,
    /// Reads of a bank in a cycle.
    reads: u64,
    /// Cycles from an issue to the first read.
    lead: u64,
    /// Whether a write takes the turn of a read.
    shared: bool,
}

#[derive(Clone, Debug, Default)]
struct Bank {
    /// From when on it can read again.
    reads_from: u64,
    /// Turns in which it writes: of the reads where the port is shared, else cycles.
    writes: Calendar,
}

impl Banks {
    /// The banks of one of `parts` equal back ends.
    pub fn new(spec: &GpuSpec, parts: u32) -> Self {
        let operands = &spec.operands;
        Self {
            banks: vec![Bank::default(); (operands.banks / parts) as usize],
            reads: u64::from(operands.bank_reads),
            lead: u64::from(operands.collect_cycles),
            shared: operands.write_port == WritePort::Shared,
        }
    }

    fn bank(&mut self, word: u16, warp: u32) -> &mut Bank {
        let bank = modulo(u32::from(word) + warp, self.banks.len() as u32);
        &mut self.banks[bank]
    }

    /// Reads a register of a warp for an instruction that issues at `now`, `turn` reads after its first possible one at the earliest; gives how many reads
    /// after that it is.
    #[inline]
    pub fn read(&mut self, word: u16, warp: u32, turn: u64, now: u64) -> u64 {
        let (first, over) = ((now + self.lead) * self.reads, now * self.reads);
        let shared = self.shared;
        let bank = self.bank(word, warp);
        let mut at = bank.reads_from.max(first + turn);
        if shared {
            bank.writes.forget(over);
            at = bank.writes.free_from(at);
        }
        bank.reads_from = at + 1;
        at - first
    }

    /// Writes a result that comes in `cycle`, not before `now`; gives the cycle in which it is written. Where the port is shared a write has priority:
    /// a read that has been promised its turn goes in the next, and those behind it.
    #[inline]
    pub fn write(&mut self, word: u16, warp: u32, cycle: u64, now: u64) -> u64 {
        let turns = if self.shared { self.reads } else { 1 };
        let shared = self.shared;
        let bank = self.bank(word, warp);
        let turn = cycle * turns;
        if shared && turn < bank.reads_from {
            bank.reads_from += 1;
            return cycle;
        }
        bank.writes.forget(now * turns);
        let free = bank.writes.free_from(turn);
        bank.writes.take(free);
        cycle + (free - turn) / turns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn banks(write_port: WritePort) -> Banks {
        let mut spec = GpuSpec::preset("gtx480").unwrap();
        spec.operands.write_port = write_port;
        Banks::new(&spec, 1)
    }

    /// An instruction reads two cycles after its issue.
    #[test]
    fn a_read_makes_way_for_a_write_that_shares_its_port() {
        let mut own = banks(WritePort::Own);
        assert_eq!(own.write(3, 0, 10, 5), 10);
        assert_eq!(own.read(3, 0, 0, 8), 0);
        let mut shared = banks(WritePort::Shared);
        assert_eq!(shared.write(3, 0, 10, 5), 10);
        assert_eq!(shared.write(3, 0, 11, 5), 11);
        assert_eq!(shared.read(3, 0, 0, 8), 2, "after both");
        assert_eq!(shared.read(4, 0, 0, 8), 0, "another bank");
        assert_eq!(shared.read(3, 0, 0, 8), 3, "a port serves one at a time");
    }

    #[test]
    fn two_results_do_not_go_into_one_bank_at_once() {
        for port in [WritePort::Own, WritePort::Shared] {
            let mut banks = banks(port);
            assert_eq!(banks.write(3, 0, 10, 5), 10);
            assert_eq!(banks.write(3, 16, 10, 5), 11);
            assert_eq!(banks.write(4, 0, 10, 5), 10);
        }
    }

    /// Reads that were promised their turns before keep them; the bank is busy a turn longer.
    #[test]
    fn a_write_among_promised_reads_costs_the_next_one() {
        let mut banks = banks(WritePort::Shared);
        for turn in 0..4 {
            assert_eq!(banks.read(3, 0, 0, 8), turn);
        }
        assert_eq!(banks.write(3, 0, 12, 9), 12);
        assert_eq!(banks.read(3, 0, 0, 9), 4, "cycle 15 instead of 14");
    }
}

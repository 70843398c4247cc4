//! Which ports of register banks and shared memory are idle: normal accesses go before those of SHARP (section 3.3.3).

use std::collections::VecDeque;

/// Normal accesses of an SM that have not passed.
#[derive(Clone, Debug)]
pub(super) struct Ports {
    banks: u32,
    /// Cycles and banks of operands that are read.
    reads: VecDeque<(u64, u32)>,
    /// Cycles in which shared memory works, from the first to behind the last.
    shared: VecDeque<(u64, u64)>,
}

impl Ports {
    pub fn new(banks: u32) -> Self {
        Self {
            banks,
            reads: VecDeque::new(),
            shared: VecDeque::new(),
        }
    }

    /// The bank of a register.
    fn bank(&self, warp: u8, word: u16) -> u32 {
        (u32::from(word) + u32::from(warp)) % self.banks
    }

    /// An operand is read in a cycle.
    pub fn read(&mut self, warp: u8, word: u16, cycle: u64) {
        let bank = self.bank(warp, word);
        self.reads.push_back((cycle, bank));
    }

    /// Shared memory is taken for so many cycles.
    pub fn shared(&mut self, from: u64, cycles: u64) {
        self.shared.push_back((from, from + cycles));
    }

    /// Whether nobody else wants the register's bank or shared memory in a cycle; asked for cycles in their order.
    pub fn idle(&mut self, warp: u8, word: u16, cycle: u64) -> bool {
        while self.shared.front().is_some_and(|&(_, to)| to <= cycle) {
            self.shared.pop_front();
        }
        while self.reads.front().is_some_and(|&(read, _)| read < cycle) {
            self.reads.pop_front();
        }
        let works = self
            .shared
            .iter()
            .any(|&(from, to)| from <= cycle && cycle < to);
        !works && !self.reads.contains(&(cycle, self.bank(warp, word)))
    }

    /// Nobody will ask for cycles before this one.
    pub fn forget(&mut self, cycle: u64) {
        self.shared.retain(|&(_, to)| to > cycle);
        self.reads.retain(|&(read, _)| read >= cycle);
    }
}

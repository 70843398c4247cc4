//! Which ports of register banks and of shared memory's banks are idle: normal accesses go before those of SHARP (section 3.3.3).

use std::collections::VecDeque;

/// Groups that the waiting queue holds on their way to shared memory (section 3.3.4).
pub(super) const WAITING: u32 = 8;

/// Normal accesses of an SM that have not passed, and groups that wait for their bank.
#[derive(Clone, Debug)]
pub(super) struct Ports {
    register_banks: u32,
    shared_banks: u32,
    /// Cycles and banks of operands that are read.
    reads: VecDeque<(u64, u32)>,
    /// Passes of shared memory: from the first cycle to behind the last, and the banks that they take.
    shared: VecDeque<Pass>,
    /// Groups in the waiting queue, by the bank that each wants.
    waiting: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Pass {
    from: u64,
    to: u64,
    banks: u64,
}

impl Ports {
    pub fn new(register_banks: u32, shared_banks: u32) -> Self {
        Self {
            register_banks,
            shared_banks,
            reads: VecDeque::new(),
            shared: VecDeque::new(),
            waiting: Vec::new(),
        }
    }

    /// The bank of a register.
    fn bank(&self, warp: u8, word: u16) -> u32 {
        (u32::from(word) + u32::from(warp)) % self.register_banks
    }

    /// An operand is read in a cycle.
    pub fn read(&mut self, warp: u8, word: u16, cycle: u64) {
        let bank = self.bank(warp, word);
        self.reads.push_back((cycle, bank));
    }

    /// A pass of shared memory takes these banks.
    pub fn shared(&mut self, from: u64, cycles: u64, banks: u64) {
        self.shared.push_back(Pass {
            from,
            to: from + cycles,
            banks,
        });
    }

    /// Lets groups go whose banks nobody else wants in a cycle, one a bank; asked for cycles in their order.
    pub fn drain(&mut self, cycle: u64) {
        while self.shared.front().is_some_and(|pass| pass.to <= cycle) {
            self.shared.pop_front();
        }
        let now = |pass: &&Pass| pass.from <= cycle && cycle < pass.to;
        let passes = self.shared.iter().filter(now);
        let mut taken = passes.fold(0, |banks, pass| banks | pass.banks);
        self.waiting.retain(|bank| {
            let stays = taken >> bank & 1 != 0;
            taken |= 1 << bank;
            stays
        });
    }

    /// Whether nobody else wants the register's bank in a cycle, and the waiting queue has room for its groups; asked for cycles in their order.
    pub fn idle(&mut self, warp: u8, word: u16, cycle: u64, groups: u32) -> bool {
        while self.reads.front().is_some_and(|&(read, _)| read < cycle) {
            self.reads.pop_front();
        }
        // A register of more groups than the queue has entries goes when it is empty.
        let held = self.waiting.len() as u32;
        let room = held == 0 || held + groups <= WAITING;
        room && !self.reads.contains(&(cycle, self.bank(warp, word)))
    }

    /// A group comes into the waiting queue, on its way to a word of shared memory.
    pub fn wait(&mut self, word: usize) {
        self.waiting.push(word as u32 % self.shared_banks);
    }

    /// Nobody will ask for cycles before this one.
    pub fn forget(&mut self, cycle: u64) {
        self.shared.retain(|pass| pass.to > cycle);
        self.reads.retain(|&(read, _)| read >= cycle);
    }
}

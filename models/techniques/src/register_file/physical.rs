//! The physical registers of an SM: which are taken, which parts of the file have power, how often each was accessed.

use std::ops::Range;

use crate::registers_over_time::RegistersOverTime;

/// How the file is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Warp-wide registers of the SM; register p lies in bank p modulo banks.
    pub registers: u32,
    /// Banks.
    pub banks: u32,
    /// Subarrays of a bank, each of equally many neighbouring rows.
    pub subarrays: u32,
}

/// How a physical register is chosen in a bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// In a subarray that has power, if one has room; the lowest number of the first such.
    Powered,
    /// The next free one after the last that was taken: what was released last is taken last.
    RoundRobin,
}

/// What has power on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// A subarray of a bank.
    Subarray,
    /// A register.
    Register,
}

/// A register that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Its number.
    pub register: u16,
    /// Its part of the file had no power.
    pub woken: bool,
}

/// Sums over time and events of one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Registers taken, summed over cycles.
    pub register_cycles: u64,
    /// Subarrays with at least one register taken, summed over cycles.
    pub subarray_cycles: u64,
    /// Times that a subarray got its first register.
    pub subarray_wakes: u64,
    /// Times that a register was taken.
    pub takes: u64,
    /// Times that one was freed.
    pub releases: u64,
    /// Most registers taken at once.
    pub most: u64,
}

/// The registers.
#[derive(Clone, Debug)]
pub struct Physical {
    geometry: Geometry,
    /// Rows that are free: of each bank in turn so many words, a bit a row.
    free: Vec<u64>,
    words: usize,
    accesses: Vec<u64>,
    /// Registers taken, by subarray: those of bank 0 first.
    held: Vec<u32>,
    /// Row that the round robin of each bank looks at next.
    next: Vec<u32>,
    count: u64,
    powered: u64,
    usage: Usage,
    /// Usage is summed up to here.
    now: u64,
    /// Who wants to know it over time.
    log: Option<RegistersOverTime>,
}

impl Physical {
    /// A file with every register free.
    pub fn new(geometry: Geometry) -> Self {
        let rows = geometry.registers.div_ceil(geometry.banks.max(1));
        let words = rows.div_ceil(u64::BITS) as usize;
        Self {
            geometry,
            free: vec![u64::MAX; geometry.banks as usize * words],
            words,
            accesses: vec![0; geometry.registers as usize],
            held: vec![0; (geometry.banks * geometry.subarrays) as usize],
            next: vec![0; geometry.banks as usize],
            count: 0,
            powered: 0,
            usage: Usage::default(),
            now: 0,
            log: None,
        }
    }

    /// Tells it over time.
    pub(super) fn tell(&mut self, log: RegistersOverTime) {
        let subarrays = (self.geometry.banks * self.geometry.subarrays).max(1);
        log.divided(self.geometry.registers / subarrays);
        self.log = Some(log);
    }

    /// Registers that are free.
    pub fn free(&self) -> u32 {
        self.geometry.registers - self.count as u32
    }

    /// Takes a free register of `bank`, or of the first bank after it that has one.
    pub fn take(&mut self, cycle: u64, bank: u32, choice: Selection) -> Option<Taken> {
        let banks = self.geometry.banks;
        let found = (0..banks).find_map(|step| self.find((bank + step) % banks, choice))?;
        Some(self.take_register(cycle, found))
    }

    /// Takes register `register`, which is free.
    pub fn take_register(&mut self, cycle: u64, register: u16) -> Taken {
        self.advance(cycle);
        let subarray = self.subarray(register);
        let (word, bit) = self.place(register);
        self.free[word] &= !bit;
        self.held[subarray] += 1;
        let woken = self.held[subarray] == 1;
        self.count += 1;
        self.powered += u64::from(woken);
        self.usage.subarray_wakes += u64::from(woken);
        self.usage.takes += 1;
        self.usage.most = self.usage.most.max(self.count);
        Taken { register, woken }
    }

    /// Frees a register that was taken.
    pub fn release(&mut self, cycle: u64, register: u16) {
        self.advance(cycle);
        let subarray = self.subarray(register);
        let (word, bit) = self.place(register);
        self.free[word] |= bit;
        self.held[subarray] -= 1;
        self.count -= 1;
        self.usage.releases += 1;
        self.powered -= u64::from(self.held[subarray] == 0);
    }

    /// A register is read or written.
    pub fn access(&mut self, register: u16) {
        self.accesses[usize::from(register)] += 1;
    }

    /// Accesses by register.
    pub fn accesses(&self) -> &[u64] {
        &self.accesses
    }

    /// What was used until the last change.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// A free register of a bank.
    fn find(&mut self, bank: u32, choice: Selection) -> Option<u16> {
        let rows = self.rows();
        let row = match choice {
            Selection::Powered => self.find_powered(bank)?,
            Selection::RoundRobin => {
                let first = self.next[bank as usize];
                let row = self.first_free(bank, first..rows);
                let row = row.or_else(|| self.first_free(bank, 0..first))?;
                self.next[bank as usize] = (row + 1) % rows;
                row
            }
        };
        Some((row * self.geometry.banks + bank) as u16)
    }

    fn find_powered(&self, bank: u32) -> Option<u32> {
        let per_subarray = self.rows() / self.geometry.subarrays;
        let room = |subarray: &u32| self.held_by(bank, *subarray) < per_subarray;
        let with_power = |subarray: &u32| self.held_by(bank, *subarray) > 0;
        let mut all = 0..self.geometry.subarrays;
        let subarray = all
            .clone()
            .find(|subarray| with_power(subarray) && room(subarray))
            .or_else(|| all.find(room))?;
        self.first_free(bank, subarray * per_subarray..(subarray + 1) * per_subarray)
    }

    fn held_by(&self, bank: u32, subarray: u32) -> u32 {
        self.held[(bank * self.geometry.subarrays + subarray) as usize]
    }

    /// The first free one of some rows of a bank.
    fn first_free(&self, bank: u32, rows: Range<u32>) -> Option<u32> {
        let words = &self.free[bank as usize * self.words..][..self.words];
        let mut row = rows.start;
        while row < rows.end {
            let free = words[(row / u64::BITS) as usize] >> (row % u64::BITS);
            if free != 0 {
                return Some(row + free.trailing_zeros()).filter(|row| *row < rows.end);
            }
            row = (row / u64::BITS + 1) * u64::BITS;
        }
        None
    }

    /// The word of a register in `free`, and its bit there.
    fn place(&self, register: u16) -> (usize, u64) {
        let (register, banks) = (usize::from(register), self.geometry.banks as usize);
        let (bank, row) = (register % banks, register / banks);
        let bits = u64::BITS as usize;
        (bank * self.words + row / bits, 1 << (row % bits))
    }

    fn rows(&self) -> u32 {
        self.geometry.registers / self.geometry.banks
    }

    fn subarray(&self, register: u16) -> usize {
        let (bank, row) = (
            u32::from(register) % self.geometry.banks,
            u32::from(register) / self.geometry.banks,
        );
        let per_subarray = self.rows() / self.geometry.subarrays;
        (bank * self.geometry.subarrays + row / per_subarray) as usize
    }

    /// Usage is summed up to `cycle`.
    pub fn advance(&mut self, cycle: u64) {
        let passed = cycle.saturating_sub(self.now);
        if let Some(log) = &self.log {
            log.pass(self.now, cycle, |row, cycles| {
                row.held += cycles * self.count;
                row.powered += cycles * self.powered;
            });
        }
        self.now = self.now.max(cycle);
        self.usage.register_cycles += passed * self.count;
        self.usage.subarray_cycles += passed * self.powered;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: Geometry = Geometry {
        registers: 32,
        banks: 2,
        subarrays: 4,
    };

    fn take(file: &mut Physical, cycle: u64, bank: u32, choice: Selection) -> u16 {
        file.take(cycle, bank, choice).unwrap().register
    }

    #[test]
    fn a_subarray_is_filled_before_another_gets_power() {
        let mut file = Physical::new(FILE);
        let taken: Vec<u16> = (0..5)
            .map(|_| take(&mut file, 0, 1, Selection::Powered))
            .collect();
        assert_eq!(
            taken,
            [1, 3, 5, 7, 9],
            "four rows of bank 1, then its next subarray"
        );
        assert_eq!(file.usage().subarray_wakes, 2);
        file.release(10, 3);
        assert_eq!(take(&mut file, 10, 1, Selection::Powered), 3);
        for register in [1, 3, 5, 7] {
            file.release(20, register);
        }
        assert_eq!(
            take(&mut file, 20, 1, Selection::Powered),
            11,
            "the first subarray has no power now, the second has room"
        );
    }

    #[test]
    fn round_robin_takes_last_what_was_released_last() {
        let mut file = Physical::new(FILE);
        assert_eq!(take(&mut file, 0, 0, Selection::RoundRobin), 0);
        file.release(1, 0);
        let taken: Vec<u16> = (0..16)
            .map(|_| take(&mut file, 1, 0, Selection::RoundRobin))
            .collect();
        assert_eq!(taken.last(), Some(&0));
    }

    #[test]
    fn a_full_bank_borrows_from_the_next_and_a_full_file_has_none() {
        let mut file = Physical::new(FILE);
        for _ in 0..16 {
            take(&mut file, 0, 0, Selection::Powered);
        }
        assert_eq!(take(&mut file, 0, 0, Selection::Powered) % 2, 1);
        for _ in 0..15 {
            take(&mut file, 0, 0, Selection::Powered);
        }
        assert_eq!(file.take(0, 0, Selection::Powered), None);
        assert_eq!(file.free(), 0);
    }

    #[test]
    fn time_is_weighed_with_what_is_taken_and_powered() {
        let mut file = Physical::new(FILE);
        file.take_register(5, 0);
        file.take_register(10, 2);
        file.take_register(10, 1);
        file.release(20, 0);
        file.release(30, 2);
        file.release(40, 1);
        let usage = file.usage();
        assert_eq!(usage.register_cycles, 5 + 3 * 10 + 2 * 10 + 10);
        assert_eq!(usage.subarray_cycles, 5 + 2 * 10 + 2 * 10 + 10);
        assert_eq!((usage.most, usage.takes, usage.subarray_wakes), (3, 3, 2));
    }
}

//! Registers with a result on its way: one entry a warp, a few regions an entry (US patent 7,434,032).

use crate::program::{Inst, Program, Region};

/// Most regions that an entry can have.
const MOST: usize = 32;

/// A warp's entry.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    regions: [Region; MOST],
    /// One bit a region in use.
    used: u32,
    /// Those that wait for memory.
    memory: u32,
}

impl Entry {
    #[inline]
    pub fn is_clear(&self) -> bool {
        self.used == 0
    }

    /// Whether a load is among what is pending.
    #[inline]
    pub fn waits_for_memory(&self) -> bool {
        self.memory != 0
    }

    /// Whether `inst` must wait: it reads or writes a pending register, or its results need more regions than are free.
    #[inline]
    pub fn blocks(&self, program: &Program, inst: &Inst, capacity: u32) -> bool {
        if self.used == 0 {
            return false;
        }
        let results = program.results(inst);
        if self.used.count_ones() + results.len() as u32 > capacity || inst.fence {
            return true;
        }
        let mut used = self.used;
        while used != 0 {
            let region = self.regions[used.trailing_zeros() as usize];
            used &= used - 1;
            let reads = program.sources(inst).iter().any(|&key| region.holds(key));
            if reads || results.iter().any(|&result| region.overlaps(result)) {
                return true;
            }
        }
        false
    }

    /// Marks the results of `inst` as pending; gives the regions used, to be released together.
    #[inline]
    pub fn reserve(&mut self, program: &Program, inst: &Inst, memory: bool) -> u32 {
        let mut slots = 0;
        for &result in program.results(inst) {
            let slot = (!self.used).trailing_zeros() as usize;
            self.regions[slot] = result;
            self.used |= 1 << slot;
            slots |= 1 << slot;
        }
        if memory {
            self.memory |= slots;
        }
        slots
    }

    #[inline]
    pub fn release(&mut self, slots: u32) {
        self.used &= !slots;
        self.memory &= !slots;
    }
}

//! Registers with a result on its way: one entry a warp, a few regions an entry (US patent 7,434,032).

use crate::program::{Inst, Program, Region};

/// Most regions that an entry can have.
const MOST: usize = 32;

/// A warp's entry.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    regions: [Region; MOST],
    /// One bit a region in use, and how many they are.
    used: u32,
    count: u32,
    /// Those that wait for memory.
    memory: u32,
    /// Those that the instruction looked at last waits for, and how many may be in use when it goes.
    awaited: u32,
    most: u32,
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

    /// Looks at `inst`, the next one to issue: whether it must wait, because it reads or writes a pending register, or because its results need more regions
    /// than are free. [`Self::blocks`] says later whether it still must.
    #[inline]
    pub fn look_at(&mut self, program: &Program, inst: &Inst, capacity: u32) -> bool {
        if self.used == 0 {
            return false;
        }
        let results = program.results(inst);
        let sources = program.sources(inst);
        // More results than there are regions go when nothing else is pending.
        self.most = capacity.saturating_sub(results.len() as u32);
        self.awaited = if inst.fence { self.used } else { 0 };
        let mut used = self.used & !self.awaited;
        while used != 0 {
            let region = self.regions[used.trailing_zeros() as usize % MOST];
            let bit = used & used.wrapping_neg();
            used &= used - 1;
            if sources.iter().any(|&key| region.holds(key))
                || results.iter().any(|&result| region.overlaps(result))
            {
                self.awaited |= bit;
            }
        }
        self.blocks()
    }

    /// Whether the instruction looked at last must still wait.
    #[inline]
    pub fn blocks(&self) -> bool {
        self.awaited != 0 || self.count > self.most
    }

    /// Marks the results of `inst` as pending; gives the regions used, to be released together.
    #[inline]
    pub fn reserve(&mut self, program: &Program, inst: &Inst) -> u32 {
        let mut slots = 0;
        for &result in program.results(inst) {
            let slot = (!self.used).trailing_zeros();
            self.regions[slot as usize % MOST] = result;
            self.used |= 1 << slot;
            slots |= 1 << slot;
            self.count += 1;
        }
        if inst.memory.is_some() {
            self.memory |= slots;
        }
        slots
    }

    #[inline]
    pub fn release(&mut self, slots: u32) {
        self.used &= !slots;
        self.memory &= !slots;
        self.awaited &= !slots;
        let mut rest = slots;
        while rest != 0 {
            rest &= rest - 1;
            self.count -= 1;
        }
    }
}

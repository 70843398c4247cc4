//! Registers with a result on its way: one entry a warp, a few regions an entry (US patent 7,434,032).

use crate::engine::NEVER;
use crate::program::{Inst, Program};
use crate::registers::Region;

/// Most regions that an entry can have.
const MOST: usize = 32;

/// A warp's entry; what every instruction looks at comes first.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Entry {
    /// The first cycle in which a region in use is released.
    next: u64,
    /// The bits of all regions in use.
    bits: u64,
    /// One bit a region in use; `count` says how many they are.
    used: u32,
    /// Those that wait for memory.
    memory: u32,
    /// Those that the instruction looked at last waits for, and how many may be in use when it goes.
    awaited: u32,
    most: u8,
    count: u8,
    pending: [Pending; MOST],
    /// What the bits of each stand for, where they do not say it all.
    regions: [Region; MOST],
}

/// The bits of a region, and the cycle in which it is released; never, as long as that is not known.
#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    until: u64,
    bits: u64,
}

impl Entry {
    /// Releases what is released by `now`.
    #[inline]
    pub fn forget(&mut self, now: u64) {
        if self.used == 0 || self.next > now {
            return;
        }
        let (mut next, mut bits, mut over) = (NEVER, 0, 0);
        for slot in slots(self.used) {
            let pending = &self.pending[slot];
            if pending.until <= now {
                over |= 1 << slot;
                self.count -= 1;
            } else {
                next = next.min(pending.until);
                bits |= pending.bits;
            }
        }
        (self.next, self.bits) = (next, bits);
        self.drop(over);
    }

    fn drop(&mut self, over: u32) {
        self.used &= !over;
        self.memory &= !over;
        self.awaited &= !over;
    }

    /// Whether nothing is pending at `now`.
    #[inline]
    pub fn is_clear(&mut self, now: u64) -> bool {
        self.forget(now);
        self.used == 0
    }

    /// Whether a load is among what is pending.
    #[inline]
    pub fn waits_for_memory(&self) -> bool {
        self.memory != 0
    }

    /// Looks at `inst`, the next one to issue: whether it must wait at `now`, because it reads or writes a pending register, or because its results need more
    /// regions than are free. [`Self::blocks`] says later whether it still must.
    #[inline]
    pub fn look_at(&mut self, program: &Program, inst: &Inst, capacity: u32, now: u64) -> bool {
        self.forget(now);
        if self.used == 0 {
            return false;
        }
        // More results than there are regions go when nothing else is pending.
        let most = capacity.saturating_sub(program.results(inst).len() as u32);
        self.most = most.min(u8::MAX.into()) as u8;
        self.awaited = 0;
        if inst.fence {
            self.awaited = self.used;
        } else if self.bits & inst.touches != 0 {
            for slot in slots(self.used) {
                let shared = self.pending[slot].bits & inst.touches != 0;
                if shared && program.touches_region(inst, self.regions[slot]) {
                    self.awaited |= 1 << slot;
                }
            }
        }
        self.blocks()
    }

    /// Whether the instruction looked at last must still wait.
    #[inline]
    pub fn blocks(&self) -> bool {
        self.awaited != 0 || self.count > self.most
    }

    /// When the instruction looked at last, which must wait, can go; never, as long as that is not known.
    #[inline]
    pub fn opens(&self) -> u64 {
        let awaited = slots(self.awaited).map(|slot| self.pending[slot].until);
        let opens = awaited.max().unwrap_or(0);
        if self.count <= self.most {
            return opens;
        }
        let mut ends: Vec<u64> = slots(self.used)
            .map(|slot| self.pending[slot].until)
            .collect();
        ends.sort_unstable();
        opens.max(ends[(self.count - self.most - 1) as usize])
    }

    /// When the first load's result of which that is known is released, or never.
    #[inline]
    pub fn next_of_memory(&self) -> u64 {
        let ends = slots(self.memory).map(|slot| self.pending[slot].until);
        ends.min().unwrap_or(NEVER)
    }

    /// When everything is released; never, as long as that is not known.
    pub fn clears(&self) -> u64 {
        let ends = slots(self.used).map(|slot| self.pending[slot].until);
        ends.max().unwrap_or(0)
    }

    /// Marks the results of `inst` as pending; gives the regions used, to be released together.
    #[inline]
    pub fn reserve(&mut self, program: &Program, inst: &Inst) -> u32 {
        let mut taken = 0;
        if self.used == 0 {
            (self.next, self.bits) = (NEVER, 0);
        }
        let results = program.results(inst).iter();
        for (&region, &bits) in results.zip(program.result_bits(inst)) {
            let slot = (!self.used).trailing_zeros();
            let pending = &mut self.pending[slot as usize % MOST];
            (pending.until, pending.bits) = (NEVER, bits);
            if !program.bits_are_exact() {
                self.regions[slot as usize % MOST] = region;
            }
            self.used |= 1 << slot;
            taken |= 1 << slot;
            self.count += 1;
            self.bits |= bits;
        }
        if inst.memory.is_some() {
            self.memory |= taken;
        }
        taken
    }

    /// Regions will be released in `cycle`.
    #[inline]
    pub fn release_at(&mut self, taken: u32, cycle: u64) {
        for slot in slots(taken) {
            self.pending[slot].until = cycle;
        }
        self.next = self.next.min(cycle);
    }

    /// Regions are released.
    #[inline]
    pub fn release(&mut self, taken: u32) {
        self.drop(taken);
        self.count -= taken.count_ones() as u8;
    }
}

/// The regions of a set.
#[inline]
fn slots(mut set: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if set == 0 {
            return None;
        }
        let slot = set.trailing_zeros() as usize % MOST;
        set &= set - 1;
        Some(slot)
    })
}

//! How long registers hold values that are still read, and for how much of that time a flip would be found before it is read.

use std::ops::Range;

use warpwatt_gpu::trace::{KernelTrace, LaneMask, Register};
use warpwatt_gpu::{IssueEvent, IssuePlan};

use crate::register_file::words;

/// Registers of an instruction, 32-bit ones by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// Read; the place in the list is that in a [`IssuePlan`].
    pub reads: Vec<u16>,
    /// Written.
    pub writes: Vec<u16>,
}

impl Words {
    /// Those of every instruction of a launch.
    pub fn of(trace: &KernelTrace) -> Vec<Self> {
        let all = |registers: &[Register]| registers.iter().flat_map(|it| words(*it)).collect();
        let code = trace.code.iter().map(|inst| Self {
            reads: all(&inst.sources),
            writes: all(&inst.destinations),
        });
        code.collect()
    }

    /// Registers that a thread has, be they named in the code or asked for.
    pub fn count(code: &[Self], trace: &KernelTrace) -> u32 {
        let named = code
            .iter()
            .flat_map(|inst| inst.reads.iter().chain(&inst.writes));
        let most = named.max().map_or(0, |word| u32::from(*word) + 1);
        most.max(trace.launch.registers)
    }
}

/// A register of a warp, of 32 bits a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpRegister {
    /// The warp's slot.
    pub warp: u8,
    /// The register's number.
    pub word: u16,
}

/// Parts of a warp-wide register that are protected on their own.
pub const PARTS: u64 = 8;

/// Registers of the warps of an SM. A value lives from its write to its last read; each piece of that between two accesses ends with a read, and what is found
/// wrong in between harms nobody. Writes of some lanes leave the value of the others.
#[derive(Clone, Debug, Default)]
pub struct Lives {
    warps: Vec<Vec<Option<Value>>>,
    /// Parts times cycles that are read in the end.
    pub live: u64,
    /// Of them those in which a flip would be found before.
    pub guarded: u64,
}

/// A value since the access that was last.
#[derive(Clone, Copy, Debug)]
struct Value {
    seen: u64,
    guarded: u64,
}

impl Lives {
    /// No warps yet.
    pub fn new(warps: u32) -> Self {
        Self {
            warps: vec![Vec::new(); warps as usize],
            ..Self::default()
        }
    }

    /// A warp starts with so many registers.
    pub fn start(&mut self, warp: u8, registers: u32) {
        let own = &mut self.warps[usize::from(warp)];
        own.clear();
        own.resize(registers as usize, None);
    }

    /// A register is read; `guarded` says that its words are checked at every read.
    pub fn read(&mut self, register: WarpRegister, cycle: u64, guarded: bool) {
        let Some(Some(value)) = value(&mut self.warps, register) else {
            return;
        };
        let parts = PARTS * cycle.saturating_sub(value.seen);
        self.live += parts;
        self.guarded += if guarded {
            parts
        } else {
            value.guarded.min(parts)
        };
        *value = Value {
            seen: cycle.max(value.seen),
            guarded: 0,
        };
    }

    /// A register is written in all its lanes, or in some.
    pub fn write(&mut self, register: WarpRegister, cycle: u64, whole: bool) {
        let place = value(&mut self.warps, register);
        if let Some(value) = place.filter(|value| whole || value.is_none()) {
            *value = Some(Value {
                seen: cycle,
                guarded: 0,
            });
        }
    }

    /// So many parts of a register are checked; a flip in these cycles is found, unless someone has read it already.
    pub fn check(&mut self, register: WarpRegister, cycles: Range<u64>, parts: u32) {
        if let Some(Some(value)) = value(&mut self.warps, register) {
            let found = cycles.end.saturating_sub(cycles.start.max(value.seen));
            value.guarded += u64::from(parts) * found;
        }
    }
}

/// That of a register, if its warp has the register.
fn value(warps: &mut [Vec<Option<Value>>], register: WarpRegister) -> Option<&mut Option<Value>> {
    warps[usize::from(register.warp)].get_mut(usize::from(register.word))
}

/// Whether an instruction's words come from the register file and go there, as the hooks before have left it.
pub fn in_file(plan: &IssuePlan) -> (impl Fn(usize) -> bool + use<>, bool) {
    let (plan, writes) = (*plan, plan.writes + plan.narrow_writes > 0);
    (move |place| plan.is_read(place), writes)
}

/// Whether all lanes of the warp's launch execute an instruction.
pub fn is_whole(event: &IssueEvent<'_>, lanes: LaneMask) -> bool {
    event.step.executed & lanes == lanes
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: WarpRegister = WarpRegister { warp: 0, word: 0 };

    #[test]
    fn what_is_checked_before_it_is_read_is_guarded() {
        let mut lives = Lives::new(1);
        lives.start(0, 2);
        lives.write(FIRST, 10, true);
        lives.check(FIRST, 20..50, 8);
        lives.read(FIRST, 60, false);
        assert_eq!((lives.live, lives.guarded), (8 * 50, 8 * 30));
        // Read between the record and the check: what comes before the read is not found in time.
        lives.read(FIRST, 80, false);
        lives.check(FIRST, 70..90, 4);
        lives.read(FIRST, 90, false);
        assert_eq!((lives.live, lives.guarded), (8 * 80, 8 * 30 + 4 * 10));
        // Checked and never read again: nobody needs it.
        lives.check(FIRST, 95..200, 8);
        lives.write(FIRST, 300, true);
        lives.read(FIRST, 310, true);
        assert_eq!((lives.live, lives.guarded), (8 * 90, 8 * 40 + 4 * 10));
    }

    #[test]
    fn a_write_of_some_lanes_leaves_the_value_of_the_others() {
        let mut lives = Lives::new(1);
        lives.start(0, 1);
        lives.write(FIRST, 10, false);
        lives.write(FIRST, 20, false);
        lives.read(FIRST, 30, false);
        assert_eq!(lives.live, 8 * 20);
    }
}

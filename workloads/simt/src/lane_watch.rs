//! Who sees what lanes compute, and may spoil it: how faults of lanes come into an execution.

use warpwatt_ptx::program::{Inst, Slot, SlotKind};

use crate::registers::Registers;
use crate::trace::LaneMask;

/// Sees every computation of the warps of a CTA, right after it, exchanges between lanes among them; loads are none.
pub trait LaneWatch {
    /// Lanes `executed` of a warp have computed `results`.
    fn computed(&mut self, executed: LaneMask, results: &mut dyn LaneResults);
}

/// The results of one instruction, lane by lane.
pub trait LaneResults {
    /// What a lane has computed.
    fn get(&self, lane: u32) -> LaneResult;
    /// Puts another result in its place.
    fn set(&mut self, lane: u32, result: LaneResult);
}

/// Results of an instruction at the most.
const MOST: usize = 4;

/// What a lane computes in one instruction: a value for each destination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneResult {
    values: [u64; MOST],
    /// Bits of each value; none where there is no such destination.
    bits: [u32; MOST],
}

impl LaneResult {
    /// As it leaves a lane of which bit `bit` of the 32 that results leave it by always has one value. A predicate leaves by the lowest, a double in two halves.
    #[must_use]
    pub fn stuck(mut self, bit: u32, at: bool) -> Self {
        for (value, bits) in self.values.iter_mut().zip(self.bits) {
            let carried = match bits {
                64 => 1 << bit | 1 << (bit + 32),
                32 => 1 << bit,
                1 if bit == 0 => 1,
                _ => 0,
            };
            *value = if at {
                *value | carried
            } else {
                *value & !carried
            };
        }
        self
    }
}

/// The destinations of an instruction that was executed.
pub(crate) struct Destinations<'r, const W: usize> {
    pub registers: &'r mut Registers<W>,
    pub inst: &'r Inst,
}

impl<const W: usize> LaneResults for Destinations<'_, W> {
    fn get(&self, lane: u32) -> LaneResult {
        let mut result = LaneResult::default();
        for (at, slot) in self.inst.dst.as_slice().iter().enumerate() {
            result.values[at] = self.registers.value(*slot, lane);
            result.bits[at] = bits(*slot);
        }
        result
    }

    fn set(&mut self, lane: u32, result: LaneResult) {
        for (slot, value) in self.inst.dst.as_slice().iter().zip(result.values) {
            self.registers.put(*slot, lane, value);
        }
    }
}

fn bits(slot: Slot) -> u32 {
    match slot.kind {
        SlotKind::Word => 32,
        SlotKind::Double => 64,
        SlotKind::Predicate => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_stuck_for_every_word_that_leaves_by_it() {
        let result = LaneResult {
            values: [0b0110, 0b0110 << 32 | 0b1001, 1, 0],
            bits: [32, 64, 1, 0],
        };
        let high = result.stuck(3, true).values;
        assert_eq!(high, [0b1110, 0b1110 << 32 | 0b1001, 1, 0]);
        let low = result.stuck(0, false).values;
        assert_eq!(low, [0b0110, 0b0110 << 32 | 0b1000, 0, 0]);
        assert_eq!(result.stuck(0, true).values[3], 0, "no such destination");
    }
}

//! `set`, `pack` and `unpack` on registers: a whole warp at a time, in the simplest way, as few kernels have them.

use warpwatt_ptx::program::{Compare, HalfCompare, Inst, SlotKind};

use super::Warp;
use crate::lanes;
use crate::trace::LaneMask;

impl<const W: usize> Warp<W> {
    /// `set`: `one` where the comparison holds, else zero.
    pub(super) fn set(&mut self, compare: &Compare, one: u32, inst: &Inst, executed: LaneMask) {
        let (a, b) = (inst.src[0], inst.src[1]);
        let r = &self.registers;
        let holds = match a.kind {
            SlotKind::Double => lanes::compare_double(compare, r.double(a), r.double(b)),
            _ => lanes::compare_word(compare, r.word(a), r.word(b)),
        };
        let holds = self.combined(holds, compare.combine, inst);
        let value = std::array::from_fn(|lane| if holds >> lane & 1 == 1 { one } else { 0 });
        self.registers.set_word(inst.dst[0], executed, &value);
    }

    /// `set` on halves: each element of a pair apart.
    pub(super) fn set_halves(
        &mut self,
        compare: &HalfCompare,
        one: u32,
        inst: &Inst,
        executed: LaneMask,
    ) {
        let (a, b) = (
            self.registers.word(inst.src[0]),
            self.registers.word(inst.src[1]),
        );
        let holds = lanes::compare_halves(compare, a, b)
            .map(|holds| self.combined(holds, compare.combine, inst));
        let parts = if compare.packed {
            [0xffff, 0xffff_0000]
        } else {
            [u32::MAX, 0]
        };
        let part = |lane: usize, at: usize| match holds[at] >> lane & 1 {
            1 => one & parts[at],
            _ => 0,
        };
        let value = std::array::from_fn(|lane| part(lane, 0) | part(lane, 1));
        self.registers.set_word(inst.dst[0], executed, &value);
    }

    /// `mov` of parts of `bits` bits to a whole.
    pub(super) fn pack_parts(&mut self, bits: u32, inst: &Inst, executed: LaneMask) {
        let mut whole = [0u64; W];
        for (at, slot) in inst.src.as_slice().iter().enumerate() {
            let parts = self.registers.word(*slot);
            for (whole, part) in whole.iter_mut().zip(parts) {
                *whole |= (u64::from(*part) & ((1 << bits) - 1)) << (at as u32 * bits);
            }
        }
        self.registers.set_extended(inst.dst[0], executed, &whole);
    }

    /// `mov` of a whole to parts of `bits` bits.
    pub(super) fn unpack_parts(&mut self, bits: u32, inst: &Inst, executed: LaneMask) {
        let whole = self.registers.extended(inst.src[0]);
        for (at, slot) in inst.dst.as_slice().iter().enumerate() {
            let part = whole.map(|whole| (whole >> (at as u32 * bits)) as u32 & ((1 << bits) - 1));
            self.registers.set_word(*slot, executed, &part);
        }
    }
}

//! Scalar computations.

use crate::decode::{Inst, Place};
use crate::error::Cause;
use crate::op::{Form, Op};
use crate::program::{NOWHERE, Program};
use crate::wave::{Flow, Wave, WaveFault};

/// A literal of an unsigned pair.
pub(crate) fn zero_extended(literal: u32) -> u64 {
    u64::from(literal)
}

/// A literal of a signed pair.
pub(crate) fn sign_extended(literal: u32) -> u64 {
    i64::from(literal as i32) as u64
}

impl Wave {
    pub(crate) fn scalar_computation(
        &mut self,
        inst: &Inst,
        program: &Program,
    ) -> Result<Flow, WaveFault> {
        match inst.op.row().form {
            Form::Sop2 => self.sop2(inst)?,
            Form::Sopk => self.sopk(inst)?,
            Form::Sopc => self.sopc(inst)?,
            _ => return self.sop1(inst, program),
        }
        Ok(Flow::Next)
    }

    #[inline]
    fn set(&mut self, inst: &Inst, value: u32) {
        self.scalars[usize::from(inst.result.0 & 127)] = value;
    }

    /// A result that the condition code compares with zero.
    #[inline]
    fn set_with_code(&mut self, inst: &Inst, value: u32) {
        self.set(inst, value);
        self.scc = value != 0;
    }

    #[inline]
    fn set_pair_with_code(&mut self, inst: &Inst, value: u64) {
        self.set_pair(inst.result.0, value);
        self.scc = value != 0;
    }

    fn sop2(&mut self, inst: &Inst) -> Result<(), WaveFault> {
        if inst.op.row().result == 2 {
            return self.sop2_pair(inst);
        }
        let (a, b) = (self.scalar(inst, 0), self.scalar(inst, 1));
        let (sa, sb) = (a as i32, b as i32);
        match inst.op {
            Op::SAddU32 | Op::SAddcU32 => {
                let carry = inst.op == Op::SAddcU32 && self.scc;
                let sum = u64::from(a) + u64::from(b) + u64::from(carry);
                self.set(inst, sum as u32);
                self.scc = sum >> 32 != 0;
            }
            Op::SSubU32 | Op::SSubbU32 => {
                let borrow = inst.op == Op::SSubbU32 && self.scc;
                let (difference, under) =
                    u64::from(a).overflowing_sub(u64::from(b) + u64::from(borrow));
                self.set(inst, difference as u32);
                self.scc = under;
            }
            Op::SAddI32 => {
                let (sum, over) = sa.overflowing_add(sb);
                self.set(inst, sum as u32);
                self.scc = over;
            }
            Op::SSubI32 => {
                let (difference, over) = sa.overflowing_sub(sb);
                self.set(inst, difference as u32);
                self.scc = over;
            }
            Op::SMinI32 => self.choose(inst, sa < sb, [a, b]),
            Op::SMinU32 => self.choose(inst, a < b, [a, b]),
            Op::SMaxI32 => self.choose(inst, sa > sb, [a, b]),
            Op::SMaxU32 => self.choose(inst, a > b, [a, b]),
            Op::SCselectB32 => self.set(inst, if self.scc { a } else { b }),
            Op::SMulI32 => self.set(inst, a.wrapping_mul(b)),
            Op::SBfmB32 => self.set(inst, (1u32 << (a & 31)).wrapping_sub(1) << (b & 31)),
            op => {
                let value = logic(op, u64::from(a), u64::from(b)).map(|value| value as u32);
                let value = value.or_else(|| shifted(op, a, b));
                self.set_with_code(inst, value.ok_or(UNSUPPORTED)?);
            }
        }
        Ok(())
    }

    fn choose(&mut self, inst: &Inst, first: bool, values: [u32; 2]) {
        self.set(inst, values[usize::from(!first)]);
        self.scc = first;
    }

    fn sop2_pair(&mut self, inst: &Inst) -> Result<(), WaveFault> {
        let wide = |wave: &Self, at| match inst.widths[at] {
            2 => wave.scalar_pair(inst, at, zero_extended),
            _ => u64::from(wave.scalar(inst, at)),
        };
        let (a, b) = (wide(self, 0), wide(self, 1));
        match inst.op {
            Op::SCselectB64 => self.set_pair(inst.result.0, if self.scc { a } else { b }),
            Op::SBfmB64 => {
                let value = (1u64 << (a & 63)).wrapping_sub(1) << (b & 63);
                self.set_pair(inst.result.0, value);
            }
            Op::SAshrI64 => {
                let a = self.scalar_pair(inst, 0, sign_extended);
                self.set_pair_with_code(inst, ((a as i64) >> (b & 63)) as u64);
            }
            op => {
                let value = logic(op, a, b).or(match op {
                    Op::SLshlB64 => Some(a << (b & 63)),
                    Op::SLshrB64 => Some(a >> (b & 63)),
                    Op::SBfeU64 => Some(field(a, b as u32)),
                    Op::SBfeI64 => Some(signed_field(a, b as u32)),
                    _ => None,
                });
                self.set_pair_with_code(inst, value.ok_or(UNSUPPORTED)?);
            }
        }
        Ok(())
    }

    fn sopk(&mut self, inst: &Inst) -> Result<(), WaveFault> {
        let constant = inst.literal as u16;
        let signed = i32::from(constant as i16);
        let a = self.scalar_at(inst, inst.result);
        let (sa, k) = (a as i32, u32::from(constant));
        match inst.op {
            Op::SMovkI32 => self.set(inst, signed as u32),
            Op::SCmovkI32 if self.scc => self.set(inst, signed as u32),
            Op::SCmovkI32 => {}
            Op::SCmpkEqI32 => self.scc = sa == signed,
            Op::SCmpkLgI32 => self.scc = sa != signed,
            Op::SCmpkGtI32 => self.scc = sa > signed,
            Op::SCmpkGeI32 => self.scc = sa >= signed,
            Op::SCmpkLtI32 => self.scc = sa < signed,
            Op::SCmpkLeI32 => self.scc = sa <= signed,
            Op::SCmpkEqU32 => self.scc = a == k,
            Op::SCmpkLgU32 => self.scc = a != k,
            Op::SCmpkGtU32 => self.scc = a > k,
            Op::SCmpkGeU32 => self.scc = a >= k,
            Op::SCmpkLtU32 => self.scc = a < k,
            Op::SCmpkLeU32 => self.scc = a <= k,
            Op::SAddkI32 => {
                let (sum, over) = sa.overflowing_add(signed);
                self.set(inst, sum as u32);
                self.scc = over;
            }
            Op::SMulkI32 => self.set(inst, sa.wrapping_mul(signed) as u32),
            Op::SGetregB32 => {
                let value = self.mode_field(inst.literal, None)?;
                self.set(inst, value);
            }
            Op::SSetregB32 => {
                self.mode_field(inst.literal, Some(a))?;
            }
            Op::SSetregImm32B32 => {
                self.mode_field(u32::from(inst.access.offset), Some(inst.literal))?;
            }
            _ => return Err(UNSUPPORTED.into()),
        }
        Ok(())
    }

    /// Reads and perhaps writes bits of the mode register, the only one of the hardware's that is modelled.
    fn mode_field(&mut self, which: u32, value: Option<u32>) -> Result<u32, Cause> {
        let (register, low, width) = (which & 0x3f, which >> 6 & 0x1f, (which >> 11 & 0x1f) + 1);
        if register != 1 {
            return Err(Cause::Unsupported(
                "of the hardware's registers only MODE is supported",
            ));
        }
        let mask = (u64::MAX >> (64 - width)) << low;
        let old = u64::from(self.mode.bits());
        if let Some(value) = value {
            let new = old & !mask | u64::from(value) << low & mask;
            self.mode.set(new as u32)?;
        }
        Ok(((old & mask) >> low) as u32)
    }

    fn sopc(&mut self, inst: &Inst) -> Result<(), WaveFault> {
        let (a, b) = (self.scalar(inst, 0), self.scalar(inst, 1));
        let (sa, sb) = (a as i32, b as i32);
        let bit = |wave: &Self| wave.scalar_pair(inst, 0, zero_extended) >> (b & 63) & 1 != 0;
        self.scc = match inst.op {
            Op::SCmpEqI32 | Op::SCmpEqU32 => a == b,
            Op::SCmpLgI32 | Op::SCmpLgU32 => a != b,
            Op::SCmpGtI32 => sa > sb,
            Op::SCmpGeI32 => sa >= sb,
            Op::SCmpLtI32 => sa < sb,
            Op::SCmpLeI32 => sa <= sb,
            Op::SCmpGtU32 => a > b,
            Op::SCmpGeU32 => a >= b,
            Op::SCmpLtU32 => a < b,
            Op::SCmpLeU32 => a <= b,
            Op::SBitcmp0B32 => a >> (b & 31) & 1 == 0,
            Op::SBitcmp1B32 => a >> (b & 31) & 1 != 0,
            Op::SBitcmp0B64 => !bit(self),
            Op::SBitcmp1B64 => bit(self),
            _ => return Err(UNSUPPORTED.into()),
        };
        Ok(())
    }

    fn sop1(&mut self, inst: &Inst, program: &Program) -> Result<Flow, WaveFault> {
        let jump = |address: u64| match program.find(address) {
            Some(at) if at != NOWHERE => Ok(Flow::To(at)),
            _ => Err(Cause::Jump(address).into()),
        };
        match inst.op {
            Op::SGetpcB64 => self.set_pair(inst.result.0, program.address_behind(self.at)),
            Op::SSetpcB64 => return jump(self.scalar_pair(inst, 0, zero_extended)),
            Op::SSwappcB64 => {
                let target = self.scalar_pair(inst, 0, zero_extended);
                self.set_pair(inst.result.0, program.address_behind(self.at));
                return jump(target);
            }
            op if op.saves_exec() => self.save_exec(inst),
            _ if inst.widths[0] == 2 => self.sop1_pair(inst)?,
            _ => self.sop1_word(inst)?,
        }
        Ok(Flow::Next)
    }

    fn save_exec(&mut self, inst: &Inst) {
        let a = self.scalar_pair(inst, 0, zero_extended);
        let exec = self.exec();
        let new = match inst.op {
            Op::SAndSaveexecB64 => a & exec,
            Op::SOrSaveexecB64 => a | exec,
            Op::SXorSaveexecB64 => a ^ exec,
            Op::SAndn2SaveexecB64 => a & !exec,
            Op::SOrn2SaveexecB64 => a | !exec,
            Op::SNandSaveexecB64 => !(a & exec),
            Op::SNorSaveexecB64 => !(a | exec),
            _ => !(a ^ exec),
        };
        self.set_pair(inst.result.0, exec);
        self.set_exec(new);
        self.scc = new != 0;
    }

    fn sop1_word(&mut self, inst: &Inst) -> Result<(), WaveFault> {
        let a = self.scalar(inst, 0);
        match inst.op {
            Op::SMovB32 => self.set(inst, a),
            Op::SCmovB32 if self.scc => self.set(inst, a),
            Op::SCmovB32 => {}
            Op::SNotB32 => self.set_with_code(inst, !a),
            Op::SWqmB32 => self.set_with_code(inst, quads(u64::from(a)) as u32),
            Op::SQuadmaskB32 => self.set_with_code(inst, quad_mask(u64::from(a)) as u32),
            Op::SBrevB32 => self.set(inst, a.reverse_bits()),
            Op::SBcnt0I32B32 => self.set_with_code(inst, a.count_zeros()),
            Op::SBcnt1I32B32 => self.set_with_code(inst, a.count_ones()),
            Op::SFf0I32B32 => self.set(inst, found(a != u32::MAX, (!a).trailing_zeros())),
            Op::SFf1I32B32 => self.set(inst, found(a != 0, a.trailing_zeros())),
            Op::SFlbitI32B32 => self.set(inst, found(a != 0, a.leading_zeros())),
            Op::SFlbitI32 => {
                let changes = (a as i32 ^ (a as i32 >> 31)) as u32;
                self.set(inst, found(changes != 0, changes.leading_zeros()));
            }
            Op::SSextI32I8 => self.set(inst, i32::from(a as i8) as u32),
            Op::SSextI32I16 => self.set(inst, i32::from(a as i16) as u32),
            Op::SBitset0B32 => self.set(inst, self.scalar_at(inst, inst.result) & !(1 << (a & 31))),
            Op::SBitset1B32 => self.set(inst, self.scalar_at(inst, inst.result) | 1 << (a & 31)),
            Op::SBitset0B64 => {
                self.set_pair(inst.result.0, self.pair(inst.result.0) & !(1 << (a & 63)))
            }
            Op::SBitset1B64 => {
                self.set_pair(inst.result.0, self.pair(inst.result.0) | 1 << (a & 63))
            }
            Op::SAbsI32 => self.set_with_code(inst, (a as i32).wrapping_abs() as u32),
            Op::SMovrelsB32 => {
                let value = self.scalars[self.relative(inst.sources[0])];
                self.set(inst, value);
            }
            Op::SMovreldB32 => {
                let to = self.relative(inst.result);
                self.scalars[to] = a;
            }
            _ => return Err(UNSUPPORTED.into()),
        }
        Ok(())
    }

    /// A scalar register's number, moved by M0.
    fn relative(&self, place: Place) -> usize {
        let moved = u32::from(place.0).wrapping_add(self.scalars[usize::from(Place::M0.0)]);
        (moved & 127) as usize
    }

    fn sop1_pair(&mut self, inst: &Inst) -> Result<(), WaveFault> {
        let a = self.scalar_pair(inst, 0, zero_extended);
        let result = inst.result.0;
        match inst.op {
            Op::SMovB64 => self.set_pair(result, a),
            Op::SCmovB64 if self.scc => self.set_pair(result, a),
            Op::SCmovB64 => {}
            Op::SNotB64 => self.set_pair_with_code(inst, !a),
            Op::SWqmB64 => self.set_pair_with_code(inst, quads(a)),
            Op::SQuadmaskB64 => self.set_pair_with_code(inst, quad_mask(a)),
            Op::SBrevB64 => self.set_pair(result, a.reverse_bits()),
            Op::SBcnt0I32B64 => self.set_with_code(inst, a.count_zeros()),
            Op::SBcnt1I32B64 => self.set_with_code(inst, a.count_ones()),
            Op::SFf0I32B64 => self.set(inst, found(a != u64::MAX, (!a).trailing_zeros())),
            Op::SFf1I32B64 => self.set(inst, found(a != 0, a.trailing_zeros())),
            Op::SFlbitI32B64 => self.set(inst, found(a != 0, a.leading_zeros())),
            Op::SFlbitI32I64 => {
                let changes = (a as i64 ^ (a as i64 >> 63)) as u64;
                self.set(inst, found(changes != 0, changes.leading_zeros()));
            }
            Op::SMovrelsB64 => {
                let value = self.pair(self.relative(inst.sources[0]) as u16);
                self.set_pair(result, value);
            }
            Op::SMovreldB64 => self.set_pair(self.relative(inst.result) as u16, a),
            _ => return Err(UNSUPPORTED.into()),
        }
        Ok(())
    }
}

pub(crate) const UNSUPPORTED: Cause =
    Cause::Unsupported("an instruction that is decoded, but not executed");

impl Op {
    /// Whether it changes the execution mask and keeps the old one.
    pub(crate) fn saves_exec(self) -> bool {
        matches!(
            self,
            Op::SAndSaveexecB64
                | Op::SOrSaveexecB64
                | Op::SXorSaveexecB64
                | Op::SAndn2SaveexecB64
                | Op::SOrn2SaveexecB64
                | Op::SNandSaveexecB64
                | Op::SNorSaveexecB64
                | Op::SXnorSaveexecB64
        )
    }
}

fn logic(op: Op, a: u64, b: u64) -> Option<u64> {
    Some(match op {
        Op::SAndB32 | Op::SAndB64 => a & b,
        Op::SOrB32 | Op::SOrB64 => a | b,
        Op::SXorB32 | Op::SXorB64 => a ^ b,
        Op::SAndn2B32 | Op::SAndn2B64 => a & !b,
        Op::SOrn2B32 | Op::SOrn2B64 => a | !b,
        Op::SNandB32 | Op::SNandB64 => !(a & b),
        Op::SNorB32 | Op::SNorB64 => !(a | b),
        Op::SXnorB32 | Op::SXnorB64 => !(a ^ b),
        _ => return None,
    })
}

fn shifted(op: Op, a: u32, b: u32) -> Option<u32> {
    Some(match op {
        Op::SLshlB32 => a << (b & 31),
        Op::SLshrB32 => a >> (b & 31),
        Op::SAshrI32 => ((a as i32) >> (b & 31)) as u32,
        Op::SBfeU32 => field(u64::from(a), b & 0x7f_001f) as u32,
        Op::SBfeI32 => signed_word_field(a, b),
        Op::SAbsdiffI32 => (a as i32).wrapping_sub(b as i32).wrapping_abs() as u32,
        _ => return None,
    })
}

/// Bits from `place`'s low bits on, as many as its bits from 16 on say.
fn field(value: u64, place: u32) -> u64 {
    let (low, width) = (place & 63, place >> 16 & 0x7f);
    match width {
        0 => 0,
        1..64 => value >> low & ((1 << width) - 1),
        _ => value >> low,
    }
}

fn signed_field(value: u64, place: u32) -> u64 {
    let width = (place >> 16 & 0x7f).min(64);
    match width {
        0 => 0,
        width => (((field(value, place) << (64 - width)) as i64) >> (64 - width)) as u64,
    }
}

fn signed_word_field(value: u32, place: u32) -> u32 {
    let (low, width) = (place & 31, place >> 16 & 0x7f);
    match width {
        0 => 0,
        _ if low + width >= 32 => ((value as i32) >> low) as u32,
        width => ((value << (32 - low - width)) as i32 >> (32 - width)) as u32,
    }
}

fn found(any: bool, at: u32) -> u32 {
    if any { at } else { u32::MAX }
}

/// Four bits wherever one of the four is set.
fn quads(mask: u64) -> u64 {
    (0..16).fold(0, |all, quad| {
        let four = 0xfu64 << (4 * quad);
        if mask & four != 0 { all | four } else { all }
    })
}

/// One bit for each four.
fn quad_mask(mask: u64) -> u64 {
    (0..16).fold(0, |all, quad| {
        all | u64::from(mask >> (4 * quad) & 0xf != 0) << quad
    })
}

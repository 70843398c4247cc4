//! Forms that become several instructions: the upper half of a product plus a third operand, minima with the sign of a product, `lop3` with
//! a predicate. No compiler is known to emit most of them.

use super::arithmetic::unsupported_form;
use super::function::{Lowered, Lowering};
use super::half::format_named;
use super::modifiers::Modifiers;
use super::operands::expect_operands;
use crate::ast::{Instruction, Operand};
use crate::program::{
    Compare, Comparison, Extreme, Half, HalfOp, Long2, Long3, Op, Operands, PairOp, ShortOp, Slot,
    SlotKind, Word1, Word2, Word3,
};
use crate::types::Type;

/// Truth table of `c ? b : a`.
const CHOOSE: u8 = 0xd8;

impl<'s> Lowering<'_, 's> {
    /// `min.NaN.abs.f32 d, a, b, c`.
    pub(super) fn extreme_of_three(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let mut modifiers = Modifiers::new(instruction);
        let extreme = Extreme {
            largest: instruction.opcode.text == "max",
            flush: modifiers.take("ftz"),
            nan: modifiers.take("NaN"),
            magnitudes: modifiers.take("abs"),
        };
        let element = modifiers.element()?;
        modifiers.finish()?;
        if element != Type::F32 {
            return Err(unsupported_form(instruction));
        }
        let op = Op::Word3(Word3::FExtreme(extreme));
        self.emit_typed(instruction, op, element, &[element; 3])
    }

    /// `add.rn.f32x2 d, a, b`, `fma.rn.f32x2 d, a, b, c` and their kin: a single in each half of 64 bits.
    pub(super) fn pairs_of_singles(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let mut modifiers = Modifiers::new(instruction);
        modifiers.take("f32x2");
        let rounded = instruction.modifiers.iter();
        let rounded = rounded.filter(|name| ["rn", "rz", "rm", "rp"].contains(&name.text));
        let float = modifiers.float();
        modifiers.finish()?;
        let fused = instruction.opcode.text == "fma";
        if float.saturate || fused && rounded.count() == 0 {
            return Err(unsupported_form(instruction));
        }
        let pair = |op| Op::Long2(Long2::Pair(op, float));
        let op = match instruction.opcode.text {
            "add" => pair(PairOp::Add),
            "sub" => pair(PairOp::Sub),
            "mul" => pair(PairOp::Mul),
            _ => Op::Long3(Long3::FmaPair(float)),
        };
        let sources = if fused { 3 } else { 2 };
        self.emit_typed(instruction, op, Type::B64, &vec![Type::B64; sources])
    }

    fn emit_one(&mut self, op: Op, sources: &[Slot], kind: SlotKind) -> Slot {
        let slot = self.slots.fresh(kind);
        self.emit(op, slot.into(), sources.iter().copied().collect());
        slot
    }

    /// `mad.hi` on other than 32 bits, or saturating: the product's upper half, then the sum.
    pub(super) fn multiply_high_add(
        &mut self,
        instruction: &Instruction<'s>,
        element: Type,
        saturate: bool,
    ) -> Lowered<()> {
        let signed = element.is_signed();
        let short = |op| Op::Short { signed, op };
        let (high, add, kind) = match (element.bytes(), saturate) {
            (8, false) => (
                Op::Long2(Long2::MulHi { signed }),
                Op::Long2(Long2::Add),
                SlotKind::Double,
            ),
            (2, false) => (
                short(ShortOp::MulHi),
                short(ShortOp::Two(Word2::Add)),
                SlotKind::Word,
            ),
            (4, true) => {
                let high = match instruction.opcode.text {
                    "mad24" => Word2::Mul24 { signed, high: true },
                    _ => Word2::MulHi { signed },
                };
                (
                    Op::Word2(high),
                    Op::Word2(Word2::AddSaturate),
                    SlotKind::Word,
                )
            }
            _ => return Err(unsupported_form(instruction)),
        };
        expect_operands(instruction, &[4])?;
        let dst = self.destination(&instruction.operands[0], element)?;
        let [a, b, c] = self.three(&instruction.operands[1..], element)?;
        let product = self.emit_one(high, &[a, b], kind);
        self.emit(add, dst.into(), [product, c].into_iter().collect());
        Ok(())
    }

    fn three(&mut self, operands: &[Operand<'s>], element: Type) -> Lowered<[Slot; 3]> {
        let mut slot = |at: usize| self.source(&operands[at], element);
        Ok([slot(0)?, slot(1)?, slot(2)?])
    }

    /// `min.relu.s32`: negative results become zero.
    pub(super) fn extreme_relu(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        expect_operands(instruction, &[3])?;
        let signed = true;
        let op = match instruction.opcode.text {
            "min" => Word2::Min { signed },
            _ => Word2::Max { signed },
        };
        let dst = self.destination(&instruction.operands[0], Type::S32)?;
        let a = self.source(&instruction.operands[1], Type::S32)?;
        let b = self.source(&instruction.operands[2], Type::S32)?;
        let least = self.emit_one(Op::Word2(op), &[a, b], SlotKind::Word);
        let zero = self.slots.word_literal(0);
        let src = [least, zero].into_iter().collect();
        self.emit(Op::Word2(Word2::Max { signed }), dst.into(), src);
        Ok(())
    }

    /// `min.xorsign.abs`: of the magnitudes, with the sign of the product.
    pub(super) fn extreme_of_magnitudes(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let mut modifiers = Modifiers::new(instruction);
        let both = modifiers.take("xorsign") && modifiers.take("abs");
        let flush = modifiers.take("ftz");
        let nan = modifiers.take("NaN");
        let single = modifiers.take("f32");
        let half = modifiers.find(format_named);
        modifiers.finish()?;
        if !both || single == half.is_some() {
            return Err(unsupported_form(instruction));
        }
        let is_min = instruction.opcode.text == "min";
        let (magnitude, extreme, sign, own) = match half {
            None => (
                Op::Word1(Word1::FAbs { flush }),
                Op::Word2(match is_min {
                    true => Word2::FMin { flush, nan },
                    false => Word2::FMax { flush, nan },
                }),
                1 << 31,
                Op::Word2(Word2::FMin { flush, nan: true }),
            ),
            Some((format, packed)) => {
                let of = |op| {
                    Op::Half(Half {
                        op,
                        format,
                        packed,
                        flush,
                        saturate: false,
                        relu: false,
                    })
                };
                let extreme = if is_min {
                    HalfOp::Min { nan }
                } else {
                    HalfOp::Max { nan }
                };
                let sign = if packed { 0x8000_8000 } else { 0x8000 };
                let own = of(HalfOp::Min { nan: true });
                (of(HalfOp::Abs), of(extreme), sign, own)
            }
        };
        expect_operands(instruction, &[3])?;
        let dst = self.destination(&instruction.operands[0], Type::B32)?;
        let a = self.source(&instruction.operands[1], Type::F32)?;
        let b = self.source(&instruction.operands[2], Type::F32)?;
        let word = SlotKind::Word;
        let [x, y] = [a, b].map(|slot| self.emit_one(magnitude.clone(), &[slot], word));
        let extreme = self.emit_one(extreme, &[x, y], word);
        let signs = self.emit_one(Op::Word2(Word2::Xor), &[a, b], word);
        let mask = self.slots.word_literal(sign);
        let chosen = self.emit_one(
            Op::Word3(Word3::Lop3(CHOOSE)),
            &[extreme, signs, mask],
            word,
        );
        // A NaN has no sign: the least of it and itself is the one NaN.
        self.emit(own, dst.into(), [chosen, chosen].into_iter().collect());
        Ok(())
    }

    /// `lop3.or.b32 d|p, a, b, c, table, q`: p is whether the result is not zero, combined with q.
    pub(super) fn lop3_predicate(
        &mut self,
        instruction: &Instruction<'s>,
        op: crate::program::BoolOp,
        table: u8,
    ) -> Lowered<()> {
        expect_operands(instruction, &[6])?;
        let Operand::Pair(value, predicate) = &instruction.operands[0] else {
            return Err(unsupported_form(instruction));
        };
        let dst = self.destination(value, Type::B32)?;
        let holds = self.destination(predicate, Type::Pred)?;
        let sources = self.three(&instruction.operands[1..4], Type::B32)?;
        let (other, negated) = self.predicate(&instruction.operands[5])?;
        let src = sources.into_iter().collect();
        self.emit(Op::Word3(Word3::Lop3(table)), dst.into(), src);
        let compare = Compare {
            how: Comparison::Ne,
            element: Type::U32,
            flush: false,
            combine: Some((op, negated)),
        };
        let zero = self.slots.word_literal(0);
        let src: Operands<8> = [dst, zero, other].into_iter().collect();
        self.emit(Op::SetPredicate(compare), holds.into(), src);
        Ok(())
    }
}

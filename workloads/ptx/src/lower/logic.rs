//! Logic, shifts and bit fields (PTX ISA 8.x, sections 9.7.1, 9.7.8).

use super::arithmetic::{Widths, unsupported_form};
use super::compare::bool_named;
use super::function::{Lowered, Lowering};
use super::modifiers::Modifiers;
use super::operands::expect_operands;
use crate::ast::{Instruction, Operand};
use crate::error::PtxError;
use crate::program::{
    Long1, Long2, LongShift, LongToWord, Op, Operands, PermuteMode, PredicateOp, ShortOp, Word1,
    Word2, Word3, Word4,
};
use crate::types::Type;

impl<'s> Lowering<'_, 's> {
    pub(super) fn logic(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let mut modifiers = Modifiers::new(instruction);
        match instruction.opcode.text {
            "shf" => return self.funnel_shift(instruction, modifiers),
            "prmt" => return self.permute(instruction, modifiers),
            "lop3" => return self.lop3(instruction, modifiers),
            _ => {}
        }
        let shift_amount = modifiers.take("shiftamt");
        let wrap = modifiers.take("wrap");
        let clamp = modifiers.take("clamp");
        let element = modifiers.element()?;
        modifiers.finish()?;
        if (shift_amount && instruction.opcode.text != "bfind")
            || ((wrap || clamp) && instruction.opcode.text != "bmsk")
        {
            return Err(unsupported_form(instruction));
        }
        if element == Type::Pred {
            return self.predicate_logic(instruction);
        }
        let signed = element.is_signed();
        match instruction.opcode.text {
            "shl" | "shr" => self.shift(instruction, element),
            "bfe" => self.extract(instruction, element),
            "bfi" => self.insert_field(instruction, element),
            "bmsk" => {
                let op = Op::Word2(Word2::Bmsk { clamp });
                self.emit_typed(instruction, op, Type::B32, &[Type::B32; 2])
            }
            "popc" | "clz" | "bfind" => {
                let (word, double) = match instruction.opcode.text {
                    "popc" => (Word1::Popc, LongToWord::Popc),
                    "clz" => (Word1::Clz, LongToWord::Clz),
                    _ => (
                        Word1::Bfind {
                            signed,
                            shift: shift_amount,
                        },
                        LongToWord::Bfind {
                            signed,
                            shift: shift_amount,
                        },
                    ),
                };
                let op = match element.bytes() {
                    4 => Op::Word1(word),
                    8 => Op::LongToWord(double),
                    _ => return Err(unsupported_form(instruction)),
                };
                self.emit_typed(instruction, op, Type::B32, &[element])
            }
            opcode => {
                let (widths, sources) = match opcode {
                    "and" => (Widths::two(Word2::And, Long2::And), 2),
                    "or" => (Widths::two(Word2::Or, Long2::Or), 2),
                    "xor" => (Widths::two(Word2::Xor, Long2::Xor), 2),
                    "not" => (Widths::one(Word1::Not, Long1::Not), 1),
                    "brev" => (Widths::one(Word1::Brev, Long1::Brev).without_short(), 1),
                    _ => return Err(unsupported_form(instruction)),
                };
                let op = widths
                    .of(element)
                    .ok_or_else(|| unsupported_form(instruction))?;
                self.emit_typed(instruction, op, element, &vec![element; sources])
            }
        }
    }

    fn predicate_logic(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let op = match instruction.opcode.text {
            "and" => PredicateOp::And,
            "or" => PredicateOp::Or,
            "xor" => PredicateOp::Xor,
            "not" => PredicateOp::Not,
            _ => return Err(unsupported_form(instruction)),
        };
        expect_operands(instruction, &[if op == PredicateOp::Not { 2 } else { 3 }])?;
        self.emit_predicate(op, &instruction.operands)
    }

    /// Destination first, then sources that may be negated.
    pub(super) fn emit_predicate(
        &mut self,
        op: PredicateOp,
        operands: &[Operand<'s>],
    ) -> Lowered<()> {
        let dst = self.destination(&operands[0], Type::Pred)?;
        let mut src = Operands::default();
        let mut negated = 0;
        for (at, operand) in operands[1..].iter().enumerate() {
            let (slot, is_negated) = self.predicate(operand)?;
            src.push(slot);
            negated |= u8::from(is_negated) << at;
        }
        self.emit(Op::Predicate { op, negated }, dst.into(), src);
        Ok(())
    }

    /// The shift count is always a word.
    fn shift(&mut self, instruction: &Instruction<'s>, element: Type) -> Lowered<()> {
        let signed = element.is_signed();
        let left = instruction.opcode.text == "shl";
        let word = if left {
            Word2::Shl
        } else {
            Word2::Shr { signed }
        };
        let op = match element.bytes() {
            2 => Op::Short {
                signed,
                op: ShortOp::Two(word),
            },
            4 => Op::Word2(word),
            8 if left => Op::LongShift(LongShift::Shl),
            8 => Op::LongShift(LongShift::Shr { signed }),
            _ => return Err(unsupported_form(instruction)),
        };
        self.emit_typed(instruction, op, element, &[element, Type::U32])
    }

    fn extract(&mut self, instruction: &Instruction<'s>, element: Type) -> Lowered<()> {
        let signed = element.is_signed();
        let op = match element.bytes() {
            4 => Op::Word3(Word3::Bfe { signed }),
            8 => Op::LongExtract { signed },
            _ => return Err(unsupported_form(instruction)),
        };
        self.emit_typed(instruction, op, element, &[element, Type::U32, Type::U32])
    }

    fn insert_field(&mut self, instruction: &Instruction<'s>, element: Type) -> Lowered<()> {
        let op = match element.bytes() {
            4 => Op::Word4(Word4::Bfi),
            8 => Op::LongInsert,
            _ => return Err(unsupported_form(instruction)),
        };
        let sources = [element, element, Type::U32, Type::U32];
        self.emit_typed(instruction, op, element, &sources)
    }

    fn funnel_shift(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let right = modifiers.take("r");
        let left = modifiers.take("l");
        let clamp = modifiers.take("clamp");
        let wrap = modifiers.take("wrap");
        modifiers.element()?;
        modifiers.finish()?;
        if right == left || clamp == wrap {
            return Err(unsupported_form(instruction)
                .with_help("write `shf.l` or `shf.r` with `.wrap` or `.clamp`"));
        }
        let op = Op::Word3(Word3::FunnelShift { right, clamp });
        self.emit_typed(instruction, op, Type::B32, &[Type::B32; 3])
    }

    fn permute(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        modifiers.element()?;
        let mode = modifiers.find(|text| {
            Some(match text {
                "f4e" => PermuteMode::F4e,
                "b4e" => PermuteMode::B4e,
                "rc8" => PermuteMode::Rc8,
                "ecl" => PermuteMode::Ecl,
                "ecr" => PermuteMode::Ecr,
                "rc16" => PermuteMode::Rc16,
                _ => return None,
            })
        });
        modifiers.finish()?;
        let op = Op::Word3(Word3::Prmt(mode.unwrap_or(PermuteMode::Generic)));
        self.emit_typed(instruction, op, Type::B32, &[Type::B32; 3])
    }

    fn lop3(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let with_predicate = modifiers.find(bool_named);
        modifiers.element()?;
        modifiers.finish()?;
        expect_operands(instruction, &[5, 6])?;
        let table = match &instruction.operands[4] {
            Operand::Integer(value, _) if *value <= 255 => *value as u8,
            other => {
                let message = "the truth table of `lop3` is a number from 0 to 255";
                return Err(PtxError::new(other.span(), message));
            }
        };
        if let Some(op) = with_predicate {
            return self.lop3_predicate(instruction, op, table);
        }
        expect_operands(instruction, &[5])?;
        let dst = self.destination(&instruction.operands[0], Type::B32)?;
        let mut src = Operands::default();
        for operand in &instruction.operands[1..4] {
            src.push(self.source(operand, Type::B32)?);
        }
        self.emit(Op::Word3(Word3::Lop3(table)), dst.into(), src);
        Ok(())
    }
}

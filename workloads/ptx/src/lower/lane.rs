//! Exchange and votes between lanes (PTX ISA 8.x, sections 9.7.9.5 and 9.7.13).

use super::arithmetic::unsupported_form;
use super::function::{Lowered, Lowering};
use super::modifiers::Modifiers;
use super::operands::expect_operands;
use crate::ast::{Instruction, Operand};
use crate::program::{Extreme, Op, Operands, Redux, ShuffleMode, Vote};
use crate::types::Type;

impl<'s> Lowering<'_, 's> {
    pub(super) fn lanes(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let mut modifiers = Modifiers::new(instruction);
        let sync = modifiers.take("sync");
        match instruction.opcode.text {
            "shfl" => self.shuffle(instruction, modifiers, sync),
            "vote" => self.vote(instruction, modifiers, sync),
            "match" => self.matching(instruction, modifiers),
            "redux" => self.redux(instruction, modifiers),
            "elect" => self.elect(instruction, modifiers),
            _ => {
                modifiers.element()?;
                modifiers.finish()?;
                self.emit_typed(instruction, Op::ActiveMask, Type::B32, &[])
            }
        }
    }

    /// `match.any.sync.b32 d, a, mask`, `match.all.sync.b32 d|p, a, mask`.
    fn matching(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let any = modifiers.take("any");
        let all = modifiers.take("all");
        let element = modifiers.element()?;
        modifiers.finish()?;
        if any == all || element.is_float() || !matches!(element.bytes(), 4 | 8) {
            return Err(unsupported_form(instruction));
        }
        expect_operands(instruction, &[2, 3])?;
        // LLVM 14 keeps the mask of 64-bit values in a 64-bit register.
        let dst = match &instruction.operands[0] {
            single @ Operand::Name(..) => self.data_slot(single, Type::B32, false)?.into(),
            pair => self.with_predicate(pair)?,
        };
        let mut src = Operands::default();
        src.push(self.source(&instruction.operands[1], element)?);
        if let Some(mask) = instruction.operands.get(2) {
            src.push(self.source(mask, Type::B32)?);
        }
        let op = if any { Op::MatchAny } else { Op::MatchAll };
        self.emit(op, dst, src);
        Ok(())
    }

    /// `redux.sync.add.s32 d, a, mask`.
    fn redux(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let named = modifiers.find(|text| {
            Some(match text {
                "add" => Redux::Add,
                "min" => Redux::Min { signed: false },
                "max" => Redux::Max { signed: false },
                "and" => Redux::And,
                "or" => Redux::Or,
                "xor" => Redux::Xor,
                _ => return None,
            })
        });
        let element = modifiers.element()?;
        if element == Type::F32 {
            let extreme = Extreme {
                largest: named == Some(Redux::Max { signed: false }),
                flush: false,
                nan: modifiers.take("NaN"),
                magnitudes: modifiers.take("abs"),
            };
            modifiers.finish()?;
            if !matches!(named, Some(Redux::Min { .. } | Redux::Max { .. })) {
                return Err(unsupported_form(instruction));
            }
            let op = Op::Redux(Redux::FExtreme(extreme));
            return self.emit_typed(instruction, op, element, &[element, Type::B32]);
        }
        modifiers.finish()?;
        let signed = element.is_signed();
        let op = match named {
            Some(Redux::Min { .. }) => Some(Redux::Min { signed }),
            Some(Redux::Max { .. }) => Some(Redux::Max { signed }),
            other => other,
        };
        match op {
            Some(op) if element.bytes() == 4 && !element.is_float() => {
                self.emit_typed(instruction, Op::Redux(op), element, &[element, Type::B32])
            }
            _ => Err(unsupported_form(instruction)),
        }
    }

    /// `elect.sync d|p, mask`.
    fn elect(
        &mut self,
        instruction: &Instruction<'s>,
        modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        modifiers.finish()?;
        expect_operands(instruction, &[2])?;
        let dst = self.with_predicate(&instruction.operands[0])?;
        let mask = self.source(&instruction.operands[1], Type::B32)?;
        self.emit(Op::Elect, dst, mask.into());
        Ok(())
    }

    /// `d`, or `d|p`.
    fn with_predicate(&mut self, operand: &Operand<'s>) -> Lowered<Operands<4>> {
        let mut dst = Operands::default();
        match operand {
            Operand::Pair(value, predicate) => {
                dst.push(self.destination(value, Type::B32)?);
                dst.push(self.destination(predicate, Type::Pred)?);
            }
            value => dst.push(self.destination(value, Type::B32)?),
        }
        Ok(dst)
    }

    fn shuffle(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
        sync: bool,
    ) -> Lowered<()> {
        let mode = modifiers.find(|text| {
            Some(match text {
                "up" => ShuffleMode::Up,
                "down" => ShuffleMode::Down,
                "bfly" => ShuffleMode::Bfly,
                "idx" => ShuffleMode::Idx,
                _ => return None,
            })
        });
        let element = modifiers.element()?;
        modifiers.finish()?;
        let mode = mode.filter(|_| element.bytes() == 4);
        let mode = mode.ok_or_else(|| unsupported_form(instruction))?;
        expect_operands(instruction, &[if sync { 5 } else { 4 }])?;
        let dst = self.with_predicate(&instruction.operands[0])?;
        let mut src = Operands::default();
        for operand in &instruction.operands[1..] {
            src.push(self.source(operand, Type::B32)?);
        }
        self.emit(Op::Shuffle(mode), dst, src);
        Ok(())
    }

    fn vote(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
        sync: bool,
    ) -> Lowered<()> {
        let vote = modifiers.find(|text| {
            Some(match text {
                "all" => Vote::All,
                "any" => Vote::Any,
                "uni" => Vote::Uni,
                "ballot" => Vote::Ballot,
                _ => return None,
            })
        });
        let element = modifiers.element()?;
        modifiers.finish()?;
        let vote = vote.ok_or_else(|| unsupported_form(instruction))?;
        expect_operands(instruction, &[if sync { 3 } else { 2 }])?;
        let dst = self.destination(&instruction.operands[0], element)?;
        let (predicate, negated) = self.predicate(&instruction.operands[1])?;
        let mut src = Operands::from(predicate);
        if let Some(mask) = instruction.operands.get(2) {
            src.push(self.source(mask, Type::B32)?);
        }
        self.emit(Op::Vote { vote, negated }, dst.into(), src);
        Ok(())
    }
}

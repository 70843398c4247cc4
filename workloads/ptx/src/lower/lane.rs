//! Exchange and votes between lanes (PTX ISA 8.x, sections 9.7.9.5 and 9.7.13).

use super::arithmetic::unsupported_form;
use super::function::{Lowered, Lowering};
use super::modifiers::Modifiers;
use super::operands::expect_operands;
use crate::ast::{Instruction, Operand};
use crate::program::{Op, Operands, ShuffleMode, Vote};
use crate::types::Type;

impl<'s> Lowering<'_, 's> {
    pub(super) fn lanes(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let mut modifiers = Modifiers::new(instruction);
        let sync = modifiers.take("sync");
        match instruction.opcode.text {
            "shfl" => self.shuffle(instruction, modifiers, sync),
            "vote" => self.vote(instruction, modifiers, sync),
            "match" => {
                let any = modifiers.take("any");
                let element = modifiers.element()?;
                modifiers.finish()?;
                if !any || element.bytes() != 4 {
                    return Err(unsupported_form(instruction));
                }
                self.emit_typed(instruction, Op::MatchAny, Type::B32, &[element, Type::B32])
            }
            _ => {
                modifiers.element()?;
                modifiers.finish()?;
                self.emit_typed(instruction, Op::ActiveMask, Type::B32, &[])
            }
        }
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
        let mut dst = Operands::default();
        match &instruction.operands[0] {
            Operand::Pair(value, predicate) => {
                dst.push(self.destination(value, element)?);
                dst.push(self.destination(predicate, Type::Pred)?);
            }
            value => dst.push(self.destination(value, element)?),
        }
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
        let src = predicate.into();
        self.emit(Op::Vote { vote, negated }, dst.into(), src);
        Ok(())
    }
}

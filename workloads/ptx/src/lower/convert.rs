//! `cvt` (PTX ISA 8.x, section 9.7.9.21).

use super::arithmetic::unsupported_form;
use super::function::{Lowered, Lowering};
use super::modifiers::Modifiers;
use super::operands::expect_operands;
use super::slots::slot_kind;
use crate::ast::{Instruction, Operand};
use crate::program::{Convert, Op, Operands, Rounding, SlotKind};
use crate::types::Type;

impl<'s> Lowering<'_, 's> {
    pub(super) fn convert(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let mut modifiers = Modifiers::new(instruction);
        let integral = modifiers.integral_rounding();
        let rounding = modifiers.rounding();
        let flush = modifiers.take("ftz");
        let saturate = modifiers.take("sat");
        let to = modifiers.element()?;
        let from = modifiers.element()?;
        modifiers.finish()?;
        if to == Type::Pred || from == Type::Pred {
            return Err(unsupported_form(instruction));
        }
        let default = if from.is_float() && !to.is_float() {
            Rounding::Zero
        } else {
            Rounding::Nearest
        };
        let convert = Convert {
            from,
            to,
            rounding: integral.or(rounding).unwrap_or(default),
            integral: integral.is_some(),
            flush,
            saturate,
        };
        expect_operands(instruction, &[2])?;
        let dst = self.conversion_destination(&instruction.operands[0], to)?;
        let src = self.conversion_source(&instruction.operands[1], from)?;
        let mut operands = Operands::default();
        operands.push(src);
        self.emit(Op::Convert(convert), [dst].into_iter().collect(), operands);
        Ok(())
    }

    /// Registers may be wider than the converted type: the result is then extended.
    fn conversion_destination(
        &mut self,
        operand: &Operand<'s>,
        element: Type,
    ) -> Lowered<crate::program::Slot> {
        if let Operand::Name(name, None) = operand
            && let Some(slot) = self.slots.register(name.text)
            && slot.kind == SlotKind::Double
        {
            return Ok(slot);
        }
        self.destination_slot(operand, slot_kind(element))
    }

    fn conversion_source(
        &mut self,
        operand: &Operand<'s>,
        element: Type,
    ) -> Lowered<crate::program::Slot> {
        if let Operand::Name(name, None) = operand
            && let Some(slot) = self.slots.register(name.text)
            && slot.kind == SlotKind::Double
        {
            return Ok(slot);
        }
        self.source(operand, element)
    }
}

//! `cvt` (PTX ISA 8.x, section 9.7.9.21).

use super::arithmetic::unsupported_form;
use super::function::{Lowered, Lowering};
use super::modifiers::Modifiers;
use super::operands::expect_operands;
use crate::ast::Instruction;
use crate::program::{Convert, Op, Rounding};
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
        let dst = self.data_slot(&instruction.operands[0], to, false)?;
        let src = self.data_slot(&instruction.operands[1], from, true)?;
        self.emit(Op::Convert(convert), dst.into(), src.into());
        Ok(())
    }
}

//! Extended-precision integer arithmetic (PTX ISA 8.x, section 9.7.2).

use super::arithmetic::unsupported_form;
use super::function::{Lowered, Lowering};
use super::modifiers::Modifiers;
use super::operands::expect_operands;
use crate::ast::Instruction;
use crate::program::{Carry, CarryOp, Op, Operands, Slot, SlotKind};

impl<'s> Lowering<'_, 's> {
    /// `add.cc`, `addc[.cc]` and their kin.
    pub(super) fn with_carry(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let mut modifiers = Modifiers::new(instruction);
        let high = modifiers.take("hi");
        let low = modifiers.take("lo");
        let goes_out = modifiers.take("cc");
        let element = modifiers.element()?;
        modifiers.finish()?;
        let (op, comes_in) = match instruction.opcode.text {
            "add" => (CarryOp::Add, false),
            "addc" => (CarryOp::Add, true),
            "sub" => (CarryOp::Sub, false),
            "subc" => (CarryOp::Sub, true),
            opcode if low != high => {
                let op = if high {
                    CarryOp::MadHigh
                } else {
                    CarryOp::MadLow
                };
                (op, opcode == "madc")
            }
            _ => return Err(unsupported_form(instruction)),
        };
        if element.is_float() || element.bytes() < 4 {
            return Err(unsupported_form(instruction));
        }
        let sources = match op {
            CarryOp::Add | CarryOp::Sub => 2,
            CarryOp::MadLow | CarryOp::MadHigh => 3,
        };
        expect_operands(instruction, &[1 + sources])?;
        let mut dst = Operands::default();
        dst.push(self.destination(&instruction.operands[0], element)?);
        let mut src = Operands::default();
        for operand in &instruction.operands[1..] {
            src.push(self.source(operand, element)?);
        }
        if comes_in {
            src.push(self.carry());
        }
        if goes_out {
            dst.push(self.carry());
        }
        let carry = Carry {
            op,
            double: element.bytes() == 8,
            signed: element.is_signed(),
            comes_in,
            goes_out,
        };
        self.emit(Op::Carry(carry), dst, src);
        Ok(())
    }

    /// The condition-code register's carry flag, one bit a lane.
    fn carry(&mut self) -> Slot {
        *self
            .carry
            .get_or_insert_with(|| self.slots.fresh(SlotKind::Predicate))
    }
}

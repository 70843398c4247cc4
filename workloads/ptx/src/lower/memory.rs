//! Loads and stores (PTX ISA 8.x, section 9.7.9).

use super::arithmetic::unsupported_form;
use super::function::{Lowered, Lowering};
use super::modifiers::Modifiers;
use super::operands::expect_operands;
use crate::ast::{Instruction, Operand};
use crate::error::PtxError;
use crate::program::{Access, Op, Operands};
use crate::types::{Space, Type};

impl<'s> Lowering<'_, 's> {
    pub(super) fn memory(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let modifiers = Modifiers::new(instruction);
        match instruction.opcode.text {
            "ld" | "ldu" => self.load(instruction, modifiers),
            "st" => self.store(instruction, modifiers),
            "prefetch" | "prefetchu" => {
                self.emit(
                    Op::Nothing { fence: false },
                    Operands::default(),
                    Operands::default(),
                );
                Ok(())
            }
            _ => Err(unsupported_form(instruction)),
        }
    }

    fn access(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<Access> {
        let past_l1 = modifiers.take("cg");
        modifiers.skip_hints();
        let space = modifiers.space().unwrap_or(Space::Generic);
        let count = modifiers
            .find(|text| match text {
                "v2" => Some(2),
                "v4" => Some(4),
                _ => None,
            })
            .unwrap_or(1);
        let element = modifiers.element()?;
        modifiers.finish()?;
        if element == Type::Pred || u32::from(count) * element.bytes() > 16 {
            return Err(unsupported_form(instruction));
        }
        Ok(Access {
            count,
            past_l1,
            ..Access::of(space, element)
        })
    }

    pub(super) fn elements<'a>(
        &self,
        operand: &'a Operand<'s>,
        count: u8,
    ) -> Lowered<&'a [Operand<'s>]> {
        let elements = match operand {
            Operand::Vector(elements, _) => &elements[..],
            single => std::slice::from_ref(single),
        };
        if elements.len() == usize::from(count) {
            return Ok(elements);
        }
        Err(PtxError::new(
            operand.span(),
            format!(
                "{count} registers are needed here, found {}",
                elements.len()
            ),
        ))
    }

    fn load(&mut self, instruction: &Instruction<'s>, modifiers: Modifiers<'_, 's>) -> Lowered<()> {
        let mut access = self.access(instruction, modifiers)?;
        expect_operands(instruction, &[2, 3])?;
        let mut dst = Operands::default();
        for element in self.elements(&instruction.operands[0], access.count)? {
            dst.push(self.data_slot(element, access.element, false)?);
        }
        let base = self.address(&instruction.operands[1], &mut access)?;
        self.emit(Op::Load(access), dst, base.into());
        Ok(())
    }

    fn store(
        &mut self,
        instruction: &Instruction<'s>,
        modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let mut access = self.access(instruction, modifiers)?;
        expect_operands(instruction, &[2, 3])?;
        let base = self.address(&instruction.operands[0], &mut access)?;
        if matches!(access.space, Space::Const | Space::Param) && !access.framed {
            return Err(PtxError::new(
                instruction.span.clone(),
                format!("a kernel cannot store to {:?} memory", access.space),
            ));
        }
        let mut src = Operands::default();
        src.push(base);
        for element in self.elements(&instruction.operands[1], access.count)? {
            src.push(self.data_slot(element, access.element, true)?);
        }
        self.emit(Op::Store(access), Operands::default(), src);
        Ok(())
    }
}

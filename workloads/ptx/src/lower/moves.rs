//! Moves and address conversion (PTX ISA 8.x, section 9.7.9).

use super::arithmetic::unsupported_form;
use super::function::{Lowered, Lowering};
use super::modifiers::Modifiers;
use super::operands::expect_operands;
use crate::ast::{Instruction, Name, Operand};
use crate::error::PtxError;
use crate::program::{Long1, Long2, Op, Operands, PredicateOp, SlotKind, Word1, Word2};
use crate::types::{Space, Type};

/// Registers that count time: functional execution has none, so they read the warp's instruction count.
const CLOCKS: [&str; 5] = [
    "%clock",
    "%clock_hi",
    "%clock64",
    "%globaltimer",
    "%globaltimer_lo",
];

impl<'s> Lowering<'_, 's> {
    pub(super) fn moves(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let modifiers = Modifiers::new(instruction);
        match instruction.opcode.text {
            "mov" => self.mov(instruction, modifiers),
            "cvta" => self.convert_address(instruction, modifiers),
            _ => self.is_space(instruction, modifiers),
        }
    }

    fn mov(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let element = modifiers.element()?;
        modifiers.finish()?;
        expect_operands(instruction, &[2])?;
        if let [
            whole,
            place @ (Operand::Name(name, None) | Operand::Offset(name, ..)),
        ] = &instruction.operands[..]
            && let Some(start) = self.frame_offset(name)
        {
            let offset = match place {
                Operand::Offset(_, further, _) => start.wrapping_add_signed(*further),
                _ => start,
            };
            let dst = self.destination(whole, element)?;
            self.emit(Op::FrameAddress(offset), dst.into(), Operands::default());
            return Ok(());
        }
        match &instruction.operands[..] {
            [Operand::Vector(parts, _), whole] => self.unpack(instruction, element, parts, whole),
            [whole, Operand::Vector(parts, _)] => self.pack(instruction, element, parts, whole),
            [whole, Operand::Name(name, None)] if CLOCKS.contains(&name.text) => {
                let dst = self.destination(whole, element)?;
                self.emit(Op::Clock, dst.into(), Operands::default());
                Ok(())
            }
            [whole, Operand::Name(name, None)]
                if element == Type::Pred && name.text == "%is_explicit_cluster" =>
            {
                self.explicit_cluster(whole)
            }
            [whole, Operand::Integer(value, _)] if element == Type::Pred => {
                let op = PredicateOp::Literal(*value != 0);
                self.emit_predicate(op, std::slice::from_ref(whole))
            }
            operands if element == Type::Pred => self.emit_predicate(PredicateOp::Copy, operands),
            _ => {
                let op = match element.bytes() {
                    8 => Op::Long1(Long1::Copy),
                    _ => Op::Word1(Word1::Copy),
                };
                self.emit_typed(instruction, op, element, &[element])
            }
        }
    }

    /// The offset of a variable in a device function's frame, if `name` is one.
    fn frame_offset(&mut self, name: &Name<'s>) -> Option<u64> {
        let hidden = self.slots.register(name.text).is_some();
        let symbol = self
            .symbol(name.text)
            .filter(|_| self.body.is_function && !hidden)?;
        symbol.framed.then_some(symbol.address)
    }

    /// What packs and unpacks, and the type of a part.
    fn parts(
        instruction: &Instruction<'s>,
        element: Type,
        parts: usize,
    ) -> Lowered<([Op; 2], Type)> {
        let several = |bits| [Op::PackParts { bits }, Op::UnpackParts { bits }];
        match (element.bytes(), parts) {
            (8, 2) => Ok(([Op::Pack, Op::Unpack], Type::B32)),
            (4, 2) => Ok(([Op::ShortPack, Op::ShortUnpack], Type::B16)),
            (8, 4) => Ok((several(16), Type::B16)),
            (4, 4) => Ok((several(8), Type::B8)),
            (2, 2) => Ok((several(8), Type::B8)),
            _ => Err(unsupported_form(instruction)
                .with_help("`mov` packs two or four parts into 64, 32 or 16 bits")),
        }
    }

    fn pack(
        &mut self,
        instruction: &Instruction<'s>,
        element: Type,
        parts: &[Operand<'s>],
        whole: &Operand<'s>,
    ) -> Lowered<()> {
        let ([op, _], half) = Self::parts(instruction, element, parts.len())?;
        let dst = self.destination(whole, element)?;
        let mut src = Operands::default();
        for part in parts {
            src.push(self.source(part, half)?);
        }
        self.emit(op, dst.into(), src);
        Ok(())
    }

    fn unpack(
        &mut self,
        instruction: &Instruction<'s>,
        element: Type,
        parts: &[Operand<'s>],
        whole: &Operand<'s>,
    ) -> Lowered<()> {
        let ([_, op], half) = Self::parts(instruction, element, parts.len())?;
        let mut src = Operands::default();
        src.push(self.source(whole, element)?);
        let mut dst = Operands::default();
        for part in parts {
            dst.push(self.destination(part, half)?);
        }
        self.emit(op, dst, src);
        Ok(())
    }

    /// `cvta.shared.u64` adds the window's base, `cvta.to.shared.u64` takes it off.
    fn convert_address(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let to = modifiers.take("to");
        let space = modifiers
            .space()
            .ok_or_else(|| unsupported_form(instruction))?;
        let element = modifiers.element()?;
        modifiers.finish()?;
        expect_operands(instruction, &[2])?;
        let dst = self.destination(&instruction.operands[0], element)?;
        let value = self.source(&instruction.operands[1], element)?;
        let base = space.window_base();
        let mut src = Operands::default();
        src.push(value);
        let op = match (base, element.bytes()) {
            (0, 8) => Op::Long1(Long1::Copy),
            (0, 4) => Op::Word1(Word1::Copy),
            (_, 8) => {
                src.push(self.slots.double_literal(base));
                Op::Long2(if to { Long2::Sub } else { Long2::Add })
            }
            (_, 4) => {
                src.push(self.slots.word_literal(base as u32));
                Op::Word2(if to { Word2::Sub } else { Word2::Add })
            }
            _ => return Err(unsupported_form(instruction)),
        };
        self.emit(op, dst.into(), src);
        Ok(())
    }

    fn is_space(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let space = modifiers.space().filter(|&space| space != Space::Generic);
        modifiers.finish()?;
        let space = space.ok_or_else(|| unsupported_form(instruction))?;
        expect_operands(instruction, &[2])?;
        let dst = self.destination(&instruction.operands[0], Type::Pred)?;
        let mut src = Operands::default();
        src.push(self.data_slot(&instruction.operands[1], Type::B32, true)?);
        if src[0].kind == SlotKind::Predicate {
            return Err(PtxError::new(
                instruction.span.clone(),
                "an address is needed here",
            ));
        }
        self.emit(Op::IsSpace(space), dst.into(), src);
        Ok(())
    }
}

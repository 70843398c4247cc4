//! SIMD video instructions (PTX ISA 8.x, section 9.7.18).

use super::arithmetic::unsupported_form;
use super::compare::{compare_named, comparison_of};
use super::function::{Lowered, Lowering};
use super::modifiers::Modifiers;
use crate::ast::Instruction;
use crate::program::{Op, Video, VideoOp};
use crate::types::Type;

/// Whether the opcode is one of `vadd2` to `vset4`.
pub(super) fn concerns(opcode: &str) -> bool {
    elements(opcode).is_some_and(|(name, _)| {
        matches!(
            name,
            "vadd" | "vsub" | "vabsdiff" | "vavrg" | "vmin" | "vmax" | "vset"
        )
    })
}

fn elements(opcode: &str) -> Option<(&str, u8)> {
    let (name, count) = opcode.split_at_checked(opcode.len().checked_sub(1)?)?;
    match count {
        "2" => Some((name, 2)),
        "4" => Some((name, 4)),
        _ => None,
    }
}

/// The operation of `add.u16x2` and its kin, which are video instructions by another name, and whether its elements are signed.
pub(super) fn pair_operation(instruction: &Instruction<'_>) -> Option<(VideoOp, bool)> {
    let [element] = &instruction.modifiers[..] else {
        return None;
    };
    let signed = match element.text {
        "s16x2" => true,
        "u16x2" => false,
        _ => return None,
    };
    match instruction.opcode.text {
        "add" => Some((VideoOp::Add, signed)),
        "min" => Some((VideoOp::Min, signed)),
        "max" => Some((VideoOp::Max, signed)),
        _ => None,
    }
}

impl<'s> Lowering<'_, 's> {
    /// `add.u16x2 d, a, b`.
    pub(super) fn pair(
        &mut self,
        instruction: &Instruction<'s>,
        (op, signed): (VideoOp, bool),
    ) -> Lowered<()> {
        let video = Video {
            op,
            elements: 2,
            signed: [signed; 2],
            result_signed: signed,
            saturate: false,
            accumulate: false,
        };
        self.emit_typed(instruction, Op::Video(video), Type::B32, &[Type::B32; 2])
    }

    /// `vadd4.u32.u32.u32{.sat}{.add} d, a, b, c` and its kin, on whole operands without selectors or masks.
    pub(super) fn video(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let mut modifiers = Modifiers::new(instruction);
        let (name, elements) = elements(instruction.opcode.text).unwrap_or_default();
        let compared = modifiers.find(compare_named);
        let op = match name {
            "vadd" => Some(VideoOp::Add),
            "vsub" => Some(VideoOp::Sub),
            "vabsdiff" => Some(VideoOp::AbsDiff),
            "vavrg" => Some(VideoOp::Average),
            "vmin" => Some(VideoOp::Min),
            "vmax" => Some(VideoOp::Max),
            _ => compared
                .and_then(|text| comparison_of(text, Type::U32))
                .map(VideoOp::Set),
        };
        let saturate = modifiers.take("sat");
        let accumulate = modifiers.take("add");
        let is_set = matches!(op, Some(VideoOp::Set(_)));
        // `vset` names no type of its result.
        let result = if is_set {
            Type::U32
        } else {
            modifiers.element()?
        };
        let types = [result, modifiers.element()?, modifiers.element()?];
        modifiers.finish()?;
        let integers = types.map(|element| matches!(element, Type::U32 | Type::S32));
        match op {
            Some(op) if integers == [true; 3] && compared.is_some() == is_set => {
                let op = Op::Video(Video {
                    op,
                    elements,
                    signed: [types[1].is_signed(), types[2].is_signed()],
                    result_signed: result.is_signed(),
                    saturate,
                    accumulate,
                });
                self.emit_typed(instruction, op, Type::B32, &[Type::B32; 3])
            }
            _ => Err(unsupported_form(instruction)),
        }
    }
}

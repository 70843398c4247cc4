//! Half precision, `f16` and `bf16`, alone and in pairs (PTX ISA 8.x, sections 9.7.4, 9.7.7 and 9.7.9.21).

use super::arithmetic::unsupported_form;
use super::compare::{bool_named, compare_named, comparison_of, one_of};
use super::function::{Lowered, Lowering};
use super::modifiers::Modifiers;
use super::operands::expect_operands;
use crate::ast::{Instruction, Operand};
use crate::program::{
    Convert, Half, HalfCompare, HalfFormat, HalfOp, Narrow, Op, Operands, Rounding, Word2,
};
use crate::types::Type;

/// Whether the instruction computes on halves. Conversions between a single `f16` and other types have a family of their own.
pub(super) fn concerns(instruction: &Instruction<'_>) -> bool {
    let convert = instruction.opcode.text == "cvt";
    let names = instruction.modifiers.iter().map(|name| name.text);
    // What only the conversions from singles have.
    let narrows = names
        .clone()
        .any(|text| matches!(text, "relu" | "satfinite"));
    let of_single = names.clone().any(|text| text == "f32");
    let is_half = |text: &str| match format_named(text) {
        Some((HalfFormat::Tf32, _)) => convert,
        Some((HalfFormat::F16, false)) => !convert || narrows,
        Some((HalfFormat::Bf16, false)) => !convert || of_single,
        found => found.is_some(),
    };
    names.into_iter().any(is_half)
}

pub(super) fn format_named(text: &str) -> Option<(HalfFormat, bool)> {
    Some(match text {
        "f16" => (HalfFormat::F16, false),
        "f16x2" => (HalfFormat::F16, true),
        "bf16" => (HalfFormat::Bf16, false),
        "bf16x2" => (HalfFormat::Bf16, true),
        "tf32" => (HalfFormat::Tf32, false),
        _ => return None,
    })
}

impl<'s> Lowering<'_, 's> {
    pub(super) fn half(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let modifiers = Modifiers::new(instruction);
        match instruction.opcode.text {
            "setp" => self.compare_halves(instruction, modifiers),
            "set" => self.set_halves(instruction, modifiers),
            "cvt" => self.convert_halves(instruction, modifiers),
            _ => self.half_arithmetic(instruction, modifiers),
        }
    }

    fn half_arithmetic(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let nan = modifiers.take("NaN");
        let (op, sources) = match instruction.opcode.text {
            "neg" => (HalfOp::Neg, 1),
            "abs" => (HalfOp::Abs, 1),
            "ex2" => (HalfOp::Ex2Approx, 1),
            "tanh" => (HalfOp::TanhApprox, 1),
            "add" => (HalfOp::Add, 2),
            "sub" => (HalfOp::Sub, 2),
            "mul" => (HalfOp::Mul, 2),
            "min" => (HalfOp::Min { nan }, 2),
            "max" => (HalfOp::Max { nan }, 2),
            opcode => {
                let oob = opcode == "fma" && modifiers.take("oob");
                (HalfOp::Fma { oob }, 3)
            }
        };
        let approximate = modifiers.take("approx");
        modifiers.take("rn");
        let half = Half {
            op,
            flush: modifiers.take("ftz"),
            saturate: modifiers.take("sat"),
            relu: modifiers.take("relu"),
            format: HalfFormat::F16,
            packed: false,
        };
        let format = modifiers.find(format_named);
        modifiers.finish()?;
        let needs_approx = matches!(op, HalfOp::Ex2Approx | HalfOp::TanhApprox);
        let misplaced = nan && !matches!(op, HalfOp::Min { .. } | HalfOp::Max { .. });
        match format {
            Some((format, packed)) if approximate == needs_approx && !misplaced => {
                let op = Op::Half(Half {
                    format,
                    packed,
                    ..half
                });
                self.emit_typed(instruction, op, Type::B32, &vec![Type::B32; sources])
            }
            _ => Err(unsupported_form(instruction)),
        }
    }

    /// `setp.lt.f16x2 p|q, a, b`: of a pair, `p` is about the lower elements.
    fn compare_halves(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let how = modifiers.find(compare_named);
        let bool_op = modifiers.find(bool_named);
        let flush = modifiers.take("ftz");
        let format = modifiers.find(format_named);
        modifiers.finish()?;
        let how = how.and_then(|text| comparison_of(text, Type::F32));
        let (Some(how), Some((format, packed))) = (how, format) else {
            return Err(unsupported_form(instruction));
        };
        expect_operands(instruction, &[if bool_op.is_some() { 4 } else { 3 }])?;
        let mut dst = Operands::default();
        match &instruction.operands[0] {
            Operand::Pair(low, high) if packed => {
                dst.push(self.destination(low, Type::Pred)?);
                dst.push(self.destination(high, Type::Pred)?);
            }
            single if !packed => dst.push(self.destination(single, Type::Pred)?),
            _ => return Err(unsupported_form(instruction)),
        }
        let mut src = Operands::default();
        for operand in &instruction.operands[1..3] {
            src.push(self.source(operand, Type::B32)?);
        }
        let combine = match (bool_op, instruction.operands.get(3)) {
            (Some(op), Some(operand)) => {
                let (slot, negated) = self.predicate(operand)?;
                src.push(slot);
                Some((op, negated))
            }
            _ => None,
        };
        let compare = HalfCompare {
            how,
            format,
            packed,
            flush,
            combine,
        };
        self.emit(Op::HalfCompare(compare), dst, src);
        Ok(())
    }

    /// `set.lt.f16x2.f16x2 d, a, b`, `set.lt.u32.bf16 d, a, b`; also of a half from a comparison of others.
    fn set_halves(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let is_format = |text: &str| format_named(text).is_some();
        let last = instruction.modifiers.last();
        if !last.is_some_and(|name| is_format(name.text)) {
            return self.selection(instruction);
        }
        let how = modifiers.find(compare_named);
        let bool_op = modifiers.find(bool_named);
        let flush = modifiers.take("ftz");
        let to = modifiers.element()?;
        let format = modifiers.find(format_named);
        modifiers.finish()?;
        let how = how.and_then(|text| comparison_of(text, Type::F32));
        let (Some(how), Some((format, packed)), Some(one)) = (how, format, one_of(to)) else {
            return Err(unsupported_form(instruction));
        };
        // The result of a pair is a pair, whatever its type.
        if packed && (to.bytes() != 4 || to == Type::F32) {
            return Err(unsupported_form(instruction));
        }
        expect_operands(instruction, &[if bool_op.is_some() { 4 } else { 3 }])?;
        let dst = self.destination(&instruction.operands[0], Type::B32)?;
        let mut src = Operands::default();
        for operand in &instruction.operands[1..3] {
            src.push(self.source(operand, Type::B32)?);
        }
        let mut combine = None;
        if let (Some(op), Some(operand)) = (bool_op, instruction.operands.get(3)) {
            let (slot, negated) = self.predicate(operand)?;
            src.push(slot);
            combine = Some((op, negated));
        }
        let compare = HalfCompare {
            how,
            format,
            packed,
            flush,
            combine,
        };
        self.emit(Op::HalfSet { compare, one }, dst.into(), src);
        Ok(())
    }

    /// `cvt.rn.f16x2.f32 d, a, b`, `cvt.rn.bf16.f32 d, a`, `cvt.rna.tf32.f32 d, a`, `cvt.f32.bf16 d, a`.
    fn convert_halves(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let away = modifiers.take("rna");
        let rounding = modifiers.rounding();
        let relu = modifiers.take("relu");
        let finite = modifiers.take("satfinite");
        let flush = modifiers.take("ftz");
        let single = modifiers.take("f32");
        let format = modifiers.find(format_named).filter(|_| single);
        modifiers.finish()?;
        let Some((format, packed)) = format else {
            return Err(unsupported_form(instruction));
        };
        let mut types = instruction.modifiers.iter().map(|name| name.text);
        let first_is_single =
            types.find(|text| *text == "f32" || format_named(text).is_some()) == Some("f32");
        if first_is_single {
            if flush && format == HalfFormat::Bf16 && !(away || relu || finite) {
                return self.widened_without_subnormals(instruction, rounding.is_some() || packed);
            }
            // The upper half of a single is a bf16.
            let plain = format == HalfFormat::Bf16 && !packed && rounding.is_none();
            if !plain || away || relu || finite || flush {
                return Err(unsupported_form(instruction));
            }
            expect_operands(instruction, &[2])?;
            let dst = self.destination(&instruction.operands[0], Type::F32)?;
            let mut src = Operands::default();
            src.push(self.source(&instruction.operands[1], Type::B32)?);
            src.push(self.slots.word_literal(16));
            self.emit(Op::Word2(Word2::Shl), dst.into(), src);
            return Ok(());
        }
        if rounding.is_some() == away || flush {
            return Err(unsupported_form(instruction));
        }
        let op = Op::Narrow(Narrow {
            format,
            packed,
            rounding,
            relu,
            finite,
        });
        let sources = if packed { 2 } else { 1 };
        self.emit_typed(instruction, op, Type::B32, &vec![Type::F32; sources])
    }
    /// `cvt.ftz.f32.bf16 d, a`.
    fn widened_without_subnormals(
        &mut self,
        instruction: &Instruction<'s>,
        misplaced: bool,
    ) -> Lowered<()> {
        if misplaced {
            return Err(unsupported_form(instruction));
        }
        let op = Op::Convert(Convert {
            from: Type::Bf16,
            to: Type::F32,
            rounding: Rounding::Nearest,
            integral: false,
            flush: true,
            saturate: false,
        });
        self.emit_typed(instruction, op, Type::F32, &[Type::B32])
    }
}

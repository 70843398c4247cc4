//! Comparison and selection (PTX ISA 8.x, section 9.7.6).

use super::arithmetic::unsupported_form;
use super::function::{Lowered, Lowering};
use super::modifiers::Modifiers;
use super::operands::expect_operands;
use crate::ast::{Instruction, Operand};
use crate::program::{BoolOp, Compare, Comparison, Op, Operands};
use crate::types::Type;

impl<'s> Lowering<'_, 's> {
    pub(super) fn selection(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let modifiers = Modifiers::new(instruction);
        match instruction.opcode.text {
            "setp" => self.set_predicate(instruction, modifiers),
            "set" => self.set(instruction, modifiers),
            "selp" => self.select(instruction, modifiers),
            _ => self.select_by_sign(instruction, modifiers),
        }
    }

    fn set_predicate(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let (mut compare, element) = comparison(instruction, &mut modifiers)?;
        modifiers.finish()?;
        expect_operands(
            instruction,
            &[if compare.combine.is_some() { 4 } else { 3 }],
        )?;
        let mut dst = Operands::default();
        match &instruction.operands[0] {
            Operand::Pair(first, second) => {
                dst.push(self.destination(first, Type::Pred)?);
                dst.push(self.destination(second, Type::Pred)?);
            }
            single => dst.push(self.destination(single, Type::Pred)?),
        }
        let src = self.compared(instruction, &mut compare, element)?;
        self.emit(Op::SetPredicate(compare), dst, src);
        Ok(())
    }

    fn compared(
        &mut self,
        instruction: &Instruction<'s>,
        compare: &mut Compare,
        element: Type,
    ) -> Lowered<Operands<8>> {
        let mut src = Operands::default();
        src.push(self.source(&instruction.operands[1], element)?);
        src.push(self.source(&instruction.operands[2], element)?);
        if let Some((_, negated)) = &mut compare.combine {
            let (slot, is_negated) = self.predicate(&instruction.operands[3])?;
            src.push(slot);
            *negated = is_negated;
        }
        Ok(src)
    }

    /// `set.lt.u32.f32 d, a, b`: the first type is the result's.
    fn set(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let how = modifiers.find(compare_named);
        let bool_op = modifiers.find(bool_named);
        let flush = modifiers.take("ftz");
        let to = modifiers.element()?;
        let element = modifiers.element()?;
        modifiers.finish()?;
        let how = how.and_then(|text| comparison_of(text, element));
        let (Some(how), Some(one)) = (how, one_of(to)) else {
            return Err(unsupported_form(instruction));
        };
        let mut compare = Compare {
            how,
            element,
            flush,
            combine: bool_op.map(|op| (op, false)),
        };
        expect_operands(instruction, &[if bool_op.is_some() { 4 } else { 3 }])?;
        let dst = self.destination(&instruction.operands[0], to)?;
        let src = self.compared(instruction, &mut compare, element)?;
        self.emit(Op::Set { compare, one }, dst.into(), src);
        Ok(())
    }

    fn select(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let element = modifiers.element()?;
        modifiers.finish()?;
        expect_operands(instruction, &[4])?;
        let dst = self.destination(&instruction.operands[0], element)?;
        let mut src = Operands::default();
        src.push(self.source(&instruction.operands[1], element)?);
        src.push(self.source(&instruction.operands[2], element)?);
        let (predicate, negated) = self.predicate(&instruction.operands[3])?;
        src.push(predicate);
        let op = match element.bytes() {
            8 => Op::SelectLong { negated },
            2 | 4 => Op::SelectWord { negated },
            _ => return Err(unsupported_form(instruction)),
        };
        self.emit(op, dst.into(), src);
        Ok(())
    }

    /// `slct.u32.s32 d, a, b, c`.
    fn select_by_sign(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let flush = modifiers.take("ftz");
        let element = modifiers.element()?;
        let sign = modifiers.element()?;
        modifiers.finish()?;
        if !matches!(sign, Type::S32 | Type::F32) {
            return Err(unsupported_form(instruction));
        }
        let op = Op::SelectBySign {
            double: element.bytes() == 8,
            float: sign == Type::F32,
            flush,
        };
        self.emit_typed(instruction, op, element, &[element, element, sign])
    }
}

fn comparison(
    instruction: &Instruction<'_>,
    modifiers: &mut Modifiers<'_, '_>,
) -> Lowered<(Compare, Type)> {
    let how = modifiers.find(compare_named);
    let bool_op = modifiers.find(bool_named);
    let flush = modifiers.take("ftz");
    let element = modifiers.element()?;
    let how = how.and_then(|text| comparison_of(text, element));
    let how = how.filter(|_| !element.is_half() && element != Type::Pred);
    let how = how.ok_or_else(|| unsupported_form(instruction))?;
    let compare = Compare {
        how,
        element,
        flush,
        combine: bool_op.map(|op| (op, false)),
    };
    Ok((compare, element))
}

/// What `set` writes where the comparison holds: 1.0 or all ones.
pub(super) fn one_of(to: Type) -> Option<u32> {
    Some(match to {
        Type::F32 => 0x3f80_0000,
        Type::F16 => 0x3c00,
        Type::F16x2 => 0x3c00_3c00,
        Type::Bf16 => 0x3f80,
        Type::Bf16x2 => 0x3f80_3f80,
        to if to.bytes() == 4 => u32::MAX,
        to if to.bytes() == 2 => 0xffff,
        _ => return None,
    })
}

pub(super) fn compare_named(text: &str) -> Option<&'static str> {
    const NAMES: [&str; 18] = [
        "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu",
        "gtu", "geu", "num", "nan",
    ];
    NAMES.into_iter().find(|name| *name == text)
}

pub(super) fn bool_named(text: &str) -> Option<BoolOp> {
    Some(match text {
        "and" => BoolOp::And,
        "or" => BoolOp::Or,
        "xor" => BoolOp::Xor,
        _ => return None,
    })
}

/// `lo`, `ls`, `hi`, `hs` are unsigned comparisons; the unordered ones exist on floats only.
pub(super) fn comparison_of(text: &str, element: Type) -> Option<Comparison> {
    let ordered = match text {
        "eq" => Comparison::Eq,
        "ne" => Comparison::Ne,
        "lt" | "lo" => Comparison::Lt,
        "le" | "ls" => Comparison::Le,
        "gt" | "hi" => Comparison::Gt,
        "ge" | "hs" => Comparison::Ge,
        _ if !element.is_float() => return None,
        "equ" => Comparison::Equ,
        "neu" => Comparison::Neu,
        "ltu" => Comparison::Ltu,
        "leu" => Comparison::Leu,
        "gtu" => Comparison::Gtu,
        "geu" => Comparison::Geu,
        "num" => Comparison::Num,
        "nan" => Comparison::Nan,
        _ => return None,
    };
    Some(ordered)
}

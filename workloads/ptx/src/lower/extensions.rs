//! Instructions that few kernels have.

use super::arithmetic::unsupported_form;
use super::function::{Lowered, Lowering};
use super::modifiers::Modifiers;
use super::operands::expect_operands;
use crate::ast::Instruction;
use crate::program::{
    Compare, Comparison, Convert, Long1, LongToWord, Op, Operands, Rounding, SmallFormat,
    WordFunction,
};
use crate::types::Type;

impl<'s> Lowering<'_, 's> {
    pub(super) fn extension(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let modifiers = Modifiers::new(instruction);
        match instruction.opcode.text {
            // Hints to caches, to the profiler, to the allocator of registers and to later grids.
            "applypriority" | "discard" | "pmevent" | "brkpt" | "setmaxnreg" | "griddepcontrol" => {
                self.nothing()
            }
            "nanosleep" => {
                self.emit(Op::Yield, Operands::default(), Operands::default());
                Ok(())
            }
            "createpolicy" => self.policy(instruction),
            "fns" => {
                let mut modifiers = modifiers;
                modifiers.element()?;
                modifiers.finish()?;
                let op = Op::WordFunction(WordFunction::FindNthSet);
                self.emit_typed(instruction, op, Type::B32, &[Type::B32; 3])
            }
            "szext" => self.extend(instruction, modifiers),
            "cnot" => self.logical_not(instruction, modifiers),
            _ => self.in_cluster(instruction, modifiers),
        }
    }

    /// A cache policy: a number that nobody reads.
    fn policy(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let Some(destination) = instruction.operands.first() else {
            return Err(unsupported_form(instruction));
        };
        let dst = self.destination(destination, Type::B64)?;
        let zero = self.slots.double_literal(0);
        self.emit(Op::Long1(Long1::Copy), dst.into(), zero.into());
        Ok(())
    }

    /// `szext.clamp.s32 d, a, b`.
    fn extend(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let clamp = modifiers.take("clamp");
        let wrap = modifiers.take("wrap");
        let element = modifiers.element()?;
        modifiers.finish()?;
        if clamp == wrap || element.bytes() != 4 {
            return Err(unsupported_form(instruction));
        }
        let signed = element.is_signed();
        let op = Op::WordFunction(WordFunction::Extend { signed, clamp });
        self.emit_typed(instruction, op, Type::B32, &[Type::B32; 2])
    }

    /// `cnot.b32 d, a`: one if a is zero, else zero.
    fn logical_not(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let element = modifiers.element()?;
        modifiers.finish()?;
        let element = match element {
            Type::B16 => Type::U16,
            Type::B32 => Type::U32,
            Type::B64 => Type::U64,
            _ => return Err(unsupported_form(instruction)),
        };
        expect_operands(instruction, &[2])?;
        let value = self.source(&instruction.operands[1], element)?;
        let zero = match element {
            Type::U64 => self.slots.double_literal(0),
            _ => self.slots.word_literal(0),
        };
        let compare = Compare {
            how: Comparison::Eq,
            element,
            flush: false,
            combine: None,
        };
        let src = [value, zero].into_iter().collect();
        let op = Op::Set { compare, one: 1 };
        let dst = self.destination(&instruction.operands[0], element)?;
        if element != Type::U64 {
            self.emit(op, dst.into(), src);
            return Ok(());
        }
        let word = self.slots.fresh(crate::program::SlotKind::Word);
        self.emit(op, word.into(), src);
        let widen = Convert {
            from: Type::U32,
            to: Type::U64,
            rounding: Rounding::Nearest,
            integral: false,
            flush: false,
            saturate: false,
        };
        self.emit(Op::Convert(widen), dst.into(), word.into());
        Ok(())
    }

    /// `mbarrier.pending_count.b64 d, state`.
    pub(super) fn pending_count(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let op = Op::LongToWord(LongToWord::PendingCount);
        self.emit_typed(instruction, op, Type::B32, &[Type::B64])
    }

    /// `cvt.pack.sat.u8.s32.b32 d, a, b, c`, `cvt.pack.sat.s16.s32 d, a, b`.
    pub(super) fn convert_packed(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let mut modifiers = Modifiers::new(instruction);
        modifiers.take("pack");
        let saturates = modifiers.take("sat");
        let to = modifiers.find(|text| {
            Some(match text {
                "u16" => (16u8, false),
                "s16" => (16, true),
                "u8" => (8, false),
                "s8" => (8, true),
                "u4" => (4, false),
                "s4" => (4, true),
                "u2" => (2, false),
                "s2" => (2, true),
                _ => return None,
            })
        });
        let from = modifiers.element()?;
        let third = modifiers.take("b32");
        modifiers.finish()?;
        let (Some((bits, signed)), Type::S32, true) = (to, from, saturates) else {
            return Err(unsupported_form(instruction));
        };
        if third != (bits < 16) {
            return Err(unsupported_form(instruction));
        }
        let op = Op::WordFunction(WordFunction::Pack { bits, signed });
        let sources = if third { 3 } else { 2 };
        self.emit_typed(instruction, op, Type::B32, &vec![Type::B32; sources])
    }

    /// `cvt.rn.satfinite.e4m3x2.f32 d, a, b`, `cvt.rn.satfinite.e5m2x2.f16x2 d, a`, `cvt.rn.f16x2.e4m3x2 d, a`.
    pub(super) fn convert_small(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let mut modifiers = Modifiers::new(instruction);
        let nearest = modifiers.take("rn");
        let finite = modifiers.take("satfinite");
        let relu = modifiers.take("relu");
        let encodes = instruction
            .modifiers
            .last()
            .is_some_and(|name| small_named(name.text).is_none());
        let format = modifiers.find(small_named);
        let element = modifiers.element()?;
        modifiers.finish()?;
        let (Some(format), true) = (format, nearest && finite == encodes) else {
            return Err(unsupported_form(instruction));
        };
        let (op, sources): (_, &[Type]) = match (encodes, element) {
            (true, Type::F32) => (
                WordFunction::EncodeSmall {
                    format,
                    relu,
                    of_pair: false,
                },
                &[Type::F32; 2],
            ),
            (true, Type::F16x2) => (
                WordFunction::EncodeSmall {
                    format,
                    relu,
                    of_pair: true,
                },
                &[Type::B32],
            ),
            (false, Type::F16x2) => (WordFunction::DecodeSmall { format, relu }, &[Type::B32]),
            _ => return Err(unsupported_form(instruction)),
        };
        self.emit_typed(instruction, Op::WordFunction(op), Type::B32, sources)
    }
}

pub(super) fn small_named(text: &str) -> Option<SmallFormat> {
    Some(match text {
        "e4m3x2" => SmallFormat::E4m3,
        "e5m2x2" => SmallFormat::E5m2,
        _ => return None,
    })
}

/// Whether a `cvt` reads or makes 8-bit floats.
pub(super) fn is_small(instruction: &Instruction<'_>) -> bool {
    let mut names = instruction.modifiers.iter();
    names.any(|name| small_named(name.text).is_some())
}

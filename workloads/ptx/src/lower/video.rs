//! Video instructions (PTX ISA 8.x, sections 9.7.17 and 9.7.18).

use super::arithmetic::unsupported_form;
use super::compare::{compare_named, comparison_of};
use super::function::{Lowered, Lowering};
use super::modifiers::Modifiers;
use super::operands::expect_operands;
use crate::ast::{Instruction, Name, Operand};
use crate::error::PtxError;
use crate::program::{Op, Operands, Part, ScalarVideo, Second, Video, VideoMad, VideoOp};
use crate::types::Type;

const NAMES: [&str; 7] = ["vadd", "vsub", "vabsdiff", "vavrg", "vmin", "vmax", "vset"];
const SCALARS: [&str; 9] = [
    "vadd", "vsub", "vabsdiff", "vmin", "vmax", "vset", "vshl", "vshr", "vmad",
];

/// Whether the opcode is one of `vadd` to `vmad`, `vadd2` to `vset4`.
pub(super) fn concerns(opcode: &str) -> bool {
    SCALARS.contains(&opcode) || elements(opcode).is_some_and(|(name, _)| NAMES.contains(&name))
}

fn elements(opcode: &str) -> Option<(&str, u8)> {
    let (name, count) = opcode.split_at_checked(opcode.len().checked_sub(1)?)?;
    match count {
        "2" => Some((name, 2)),
        "4" => Some((name, 4)),
        _ => None,
    }
}

/// The operation of `add.u16x2` and its kin, which are video instructions by another name.
pub(super) fn pair_operation(instruction: &Instruction<'_>) -> Option<Video> {
    let (element, before) = instruction.modifiers.split_last()?;
    let signed = match element.text {
        "s16x2" => true,
        "u16x2" => false,
        _ => return None,
    };
    let op = match instruction.opcode.text {
        "add" => VideoOp::Add,
        "min" => VideoOp::Min,
        "max" => VideoOp::Max,
        _ => return None,
    };
    let plain = Video::whole(op, 2, signed);
    match before {
        [] => Some(plain),
        [one] if one.text == "sat" && op == VideoOp::Add => Some(Video {
            saturate: true,
            ..plain
        }),
        // What is negative becomes zero: the range of an unsigned result.
        [one] if one.text == "relu" && op != VideoOp::Add && signed => Some(Video {
            saturate: true,
            result_signed: false,
            ..plain
        }),
        _ => None,
    }
}

/// Operations that scalar and SIMD instructions have.
fn common(name: &str, compared: Option<&str>) -> Option<VideoOp> {
    match name {
        "vadd" => Some(VideoOp::Add),
        "vsub" => Some(VideoOp::Sub),
        "vabsdiff" => Some(VideoOp::AbsDiff),
        "vmin" => Some(VideoOp::Min),
        "vmax" => Some(VideoOp::Max),
        _ => comparison_of(compared?, Type::U32).map(VideoOp::Set),
    }
}

/// Types of the result and of both operands, and whether all of them are words; `vset` names no type of its result.
fn types_of(modifiers: &mut Modifiers, is_set: bool) -> Result<([Type; 3], bool), PtxError> {
    let result = if is_set {
        Type::U32
    } else {
        modifiers.element()?
    };
    let types = [result, modifiers.element()?, modifiers.element()?];
    let words = types
        .iter()
        .all(|element| matches!(element, Type::U32 | Type::S32));
    Ok((types, words))
}

impl<'s> Lowering<'_, 's> {
    /// `add.u16x2 d, a, b`.
    pub(super) fn pair(&mut self, instruction: &Instruction<'s>, video: Video) -> Lowered<()> {
        self.emit_typed(instruction, Op::Video(video), Type::B32, &[Type::B32; 2])
    }

    pub(super) fn video(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        if SCALARS.contains(&instruction.opcode.text) {
            self.scalar_video(instruction)
        } else {
            self.simd_video(instruction)
        }
    }

    /// `vadd4.u32.u32.u32{.sat}{.add} d{.mask}, a{.select}, b{.select}, c` and its kin.
    fn simd_video(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let mut modifiers = Modifiers::new(instruction);
        let (name, elements) = elements(instruction.opcode.text).unwrap_or_default();
        let compared = modifiers.find(compare_named);
        let op = match name {
            "vavrg" => Some(VideoOp::Average),
            _ => common(name, compared),
        };
        let saturate = modifiers.take("sat");
        let accumulate = modifiers.take("add");
        let is_set = matches!(op, Some(VideoOp::Set(_)));
        let (types, words) = types_of(&mut modifiers, is_set)?;
        modifiers.finish()?;
        match op {
            Some(op) if words && compared.is_some() == is_set => {
                let video = Video {
                    signed: [types[1].is_signed(), types[2].is_signed()],
                    result_signed: types[0].is_signed(),
                    saturate,
                    accumulate,
                    ..Video::whole(op, elements, false)
                };
                self.simd_operands(instruction, video)
            }
            _ => Err(unsupported_form(instruction)),
        }
    }

    fn simd_operands(&mut self, instruction: &Instruction<'s>, mut video: Video) -> Lowered<()> {
        expect_operands(instruction, &[4])?;
        let (destination, mask) = selector(&instruction.operands[0]);
        if let Some(mask) = mask {
            let written = mask_named(mask.text, video.elements);
            video.written = written.ok_or_else(|| no_selector(&mask))?;
        }
        let dst = self.destination(&destination, Type::B32)?;
        let mut src = Operands::default();
        for (at, operand) in instruction.operands[1..].iter().enumerate() {
            let (operand, select) = selector(operand);
            if let Some(select) = select {
                let chosen = selection_named(select.text, video.elements).filter(|_| at < 2);
                video.selected[at.min(1)] = chosen.ok_or_else(|| no_selector(&select))?;
            }
            src.push(self.source(&operand, Type::B32)?);
        }
        self.emit(Op::Video(video), dst.into(), src);
        Ok(())
    }

    /// `vadd.u32.u32.u32{.sat}{.add} d{.part}, a{.part}, b{.part}{, c}` and its kin.
    fn scalar_video(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let mut modifiers = Modifiers::new(instruction);
        let name = instruction.opcode.text;
        let compared = modifiers.find(compare_named);
        let saturate = modifiers.take("sat");
        let wrap = modifiers.take("wrap");
        let clamp = modifiers.take("clamp");
        let mad = VideoMad {
            negative: [false; 3],
            plus_one: modifiers.take("po"),
            shift: modifiers
                .find(|text| match text {
                    "shr7" => Some(7),
                    "shr15" => Some(15),
                    _ => None,
                })
                .unwrap_or(0),
        };
        let second = modifiers.find(|text| {
            Some(match text {
                "add" => Second::Add,
                "min" => Second::Min,
                "max" => Second::Max,
                _ => return None,
            })
        });
        let op = match name {
            "vshl" => (wrap != clamp).then_some(VideoOp::ShiftLeft { wrap }),
            "vshr" => (wrap != clamp).then_some(VideoOp::ShiftRight { wrap }),
            "vmad" => Some(VideoOp::MultiplyAdd(mad)),
            _ => common(name, compared),
        };
        let is_set = matches!(op, Some(VideoOp::Set(_)));
        let (types, words) = types_of(&mut modifiers, is_set)?;
        modifiers.finish()?;
        let shifts = matches!(name, "vshl" | "vshr");
        let extra = mad != VideoMad::default() && name != "vmad";
        let misplaced = extra || (wrap || clamp) != shifts || compared.is_some() != is_set;
        let (Some(op), true, false) = (op, words, misplaced) else {
            return Err(unsupported_form(instruction));
        };
        let video = ScalarVideo {
            op,
            signed: [types[1].is_signed(), types[2].is_signed()],
            result_signed: types[0].is_signed(),
            parts: [Part::Whole; 2],
            saturate,
            second: second.unwrap_or(Second::None),
        };
        self.scalar_operands(instruction, video)
    }

    fn scalar_operands(
        &mut self,
        instruction: &Instruction<'s>,
        mut video: ScalarVideo,
    ) -> Lowered<()> {
        let (destination, part) = selector(
            instruction
                .operands
                .first()
                .ok_or_else(|| unsupported_form(instruction))?,
        );
        if let Some(name) = part {
            let part = part_named(name.text).filter(|_| video.second == Second::None);
            video.second = Second::Merge(part.ok_or_else(|| no_selector(&name))?);
        }
        let multiplies = matches!(video.op, VideoOp::MultiplyAdd(_));
        let third = multiplies || video.second != Second::None;
        expect_operands(instruction, &[if third { 4 } else { 3 }])?;
        let dst = self.destination(&destination, Type::B32)?;
        let mut src = Operands::default();
        for (at, operand) in instruction.operands[1..].iter().enumerate() {
            let operand = match (operand, &mut video.op) {
                (Operand::Negative(operand), VideoOp::MultiplyAdd(mad)) => {
                    mad.negative[at] = true;
                    &**operand
                }
                (operand, _) => operand,
            };
            let (operand, part) = selector(operand);
            if let Some(name) = part {
                let part = part_named(name.text).filter(|_| at < 2);
                video.parts[at.min(1)] = part.ok_or_else(|| no_selector(&name))?;
            }
            src.push(self.source(&operand, Type::B32)?);
        }
        self.emit(Op::ScalarVideo(video), dst.into(), src);
        Ok(())
    }
}

/// A register and the part of it that is named, if one is.
fn selector<'s>(operand: &Operand<'s>) -> (Operand<'s>, Option<Name<'s>>) {
    match operand {
        Operand::Name(name, Some(part)) if part.text.starts_with(['b', 'h']) => {
            (Operand::Name(name.clone(), None), Some(part.clone()))
        }
        other => (other.clone(), None),
    }
}

fn no_selector(name: &Name<'_>) -> PtxError {
    PtxError::new(
        name.span.clone(),
        format!("`.{}` chooses no part here", name.text),
    )
}

fn part_named(text: &str) -> Option<Part> {
    Some(match text {
        "b0" => Part::Byte(0),
        "b1" => Part::Byte(1),
        "b2" => Part::Byte(2),
        "b3" => Part::Byte(3),
        "h0" => Part::Half(0),
        "h1" => Part::Half(1),
        _ => return None,
    })
}

/// The digits behind `h` or `b`, from the lowest element on.
fn digits(text: &str, elements: u8) -> Option<Vec<u8>> {
    let prefix = if elements == 2 { 'h' } else { 'b' };
    let digits = text.strip_prefix(prefix)?;
    digits
        .bytes()
        .rev()
        .map(|digit| digit.checked_sub(b'0').filter(|&at| at < 2 * elements))
        .collect()
}

/// `b7531`: the elements that an operand is made of.
fn selection_named(text: &str, elements: u8) -> Option<[u8; 4]> {
    let digits = digits(text, elements).filter(|digits| digits.len() == usize::from(elements))?;
    let mut selected = [0; 4];
    selected[..digits.len()].copy_from_slice(&digits);
    Some(selected)
}

/// `b20`: the elements that are written.
fn mask_named(text: &str, elements: u8) -> Option<u8> {
    let digits = digits(text, elements)?;
    let ascending = digits.is_sorted_by(|low, high| low < high);
    let fits = !digits.is_empty() && digits.iter().all(|&at| at < elements);
    (ascending && fits).then(|| digits.iter().fold(0, |mask, at| mask | 1 << at))
}

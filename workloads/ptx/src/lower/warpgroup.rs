//! `wgmma` (PTX ISA 8.7, section 9.7.15).

use super::arithmetic::unsupported_form;
use super::function::{Lowered, Lowering};
use super::matrix::{element_named, selected, shape_named};
use super::modifiers::Modifiers;
use super::operands::expect_operands;
use crate::ast::{Instruction, Operand};
use crate::error::PtxError;
use crate::program::{
    Adds, GROUP_ROWS, GroupMultiplyAdd, GroupStep, Groups, HalfFormat, MatrixElement, MatrixOp, Op,
    Operands, Pending, Product,
};
use crate::types::Type;

impl<'s> Lowering<'_, 's> {
    pub(super) fn warpgroup(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let mut modifiers = Modifiers::new(instruction);
        let fence = modifiers.take("fence");
        let commit = modifiers.take("commit_group");
        let wait = modifiers.take("wait_group");
        let multiply = modifiers.take("mma_async");
        modifiers.take("sync");
        modifiers.take("aligned");
        if multiply {
            return self.group_multiply_add(instruction, modifiers);
        }
        modifiers.finish()?;
        if fence {
            return self.nothing();
        }
        let step = match (commit, wait) {
            (true, false) => GroupStep::Commit,
            (false, true) => GroupStep::Wait(count(instruction)?),
            _ => return Err(unsupported_form(instruction)),
        };
        self.groups(Pending::Products, step)
    }

    /// A group is committed or waited for.
    pub(super) fn groups(&mut self, of: Pending, step: GroupStep) -> Lowered<()> {
        let op = Op::Groups(Groups { of, step });
        self.emit(op, Operands::default(), Operands::default());
        Ok(())
    }

    /// `wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 d, a, b, p, 1, 1, 0, 1`: scales of A and B, and which of those in shared memory are transposed.
    fn group_multiply_add(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let sparse = modifiers.take("sp");
        let shape = modifiers.find(shape_named);
        let saturate = modifiers.take("satfinite");
        let elements = [(); 3].map(|()| modifiers.find(element_named));
        let of_bits = modifiers.take("and");
        let counts_bits = modifiers.take("popc");
        modifiers.finish()?;
        let ([Some(d), Some(a), Some(b)], Some(shape)) = (elements, shape) else {
            return Err(unsupported_form(instruction));
        };
        let bits = a == MatrixElement::B1;
        let stored = [shape[0], shape[1], shape[2] / if sparse { 2 } else { 1 }];
        if sparse && bits || !has(stored, [a, b, d]) || of_bits != bits || counts_bits != bits {
            return Err(unsupported_form(instruction));
        }
        let mut plain = instruction.clone();
        let metadata = match sparse && plain.operands.len() > 5 {
            true => plain.operands.drain(3..5).collect(),
            false => Vec::new(),
        };
        let instruction = &plain;
        let (Some(sums), Some(left)) = (instruction.operands.first(), instruction.operands.get(1))
        else {
            return Err(unsupported_form(instruction));
        };
        let in_registers = matches!(left, Operand::Vector(..));
        let [_, columns, depth] = shape;
        let mut how = GroupMultiplyAdd {
            columns,
            depth,
            elements: [a, b, d],
            sums: (usize::from(columns) * 16 / 32 / d.per_register()) as u8,
            left: if in_registers { 4 } else { 0 },
            transposed: [false; 2],
            negated: [false; 2],
            adds: Adds::Always(true),
            saturate,
            product: if bits { Product::And } else { Product::Times },
            sparse: None,
        };
        self.immediates(instruction, &mut how)?;
        let dst = self.fragment(sums, (usize::from(how.sums), d), false)?;
        let mut src: Operands<8> = Operands::default();
        src.push(self.source(&instruction.operands[2], Type::B64)?);
        let mut held = Vec::new();
        if in_registers {
            held = self.fragment(left, (4, a), true)?;
        } else {
            src.push(self.source(left, Type::B64)?);
        }
        if let [words, selector] = &metadata[..] {
            how.sparse = Some(selected(selector, stored[2], a)?);
            held.push(self.source(words, Type::B32)?);
        }
        how.adds = match &instruction.operands[3] {
            Operand::Integer(number, _) => Adds::Always(*number != 0),
            predicate => {
                let (predicate, negated) = self.predicate(predicate)?;
                src.push(predicate);
                Adds::If { negated }
            }
        };
        let mut fragments = dst[..how.sums_read()].to_vec();
        fragments.append(&mut held);
        self.emit_matrix(MatrixOp::GroupMultiplyAdd(how), dst, fragments, src);
        Ok(())
    }

    /// What follows the predicate: floats are scaled by 1 or -1; halves may be transposed.
    fn immediates(
        &mut self,
        instruction: &Instruction<'s>,
        how: &mut GroupMultiplyAdd,
    ) -> Lowered<()> {
        let scaled = how.elements[2] != MatrixElement::S32;
        let halves = how.elements[0].bits() == 16;
        let transposes = match (halves, how.left) {
            (false, _) => 0,
            (true, 0) => 2,
            (true, _) => 1,
        };
        let scales = if scaled { 2 } else { 0 };
        expect_operands(instruction, &[4 + scales + transposes])?;
        let (scale, transposed) = instruction.operands[4..].split_at(scales);
        for (place, operand) in scale.iter().enumerate() {
            how.negated[place] = match operand {
                Operand::Integer(1, _) => false,
                Operand::Integer(u64::MAX, _) => true,
                other => {
                    let message = "the scale is 1 or -1";
                    return Err(PtxError::new(other.span(), message));
                }
            };
        }
        for (operand, place) in transposed.iter().rev().zip([1, 0]) {
            how.transposed[place] = match operand {
                Operand::Integer(0, _) => false,
                Operand::Integer(1, _) => true,
                other => {
                    let message = "0 or 1 says whether it is transposed";
                    return Err(PtxError::new(other.span(), message));
                }
            };
        }
        Ok(())
    }
}

/// How many groups may stay pending.
pub(super) fn count(instruction: &Instruction<'_>) -> Lowered<u32> {
    match &instruction.operands[..] {
        [Operand::Integer(count, _)] => Ok(u32::try_from(*count).unwrap_or(u32::MAX)),
        _ => Err(unsupported_form(instruction).with_help("a number of groups is needed here")),
    }
}

/// Whether `wgmma` has such matrices A, B and D.
fn has([m, n, k]: [u16; 3], [a, b, d]: [MatrixElement; 3]) -> bool {
    use HalfFormat::{Bf16, F16, Tf32};
    use MatrixElement::{B1, F32, Half, S8, S32, Small, U8};
    let eights = n.is_multiple_of(8) && (8..=256).contains(&n);
    let integers = eights && (n <= 32 || n.is_multiple_of(16)) && (n >= 48 || n <= 32);
    let exists = match (a, b) {
        (Half(F16), Half(F16)) => k == 16 && eights && matches!(d, F32 | Half(F16)),
        (Half(Bf16), Half(Bf16)) => k == 16 && eights && d == F32,
        (Half(Tf32), Half(Tf32)) => k == 8 && eights && d == F32,
        (Small(_), Small(_)) => k == 32 && eights && matches!(d, F32 | Half(F16)),
        (S8 | U8, S8 | U8) => k == 32 && integers && d == S32,
        (B1, B1) => k == 256 && integers && d == S32,
        _ => false,
    };
    m == GROUP_ROWS && exists
}

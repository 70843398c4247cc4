//! `wmma`, `mma` and `ldmatrix` (PTX ISA 8.x, section 9.7.14).

use super::arithmetic::unsupported_form;
use super::function::{Lowered, Lowering};
use super::modifiers::Modifiers;
use super::operands::expect_operands;
use crate::ast::{Instruction, Operand};
use crate::error::PtxError;
use crate::program::{
    Access, HalfFormat, Matrix, MatrixElement, MatrixOp, MultiplyAdd, Op, Operands, Slot, Tile,
};
use crate::types::{Space, Type};

const F16: MatrixElement = MatrixElement::Half(HalfFormat::F16);
const BF16: MatrixElement = MatrixElement::Half(HalfFormat::Bf16);
const TF32: MatrixElement = MatrixElement::Half(HalfFormat::Tf32);

/// Which of the matrices of D = A B + C.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    A,
    B,
    Accumulator,
}

impl Part {
    /// Rows and columns in a shape m, n, k.
    fn size(self, [m, n, k]: [u8; 3]) -> [u8; 2] {
        match self {
            Part::A => [m, k],
            Part::B => [k, n],
            Part::Accumulator => [m, n],
        }
    }
}

impl<'s> Lowering<'_, 's> {
    pub(super) fn matrix(&mut self, instruction: &Instruction<'s>) -> Lowered<()> {
        let mut modifiers = Modifiers::new(instruction);
        let opcode = instruction.opcode.text;
        let of_wmma =
            |modifiers: &mut Modifiers<'_, '_>, name| opcode == "wmma" && modifiers.take(name);
        if of_wmma(&mut modifiers, "load") {
            return self.matrix_load(instruction, modifiers);
        }
        if of_wmma(&mut modifiers, "store") {
            return self.matrix_store(instruction, modifiers);
        }
        match opcode {
            "ldmatrix" => self.matrix_rows(instruction, modifiers),
            _ => self.multiply_add(instruction, modifiers),
        }
    }

    fn tile(
        &self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<(Tile, usize)> {
        let part = modifiers.find(|text| {
            Some(match text {
                "a" => Part::A,
                "b" => Part::B,
                "c" | "d" => Part::Accumulator,
                _ => return None,
            })
        });
        modifiers.take("sync");
        modifiers.take("aligned");
        let column_major = modifiers.take("col");
        modifiers.take("row");
        let shape = modifiers.find(shape_named);
        let space = modifiers.space().unwrap_or(Space::Generic);
        let element = modifiers.find(element_named);
        modifiers.finish()?;
        match (part, shape, element) {
            (Some(part), Some(shape), Some(element)) if wmma_has(shape, part, element) => {
                let tile = Tile {
                    size: part.size(shape),
                    element,
                    column_major,
                    space,
                    offset: 0,
                };
                Ok((tile, usize::from(registers(shape, part, element, true))))
            }
            _ => Err(unsupported_form(instruction)),
        }
    }

    /// The address and the stride; without one the matrix stands without gaps.
    fn placed(
        &mut self,
        address: &Operand<'s>,
        stride: Option<&Operand<'s>>,
        tile: &mut Tile,
    ) -> Lowered<Operands<8>> {
        let mut access = plain_access(tile.space);
        let mut src = Operands::default();
        src.push(self.address(address, &mut access)?);
        tile.offset = access.offset;
        src.push(match stride {
            Some(stride) => self.source(stride, Type::B32)?,
            None => {
                let length = tile.size[usize::from(!tile.column_major)];
                self.slots.word_literal(u32::from(length))
            }
        });
        Ok(src)
    }

    fn matrix_load(
        &mut self,
        instruction: &Instruction<'s>,
        modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let (mut tile, count) = self.tile(instruction, modifiers)?;
        expect_operands(instruction, &[2, 3])?;
        let [fragment, address, ..] = &instruction.operands[..] else {
            return Err(unsupported_form(instruction));
        };
        let dst = self.fragment(fragment, count, false)?;
        let src = self.placed(address, instruction.operands.get(2), &mut tile)?;
        self.emit_matrix(MatrixOp::Load(tile), dst, Vec::new(), src);
        Ok(())
    }

    fn matrix_store(
        &mut self,
        instruction: &Instruction<'s>,
        modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let (mut tile, count) = self.tile(instruction, modifiers)?;
        expect_operands(instruction, &[2, 3])?;
        let [address, fragment, ..] = &instruction.operands[..] else {
            return Err(unsupported_form(instruction));
        };
        let values = self.fragment(fragment, count, true)?;
        let src = self.placed(address, instruction.operands.get(2), &mut tile)?;
        self.emit_matrix(MatrixOp::Store(tile), Vec::new(), values, src);
        Ok(())
    }

    /// `ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {r0, r1, r2, r3}, [address]`.
    fn matrix_rows(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        modifiers.take("sync");
        modifiers.take("aligned");
        let whole = modifiers.take("m8n8");
        let count = modifiers.find(|text| {
            Some(match text {
                "x1" => 1u8,
                "x2" => 2,
                "x4" => 4,
                _ => return None,
            })
        });
        let transposed = modifiers.take("trans");
        let space = modifiers.space().unwrap_or(Space::Generic);
        let element = modifiers.element()?;
        modifiers.finish()?;
        let Some(count) = count.filter(|_| whole && element == Type::B16) else {
            return Err(unsupported_form(instruction));
        };
        expect_operands(instruction, &[2])?;
        let dst = self.fragment(&instruction.operands[0], usize::from(count), false)?;
        let mut access = plain_access(space);
        let base = self.address(&instruction.operands[1], &mut access)?;
        let offset = self.slots.word_literal(access.offset as u32);
        let op = MatrixOp::LoadRows {
            count,
            transposed,
            space,
        };
        let src = [base, offset].into_iter().collect();
        self.emit_matrix(op, dst, Vec::new(), src);
        Ok(())
    }

    /// `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32`, `wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32`.
    fn multiply_add(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let is_wmma = instruction.opcode.text == "wmma";
        if is_wmma && !modifiers.take("mma") {
            return Err(unsupported_form(instruction));
        }
        modifiers.take("sync");
        modifiers.take("aligned");
        let shape = modifiers.find(shape_named);
        // Fragments know their layout.
        while modifiers.take("row") || modifiers.take("col") {}
        let saturate = modifiers.take("satfinite");
        let mut elements = Vec::new();
        while let Some(element) = modifiers.find(element_named) {
            elements.push(element);
        }
        modifiers.finish()?;
        let how = shape.and_then(|shape| {
            let elements = match elements[..] {
                // Of halves only D and C are named.
                [d, c] if is_wmma => [F16, F16, c, d],
                [d, a, b, c] => [a, b, c, d],
                _ => return None,
            };
            let [a, b, c, d] = multiplies(shape, elements, is_wmma)?;
            let how = MultiplyAdd {
                shape,
                elements,
                registers: [a, b, c],
                fixed_layout: !is_wmma,
                saturate,
            };
            Some((how, d))
        });
        let Some((how, written)) = how else {
            return Err(unsupported_form(instruction));
        };
        expect_operands(instruction, &[4])?;
        let [d, sources @ ..] = &instruction.operands[..] else {
            return Err(unsupported_form(instruction));
        };
        let dst = self.fragment(d, usize::from(written), false)?;
        let mut src = Vec::new();
        for (operand, count) in sources.iter().zip(how.registers) {
            src.extend(self.fragment(operand, usize::from(count), true)?);
        }
        self.emit_matrix(MatrixOp::MultiplyAdd(how), dst, src, Operands::default());
        Ok(())
    }

    fn fragment(
        &mut self,
        operand: &Operand<'s>,
        count: usize,
        source: bool,
    ) -> Lowered<Vec<Slot>> {
        let registers = match operand {
            Operand::Vector(registers, _) => &registers[..],
            single => std::slice::from_ref(single),
        };
        if registers.len() != count {
            let message = format!(
                "{count} registers are needed here, found {}",
                registers.len()
            );
            return Err(PtxError::new(operand.span(), message));
        }
        let slot = |register| match source {
            true => self.source(register, Type::B32),
            false => self.destination(register, Type::B32),
        };
        registers.iter().map(slot).collect()
    }

    fn emit_matrix(&mut self, op: MatrixOp, dst: Vec<Slot>, src: Vec<Slot>, own: Operands<8>) {
        let matrix = Matrix { op, dst, src };
        self.emit(Op::Matrix(Box::new(matrix)), Operands::default(), own);
    }
}

fn plain_access(space: Space) -> Access {
    Access {
        space,
        element: Type::B16,
        count: 1,
        offset: 0,
        framed: false,
    }
}

/// `m16n8k16`.
fn shape_named(text: &str) -> Option<[u8; 3]> {
    let (m, rest) = text.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?])
}

fn element_named(text: &str) -> Option<MatrixElement> {
    Some(match text {
        "f16" => F16,
        "bf16" => BF16,
        "tf32" => TF32,
        "f32" => MatrixElement::F32,
        "s8" => MatrixElement::S8,
        "u8" => MatrixElement::U8,
        "s32" => MatrixElement::S32,
        _ => return None,
    })
}

/// Whether `wmma` has such a matrix.
fn wmma_has(shape: [u8; 3], part: Part, element: MatrixElement) -> bool {
    let accumulates = matches!(element, F16 | MatrixElement::F32 | MatrixElement::S32);
    let multiplies = !matches!(element, MatrixElement::F32 | MatrixElement::S32);
    let known = match shape {
        [16, 16, 16] | [32, 8, 16] | [8, 32, 16] => element != TF32,
        [16, 16, 8] => element == TF32 || accumulates && element != MatrixElement::S32,
        _ => false,
    };
    known
        && if part == Part::Accumulator {
            accumulates
        } else {
            multiplies
        }
}

/// Registers of a part in each lane. `wmma` keeps the halves of A and B twice.
fn registers(shape: [u8; 3], part: Part, element: MatrixElement, is_wmma: bool) -> u8 {
    if is_wmma && element == F16 && part != Part::Accumulator {
        return 8;
    }
    let [rows, columns] = part.size(shape).map(u32::from);
    (rows * columns * element.bits() / 32 / 32) as u8
}

/// Whether `mma` has such matrices.
fn mma_has([m, n, k]: [u8; 3], a: MatrixElement) -> bool {
    let depths: &[u8] = match a {
        F16 | BF16 => &[8, 16],
        TF32 => &[4, 8],
        MatrixElement::S8 | MatrixElement::U8 => &[16, 32],
        _ => &[],
    };
    (m, n) == (16, 8) && depths.contains(&k)
}

/// Registers of A, B, C and D, if there are such matrices.
fn multiplies(shape: [u8; 3], elements: [MatrixElement; 4], is_wmma: bool) -> Option<[u8; 4]> {
    let parts = [Part::A, Part::B, Part::Accumulator, Part::Accumulator];
    let [a, b, c, d] = elements;
    let is_byte = |element| matches!(element, MatrixElement::S8 | MatrixElement::U8);
    let agrees = match a {
        a if is_byte(a) => is_byte(b) && [c, d] == [MatrixElement::S32; 2],
        F16 => {
            b == a
                && [c, d]
                    .into_iter()
                    .all(|sum| matches!(sum, F16 | MatrixElement::F32))
        }
        _ => b == a && [c, d] == [MatrixElement::F32; 2],
    };
    let exists = if is_wmma {
        let mut pairs = parts.iter().zip(elements);
        pairs.all(|(&part, element)| wmma_has(shape, part, element))
    } else {
        mma_has(shape, a)
    };
    let counts = [0, 1, 2, 3].map(|at| registers(shape, parts[at], elements[at], is_wmma));
    (agrees && exists).then_some(counts)
}

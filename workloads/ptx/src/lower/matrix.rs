//! `wmma`, `mma`, `ldmatrix` and its kin (PTX ISA 8.x, section 9.7.14).

use super::arithmetic::unsupported_form;
use super::function::{Lowered, Lowering};
use super::modifiers::Modifiers;
use super::operands::expect_operands;
use crate::ast::{Instruction, Operand};
use crate::error::PtxError;
use crate::program::{
    Access, HalfFormat, Matrix, MatrixElement, MatrixOp, MultiplyAdd, Op, Operands, Product, Slot,
    SmallFormat, Sparse, Tile,
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
    fn size(self, [m, n, k]: [u16; 3]) -> [u16; 2] {
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
            "ldmatrix" | "stmatrix" => self.matrix_rows(instruction, modifiers),
            "movmatrix" => self.transpose(instruction, modifiers),
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
        let mut access = Access::of(tile.space, Type::B16);
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
        let dst = self.fragment(fragment, (count, tile.element), false)?;
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
        let values = self.fragment(fragment, (count, tile.element), true)?;
        let src = self.placed(address, instruction.operands.get(2), &mut tile)?;
        self.emit_matrix(MatrixOp::Store(tile), Vec::new(), values, src);
        Ok(())
    }

    /// `ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {r0, r1, r2, r3}, [address]`, `stmatrix` with its operands the other way round.
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
        let stores = instruction.opcode.text == "stmatrix";
        let registers = &instruction.operands[usize::from(stores)];
        let fragment = self.fragment(registers, (usize::from(count), F16), stores)?;
        let mut access = Access::of(space, Type::B16);
        let base = self.address(&instruction.operands[usize::from(!stores)], &mut access)?;
        let offset = self.slots.word_literal(access.offset as u32);
        let src = [base, offset].into_iter().collect();
        if stores {
            let op = MatrixOp::StoreRows {
                count,
                transposed,
                space,
            };
            self.emit_matrix(op, Vec::new(), fragment, src);
        } else {
            let op = MatrixOp::LoadRows {
                count,
                transposed,
                space,
            };
            self.emit_matrix(op, fragment, Vec::new(), src);
        }
        Ok(())
    }

    /// `movmatrix.sync.aligned.m8n8.trans.b16 d, a`.
    fn transpose(
        &mut self,
        instruction: &Instruction<'s>,
        mut modifiers: Modifiers<'_, 's>,
    ) -> Lowered<()> {
        let all = ["sync", "aligned", "m8n8", "trans", "b16"].map(|name| modifiers.take(name));
        modifiers.finish()?;
        if all != [true; 5] {
            return Err(unsupported_form(instruction));
        }
        expect_operands(instruction, &[2])?;
        let dst = self.fragment(&instruction.operands[0], (1, F16), false)?;
        let src = self.fragment(&instruction.operands[1], (1, F16), true)?;
        self.emit_matrix(MatrixOp::Transpose, dst, src, Operands::default());
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
        let sparse = !is_wmma && (modifiers.take("sp") || modifiers.take("sp::ordered_metadata"));
        modifiers.take("sync");
        modifiers.take("aligned");
        let shape = modifiers.find(shape_named);
        // Fragments know their layout.
        while modifiers.take("row") || modifiers.take("col") {}
        let saturate = modifiers.take("satfinite");
        modifiers.take("rn");
        let product = modifiers.find(|text| {
            Some(match text {
                "xor" => Product::Xor,
                "and" => Product::And,
                _ => return None,
            })
        });
        let counts_bits = modifiers.take("popc");
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
            let [a, b, c, d] = match sparse {
                true => multiplies_sparse(shape, elements)?,
                false => multiplies(shape, elements, is_wmma)?,
            };
            let how = MultiplyAdd {
                sparse: None,
                shape,
                elements,
                registers: [a, b, c],
                fixed_layout: !is_wmma,
                saturate,
                product: product.unwrap_or(Product::Times),
            };
            let of_bits = elements[0] == MatrixElement::B1;
            (of_bits == product.is_some() && of_bits == counts_bits).then_some((how, d))
        });
        let Some((mut how, written)) = how else {
            return Err(unsupported_form(instruction));
        };
        expect_operands(instruction, &[if sparse { 6 } else { 4 }])?;
        let [d, sources @ ..] = &instruction.operands[..] else {
            return Err(unsupported_form(instruction));
        };
        let metadata = match sparse {
            true => {
                how.sparse = Some(selected(&sources[4], how.shape[2] / 2, how.elements[0])?);
                Some(self.source(&sources[3], Type::B32)?)
            }
            false => None,
        };
        let dst = self.fragment(d, (usize::from(written), how.elements[3]), false)?;
        let mut src = Vec::new();
        let parts = how.registers.into_iter().zip(how.elements);
        for (operand, (count, element)) in sources.iter().zip(parts) {
            src.extend(self.fragment(operand, (usize::from(count), element), true)?);
        }
        src.extend(metadata);
        self.emit_matrix(MatrixOp::MultiplyAdd(how), dst, src, Operands::default());
        Ok(())
    }

    pub(super) fn fragment(
        &mut self,
        operand: &Operand<'s>,
        (count, element): (usize, MatrixElement),
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
        let kind = match element {
            MatrixElement::F64 => Type::F64,
            _ => Type::B32,
        };
        let slot = |register| match source {
            true => self.source(register, kind),
            false => self.destination(register, kind),
        };
        registers.iter().map(slot).collect()
    }

    pub(super) fn emit_matrix(
        &mut self,
        op: MatrixOp,
        dst: Vec<Slot>,
        src: Vec<Slot>,
        own: Operands<8>,
    ) {
        let matrix = Matrix { op, dst, src };
        self.emit(Op::Matrix(Box::new(matrix)), Operands::default(), own);
    }
}

/// `m16n8k16`.
pub(super) fn shape_named(text: &str) -> Option<[u16; 3]> {
    let (m, rest) = text.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?])
}

pub(super) fn element_named(text: &str) -> Option<MatrixElement> {
    Some(match text {
        "f16" => F16,
        "bf16" => BF16,
        "tf32" => TF32,
        "f32" => MatrixElement::F32,
        "f64" => MatrixElement::F64,
        "s8" => MatrixElement::S8,
        "u8" => MatrixElement::U8,
        "s4" => MatrixElement::S4,
        "u4" => MatrixElement::U4,
        "b1" => MatrixElement::B1,
        "e4m3" => MatrixElement::Small(SmallFormat::E4m3),
        "e5m2" => MatrixElement::Small(SmallFormat::E5m2),
        "s32" => MatrixElement::S32,
        _ => return None,
    })
}

/// Whether `wmma` has such a matrix.
fn wmma_has(shape: [u16; 3], part: Part, element: MatrixElement) -> bool {
    use MatrixElement::{B1, F32, F64, Half, S4, S8, S32, U4, U8};
    let sums = part == Part::Accumulator;
    match (shape, element) {
        ([16, 16, 16] | [32, 8, 16] | [8, 32, 16], F16) => true,
        ([16, 16, 16] | [32, 8, 16] | [8, 32, 16], F32 | S32) => sums,
        ([16, 16, 16] | [32, 8, 16] | [8, 32, 16], S8 | U8) => !sums,
        ([16, 16, 16] | [32, 8, 16] | [8, 32, 16], Half(format)) => {
            format == HalfFormat::Bf16 && !sums
        }
        ([16, 16, 8], F32) => sums,
        ([16, 16, 8], element) => element == TF32 && !sums,
        ([8, 8, 4], F64) => true,
        ([8, 8, 32], S4 | U4) | ([8, 8, 128], B1) => !sums,
        ([8, 8, 32] | [8, 8, 128], S32) => sums,
        _ => false,
    }
}

/// Registers of a part in each lane. `wmma` keeps the halves of A and B twice.
fn registers(shape: [u16; 3], part: Part, element: MatrixElement, is_wmma: bool) -> u8 {
    if is_wmma && element == F16 && part != Part::Accumulator {
        return 8;
    }
    let [rows, columns] = part.size(shape).map(usize::from);
    (rows * columns / element.per_register() / 32) as u8
}

/// Whether `mma` has such matrices.
fn mma_has([m, n, k]: [u16; 3], a: MatrixElement) -> bool {
    use MatrixElement::{B1, F64, S4, S8, Small, U4, U8};
    let (small, depths): (&[u16], &[u16]) = match a {
        F16 | BF16 => (&[], &[8, 16]),
        TF32 => (&[], &[4, 8]),
        S8 | U8 => (&[16], &[16, 32]),
        S4 | U4 => (&[32], &[32, 64]),
        B1 => (&[128], &[128, 256]),
        F64 => (&[4], &[4, 8, 16]),
        Small(_) => (&[], &[16, 32]),
        _ => (&[], &[]),
    };
    (m, n) == (16, 8) && depths.contains(&k) || (m, n) == (8, 8) && small.contains(&k)
}

/// As [`multiplies`], where half of A is stored.
fn multiplies_sparse([m, n, k]: [u16; 3], elements: [MatrixElement; 4]) -> Option<[u8; 4]> {
    use MatrixElement::{S4, S8, Small, U4, U8};
    let exists = match elements[0] {
        F16 | BF16 | TF32 | S8 | U8 | S4 | U4 => true,
        Small(_) => k == 64,
        _ => false,
    };
    if !exists || (m, n) != (16, 8) || !k.is_multiple_of(2) {
        return None;
    }
    let [a, _, c, d] = multiplies([m, n, k / 2], elements, false)?;
    let b = registers([m, n, k], Part::B, elements[1], false);
    Some([a, b, c, d])
}

/// The lanes of each four that hold the metadata: one for sixteen bits a row, a pair for twice as many, all for four times as many.
pub(super) fn selected(
    selector: &Operand<'_>,
    stored: u16,
    element: MatrixElement,
) -> Lowered<Sparse> {
    let of_one = match element.bits() {
        32 => 4,
        4 => 1,
        _ => 2,
    };
    let lanes = (stored * of_one / 16) as u8;
    let last = u64::from(4 / lanes) - 1;
    match selector {
        Operand::Integer(number, _) if *number <= last => Ok(Sparse {
            lane: *number as u8 * lanes,
            lanes,
        }),
        other => {
            let message = format!("the sparsity selector is a number from 0 to {last}");
            Err(PtxError::new(other.span(), message))
        }
    }
}

/// Registers of A, B, C and D, if there are such matrices.
fn multiplies(shape: [u16; 3], elements: [MatrixElement; 4], is_wmma: bool) -> Option<[u8; 4]> {
    use MatrixElement::{B1, F32, F64, S4, S8, S32, Small, U4, U8};
    let parts = [Part::A, Part::B, Part::Accumulator, Part::Accumulator];
    let [a, b, c, d] = elements;
    let of_halves = [c, d].into_iter().all(|sum| matches!(sum, F16 | F32));
    let agrees = match (a, b) {
        (S8 | U8, S8 | U8) | (S4 | U4, S4 | U4) | (B1, B1) => [c, d] == [S32; 2],
        (F16, F16) | (Small(_), Small(_)) => of_halves,
        (F64, F64) => [c, d] == [F64; 2],
        (BF16, BF16) | (TF32, TF32) => [c, d] == [F32; 2],
        _ => false,
    };
    let exists = if is_wmma {
        let mut pairs = parts.iter().zip(elements);
        pairs.all(|(&part, element)| wmma_has(shape, part, element))
    } else {
        mma_has(shape, a)
    };
    let counts = || [0, 1, 2, 3].map(|at| registers(shape, parts[at], elements[at], is_wmma));
    (agrees && exists).then(counts)
}

//! Matrix instructions of a warp. Each group of 32 lanes holds matrices of its own.

use warpwatt_ptx::program::{Inst, Matrix, MatrixElement, MatrixOp, MultiplyAdd, Slot, Tile};
use warpwatt_ptx::types::Space;

use super::Warp;
use super::access::{Footprint, each_lane};
use crate::memory::{BadAccess, Memories};
use crate::trace::LaneMask;

/// Lanes that hold a matrix together.
pub(super) const GROUP: usize = 32;

impl<const W: usize> Warp<W> {
    /// Performs the instruction; the address of each lane's first element, if it accesses memory.
    pub(super) fn matrix(
        &mut self,
        matrix: &Matrix,
        inst: &Inst,
        executed: LaneMask,
        memories: &mut Memories<'_>,
    ) -> Result<Option<[u64; W]>, BadAccess> {
        match &matrix.op {
            MatrixOp::Load(tile) => self.load_tile(tile, &matrix.dst, inst, executed, memories),
            MatrixOp::Store(tile) => self.store_tile(tile, &matrix.src, inst, executed, memories),
            MatrixOp::LoadRows {
                transposed, space, ..
            } => {
                let rows = Rows {
                    transposed: *transposed,
                    space: *space,
                };
                self.load_rows(rows, &matrix.dst, inst, executed, memories)
            }
            MatrixOp::StoreRows {
                transposed, space, ..
            } => {
                let rows = Rows {
                    transposed: *transposed,
                    space: *space,
                };
                self.store_rows(rows, &matrix.src, inst, executed, memories)
            }
            MatrixOp::Transpose => {
                self.transpose(matrix, executed);
                return Ok(None);
            }
            MatrixOp::GroupMultiplyAdd(how) => {
                self.group_multiply_add(how, matrix, inst, executed, memories)?;
                return Ok(None);
            }
            MatrixOp::TensorMultiplyAdd(how) => {
                self.tensor_multiply_add(how, matrix, inst, executed, memories)?;
                // Its record tells the work.
                Ok([0; W])
            }
            MatrixOp::TensorLoad(how) => {
                self.tensor_load(how, matrix, inst, executed, memories)?;
                return Ok(None);
            }
            MatrixOp::TensorStore(how) => {
                self.tensor_store(how, matrix, inst, executed, memories)?;
                return Ok(None);
            }
            MatrixOp::Tensor(how) => self.tensor_copy(how, matrix, inst, executed, memories),
            MatrixOp::MultiplyAdd(how) => {
                self.multiply_add(how, matrix, executed);
                return Ok(None);
            }
        }
        .map(Some)
    }

    /// Addresses of the bytes in which the `i`-th element that each lane holds begins, and its lowest bit there.
    fn element_addresses(
        &self,
        tile: &Tile,
        held: Held,
        i: usize,
        inst: &Inst,
    ) -> ([u64; W], [u32; W]) {
        let bases = self.registers.extended(inst.src[0]);
        let strides = self.registers.word(inst.src[1]);
        let mut shifts = [0; W];
        let addresses = std::array::from_fn(|lane| {
            let [row, column] = held.at(lane % GROUP, i);
            let (major, minor) = if tile.column_major {
                (column, row)
            } else {
                (row, column)
            };
            let index = u64::from(strides[lane])
                .wrapping_mul(major as u64)
                .wrapping_add(minor as u64);
            let bit = index.wrapping_mul(u64::from(tile.element.bits()));
            shifts[lane] = (bit % 8) as u32;
            bases[lane]
                .wrapping_add_signed(tile.offset)
                .wrapping_add(bit / 8)
        });
        (addresses, shifts)
    }

    fn load_tile(
        &mut self,
        tile: &Tile,
        dst: &[Slot],
        inst: &Inst,
        executed: LaneMask,
        memories: &mut Memories<'_>,
    ) -> Result<[u64; W], BadAccess> {
        let held = Held::of_wmma(tile.size, tile.element, dst.len());
        let (each, bits) = (tile.element.per_register(), tile.element.bits());
        let first = self.element_addresses(tile, held, 0, inst).0;
        // The base and the stride may be among the destinations.
        let mut loaded = vec![[0u64; W]; dst.len()];
        for (number, values) in loaded.iter_mut().enumerate() {
            for part in 0..each {
                let (addresses, shifts) =
                    self.element_addresses(tile, held, number * each + part, inst);
                let at = Footprint {
                    addresses: &addresses,
                    executed,
                    rule: None,
                };
                let place = part as u32 * bits;
                let mut put = |lane: usize, bytes: &[u8]| {
                    let value = number_of(bytes) >> shifts[lane];
                    values[lane] |= (value & (u64::MAX >> (64 - bits))) << place;
                };
                let space = tile.space;
                match bits {
                    16 => each_lane::<2, W>(space, &at, memories, |lane, b| put(lane, b))?,
                    32 => each_lane::<4, W>(space, &at, memories, |lane, b| put(lane, b))?,
                    64 => each_lane::<8, W>(space, &at, memories, |lane, b| put(lane, b))?,
                    _ => each_lane::<1, W>(space, &at, memories, |lane, b| put(lane, b))?,
                }
            }
        }
        for (&slot, values) in dst.iter().zip(&loaded) {
            self.registers.set_extended(slot, executed, values);
        }
        Ok(first)
    }

    fn store_tile(
        &mut self,
        tile: &Tile,
        src: &[Slot],
        inst: &Inst,
        executed: LaneMask,
        memories: &mut Memories<'_>,
    ) -> Result<[u64; W], BadAccess> {
        let held = Held::of_wmma(tile.size, tile.element, src.len());
        let each = tile.element.per_register();
        for (number, &slot) in src.iter().enumerate() {
            let values = self.registers.extended(slot);
            for part in 0..each {
                let (addresses, _) = self.element_addresses(tile, held, number * each + part, inst);
                let at = Footprint {
                    addresses: &addresses,
                    executed,
                    rule: None,
                };
                let value = |lane: usize| values[lane] >> (part as u32 * tile.element.bits());
                let space = tile.space;
                match tile.element.bits() {
                    16 => each_lane::<2, W>(space, &at, memories, |lane, bytes| {
                        *bytes = (value(lane) as u16).to_le_bytes();
                    })?,
                    64 => each_lane::<8, W>(space, &at, memories, |lane, bytes| {
                        *bytes = value(lane).to_le_bytes();
                    })?,
                    _ => each_lane::<4, W>(space, &at, memories, |lane, bytes| {
                        *bytes = (value(lane) as u32).to_le_bytes();
                    })?,
                }
            }
        }
        Ok(self.element_addresses(tile, held, 0, inst).0)
    }

    /// Addresses of the rows that the lanes give; lanes beyond the rows give addresses that nobody reads.
    fn row_addresses(&self, rows: usize, inst: &Inst) -> [u64; W] {
        let bases = self.registers.extended(inst.src[0]);
        let offset = self.registers.word(inst.src[1])[0] as i32;
        std::array::from_fn(|lane| {
            let reader = lane / GROUP * GROUP + lane % GROUP % rows;
            bases[reader].wrapping_add_signed(i64::from(offset))
        })
    }

    /// `ldmatrix`: lanes 8 j to 8 j + 7 give the rows of matrix j; a lane gets two neighbours of a row, or of a column if transposed.
    fn load_rows(
        &mut self,
        rows: Rows,
        dst: &[Slot],
        inst: &Inst,
        executed: LaneMask,
        memories: &mut Memories<'_>,
    ) -> Result<[u64; W], BadAccess> {
        let given = self.row_addresses(dst.len() * 8, inst);
        for (number, &slot) in dst.iter().enumerate() {
            let mut words = [0u32; W];
            rows.each_half(&given, number, executed, memories, |lane, shift, bytes| {
                words[lane] |= u32::from(u16::from_le_bytes(*bytes)) << shift;
            })?;
            self.registers.set_word(slot, executed, &words);
        }
        Ok(given)
    }

    /// `stmatrix`: the same way back.
    fn store_rows(
        &mut self,
        rows: Rows,
        src: &[Slot],
        inst: &Inst,
        executed: LaneMask,
        memories: &mut Memories<'_>,
    ) -> Result<[u64; W], BadAccess> {
        let given = self.row_addresses(src.len() * 8, inst);
        for (number, &slot) in src.iter().enumerate() {
            let words = *self.registers.word(slot);
            rows.each_half(&given, number, executed, memories, |lane, shift, bytes| {
                *bytes = ((words[lane] >> shift) as u16).to_le_bytes();
            })?;
        }
        Ok(given)
    }

    /// `movmatrix`: a lane holds two neighbours of a row before and after.
    fn transpose(&mut self, matrix: &Matrix, executed: LaneMask) {
        let words = *self.registers.word(matrix.src[0]);
        let value = std::array::from_fn(|lane| {
            let first = lane / GROUP * GROUP;
            let (row, member) = (lane % GROUP / 4, lane % 4);
            [0, 1].into_iter().fold(0, |word, part| {
                let column = member * 2 + part;
                // Its element (column, row) stands in the lane of row `column`.
                let holder = words[first + column * 4 + row / 2];
                word | (holder >> (16 * (row % 2)) & 0xffff) << (16 * part)
            })
        });
        self.registers.set_word(matrix.dst[0], executed, &value);
    }
}

/// Which element of a matrix a lane holds where.
#[derive(Clone, Copy)]
enum Held {
    /// Row by row over the lanes, `each` elements a lane; lanes beyond the matrix hold it again.
    InOrder {
        columns: usize,
        each: usize,
        all: usize,
    },
    /// As PTX says for the first matrix of `mma`: `per_word` neighbours a register.
    Left { per_word: usize },
    /// For the second.
    Right { per_word: usize },
    /// For the third and the result.
    Sum,
}

impl Held {
    fn of_wmma(size: [u16; 2], element: MatrixElement, registers: usize) -> Self {
        let [rows, columns] = size.map(usize::from);
        Held::InOrder {
            columns,
            each: registers * element.per_register(),
            all: rows * columns,
        }
    }

    /// Row and column of a lane's `i`-th element.
    fn at(self, lane: usize, i: usize) -> [usize; 2] {
        let (group, member) = (lane / 4, lane % 4);
        match self {
            Held::InOrder { columns, each, all } => {
                let index = (lane * each + i) % all;
                [index / columns, index % columns]
            }
            Held::Left { per_word } => {
                let (register, part) = (i / per_word, i % per_word);
                let column = (member + register / 2 * 4) * per_word + part;
                [group + register % 2 * 8, column]
            }
            Held::Right { per_word } => {
                let (register, part) = (i / per_word, i % per_word);
                [(member + register * 4) * per_word + part, group]
            }
            Held::Sum => [group + i / 2 * 8, member * 2 + i % 2],
        }
    }
}

/// What [`MultiplyAdd`] says of its matrices, in the order A, B, C, D.
pub(super) trait Parts {
    fn size_of(&self, part: usize) -> [usize; 2];
    /// Every lane, the number of each element that it holds, and where in the matrix that is.
    fn places(
        &self,
        part: usize,
        registers: usize,
    ) -> impl Iterator<Item = (usize, usize, [usize; 2])>;
}

impl Parts for MultiplyAdd {
    fn size_of(&self, part: usize) -> [usize; 2] {
        let [m, n, k] = self.shape.map(usize::from);
        let stored = if self.sparse.is_some() { k / 2 } else { k };
        [[m, stored], [k, n], [m, n], [m, n]][part]
    }

    fn places(
        &self,
        part: usize,
        registers: usize,
    ) -> impl Iterator<Item = (usize, usize, [usize; 2])> {
        let per_word = self.elements[part].per_register();
        let held = match part {
            _ if !self.fixed_layout => {
                let size = self.size_of(part).map(|extent| extent as u16);
                Held::of_wmma(size, self.elements[part], registers)
            }
            0 => Held::Left { per_word },
            1 => Held::Right { per_word },
            _ => Held::Sum,
        };
        let each = registers * per_word;
        (0..GROUP * each).map(move |i| (i / each, i % each, held.at(i / each, i % each)))
    }
}

/// How `ldmatrix` and `stmatrix` find the elements of their matrices.
#[derive(Clone, Copy)]
struct Rows {
    transposed: bool,
    space: Space,
}

impl Rows {
    /// The two elements of matrix `number` that a lane has, each with its place in the lane's register.
    fn each_half<const W: usize>(
        self,
        given: &[u64; W],
        number: usize,
        executed: LaneMask,
        memories: &mut Memories<'_>,
        mut each: impl FnMut(usize, u32, &mut [u8; 2]),
    ) -> Result<(), BadAccess> {
        for part in 0..2 {
            let at = Footprint {
                addresses: &row_elements(given, number, part, self.transposed),
                executed,
                rule: None,
            };
            let shift = 16 * part as u32;
            each_lane::<2, W>(self.space, &at, memories, |lane, bytes| {
                each(lane, shift, bytes);
            })?;
        }
        Ok(())
    }
}

/// Addresses of the `part`-th of the two elements that each lane holds of matrix `number`.
fn row_elements<const W: usize>(
    given: &[u64; W],
    number: usize,
    part: usize,
    transposed: bool,
) -> [u64; W] {
    std::array::from_fn(|lane| {
        let (outer, inner) = (lane % GROUP / 4, lane % 4 * 2 + part);
        let (row, column) = if transposed {
            (inner, outer)
        } else {
            (outer, inner)
        };
        given[lane / GROUP * GROUP + number * 8 + row].wrapping_add(2 * column as u64)
    })
}

fn number_of(bytes: &[u8]) -> u64 {
    let all = bytes.iter().rev();
    all.fold(0, |number, byte| number << 8 | u64::from(*byte))
}

//! Matrix instructions of a warp. Each group of 32 lanes holds matrices of its own.

use warpwatt_ptx::program::{
    HalfFormat, Inst, Matrix, MatrixElement, MatrixOp, MultiplyAdd, Slot, Tile,
};
use warpwatt_ptx::types::Space;

use super::Warp;
use super::access::{Footprint, each_lane};
use crate::lanes::{decode_half, encode_half};
use crate::memory::{BadAccess, Memories};
use crate::trace::LaneMask;

/// Lanes that hold a matrix together.
const GROUP: usize = 32;

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
                let how = (*transposed, *space);
                self.load_rows(how, &matrix.dst, inst, executed, memories)
            }
            MatrixOp::MultiplyAdd(how) => {
                self.multiply_add(how, matrix, executed);
                return Ok(None);
            }
        }
        .map(Some)
    }

    /// Addresses of the `i`-th element that each lane holds.
    fn element_addresses(&self, tile: &Tile, held: Held, i: usize, inst: &Inst) -> [u64; W] {
        let bases = self.registers.extended(inst.src[0]);
        let strides = self.registers.word(inst.src[1]);
        std::array::from_fn(|lane| {
            let [row, column] = held.at(lane % GROUP, i);
            let (major, minor) = if tile.column_major {
                (column, row)
            } else {
                (row, column)
            };
            let index = u64::from(strides[lane])
                .wrapping_mul(major as u64)
                .wrapping_add(minor as u64);
            let bytes = u64::from(tile.element.bits() / 8);
            bases[lane]
                .wrapping_add_signed(tile.offset)
                .wrapping_add(index.wrapping_mul(bytes))
        })
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
        let per_word = 32 / tile.element.bits() as usize;
        for (number, &slot) in dst.iter().enumerate() {
            let mut words = [0u32; W];
            for part in 0..per_word {
                let addresses = self.element_addresses(tile, held, number * per_word + part, inst);
                let at = Footprint {
                    addresses: &addresses,
                    executed,
                    rule: None,
                };
                let shift = part as u32 * tile.element.bits();
                let mut put = |lane: usize, bytes: &[u8]| words[lane] |= word(bytes) << shift;
                match tile.element.bits() {
                    8 => each_lane::<1, W>(tile.space, &at, memories, |lane, bytes| {
                        put(lane, bytes)
                    })?,
                    16 => each_lane::<2, W>(tile.space, &at, memories, |lane, bytes| {
                        put(lane, bytes)
                    })?,
                    _ => each_lane::<4, W>(tile.space, &at, memories, |lane, bytes| {
                        put(lane, bytes)
                    })?,
                }
            }
            self.registers.set_word(slot, executed, &words);
        }
        Ok(self.element_addresses(tile, held, 0, inst))
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
        let per_word = 32 / tile.element.bits() as usize;
        for (number, &slot) in src.iter().enumerate() {
            for part in 0..per_word {
                let addresses = self.element_addresses(tile, held, number * per_word + part, inst);
                let at = Footprint {
                    addresses: &addresses,
                    executed,
                    rule: None,
                };
                let words = self.registers.word(slot);
                let value = |lane: usize| words[lane] >> (part as u32 * tile.element.bits());
                if tile.element.bits() == 16 {
                    each_lane::<2, W>(tile.space, &at, memories, |lane, bytes| {
                        *bytes = (value(lane) as u16).to_le_bytes();
                    })?;
                } else {
                    each_lane::<4, W>(tile.space, &at, memories, |lane, bytes| {
                        *bytes = value(lane).to_le_bytes()
                    })?;
                }
            }
        }
        Ok(self.element_addresses(tile, held, 0, inst))
    }

    /// `ldmatrix`: lanes 8 j to 8 j + 7 give the rows of matrix j; a lane gets two neighbours of a row, or of a column if transposed.
    fn load_rows(
        &mut self,
        (transposed, space): (bool, Space),
        dst: &[Slot],
        inst: &Inst,
        executed: LaneMask,
        memories: &mut Memories<'_>,
    ) -> Result<[u64; W], BadAccess> {
        let bases = self.registers.extended(inst.src[0]);
        let offset = self.registers.word(inst.src[1])[0] as i32;
        // Lanes beyond the rows give addresses that nobody reads.
        let rows = dst.len() * 8;
        let given: [u64; W] = std::array::from_fn(|lane| {
            let reader = lane / GROUP * GROUP + lane % GROUP % rows;
            bases[reader].wrapping_add_signed(i64::from(offset))
        });
        for (number, &slot) in dst.iter().enumerate() {
            let mut words = [0u32; W];
            for part in 0..2 {
                let addresses = std::array::from_fn(|lane| {
                    let (outer, inner) = (lane % GROUP / 4, lane % 4 * 2 + part);
                    let (row, column) = if transposed {
                        (inner, outer)
                    } else {
                        (outer, inner)
                    };
                    given[lane / GROUP * GROUP + number * 8 + row].wrapping_add(2 * column as u64)
                });
                let at = Footprint {
                    addresses: &addresses,
                    executed,
                    rule: None,
                };
                each_lane::<2, W>(space, &at, memories, |lane, bytes| {
                    words[lane] |= word(bytes) << (16 * part);
                })?;
            }
            self.registers.set_word(slot, executed, &words);
        }
        Ok(given)
    }

    /// Products are exact, sums in double precision, rounded once: at least as exact as hardware, whose sums PTX leaves open.
    fn multiply_add(&mut self, how: &MultiplyAdd, matrix: &Matrix, executed: LaneMask) {
        let [m, n, k] = how.shape.map(usize::from);
        let mut sources = &matrix.src[..];
        let slots = how.registers.map(|count| {
            let (own, rest) = sources.split_at(usize::from(count));
            sources = rest;
            own
        });
        let mut words = vec![[0u32; W]; matrix.dst.len()];
        for group in 0..W / GROUP {
            let [a, b, mut d] = [0, 1, 2].map(|part| self.gathered(how, part, slots[part], group));
            for row in 0..m {
                for column in 0..n {
                    let products = (0..k).map(|at| a[row * k + at] * b[at * n + column]);
                    d[row * n + column] += products.sum::<f64>();
                }
            }
            for (lane, at, [row, column]) in how.places(3, matrix.dst.len()) {
                let bits = encode(how.elements[3], d[row * n + column], how.saturate);
                let (register, shift) = how.within(3, at);
                words[register][group * GROUP + lane] |= bits << shift;
            }
        }
        for (&slot, words) in matrix.dst.iter().zip(&words) {
            self.registers.set_word(slot, executed, words);
        }
    }

    /// A matrix that a group of lanes holds, row by row.
    fn gathered(&self, how: &MultiplyAdd, part: usize, slots: &[Slot], group: usize) -> Vec<f64> {
        let [rows, columns] = how.size_of(part);
        let mut values = vec![0.0; rows * columns];
        for (lane, at, [row, column]) in how.places(part, slots.len()) {
            let (register, shift) = how.within(part, at);
            let word = self.registers.word(slots[register])[group * GROUP + lane];
            values[row * columns + column] = decode(how.elements[part], word >> shift);
        }
        values
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
    fn of_wmma(size: [u8; 2], element: MatrixElement, registers: usize) -> Self {
        let [rows, columns] = size.map(usize::from);
        Held::InOrder {
            columns,
            each: registers * 32 / element.bits() as usize,
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
trait Parts {
    fn size_of(&self, part: usize) -> [usize; 2];
    /// Every lane, the number of each element that it holds, and where in the matrix that is.
    fn places(
        &self,
        part: usize,
        registers: usize,
    ) -> impl Iterator<Item = (usize, usize, [usize; 2])>;
    /// The register that holds a lane's element of a number, and the element's lowest bit there.
    fn within(&self, part: usize, at: usize) -> (usize, u32);
}

impl Parts for MultiplyAdd {
    fn size_of(&self, part: usize) -> [usize; 2] {
        let [m, n, k] = self.shape.map(usize::from);
        [[m, k], [k, n], [m, n], [m, n]][part]
    }

    fn places(
        &self,
        part: usize,
        registers: usize,
    ) -> impl Iterator<Item = (usize, usize, [usize; 2])> {
        let per_word = 32 / self.elements[part].bits() as usize;
        let held = match part {
            _ if !self.fixed_layout => {
                let size = self.size_of(part).map(|extent| extent as u8);
                Held::of_wmma(size, self.elements[part], registers)
            }
            0 => Held::Left { per_word },
            1 => Held::Right { per_word },
            _ => Held::Sum,
        };
        let each = registers * per_word;
        (0..GROUP * each).map(move |i| (i / each, i % each, held.at(i / each, i % each)))
    }

    fn within(&self, part: usize, at: usize) -> (usize, u32) {
        let bits = self.elements[part].bits();
        let per_word = 32 / bits as usize;
        (at / per_word, (at % per_word) as u32 * bits)
    }
}

fn word(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .rev()
        .fold(0, |word, byte| word << 8 | u32::from(*byte))
}

fn decode(element: MatrixElement, bits: u32) -> f64 {
    match element {
        MatrixElement::Half(HalfFormat::F16) => decode_half(bits as u16),
        MatrixElement::Half(HalfFormat::Bf16) => f64::from(f32::from_bits(bits << 16)),
        // The lower bits of a TF32 are not read.
        MatrixElement::Half(HalfFormat::Tf32) => f64::from(f32::from_bits(bits & !0x1fff)),
        MatrixElement::F32 => f64::from(f32::from_bits(bits)),
        MatrixElement::S8 => f64::from(bits as i8),
        MatrixElement::U8 => f64::from(bits as u8),
        MatrixElement::S32 => f64::from(bits as i32),
    }
}

fn encode(element: MatrixElement, value: f64, saturate: bool) -> u32 {
    match element {
        MatrixElement::Half(_) => {
            u32::from(encode_half(value, warpwatt_ptx::program::Rounding::Nearest))
        }
        MatrixElement::S32 if saturate => value as i32 as u32,
        // Sums of integers are exact in double precision.
        MatrixElement::S32 | MatrixElement::S8 | MatrixElement::U8 => value as i64 as u32,
        MatrixElement::F32 => (value as f32).to_bits(),
    }
}

//! Matrix products in tensor memory: D = A B + D, of which a single thread issues the whole.

use warpwatt_ptx::program::{
    Adds, Inst, Matrix, MatrixElement, Scales, SmallFormat, TENSOR_LANES, TensorMultiplyAdd,
};

use super::Warp;
use super::elements::{decode, encode};
use super::shared_matrix::{CHUNK, Layout, SharedMatrix};
use super::tensor_descriptor::{Described, Format};
use crate::error::Cause;
use crate::lanes::{add_row, small_float};
use crate::memory::{BadAccess, Memories};
use crate::tensor_memory::{Place, TensorMemory};
use crate::trace::{Beyond, LaneMask, TensorWork, lanes};

/// Bytes of a row of A or column of B, whatever its elements.
const ROW: usize = 32;
/// Lanes among which each of the scales of a row or column is found.
const SCALED: u32 = 32;

impl<const W: usize> Warp<W> {
    /// Performs the product for each lane that executes it.
    pub(super) fn tensor_multiply_add(
        &mut self,
        how: &TensorMultiplyAdd,
        matrix: &Matrix,
        inst: &Inst,
        executed: LaneMask,
        memories: &mut Memories<'_>,
    ) -> Result<(), BadAccess> {
        let mut work = TensorWork {
            pair: how.pair,
            ..TensorWork::default()
        };
        for lane in lanes(executed) {
            let product = self.product_of(how, matrix, inst, lane);
            let done = product.and_then(|product| product.perform(memories));
            let (macs, bits, bytes) = done.map_err(|cause| BadAccess { lane, cause })?;
            work.multiply_adds += macs;
            work.element_bits = bits;
            work.shared_bytes += bytes;
        }
        self.beyond = Some(Beyond::Tensor(work));
        Ok(())
    }

    /// What the registers of a lane say.
    fn product_of(
        &self,
        how: &TensorMultiplyAdd,
        matrix: &Matrix,
        inst: &Inst,
        lane: u32,
    ) -> Result<TensorProduct, Cause> {
        let at = lane as usize;
        let sources = inst.src.as_slice();
        let word = |slot: usize| self.registers.word(sources[slot])[at];
        let layout = |slot: usize| {
            let descriptor = self.registers.double(sources[slot])[at];
            Layout::of_tensor(descriptor).map_err(Cause::TensorMemory)
        };
        let left = match how.left {
            Some(offset) => Left::Tensor(Place::of(word(1), offset)),
            None => Left::Shared(layout(1)?),
        };
        let adds = match (how.adds, sources.last()) {
            (Adds::If { negated }, Some(&condition)) => {
                (self.registers.predicate(condition) >> lane & 1 != 0) != negated
            }
            (adds, _) => adds == Adds::Always(true),
        };
        let mut kept = [0; 8];
        for (kept, slot) in kept.iter_mut().zip(&matrix.src) {
            *kept = self.registers.word(*slot)[at];
        }
        Ok(TensorProduct {
            how: *how,
            shape: Described::of(how, word(3)).map_err(Cause::TensorMemory)?,
            sums: Place::of(word(0), how.offset),
            left,
            right: layout(2)?,
            scales: how.scales.map(|scales| (scales, [4, 5].map(word))),
            adds,
            kept,
        })
    }
}

/// Where A lies.
#[derive(Clone, Copy)]
enum Left {
    Tensor(Place),
    Shared(Layout),
}

/// A product with all that its registers say.
struct TensorProduct {
    how: TensorMultiplyAdd,
    shape: Described,
    sums: Place,
    left: Left,
    right: Layout,
    /// The addresses of the scales of A and B.
    scales: Option<(Scales, [u32; 2])>,
    adds: bool,
    /// Lanes of D that stay as they are, of one CTA behind the other.
    kept: [u32; 8],
}

impl TensorProduct {
    /// Multiply-adds, bits of an element, and bytes that were read from shared memory.
    fn perform(&self, memories: &mut Memories<'_>) -> Result<(u64, u64, u64), Cause> {
        self.begins_well().map_err(Cause::TensorMemory)?;
        let ctas = memories.group(self.how.pair)?;
        let columns = self.shape.columns / ctas.len() as u32;
        let mut right = Vec::new();
        for rank in ctas.clone() {
            right.extend(self.shared(1, self.right, columns, rank, memories)?);
        }
        let mut read = right.len() as u64;
        let mut depth = 0;
        for (number, rank) in ctas.enumerate() {
            let right = self.right_of(rank, &right, memories)?;
            depth = right.len() / self.shape.columns as usize;
            read += self.perform_in((number, rank), &right, memories)?;
        }
        let macs = u64::from(self.shape.rows) * u64::from(self.shape.columns) * depth as u64;
        Ok((macs, (ROW * 8 / depth) as u64, read))
    }

    /// The numbers of B, scaled by what a CTA's tensor memory has.
    fn right_of(
        &self,
        rank: usize,
        bytes: &[u8],
        memories: &mut Memories<'_>,
    ) -> Result<Vec<f64>, Cause> {
        let scales = self.scales(1, self.shape.columns, &mut memories.tensor[rank])?;
        let rows = bytes.chunks_exact(ROW).enumerate();
        let rows = rows.flat_map(|(row, bytes)| self.row(1, bytes, scaling(&scales, row)));
        Ok(rows.collect())
    }

    /// What a CTA has of D; how many bytes of A were read from its shared memory.
    fn perform_in(
        &self,
        (number, rank): (usize, usize),
        right: &[f64],
        memories: &mut Memories<'_>,
    ) -> Result<u64, Cause> {
        let rows = self.rows();
        let left = match self.left {
            Left::Shared(layout) => Some(self.shared(0, layout, rows, rank, memories)?),
            Left::Tensor(_) => None,
        };
        let memory = &mut memories.tensor[rank];
        let scales = self.scales(0, rows, memory)?;
        let depth = right.len() / self.shape.columns as usize;
        // Each part of the lanes has some of the columns.
        let across = self.shape.columns / self.parts();
        for part in 0..self.parts() {
            let first = (part * across) as usize * depth;
            let right = by_depth(&right[first..first + across as usize * depth], depth);
            for row in 0..rows {
                let lane = self.lane(row, part);
                if self.kept[number * 4 + lane as usize / 32] >> (lane % 32) & 1 != 0 {
                    continue;
                }
                let bytes = match (&left, self.left) {
                    (Some(bytes), _) => bytes[row as usize * ROW..][..ROW].to_vec(),
                    (None, Left::Tensor(at)) => self.in_lane(at, lane, memory)?,
                    (None, Left::Shared(_)) => Vec::new(),
                };
                let left = self.row(0, &bytes, scaling(&scales, row as usize));
                self.add_row(lane, &left, &right, across, memory)?;
            }
        }
        Ok(left.map_or(0, |bytes| bytes.len() as u64))
    }

    /// Rows of D that a CTA has.
    fn rows(&self) -> u32 {
        self.shape.rows / (1 + u32::from(self.how.pair))
    }

    /// Parts of the lanes, which have columns of their own.
    fn parts(&self) -> u32 {
        match self.how.stationary || self.how.pair {
            true => TENSOR_LANES / self.rows(),
            false => 1,
        }
    }

    /// Whether D is half of each warp's lanes.
    fn is_half(&self) -> bool {
        !self.how.stationary && !self.how.pair && self.shape.rows == 64
    }

    /// D begins in the first lane; where it has half of them, also in the first of the upper half.
    fn begins_well(&self) -> Result<(), String> {
        match self.sums.lane {
            0 => Ok(()),
            16 if self.is_half() => Ok(()),
            lane => Err(format!(
                "D of {} rows cannot begin in lane {lane}",
                self.shape.rows
            )),
        }
    }

    /// The lane of a row of D, and of A beside it.
    fn lane(&self, row: u32, part: u32) -> u32 {
        let lane = match self.is_half() {
            true => row / 16 * 32 + row % 16,
            false => row + part * self.rows(),
        };
        self.sums.lane + lane
    }

    /// So many rows of A or columns of B from the shared memory of the CTA of a rank.
    fn shared(
        &self,
        which: usize,
        layout: Layout,
        rows: u32,
        rank: usize,
        memories: &Memories<'_>,
    ) -> Result<Vec<u8>, Cause> {
        let size = match self.shape.formats[which] {
            Format::Element(element) => element.bits() as usize / 8,
            _ => 1,
        };
        let transposed = self.shape.transposed[which];
        let whole = (rows as usize).is_multiple_of(CHUNK / size);
        if transposed && (self.how.kind.is_packed() || layout.is_coarse() != (size == 4) || !whole)
        {
            let why = "there is no transposed matrix of such elements, columns and swizzling";
            return Err(Cause::TensorMemory(why.to_owned()));
        }
        let matrix = SharedMatrix {
            layout,
            size,
            row_bytes: ROW,
            transposed,
            packed: match self.how.kind.is_packed() {
                true => None,
                false => self.shape.formats[which].few_bits(),
            },
        };
        matrix.rows(0..rows as usize, rank, memories)
    }

    /// The row of A in a lane of tensor memory.
    fn in_lane(&self, at: Place, lane: u32, memory: &mut TensorMemory) -> Result<Vec<u8>, Cause> {
        let few = self.shape.formats[0].few_bits();
        if few.is_some() && !self.how.kind.is_packed() {
            let why = "where elements of A of four and six bits lie in tensor memory, PTX shows in figures only";
            return Err(Cause::TensorMemory(why.to_owned()));
        }
        // A and D use the same lanes.
        let lane = match self.how.shifted && lane + 1 < TENSOR_LANES {
            true => lane + 1,
            false => lane,
        };
        let place = Place {
            lane: lane - self.sums.lane + at.lane,
            column: at.column,
        };
        let row = memory.row(place, ROW as u32 / 4);
        let words = row.map_err(Cause::TensorMemory)?.iter();
        Ok(words.flat_map(|word| word.to_le_bytes()).collect())
    }

    /// The numbers of a row of A or a column of B, scaled.
    fn row(&self, which: usize, bytes: &[u8], scales: Option<&[f64]>) -> Vec<f64> {
        let (format, negated) = (self.shape.formats[which], self.shape.negated[which]);
        let mut row = format.numbers(bytes, self.how.kind.is_packed(), negated);
        if let Some(scales) = scales {
            let block = row.len() / scales.len();
            for (values, scale) in row.chunks_exact_mut(block).zip(scales) {
                values.iter_mut().for_each(|value| *value *= scale);
            }
        }
        row
    }

    /// The scales of so many rows of A or columns of B.
    fn scales(
        &self,
        which: usize,
        rows: u32,
        memory: &mut TensorMemory,
    ) -> Result<Option<Vec<Vec<f64>>>, Cause> {
        let Some((scales, addresses)) = self.scales else {
            return Ok(None);
        };
        let at = Place::of(addresses[which], scales.offsets[which]);
        let first = self.shape.scale_bytes[which];
        if first + u32::from(scales.count) > 4 {
            let why = format!("{} scales do not lie at byte {first}", scales.count);
            return Err(Cause::TensorMemory(why));
        }
        let scales_of = |row: u32| {
            let place = Place {
                lane: at.lane + row % SCALED,
                column: at.column + row / SCALED,
            };
            let bytes = memory.row(place, 1).map_err(Cause::TensorMemory)?[0].to_le_bytes();
            let bytes = bytes[first as usize..].iter().take(scales.count.into());
            Ok(bytes.map(|&byte| self.scale(byte)).collect())
        };
        (0..rows).map(scales_of).collect::<Result<_, _>>().map(Some)
    }

    /// A scale: a power of two, or an `e4m3` without sign.
    fn scale(&self, byte: u8) -> f64 {
        match (self.shape.fine_scales, byte) {
            (true, byte) => small_float(
                MatrixElement::Small(SmallFormat::E4m3),
                u32::from(byte & 0x7f),
            ),
            (false, u8::MAX) => f64::NAN,
            (false, power) => libm::ldexp(1.0, i32::from(power) - 127),
        }
    }

    /// Adds a row's products to D in its lane.
    fn add_row(
        &self,
        lane: u32,
        left: &[f64],
        right: &[f64],
        across: u32,
        memory: &mut TensorMemory,
    ) -> Result<(), Cause> {
        // Zero that leaves the sign of what is added.
        let mut sums = vec![-0.0; across as usize];
        add_row(left, right, &mut sums);
        let place = Place {
            lane,
            column: self.sums.column,
        };
        let row = memory.row(place, across).map_err(Cause::TensorMemory)?;
        let halved = libm::ldexp(1.0, -i32::from(self.how.halved));
        for (word, mut sum) in row.iter_mut().zip(sums) {
            if self.adds {
                sum += decode(self.shape.sum, *word) * halved;
            }
            *word = encode(self.shape.sum, sum, self.shape.saturate);
        }
        Ok(())
    }
}

/// The scales of one of all rows, if there are such.
fn scaling(scales: &Option<Vec<Vec<f64>>>, row: usize) -> Option<&[f64]> {
    scales.as_ref().map(|scales| &scales[row][..])
}

/// B row by row, from its columns.
fn by_depth(columns: &[f64], depth: usize) -> Vec<f64> {
    let across = columns.len() / depth;
    let mut rows = vec![0.0; columns.len()];
    for (column, values) in columns.chunks_exact(depth).enumerate() {
        for (at, &value) in values.iter().enumerate() {
            rows[at * across + column] = value;
        }
    }
    rows
}

//! The tile that a tensor copy moves: rows of elements along the innermost dimension, in the order in which they lie in shared memory
//! (PTX ISA 8.7, sections 5.5.3 and 5.5.4).

use std::ops::Range;

use warpwatt_ptx::program::MAX_RANK;
use warpwatt_ptx::types::Type;

use crate::tensor_map::{Im2col, Swizzle, TensorMap};
use crate::trace::Piece;

/// Most bytes of a tile: more than any shared memory has.
const MAX_BYTES: u64 = 1 << 20;

/// Pieces that change places in shared memory.
const PIECE: usize = 16;

/// A tile at its place in the tensor.
#[derive(Clone, Debug)]
pub(crate) struct Tile {
    map: TensorMap,
    /// Of its first element.
    start: [i64; MAX_RANK],
    /// Added to each pixel's place, in im2col mode.
    offsets: [i64; MAX_RANK],
    /// Elements of a row.
    length: u32,
    /// Rows along each dimension but the innermost; in im2col mode all are along the second.
    counts: [u32; MAX_RANK],
}

/// Where a row begins.
pub(crate) type Row = [i64; MAX_RANK];

impl Tile {
    /// The tile at some coordinates, innermost first; why there is none.
    pub fn new(
        map: TensorMap,
        im2col: bool,
        coordinates: impl Iterator<Item = i64>,
        offsets: impl Iterator<Item = i64>,
    ) -> Result<Self, &'static str> {
        let mut start = [0; MAX_RANK];
        let mut rank = 0;
        for (place, coordinate) in start.iter_mut().zip(coordinates) {
            *place = coordinate;
            rank += 1;
        }
        if rank != map.extents.len() {
            return Err("it has another number of dimensions than the instruction names");
        }
        if im2col != map.im2col.is_some() {
            return Err("it is for the other of tiled and im2col mode");
        }
        let mut all = [0; MAX_RANK];
        for (place, offset) in all[1..].iter_mut().zip(offsets) {
            *place = offset;
        }
        let mut counts = [1; MAX_RANK];
        let length = match map.im2col {
            Some(Im2col {
                pixels, channels, ..
            }) => {
                counts[1] = u32::from(pixels);
                u32::from(channels)
            }
            None => {
                let sizes = map.tile.iter().zip(&map.steps);
                for (count, (&extent, &step)) in counts.iter_mut().zip(sizes) {
                    *count = extent.div_ceil(step);
                }
                counts[0]
            }
        };
        let tile = Self {
            map,
            start,
            offsets: all,
            length,
            counts,
        };
        if tile.bytes() > MAX_BYTES {
            return Err("its box is larger than shared memory");
        }
        Ok(tile)
    }

    /// Type of the elements.
    pub fn element(&self) -> Type {
        self.map.element.element()
    }

    fn element_bytes(&self) -> usize {
        self.map.element.bytes() as usize
    }

    /// Bytes of a row.
    pub fn row_bytes(&self) -> usize {
        self.length as usize * self.element_bytes()
    }

    /// Bytes of the tile, what lies outside of the tensor among them.
    pub fn bytes(&self) -> u64 {
        let rows: u64 = self.counts[1..].iter().map(|&n| u64::from(n)).product();
        rows.saturating_mul(self.row_bytes() as u64)
    }

    /// The address of its first element, wherever that is.
    pub fn first(&self) -> u64 {
        let first: [i64; MAX_RANK] = std::array::from_fn(|at| self.start[at] + self.offsets[at]);
        self.address(&first)
    }

    fn address(&self, at: &Row) -> u64 {
        let strides = self.map.strides.iter().zip(&at[1..]);
        let inner = at[0].wrapping_mul(self.element_bytes() as i64);
        let outer = strides.map(|(&stride, &place)| place.wrapping_mul(stride as i64));
        let distance = outer.fold(inner, i64::wrapping_add);
        self.map.address.wrapping_add_signed(distance)
    }

    /// Where its rows begin, in the order of shared memory.
    pub fn rows(&self) -> impl Iterator<Item = Row> + '_ {
        let total: u32 = self.counts[1..].iter().product();
        let mut pixel = self.start;
        (0..total).map(move |number| match self.map.im2col {
            None => self.row(number),
            Some(im2col) => {
                let row = std::array::from_fn(|at| pixel[at] + self.offsets[at]);
                self.next_pixel(&im2col, &mut pixel);
                row
            }
        })
    }

    fn row(&self, number: u32) -> Row {
        let mut rest = number;
        std::array::from_fn(|at| {
            if at == 0 || at >= self.map.steps.len() {
                return self.start[at];
            }
            let place = rest % self.counts[at];
            rest /= self.counts[at];
            self.start[at] + i64::from(place) * i64::from(self.map.steps[at])
        })
    }

    /// The pixel behind one, which may be in the next line, plane or image.
    fn next_pixel(&self, im2col: &Im2col, pixel: &mut Row) {
        let rank = self.map.extents.len();
        for (at, place) in pixel.iter_mut().enumerate().take(rank - 1).skip(1) {
            *place += i64::from(self.map.steps[at]);
            let end = i64::from(self.map.extents[at]) + i64::from(im2col.upper[at - 1]);
            if *place < end {
                return;
            }
            *place = i64::from(im2col.lower[at - 1]);
        }
        pixel[rank - 1] += 1;
    }

    /// Calls `each` for every run of elements of a row that lies inside the tensor: its bytes in the row and its address.
    pub fn pieces<E>(
        &self,
        row: &Row,
        mut each: impl FnMut(Range<usize>, u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let outer = row[1..]
            .iter()
            .zip(self.map.extents.get(1..).unwrap_or(&[]));
        let is_outside = |(&at, &extent): (&i64, &u32)| !(0..i64::from(extent)).contains(&at);
        if outer.clone().any(is_outside) {
            return Ok(());
        }
        let size = self.element_bytes();
        let step = i64::from(self.map.steps[0]);
        let extent = i64::from(self.map.extents[0]);
        let inside = |number: i64| (0..extent).contains(&(row[0] + number * step));
        if step == 1 {
            let first = (-row[0]).clamp(0, i64::from(self.length));
            let end = (extent - row[0]).clamp(first, i64::from(self.length));
            if first == end {
                return Ok(());
            }
            let mut at = *row;
            at[0] += first;
            return each(
                first as usize * size..end as usize * size,
                self.address(&at),
            );
        }
        for number in (0..i64::from(self.length)).filter(|&number| inside(number)) {
            let mut at = *row;
            at[0] += number * step;
            let place = number as usize * size;
            each(place..place + size, self.address(&at))?;
        }
        Ok(())
    }

    /// What of it lies inside the tensor, for a trace.
    pub fn told(&self) -> Vec<Piece> {
        if self.map.im2col.is_some() {
            let mut pieces = Vec::new();
            for row in self.rows() {
                let told: Result<(), ()> = self.pieces(&row, |bytes, address| {
                    pieces.push(Piece::plain(address, bytes.len() as u64));
                    Ok(())
                });
                debug_assert!(told.is_ok(), "nothing fails here");
            }
            return pieces;
        }
        let mut at = self.start;
        let mut loops = [(1, 0); MAX_RANK];
        for (dimension, place) in loops.iter_mut().enumerate().take(self.map.extents.len()) {
            let step = i64::from(self.map.steps[dimension]);
            let extent = i64::from(self.map.extents[dimension]);
            let steps = |distance: i64| (distance.max(0) as u64).div_ceil(step as u64) as i64;
            let first = steps(-self.start[dimension]);
            let end = steps(extent - self.start[dimension]);
            let end = end.min(i64::from(self.counts[dimension]));
            if first >= end {
                return Vec::new();
            }
            at[dimension] += first * step;
            let stride = match dimension {
                0 => self.element_bytes() as i64,
                _ => self.map.strides[dimension - 1] as i64,
            };
            *place = ((end - first) as u64, stride.wrapping_mul(step));
        }
        let [(length, distance), outer @ ..] = loops;
        vec![Piece {
            base: self.address(&at),
            // Steps along a row are shorter than a sector mostly.
            run: length * distance.unsigned_abs(),
            loops: outer,
        }]
    }

    /// Fills a row with what stands for elements outside of the tensor.
    pub fn fill(&self, bytes: &mut [u8]) {
        let value = if self.map.fill_nan {
            self.map.element.nan()
        } else {
            0
        };
        let value = value.to_le_bytes();
        for element in bytes.chunks_exact_mut(self.element_bytes()) {
            element.copy_from_slice(&value[..element.len()]);
        }
    }

    /// Calls `each` for every piece of a row: its bytes in the row and its address in shared memory, where the row would begin at `start`.
    pub fn exchanged<E>(
        &self,
        start: u64,
        mut each: impl FnMut(Range<usize>, u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let length = self.row_bytes();
        if self.map.swizzle == Swizzle::None {
            return each(0..length, start);
        }
        for from in (0..length).step_by(PIECE) {
            let address = self.map.swizzle.apply(start + from as u64);
            each(from..(from + PIECE).min(length), address)?;
        }
        Ok(())
    }
}

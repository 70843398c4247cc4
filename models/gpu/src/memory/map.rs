//! Where an address lies: slice, channel, bank and row.

use super::tags::fold;
use crate::{GpuSpec, Index};

/// The address map of a GPU.
#[derive(Clone, Debug)]
pub(crate) struct Map {
    /// Neighbouring bytes of a controller, and of a slice in it: powers of two, by their exponents.
    block: u32,
    part: u32,
    row: u32,
    controllers: u64,
    slices: u64,
    banks: u64,
    index: Index,
}

/// Where an address lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub slice: usize,
    pub channel: usize,
    /// The address without what its slice says already.
    pub local: u64,
    pub bank: u16,
    pub row: u32,
}

impl Map {
    pub fn new(spec: &GpuSpec) -> Self {
        let l2 = spec.has_l2();
        Self {
            block: spec.dram.interleave_bytes.trailing_zeros(),
            part: if l2 {
                spec.l2.interleave_bytes.trailing_zeros()
            } else {
                0
            },
            row: spec.dram.row_bytes.trailing_zeros(),
            controllers: u64::from(spec.dram.controllers),
            slices: if l2 { u64::from(spec.l2.slices) } else { 1 },
            banks: u64::from(spec.dram.banks),
            index: if l2 { spec.l2.index } else { Index::Linear },
        }
    }

    /// The channel behind a slice.
    pub fn channel(&self, slice: usize) -> usize {
        slice / self.slices as usize
    }

    /// Neighbouring blocks lie in different controllers, neighbouring parts of what a controller has in different slices; within a slice, rows lie in
    /// different banks, and each slice has its own banks.
    pub fn place(&self, address: u64) -> Place {
        let (slice, local) = match self.index {
            Index::Linear => self.linear(address),
            Index::Hashed => self.hashed(address),
        };
        let (bank, row) = self.row(slice, local);
        Place {
            slice,
            channel: self.channel(slice),
            local,
            bank,
            row,
        }
    }

    /// Bank and row of what lies at `local` in a slice.
    pub fn row(&self, slice: usize, local: u64) -> (u16, u32) {
        let own = self.banks / self.slices;
        let row = local >> self.row;
        let bank = row % own + slice as u64 % self.slices * own;
        (bank as u16, (row / own) as u32)
    }

    fn linear(&self, address: u64) -> (usize, u64) {
        let (controller, inner) = split(address, self.block, self.controllers);
        let (part, local) = split(inner, self.part, self.slices);
        ((controller * self.slices + part) as usize, local)
    }

    /// The slice is moved on by a fold of what is above its digits, so that strides spread over the slices.
    fn hashed(&self, address: u64) -> (usize, u64) {
        let all = self.controllers * self.slices;
        let (slice, local) = split(address, self.block, all);
        let above = fold(local >> self.block, all.next_power_of_two());
        let slice = if all.is_power_of_two() {
            slice ^ above
        } else {
            (slice + above) % all
        };
        (slice as usize, local)
    }
}

/// Which of `parts` an address lies in if blocks of 2^`block` bytes go around, and the address within the part.
fn split(address: u64, block: u32, parts: u64) -> (u64, u64) {
    let number = address >> block;
    let offset = address & ((1 << block) - 1);
    (number % parts, ((number / parts) << block) | offset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn without_slices_blocks_go_around_the_controllers_and_rows_around_the_banks() {
        let map = Map::new(&GpuSpec::preset("tesla-16sm").unwrap());
        let first = map.place(0);
        assert_eq!((first.slice, first.bank, first.row), (0, 0, 0));
        assert_eq!(map.place(256).slice, 1);
        assert_eq!(map.place(6 * 256).local, 256);
        assert_eq!(map.place(6 * 2048).bank, 1);
        assert_eq!(map.place(6 * 2048 * 8).row, 1);
    }

    /// No two addresses share a place, and a stride of any power of two reaches more than one slice.
    #[test]
    fn a_hashed_map_loses_nothing_and_spreads_strides() {
        let spec = GpuSpec::preset("v100").unwrap();
        let map = Map::new(&spec);
        let mut seen = BTreeSet::new();
        for block in 0..20_000u64 {
            let place = map.place(block * 256);
            assert!(seen.insert((place.slice, place.local)), "{block}");
        }
        for shift in 8..24 {
            let slices: BTreeSet<usize> =
                (0..64).map(|step| map.place(step << shift).slice).collect();
            assert!(slices.len() > 16, "{shift}: {}", slices.len());
        }
    }
}

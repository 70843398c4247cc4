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
    /// Slices of a partition of the second-level cache.
    near: usize,
    banks: u64,
    bank_index: Index,
    index: Index,
    /// For each bit above a hashed slice's digits, by which it moves the slice on.
    remainders: Vec<u64>,
}

/// Where an address lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub slice: usize,
    pub channel: usize,
    pub bank: u16,
    pub row: u32,
}

impl Map {
    pub fn new(spec: &GpuSpec) -> Self {
        let l2 = spec.has_l2();
        let all = u64::from(spec.slices());
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
            near: (spec.slices() / if l2 { spec.l2.partitions } else { 1 }) as usize,
            banks: u64::from(spec.dram.banks),
            bank_index: spec.dram.bank_index,
            index: if l2 { spec.l2.index } else { Index::Linear },
            remainders: remainders(all.trailing_zeros()),
        }
    }

    /// The slice of a partition that keeps what lies in `slice`.
    pub fn near(&self, slice: usize, partition: usize) -> usize {
        partition * self.near + slice % self.near
    }

    /// The slice of the other partition that keeps what lies in `slice`.
    pub fn other(&self, slice: usize) -> usize {
        (slice + self.near) % (2 * self.near)
    }

    /// The channel behind a slice.
    pub fn channel(&self, slice: usize) -> usize {
        slice / self.slices as usize
    }

    /// Neighbouring blocks lie in different controllers, neighbouring parts of what a controller has in different slices; within a slice, rows lie in
    /// different banks, and each slice has its own banks.
    pub fn place(&self, address: u64) -> Place {
        let (slice, local) = self.slice(address);
        let (bank, row) = self.row(slice, local);
        Place {
            slice,
            channel: self.channel(slice),
            bank,
            row,
        }
    }

    /// The slice in which an address lies, and the address without what that says already.
    #[inline]
    pub fn slice(&self, address: u64) -> (usize, u64) {
        match self.index {
            Index::Linear => self.linear(address),
            Index::Hashed => self.hashed(address),
        }
    }

    /// Bank and row of what lies at `local` in a slice. The lowest digit of the bank is that of the slice before hashing, so that the slices of a
    /// controller work in different bank groups. Hashed, the row moves the bank on (Zhang, Zhu and Zhang, MICRO 2000), so that arrays which begin in one bank
    /// do not stay in one.
    pub fn row(&self, slice: usize, local: u64) -> (u16, u32) {
        let own = self.banks / self.slices;
        let row = local >> self.row;
        let lowest = match self.index {
            Index::Linear => slice as u64 % self.slices,
            Index::Hashed => self.before_hashing(slice as u64, local) / self.controllers,
        };
        let above = row / own;
        let bank = match self.bank_index {
            Index::Linear => row % own,
            Index::Hashed => moved(row % own, fold(above, own.next_power_of_two()), own),
        };
        ((bank * self.slices + lowest) as u16, above as u32)
    }

    fn linear(&self, address: u64) -> (usize, u64) {
        let (controller, inner) = split(address, self.block, self.controllers);
        let (part, local) = split(inner, self.part, self.slices);
        ((controller * self.slices + part) as usize, local)
    }

    /// The slice is moved on by a hash of what is above its digits, so that strides spread over the slices.
    fn hashed(&self, address: u64) -> (usize, u64) {
        let all = self.controllers * self.slices;
        let (number, local) = split(address, self.block, all);
        let above = self.above(local);
        let number = moved(number, above, all);
        let slice = number % self.controllers * self.slices + number / self.controllers;
        (slice as usize, local)
    }

    /// By how much what lies at `local` is moved on. A power of two of slices takes the remainder of the block's number as a polynomial over two elements
    /// (Rau, ISCA 1991), which spreads all strides of powers of two; other numbers a fold by exclusive or.
    fn above(&self, local: u64) -> u64 {
        let all = self.controllers * self.slices;
        let mut rest = local >> self.block;
        if !all.is_power_of_two() {
            return fold(rest, all.next_power_of_two()) % all;
        }
        let mut remainder = 0;
        while rest != 0 {
            remainder ^= self.remainders[rest.trailing_zeros() as usize];
            rest &= rest - 1;
        }
        remainder
    }

    /// The digits of the slice in the address: its controller, and above it its part of it.
    fn before_hashing(&self, slice: u64, local: u64) -> u64 {
        let all = self.controllers * self.slices;
        let number = slice / self.slices + slice % self.slices * self.controllers;
        if all.is_power_of_two() {
            number ^ self.above(local)
        } else {
            (number + all - self.above(local)) % all
        }
    }
}

/// Primitive polynomials by degree, from one on, without their highest power (Peterson and Weldon, "Error-Correcting Codes", 1972, appendix C).
const PRIMITIVE: [u64; 16] = [
    0b1,
    0b11,
    0b11,
    0b11,
    0b101,
    0b11,
    0b11,
    0b11101,
    0b10001,
    0b1001,
    0b101,
    0b101_0011,
    0b1_1011,
    0b100_0100_0011,
    0b11,
    0b1_0000_0000_1011,
];

/// The remainders of the powers of x from `degree` on, each a bit of a number above its lowest `degree`.
fn remainders(degree: u32) -> Vec<u64> {
    let Some(polynomial) = (degree as usize)
        .checked_sub(1)
        .and_then(|at| PRIMITIVE.get(at))
    else {
        return vec![0; 64];
    };
    let next = |power: &u64| {
        let shifted = power << 1;
        let carry = shifted >> degree & 1;
        Some((shifted ^ (carry * polynomial)) & ((1 << degree) - 1))
    };
    std::iter::successors(Some(*polynomial), next)
        .take(64)
        .collect()
}

/// A digit of `all` moved on by another number.
fn moved(digit: u64, by: u64, all: u64) -> u64 {
    if all.is_power_of_two() {
        digit ^ by
    } else {
        (digit + by) % all
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
        assert_eq!(map.slice(6 * 256), (0, 256));
        assert_eq!(map.place(6 * 2048).bank, 1);
        assert_eq!(map.place(6 * 2048 * 8).row, 1);
    }

    /// x^6 = x + 1, x^10 = x^5 + x^4 modulo x^6 + x + 1, and after 63 powers the first one again.
    #[test]
    fn remainders_are_those_of_a_primitive_polynomial() {
        let six = remainders(6);
        assert_eq!((six[0], six[4]), (0b11, 0b11_0000));
        for degree in 1..=12u32 {
            let powers = remainders(degree);
            let order = (1usize << degree) - 1;
            let seen: BTreeSet<u64> = (0..order.min(64)).map(|at| powers[at]).collect();
            assert_eq!(seen.len(), order.min(64), "{degree}");
        }
    }

    /// Rows that are as far apart as a slice has rows in all its banks lie in one bank, and in many if banks are hashed; no two share a place.
    #[test]
    fn hashed_banks_spread_rows() {
        let spread = |bank_index| {
            let mut spec = GpuSpec::preset("v100").unwrap();
            spec.dram.bank_index = bank_index;
            let map = Map::new(&spec);
            let round = u64::from(spec.dram.banks / spec.l2.slices * spec.dram.row_bytes);
            let banks: BTreeSet<u16> = (0..8).map(|at| map.row(0, at * round).0).collect();
            let step = u64::from(spec.dram.row_bytes);
            let places: BTreeSet<(u16, u32)> = (0..4096).map(|at| map.row(0, at * step)).collect();
            assert_eq!(places.len(), 4096);
            banks.len()
        };
        assert_eq!(spread(Index::Linear), 1);
        assert!(spread(Index::Hashed) > 3);
    }

    /// No two addresses share a place, and a stride of any power of two reaches more than one slice.
    #[test]
    fn a_hashed_map_loses_nothing_and_spreads_strides() {
        let spec = GpuSpec::preset("v100").unwrap();
        let map = Map::new(&spec);
        let mut seen = BTreeSet::new();
        for block in 0..20_000u64 {
            assert!(seen.insert(map.slice(block * 256)), "{block}");
        }
        for shift in 8..24 {
            let slices: BTreeSet<usize> = (0..64).map(|step| map.slice(step << shift).0).collect();
            assert!(slices.len() > 16, "{shift}: {}", slices.len());
        }
    }
}

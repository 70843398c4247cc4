//! A word in slices: memories side by side, each with its share of the bits and decoders of its own, in two rows about the wires that bring the address to all of
//! them. So a designer builds a wide word: the trees that would bring its bits together, as high and wide as all their wires, are not there; the word comes out
//! where its slices are.

use warpwatt_techlib::quantity::{Energy, Length, Power, Time};

use crate::array::Face;
use crate::process::Process;
use crate::{Cost, Organisation, Part};

/// Fewest columns of a slice at work in an access: compiled macros hold words of up to 80 bits in one array.
const LEAST_COLUMNS: u64 = 64;
/// Fewest bits that a slice gives out: what a write leaves or changes as a whole.
const LEAST_BITS: u64 = 8;
/// Name of the wires in a breakdown.
pub(crate) const ALONG: &str = "address along slices";

/// How many slices a word has: one, or a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slices(u32);

impl Slices {
    /// The whole word in one.
    pub(crate) const ONE: Self = Self(1);

    /// In how many a word of `bits` may be, `columns` of which an access reads, as many as ways together.
    pub(crate) fn of(columns: u64, bits: u64) -> impl Iterator<Item = Self> {
        let several = (1..u32::BITS).map(|log| Self(1 << log));
        let wide = several.take_while(move |slices| {
            let count = u64::from(slices.0);
            columns / count >= LEAST_COLUMNS && bits / count >= LEAST_BITS
        });
        std::iter::once(Self::ONE).chain(wide)
    }

    /// Bits of one slice.
    pub(crate) fn share(self, bits: u64) -> u64 {
        bits.div_ceil(u64::from(self.0))
    }

    /// Slices in each of both rows.
    fn columns(self) -> f64 {
        f64::from((self.0 / 2).max(1))
    }
}

/// What runs along the slices, to each of `ports`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines {
    pub(crate) address: f64,
    /// Lines that select a way, of which an access changes one.
    pub(crate) selects: f64,
    pub(crate) ports: f64,
}

/// The wires along the slices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bus {
    slices: Slices,
    delay: Time,
    energy: Energy,
    leakage: Power,
    gate_leakage: Power,
    height: Length,
}

impl Bus {
    /// Where there is one slice.
    pub(crate) const NONE: Self = Self {
        slices: Slices::ONE,
        delay: Time::ZERO,
        energy: Energy::ZERO,
        leakage: Power::ZERO,
        gate_leakage: Power::ZERO,
        height: Length::ZERO,
    };

    /// From the middle of both rows along all slices of a size, and into the middle of each.
    pub(crate) fn new(
        p: &Process,
        slices: Slices,
        lines: Lines,
        (width, height): (Length, Length),
    ) -> Self {
        if slices == Slices::ONE {
            return Self::NONE;
        }
        let wire = &p.repeaters.chosen;
        let along = width * (slices.columns() - 1.0);
        let into = height / 2.0;
        let path = wire.stretch(p, along / 2.0 + into);
        let all = wire.stretch(p, along + into * f64::from(slices.0));
        let wires = (lines.address + lines.selects) * lines.ports;
        Self {
            slices,
            delay: path.delay,
            energy: all.energy * (lines.address + lines.selects.min(1.0)),
            leakage: all.leakage * wires,
            gate_leakage: all.gate_leakage * wires,
            height: p.wire_outside.pitch * wires,
        }
    }

    pub(crate) fn slices(&self) -> Slices {
        self.slices
    }

    /// All slices together, of the figures of one. None falls when one of the slice's rises.
    pub(crate) fn face(&self, of: &Face) -> Face {
        if self.slices == Slices::ONE {
            return *of;
        }
        let count = f64::from(self.slices.0);
        let width = of.width * self.slices.columns();
        Face {
            width,
            height: of.height * 2.0 + self.height,
            area: of.area * count + width * self.height,
            access_time: of.access_time + self.delay,
            cycle_time: of.cycle_time,
            read: of.read * count + self.energy,
            leakage: of.leakage * count + self.leakage,
            before_output: of.before_output + self.delay,
            select: of.select + self.delay,
            after_output: of.after_output,
        }
    }

    /// All slices together, of the cost of one.
    pub(crate) fn cost(&self, of: Cost) -> Cost {
        if self.slices == Slices::ONE {
            return of;
        }
        let count = f64::from(self.slices.0);
        let width = of.width * self.slices.columns();
        let strip = width * self.height;
        let times = |part: Part| Part {
            read_energy: part.read_energy * count,
            leakage: part.leakage * count,
            area: part.area * count,
            ..part
        };
        let mut breakdown: Vec<Part> = of.breakdown.into_iter().map(times).collect();
        let organisation = of.organisation.map(|each| {
            let all = u64::from(self.slices.0);
            Organisation {
                slices: self.slices.0,
                subarrays: each.subarrays * all,
                active_subarrays: each.active_subarrays * all,
                ..each
            }
        });
        breakdown.push(Part {
            name: ALONG.to_owned(),
            read_energy: self.energy,
            search_energy: None,
            leakage: self.leakage,
            area: strip,
            delay: self.delay,
            between_banks: false,
        });
        Cost {
            area: of.area * count + strip,
            width,
            height: of.height * 2.0 + self.height,
            access_time: of.access_time + self.delay,
            read_energy: of.read_energy * count + self.energy,
            write_energy: of.write_energy * count + self.energy,
            leakage: of.leakage * count + self.leakage,
            gate_leakage: of.gate_leakage * count + self.gate_leakage,
            breakdown,
            organisation,
            model: format!("{} in {} slices", of.model, self.slices.0),
            ..of
        }
    }
}

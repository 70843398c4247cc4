//! Data of caches: from the fill of a sector to its last needed read (Biswas et al., ISCA 2005, section 3).
//!
//! The first-level caches hold copies: what is written goes on to the second level at once, so that an eviction needs nothing. The second level is written back:
//! all that lies in a sector in which something has been written goes to memory with its line, and so is needed until then. A sector is needed whole if any of it is.

use crate::{Ledger, Residency, Structure};

/// Sectors of a line.
const SECTORS: usize = 8;

/// The contents of one cache.
#[derive(Clone, Debug)]
pub(super) struct Contents {
    structure: Structure,
    sector_bits: u32,
    lines: Vec<[Option<Sector>; SECTORS]>,
}

/// A sector that is there: since when, until when its needs have been accounted for, and whether it goes to memory.
#[derive(Clone, Copy, Debug)]
struct Sector {
    since: u64,
    accounted: u64,
    dirty: bool,
}

impl Contents {
    pub fn new(structure: Structure, sector_bits: u32) -> Self {
        Self {
            structure,
            sector_bits,
            lines: Vec::new(),
        }
    }

    /// Does something with sectors of a line.
    fn each(&mut self, place: u32, sectors: u8, mut what: impl FnMut(u32, &mut Option<Sector>)) {
        let number = place as usize;
        if self.lines.len() <= number {
            self.lines.resize(number + 1, [None; SECTORS]);
        }
        let first = place * SECTORS as u32;
        for (bit, sector) in self.lines[number].iter_mut().enumerate() {
            if sectors >> bit & 1 != 0 {
                what(first + bit as u32, sector);
            }
        }
    }

    /// Sectors come; one that is there already stays what it was.
    pub fn filled(&mut self, place: u32, sectors: u8, now: u64) {
        self.each(place, sectors, |_, sector| {
            sector.get_or_insert(Sector::new(now));
        });
    }

    /// Something in sectors is written that goes to memory when their line does.
    pub fn written(&mut self, place: u32, sectors: u8, now: u64) {
        self.each(place, sectors, |_, sector| {
            sector.get_or_insert(Sector::new(now)).dirty = true;
        });
    }

    /// Something needed reads sectors: they were needed since they came.
    pub fn read(&mut self, place: u32, sectors: u8, now: u64, ledger: &mut Ledger) {
        let of = self.all();
        self.each(place, sectors, |entry, sector| {
            if let Some(sector) = sector {
                sector.needed(now, Residency { entry, ..of }, ledger);
            }
        });
    }

    /// A line goes.
    pub fn evicted(&mut self, place: u32, now: u64, ledger: &mut Ledger) {
        let of = self.all();
        self.each(place, u8::MAX, |entry, sector| {
            if let Some(mut sector) = sector.take() {
                sector.stays(now, Residency { entry, ..of }, ledger);
            }
        });
    }

    /// A launch ends: what is there has been there until now, and what has been written is a part of the output.
    pub fn settle(&mut self, now: u64, ledger: &mut Ledger) {
        let of = self.all();
        for place in 0..self.lines.len() as u32 {
            self.each(place, u8::MAX, |entry, sector| {
                if let Some(sector) = sector {
                    sector.stays(now, Residency { entry, ..of }, ledger);
                }
            });
        }
    }

    /// Everything goes.
    pub fn clear(&mut self, now: u64, ledger: &mut Ledger) {
        for place in 0..self.lines.len() {
            self.evicted(place as u32, now, ledger);
        }
        self.lines.clear();
    }

    /// A residency of a sector, but for which and when.
    fn all(&self) -> Residency {
        Residency {
            structure: self.structure,
            warp: 0,
            entry: 0,
            bits: self.sector_bits,
            from: 0,
            to: 0,
        }
    }
}

impl Sector {
    fn new(now: u64) -> Self {
        Self {
            since: now,
            accounted: now,
            dirty: false,
        }
    }

    /// It was needed until now.
    fn needed(&mut self, now: u64, of: Residency, ledger: &mut Ledger) {
        ledger.ace(Residency {
            from: self.accounted,
            to: now,
            ..of
        });
        self.accounted = self.accounted.max(now);
    }

    /// It was there until now.
    fn stays(&mut self, now: u64, of: Residency, ledger: &mut Ledger) {
        if self.dirty {
            self.needed(now, of, ledger);
        }
        let until = now.max(self.accounted);
        ledger.occupied(of.structure, u64::from(of.bits), self.since, until);
        self.since = until;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ledger: &mut Ledger, end: u64) -> (u128, u128) {
        let it = ledger.close(end).structures[Structure::L2 as usize];
        (it.ace, it.occupied)
    }

    #[test]
    fn a_clean_sector_is_needed_until_its_last_read() {
        let mut ledger = Ledger::new(0, 16, Vec::new());
        let mut cache = Contents::new(Structure::L2, 256);
        cache.filled(3, 0b101, 10);
        cache.filled(3, 0b001, 15);
        cache.read(3, 0b011, 20, &mut ledger);
        cache.read(3, 0b001, 25, &mut ledger);
        cache.evicted(3, 40, &mut ledger);
        cache.evicted(3, 50, &mut ledger);
        assert_eq!(of(&mut ledger, 60), (256 * 15, 2 * 256 * 30));
    }

    #[test]
    fn what_is_written_is_needed_until_it_is_in_memory_and_what_lay_beside_it_since_it_came() {
        let mut ledger = Ledger::new(0, 16, Vec::new());
        let mut cache = Contents::new(Structure::L2, 256);
        cache.filled(0, 0b01, 10);
        cache.written(0, 0b11, 30);
        cache.written(0, 0b10, 35);
        cache.evicted(0, 50, &mut ledger);
        let expected = 256 * (40 + 20);
        assert_eq!(of(&mut ledger, 60), (expected, expected));
        // At the end of a launch it is a part of the output, written back or not.
        cache.written(0, 0b10, 65);
        cache.settle(70, &mut ledger);
        cache.settle(80, &mut ledger);
        assert_eq!(of(&mut ledger, 80), (256 * 15, 256 * 15));
    }
}

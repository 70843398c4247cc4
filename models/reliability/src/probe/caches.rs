//! Data of caches: from the fill of a sector to its last needed read (Biswas et al., ISCA 2005, section 3).
//!
//! The first-level caches hold copies: what is written goes on to the second level at once, so that an eviction needs nothing. A sector is needed whole if a
//! needed instruction reads any of it.

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

/// A sector that is there: since when, and until when its needs have been accounted for.
#[derive(Clone, Copy, Debug)]
struct Sector {
    since: u64,
    accounted: u64,
}

impl Contents {
    pub fn new(structure: Structure, sector_bits: u32) -> Self {
        Self {
            structure,
            sector_bits,
            lines: Vec::new(),
        }
    }

    fn line(&mut self, place: u32) -> &mut [Option<Sector>; SECTORS] {
        let place = place as usize;
        if self.lines.len() <= place {
            self.lines.resize(place + 1, [None; SECTORS]);
        }
        &mut self.lines[place]
    }

    /// Sectors come; one that is there already stays what it was.
    pub fn filled(&mut self, place: u32, sectors: u8, now: u64) {
        let new = Sector {
            since: now,
            accounted: now,
        };
        for (bit, sector) in self.line(place).iter_mut().enumerate() {
            if sectors >> bit & 1 != 0 {
                sector.get_or_insert(new);
            }
        }
    }

    /// Something needed reads sectors: they were needed since they came.
    pub fn read(&mut self, place: u32, sectors: u8, now: u64, ledger: &mut Ledger) {
        let (structure, bits) = (self.structure, self.sector_bits);
        for (bit, sector) in self.line(place).iter_mut().enumerate() {
            if let (true, Some(sector)) = (sectors >> bit & 1 != 0, sector) {
                ledger.ace(Residency {
                    structure,
                    warp: 0,
                    entry: place * SECTORS as u32 + bit as u32,
                    bits,
                    from: sector.accounted,
                    to: now,
                });
                sector.accounted = sector.accounted.max(now);
            }
        }
    }

    /// A line goes.
    pub fn evicted(&mut self, place: u32, now: u64, ledger: &mut Ledger) {
        let (structure, bits) = (self.structure, self.sector_bits);
        for sector in self.line(place) {
            if let Some(Sector { since, accounted }) = sector.take() {
                ledger.occupied(structure, u64::from(bits), since, now.max(accounted));
            }
        }
    }

    /// Everything goes.
    pub fn clear(&mut self, now: u64, ledger: &mut Ledger) {
        for place in 0..self.lines.len() {
            self.evicted(place as u32, now, ledger);
        }
        self.lines.clear();
    }
}

//! Registers and masks: what holds a flip until an instruction reads or writes it. All of them are executed.

use warpwatt_gcn::Flip;

use super::lines::{Wave, scalar, vector};
use super::{Fate, Outcome, Site, Strike, Struck};

const EXEC: u8 = 126;
const VCC: u8 = 106;
const M0: u8 = 124;

impl Struck<'_> {
    /// Rows lie wavefront by wavefront in the order of slots; a row is a word of every lane.
    pub(super) fn vector_register(&self, site: &Site) -> Fate {
        let lanes = u64::from(self.spec.sm.warp_width);
        let (row, lane, bit) = (
            site.bit / (32 * lanes),
            (site.bit / 32 % lanes) as u32,
            site.bit % 32,
        );
        let holder = self.of_row(site, row);
        let rewritten = |behind: u64| self.is_written((site.sm, row, lane), (behind, site.end));
        let Some((wave, word)) = holder else {
            return Fate::Known(Site::rewritten(rewritten(site.cycle)));
        };
        let register = vector(word);
        if let Some(writer) = self.lines.writer(wave, site.cycle, (register, Some(lane))) {
            let in_time = self.lines.moments(writer).written <= site.end;
            return Fate::Known(Site::rewritten(in_time));
        }
        let (from, until) = self.reading(wave, site);
        let strike = Strike {
            wave,
            from,
            until,
            flip: Flip::Vector {
                register: word as u8,
                lane: lane as u8,
                bit: bit as u8,
            },
            rewritten: rewritten(self.lines.line(wave).to),
        };
        if !self.lines.names(wave, from..until, register) && !self.crosses(wave, from..until) {
            return Fate::Known(Site::rewritten(strike.rewritten));
        }
        Fate::Struck(strike)
    }

    /// Indexed moves name a register that is not the one that they reach.
    fn crosses(&self, wave: Wave, range: std::ops::Range<usize>) -> bool {
        let m0 = scalar(u64::from(M0));
        self.lines.any(wave, range, |inst| {
            inst.memory.is_none() && inst.sources.contains(&m0)
        })
    }

    /// Scalar registers lie wavefront by wavefront too, as far as there are rows.
    pub(super) fn scalar_register(&self, site: &Site) -> Fate {
        let (row, bit) = (site.bit / 32, site.bit % 32);
        let Some((wave, number)) = self.of_scalar_row(site.sm, row, site.cycle) else {
            return Fate::Known(Outcome::Gray);
        };
        self.scalar_bit(
            site,
            wave,
            Flip::Scalar {
                register: number as u8,
                bit: bit as u8,
            },
        )
    }

    /// EXEC, VCC, M0 and SCC of the wavefront in a slot.
    pub(super) fn special(&self, site: &Site) -> Fate {
        const BITS: u64 = 64 + 64 + 32 + 1;
        let (slot, bit) = ((site.bit / BITS) as usize, site.bit % BITS);
        let Some(wave) = self.lines.stay(site.sm, slot, site.cycle) else {
            let is_mask = bit < 64;
            let placed = self.unless_placed(site.sm, slot, site);
            return Fate::Known(if is_mask { placed } else { Outcome::Gray });
        };
        let pair = |first: u8, bit: u64| Flip::Scalar {
            register: first + (bit / 32) as u8,
            bit: (bit % 32) as u8,
        };
        let flip = match bit {
            0..64 => pair(EXEC, bit),
            64..128 => pair(VCC, bit - 64),
            128..160 => pair(M0, bit - 128),
            _ => Flip::Condition,
        };
        self.scalar_bit(site, wave, flip)
    }

    fn scalar_bit(&self, site: &Site, wave: Wave, flip: Flip) -> Fate {
        let number = match flip {
            Flip::Scalar { register, .. } => u64::from(register),
            _ => 128,
        };
        if let Some(writer) = self.lines.writer(wave, site.cycle, (scalar(number), None)) {
            let in_time = self.lines.moments(writer).written <= site.end;
            return Fate::Known(Site::rewritten(in_time));
        }
        let (from, until) = self.reading(wave, site);
        Fate::Struck(Strike {
            wave,
            from,
            until,
            flip,
            rewritten: false,
        })
    }

    /// The wavefront's instructions whose operands are read behind the flip, up to the end of the window.
    fn reading(&self, wave: Wave, site: &Site) -> (usize, usize) {
        let steps = &self.lines.line(wave).steps;
        let from =
            steps.partition_point(|step| step.issued <= site.cycle && step.read <= site.cycle);
        let until = self.lines.issuing(wave, site.window()).end;
        (from, until.max(from))
    }

    /// The wavefront that a row of the vector registers belongs to, and which of its registers that is.
    pub(super) fn of_row(&self, site: &Site, row: u64) -> Option<(Wave, u64)> {
        self.row_holder(row, |slot| self.lines.stay(site.sm, slot, site.cycle))
    }

    fn row_holder(&self, row: u64, stay: impl Fn(usize) -> Option<Wave>) -> Option<(Wave, u64)> {
        (0..self.spec.warps_per_sm() as usize).find_map(|slot| {
            let wave = stay(slot)?;
            let of_warp = u64::from(self.lines.launch(wave).registers);
            let first = slot as u64 * of_warp;
            (first..first + of_warp)
                .contains(&row)
                .then(|| (wave, row - first))
        })
    }

    /// Likewise of the scalar registers.
    pub(super) fn of_scalar_row(&self, sm: usize, row: u64, cycle: u64) -> Option<(Wave, u64)> {
        (0..self.spec.warps_per_sm() as usize).find_map(|slot| {
            let wave = self.lines.stay(sm, slot, cycle)?;
            let of_warp = self.golden.scalar_registers(wave.launch);
            let first = slot as u64 * of_warp;
            (first..first + of_warp)
                .contains(&row)
                .then(|| (wave, row - first))
        })
    }

    /// Whether some wavefront that comes into a row within a time writes it in that lane. The dispatcher writes the first register, and others where the kernel wants
    /// more of a work-item's place; that of the first is counted.
    fn is_written(&self, (sm, row, lane): (usize, u64, u32), (behind, end): (u64, u64)) -> bool {
        (0..self.spec.warps_per_sm() as usize).any(|slot| {
            let mut later = self.lines.stays((sm, slot), (behind, end), true);
            later.any(|wave| {
                let of_warp = u64::from(self.lines.launch(wave).registers);
                let Some(word) = row
                    .checked_sub(slot as u64 * of_warp)
                    .filter(|it| *it < of_warp)
                else {
                    return false;
                };
                word == 0 || self.writes(wave, (word, lane), end)
            })
        })
    }

    fn writes(&self, wave: Wave, (word, lane): (u64, u32), end: u64) -> bool {
        let register = vector(word);
        let line = self.lines.line(wave);
        let (cta, warp) = self.lines.place(wave);
        let trace = self.lines.trace(wave);
        let mut steps = trace.warp_held(cta, warp).zip(&line.steps);
        steps.any(|(step, moments)| {
            moments.written <= end
                && step.executed >> lane & 1 != 0
                && trace.code[step.inst as usize]
                    .destinations
                    .contains(&register)
        })
    }
}

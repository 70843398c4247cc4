//! The search: search lines carry the word into all rows, match lines fall where a bit differs, and what is left high matches (Wilton and Jouppi, WRL 93/5,
//! section 6; Pagiamtzis and Sheikholeslami, JSSC 41(3), 2006; CACTI 7, mat.cc).
//!
//! A match line is two halves that a NAND joins. A dummy row that always falls tells through an inverter, along half the subarray, when the others have had
//! their time; a NOR lets the match out.

use warpwatt_techlib::quantity::{Capacitance, Energy, Resistance, Time};
use warpwatt_techlib::rules;

use super::mat::{Build, mended};
use crate::gate::{self, Chain, Drive, Kind, Link};

/// Full-swing lines are restored to within a tenth: ln 10.
const RESTORED: f64 = std::f64::consts::LN_10;

/// What a search costs in one subarray.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Search {
    /// From the word at the search line drivers to the match outputs; in a cache to the wordline of the data.
    pub(super) search_lines: Time,
    pub(super) match_lines: Time,
    /// Ramp of what comes out.
    pub(super) ramp: Time,
    pub(super) search_energy: Energy,
    pub(super) match_energy: Energy,
    pub(super) wordline_energy: Energy,
    /// Until search lines, match lines and the hit line can be used again.
    pub(super) restore: Time,
    /// Until the wordline of the data has fallen.
    pub(super) wordline_reset: Time,
}

/// Half a match line.
struct HalfLine {
    drains: Capacitance,
    wire: Capacitance,
    r_wire: Resistance,
}

/// The drivers of a subarray.
pub(super) struct Drivers {
    /// Precharge of all search lines.
    pub(super) search_precharge: Chain,
    /// One search line.
    pub(super) search: Chain,
    /// Precharge of all match lines.
    pub(super) match_precharge: Chain,
    /// From a match output to the wordline of the data.
    pub(super) wordline: Chain,
}

impl Build<'_> {
    pub(super) fn drivers(&self) -> Drivers {
        let (p, sizes) = (self.p, &self.sizes);
        let local = (p.wire_local.c, p.wire_local.r);
        let column = self.shape.cam_height * self.all_rows;
        Drivers {
            search_precharge: self.precharge(self.cam_cols),
            search: self.chain(
                gate::gate_c(p, sizes.compare) * self.all_rows,
                column,
                local,
            ),
            match_precharge: self.chain(
                gate::gate_c(p, sizes.precharge) * self.all_rows,
                column,
                local,
            ),
            wordline: Chain::new(
                p,
                Kind::Inverter,
                p.f(rules::CELL_HEIGHT),
                self.wordline_link(),
            ),
        }
    }

    /// The wordline of the data, which starts at the match output.
    fn wordline_link(&self) -> Link {
        let (p, along) = (self.p, self.shape.cell_width * self.ram_cols);
        let gates = gate::gate_c(p, p.cell.access) * (2.0 * self.ram_cols);
        let load = p.wire_local.c * along + gates + gate::gate_c(p, self.sizes.hit.n);
        Link {
            load,
            wire: p.wire_local.r * along * load / 2.0,
        }
    }

    fn half(&self) -> HalfLine {
        let (p, sizes) = (self.p, &self.sizes);
        let tall = p.f(rules::CELL_HEIGHT);
        let cells = (self.cam_cols / 2.0).ceil();
        let along = self.shape.cell_width * cells;
        HalfLine {
            drains: gate::drain_n(p, sizes.compare, 2, tall) * (2.0 * cells)
                + gate::drain_p(p, sizes.precharge, tall),
            wire: p.wire_local.c * along,
            r_wire: p.wire_local.r * along,
        }
    }

    pub(super) fn search(&self, drivers: &Drivers) -> Search {
        let p = self.p;
        let half = self.half();
        let searched = drivers.search.drive(p, Drive::default());
        let (matched, ramp) = self.match_delay(&half, searched.ramp);
        let wordline = drivers.wordline.drive(
            p,
            Drive {
                ramp,
                ..Drive::default()
            },
        );
        let precharged = drivers.search_precharge.drive(p, Drive::default());
        let (mut match_lines, mut out) = (matched, ramp);
        if self.need.is_cache() {
            // The next search waits for the slower of the data's wordline and the line that tells of a hit.
            match_lines += wordline.delay.max(self.hit_delay(ramp));
            out = wordline.ramp;
        }
        Search {
            search_lines: searched.delay,
            match_lines,
            ramp: out,
            search_energy: precharged.energy + searched.energy * self.cam_cols,
            match_energy: self.match_energy(drivers, &half),
            wordline_energy: wordline.energy,
            restore: self.search_restore(drivers, &half),
            wordline_reset: self.wordline_reset(&drivers.wordline),
        }
    }

    /// From the end of the search line to the match output of a row, and its ramp.
    fn match_delay(&self, half: &HalfLine, ramp: Time) -> (Time, Time) {
        let (p, s) = (self.p, &self.sizes);
        let [line_in, nand_in, dummy_in, nor_in] = rules::CAM_THRESHOLDS;
        let nand = s.nand.input(p);
        let tau = gate::r_n(p, s.compare, 2) * (half.drains + half.wire / 2.0 + nand)
            + half.r_wire * (half.wire / 2.0 + nand);
        let line = gate::falling(ramp, tau, line_in, nand_in);
        let tau = gate::r_n(p, s.nand.n, 2) * (s.nand.nand_drains(p) + s.dummy.input(p));
        let joined = gate::rising(line / nand_in, tau, nand_in, dummy_in);
        let column = self.shape.cam_height * (self.all_rows / 2.0);
        let wire = half.wire + p.wire_local.c * column;
        let r_wire = half.r_wire + p.wire_local.r * column;
        let nor = s.nor.input(p);
        let tau = gate::r_n(p, s.dummy.n, 1) * (s.dummy.inverter_drains(p) + wire + nor)
            + r_wire * (wire / 2.0 + nor);
        let timed = gate::falling(joined / (1.0 - dummy_in), tau, dummy_in, nor_in);
        // The first inverter of the driver behind it; the threshold stays that of the NOR's input, which agrees best with the tool.
        let load = s.nor.nor_drains(p) + gate::gate_c(p, p.min_nmos() + p.min_pmos());
        let tau = gate::r_n(p, s.nor.n, 1) * load;
        let released = gate::rising(timed * 2.0, tau, nor_in, nor_in);
        (line + joined + timed + released, released * 2.0)
    }

    /// The line that tells whether any row matched.
    fn hit_delay(&self, ramp: Time) -> Time {
        let p = self.p;
        let (c, r_wire) = self.hit_line();
        let tau = gate::r_p(p, self.sizes.compare * 2.0) * c + r_wire * c / 2.0;
        gate::rising(ramp, tau, 0.5, 0.5)
    }

    fn hit_line(&self) -> (Capacitance, Resistance) {
        let (p, s) = (self.p, &self.sizes);
        let tall = p.f(rules::CELL_HEIGHT);
        let along = self.shape.cam_height * self.shape.rows as f64;
        let drains = gate::drain_n(p, s.hit.n, 1, tall) * (2.0 * self.shape.rows as f64)
            + gate::drain_p(p, s.hit.p, tall);
        (drains + p.wire_local.c * along, p.wire_local.r * along)
    }

    /// Every row but the one that matches swings both halves, and so does the dummy row.
    fn match_energy(&self, drivers: &Drivers, half: &HalfLine) -> Energy {
        let (p, s) = (self.p, &self.sizes);
        let tall = p.f(rules::CELL_HEIGHT);
        let (rows, all) = (self.shape.rows as f64, self.all_rows);
        let nand = s.nand.input(p);
        let halves = (half.drains + half.wire + nand) * (2.0 * all);
        let joined = s.nand.nand_drains(p) * all + s.dummy.input(p) * 2.0;
        let dummy = s.dummy.inverter_drains(p)
            + half.wire
            + p.wire_local.c * (self.shape.cam_height * (all / 2.0))
            + s.nor.input(p) * rows;
        let hit = gate::drain_n(p, s.hit.n, 1, tall) * (2.0 * all)
            + p.wire_local.c * (self.shape.cam_height * (2.0 * rows))
            + gate::drain_p(p, s.hit.p, tall)
            + s.nor.nor_drains(p) * 2.0;
        let precharge = drivers.match_precharge.drive(p, Drive::default());
        precharge.energy + p.full_swing(halves + joined + dummy + hit)
    }

    fn search_restore(&self, drivers: &Drivers, half: &HalfLine) -> Time {
        let p = self.p;
        // The tool multiplies by the logarithm of the precharge voltage in volts: nothing at 1 V, less than nothing below (mat.cc:883, 921 and 998).
        let times = if mended(p) {
            RESTORED
        } else {
            libm::log(p.precharge.si())
        };
        let c = self.c_bitline;
        let r_column = p.wire_local.r * (self.shape.cam_height * self.all_rows);
        let r = gate::r_p(p, p.min_pmos() * rules::PRECHARGE);
        let search = (r * c + r_column * c / 2.0) * times;
        let c = half.drains + half.wire;
        let r = gate::r_p(p, self.sizes.precharge);
        let lines = (r * c + half.r_wire * c / 2.0) * times;
        let (c, r_wire) = self.hit_line();
        let hit = (gate::r_p(p, self.sizes.hit.p) * c + r_wire * c / 2.0) * times;
        let driver = |chain: &Chain| chain.drive(p, Drive::default()).delay;
        let lines_alone = driver(&drivers.search_precharge) + driver(&drivers.match_precharge);
        lines_alone
            + search
            + lines
            + if self.need.is_cache() {
                hit
            } else {
                Time::ZERO
            }
    }

    fn wordline_reset(&self, chain: &Chain) -> Time {
        let p = self.p;
        let Link { load, wire } = self.wordline_link();
        let tall = self.shape.cell_height * rules::DECODER_CELLS;
        let n = chain.last_n();
        let own = gate::drain_n(p, n, 1, tall) + gate::drain_p(p, n, tall);
        let tau = gate::r_n(p, n, 1) * (own + load) + wire;
        gate::rising(Time::ZERO, tau, 0.5, 0.5)
    }
}

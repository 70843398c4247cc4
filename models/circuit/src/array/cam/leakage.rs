//! Leakage of a mat (CACTI 7, mat.cc). Sub-threshold and gate leakage in pairs.

use warpwatt_techlib::quantity::{Length, Power};

use super::super::Stage;
use super::mat::{Build, mended};
use super::matching::Drivers;
use crate::gate::{self, Chain, Kind};

/// Both kinds of leakage.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Leak {
    pub(super) sub: Power,
    pub(super) gate: Power,
}

impl Leak {
    pub(super) fn times(self, count: f64) -> Self {
        Self {
            sub: self.sub * count,
            gate: self.gate * count,
        }
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self {
            sub: self.sub + other.sub,
            gate: self.gate + other.gate,
        }
    }

    pub(super) fn of((sub, gate): (Power, Power)) -> Self {
        Self { sub, gate }
    }

    pub(super) fn stage(stage: &Stage) -> Self {
        Self {
            sub: stage.leakage,
            gate: stage.gate_leakage,
        }
    }
}

impl Build<'_> {
    /// One gate.
    fn leaks(&self, kind: Kind, n: Length, p: Length) -> Leak {
        let process = self.p;
        Leak {
            sub: process.power(gate::leak(process, kind, n, p)),
            gate: process.power(gate::gate_leak(process, kind, n, p)),
        }
    }

    /// Access transistors of the ports of a cell.
    fn accesses(&self) -> Leak {
        let (p, ports) = (self.p, self.need.ports);
        let writers = p.power(gate::access_leak(p, p.cell.access)) * f64::from(ports.writers());
        let readers = p.power(gate::read_port_leak(p, p.cell.access)) * f64::from(ports.read);
        let gates = self.leaks(Kind::Inverter, p.cell.access, Length::ZERO).gate;
        Leak {
            sub: writers + readers,
            gate: gates * f64::from(ports.read),
        }
    }

    /// A memory cell. Its two inverters count once in gate leakage, as they do in the tool's plain memories.
    fn memory_cell(&self) -> Leak {
        let cell = self.leaks(Kind::Inverter, self.p.cell.nmos, self.p.cell.pmos);
        Leak {
            sub: cell.sub * 2.0,
            gate: if mended(self.p) {
                cell.gate * 2.0
            } else {
                cell.gate
            },
        }
        .and(self.accesses())
    }

    /// Memory cells beside the tags, of one subarray. The tool counts a memory cell for every CAM cell too.
    pub(super) fn cells(&self) -> Leak {
        if !self.need.is_cache() {
            return Leak::default();
        }
        let cols = if mended(self.p) {
            self.ram_cols
        } else {
            self.ram_cols + self.cam_cols
        };
        self.memory_cell().times(cols * self.shape.rows as f64)
    }

    /// CAM cells and the match path of each row, of one subarray.
    pub(super) fn matching(&self) -> Leak {
        let s = &self.sizes;
        let inverters = self
            .leaks(Kind::Inverter, self.p.cell.nmos, self.p.cell.pmos)
            .times(2.0);
        let compare = self.leaks(Kind::Inverter, s.compare, s.compare).times(2.0);
        let cell = inverters.and(compare).and(self.accesses());
        let hit = Leak {
            sub: Power::ZERO,
            ..self.leaks(Kind::Inverter, s.hit.n, Length::ZERO)
        };
        let row = self
            .leaks(Kind::Inverter, Length::ZERO, s.precharge)
            .and(self.leaks(Kind::Nand(2), s.nand.n, s.nand.p))
            .and(self.leaks(Kind::Nor(2), s.nor.n, s.nor.p));
        cell.times(self.cam_cols * self.all_rows)
            .and(row.times(self.all_rows))
            .and(hit.times(self.shape.rows as f64))
    }

    /// Drivers of search lines, and, mended, those that the tool forgets: of the match lines' precharge, of the dummy row, of the data's wordlines.
    pub(super) fn searching(&self, drivers: &Drivers) -> Leak {
        let chain = |chain: &Chain| Leak::of(chain.leakage(self.p, Kind::Inverter));
        let counted =
            chain(&drivers.search_precharge).and(chain(&drivers.search).times(self.cam_cols));
        if !mended(self.p) {
            return counted;
        }
        let dummy = self.leaks(Kind::Inverter, self.sizes.dummy.n, self.sizes.dummy.p);
        let wordlines = if self.need.is_cache() {
            chain(&drivers.wordline).times(self.shape.rows as f64)
        } else {
            Leak::default()
        };
        counted
            .and(chain(&drivers.match_precharge))
            .and(dummy)
            .and(wordlines)
    }
}

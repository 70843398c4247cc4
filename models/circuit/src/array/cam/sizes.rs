//! Transistors of the match path.

use warpwatt_techlib::quantity::{Capacitance, Length};
use warpwatt_techlib::rules;

use super::mat::mended;
use super::shape::CamShape;
use crate::gate;
use crate::process::Process;

/// NMOS and PMOS of a gate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) n: Length,
    pub(super) p: Length,
}

/// Widths of the match path of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// Compare transistors of a cell; two in series pull the match line down.
    pub(super) compare: Length,
    /// Precharge of half a match line.
    pub(super) precharge: Length,
    /// Joins the halves.
    pub(super) nand: Pair,
    /// Behind the NAND of the dummy row: tells all rows when a match line would have fallen.
    pub(super) dummy: Pair,
    /// In front of each row's match output.
    pub(super) nor: Pair,
    /// Hangs on the line that tells whether any row matched.
    pub(super) hit: Pair,
}

impl Pair {
    fn f(p: &Process, (n, pm): (f64, f64)) -> Self {
        Self {
            n: p.f(n),
            p: p.f(pm),
        }
    }

    /// Capacitance of one input.
    pub(super) fn input(&self, process: &Process) -> Capacitance {
        gate::gate_c(process, self.n + self.p)
    }

    /// Drains at the output of a NAND of two.
    pub(super) fn nand_drains(&self, process: &Process) -> Capacitance {
        let tall = process.f(rules::CELL_HEIGHT);
        gate::drain_n(process, self.n, 2, tall) + gate::drain_p(process, self.p, tall) * 2.0
    }

    /// Drains at the output of an inverter.
    pub(super) fn inverter_drains(&self, process: &Process) -> Capacitance {
        let tall = process.f(rules::CELL_HEIGHT);
        gate::drain_n(process, self.n, 1, tall) + gate::drain_p(process, self.p, tall)
    }

    /// Drains at the output of a NOR of two.
    pub(super) fn nor_drains(&self, process: &Process) -> Capacitance {
        let tall = process.f(rules::CELL_HEIGHT);
        gate::drain_n(process, self.n, 1, tall) * 2.0 + gate::drain_p(process, self.p, tall)
    }
}

impl Sizes {
    /// Those of the tool, or sized for what they drive.
    pub(super) fn new(p: &Process, shape: &CamShape, all_rows: f64) -> Self {
        let tool = Self {
            compare: p.cell.nmos,
            precharge: p.min_pmos() * rules::PRECHARGE,
            nand: Pair::f(p, rules::CAM_NAND),
            dummy: Pair::f(p, rules::CAM_DUMMY_INVERTER),
            nor: Pair::f(p, rules::CAM_NOR),
            hit: Pair {
                n: p.cell.nmos,
                p: p.cell.nmos * p.p_to_n,
            },
        };
        if !mended(p) {
            return tool;
        }
        // Smallest gates in every row; the one driver of the dummy row has an effort of four (CACTI 5.1 TR, section 4.1).
        let nor = Pair {
            n: p.min_nmos(),
            p: p.min_pmos() * 2.0,
        };
        let line = p.wire_local.c * (shape.cam_height * all_rows) / 2.0 + nor.input(p) * all_rows;
        let n = (line / rules::STAGE_EFFORT / p.c_gate / (1.0 + p.p_to_n)).max(p.min_nmos());
        Self {
            nand: Pair {
                n: p.min_nmos() * 2.0,
                p: p.min_pmos(),
            },
            dummy: Pair {
                n: n.min(p.f(rules::MAX_NMOS)),
                p: n.min(p.f(rules::MAX_NMOS)) * p.p_to_n,
            },
            nor,
            ..tool
        }
    }
}

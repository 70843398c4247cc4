//! The plain read of a row of an associative array (CACTI 7, mat.cc). One subarray works.

use warpwatt_techlib::quantity::{Capacitance, Energy, Length, Power, Resistance, Time};
use warpwatt_techlib::rules;

use super::super::Stage;
use super::super::mat::with_ramp;
use super::mat::{Build, mended};
use crate::gate::{self, Chain, Drive, Kind, Link};

/// Bitlines of both kinds of cells, per column where it is an energy.
pub(super) struct Bitlines {
    /// Without the slope of the wordline.
    step: Time,
    pub(super) read: Energy,
    pub(super) write: Energy,
}

impl Build<'_> {
    /// Drains of isolation transistor and multiplexer, and the latch.
    fn column(&self) -> (Capacitance, Capacitance, Capacitance) {
        let p = self.p;
        let (n, pm) = (p.f(rules::SENSE_N), p.f(rules::SENSE_P));
        let at = |width| gate::drain_pitch(p, width, self.column_pitch(1.0));
        let latch = gate::gate_c(p, n + pm) + at(n) + at(pm);
        (
            at(p.f(rules::SENSE_ISOLATION)),
            at(p.min_nmos() * rules::MUX),
            latch,
        )
    }

    /// The tool takes the height of a cell in micrometres for its resistance in ohms (mat.cc:1110).
    pub(super) fn r_bitline(&self) -> Resistance {
        let rows = self.shape.rows as f64;
        if mended(self.p) {
            self.p.wire_local.r * (self.shape.cam_height * rows)
        } else {
            Resistance::from_si(self.shape.cam_height.as_um() * rows)
        }
    }

    pub(super) fn bitlines(&self) -> Bitlines {
        let p = self.p;
        let (isolation, mux, latch) = self.column();
        let r_cell = gate::r_n(p, p.cell.nmos, 1) + gate::r_n(p, p.cell.access, 1);
        let r_isolation = gate::r_n(p, p.f(rules::SENSE_ISOLATION), 1) * (p.r_p / p.r_n);
        let swing = p.sense_swing();
        let amplifier = isolation + latch + mux;
        let c = self.c_bitline;
        let tau = r_cell * (c + amplifier) + self.r_bitline() * c / 2.0 + r_isolation * amplifier;
        Bitlines {
            step: tau * libm::log(p.precharge / (p.precharge - swing)),
            read: (c + isolation + amplifier) * swing * p.vdd * 2.0,
            write: p.full_swing(c) * 2.0,
        }
    }

    /// Delay behind a wordline with a ramp.
    pub(super) fn bitline_delay(&self, lines: &Bitlines, ramp: Time) -> Time {
        with_ramp(self.p, lines.step, ramp)
    }

    /// One sense amplifier.
    pub(super) fn sense(&self) -> Stage {
        let p = self.p;
        let (isolation, mux, latch) = self.column();
        let load = latch + isolation + mux;
        let tau = load.si() / p.sense_gm;
        Stage {
            delay: Time::from_si(tau * libm::log(p.vdd / p.sense_swing())),
            energy: p.full_swing(load),
            leakage: p.power(p.i_off * p.f(rules::SENSE_ENABLE)),
            gate_leakage: Power::ZERO,
        }
    }

    /// One output, from its sense amplifier or match line to the edge of the mat.
    pub(super) fn output(&self, ramp: Time) -> Stage {
        let p = self.p;
        let (min_n, min_p) = (p.min_nmos(), p.min_pmos());
        let mux = min_n * rules::MUX;
        let tall = p.f(rules::CELL_HEIGHT);
        let inverter = gate::gate_c(p, min_n + min_p);
        let own = gate::drain_n(p, min_n, 1, tall) + gate::drain_p(p, min_p, tall);
        let drain = gate::drain_pitch(p, mux, self.column_pitch(1.0));
        let (r_mux, r_inverter) = (gate::r_n(p, mux, 1), gate::r_n(p, min_n, 1));
        let path = [
            (r_mux, drain + inverter),
            (r_inverter, own + inverter),
            (r_inverter, own + drain),
            (r_mux, drain + self.out_driver),
        ];
        let start = Drive {
            ramp,
            ..Drive::default()
        };
        let end = path.iter().fold(start, |drive, &(r, c)| {
            let delay = gate::rising(drive.ramp, r * c, 0.5, 0.5);
            Drive {
                delay: drive.delay + delay,
                ramp: delay * 2.0,
                energy: drive.energy + p.full_swing(c) * 0.5,
            }
        });
        let buffer = gate::leak(p, Kind::Inverter, min_n, min_p) * 2.0;
        let pass = gate::gate_leak(p, Kind::Inverter, mux, Length::ZERO) * 2.0;
        let buffer_gate = gate::gate_leak(p, Kind::Inverter, min_n, min_p) * 2.0;
        Stage {
            delay: end.delay + self.out_wire.delay,
            energy: end.energy + self.out_wire.energy,
            leakage: p.power(buffer) + self.out_wire.leakage,
            gate_leakage: p.power(pass + buffer_gate) + self.out_wire.gate_leakage,
        }
    }

    /// The chain on the precharge and equaliser gates of some columns.
    pub(super) fn precharge(&self, cols: f64) -> Chain {
        let p = self.p;
        let width = p.min_pmos() * (2.0 * rules::PRECHARGE + rules::EQUALISER);
        let wire = p.wire_outside;
        self.chain(
            gate::gate_c(p, width) * cols,
            self.shape.cell_width * cols,
            (wire.c, wire.r),
        )
    }

    /// A chain of inverters on some gates along a wire.
    pub(super) fn chain(
        &self,
        gates: Capacitance,
        along: Length,
        (c, r): (
            warpwatt_techlib::quantity::CapacitancePerLength,
            warpwatt_techlib::quantity::ResistancePerLength,
        ),
    ) -> Chain {
        let wire_c = c * along;
        let link = Link {
            load: gates + wire_c,
            wire: r * along * (wire_c / 2.0 + gates),
        };
        Chain::new(self.p, Kind::Inverter, self.p.f(rules::CELL_HEIGHT), link)
    }

    /// Time for the bitlines beside the tags to come back after a read.
    pub(super) fn restore(&self, driver: Time) -> Time {
        let p = self.p;
        let swing = p.sense_swing();
        let r = gate::r_p(p, p.min_pmos() * rules::PRECHARGE);
        let ratio = (p.precharge - swing * 0.1) / (p.precharge - swing);
        let r_line = p.wire_local.r * (self.shape.cam_height * self.shape.rows as f64);
        let tau = r * self.c_bitline + r_line * self.c_bitline / 2.0;
        driver + tau * libm::log(ratio)
    }
}

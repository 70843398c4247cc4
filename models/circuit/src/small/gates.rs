//! Smallest gates in standard-cell rows, and lines with their drivers: what small structures are made of.
//!
//! Gates are smallest NAND2 in rows of 50 F; long lines get a chain sized by logical effort (CACTI 5.1 TR, section 4.1).

use warpwatt_techlib::quantity::{Area, Capacitance, Energy, Length, Power, Time};
use warpwatt_techlib::{Technology, rules};

use crate::build::uncertainty;
use crate::gate::{self, Chain, Drive, Kind, Link};
use crate::process::{Process, Wire};
use crate::{Cost, Part};

/// A smallest NAND2 that drives another one.
pub(crate) struct Cell<'a> {
    pub(crate) p: &'a Process,
    pub(crate) area: Area,
    pub(crate) leakage: Power,
    pub(crate) gate_leakage: Power,
    /// Into one input, and of a node between two gates.
    pub(crate) input: Capacitance,
    pub(crate) node: Capacitance,
    pub(crate) delay: Time,
}

/// What a part of a small structure costs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) name: &'static str,
    pub(crate) area: Area,
    pub(crate) leakage: Power,
    pub(crate) gate_leakage: Power,
    pub(crate) energy: Energy,
    pub(crate) delay: Time,
}

impl<'a> Cell<'a> {
    pub(crate) fn new(p: &'a Process) -> Self {
        let (n, pm, tall) = (p.min_nmos() * 2.0, p.min_pmos(), p.f(rules::CELL_HEIGHT));
        let input = gate::gate_c(p, n + pm);
        let own = gate::drain_p(p, pm, tall) * 2.0 + gate::drain_n(p, n, 2, tall);
        let tau = gate::r_n(p, n, 2) * (own + input);
        // The ramp that a long row of such gates settles to is its own: twice the delay.
        let first = gate::stage(p, Time::ZERO, tau);
        let delay = gate::stage(p, first * 2.0, tau);
        Self {
            p,
            area: gate::area(p, Kind::Nand(2), pm, n, tall),
            leakage: p.power(gate::leak(p, Kind::Nand(2), n, pm)),
            gate_leakage: p.power(gate::gate_leak(p, Kind::Nand(2), n, pm)),
            input,
            node: own + input,
            delay,
        }
    }

    /// `count` gates, `depth` of them on the way, `active` of them switching once.
    pub(crate) fn gates(&self, name: &'static str, count: f64, depth: f64, active: f64) -> Piece {
        Piece {
            name,
            area: self.area * count,
            leakage: self.leakage * count,
            gate_leakage: self.gate_leakage * count,
            energy: self.p.full_swing(self.node) * active,
            delay: self.delay * depth,
        }
    }

    /// A line of length `length` to `inputs` gate inputs, and its drivers; `active` of `count` such lines switch. In the silicon profile a local wire that repeaters
    /// would make faster is one of the layer above with repeaters instead.
    pub(crate) fn lines(
        &self,
        name: &'static str,
        inputs: f64,
        length: Length,
        count: f64,
        active: f64,
    ) -> Piece {
        let p = self.p;
        let number =
            |wire: &Wire| wire.stretches(length, self.input * inputs.max(1.0) + wire.c * length);
        let (wire, number) = match number(&p.wire_local) {
            1.0 => (&p.wire_local, 1.0),
            _ => (&p.wire_inside, number(&p.wire_inside)),
        };
        let length = length / number;
        // Behind a stretch begins the next.
        let next = if number > 1.0 {
            self.input
        } else {
            Capacitance::ZERO
        };
        let load = self.input * (inputs / number).max(1.0) + wire.c * length + next;
        let chain = Chain::new(
            p,
            Kind::Inverter,
            p.f(rules::CELL_HEIGHT),
            Link {
                load,
                wire: wire.r * length * load / 2.0,
            },
        );
        let drive = chain.drive(p, Drive::default());
        let (leakage, gate_leakage) = chain.leakage(p, Kind::Inverter);
        let all = count * number;
        Piece {
            name,
            area: chain.area(p) * all,
            leakage: leakage * all,
            gate_leakage: gate_leakage * all,
            energy: drive.energy * (active * number),
            delay: drive.delay * number,
        }
    }

    /// Side of a square block of so many gates.
    pub(crate) fn side(&self, gates: f64) -> Length {
        Length::from_m((self.area.as_m2() * gates).sqrt())
    }
}

/// A structure of pieces, so wide; its access takes `access`.
pub(crate) fn assemble(
    technology: &Technology,
    model: &str,
    pieces: Vec<Piece>,
    (width, access): (Length, Time),
) -> Cost {
    let area: Area = pieces.iter().map(|piece| piece.area).sum();
    let part = |piece: &Piece| Part {
        name: piece.name.to_owned(),
        read_energy: piece.energy,
        search_energy: None,
        leakage: piece.leakage,
        area: piece.area,
        delay: piece.delay,
        between_banks: false,
    };
    Cost {
        area,
        width,
        height: area / width,
        access_time: access,
        cycle_time: access,
        read_energy: pieces.iter().map(|piece| piece.energy).sum(),
        write_energy: Energy::ZERO,
        search_energy: None,
        leakage: pieces.iter().map(|piece| piece.leakage).sum(),
        gate_leakage: pieces.iter().map(|piece| piece.gate_leakage).sum(),
        breakdown: pieces.iter().map(part).collect(),
        organisation: None,
        model: model.to_owned(),
        uncertainty: uncertainty(technology),
        tag: None,
        data: None,
        alternatives: Vec::new(),
        gated: None,
        limits: None,
    }
}

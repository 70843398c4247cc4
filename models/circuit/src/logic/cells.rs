//! A standard-cell library on a process: what a smallest gate weighs, drives, leaks and covers.
//!
//! Cells stand in rows; a gate of `n` inputs takes `n` columns of one N and one P transistor, and a gap towards the next cell. Transistors of all smallest cells
//! are equally wide: three quarters of the row's height shared by N and P in the ratio of least delay, the root of their drive ratio (Weste and Harris, CMOS VLSI
//! Design, section 4.4). A stack of two drives half as well.

use warpwatt_techlib::published::rules as cell_rules;
use warpwatt_techlib::published::{self, Row};
use warpwatt_techlib::quantity::{
    Area, Capacitance, CapacitancePerLength, Energy, Length, Power, Resistance,
    ResistancePerLength, Time,
};
use warpwatt_techlib::{Technology, rules};

use super::kind::Kind;
use crate::build::Sizing;
use crate::gate::{self, drain_n, drain_p, gate_c};
use crate::process::Process;
use crate::{CircuitError, Profile};

/// Columns of a flip-flop: two latches of transmission gates and two clock inverters (Nangate DFF_X1: 17 gate pitches with its gap).
const FLOP_COLUMNS: f64 = 16.0;
/// Inverters that leak in a flip-flop.
const FLOP_INVERTERS: f64 = 10.0;
/// Smallest-inverter inputs at the clock: two inverters and four transmission gates.
const FLOP_CLOCKED: f64 = 6.0;
/// Nodes inside that follow the data.
const FLOP_NODES: f64 = 5.0;
/// Gates from clock to output, and from data to where the clock must find it.
const FLOP_OUT: f64 = 3.0;
const FLOP_SETUP: f64 = 2.0;

/// Inputs of the widest gate.
const MOST_INPUTS: usize = 4;

/// The library.
#[derive(Clone, Debug)]
pub(crate) struct Cells<'a> {
    pub(crate) process: &'a Process,
    pub(crate) row: Row,
    /// Of an N transistor of a smallest gate.
    width: Length,
    /// Into one input of any smallest gate.
    pub(crate) input: Capacitance,
    pub(crate) wire_c: CapacitancePerLength,
    pub(crate) wire_r: ResistancePerLength,
    /// By kind. A block has thousands of gates of a handful of kinds.
    smallest: [Smallest; Kind::ALL.len()],
}

/// A smallest gate of a kind.
#[derive(Clone, Copy, Debug)]
struct Smallest {
    own: Capacitance,
    resistance: Resistance,
    /// By state: input i is bit i of its number.
    leakage: [Power; 1 << MOST_INPUTS],
    gate_leakage: Power,
}

/// The widths of the transistors that smallest gates are made of.
#[derive(Clone, Copy)]
struct Transistors<'a> {
    process: &'a Process,
    n: Length,
    p: Length,
}

impl<'a> Cells<'a> {
    /// In which a structure is built.
    pub(crate) fn of(at: &Sizing<'a>) -> Result<Self, CircuitError> {
        let row = at.choices.row(|| row(at.technology))?;
        Ok(Self::new(at.run, at.technology, row))
    }

    fn new(process: &'a Process, technology: &Technology, row: Row) -> Self {
        let total = row.height * cell_rules::CELL_TRANSISTORS;
        let n = total / (1.0 + process.p_to_n.sqrt());
        let [n, p] = [n, total - n].map(|width| whole_fins(technology, width));
        let transistors = Transistors { process, n, p };
        Self {
            process,
            width: n,
            input: gate_c(process, n + p),
            wire_c: process.wire_local.c,
            wire_r: process.wire_local.r,
            smallest: Kind::ALL.map(|kind| transistors.smallest(kind)),
            row,
        }
    }

    fn smallest(&self, kind: Kind) -> &Smallest {
        &self.smallest[kind as usize]
    }

    /// Width of an N transistor of a smallest gate.
    pub(crate) fn width(&self) -> Length {
        self.width
    }

    /// Area of a gate of a size; `begins` if it starts a cell.
    pub(crate) fn area(&self, kind: Kind, size: f64, begins: bool) -> Area {
        let columns = match kind {
            Kind::Flop => FLOP_COLUMNS,
            other => other.inputs() as f64 * size,
        };
        let gap = if begins { self.row.gap } else { 0.0 };
        self.row.gate_pitch * (columns + gap) * self.row.height
    }

    /// Output capacitance of a smallest gate itself, with the nodes inside its stacks.
    pub(crate) fn own(&self, kind: Kind) -> Capacitance {
        self.smallest(kind).own
    }

    /// Mean resistance of the slowest way to either rail of a smallest gate.
    pub(crate) fn resistance(&self, kind: Kind) -> Resistance {
        self.smallest(kind).resistance
    }

    /// Logical effort: drive of an inverter over that of the gate, inputs being equal.
    pub(crate) fn effort(&self, kind: Kind) -> f64 {
        self.resistance(kind) / self.resistance(Kind::Inv)
    }

    /// Delay of a gate that charges `load` beside itself. Logical effort is linear: the resistance is that which gives a fan-out-of-four inverter its measured
    /// delay, with the slopes that signals have in a row of gates.
    pub(crate) fn delay(&self, kind: Kind, size: f64, load: Capacitance) -> Time {
        let own = self.own(if kind == Kind::Flop { Kind::Inv } else { kind }) * size;
        self.resistance(kind) / size * (own + load) * core::f64::consts::LN_2
    }

    /// Delay of an inverter that drives four like it.
    #[cfg(test)]
    pub(crate) fn fo4(&self) -> Time {
        self.delay(Kind::Inv, 1.0, self.input * 4.0)
    }

    /// Leakage of a smallest gate in a state.
    pub(crate) fn leakage(&self, kind: Kind, state: &[bool]) -> Power {
        let number = state
            .iter()
            .rev()
            .fold(0, |number, on| 2 * number + usize::from(*on));
        self.smallest(kind).leakage[number]
    }

    /// Gate leakage of a smallest gate, averaged over the states.
    pub(crate) fn gate_leakage(&self, kind: Kind) -> Power {
        self.smallest(kind).gate_leakage
    }

    /// Energy out of the supply for charging `c` once, with short-circuit current.
    pub(crate) fn charge(&self, c: Capacitance) -> Energy {
        self.process.full_swing(c) * (1.0 + cell_rules::SHORT_CIRCUIT_SHARE)
    }

    /// Capacitance that the clock charges in every cycle of a flip-flop: its input, and all clock nodes inside.
    pub(crate) fn flop_clock(&self) -> Capacitance {
        self.input * FLOP_CLOCKED + self.own(Kind::Inv) * 2.0
    }

    /// Capacitance inside that follows the data.
    pub(crate) fn flop_data(&self) -> Capacitance {
        (self.own(Kind::Inv) + self.input) * FLOP_NODES
    }

    /// From the clock to the output of a flip-flop that drives `load`.
    pub(crate) fn flop_out(&self, load: Capacitance) -> Time {
        let inside = self.delay(Kind::Inv, 1.0, self.input) * (FLOP_OUT - 1.0);
        inside + self.delay(Kind::Inv, 1.0, load)
    }

    /// How long data must be there before the clock.
    pub(crate) fn flop_setup(&self) -> Time {
        self.delay(Kind::Inv, 1.0, self.input) * FLOP_SETUP
    }
}

impl Transistors<'_> {
    fn smallest(self, kind: Kind) -> Smallest {
        let inputs = kind.inputs();
        let leakage = std::array::from_fn(|number| {
            let state: [bool; MOST_INPUTS] = std::array::from_fn(|input| number >> input & 1 == 1);
            self.leakage(kind, &state[..inputs])
        });
        Smallest {
            own: self.own(kind),
            resistance: self.resistance(kind),
            leakage,
            gate_leakage: self.gate_leakage(kind),
        }
    }

    fn own(self, kind: Kind) -> Capacitance {
        // Tall enough that a smallest transistor is not folded.
        let tall = self.process.f(rules::CELL_HEIGHT);
        let (n, p) = kind.drains();
        let (stack_n, stack_p) = kind.stacks();
        let n_drain = drain_n(self.process, self.n, stack_n, tall) * f64::from(n);
        // The stacked P transistors' inner nodes are like those of the N.
        let inner =
            drain_n(self.process, self.p, stack_p, tall) - drain_n(self.process, self.p, 1, tall);
        n_drain + (drain_p(self.process, self.p, tall) + inner) * f64::from(p)
    }

    fn resistance(self, kind: Kind) -> Resistance {
        let (n, p) = kind.stacks();
        let down = gate::r_n(self.process, self.n, n);
        let up = gate::r_p(self.process, self.p) * f64::from(p);
        (down + up) / 2.0
    }

    fn leakage(self, kind: Kind, state: &[bool]) -> Power {
        let (n, p) = kind.off(state, rules::STACK_FACTOR);
        let copies = if kind == Kind::Flop {
            FLOP_INVERTERS
        } else {
            1.0
        };
        let current = self.process.i_off * (self.n * n + self.p * p);
        self.process.power(current * copies)
    }

    /// Half of the transistors are on. None in the 6.5 profile, whose arrays have none either: what stands beside an array is charged what the array is.
    fn gate_leakage(self, kind: Kind) -> Power {
        if self.process.profile == Profile::Cacti65 {
            return Power::ZERO;
        }
        let pairs = if kind == Kind::Flop {
            FLOP_INVERTERS
        } else {
            kind.inputs() as f64
        };
        self.process
            .power(self.process.i_gate * ((self.n + self.p) * (pairs / 2.0)))
    }
}

/// The rows of a technology. Planar nodes count layouts in CACTI's F, whose rows of 50 F are those of its decoders; rows of real cell libraries stand in.
pub(crate) fn row(technology: &Technology) -> Result<Row, CircuitError> {
    if technology.layout.kind == warpwatt_techlib::Kind::Planar {
        return Ok(published::row(technology.feature)?);
    }
    let layout = &technology.layout;
    Ok(Row {
        gate_pitch: layout.gate_pitch.value,
        height: layout.row_height.value,
        // Two dummy gates end a diffusion of fins (ASAP7: INVx1 is three gate pitches wide), one ends a planar one.
        gap: if layout.kind == warpwatt_techlib::Kind::Finfet {
            2.0
        } else {
            1.0
        },
        source: format!("{}; {}", layout.gate_pitch.source, layout.row_height.source),
        uncertainty: layout
            .gate_pitch
            .uncertainty
            .max(layout.row_height.uncertainty),
    })
}

/// As many whole fins as fit in a width, at least one; any width in planar nodes.
fn whole_fins(technology: &Technology, width: Length) -> Length {
    match &technology.layout.fin {
        Some(fin) => {
            let fins: f64 = width / fin.pitch.value;
            fin.pitch.value * (fins + 1e-9).floor().max(1.0)
        }
        None => width,
    }
}

#[cfg(test)]
mod tests {
    use warpwatt_techlib::quantity::Temperature;
    use warpwatt_techlib::{Flavour, Library};

    use super::*;
    use crate::{OperatingPoint, Profile};

    fn fo4(library: &Library, node: &str) -> f64 {
        let technology = library.node(node, Flavour::Hp).unwrap();
        let at = OperatingPoint::at(Temperature::from_k(300.0));
        let settings = Profile::Cacti7.settings();
        let process = Process::design(&technology, &technology, at.temperature, &settings).unwrap();
        Cells::new(&process, &technology, row(&technology).unwrap())
            .fo4()
            .as_ps()
    }

    #[test]
    fn a_fan_out_of_four_is_that_of_the_tables() {
        // CACTI's own of the same tables at 360 K: its inverter has the PMOS wider by the whole drive ratio, ours by its root.
        let itrs = Library::itrs().unwrap();
        for (node, cacti) in [("65nm", 14.8), ("45nm", 9.1), ("32nm", 6.1)] {
            let ours = fo4(&itrs, node);
            assert!(
                (ours / cacti - 1.0).abs() < 0.25,
                "{node}: {ours} ps beside {cacti}"
            );
        }
        // Stillmaker and Baas (2017) at 90 to 32 nm; the liberty of ASAP7's fastest transistors.
        let silicon = Library::silicon().unwrap();
        for (node, published) in [
            ("90nm", 25.6),
            ("65nm", 19.2),
            ("45nm", 12.5),
            ("32nm", 10.6),
            ("7nm", 13.4),
        ] {
            let ours = fo4(&silicon, node);
            assert!(
                (ours / published - 1.0).abs() < 0.3,
                "{node}: {ours} ps beside {published}"
            );
        }
    }

    #[test]
    fn a_flip_flop_is_as_wide_as_in_an_open_library() {
        // Nangate 45 nm: DFF_X1 is 3.23 um x 1.4 um, NAND2_X1 0.57 um x 1.4 um.
        let technology = Library::itrs().unwrap().node("45nm", Flavour::Hp).unwrap();
        let at = OperatingPoint::at(Temperature::from_k(360.0));
        let settings = Profile::Cacti7.settings();
        let process = Process::design(&technology, &technology, at.temperature, &settings).unwrap();
        let cells = Cells::new(&process, &technology, row(&technology).unwrap());
        approx::assert_relative_eq!(
            cells.area(Kind::Flop, 1.0, true).as_um2(),
            4.522,
            max_relative = 1e-3
        );
        approx::assert_relative_eq!(
            cells.area(Kind::Nand2, 1.0, true).as_um2(),
            0.798,
            max_relative = 1e-3
        );
    }
}

//! What makes an array a macro: registers at its edge, write drivers, control, and the time that its self-timing leaves for the weakest cell.
//!
//! CACTI's array begins behind the address register and ends in front of the output latch, and fires its sense amplifiers the moment a typical cell has
//! pulled its bitline far enough. What a chip instantiates has a clock.

use serde::{Deserialize, Serialize};
use warpwatt_techlib::quantity::{Area, Energy, Length, Power, Time};
use warpwatt_techlib::rules;

use crate::process::Process;
use crate::small::{Cell, Piece};
use crate::{Cost, Part, Ports};

/// What stands around an array.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum MacroStyle {
    /// Nothing: from the decoded clock edge to the sense amplifiers' output, as CACTI has it.
    #[default]
    Array,
    /// Registers for address and data, write drivers and control; timed for a typical cell.
    Synchronous,
    /// The same with a write mask for each bit, multiplexers for self-test, and self-timing for the weakest cell of many: what a foundry's compiler makes.
    Compiled,
}

/// NAND2 gates of a flip-flop, of which see the clock, and from its clock to its output (as [`crate::small::Storage`] has it).
const REGISTER: f64 = 6.0;
const CLOCKED: f64 = 3.0;
const REGISTER_DEPTH: f64 = 3.0;
/// Gates of an output latch, and those on the way through.
const LATCH: f64 = 3.7;
const LATCH_DEPTH: f64 = 2.0;
/// Gates of a 2:1 multiplexer in front of a register that self-test drives, and those on the way.
const TEST_MUX: f64 = 3.0;
/// Gates' area of the pair of write drivers of a bit: inverters eight times the smallest.
const WRITE_DRIVER: f64 = 8.0;
/// Gates of a port's control: pulse generator, replica timing, enables.
const CONTROL: f64 = 80.0;
/// Control inputs beside the address: chip enable and write enable.
const CONTROL_INPUTS: f64 = 2.0;
/// Relative uncertainties of the self-timing margin above one and of the ring: their ranges in `techlib::rules`, halved.
const MARGIN_ERROR: f64 = 0.75;
const RING_ERROR: f64 = 0.5;
/// What the replica of the self-timing copies: from the address to the sense amplifiers.
const SELF_TIMED: [&str; 4] = [
    "predecoders",
    "row decoders and wordlines",
    "cells and bitlines",
    "sense amplifiers",
];
/// Part of the bits that change from one access to the next.
const TOGGLE: f64 = 0.5;

/// The pins of one bank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pins {
    pub(crate) words: f64,
    pub(crate) bits: f64,
    pub(crate) ports: Ports,
    pub(crate) banks: f64,
}

/// `cost` with what `style` puts around the array.
pub(crate) fn around(p: &Process, style: MacroStyle, pins: &Pins, mut cost: Cost) -> Cost {
    if style == MacroStyle::Array {
        return cost;
    }
    let edge = Edge::new(p, style, pins, cost.width);
    let pieces = edge.pieces();
    let banks = pins.banks;
    let margin = match style {
        MacroStyle::Compiled => rules::SELF_TIMING_MARGIN,
        MacroStyle::Array | MacroStyle::Synchronous => 1.0,
    };
    let timed = cost
        .breakdown
        .iter()
        .filter(|part| SELF_TIMED.contains(&part.name.as_str()))
        .map(|part| part.delay);
    let waited = timed.sum::<Time>() * (margin - 1.0);
    let before = cost.access_time;
    for piece in pieces {
        cost.area += piece.area * banks;
        cost.leakage += piece.leakage * banks;
        cost.gate_leakage += piece.gate_leakage * banks;
        cost.read_energy += piece.energy;
        cost.write_energy += piece.energy;
        cost.access_time += piece.delay;
        cost.breakdown.push(Part {
            name: piece.name.to_owned(),
            read_energy: piece.energy,
            search_energy: None,
            leakage: piece.leakage * banks,
            area: piece.area * banks,
            delay: piece.delay,
            between_banks: false,
        });
    }
    if waited > Time::ZERO {
        cost.access_time += waited;
        let share = waited / cost.access_time;
        cost.uncertainty.delay = cost.uncertainty.delay.hypot(share * MARGIN_ERROR);
        cost.breakdown.push(Part {
            name: "self-timing margin".to_owned(),
            read_energy: Energy::ZERO,
            search_energy: None,
            leakage: Power::ZERO,
            area: Area::ZERO,
            delay: waited,
            between_banks: false,
        });
    }
    cost.cycle_time += cost.access_time - before;
    cost.height = cost.area / cost.width;
    if style == MacroStyle::Compiled {
        ring(p, banks, &mut cost);
    }
    cost
}

/// Power and guard ring around a macro, one around each bank.
fn ring(p: &Process, banks: f64, cost: &mut Cost) {
    let margin = p.f(rules::MACRO_RING) * 2.0;
    let side = libm::sqrt(banks);
    let (width, height) = (cost.width + margin * side, cost.height + margin * side);
    let area = width * height;
    let share = (area - cost.area) / area;
    cost.uncertainty.area = cost.uncertainty.area.hypot(share * RING_ERROR);
    cost.breakdown.push(Part {
        name: "power ring".to_owned(),
        search_energy: None,
        read_energy: Energy::ZERO,
        leakage: Power::ZERO,
        area: area - cost.area,
        delay: Time::ZERO,
        between_banks: false,
    });
    (cost.width, cost.height, cost.area) = (width, height, area);
}

/// The edge of one bank.
struct Edge<'a> {
    cell: Cell<'a>,
    compiled: bool,
    width: Length,
    ports: f64,
    readers: f64,
    writers: f64,
    bits: f64,
    address: f64,
}

impl<'a> Edge<'a> {
    fn new(p: &'a Process, style: MacroStyle, pins: &Pins, width: Length) -> Self {
        Self {
            cell: Cell::new(p),
            compiled: style == MacroStyle::Compiled,
            width,
            ports: f64::from(pins.ports.total()),
            readers: f64::from(pins.ports.readers()),
            writers: f64::from(pins.ports.writers()),
            bits: pins.bits,
            address: libm::ceil(libm::log2(pins.words)),
        }
    }

    fn pieces(&self) -> [Piece; 5] {
        let cell = &self.cell;
        let inputs = (self.address + CONTROL_INPUTS) * self.ports;
        // Data in, and a mask for each bit.
        let data = self.bits * self.writers * if self.compiled { 2.0 } else { 1.0 };
        let registers = inputs + data;
        let latches = self.bits * self.readers;
        let per_port = |count: f64| count / self.ports;
        let clocked = CLOCKED * registers + latches;
        // A read waits for the clock of the address registers, which stand together; data registers have theirs later.
        let near = cell.lines("clock", CLOCKED * per_port(inputs), Length::ZERO, 1.0, 0.0);
        let clock = Piece {
            delay: near.delay,
            ..cell.lines("clock", per_port(clocked), self.width, self.ports, 1.0)
        };
        // The registers of one port see the clock at every access; half of their bits change.
        let used = per_port(registers) * (CLOCKED + REGISTER * TOGGLE);
        let registers = cell.gates("registers", REGISTER * registers, REGISTER_DEPTH, used);
        let latches = cell.gates(
            "output latches",
            LATCH * latches,
            LATCH_DEPTH,
            self.bits * LATCH * TOGGLE,
        );
        let drivers = cell.gates(
            "write drivers",
            WRITE_DRIVER * self.bits * self.writers,
            0.0,
            0.0,
        );
        let tested = if self.compiled { inputs + data } else { 0.0 };
        let control = cell.gates(
            "control",
            CONTROL * self.ports + TEST_MUX * tested,
            0.0,
            CONTROL * TOGGLE,
        );
        [clock, registers, latches, drivers, control]
    }
}

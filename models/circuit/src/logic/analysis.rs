//! A netlist on a cell library: sizes, delay, energy, leakage and area of its gates.
//!
//! Gates are sized from the outputs back so that no stage has an effort above eight, as synthesis for area does: past the optimum of four (Sutherland, Sproull
//! and Harris, Logical Effort, 1999), but the optimum is flat. Nets too heavy for one gate get inverters of growing size, and so do inputs. Nets are as long as Donath's estimate for random logic says (IEEE Trans. Circuits and Systems 26(4),
//! 1979), or as the shortest tree through their ends.

use warpwatt_techlib::published::rules as cell_rules;
use warpwatt_techlib::quantity::{Area, Capacitance, Energy, Length, Power, Resistance, Time};
use warpwatt_techlib::rules;

use super::activity::{self, Signal};
use super::cells::Cells;
use super::kind::Kind;
use super::netlist::{Gate, Net, Netlist};

/// Largest gate, in smallest ones; beyond it inverters follow.
const LARGEST: f64 = 8.0;
/// Largest effort of a stage.
const EFFORT: f64 = 8.0;
/// Smallest gates that an output drives.
const OUTPUT: f64 = 4.0;

/// What one part of a block costs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Piece {
    pub(crate) name: String,
    pub(crate) area: Area,
    pub(crate) leakage: Power,
    pub(crate) gate_leakage: Power,
    pub(crate) energy: Energy,
    /// Its share of the longest path.
    pub(crate) delay: Time,
}

impl Piece {
    pub(crate) fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            area: Area::ZERO,
            leakage: Power::ZERO,
            gate_leakage: Power::ZERO,
            energy: Energy::ZERO,
            delay: Time::ZERO,
        }
    }

    /// That many of them, all switching, side by side.
    pub(crate) fn times(mut self, count: f64) -> Self {
        self.area = self.area * count;
        self.leakage = self.leakage * count;
        self.gate_leakage = self.gate_leakage * count;
        self.energy = self.energy * count;
        self
    }
}

/// Sizes of the gates, and of the inverters behind them.
pub(super) struct Sizes {
    gate: Vec<f64>,
    /// Behind each net: sizes of an even number of inverters, or of any at an input.
    buffers: Vec<Vec<f64>>,
    /// What each net's last driver sees.
    load: Vec<Capacitance>,
    /// Delay of the wire of each net.
    wire_delay: Vec<Time>,
}

impl Sizes {
    /// Of a gate, in smallest ones.
    pub(super) fn of_gate(&self, number: usize) -> f64 {
        self.gate[number]
    }
}

/// A netlist, and how often its nets change.
#[derive(Debug)]
pub(crate) struct Switching {
    netlist: Netlist,
    signals: Vec<Signal>,
}

impl Switching {
    /// Of a netlist whose inputs change in `toggles` of the operations.
    pub(crate) fn new(netlist: Netlist, toggles: f64) -> Self {
        Self {
            signals: activity::signals(&netlist, toggles),
            netlist,
        }
    }

    pub(super) fn netlist(&self) -> &Netlist {
        &self.netlist
    }

    pub(super) fn signals(&self) -> &[Signal] {
        &self.signals
    }
}

/// Prices gates: their parts in their order.
pub(crate) fn pieces(cells: &Cells, gates: &Switching) -> Vec<Piece> {
    let Switching { netlist, signals } = gates;
    let sizes = size(cells, netlist);
    let mut pieces: Vec<Piece> = netlist
        .parts
        .iter()
        .map(|name| Piece::named(name))
        .collect();
    if pieces.is_empty() {
        pieces.push(Piece::named("wires"));
    }
    for (i, gate) in netlist.gates.iter().enumerate() {
        price(
            cells,
            gate,
            (sizes.gate[i], signals),
            &mut pieces[gate.part],
        );
    }
    for (net, signal) in signals.iter().enumerate() {
        let part = netlist.drivers[net].map_or(0, |gate| netlist.gates[gate].part);
        wires(cells, &sizes, net, (*signal, &mut pieces[part]));
    }
    path(cells, netlist, &sizes, &mut pieces);
    pieces
}

/// Area, leakage and own capacitance of one gate.
fn price(cells: &Cells, gate: &Gate, (size, signals): (f64, &[Signal]), piece: &mut Piece) {
    piece.area += cells.area(gate.kind, size, gate.begins);
    let count = gate.inputs().len();
    let leakage: Power = activity::states(gate.inputs(), signals)
        .map(|(state, probability)| cells.leakage(gate.kind, &state[..count]) * probability)
        .sum();
    piece.leakage += leakage * size;
    piece.gate_leakage += cells.gate_leakage(gate.kind) * size;
    let out = signals[gate.output.index()].toggles / 2.0;
    piece.energy += if gate.held {
        Energy::ZERO
    } else if gate.kind == Kind::Flop {
        cells.charge(cells.flop_clock()) + cells.charge(cells.flop_data()) * out
    } else {
        cells.charge(cells.own(gate.kind) * size) * out
    };
}

/// What hangs at a net: wire, gates and the inverters in between.
fn wires(cells: &Cells, sizes: &Sizes, net: usize, (signal, piece): (Signal, &mut Piece)) {
    let rising = signal.toggles / 2.0;
    piece.energy += cells.charge(sizes.load[net]) * rising;
    for size in &sizes.buffers[net] {
        piece.area += cells.area(Kind::Inv, *size, true);
        piece.leakage +=
            (cells.leakage(Kind::Inv, &[true]) + cells.leakage(Kind::Inv, &[false])) * (size / 2.0);
        piece.gate_leakage += cells.gate_leakage(Kind::Inv) * *size;
        piece.energy += cells.charge((cells.own(Kind::Inv) + cells.input) * *size) * rising;
    }
}

/// Sizes from the outputs back.
pub(super) fn size(cells: &Cells, netlist: &Netlist) -> Sizes {
    let nets = netlist.drivers.len();
    let mut ends = vec![0.0; nets];
    for gate in &netlist.gates {
        for net in gate.inputs() {
            ends[net.index()] += 1.0;
        }
    }
    let geometry = Geometry::of(cells, netlist);
    let wire: Vec<Capacitance> = ends
        .iter()
        .map(|ends| cells.wire_c * geometry.net(*ends))
        .collect();
    let mut load = wire.clone();
    for net in &netlist.outputs {
        load[net.index()] += cells.input * OUTPUT;
    }
    let mut sizes = Sizes {
        gate: vec![1.0; netlist.gates.len()],
        buffers: vec![Vec::new(); nets],
        wire_delay: ends
            .iter()
            .zip(&wire)
            .map(|(ends, c)| geometry.resistance(cells, *ends) * *c / 2.0)
            .collect(),
        load,
    };
    // Data of flip-flops first: they come from gates that may stand behind.
    let flops = netlist.gates.iter().filter(|gate| gate.kind == Kind::Flop);
    for gate in flops {
        sizes.load[gate.inputs()[0].index()] += cells.input;
    }
    for (i, gate) in netlist.gates.iter().enumerate().rev() {
        let net = gate.output.index();
        let effort = cells.effort(gate.kind) * (sizes.load[net] / cells.input) / EFFORT;
        let effort = if effort > LARGEST || (gate.kind == Kind::Flop && effort > 1.0) {
            buffer(cells, &mut sizes, net, true) * cells.effort(gate.kind) / EFFORT
        } else {
            effort
        };
        if gate.kind == Kind::Flop {
            continue;
        }
        let size = effort.clamp(1.0, LARGEST);
        sizes.gate[i] = size;
        for input in gate.inputs() {
            sizes.load[input.index()] += cells.input * size;
        }
    }
    for net in &netlist.inputs {
        if sizes.load[net.index()] > cells.input * EFFORT {
            buffer(cells, &mut sizes, net.index(), false);
        }
    }
    sizes
}

/// Puts inverters behind a net so that each has an effort of four; returns what the first one weighs, in smallest inputs.
fn buffer(cells: &Cells, sizes: &mut Sizes, net: usize, even: bool) -> f64 {
    let mut left = sizes.load[net] / cells.input / rules::STAGE_EFFORT;
    let mut chain = Vec::new();
    while left > 1.0 || chain.is_empty() || (even && chain.len() % 2 == 1) {
        chain.push(left.max(1.0));
        left /= rules::STAGE_EFFORT;
    }
    chain.reverse();
    let first = chain[0];
    sizes.buffers[net] = chain;
    first
}

/// Longest path; each gate's delay goes to its part.
fn path(cells: &Cells, netlist: &Netlist, sizes: &Sizes, pieces: &mut [Piece]) {
    let mut arrival = vec![Time::ZERO; netlist.drivers.len()];
    for net in &netlist.inputs {
        arrival[net.index()] = through(cells, sizes, net.index());
    }
    let mut late: Vec<Option<Net>> = vec![None; netlist.gates.len()];
    for (i, gate) in netlist.gates.iter().enumerate() {
        let net = gate.output.index();
        let start = if gate.kind == Kind::Flop {
            Time::ZERO
        } else {
            let last = latest(gate.inputs(), &arrival);
            late[i] = Some(last);
            arrival[last.index()]
        };
        arrival[net] = start + own_delay(cells, (gate, i), sizes) + through(cells, sizes, net);
    }
    let flops = netlist.gates.iter().filter(|gate| gate.kind == Kind::Flop);
    let data = flops.map(|gate| gate.inputs()[0].index());
    let ends = netlist
        .outputs
        .iter()
        .map(|net| (net.index(), arrival[net.index()]));
    let ends = ends.chain(data.map(|net| (net, arrival[net] + cells.flop_setup())));
    let Some((mut net, end)) = ends.fold(None, later) else {
        return;
    };
    let mut until = end;
    // Back along the latest inputs; what a net adds belongs to the part of its driver, the inputs' own buffers to the first part.
    while let Some(gate) = netlist.drivers[net] {
        let from = late[gate].map_or(Time::ZERO, |input| arrival[input.index()]);
        pieces[netlist.gates[gate].part].delay += until - from;
        until = from;
        let Some(input) = late[gate] else { break };
        net = input.index();
    }
    pieces[0].delay += until;
}

fn latest(inputs: &[Net], arrival: &[Time]) -> Net {
    let later = |a: Net, b: Net| {
        if arrival[b.index()] > arrival[a.index()] {
            b
        } else {
            a
        }
    };
    inputs.iter().copied().fold(inputs[0], later)
}

fn later(best: Option<(usize, Time)>, end: (usize, Time)) -> Option<(usize, Time)> {
    match best {
        Some(best) if best.1 >= end.1 => Some(best),
        _ => Some(end),
    }
}

/// Through a gate, to what it drives directly.
pub(super) fn own_delay(cells: &Cells, (gate, number): (&Gate, usize), sizes: &Sizes) -> Time {
    let net = gate.output.index();
    let first = sizes.buffers[net].first();
    let load = first.map_or(sizes.load[net], |first| cells.input * *first);
    match gate.kind {
        Kind::Flop => cells.flop_out(load),
        kind => cells.delay(kind, sizes.gate[number], load),
    }
}

/// Through the inverters and the wire of a net.
pub(super) fn through(cells: &Cells, sizes: &Sizes, net: usize) -> Time {
    let chain = &sizes.buffers[net];
    let stages = chain.iter().enumerate().map(|(i, size)| {
        let load = chain
            .get(i + 1)
            .map_or(sizes.load[net], |next| cells.input * *next);
        cells.delay(Kind::Inv, *size, load)
    });
    stages.sum::<Time>() + sizes.wire_delay[net]
}

/// How long nets are.
struct Geometry {
    /// Of one gate's place.
    pitch: Length,
    gates: f64,
    /// Mean distance of two connected gates, in places.
    mean: f64,
}

impl Geometry {
    fn of(cells: &Cells, netlist: &Netlist) -> Self {
        let gates = (netlist.gates.len() as f64).max(1.0);
        let area: Area = netlist
            .gates
            .iter()
            .map(|gate| cells.area(gate.kind, 1.0, gate.begins))
            .sum();
        let place = area.as_m2() / gates / cell_rules::ROW_FILL;
        Self {
            pitch: Length::from_m(place.sqrt()),
            gates,
            mean: donath(gates),
        }
    }

    /// Resistance from the driver to the farthest end: across the block at most.
    fn resistance(&self, cells: &Cells, ends: f64) -> Resistance {
        let side = self.pitch * self.gates.sqrt();
        cells.wire_r * self.net(ends).min(side)
    }

    /// Length of a net with so many ends beside its driver.
    fn net(&self, ends: f64) -> Length {
        let tree = cell_rules::TREE * ((ends + 1.0) * self.gates).sqrt();
        self.pitch * (self.mean * ends).min(tree)
    }
}

/// Mean distance of connected gates in a square of `gates`, in places (Donath, 1979, with Rent exponent p).
fn donath(gates: f64) -> f64 {
    if gates < 4.0 {
        return 1.0;
    }
    let p = cell_rules::RENT;
    let power = |exponent: f64| libm::pow(gates, exponent);
    let first = 7.0 * (power(p - 0.5) - 1.0) / (libm::pow(4.0, p - 0.5) - 1.0);
    let second = (1.0 - power(p - 1.5)) / (1.0 - libm::pow(4.0, p - 1.5));
    let scale = (1.0 - libm::pow(4.0, p - 1.0)) / (1.0 - power(p - 1.0));
    (2.0 / 9.0 * (first - second) * scale).max(1.0)
}

//! Interconnect and clock: crossbars, links, routers, clock trees. Long wires are the repeated wires of the array model (CACTI 6.0 TR, section 2.2).

mod spec;

pub use spec::{NocBlock, NocSpec};

use warpwatt_techlib::published::rules as cell_rules;
use warpwatt_techlib::quantity::{Area, Length, Time};

use crate::build::Sizing;
use crate::error::check;
use crate::logic::{self, Cells, Fairness, Kind, LogicBlock, LogicSpec, Piece};
use crate::{BufferSpec, CircuitError, Cost, Ports};

/// Flip-flops that one leaf of a clock tree drives.
const SINKS: f64 = 32.0;

/// A piece of interconnect, or a clock tree.
pub(crate) fn block(at: &Sizing, spec: &NocSpec) -> Result<Cost, CircuitError> {
    check::share("activity", u64::from(spec.activity))?;
    let cells = Cells::of(at)?;
    let toggles = f64::from(spec.activity) / 100.0;
    let (pieces, model) = match spec.block {
        NocBlock::Crossbar {
            inputs,
            outputs,
            bits,
        } => {
            within(&[
                ("inputs", inputs, 512),
                ("outputs", outputs, 512),
                ("bits", bits, 4096),
            ])?;
            (
                crossbar(&cells, (inputs, outputs, bits), toggles),
                "matrix crossbar on repeated wires",
            )
        }
        NocBlock::Link { bits, micrometres } => {
            within(&[("bits", bits, 4096), ("micrometres", micrometres, 100_000)])?;
            let wire = wire(
                &cells,
                "wires",
                Length::from_um(micrometres as f64),
                bits as f64,
                toggles,
            );
            (vec![wire], "repeated wires")
        }
        NocBlock::Router {
            ports,
            bits,
            channels,
            depth,
        } => {
            within(&[
                ("ports", ports, 64),
                ("bits", bits, 4096),
                ("channels", channels, 64),
                ("depth", depth, 256),
            ])?;
            (
                router(at, &cells, (ports, bits, channels, depth), spec.activity)?,
                "input-buffered router",
            )
        }
        NocBlock::Clock {
            sinks,
            square_micrometres,
        } => {
            within(&[
                ("sinks", sinks, 100_000_000),
                ("square_micrometres", square_micrometres, 100_000_000_000),
            ])?;
            (
                clock(
                    &cells,
                    sinks as f64,
                    Area::from_um2(square_micrometres as f64),
                ),
                "clock tree",
            )
        }
    };
    let delay: Time = pieces.iter().map(|piece| piece.delay).sum();
    Ok(logic::assembled(at.technology, pieces, model, delay))
}

fn within(sizes: &[(&'static str, u64, u64)]) -> Result<(), CircuitError> {
    sizes
        .iter()
        .try_for_each(|&(what, got, most)| check::at_most(what, got, most))
}

/// `count` repeated wires of a length, of which the share `toggles` changes.
fn wire(cells: &Cells, name: &str, length: Length, count: f64, toggles: f64) -> Piece {
    let process = cells.process;
    let one = process.repeaters.chosen.stretch(process, length);
    let mut piece = Piece::named(name);
    piece.area = (one.area + length * process.wire_outside.pitch) * count;
    piece.energy = one.energy * (count * toggles / 2.0);
    piece.leakage = one.leakage * count;
    piece.gate_leakage = one.gate_leakage * count;
    piece.delay = one.delay;
    piece
}

/// Input wires across, output wires down, a tri-state buffer (NAND2, NOR2 and a driver) at each crossing.
fn crossbar(cells: &Cells, (inputs, outputs, bits): (u64, u64, u64), toggles: f64) -> Vec<Piece> {
    let (inputs, outputs, bits) = (inputs as f64, outputs as f64, bits as f64);
    let pitch = cells.process.wire_outside.pitch;
    let gates = [Kind::Nand2, Kind::Nor2, Kind::Inv];
    let one: Area = gates.iter().map(|kind| cells.area(*kind, 1.0, true)).sum();
    let crossings = inputs * outputs * bits;
    let (mut across, mut down) = (pitch * (outputs * bits), pitch * (inputs * bits));
    // Crossings of one bit need no more than its own; where wires leave too little room, both directions stretch.
    let need = one * (crossings / cell_rules::ROW_FILL);
    let room = across * down;
    if room < need {
        let stretch = (need / room).sqrt();
        (across, down) = (across * stretch, down * stretch);
    }
    let mut points = Piece::named("crossings");
    points.area = one * crossings;
    let state = [true, false];
    let leakage = gates
        .iter()
        .map(|kind| cells.leakage(*kind, &state[..kind.inputs()]));
    points.leakage = leakage.sum::<warpwatt_techlib::quantity::Power>() * crossings;
    points.gate_leakage = gates
        .iter()
        .map(|kind| cells.gate_leakage(*kind))
        .sum::<warpwatt_techlib::quantity::Power>()
        * crossings;
    // A bit that changes charges the inputs of all crossings of its row, one driver, and the drains of all crossings of its column.
    let load = cells.input * (2.0 * outputs)
        + cells.own(Kind::Inv) * inputs
        + cells.own(Kind::Nand2)
        + cells.own(Kind::Nor2);
    points.energy = cells.charge(load) * (bits * toggles / 2.0);
    points.delay = cells.delay(Kind::Nand2, 1.0, cells.input)
        + cells.delay(Kind::Inv, 4.0, cells.own(Kind::Inv) * inputs);
    // Only the wires of one input and one output work in a transfer; all of them leak. They lie above the crossings.
    let bare = |name: &str, length: Length, lines: f64| {
        let all = wire(cells, name, length, lines * bits, 0.0);
        let busy = wire(cells, name, length, bits, toggles);
        Piece {
            energy: busy.energy,
            area: Area::ZERO,
            ..all
        }
    };
    let mut wires = bare("input wires", across, inputs);
    wires.area = across * down - points.area;
    vec![wires, points, bare("output wires", down, outputs)]
}

/// Buffers, switch arbiters and a crossbar; one flit through.
fn router(
    at: &Sizing,
    cells: &Cells,
    (ports, bits, channels, depth): (u64, u64, u64, u64),
    activity: u8,
) -> Result<Vec<Piece>, CircuitError> {
    let toggles = f64::from(activity) / 100.0;
    let one = BufferSpec {
        entries: channels * depth,
        bits,
        ports: Ports {
            read_write: 0,
            read: 1,
            write: 1,
            ..Ports::default()
        },
    };
    let buffer = crate::small::buffer(at, &one)?;
    let mut buffers = Piece::named("input buffers");
    buffers.area = buffer.area * ports as f64;
    buffers.leakage = buffer.leakage * ports as f64;
    buffers.gate_leakage = buffer.gate_leakage * ports as f64;
    buffers.energy = buffer.read_energy + buffer.write_energy;
    buffers.delay = buffer.access_time;
    let arbiter = |inputs: u64| -> Result<Cost, CircuitError> {
        let block = LogicBlock::Arbiter {
            inputs: inputs.max(2),
            fairness: Fairness::Matrix,
        };
        logic::block(at, &LogicSpec { block, activity })
    };
    let (channel, switch) = (arbiter(channels)?, arbiter(ports)?);
    let mut arbiters = Piece::named("arbiters");
    arbiters.area = (channel.area + switch.area) * ports as f64;
    arbiters.leakage = (channel.leakage + switch.leakage) * ports as f64;
    arbiters.gate_leakage = (channel.gate_leakage + switch.gate_leakage) * ports as f64;
    arbiters.energy = channel.read_energy + switch.read_energy;
    arbiters.delay = channel.access_time + switch.access_time;
    let mut pieces = vec![buffers, arbiters];
    pieces.extend(crossbar(cells, (ports, ports, bits), toggles));
    Ok(pieces)
}

/// An H-tree down to leaves of 32 flip-flops, and the shortest tree inside a leaf; everything switches twice a cycle.
fn clock(cells: &Cells, sinks: f64, area: Area) -> Vec<Piece> {
    let leaves = (sinks / SINKS).max(1.0);
    let side = Length::from_m(area.as_m2().sqrt());
    // Each H of four branches adds one and a half sides of its square, and the next level has four squares of half the side.
    let (mut length, mut squares, mut edge, mut longest) = (Length::ZERO, 1.0, side, Length::ZERO);
    while squares < leaves {
        length += edge * (1.5 * squares);
        longest += edge * 0.75;
        squares *= 4.0;
        edge = edge / 2.0;
    }
    let mut trunk = wire(cells, "tree", length, 1.0, 2.0);
    trunk.delay = cells
        .process
        .repeaters
        .chosen
        .stretch(cells.process, longest)
        .delay;
    let inside = Length::from_m(cell_rules::TREE * (area.as_m2() * sinks).sqrt());
    let mut twigs = wire(cells, "leaves", inside, 1.0, 2.0);
    twigs.delay = Time::ZERO;
    let mut pins = Piece::named("flip-flops");
    pins.energy = cells.charge(cells.flop_clock()) * sinks;
    pins.area = Area::ZERO;
    vec![trunk, twigs, pins]
}

//! Blocks to costs.

use warpwatt_techlib::published::rules as cell_rules;
use warpwatt_techlib::quantity::{Area, Energy, Length, Power, Time};
use warpwatt_techlib::{Sigma, Technology};

use super::analysis::Switching;
use super::analysis::{self, Piece};
use super::arrivals::{self, Arrivals, Spread};
use super::cells::Cells;
use super::code::Matrix;
use super::netlist::Netlist;
use super::stages::staged;
use super::{
    Fairness, Kind, LogicBlock, LogicSpec, Side, arithmetic, choose, counted, ecc, flop_file,
    limits, route,
};
use crate::build::Sizing;
use crate::error::check;
use crate::{BufferSpec, CircuitError, Cost, Ports};

/// Error of the method beside that of the process: against the two synthesised blocks of Warped-DMR areas are off by a fifth and more, and glitches are not counted.
const METHOD: f64 = 0.3;

/// Parts of a block, with the name of the model.
struct Built {
    pieces: Vec<Piece>,
    model: String,
}

/// A block of logic.
pub(crate) fn block(at: &Sizing, spec: &LogicSpec) -> Result<Cost, CircuitError> {
    check::share("activity", u64::from(spec.activity))?;
    let cells = Cells::of(at)?;
    if let LogicBlock::FlopFile { words, bits, reads } = spec.block {
        return file(&cells, at, (words, bits, reads), spec.activity);
    }
    let built = build(&cells, at, spec)?;
    Ok(cost(&cells, at.technology, built.pieces, &built.model))
}

/// A register file in flip-flops: it reads and writes.
fn file(
    cells: &Cells,
    at: &Sizing,
    (words, bits, reads): (u64, u64, u32),
    activity: u8,
) -> Result<Cost, CircuitError> {
    limits::check(&LogicBlock::FlopFile { words, bits, reads })?;
    let toggles = f64::from(activity) / 100.0;
    let connect = || Switching::new(flop_file::file(words, bits, reads), toggles);
    let gates = at.choices.gates(connect)?;
    let pieces = analysis::pieces(cells, &gates);
    let (pieces, written) = flop_file::one_read(pieces, words, reads);
    let model = "flip-flops and multiplexers";
    let mut cost = cost(cells, at.technology, merged(pieces), model);
    cost.write_energy = written;
    Ok(cost)
}

/// Leakage of an area filled with smallest NAND2 gates as densely as rows are: sub-threshold and through gates.
pub(crate) fn leakage_of(at: &Sizing, area: Area) -> Result<(Power, Power), CircuitError> {
    let cells = Cells::of(at)?;
    let count = area * cell_rules::ROW_FILL / cells.area(Kind::Nand2, 1.0, true);
    let states = [[false, false], [false, true], [true, false], [true, true]];
    let mean = states
        .iter()
        .map(|state| cells.leakage(Kind::Nand2, state))
        .sum::<Power>()
        / 4.0;
    Ok((mean * count, cells.gate_leakage(Kind::Nand2) * count))
}

/// Gates of a block by kind, where it is one netlist; blocks with flip-flop stores have none.
pub fn gates(spec: &LogicSpec) -> Result<Vec<(Kind, u64)>, CircuitError> {
    limits::check(&spec.block)?;
    Ok(netlist(&spec.block).map_or_else(Vec::new, |netlist| netlist.counts()))
}

/// When the outputs of a block change last, if it is one netlist and its transistors differ by `within`.
pub(crate) fn arrivals(
    at: &Sizing,
    spec: &LogicSpec,
    within: Sigma,
) -> Result<Option<Arrivals>, CircuitError> {
    check::share("activity", u64::from(spec.activity))?;
    limits::check(&spec.block)?;
    let cells = Cells::of(at)?;
    let toggles = f64::from(spec.activity) / 100.0;
    Ok(netlist(&spec.block).map(|netlist| {
        let gates = Switching::new(netlist, toggles);
        arrivals::arrivals(&cells, &gates, Spread::new(at.technology, within))
    }))
}

fn build(cells: &Cells, at: &Sizing, spec: &LogicSpec) -> Result<Built, CircuitError> {
    limits::check(&spec.block)?;
    let toggles = f64::from(spec.activity) / 100.0;
    if is_netlist(&spec.block) {
        let gates = || netlist(&spec.block).unwrap_or_default();
        return Ok(Built {
            pieces: gates_of(cells, at, gates, toggles)?,
            model: format!("static gates: {}", name(&spec.block)),
        });
    }
    let pieces = stored(cells, at, (&spec.block, toggles))?;
    Ok(Built {
        pieces,
        model: format!("flip-flops and static gates: {}", name(&spec.block)),
    })
}

/// Parts of gates that are connected once.
fn gates_of(
    cells: &Cells,
    at: &Sizing,
    connect: impl FnOnce() -> Netlist,
    toggles: f64,
) -> Result<Vec<Piece>, CircuitError> {
    let gates = at.choices.gates(|| Switching::new(connect(), toggles))?;
    Ok(merged(analysis::pieces(cells, &gates)))
}

/// Whether a block is gates alone, without a store of words.
fn is_netlist(block: &LogicBlock) -> bool {
    !matches!(
        block,
        LogicBlock::RenamingTable { .. }
            | LogicBlock::ReplayQueue { .. }
            | LogicBlock::FlopFile { .. }
            | LogicBlock::OperandCollector { .. }
    )
}

/// The gates of a block that is one netlist.
fn netlist(block: &LogicBlock) -> Option<Netlist> {
    Some(match *block {
        LogicBlock::Parity { bits, stages } => staged(&ecc::parity(bits), stages),
        LogicBlock::Secded {
            bits,
            code,
            side,
            stages,
        } => {
            let matrix = Matrix::new(code, bits);
            let whole = match side {
                Side::Generator => ecc::generator(&matrix),
                Side::Detector => ecc::detector(&matrix),
                Side::Checker => ecc::checker(&matrix),
            };
            staged(&whole, stages)
        }
        LogicBlock::Equality { bits } => arithmetic::equal(bits),
        LogicBlock::Magnitude { bits } => arithmetic::magnitude(bits),
        LogicBlock::PriorityEncoder { inputs } => choose::priority_encoder(inputs),
        LogicBlock::Decoder { bits } => route::decoder(bits),
        LogicBlock::Multiplexer { inputs, bits } => route::multiplexer(inputs, bits),
        LogicBlock::ForwardingUnit { lanes, bits } => route::forwarding(lanes, bits),
        LogicBlock::Adder { bits, carry } => arithmetic::adder(bits, carry),
        LogicBlock::Shifter { bits } => arithmetic::shifter(bits),
        LogicBlock::Counter { bits } => arithmetic::counter(bits),
        LogicBlock::Arbiter { inputs, fairness } => choose::arbiter(inputs, fairness),
        LogicBlock::Scheduler {
            warps,
            policy,
            active,
        } => choose::scheduler(warps, policy, active),
        LogicBlock::Scoreboard {
            entries,
            operands,
            register_bits,
        } => choose::scoreboard(entries, operands, register_bits),
        LogicBlock::FreeList { entries, ports } => choose::free_list(entries, ports),
        LogicBlock::Register { bits } => register(bits),
        LogicBlock::Counted { gates } => counted::connected(&gates),
        LogicBlock::RenamingTable { .. }
        | LogicBlock::ReplayQueue { .. }
        | LogicBlock::FlopFile { .. }
        | LogicBlock::OperandCollector { .. } => return None,
    })
}

/// Flip-flops in a row.
fn register(bits: u64) -> Netlist {
    let mut n = Netlist::default();
    n.part("flip-flops");
    for data in n.bus(bits) {
        let out = n.flop(data);
        n.output(out);
    }
    n
}

/// Blocks around a store of words.
fn stored(
    cells: &Cells,
    at: &Sizing,
    (block, toggles): (&LogicBlock, f64),
) -> Result<Vec<Piece>, CircuitError> {
    let gates = |netlist: &dyn Fn() -> Netlist| gates_of(cells, at, netlist, toggles);
    Ok(match *block {
        LogicBlock::RenamingTable {
            entries,
            bits,
            reads,
            writes,
        } => store(at, (entries, bits, reads, writes), toggles)?,
        LogicBlock::ReplayQueue {
            entries,
            bits,
            lanes,
        } => {
            // Head, tail, and whether they meet.
            let pointer = u64::from(u64::BITS - entries.saturating_sub(1).leading_zeros()).max(1);
            let slice = store(at, (entries, bits.div_ceil(lanes), 1, 1), toggles)?;
            let mut pieces: Vec<Piece> = slice
                .into_iter()
                .map(|piece| piece.times(lanes as f64))
                .collect();
            pieces.push(beside("pointers", gates(&|| arithmetic::counter(pointer))?).times(2.0));
            pieces.push(beside(
                "full and empty",
                gates(&|| arithmetic::equal(pointer))?,
            ));
            pieces
        }
        LogicBlock::OperandCollector {
            units,
            operands,
            bits,
            banks,
        } => {
            let slots = units * operands;
            // A slot holds one operand; writing one clocks it alone.
            let one = gates(&|| register(bits))?;
            let mut pieces: Vec<Piece> = one
                .into_iter()
                .map(|piece| all_of(piece, slots as f64))
                .collect();
            if let Some(piece) = pieces.first_mut() {
                piece.name = "operand registers".to_owned();
            }
            pieces.extend(
                gates(&|| route::multiplexer(units.max(2), 1))?
                    .into_iter()
                    .map(|piece| wide(piece, bits * operands)),
            );
            let arbiter = gates(&|| choose::arbiter(slots, Fairness::RoundRobin))?;
            pieces.push(beside("bank arbiters", arbiter).times(banks as f64));
            let dispatch = gates(&|| choose::arbiter(units.max(2), Fairness::RoundRobin))?;
            pieces.push(beside("dispatch", dispatch));
            pieces
        }
        _ => Vec::new(),
    })
}

/// Words in flip-flops by the model of small buffers; its energies are those of a read and a write together.
fn store(
    at: &Sizing,
    (entries, bits, read, write): (u64, u64, u32, u32),
    toggles: f64,
) -> Result<Vec<Piece>, CircuitError> {
    let ports = Ports {
        read_write: 0,
        read,
        write,
        ..Ports::default()
    };
    let buffer = BufferSpec {
        entries,
        bits,
        ports,
    };
    let cost = crate::small::buffer_of(at, (&buffer, toggles))?;
    let mut pieces: Vec<Piece> = cost
        .breakdown
        .iter()
        .map(|part| Piece {
            area: part.area,
            leakage: part.leakage,
            energy: part.read_energy * f64::from(read),
            delay: part.delay,
            ..Piece::named(&part.name)
        })
        .collect();
    let mut writes = Piece::named("writes");
    writes.energy = cost.write_energy * f64::from(write);
    writes.gate_leakage = cost.gate_leakage;
    pieces.push(writes);
    Ok(pieces)
}

/// Several parts as one that is not on the longest path.
fn beside(name: &str, pieces: Vec<Piece>) -> Piece {
    pieces
        .into_iter()
        .fold(Piece::named(name), |mut sum, piece| {
            sum.area += piece.area;
            sum.leakage += piece.leakage;
            sum.gate_leakage += piece.gate_leakage;
            sum.energy += piece.energy;
            sum
        })
}

/// `count` of them stand there, one works.
fn all_of(piece: Piece, count: f64) -> Piece {
    let energy = piece.energy;
    Piece {
        energy,
        ..piece.times(count)
    }
}

/// One bit's worth for each of `bits`.
fn wide(piece: Piece, bits: u64) -> Piece {
    piece.times(bits as f64)
}

/// Parts of one name as one, in the order in which they first appear.
fn merged(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut merged: Vec<Piece> = Vec::new();
    for piece in pieces {
        if let Some(same) = merged.iter_mut().find(|same| same.name == piece.name) {
            same.area += piece.area;
            same.leakage += piece.leakage;
            same.gate_leakage += piece.gate_leakage;
            same.energy += piece.energy;
            same.delay += piece.delay;
        } else {
            merged.push(piece);
        }
    }
    merged
}

/// Parts, with the room that wires need, to a cost.
pub(crate) fn cost(
    cells: &Cells,
    technology: &Technology,
    mut pieces: Vec<Piece>,
    model: &str,
) -> Cost {
    let cells_area: Area = pieces.iter().map(|piece| piece.area).sum();
    let mut space = Piece::named("space for wires");
    space.area = cells_area * (1.0 / cell_rules::ROW_FILL - 1.0);
    pieces.push(space);
    let delay: Time = pieces.iter().map(|piece| piece.delay).sum();
    let mut cost = assembled(technology, pieces, model, delay);
    cost.uncertainty.area = (cells.row.uncertainty * core::f64::consts::SQRT_2).hypot(METHOD);
    cost
}

/// Parts to a cost, in a square.
pub(crate) fn assembled(
    technology: &Technology,
    pieces: Vec<Piece>,
    model: &str,
    delay: Time,
) -> Cost {
    let area: Area = pieces.iter().map(|piece| piece.area).sum();
    let side = Length::from_m(area.as_m2().sqrt());
    let mut cost = crate::small::assemble(technology, model, Vec::new(), (side, delay));
    cost.area = area;
    cost.height = side;
    cost.read_energy = pieces.iter().map(|piece| piece.energy).sum();
    cost.write_energy = Energy::ZERO;
    cost.leakage = pieces.iter().map(|piece| piece.leakage).sum();
    cost.gate_leakage = pieces.iter().map(|piece| piece.gate_leakage).sum();
    cost.breakdown = pieces
        .into_iter()
        .map(|piece| crate::Part {
            name: piece.name,
            read_energy: piece.energy,
            search_energy: None,
            leakage: piece.leakage,
            area: piece.area,
            delay: piece.delay,
            between_banks: false,
        })
        .collect();
    let own = cost.uncertainty.method;
    let with = |all: f64| (all * all - own * own).max(0.0).sqrt().hypot(METHOD);
    cost.uncertainty.delay = with(cost.uncertainty.delay);
    cost.uncertainty.energy = with(cost.uncertainty.energy);
    cost.uncertainty.leakage = with(cost.uncertainty.leakage);
    cost.uncertainty.area = with(cost.uncertainty.area);
    cost.uncertainty.method = METHOD;
    cost
}

/// As it stands in the name of the model.
fn name(block: &LogicBlock) -> &'static str {
    match block {
        LogicBlock::Parity { .. } => "parity tree",
        LogicBlock::Secded {
            side: Side::Generator,
            ..
        } => "check bit generator",
        LogicBlock::Secded {
            side: Side::Detector,
            ..
        } => "error detector",
        LogicBlock::Secded {
            side: Side::Checker,
            ..
        } => "checker and corrector",
        LogicBlock::Equality { .. } => "equality comparator",
        LogicBlock::Magnitude { .. } => "magnitude comparator",
        LogicBlock::PriorityEncoder { .. } => "priority encoder",
        LogicBlock::Decoder { .. } => "decoder",
        LogicBlock::Multiplexer { .. } => "multiplexer",
        LogicBlock::ForwardingUnit { .. } => "register forwarding unit",
        LogicBlock::Adder { .. } => "adder",
        LogicBlock::Shifter { .. } => "shifter",
        LogicBlock::Counter { .. } => "counter",
        LogicBlock::Arbiter { .. } => "arbiter",
        LogicBlock::Scheduler { .. } => "warp scheduler",
        LogicBlock::Scoreboard { .. } => "scoreboard",
        LogicBlock::FreeList { .. } => "free list",
        LogicBlock::RenamingTable { .. } => "renaming table",
        LogicBlock::ReplayQueue { .. } => "replay queue",
        LogicBlock::OperandCollector { .. } => "operand collectors",
        LogicBlock::Register { .. } => "pipeline register",
        LogicBlock::FlopFile { .. } => "register file in flip-flops",
        LogicBlock::Counted { .. } => "counted gates, connected at random",
    }
}

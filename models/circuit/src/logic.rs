//! Small structures out of static gates: multiplexers, select trees, comparators. Half of all data bits toggle.

mod activity;
mod analysis;
mod arithmetic;
mod arrivals;
mod bch;
mod cells;
mod choose;
mod code;
mod codec;
mod counted;
mod ecc;
mod flop_file;
mod kind;
mod limits;
mod netlist;
mod price;
mod route;
mod share;
mod spec;
mod stages;

pub use arithmetic::Carry;
pub use arrivals::Arrivals;
pub use choose::{Fairness, Policy};
pub use code::Code;
pub use codec::{Codec, Decoded};
pub use counted::GateCounts;
pub use kind::Kind;
pub use price::gates;
pub use spec::{LogicBlock, LogicSpec, Side};

pub(crate) use analysis::{Piece, Switching};
pub(crate) use cells::{Cells, row};
pub(crate) use price::{arrivals, assembled, block, leakage_of};

use warpwatt_techlib::quantity::Length;
use warpwatt_techlib::{Technology, rules};

use crate::error::check;
use crate::process::Process;
use crate::small::{Cell, assemble};
use crate::{CircuitError, ComparatorSpec, Cost, MuxSpec, SelectSpec};

/// NAND2 gates of a 2:1 multiplexer bit, and on its way through.
const MUX: f64 = 3.0;
const MUX_DEPTH: f64 = 2.0;
/// NAND2 gates of an exclusive-or, and on its way through.
const XOR: f64 = 4.0;
const XOR_DEPTH: f64 = 3.0;
/// Requests that one node of a select tree chooses among, its gates (a chain of inhibits, a grant each, an any), and on its way up and down.
const SELECT_FAN_IN: u64 = 4;
const SELECT_NODE: f64 = 14.0;
const SELECT_UP: f64 = 2.0;
const SELECT_DOWN: f64 = 3.0;
/// A round-robin choice takes two trees: behind the last grant, and anywhere (Gupta and McKeown, IEEE Micro 1999).
const ROUND_ROBIN_TREES: f64 = 2.0;
/// Part of the bits that change from one access to the next.
const TOGGLE: f64 = 0.5;
/// Widest structure, in bits.
const MOST_WIDTH: u64 = 1 << 16;

/// A 2:1 multiplexer.
pub(crate) fn mux(
    p: &Process,
    technology: &Technology,
    spec: &MuxSpec,
) -> Result<Cost, CircuitError> {
    check::at_most("bits", spec.bits, MOST_WIDTH)?;
    let cell = Cell::new(p);
    let bits = spec.bits as f64;
    let row = Length::from_m(cell.area.as_m2() * MUX * bits / p.f(rules::CELL_HEIGHT).as_m());
    let select = cell.lines("select line", 2.0 * bits, row, 1.0, 1.0);
    let gates = cell.gates(
        "multiplexers",
        MUX * bits,
        MUX_DEPTH,
        MUX_DEPTH * bits * TOGGLE,
    );
    let access = select.delay + gates.delay;
    Ok(assemble(
        technology,
        "2:1 multiplexer",
        vec![select, gates],
        (row, access),
    ))
}

/// A round-robin select tree.
pub(crate) fn select(
    p: &Process,
    technology: &Technology,
    spec: &SelectSpec,
) -> Result<Cost, CircuitError> {
    check::at_most("inputs", spec.inputs, MOST_WIDTH)?;
    let cell = Cell::new(p);
    let (mut width, mut nodes, mut levels) = (spec.inputs, 0, 0.0);
    while width > 1 {
        width = width.div_ceil(SELECT_FAN_IN);
        nodes += width;
        levels += 1.0;
    }
    let nodes = (nodes as f64).max(1.0);
    let levels = f64::max(levels, 1.0);
    let gates = nodes * SELECT_NODE * ROUND_ROBIN_TREES;
    let side = cell.side(gates);
    // Each level reaches half as far as the one above it: up and down the tree twice the side of the block.
    let depth = (SELECT_UP + SELECT_DOWN) * levels;
    let active = depth * ROUND_ROBIN_TREES + spec.inputs as f64 * TOGGLE;
    let tree = cell.gates("tree", gates, depth, active);
    let mut wires = cell.lines("requests and grants", 1.0, side, 2.0, 2.0);
    wires.delay = wires.delay * 2.0;
    // Thermometer mask behind the last grant: a gate an input, and the choice between both trees.
    let mask = cell.gates(
        "mask",
        4.0 * spec.inputs as f64,
        1.0 + MUX_DEPTH,
        spec.inputs as f64 * TOGGLE,
    );
    let access = tree.delay + wires.delay + mask.delay;
    Ok(assemble(
        technology,
        "round-robin select tree",
        vec![tree, wires, mask],
        (side, access),
    ))
}

/// An equality comparator.
pub(crate) fn comparator(
    p: &Process,
    technology: &Technology,
    spec: &ComparatorSpec,
) -> Result<Cost, CircuitError> {
    check::at_most("bits", spec.bits, MOST_WIDTH)?;
    let cell = Cell::new(p);
    let bits = spec.bits as f64;
    let xor = cell.gates(
        "exclusive-ors",
        XOR * bits,
        XOR_DEPTH,
        XOR_DEPTH * bits * TOGGLE,
    );
    let levels = f64::from(spec.bits.next_power_of_two().ilog2());
    // An AND2 is a NAND2 and an inverter, counted as another NAND2.
    let tree = cell.gates(
        "and tree",
        2.0 * (bits - 1.0),
        2.0 * levels,
        2.0 * (bits - 1.0) * TOGGLE,
    );
    let side = cell.side(XOR * bits + 2.0 * (bits - 1.0));
    let out = cell.lines("output", 4.0, side, 1.0, TOGGLE);
    let access = xor.delay + tree.delay + out.delay;
    Ok(assemble(
        technology,
        "equality comparator",
        vec![xor, tree, out],
        (side, access),
    ))
}

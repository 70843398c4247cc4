//! Small structures out of static gates: buffers, multiplexers, select trees, comparators.
//!
//! Gates are smallest NAND2 and inverters in standard-cell rows of 50 F; long lines get a chain sized by logical effort (CACTI 5.1 TR, section 4.1). Half of
//! all data bits toggle.

use warpwatt_techlib::quantity::{Area, Capacitance, Energy, Length, Power, Time};
use warpwatt_techlib::{Technology, rules};

use crate::build::{ports, uncertainty};
use crate::error::check;
use crate::gate::{self, Chain, Drive, Kind, Link};
use crate::process::Process;
use crate::{BufferSpec, CircuitError, ComparatorSpec, Cost, MuxSpec, Part, SelectSpec};

/// NAND2 gates of a master-slave flip-flop (McPAT 1.3, logic.cc, DFFCell).
const FLIP_FLOP: f64 = 8.0;
/// Of which see the clock directly.
const CLOCKED: f64 = 4.0;
/// Gates of a flip-flop on the way from its clock to its output.
const FLIP_FLOP_DEPTH: f64 = 3.0;
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
/// Largest buffer, in entries and in bits; larger ones are arrays.
const MOST_ENTRIES: u64 = 1024;
const MOST_WIDTH: u64 = 1 << 16;

/// A smallest NAND2 that drives another one.
struct Cell<'a> {
    p: &'a Process,
    area: Area,
    leakage: Power,
    gate_leakage: Power,
    /// Into one input, and of a node between two gates.
    input: Capacitance,
    node: Capacitance,
    delay: Time,
}

/// What a part of a small structure costs.
struct Piece {
    name: &'static str,
    area: Area,
    leakage: Power,
    gate_leakage: Power,
    energy: Energy,
    delay: Time,
}

impl<'a> Cell<'a> {
    fn new(p: &'a Process) -> Self {
        let (n, pm, tall) = (p.min_nmos() * 2.0, p.min_pmos(), p.f(rules::CELL_HEIGHT));
        let input = gate::gate_c(p, n + pm);
        let own = gate::drain_p(p, pm, tall) * 2.0 + gate::drain_n(p, n, 2, tall);
        let tau = gate::r_n(p, n, 2) * (own + input);
        // The ramp that a long row of such gates settles to is its own: twice the delay.
        let first = gate::rising(Time::ZERO, tau, 0.5, 0.5);
        let delay = gate::rising(first * 2.0, tau, 0.5, 0.5);
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
    fn gates(&self, name: &'static str, count: f64, depth: f64, active: f64) -> Piece {
        Piece {
            name,
            area: self.area * count,
            leakage: self.leakage * count,
            gate_leakage: self.gate_leakage * count,
            energy: self.p.full_swing(self.node) * active,
            delay: self.delay * depth,
        }
    }

    /// A line of length `length` to `inputs` gate inputs, and its driver; `active` of `count` such lines switch.
    fn lines(
        &self,
        name: &'static str,
        inputs: f64,
        length: Length,
        count: f64,
        active: f64,
    ) -> Piece {
        let p = self.p;
        let (wire_c, wire_r) = (p.wire_local.c * length, p.wire_local.r * length);
        let load = self.input * inputs.max(1.0) + wire_c;
        let chain = Chain::new(
            p,
            Kind::Inverter,
            p.f(rules::CELL_HEIGHT),
            Link {
                load,
                wire: wire_r * load / 2.0,
            },
        );
        let drive = chain.drive(p, Drive::default());
        let (leakage, gate_leakage) = chain.leakage(p, Kind::Inverter);
        Piece {
            name,
            area: chain.area(p) * count,
            leakage: leakage * count,
            gate_leakage: gate_leakage * count,
            energy: drive.energy * active,
            delay: drive.delay,
        }
    }

    /// Side of a square block of so many gates.
    fn side(&self, gates: f64) -> Length {
        Length::from_m((self.area.as_m2() * gates).sqrt())
    }
}

/// Words in flip-flops: a decoder and a word clock a write port, a tree of multiplexers a read port.
pub(crate) fn buffer(
    p: &Process,
    technology: &Technology,
    spec: &BufferSpec,
) -> Result<Cost, CircuitError> {
    check::at_most("entries", spec.entries, MOST_ENTRIES)?;
    check::at_most("bits", spec.bits, MOST_WIDTH)?;
    ports("the buffer", spec.ports)?;
    let cell = Cell::new(p);
    let (entries, bits) = (spec.entries as f64, spec.bits as f64);
    let (readers, writers) = (
        f64::from(spec.ports.readers()),
        f64::from(spec.ports.writers()),
    );
    let address = f64::from(spec.entries.next_power_of_two().ilog2());
    let merges = entries - 1.0;
    // A word is one row of bits; the gates of its bits, multiplexers included, set the pitch.
    let per_bit = FLIP_FLOP + MUX * (writers - 1.0) + 2.0 * readers;
    let tall = p.f(rules::CELL_HEIGHT);
    let row = Length::from_m(cell.area.as_m2() * per_bit * bits / tall.as_m());
    let column = tall * entries;
    let decoder =
        |name, ports: f64| cell.gates(name, (entries * address) * ports, address, address + 1.0);
    let storage = cell.gates(
        "flip-flops",
        FLIP_FLOP * entries * bits,
        FLIP_FLOP_DEPTH,
        0.0,
    );
    let write_mux = cell.gates(
        "write multiplexers",
        MUX * (writers - 1.0) * entries * bits,
        0.0,
        0.0,
    );
    let select = cell.lines("read select lines", bits, row, entries * readers, 1.0);
    let path = 1.0 + 2.0 * address;
    let read_mux = cell.gates(
        "read multiplexers",
        (entries + 2.0 * merges) * bits * readers,
        path,
        path * bits * TOGGLE,
    );
    let out = cell.lines("outputs", 4.0, column, bits * readers, bits * TOGGLE);
    let read_decoder = decoder("read decoders", readers);
    let write_decoder = decoder("write decoders", writers);
    let clock = cell.lines("word clocks", CLOCKED * bits, row, entries * writers, 1.0);
    let data = cell.lines(
        "write data lines",
        entries,
        column,
        bits * writers,
        bits * TOGGLE,
    );
    // A bit that changes switches all gates of its flip-flop, one that does not only those at the clock.
    let switching = FLIP_FLOP * TOGGLE + CLOCKED * (1.0 - TOGGLE);
    let store = p.full_swing(cell.node) * (switching * bits);
    let write_energy = write_decoder.energy + clock.energy + data.energy + store;
    let setup = write_decoder.delay + clock.delay.max(data.delay) + storage.delay;
    let access = read_decoder.delay + select.delay + read_mux.delay + out.delay;
    let unread = |piece: Piece| Piece {
        energy: Energy::ZERO,
        delay: Time::ZERO,
        ..piece
    };
    let pieces = vec![
        unread(storage),
        unread(write_mux),
        read_decoder,
        select,
        read_mux,
        out,
        unread(write_decoder),
        unread(clock),
        unread(data),
    ];
    let mut cost = assemble(technology, "flip-flop buffer", pieces, (row, access));
    cost.write_energy = write_energy;
    cost.cycle_time = access.max(setup);
    Ok(cost)
}

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
    let wires = cell.lines("requests and grants", 1.0, side, 2.0, 2.0);
    // Thermometer mask behind the last grant: a gate an input, and the choice between both trees.
    let mask = cell.gates(
        "mask",
        4.0 * spec.inputs as f64,
        1.0 + MUX_DEPTH,
        spec.inputs as f64 * TOGGLE,
    );
    let access = tree.delay + wires.delay * 2.0 + mask.delay;
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

fn assemble(
    technology: &Technology,
    model: &str,
    pieces: Vec<Piece>,
    (width, access): (Length, Time),
) -> Cost {
    let area: Area = pieces.iter().map(|piece| piece.area).sum();
    let part = |piece: &Piece| Part {
        name: piece.name.to_owned(),
        read_energy: piece.energy,
        leakage: piece.leakage,
        area: piece.area,
        delay: piece.delay,
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
        gated: None,
        limits: None,
    }
}

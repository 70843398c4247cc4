//! Words in flip-flops or latches: a decoder and a word clock a write port, multiplexers a read port.

use warpwatt_techlib::Technology;
use warpwatt_techlib::quantity::{Energy, Length, Time};
use warpwatt_techlib::rules;

use super::gates::{Cell, Piece, assemble};
use crate::process::Process;
use crate::{BufferSpec, Cost};

/// What a bit is kept in, in NAND2 gates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Storage {
    model: &'static str,
    part: &'static str,
    /// Gates of the cell, those that see the clock, and those on the way from the clock to the output.
    gates: f64,
    clocked: f64,
    depth: f64,
    /// Gates for each further write port.
    write_port: f64,
    /// Gates that merge two words of a read multiplexer, and those on the way.
    merge: f64,
}

impl Storage {
    /// A master-slave flip-flop of eight NAND2 gates (McPAT 1.3, logic.cc, DFFCell), multiplexers of NAND2 trees.
    pub(crate) const TEXTBOOK_FLIP_FLOP: Self = Self {
        model: "flip-flop buffer",
        part: "flip-flops",
        gates: 8.0,
        clocked: 4.0,
        depth: 3.0,
        write_port: 3.0,
        merge: 2.0,
    };
    /// A flip-flop of a cell library: 5.7 NAND2 gates of area in the Nangate 45 nm open cell library (DFF_X1 4.52 um2, NAND2_X1 0.80 um2), 6.7 in ASAP7
    /// (20 and 3 contacted pitches). Multiplexers of alternating NAND2 and NOR2.
    pub(crate) const FLIP_FLOP: Self = Self {
        model: "flip-flop array",
        part: "flip-flops",
        gates: 6.0,
        clocked: 3.0,
        depth: 3.0,
        write_port: 3.0,
        merge: 1.0,
    };
    /// A transparent latch: 3.3 NAND2 gates in the Nangate library (DLH_X1 2.66 um2), 5 in ASAP7 (15 pitches). A word that is read while it is written gives
    /// the new value.
    pub(crate) const LATCH: Self = Self {
        model: "latch array",
        part: "latches",
        gates: 3.7,
        clocked: 2.0,
        depth: 2.0,
        ..Self::FLIP_FLOP
    };
}

/// The memory out of such bits, of which a part toggles from one access to the next.
pub(crate) fn cells(
    p: &Process,
    technology: &Technology,
    (spec, toggles): (&BufferSpec, f64),
    storage: &Storage,
) -> Cost {
    let cell = Cell::new(p);
    let (entries, bits) = (spec.entries as f64, spec.bits as f64);
    let (readers, writers) = (
        f64::from(spec.ports.readers()),
        f64::from(spec.ports.writers()),
    );
    let address = f64::from(spec.entries.next_power_of_two().ilog2());
    // A word is one row of bits; the gates of its bits, multiplexers included, set the pitch.
    let per_bit = storage.gates + storage.write_port * (writers - 1.0) + storage.merge * readers;
    let row = Length::from_m(cell.area.as_m2() * per_bit * bits / p.f(rules::CELL_HEIGHT).as_m());
    let column = p.f(rules::CELL_HEIGHT) * entries;
    let decoder =
        |name, ports: f64| cell.gates(name, (entries * address) * ports, address, address + 1.0);
    let kept = cell.gates(
        storage.part,
        storage.gates * entries * bits,
        storage.depth,
        0.0,
    );
    let write_mux = cell.gates(
        "write multiplexers",
        storage.write_port * (writers - 1.0) * entries * bits,
        0.0,
        0.0,
    );
    let select = cell.lines("read select lines", bits, row, entries * readers, 1.0);
    let path = 1.0 + storage.merge * address;
    let read_mux = cell.gates(
        "read multiplexers",
        (entries + storage.merge * (entries - 1.0)) * bits * readers,
        path,
        path * bits * toggles,
    );
    let out = cell.lines("outputs", 4.0, column, bits * readers, bits * toggles);
    let read_decoder = decoder("read decoders", readers);
    let write_decoder = decoder("write decoders", writers);
    let clock = cell.lines(
        "word clocks",
        storage.clocked * bits,
        row,
        entries * writers,
        1.0,
    );
    let data = cell.lines(
        "write data lines",
        entries,
        column,
        bits * writers,
        bits * toggles,
    );
    // A bit that changes switches all its gates, one that does not only those at the clock.
    let switching = storage.gates * toggles + storage.clocked * (1.0 - toggles);
    let store = p.full_swing(cell.node) * (switching * bits);
    let write_energy = write_decoder.energy + clock.energy + data.energy + store;
    let setup = write_decoder.delay + clock.delay.max(data.delay) + kept.delay;
    let access = read_decoder.delay + select.delay + read_mux.delay + out.delay;
    let pieces = vec![
        unread(kept),
        unread(write_mux),
        read_decoder,
        select,
        read_mux,
        out,
        unread(write_decoder),
        unread(clock),
        unread(data),
    ];
    let mut cost = assemble(technology, storage.model, pieces, (row, access));
    cost.write_energy = write_energy;
    cost.cycle_time = access.max(setup);
    cost
}

/// A piece that a read does not use.
pub(super) fn unread(piece: Piece) -> Piece {
    Piece {
        energy: Energy::ZERO,
        delay: Time::ZERO,
        ..piece
    }
}

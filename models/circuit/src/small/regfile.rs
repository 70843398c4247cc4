//! A register file of eight-transistor cells (Chang et al., VLSI 2005): read ports discharge a short local bitline from rail to rail through two transistors
//! in series, so that there are no sense amplifiers; local bitlines meet in NAND gates (Rabaey et al., Digital Integrated Circuits, section 12.2.3).

use warpwatt_techlib::Technology;
use warpwatt_techlib::quantity::{Area, Length, Time};

use super::flops::unread;
use super::gates::{Cell, Piece, assemble};
use crate::gate::{self, Kind};
use crate::process::Process;
use crate::{BufferSpec, Cost, Organisation};

/// Cells on a local bitline.
const LOCAL: f64 = 16.0;
/// Rows and columns of unused cells at both edges, without which the outer cells would not print like the inner ones.
const EDGE: f64 = 2.0;
/// Gates that merge two local bitlines: a NAND2, and half of the NOR2 behind it with the precharge of both.
const MERGE: f64 = 2.0;

/// Sizes that the pieces share.
struct Plan<'a> {
    p: &'a Process,
    cell: Cell<'a>,
    entries: f64,
    bits: f64,
    readers: f64,
    writers: f64,
    /// Part of the bits that change from one access to the next.
    toggles: f64,
    /// Of one cell.
    width: Length,
    height: Length,
}

/// The register file that holds `spec`, of whose bits a part changes from one access to the next.
pub(crate) fn register_file(
    p: &Process,
    technology: &Technology,
    (spec, toggles): (&BufferSpec, f64),
) -> Cost {
    let plan = Plan::new(p, spec, toggles);
    let address = f64::from(spec.entries.next_power_of_two().ilog2());
    let decoder = |name, ports: f64| {
        let gates = plan.entries * address * ports;
        plan.cell.gates(name, gates, address, address + 1.0)
    };
    let (read_decoder, write_decoder) = (
        decoder("read decoders", plan.readers),
        decoder("write decoders", plan.writers),
    );
    let read_line = plan.wordlines("read wordlines", 1.0, plan.readers);
    let write_line = plan.wordlines("write wordlines", 2.0, plan.writers);
    let (local, merge, out) = (plan.local(), plan.merge(), plan.outputs());
    let data = plan.write_lines();
    let access = read_decoder.delay + read_line.delay + local.delay + merge.delay + out.delay;
    let flip = gate::r_n(p, p.cell.access, 1) * plan.cell.node;
    let setup = write_decoder.delay + write_line.delay.max(data.delay) + flip;
    // The bit that changes charges one of its two nodes.
    let store = p.full_swing(plan.cell.node) * (plan.bits * plan.toggles);
    let write_energy = write_decoder.energy + write_line.energy + data.energy + store;
    let width = plan.width * plan.bits;
    let pieces = vec![
        plan.storage(),
        read_decoder,
        read_line,
        local,
        merge,
        out,
        unread(write_decoder),
        unread(write_line),
        unread(data),
    ];
    let model = "register file of 8T cells";
    let mut cost = assemble(technology, model, pieces, (width, access));
    cost.write_energy = write_energy;
    // One subarray, of which rows and all can sleep.
    cost.organisation = Some(Organisation {
        slices: 1,
        ndwl: 1,
        ndbl: 1,
        nspd: 1.0,
        ndcm: 1,
        ndsam1: 1,
        ndsam2: 1,
        rows: spec.entries,
        cols: spec.bits,
        subarrays: 1,
        active_subarrays: 1,
        wires: p.repeaters.kind,
    });
    // Local bitlines are precharged while the next address is decoded.
    cost.cycle_time = (access + plan.restore()).max(setup);
    cost
}

impl<'a> Plan<'a> {
    fn new(p: &'a Process, spec: &BufferSpec, toggles: f64) -> Self {
        let (readers, writers) = (
            f64::from(spec.ports.readers()),
            f64::from(spec.ports.writers()),
        );
        let pitch = p.wire_local.pitch;
        // A read port adds two transistors and a bitline, a further write port two access transistors and a pair; each adds a wordline.
        let width =
            p.cell.width * (1.0 + p.cell.read_port * readers) + pitch * (2.0 * (writers - 1.0));
        let height = p.cell.height + pitch * (readers + writers - 2.0).max(0.0);
        Self {
            p,
            cell: Cell::new(p),
            entries: spec.entries as f64,
            bits: spec.bits as f64,
            readers,
            writers,
            toggles,
            width,
            height,
        }
    }

    fn row(&self) -> Length {
        self.width * self.bits
    }

    fn column(&self) -> Length {
        self.height * self.entries
    }

    /// Lines across a row, with `gates` transistors of every bit on them.
    fn wordlines(&self, name: &'static str, gates: f64, ports: f64) -> Piece {
        let on_cell = gate::gate_c(self.p, self.p.cell.access) * gates / self.cell.input;
        self.cell.lines(
            name,
            on_cell * self.bits,
            self.row(),
            self.entries * ports,
            1.0,
        )
    }

    /// All cells, idle.
    fn storage(&self) -> Piece {
        let (p, cell) = (self.p, &self.p.cell);
        let inverters = gate::leak(p, Kind::Inverter, cell.nmos, cell.pmos) * 2.0;
        let leak = inverters
            + gate::access_leak(p, cell.access) * self.writers
            + gate::read_port_leak(p, cell.access) * self.readers;
        let gates = gate::gate_leak(p, Kind::Inverter, cell.nmos, cell.pmos) * 2.0;
        let count = self.entries * self.bits;
        Piece {
            name: "cells",
            area: self.width * self.height * ((self.entries + EDGE) * (self.bits + EDGE)),
            leakage: p.power(leak) * count,
            gate_leakage: p.power(gates) * count,
            energy: warpwatt_techlib::quantity::Energy::ZERO,
            delay: Time::ZERO,
        }
    }

    /// Cells on one local bitline.
    fn on_local(&self) -> f64 {
        self.entries.min(LOCAL)
    }

    /// One local bitline: two cells share a contact.
    fn local_c(&self) -> warpwatt_techlib::quantity::Capacitance {
        let drain = gate::drain_pitch(self.p, self.p.cell.access, self.width) / 2.0;
        (drain + self.p.wire_local.c * self.height) * self.on_local() + self.cell.input
    }

    /// Discharge of the local bitlines: half of all bits read as zero.
    fn local(&self) -> Piece {
        let p = self.p;
        let c = self.local_c();
        let tau = gate::r_n(p, p.cell.access, 2) * c;
        Piece {
            name: "local bitlines",
            area: Area::ZERO,
            leakage: p.power(gate::leak(p, Kind::Inverter, p.min_nmos(), p.min_pmos())),
            gate_leakage: warpwatt_techlib::quantity::Power::ZERO,
            energy: p.full_swing(c) * (self.bits * self.toggles),
            delay: gate::stage(p, Time::ZERO, tau),
        }
    }

    fn groups(&self) -> f64 {
        (self.entries / LOCAL).ceil()
    }

    /// NAND gates on the local bitlines, and a tree of gates on the way to the edge.
    fn merge(&self) -> Piece {
        let levels = 1.0 + libm::ceil(libm::log2(self.groups()));
        self.cell.gates(
            "bitline merging",
            MERGE * self.groups() * self.bits * self.readers,
            levels,
            levels * self.bits * self.toggles,
        )
    }

    fn outputs(&self) -> Piece {
        self.cell.lines(
            "outputs",
            4.0,
            self.column(),
            self.bits * self.readers,
            self.bits * self.toggles,
        )
    }

    /// Pairs of write bitlines along a column: one of the two falls for every bit that changes.
    fn write_lines(&self) -> Piece {
        let drain = gate::drain_pitch(self.p, self.p.cell.access, self.width) / 2.0;
        let inputs = drain / self.cell.input * self.entries;
        self.cell.lines(
            "write bitlines",
            inputs,
            self.column(),
            2.0 * self.bits * self.writers,
            self.bits * self.toggles,
        )
    }

    /// Time to precharge a local bitline through a smallest PMOS twice as wide.
    fn restore(&self) -> Time {
        let r = gate::r_p(self.p, self.p.min_pmos() * 2.0);
        gate::rising(Time::ZERO, r * self.local_c(), 0.5, 0.1)
    }
}

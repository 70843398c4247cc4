//! Off-chip memory: energy of an access by what it does in the device and on the way, background and refresh power of a device.
//!
//! Two kinds of evidence are joined, the currents of data sheets (by Micron's method, technical note TN-41-01) and published energies of a bit. The area is
//! not on the GPU; the node of the GPU plays no part.

mod spec;

pub use spec::{MemoryKind, MemoryPart, MemorySpec};

use warpwatt_techlib::published::{self, DataSheet, Memory};
use warpwatt_techlib::quantity::{Energy, Power, Time};

use crate::build::Sizing;
use crate::error::check;
use crate::logic::{self, Piece};
use crate::{CircuitError, Cost};

/// Accesses that find their row open where a published energy of a bit is an average: of HBM2 (O'Connor et al., MICRO 2017) 1.21 pJ a bit of 909 pJ a row
/// are 751 bits a row, 2.9 accesses of 256 bits.
const AVERAGE_HITS: f64 = 0.66;
/// Bits of the accesses that those averages are of.
const PUBLISHED_BITS: f64 = 256.0;
/// Share of the interface in a bit's energy where no total is published, as in the split of the others.
const INTERFACE: f64 = 0.35;
/// One sigma of taking another memory's currents.
const RELATIVE: f64 = 0.4;

/// Energies of one bit, and powers of one device.
struct Figures {
    activation: Energy,
    /// Bits of the accesses that the activation's share of a bit is of.
    access_bits: f64,
    read: Energy,
    write: Energy,
    interface: Energy,
    background: Power,
    refresh: Power,
    sigma: f64,
    sources: Vec<String>,
}

/// A device.
pub(crate) fn device(at: &Sizing, spec: &MemorySpec) -> Result<Cost, CircuitError> {
    check::at_most("bits", spec.bits, 1 << 20)?;
    check::share("row_hits", u64::from(spec.row_hits))?;
    let figures = figures(spec.kind, &at.choices.memories()?)?;
    if spec.part == MemoryPart::Row {
        return Ok(row(at, spec.kind, &figures));
    }
    let bits = spec.bits as f64;
    let misses = (1.0 - f64::from(spec.row_hits) / 100.0) / (1.0 - AVERAGE_HITS);
    let piece = |name: &str, energy: Energy| Piece {
        energy: energy * bits,
        ..Piece::named(name)
    };
    let idle = |name: &str, leakage: Power| Piece {
        leakage,
        ..Piece::named(name)
    };
    let activation = piece("row activation", figures.activation * misses);
    let interface = piece("interface", figures.interface);
    let write = activation.energy + interface.energy + figures.write * bits;
    let pieces = vec![
        activation,
        piece("column and data movement", figures.read),
        interface,
        idle("background", figures.background),
        idle("refresh", figures.refresh),
    ];
    let model = format!("{} device and interface", spec.kind.name());
    let mut cost = logic::assembled(at.technology, pieces, &model, Time::ZERO);
    cost.write_energy = write;
    cost.uncertainty.energy = figures.sigma;
    cost.uncertainty.leakage = figures.sigma.max(0.3);
    cost.uncertainty.method = figures.sigma;
    Ok(cost)
}

/// A row opened and closed: what the energies of a bit have of it, over the bits that a row gives on the mean.
fn row(at: &Sizing, kind: MemoryKind, figures: &Figures) -> Cost {
    let piece = Piece {
        energy: figures.activation * (figures.access_bits / (1.0 - AVERAGE_HITS)),
        ..Piece::named("row activation")
    };
    let model = format!("{} row", kind.name());
    let mut cost = logic::assembled(at.technology, vec![piece], &model, Time::ZERO);
    cost.uncertainty.energy = figures.sigma;
    cost.uncertainty.method = figures.sigma;
    cost
}

/// The documents behind it.
pub(crate) fn sources(kind: MemoryKind) -> Result<Vec<String>, CircuitError> {
    Ok(figures(kind, &published::memories()?)?.sources)
}

fn figures(kind: MemoryKind, all: &[Memory]) -> Result<Figures, CircuitError> {
    let find = |name: &str| all.iter().find(|memory| memory.name == name);
    let memory = find(kind.name()).ok_or(CircuitError::NotModelled {
        what: "this kind of memory",
    })?;
    let own = memory.sheet.is_some();
    let sheet = memory
        .sheet
        .as_ref()
        .or_else(|| find(kind.relative())?.sheet.as_ref());
    let sheet = sheet.ok_or(CircuitError::NotModelled {
        what: "the currents of this kind of memory",
    })?;
    Ok(joined(memory, sheet, if own { 0.0 } else { RELATIVE }))
}

/// A published total is split by its shares; the sheet says how writes differ from reads and what a device takes when idle.
fn joined(memory: &Memory, sheet: &DataSheet, relative: f64) -> Figures {
    let currents = Currents::of(sheet);
    let mut sources = vec![sheet.source.clone()];
    let sheet_sigma = sheet.uncertainty.hypot(relative);
    let (activation, access_bits, read, interface, sigma) = match &memory.total {
        Some(total) => {
            sources.insert(0, total.source.clone());
            sources.push(format!("split: {}", total.split_source));
            let [activation, movement, interface] =
                total.shares.map(|share| total.energy_per_bit * share);
            (
                activation,
                PUBLISHED_BITS,
                movement,
                interface,
                total.uncertainty,
            )
        }
        None => {
            let activation = currents.row / sheet.burst_bits * (1.0 - AVERAGE_HITS);
            let inside = activation + currents.read;
            (
                activation,
                sheet.burst_bits,
                currents.read,
                inside * (INTERFACE / (1.0 - INTERFACE)),
                sheet_sigma.hypot(0.3),
            )
        }
    };
    Figures {
        activation,
        access_bits,
        read,
        write: read * (currents.write / currents.read),
        interface,
        background: currents.background,
        refresh: currents.refresh,
        sigma,
        sources,
    }
}

/// What currents and times of a data sheet mean in energy.
struct Currents {
    /// Of a row opened and closed.
    row: Energy,
    /// Of a bit read.
    read: Energy,
    write: Energy,
    background: Power,
    refresh: Power,
}

impl Currents {
    /// Micron TN-41-01, equations of the activate, read, write, refresh and background powers.
    fn of(sheet: &DataSheet) -> Self {
        let standing =
            sheet.idd3n * sheet.row_active + sheet.idd2n * (sheet.row_cycle - sheet.row_active);
        let row = (sheet.idd0 * sheet.row_cycle - standing) * sheet.vdd * sheet.clock;
        let burst = sheet.clock * sheet.burst_cycles;
        Self {
            row,
            read: (sheet.idd4r - sheet.idd3n) * sheet.vdd * burst / sheet.burst_bits,
            write: (sheet.idd4w - sheet.idd3n) * sheet.vdd * burst / sheet.burst_bits,
            background: sheet.idd3n * sheet.vdd,
            refresh: (sheet.idd5 - sheet.idd3n)
                * sheet.vdd
                * (sheet.refresh / sheet.refresh_interval),
        }
    }
}

//! Small memories that a designer would not build from an SRAM array: words in flip-flops, in latches, or in a register file of eight-transistor cells.

mod choose;
mod flops;
mod gates;
mod regfile;

pub(crate) use choose::choose;
pub(crate) use gates::{Cell, Piece, assemble};

use flops::{Storage, cells};
use regfile::register_file;

use warpwatt_techlib::Technology;

use crate::build::Sizing;
use crate::error::check;
use crate::process::Process;
use crate::slices::{Bus, Lines, Slices};
use crate::{BufferSpec, CircuitError, Cost, Profile, RamSpec};

/// Largest small memory, in entries and in bits; larger ones are arrays.
const MOST_ENTRIES: u64 = 1024;
const MOST_WIDTH: u64 = 1 << 16;
/// Largest capacity for which an array has these as alternatives: 4 KiB.
const MOST_BITS: u64 = 4 * 1024 * 8;

/// Part of the bits that change from one access to the next, where nobody knows.
const TOGGLE: f64 = 0.5;

/// The best small memory for a buffer.
pub(crate) fn buffer(at: &Sizing, spec: &BufferSpec) -> Result<Cost, CircuitError> {
    buffer_of(at, (spec, TOGGLE))
}

/// The same, of whose bits such a part changes from one access to the next.
pub(crate) fn buffer_of(at: &Sizing, spec: (&BufferSpec, f64)) -> Result<Cost, CircuitError> {
    let candidates = all(at.run, at.technology, spec)?;
    choose(at, candidates)
}

/// What else a plain memory could be, each circuit in as many slices as suit the objective best with what is `around` it; nothing if it is too large, has banks
/// or gives out parts of its words.
pub(crate) fn instead(
    at: &Sizing,
    spec: &RamSpec,
    around: impl Fn(Cost) -> Cost,
) -> Result<Vec<Cost>, CircuitError> {
    let whole = spec.out_bits.is_none_or(|out| out == spec.bits);
    if !whole || spec.words > MOST_ENTRIES || spec.banks != 1 {
        return Ok(Vec::new());
    }
    let small = |slices: &Slices| spec.words * slices.share(spec.bits) <= MOST_BITS;
    let ways: Vec<Slices> = Slices::of(spec.bits, spec.bits).filter(small).collect();
    let Some(&first) = ways.first() else {
        return Ok(Vec::new());
    };
    check::ports("the buffer", spec.ports)?;
    let lines = Lines {
        address: libm::ceil(libm::log2(spec.words as f64)),
        selects: 0.0,
        ports: f64::from(spec.ports.total()),
    };
    let mut found = Vec::new();
    for circuit in CIRCUITS {
        let priced = |slices: Slices| {
            let slice = circuit(
                at.run,
                at.technology,
                (
                    &BufferSpec {
                        entries: spec.words,
                        bits: slices.share(spec.bits),
                        ports: spec.ports,
                    },
                    TOGGLE,
                ),
            );
            let size = (slice.width, slice.height);
            around(Bus::new(at.run, slices, lines, size).cost(slice))
        };
        let best = || {
            let candidates: Vec<Cost> = ways.iter().map(|&slices| priced(slices)).collect();
            choose::best(at.settings, &candidates)
        };
        let slices = match ways.len() {
            1 => first,
            _ => ways[at.choices.circuit(best)?],
        };
        found.push(priced(slices));
    }
    Ok(found)
}

/// A circuit for a buffer, of whose bits such a part changes from one access to the next.
type Circuit = fn(&Process, &Technology, (&BufferSpec, f64)) -> Cost;

/// The circuits of the silicon profile.
const CIRCUITS: [Circuit; 3] = [
    |p, technology, spec| cells(p, technology, spec, &Storage::FLIP_FLOP),
    |p, technology, spec| cells(p, technology, spec, &Storage::LATCH),
    register_file,
];

/// Every small memory that could be this buffer. The profiles of the old tools have one of flip-flops alone.
fn all(
    p: &Process,
    technology: &Technology,
    (spec, toggles): (&BufferSpec, f64),
) -> Result<Vec<Cost>, CircuitError> {
    check::at_most("entries", spec.entries, MOST_ENTRIES)?;
    check::at_most("bits", spec.bits, MOST_WIDTH)?;
    check::ports("the buffer", spec.ports)?;
    if p.profile != Profile::Silicon {
        return Ok(vec![cells(
            p,
            technology,
            (spec, toggles),
            &Storage::TEXTBOOK_FLIP_FLOP,
        )]);
    }
    let priced = CIRCUITS
        .iter()
        .map(|circuit| circuit(p, technology, (spec, toggles)));
    Ok(priced.collect())
}

#[cfg(test)]
mod tests;

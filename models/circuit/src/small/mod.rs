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
use crate::{BufferSpec, CircuitError, Cost, Profile, RamSpec};

/// Largest small memory, in entries and in bits; larger ones are arrays.
const MOST_ENTRIES: u64 = 1024;
const MOST_WIDTH: u64 = 1 << 16;
/// Largest capacity for which an array has these as alternatives: 4 KiB.
const MOST_BITS: u64 = 4 * 1024 * 8;

/// The best small memory for a buffer.
pub(crate) fn buffer(at: &Sizing, spec: &BufferSpec) -> Result<Cost, CircuitError> {
    let candidates = all(at.run, at.technology, spec)?;
    choose(at, candidates)
}

/// What else a plain memory could be; nothing if it is too large, has banks or gives out parts of its words.
pub(crate) fn instead(
    p: &Process,
    technology: &Technology,
    spec: &RamSpec,
) -> Result<Vec<Cost>, CircuitError> {
    let whole = spec.out_bits.is_none_or(|out| out == spec.bits);
    let small = spec.words <= MOST_ENTRIES && spec.words * spec.bits <= MOST_BITS;
    if !(whole && small && spec.banks == 1) {
        return Ok(Vec::new());
    }
    let buffer = BufferSpec {
        entries: spec.words,
        bits: spec.bits,
        ports: spec.ports,
    };
    all(p, technology, &buffer)
}

/// Every small memory that could be this buffer. The profiles of the old tools have one of flip-flops alone.
fn all(p: &Process, technology: &Technology, spec: &BufferSpec) -> Result<Vec<Cost>, CircuitError> {
    check::at_most("entries", spec.entries, MOST_ENTRIES)?;
    check::at_most("bits", spec.bits, MOST_WIDTH)?;
    check::ports("the buffer", spec.ports)?;
    if p.profile != Profile::Silicon {
        return Ok(vec![cells(
            p,
            technology,
            spec,
            &Storage::TEXTBOOK_FLIP_FLOP,
        )]);
    }
    Ok(vec![
        cells(p, technology, spec, &Storage::FLIP_FLOP),
        cells(p, technology, spec, &Storage::LATCH),
        register_file(p, technology, spec),
    ])
}

#[cfg(test)]
mod tests;

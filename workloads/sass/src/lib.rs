//! Traces of machine code that Accel-Sim's tracer records on NVIDIA's GPUs: `kernelslist.g` and the `.traceg`, `.traceg.xz` and `.tracez` files that it names.
//!
//! [`listing`] reads the list of launches, [`read`] a launch: a [`KernelTrace`], as execution leaves one. What a trace of the tracer does not hold, it cannot have
//! here: values, what a guard switched off (its lanes look as if they were elsewhere), constants that instructions read as operands.
//! Format: `util/tracer_nvbit` and `gpu-simulator/trace-parser` of accel-sim/accel-sim-framework, tracer versions 1 to 6.

mod code;
mod collect;
mod fault;
mod header;
mod instruction;
mod line;
mod listing;
mod opcode;
mod packed;
mod registers;
mod text;

use std::io::{BufReader, Read, Seek};

pub use collect::{Limits, Recorded};
pub use fault::Fault;
pub use header::Header;
pub use listing::{Listing, is_listing, listing};
pub use warpwatt_simt::trace::KernelTrace;

/// How a launch is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Lines of text: `.traceg`.
    Text,
    /// The same, compressed as a whole: `.traceg.xz`.
    Xz,
    /// Warp by warp, compressed with a common dictionary, behind an index: `.tracez`.
    Indexed,
}

impl Packing {
    /// By the end of a file's name; none if it is no such file.
    pub fn of(name: &str) -> Option<Self> {
        if name.ends_with(".traceg") {
            Some(Self::Text)
        } else if name.ends_with(".traceg.xz") {
            Some(Self::Xz)
        } else if name.ends_with(".tracez") {
            Some(Self::Indexed)
        } else {
            None
        }
    }
}

/// Memory that unpacking `.xz` may take, in KiB: what `xz -9` needs (65 MiB), twice.
const XZ_KIB: u32 = 130 << 10;

/// Reads a launch.
///
/// # Errors
/// A file that no tracer writes, with the place; instructions that are not modelled; more than the limits allow; what cannot be read.
pub fn read(
    mut file: impl Read + Seek,
    packing: Packing,
    limits: Limits,
) -> Result<Recorded, Fault> {
    match packing {
        Packing::Text => text::read(BufReader::new(file), limits),
        Packing::Xz => {
            let unpacked = lzma_rust2::XzReader::new_mem_limit(file, true, XZ_KIB);
            text::read(BufReader::new(unpacked), limits)
        }
        Packing::Indexed => packed::read(&mut file, limits),
    }
}

//! Why a kernel could not run, or had to stop.

use std::fmt;

use warpwatt_ptx::PtxError;
use warpwatt_ptx::types::Space;

/// A launch that was refused or an execution that stopped.
#[derive(Clone, Debug, PartialEq)]
pub enum ExecError {
    /// The module has no such entry.
    UnknownEntry {
        /// The asked name.
        name: String,
        /// The entries that there are.
        known: Vec<String>,
    },
    /// The entry contains what is not supported.
    Unsupported {
        /// The entry.
        kernel: String,
        /// Each place.
        problems: Vec<PtxError>,
    },
    /// The launch does not fit the entry or the machine.
    Launch {
        /// The entry.
        kernel: String,
        /// What does not fit.
        message: String,
    },
    /// A thread did what it must not.
    Fault(Box<Fault>),
}

/// A fault at an instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The entry.
    pub kernel: String,
    /// Line in the PTX file.
    pub line: u32,
    /// The CTA.
    pub cta: [u32; 3],
    /// The thread in its CTA.
    pub thread: [u32; 3],
    /// What happened.
    pub cause: Cause,
}

/// What a thread did.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// An access outside every buffer.
    OutOfBounds {
        /// State space.
        space: Space,
        /// First byte.
        address: u64,
        /// Bytes.
        bytes: u32,
        /// What lies nearby.
        near: String,
    },
    /// An address that is no multiple of the access size.
    Misaligned {
        /// State space.
        space: Space,
        /// First byte.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
    },
    /// A store to constants or parameters.
    ReadOnly {
        /// State space.
        space: Space,
    },
    /// A barrier that only a part of the warp's live threads reached.
    DivergentBarrier,
    /// Every warp that still runs waits at a barrier that can never open.
    Deadlock {
        /// How many warps wait.
        waiting: usize,
    },
    /// Calls nest too deep, or their frames are too large.
    StackOverflow {
        /// How many calls were open.
        depth: usize,
    },
    /// A read of a texture that no launch has bound, by its handle.
    NoTexture(u64),
    /// A surface access outside of the surface: x in bytes or pixels, y, z.
    OutsideSurface {
        /// Where.
        position: [i64; 3],
    },
    /// `free` of an address that `malloc` did not give, or that was given back.
    BadFree(u64),
    /// `trap`.
    Trap,
    /// An indexed branch beyond its list.
    BranchIndex(u32),
    /// A call of an address at which no function that it may reach begins.
    CallTarget(u64),
    /// The instruction limit was reached.
    Limit(u64),
}

impl fmt::Display for ExecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExecError::UnknownEntry { name, known } => {
                write!(
                    f,
                    "the module has no entry `{name}`; it has {}",
                    known.join(", ")
                )
            }
            ExecError::Unsupported { kernel, problems } => write!(
                f,
                "`{kernel}` cannot run: {} unsupported instructions, first: {}",
                problems.len(),
                problems.first().map_or("", |problem| &problem.message)
            ),
            ExecError::Launch { kernel, message } => write!(f, "`{kernel}`: {message}"),
            ExecError::Fault(fault) => fault.fmt(f),
        }
    }
}

impl std::error::Error for ExecError {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [cx, cy, cz] = self.cta;
        let [tx, ty, tz] = self.thread;
        write!(
            f,
            "{} in `{}` at PTX line {}, CTA ({cx}, {cy}, {cz}), thread ({tx}, {ty}, {tz})",
            self.cause, self.kernel, self.line
        )
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::OutOfBounds {
                space,
                address,
                bytes,
                near,
            } => write!(
                f,
                "access of {bytes} bytes at {address:#x} lies outside {} memory ({near})",
                name(*space)
            ),
            Cause::Misaligned {
                space,
                address,
                bytes,
            } => write!(
                f,
                "misaligned access to {} memory: {address:#x} is no multiple of {bytes}",
                name(*space)
            ),
            Cause::ReadOnly { space } => {
                write!(f, "store to {} memory, which is read-only", name(*space))
            }
            Cause::DivergentBarrier => f.write_str(
                "barrier under divergence: only a part of the warp's threads reaches it",
            ),
            Cause::Deadlock { waiting } => write!(
                f,
                "deadlock: {waiting} warps wait at barriers that no other warp will reach"
            ),
            Cause::StackOverflow { depth } => {
                write!(f, "stack overflow: {depth} calls are open")
            }
            Cause::NoTexture(handle) => write!(
                f,
                "no texture is bound to handle {handle:#x}: give the buffer a `texture` table in the launch file"
            ),
            Cause::BadFree(address) => {
                write!(f, "`free` of {address:#x}, at which nothing is allocated")
            }
            Cause::OutsideSurface {
                position: [x, y, z],
            } => write!(
                f,
                "an access outside of the surface, at x = {x}, y = {y}, z = {z}"
            ),
            Cause::CallTarget(address) => write!(
                f,
                "an indirect call of {address:#x}, at which no function of the call's shape begins"
            ),
            Cause::Trap => f.write_str("the kernel executed `trap`"),
            Cause::BranchIndex(index) => write!(f, "branch index {index} lies beyond its targets"),
            Cause::Limit(limit) => write!(f, "the limit of {limit} warp instructions was reached"),
        }
    }
}

fn name(space: Space) -> &'static str {
    match space {
        Space::Global => "global",
        Space::Shared => "shared",
        Space::Local => "local",
        Space::Const => "constant",
        Space::Param => "parameter",
        Space::Generic => "generic",
    }
}

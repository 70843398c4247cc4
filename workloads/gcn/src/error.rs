//! Why a kernel could not run, or had to stop.

use warpwatt_simt::trace::StoreError;

use crate::decode::Refused;

/// A launch that was refused or an execution that stopped.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ExecError {
    /// The object has no such kernel.
    #[error("the object has no kernel `{name}`; it has {}", .known.join(", "))]
    UnknownKernel {
        /// The asked name.
        name: String,
        /// The kernels that there are.
        known: Vec<String>,
    },
    /// The launch does not fit the kernel or the machine.
    #[error("`{kernel}`: {message}")]
    Launch {
        /// The kernel.
        kernel: String,
        /// What does not fit.
        message: String,
    },
    /// What was recorded cannot be kept.
    #[error("`{kernel}`: {error}")]
    Store {
        /// The kernel.
        kernel: String,
        /// Why.
        error: StoreError,
    },
    /// A wavefront did what it must not.
    #[error("{0}")]
    Fault(Box<Fault>),
}

/// A fault at an instruction.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{cause} in `{kernel}` at {address:#x}, `{text}`, work-group ({}, {}, {}), wavefront {wavefront}{}", .group[0], .group[1], .group[2], named(.lane))]
pub struct Fault {
    /// The kernel.
    pub kernel: String,
    /// The instruction's place in the code, from its first byte on.
    pub address: u64,
    /// The instruction's line in the code's listing.
    pub line: u32,
    /// The instruction.
    pub text: String,
    /// The work-group.
    pub group: [u32; 3],
    /// The wavefront in its work-group.
    pub wavefront: u32,
    /// The lane, if it was one's.
    pub lane: Option<u32>,
    /// What happened.
    pub cause: Cause,
}

fn named(lane: &Option<u32>) -> String {
    lane.map_or_else(String::new, |lane| format!(", lane {lane}"))
}

/// What a wavefront did.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Cause {
    /// An access outside of every buffer.
    #[error("access of {bytes} bytes at {address:#x} lies outside {space} memory ({near})")]
    OutOfBounds {
        /// Which memory.
        space: &'static str,
        /// First byte.
        address: u64,
        /// Bytes.
        bytes: u32,
        /// What lies nearby.
        near: String,
    },
    /// An address that is no multiple of what it must be one of.
    #[error("misaligned access to {space} memory: {address:#x} is no multiple of {multiple}")]
    Misaligned {
        /// Which memory.
        space: &'static str,
        /// First byte.
        address: u64,
        /// What it must be a multiple of.
        multiple: u32,
    },
    /// A store to what is read-only.
    #[error("store to {0} memory, which is read-only")]
    ReadOnly(&'static str),
    /// Words that are no instruction which is supported.
    #[error("{0}")]
    Refused(Refused),
    /// An instruction that is known and not executed.
    #[error("{0}")]
    Unsupported(&'static str),
    /// A jump to what is no instruction.
    #[error("a jump to {0:#x}, where no instruction of the object begins")]
    Jump(u64),
    /// The instruction limit was reached.
    #[error("the limit of {0} wavefront instructions was reached")]
    Limit(u64),
    /// Somebody wanted the execution to end.
    #[error("is interrupted")]
    Interrupted,
}

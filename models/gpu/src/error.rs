//! Why a run cannot be timed.

use warpwatt_simt::trace::StoreError;

/// A launch that the GPU cannot run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GpuError {
    /// The trace was made for warps of another width.
    #[error(
        "kernel `{kernel}` was executed with warps of {trace} lanes, the GPU has warps of {gpu}"
    )]
    WarpWidth {
        /// The kernel.
        kernel: String,
        /// Lanes of its warps.
        trace: u32,
        /// Lanes of the GPU's warps.
        gpu: u32,
    },
    /// One CTA needs more than an SM has.
    #[error("a CTA of kernel `{kernel}` does not fit an SM: {}", join(lacks))]
    CtaTooLarge {
        /// The kernel.
        kernel: String,
        /// Everything that an SM has too little of.
        lacks: Vec<Lack>,
    },
    /// What is attached to the GPU cannot run it.
    #[error("kernel `{kernel}` cannot run: {reason}")]
    Refused {
        /// The kernel.
        kernel: String,
        /// Why, and what would help.
        reason: String,
    },
    /// The trace cannot be read where it is kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Somebody wanted the run to end.
    #[error("timing of kernel `{kernel}` is interrupted in cycle {cycle}")]
    Interrupted {
        /// The kernel.
        kernel: String,
        /// The cycle.
        cycle: u64,
    },
    /// Nothing can happen any more, yet warps are left. A fault of the model or of the trace.
    #[error("kernel `{kernel}` is stuck at cycle {cycle} with {ctas_left} CTAs left:\n{}", states.join("\n"))]
    Deadlock {
        /// The kernel.
        kernel: String,
        /// When nothing was left to do.
        cycle: u64,
        /// CTAs that have not finished.
        ctas_left: u64,
        /// What every warp waits for, one line for those of a CTA that wait for the same.
        states: Vec<String>,
    },
    /// The run takes longer than it may.
    #[error("kernel `{kernel}` has not finished by cycle {limit}, the last one allowed, with {ctas_left} CTAs left:\n{}", states.join("\n"))]
    CycleLimit {
        /// The kernel.
        kernel: String,
        /// The last cycle in which something may happen.
        limit: u64,
        /// CTAs that have not finished.
        ctas_left: u64,
        /// What every warp does, one line for those of a CTA that do the same.
        states: Vec<String>,
    },
    /// Something was scheduled in the past. A fault of the model.
    #[error("an event was scheduled for cycle {time}, but it is cycle {now} already")]
    Past {
        /// When the event should have been.
        time: u64,
        /// What time it was.
        now: u64,
    },
}

/// A resource that one CTA needs more of than an SM has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lack {
    /// What it is.
    pub resource: Resource,
    /// How much a CTA needs.
    pub needed: u64,
    /// How much an SM has.
    pub available: u64,
}

impl Lack {
    /// The setting that would have to be larger, and its least value.
    pub fn remedy(&self) -> (&'static str, u64) {
        match self.resource {
            Resource::Threads => ("sm.threads", self.needed),
            Resource::Registers => ("sm.registers_bytes", 4 * self.needed),
            Resource::SharedBytes => ("sm.shared_bytes", self.needed),
            Resource::Ctas => ("sm.ctas", self.needed),
        }
    }
}

impl std::fmt::Display for Lack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (needed, resource, available) = (self.needed, self.resource, self.available);
        write!(f, "it needs {needed} {resource}, an SM has {available}")
    }
}

fn join(lacks: &[Lack]) -> String {
    let lacks: Vec<String> = lacks.iter().map(Lack::to_string).collect();
    lacks.join("; ")
}

/// What limits the CTAs of an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// `sm.threads`, in whole warps.
    Threads,
    /// `sm.registers_bytes`.
    Registers,
    /// `sm.shared_bytes`.
    SharedBytes,
    /// `sm.ctas`.
    Ctas,
}

impl std::fmt::Display for Resource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Threads => "threads",
            Self::Registers => "registers",
            Self::SharedBytes => "bytes of shared memory",
            Self::Ctas => "CTA slots",
        })
    }
}

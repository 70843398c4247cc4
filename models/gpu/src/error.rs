//! Why a run cannot be timed.

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
    #[error(
        "a CTA of kernel `{kernel}` does not fit an SM: it needs {needed} {resource}, an SM has {available}"
    )]
    CtaTooLarge {
        /// The kernel.
        kernel: String,
        /// What runs out first.
        resource: Resource,
        /// How much a CTA needs.
        needed: u64,
        /// How much an SM has.
        available: u64,
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
        /// One line a warp.
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

//! What can happen.

use crate::engine::EventQueue;
use crate::memory::Request;

/// The queue of a run.
pub(crate) type Queue = EventQueue<Event>;

/// A closed set: every event is handled in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The block dispatcher may place a CTA on the SM.
    Dispatch { sm: u16 },
    /// A line comes to the I-cache.
    Fill { sm: u16, miss: u8 },
    /// An instruction that missed reaches its warp's buffer.
    Deliver { sm: u16, warp: u8 },
    /// A branch is resolved.
    Resolve { sm: u16, warp: u8 },
    /// Results are written; the scoreboard regions in `slots` are free.
    Release { sm: u16, warp: u8, slots: u16 },
    /// A barrier opens.
    Barrier { sm: u16, cta: u8 },
    /// The last instruction of a warp has left the pipeline.
    Retire { sm: u16, warp: u8 },
    /// A request reaches its memory controller.
    Request(Request),
    /// A reply reaches the network port of an SM.
    Reply { sm: u16, load: u16, flits: u16 },
    /// A reply is in the SM.
    Loaded { sm: u16, load: u16 },
    /// A store is in DRAM.
    Written { sm: u16 },
}

impl From<crate::Past> for crate::GpuError {
    fn from(past: crate::Past) -> Self {
        Self::Past {
            time: past.time,
            now: past.now,
        }
    }
}

//! What can happen.

use crate::engine::EventQueue;
use crate::request::{Reply, Request};

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
    /// A barrier opens.
    Barrier { sm: u16, cta: u8, number: u8 },
    /// A warp has what it waited for: products, or what a barrier in shared memory is told.
    Goes { sm: u16, warp: u8 },
    /// Work of tensor units, which a barrier in shared memory is told of, has ended.
    Ended { sm: u16, copy: u32 },
    /// The last instruction of a warp has left the pipeline.
    Retire { sm: u16, warp: u8 },
    /// A register is back from memory.
    Restored { sm: u16, warp: u8, word: u16 },
    /// A line comes to the constant cache after a fixed time.
    Constant { sm: u16, place: u32 },
    /// A request reaches the look-up of its slice, or its memory controller.
    Request(Request),
    /// A request reaches the queue of its DRAM channel.
    Dram { request: u32 },
    /// A bank of a channel is ready for the column access of its request.
    Column { channel: u16, bank: u16 },
    /// Data come from DRAM to the slice.
    Filled { request: u32 },
    /// The first request in a network port of SMs may cross.
    Port { port: u16 },
    /// There is room in the network port of an SM that had found none.
    Room { sm: u16 },
    /// The first reply of a slice may cross.
    Answers { slice: u16 },
    /// A reply is in the SM.
    Reply(Reply),
    /// The first block of an access reaches the tags of the first-level cache.
    Access { sm: u16 },
}

impl From<crate::Past> for crate::GpuError {
    fn from(past: crate::Past) -> Self {
        Self::Past {
            time: past.time,
            now: past.now,
        }
    }
}

//! What an SM sees beside itself.

use super::attached::Attached;
use crate::event::{Event, Queue};
use crate::memory::Memory;
use crate::memory::coalesce::Block;
use crate::occupancy::Demand;
use crate::program::Program;
use crate::request::Request;
use crate::{GpuError, GpuSpec};

/// What every SM reads and nobody changes during a launch.
#[derive(Clone, Copy)]
pub(crate) struct Ground<'w> {
    pub spec: &'w GpuSpec,
    pub program: &'w Program,
    pub demand: Demand,
}

impl<'w> Ground<'w> {
    /// What an SM sees in cycle `now`.
    #[inline]
    pub fn world(self, now: u64, attached: &'w mut Attached, shared: Shared<'w>) -> World<'w> {
        World {
            spec: self.spec,
            program: self.program,
            demand: self.demand,
            now,
            attached,
            shared,
        }
    }
}

/// The [`Ground`], what is attached to this SM, and what all share.
pub(crate) struct World<'w> {
    pub spec: &'w GpuSpec,
    pub program: &'w Program,
    pub demand: Demand,
    pub now: u64,
    pub attached: &'w mut Attached,
    pub shared: Shared<'w>,
}

/// What all SMs share.
pub(crate) enum Shared<'w> {
    /// An SM does to it what it does.
    Here {
        queue: &'w mut Queue,
        memory: &'w mut Memory,
    },
    /// SMs tick beside each other: what they do to it is done afterwards, in their order.
    Afterwards(&'w mut Vec<Deed>),
}

/// What an SM does to what all share.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Deed {
    /// An event is scheduled.
    Schedule(u64, Event),
    /// A request of so many flits sets out that is ready in a cycle.
    Send(u64, (Request, u64)),
}

impl Deed {
    /// Does it, in the cycle in which the queue stands.
    pub fn done(&self, queue: &mut Queue, memory: &mut Memory) -> Result<(), GpuError> {
        match *self {
            Self::Schedule(time, event) => Ok(queue.schedule(time, event)?),
            Self::Send(at, request) => memory.send(at, request, queue),
        }
    }
}

impl World<'_> {
    /// Schedules an event.
    #[inline]
    pub fn schedule(&mut self, time: u64, event: Event) -> Result<(), GpuError> {
        match &mut self.shared {
            Shared::Here { queue, .. } => Ok(queue.schedule(time, event)?),
            Shared::Afterwards(deeds) => {
                deeds.push(Deed::Schedule(time, event));
                Ok(())
            }
        }
    }

    /// Puts a request of so many flits into its SM's port, where it is ready in cycle `at`.
    #[inline]
    pub fn send(&mut self, at: u64, request: (Request, u64)) -> Result<(), GpuError> {
        match &mut self.shared {
            Shared::Here { queue, memory } => memory.send(at, request, queue),
            Shared::Afterwards(deeds) => {
                deeds.push(Deed::Send(at, request));
                Ok(())
            }
        }
    }

    /// Whether the SM's port takes another request; if not, the SM will hear of room.
    #[inline]
    pub fn has_room(&mut self, sm: u16) -> bool {
        match &mut self.shared {
            Shared::Here { memory, .. } => memory.has_room(sm),
            Shared::Afterwards(_) => {
                debug_assert!(false, "what asks for room does not tick beside others");
                true
            }
        }
    }

    /// Brings a block into the second-level cache without taking time.
    pub fn bring(&mut self, block: &Block, sm: u16, written: bool) {
        if let Shared::Here { memory, .. } = &mut self.shared {
            memory.bring(block, sm, written);
        }
    }
}

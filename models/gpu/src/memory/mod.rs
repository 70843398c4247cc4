//! From an SM's load-store unit through the network to DRAM and back.

pub(crate) mod coalesce;
mod dram;

use crate::counters::{Counter, Counts};
use crate::engine::ClockRatio;
use crate::event::{Event, Queue};
use crate::{GpuError, GpuSpec, NocSpec};
use dram::{Access, Channel};

/// A coalesced request on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub address: u64,
    pub bytes: u16,
    pub sm: u16,
    /// The entry of the SM's table that waits for it; stores have none.
    pub load: u16,
    pub kind: RequestKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestKind {
    Load,
    Store,
    Atomic,
}

/// Network ports and memory controllers of the whole GPU. Every port is a queue served in order; its state is the edge from which it is free.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    spec: GpuSpec,
    noc: ClockRatio,
    dram: ClockRatio,
    ports: Vec<PortState>,
    controllers: Vec<Controller>,
    pub counts: Counts,
}

/// The network port of a few SMs.
#[derive(Clone, Copy, Debug, Default)]
struct PortState {
    requests_free: u64,
    replies_free: u64,
}

#[derive(Clone, Debug)]
struct Controller {
    requests_free: u64,
    replies_free: u64,
    channel: Channel,
}

impl Memory {
    pub fn new(spec: &GpuSpec) -> Self {
        let controller = Controller {
            requests_free: 0,
            replies_free: 0,
            channel: Channel::new(&spec.dram),
        };
        Self {
            spec: spec.clone(),
            noc: ClockRatio::new(spec.sm.clock_mhz, spec.noc.clock_mhz),
            dram: ClockRatio::new(spec.sm.clock_mhz, spec.dram.clock_mhz),
            ports: vec![PortState::default(); spec.noc_ports() as usize],
            controllers: vec![controller; spec.dram.controllers as usize],
            counts: Counts::new(),
        }
    }

    /// Puts `request` into its SM's port at SM cycle `at`; returns its flits.
    pub fn send(&mut self, at: u64, request: Request, queue: &mut Queue) -> Result<u64, GpuError> {
        let flits = flits(&self.spec.noc, request.carries_data(), request.bytes);
        let port = &mut self.ports[usize::from(request.sm) / self.spec.noc.sms_per_port as usize];
        let start = self.noc.edge(at).max(port.requests_free);
        port.requests_free = start + flits;
        let arrival = self
            .noc
            .core_cycle(start + flits + u64::from(self.spec.noc.latency));
        queue.schedule(arrival, Event::Request(request))?;
        Ok(flits)
    }

    /// `request` arrives at its controller at SM cycle `now`.
    pub fn arrive(
        &mut self,
        now: u64,
        request: Request,
        queue: &mut Queue,
    ) -> Result<(), GpuError> {
        let place = self.place(request.address);
        let request_flits = flits(&self.spec.noc, request.carries_data(), request.bytes);
        let controller = &mut self.controllers[place.controller];
        let start = self.noc.edge(now).max(controller.requests_free);
        controller.requests_free = start + request_flits;
        let ready = self.noc.core_cycle(start) + u64::from(self.spec.dram.latency_cycles);
        let passes = if request.kind == RequestKind::Atomic {
            2
        } else {
            1
        };
        let access = Access {
            bank: place.bank,
            row: place.row,
            transfer: passes
                * u64::from(request.bytes).div_ceil(u64::from(self.spec.dram.bytes_per_cycle)),
            writes: request.carries_data(),
        };
        let served = controller
            .channel
            .serve(&self.spec.dram, self.dram.edge(ready), access);
        let end = self.dram.core_cycle(served.end);
        let row = if served.row_hit {
            Counter::DramRowHits
        } else {
            Counter::DramRowMisses
        };
        self.counts.add(row, 1);
        self.counts.add(Counter::DramBusyCycles, access.transfer);
        self.counts.add(
            Counter::DramReads,
            u64::from(request.kind != RequestKind::Store),
        );
        self.counts
            .add(Counter::DramWrites, u64::from(request.carries_data()));
        if request.kind == RequestKind::Store {
            queue.schedule(end, Event::Written { sm: request.sm })?;
            return Ok(());
        }
        let flits = flits(&self.spec.noc, true, request.bytes);
        self.counts.add(Counter::ReplyFlits, flits);
        let controller = &mut self.controllers[place.controller];
        let start = self.noc.edge(end).max(controller.replies_free);
        controller.replies_free = start + flits;
        let arrival = self
            .noc
            .core_cycle(start + flits + u64::from(self.spec.noc.latency));
        queue.schedule(
            arrival,
            Event::Reply {
                sm: request.sm,
                load: request.load,
                flits: flits as u16,
            },
        )?;
        Ok(())
    }

    /// A reply of `flits` arrives at the port of `sm` at SM cycle `now`: when the SM has it. Alone it has come already; behind others it waits.
    pub fn reply(&mut self, now: u64, sm: u16, flits: u16) -> u64 {
        let port = &mut self.ports[usize::from(sm) / self.spec.noc.sms_per_port as usize];
        let edge = self.noc.edge(now);
        let start = edge.max(port.replies_free);
        port.replies_free = start + u64::from(flits);
        if start == edge {
            now
        } else {
            self.noc.core_cycle(start)
        }
    }

    /// Neighbouring blocks lie in different controllers; within a controller, rows lie in different banks.
    fn place(&self, address: u64) -> Place {
        let dram = &self.spec.dram;
        let (interleave, row_bytes) = (
            dram.interleave_bytes.trailing_zeros(),
            dram.row_bytes.trailing_zeros(),
        );
        let (controllers, banks) = (u64::from(dram.controllers), u64::from(dram.banks));
        let block = address >> interleave;
        let offset = address & (u64::from(dram.interleave_bytes) - 1);
        let row = (((block / controllers) << interleave) | offset) >> row_bytes;
        Place {
            controller: (block % controllers) as usize,
            bank: row % banks,
            row: row / banks,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Place {
    controller: usize,
    bank: u64,
    row: u64,
}

impl Request {
    fn carries_data(&self) -> bool {
        self.kind != RequestKind::Load
    }
}

fn flits(noc: &NocSpec, data: bool, bytes: u16) -> u64 {
    let payload = if data { u32::from(bytes) } else { 0 };
    u64::from((noc.header_bytes + payload).div_ceil(noc.flit_bytes))
}

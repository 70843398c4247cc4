//! From an SM's load-store unit through the network to the second-level cache, DRAM and back.

pub(crate) mod cache;
pub(crate) mod coalesce;
mod dram;
mod map;
mod slice;
mod tags;

use crate::counters::{Counter, Counts};
use crate::engine::ClockRatio;
use crate::event::{Event, Queue};
use crate::{DramOrder, GpuError, GpuSpec, NocSpec, SECTOR_BYTES, Transactions};
use dram::{Access, Channel, DramRequest};
use map::Map;
use slice::Slice;

/// A coalesced request on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// Address of its line or segment.
    pub base: u64,
    /// Its sectors.
    pub mask: u8,
    pub kind: Kind,
    pub sm: u16,
    /// What the SM knows it by.
    pub cookie: u32,
}

/// An answer on its way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub kind: Kind,
    pub mask: u8,
    pub flits: u16,
    pub sm: u16,
    pub cookie: u32,
}

/// Whose request it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Data, for the first-level cache or past it.
    Load,
    Store,
    Atomic,
    /// A line of instructions.
    Code,
    /// A line of constants.
    Constant,
    /// A line of a texture.
    Texture,
}

impl Kind {
    fn carries_data(self) -> bool {
        matches!(self, Self::Store | Self::Atomic)
    }
}

/// Network ports, slices and memory controllers of the whole GPU. Every port is a queue served in order; its state is the edge from which it is free.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    spec: GpuSpec,
    map: Map,
    noc: ClockRatio,
    dram: ClockRatio,
    ports: Vec<Port>,
    slices: Vec<Slice>,
    channels: Vec<Channel>,
    /// Requests at DRAM, by number.
    requests: Vec<DramRequest>,
    free: Vec<u32>,
    pub counts: Counts,
}

/// A network port: of a few SMs, or of a slice.
#[derive(Clone, Copy, Debug, Default)]
struct Port {
    requests_free: u64,
    replies_free: u64,
}

impl Memory {
    pub fn new(spec: &GpuSpec) -> Self {
        Self {
            map: Map::new(spec),
            noc: ClockRatio::new(spec.sm.clock_mhz, spec.noc.clock_mhz),
            dram: ClockRatio::new(spec.sm.clock_mhz, spec.dram.clock_mhz),
            ports: vec![Port::default(); spec.noc_ports() as usize],
            slices: (0..spec.slices()).map(|_| Slice::new(spec)).collect(),
            channels: (0..spec.dram.controllers)
                .map(|_| Channel::new(&spec.dram))
                .collect(),
            requests: Vec::new(),
            free: Vec::new(),
            counts: Counts::new(),
            spec: spec.clone(),
        }
    }

    /// Puts `request` into its SM's port at SM cycle `at`; returns its flits.
    pub fn send(&mut self, at: u64, request: Request, queue: &mut Queue) -> Result<u64, GpuError> {
        let flits = self.request_flits(&request);
        let port = &mut self.ports[usize::from(request.sm) / self.spec.noc.sms_per_port as usize];
        let start = self.noc.edge(at).max(port.requests_free);
        port.requests_free = start + flits;
        let arrival = self
            .noc
            .core_cycle(start + flits + u64::from(self.spec.noc.latency));
        let look_up = if self.spec.has_l2() {
            u64::from(self.spec.l2.latency_cycles)
        } else {
            0
        };
        queue.schedule(arrival + look_up, Event::Request(request))?;
        Ok(flits)
    }

    /// A segment is one packet; sectors are a packet each.
    fn request_flits(&self, request: &Request) -> u64 {
        let sectors = u64::from(request.mask.count_ones());
        let data = u64::from(SECTOR_BYTES) * u64::from(request.kind.carries_data());
        let noc = &self.spec.noc;
        match self.spec.ldst.transactions {
            Transactions::Segments => flits(noc, data * sectors),
            Transactions::Sectors => sectors * flits(noc, data),
        }
    }

    /// A request reaches its slice at SM cycle `now`, or its controller where there is no second-level cache.
    pub fn arrive(
        &mut self,
        now: u64,
        request: Request,
        queue: &mut Queue,
    ) -> Result<(), GpuError> {
        if self.spec.has_l2() {
            self.look_up(now, request, queue)
        } else {
            self.serve_directly(now, request, queue)
        }
    }

    /// Without a second-level cache: the controller's port, what lies between it and DRAM, DRAM, and back.
    fn serve_directly(
        &mut self,
        now: u64,
        request: Request,
        queue: &mut Queue,
    ) -> Result<(), GpuError> {
        let place = self.map.place(request.base + first_byte(request.mask));
        let flits = self.request_flits(&request);
        let port = &mut self.slices[place.slice].port;
        let start = self.noc.edge(now).max(port.requests_free);
        port.requests_free = start + flits;
        let ready = self.noc.core_cycle(start) + u64::from(self.spec.dram.latency_cycles);
        let number = self.new_request(DramRequest {
            slice: place.slice as u16,
            place: 0,
            mask: request.mask,
            bank: place.bank,
            row: place.row,
            access: match request.kind {
                Kind::Store => Access::Write,
                Kind::Atomic => Access::ReadWrite,
                Kind::Load | Kind::Code | Kind::Constant | Kind::Texture => Access::Read,
            },
            origin: Some(request),
        });
        match self.spec.dram.scheduler {
            DramOrder::Fcfs => {
                // Nothing overtakes anything, so that the future is known.
                let served = self.channels[place.channel].serve(
                    &self.spec.dram,
                    self.dram.edge(ready),
                    &self.requests[number as usize],
                );
                self.count_dram(number, served.row_hit);
                let end = self.dram.core_cycle(served.end);
                queue.schedule(end, Event::Filled { request: number })?;
            }
            DramOrder::FrFcfs => queue.schedule(ready, Event::Dram { request: number })?,
        }
        Ok(())
    }

    fn new_request(&mut self, request: DramRequest) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.requests[number as usize] = request;
                number
            }
            None => {
                self.requests.push(request);
                (self.requests.len() - 1) as u32
            }
        }
    }

    /// Sends a request to DRAM, where it arrives at SM cycle `at`.
    fn ask_dram(
        &mut self,
        at: u64,
        request: DramRequest,
        queue: &mut Queue,
    ) -> Result<(), GpuError> {
        let number = self.new_request(request);
        queue.schedule(at, Event::Dram { request: number })?;
        Ok(())
    }

    /// A request reaches its channel's queue.
    pub fn dram_arrives(
        &mut self,
        now: u64,
        number: u32,
        queue: &mut Queue,
    ) -> Result<(), GpuError> {
        let channel = self.channel_of(number);
        let edge = self.dram.edge(now);
        let begun = match self.spec.dram.scheduler {
            DramOrder::FrFcfs => {
                self.channels[channel].enter(&self.spec.dram, edge, number, &self.requests)
            }
            DramOrder::Fcfs => {
                let served = self.channels[channel].serve(
                    &self.spec.dram,
                    edge,
                    &self.requests[number as usize],
                );
                self.count_dram(number, served.row_hit);
                let end = self.dram.core_cycle(served.end);
                queue.schedule(end, Event::Filled { request: number })?;
                None
            }
        };
        self.await_column(channel, now, begun, queue)
    }

    fn channel_of(&self, number: u32) -> usize {
        self.map
            .channel(usize::from(self.requests[number as usize].slice))
    }

    /// A bank has begun to make a row ready; its column access follows.
    fn await_column(
        &mut self,
        channel: usize,
        now: u64,
        begun: Option<dram::Begun>,
        queue: &mut Queue,
    ) -> Result<(), GpuError> {
        if let Some(begun) = begun {
            self.count_dram(begun.request, begun.row_hit);
            let at = self.dram.core_cycle(begun.column).max(now);
            queue.schedule(
                at,
                Event::Column {
                    channel: channel as u16,
                    bank: begun.bank as u16,
                },
            )?;
        }
        Ok(())
    }

    /// A bank is ready for its column access: it takes its turn on the data bus, and the bank goes on with its next request.
    pub fn column(
        &mut self,
        now: u64,
        channel: u16,
        bank: u16,
        queue: &mut Queue,
    ) -> Result<(), GpuError> {
        let edge = self.dram.edge(now);
        let channel = usize::from(channel);
        let (done, begun) =
            self.channels[channel].column(&self.spec.dram, edge, usize::from(bank), &self.requests);
        if let Some((number, end)) = done {
            let at = self.dram.core_cycle(end).max(now);
            queue.schedule(at, Event::Filled { request: number })?;
        }
        for begun in begun.into_iter().flatten() {
            self.await_column(channel, now, Some(begun), queue)?;
        }
        Ok(())
    }

    fn count_dram(&mut self, number: u32, row_hit: bool) {
        let request = self.requests[number as usize];
        let row = if row_hit {
            Counter::DramRowHits
        } else {
            Counter::DramRowMisses
        };
        self.counts.add(row, 1);
        self.counts
            .add(Counter::DramBusyCycles, request.transfer(&self.spec.dram));
        self.counts.add(
            Counter::DramReads,
            u64::from(request.access != Access::Write),
        );
        self.counts.add(
            Counter::DramWrites,
            u64::from(request.access != Access::Read),
        );
    }

    /// DRAM has served a request.
    pub fn filled(&mut self, now: u64, number: u32, queue: &mut Queue) -> Result<(), GpuError> {
        let request = self.requests[number as usize];
        self.free.push(number);
        match request.origin {
            Some(origin) => {
                let slice = usize::from(request.slice);
                self.answer(slice, now, &origin, queue)
            }
            None if request.access == Access::Write => Ok(()),
            None => self.fill_slice(now, &request, queue),
        }
    }

    /// Answers a request from `slice` at SM cycle `at`: data for reads and atomics, word that it is done for stores.
    fn answer(
        &mut self,
        slice: usize,
        at: u64,
        request: &Request,
        queue: &mut Queue,
    ) -> Result<(), GpuError> {
        let reply = Reply {
            kind: request.kind,
            mask: request.mask,
            flits: 0,
            sm: request.sm,
            cookie: request.cookie,
        };
        if request.kind == Kind::Store && !self.spec.has_l2() {
            queue.schedule(at, Event::Arrived(reply))?;
            return Ok(());
        }
        let noc = &self.spec.noc;
        let sectors = u64::from(request.mask.count_ones());
        let flits = match (request.kind, self.spec.has_l2()) {
            (Kind::Store, _) => sectors * flits(noc, 0),
            // Behind a second-level cache a sector is a packet.
            (_, true) => sectors * flits(noc, u64::from(SECTOR_BYTES)),
            (_, false) => flits(noc, sectors * u64::from(SECTOR_BYTES)),
        };
        self.counts.add(Counter::ReplyFlits, flits);
        let port = &mut self.slices[slice].port;
        let start = self.noc.edge(at).max(port.replies_free);
        port.replies_free = start + flits;
        let arrival = self.noc.core_cycle(start + flits + u64::from(noc.latency));
        let reply = Reply {
            flits: flits as u16,
            ..reply
        };
        queue.schedule(arrival, Event::Reply(reply))?;
        Ok(())
    }

    /// A reply arrives at the port of its SM at SM cycle `now`: when the SM has it. Alone it has come already; behind others it waits.
    pub fn reply(&mut self, now: u64, reply: &Reply) -> u64 {
        let port = &mut self.ports[usize::from(reply.sm) / self.spec.noc.sms_per_port as usize];
        let edge = self.noc.edge(now);
        let start = edge.max(port.replies_free);
        port.replies_free = start + u64::from(reply.flits);
        if start == edge {
            now
        } else {
            self.noc.core_cycle(start)
        }
    }
}

/// The first byte of the first sector.
fn first_byte(mask: u8) -> u64 {
    u64::from(SECTOR_BYTES) * u64::from(mask.trailing_zeros())
}

/// Flits of a packet with `payload` bytes.
fn flits(noc: &NocSpec, payload: u64) -> u64 {
    (u64::from(noc.header_bytes) + payload).div_ceil(u64::from(noc.flit_bytes))
}

//! Requests and replies on their way through the network, and who waits at its inputs.

use super::network::{Head, Packet};
use super::{Kind, Memory, Reply, Request, first_byte};
use crate::counters::Counter;
use crate::event::{Event, Queue};
use crate::{GpuError, GpuSpec, NocSpec, Reads, SECTOR_BYTES, Transactions};

impl Memory {
    fn port(&self, sm: u16) -> usize {
        usize::from(sm) / self.spec.noc.sms_per_port as usize
    }

    /// The partition of the second-level cache that is nearer to an SM.
    pub(super) fn partition(&self, sm: u16) -> usize {
        self.port(sm) * self.spec.l2.partitions as usize / self.spec.noc_ports() as usize
    }

    /// Whether the SM's port takes another request; if not, the SM will hear of room.
    pub fn has_room(&mut self, sm: u16) -> bool {
        let port = self.port(sm);
        let room = self.to_slices.waiting(port) < self.spec.port_queue();
        if !room {
            self.to_slices.turn_away(port, sm);
        }
        room
    }

    /// Puts `request` of so many flits into its SM's port, where it is ready at SM cycle `at`.
    pub fn send(
        &mut self,
        at: u64,
        (mut request, flits): (Request, u64),
        queue: &mut Queue,
    ) -> Result<(), GpuError> {
        let first = request.base + first_byte(request.mask);
        let home = self.map.slice(first).0;
        request.slice = self.map.near(home, self.partition(request.sm)) as u16;
        let slice = usize::from(request.slice);
        let port = self.port(request.sm);
        let packet = Packet {
            payload: request,
            ready: at,
            flits,
            output: slice,
        };
        let open = self.is_open(slice);
        let head = self.to_slices.offer(port, packet, queue.now(), open);
        self.request_crosses(head, port, queue)?;
        Ok(())
    }

    /// What became of the head of a port; whether it has crossed.
    fn request_crosses(
        &mut self,
        head: Head<Request>,
        port: usize,
        queue: &mut Queue,
    ) -> Result<bool, GpuError> {
        match head {
            Head::Rests => {}
            Head::Later(at) => {
                let port = port as u16;
                queue.schedule(at, Event::Port { port })?;
            }
            Head::Crosses(request, arrival) => {
                let look_up = if self.spec.has_l2() {
                    u64::from(self.spec.l2.latency_cycles)
                } else {
                    0
                };
                queue.schedule(arrival + look_up, Event::Request(request))?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The head of a port may be able to cross at SM cycle `now`; SMs that wait for room there try again.
    pub fn look_at_port(&mut self, now: u64, port: u16, queue: &mut Queue) -> Result<(), GpuError> {
        let port = usize::from(port);
        loop {
            let (slices, most) = (&self.slices, self.spec.slice_sectors());
            let is_open = |slice: usize| slices[slice].has_room(most);
            let head = self.to_slices.look(port, now, is_open);
            if !self.request_crosses(head, port, queue)? {
                return Ok(());
            }
            for sm in self.to_slices.take_turned_away(port) {
                queue.schedule(now, Event::Room { sm })?;
            }
        }
    }

    /// Answers a request, from SM cycle `at` on: data for reads and atomics, word that it is done for stores.
    pub(super) fn answer(
        &mut self,
        at: u64,
        request: &Request,
        queue: &mut Queue,
    ) -> Result<(), GpuError> {
        let reply = Reply {
            kind: request.kind,
            mask: request.mask,
            sm: request.sm,
            cookie: request.cookie,
        };
        if request.kind == Kind::Store && !self.spec.has_l2() {
            queue.schedule(at, Event::Reply(reply))?;
            return Ok(());
        }
        if request.crossing {
            let number = request.cookie;
            return self.comes_back(at, number, queue);
        }
        let noc = &self.spec.noc;
        let sectors = u64::from(request.mask.count_ones());
        let flits = match (request.kind, self.spec.has_l2()) {
            (Kind::Store, _) => sectors * flits(noc, noc.flit_bytes, 0),
            // Behind a second-level cache a sector is a packet.
            (_, true) => sectors * flits(noc, noc.flit_bytes, SECTOR_BYTES.into()),
            (_, false) => flits(noc, noc.flit_bytes, sectors * u64::from(SECTOR_BYTES)),
        };
        self.counts.add(Counter::ReplyFlits, flits);
        let slice = usize::from(request.slice);
        let packet = Packet {
            payload: reply,
            ready: at,
            flits,
            output: self.port(request.sm),
        };
        let head = self.to_sms.offer(slice, packet, queue.now(), true);
        self.reply_crosses(head, slice, queue)?;
        Ok(())
    }

    /// What became of the first reply of a slice; whether it has crossed.
    fn reply_crosses(
        &mut self,
        head: Head<Reply>,
        slice: usize,
        queue: &mut Queue,
    ) -> Result<bool, GpuError> {
        match head {
            Head::Rests => {}
            Head::Later(at) => {
                let slice = slice as u16;
                queue.schedule(at, Event::Answers { slice })?;
            }
            Head::Crosses(reply, arrival) => {
                queue.schedule(arrival, Event::Reply(reply))?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The first reply of a slice may be able to cross at SM cycle `now`; a slice whose replies had filled their queue goes on.
    pub fn look_at_answers(
        &mut self,
        now: u64,
        slice: u16,
        queue: &mut Queue,
    ) -> Result<(), GpuError> {
        let slice = usize::from(slice);
        loop {
            let head = self.to_sms.look(slice, now, |_| true);
            if !self.reply_crosses(head, slice, queue)? {
                break;
            }
        }
        self.go_on(now, slice, queue)
    }
}

/// A segment is one packet, and so are sectors of a line that are only read if the network has it so; else they are a packet each.
pub(crate) fn request_flits(spec: &GpuSpec, request: &Request) -> u64 {
    let sectors = u64::from(request.mask.count_ones());
    let data = u64::from(SECTOR_BYTES) * u64::from(request.kind.carries_data());
    let noc = &spec.noc;
    let bytes = noc.request_flit_bytes;
    let mask = match request.masked {
        true => flits(noc, bytes, SECTOR_BYTES.into()),
        false => 0,
    };
    mask + match spec.ldst.transactions {
        Transactions::Segments => flits(noc, bytes, data * sectors),
        Transactions::Sectors if data == 0 && noc.reads == Reads::Line => flits(noc, bytes, 0),
        Transactions::Sectors => sectors * flits(noc, bytes, data),
    }
}

/// Flits of so many bytes of a packet with `payload` bytes.
fn flits(noc: &NocSpec, bytes: u32, payload: u64) -> u64 {
    (u64::from(noc.header_bytes) + payload).div_ceil(u64::from(bytes))
}

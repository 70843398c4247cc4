//! Requests at the memory controllers: the way to DRAM, its banks and data bus, and what comes back.

use super::dram::{self, Access, DramRequest, Turn};
use super::{Kind, Memory, Request, first_byte};
use crate::counters::Counter;
use crate::event::{Event, Queue};
use crate::{DramOrder, GpuError};

impl Memory {
    /// Without a second-level cache: what lies between the network and DRAM, DRAM, and back.
    pub(super) fn serve_directly(
        &mut self,
        now: u64,
        request: Request,
        queue: &mut Queue,
    ) -> Result<(), GpuError> {
        let place = self.map.place(request.base + first_byte(request.mask));
        let ready = now + u64::from(self.spec.dram.latency_cycles);
        let number = self.new_request(DramRequest {
            slice: place.slice as u16,
            place: 0,
            mask: request.mask,
            bank: place.bank,
            row: place.row,
            access: match request.kind {
                Kind::Store => Access::Write,
                Kind::Atomic => Access::ReadWrite,
                Kind::Load | Kind::Copy | Kind::Code | Kind::Constant | Kind::Texture => {
                    Access::Read
                }
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

    pub(super) fn new_request(&mut self, request: DramRequest) -> u32 {
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

    /// Sends a request of a slice to DRAM, which it leaves for at SM cycle `at`; if DRAM has no room for it, it waits in the slice's queue.
    pub(super) fn ask_dram(
        &mut self,
        at: u64,
        request: DramRequest,
        queue: &mut Queue,
    ) -> Result<(), GpuError> {
        let number = self.new_request(request);
        let slice = &mut self.slices[usize::from(request.slice)];
        let channel = self.map.channel(usize::from(request.slice));
        if slice.to_dram.is_empty() && self.channels[channel].admits(&self.spec.dram, &request) {
            return self.enter_dram(at, channel, number, queue);
        }
        slice.to_dram.push(number, request.entries());
        Ok(())
    }

    /// A request leaves for its channel at SM cycle `at`.
    fn enter_dram(
        &mut self,
        at: u64,
        channel: usize,
        number: u32,
        queue: &mut Queue,
    ) -> Result<(), GpuError> {
        self.channels[channel].admit(&self.requests[number as usize]);
        let arrival = at + u64::from(self.spec.l2.miss_cycles);
        queue.schedule(arrival, Event::Dram { request: number })?;
        Ok(())
    }

    /// A channel has done with a request of a slice: others may leave for it, of its slices in turn; slices whose queues had been full go on.
    fn leave_dram(
        &mut self,
        now: u64,
        request: &DramRequest,
        queue: &mut Queue,
    ) -> Result<(), GpuError> {
        let slices = self.spec.l2.slices as usize;
        let channel = self.map.channel(usize::from(request.slice));
        self.channels[channel].dismiss(request);
        let mut skipped = 0;
        while skipped < slices {
            let slice = channel * slices + self.channels[channel].next_slice(slices);
            let first = self.slices[slice].to_dram.first();
            let admitted = first.filter(|&number| {
                self.channels[channel].admits(&self.spec.dram, &self.requests[number as usize])
            });
            let Some(number) = admitted else {
                skipped += 1;
                continue;
            };
            skipped = 0;
            let entries = self.requests[number as usize].entries();
            self.slices[slice].to_dram.pop(entries);
            self.enter_dram(now, channel, number, queue)?;
            self.go_on(now, slice, queue)?;
        }
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
        let mut begun = std::mem::take(&mut self.begun);
        let turn = self.channels[channel].column(
            &self.spec.dram,
            edge,
            usize::from(bank),
            &self.requests,
            &mut begun,
        );
        match turn {
            Some(Turn::Taken { number, end }) => {
                let at = self.dram.core_cycle(end).max(now);
                queue.schedule(at, Event::Filled { request: number })?;
            }
            Some(Turn::Again { at }) => {
                let at = self.dram.core_cycle(at).max(now + 1);
                let channel = channel as u16;
                queue.schedule(at, Event::Column { channel, bank })?;
            }
            None => {}
        }
        for begun in begun.drain(..) {
            self.await_column(channel, now, Some(begun), queue)?;
        }
        self.begun = begun;
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

    /// DRAM, or the other partition of the second-level cache, has served a request.
    pub fn filled(&mut self, now: u64, number: u32, queue: &mut Queue) -> Result<(), GpuError> {
        let request = self.requests[number as usize];
        self.free.push(number);
        match (request.origin, request.access) {
            (Some(origin), _) => self.answer(now, &origin, queue)?,
            (None, Access::Write) => {}
            (None, _) => self.fill_slice(now, &request, queue)?,
        }
        if self.spec.has_l2() && request.access != Access::Crossing {
            self.leave_dram(now, &request, queue)?;
        }
        Ok(())
    }
}

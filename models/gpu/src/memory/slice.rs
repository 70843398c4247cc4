//! A slice of the second-level cache: written back, allocated by reads and writes, filled by sectors.

use std::collections::VecDeque;

use super::cache::{Cache, Evicted};
use super::dram::{Access, DramRequest};
use super::{Kind, Memory, Port, Request};
use crate::GpuError;
use crate::GpuSpec;
use crate::counters::Counter;
use crate::event::Queue;

/// A slice.
#[derive(Clone, Debug)]
pub(crate) struct Slice {
    pub port: Port,
    cache: Cache,
    /// Sectors on their way from DRAM.
    on_their_way: u32,
    /// Requests that found no place, in their order; those behind wait with them.
    blocked: VecDeque<Request>,
    /// Requests that wait for sectors, by number.
    waiting: Vec<Request>,
    free: Vec<u32>,
    served: Vec<u32>,
}

impl Slice {
    pub fn new(spec: &GpuSpec) -> Self {
        let (sets, ways) = if spec.has_l2() {
            (spec.l2_sets(), spec.l2.ways)
        } else {
            (1, 1)
        };
        Self {
            port: Port::default(),
            cache: Cache::new(sets, ways, spec.l2.index),
            on_their_way: 0,
            blocked: VecDeque::new(),
            waiting: Vec::new(),
            free: Vec::new(),
            served: Vec::new(),
        }
    }

    fn number(&mut self, request: Request) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.waiting[number as usize] = request;
                number
            }
            None => {
                self.waiting.push(request);
                (self.waiting.len() - 1) as u32
            }
        }
    }
}

/// Where a request looks.
#[derive(Clone, Copy, Debug)]
struct Target {
    slice: usize,
    line: u64,
}

impl Memory {
    /// A request reaches the look-up of its slice.
    pub(super) fn look_up(
        &mut self,
        now: u64,
        request: Request,
        queue: &mut Queue,
    ) -> Result<(), GpuError> {
        let place = self.map.place(request.base);
        let slice = &mut self.slices[place.slice];
        if !slice.blocked.is_empty() {
            slice.blocked.push_back(request);
            return Ok(());
        }
        if !self.try_look_up(now, place.slice, &request, queue)? {
            self.slices[place.slice].blocked.push_back(request);
        }
        Ok(())
    }

    /// Looks up a request's sectors, one a cycle; `false` if there is no place for what is missing.
    fn try_look_up(
        &mut self,
        now: u64,
        slice: usize,
        request: &Request,
        queue: &mut Queue,
    ) -> Result<bool, GpuError> {
        let local = self.map.place(request.base).local;
        let target = Target {
            slice,
            line: local / u64::from(self.spec.l2.line_bytes),
        };
        if self.slices[slice].on_their_way >= self.spec.l2.mshrs && request.kind != Kind::Store {
            return Ok(false);
        }
        let found = self.slices[slice].cache.find(target.line);
        let (place, evicted) = match found {
            Some(place) => (place, None),
            None => match self.slices[slice].cache.reserve(target.line) {
                Some(reserved) => reserved,
                None => return Ok(false),
            },
        };
        let sectors = u64::from(request.mask.count_ones());
        let port = &mut self.slices[slice].port;
        let start = self.noc.edge(now).max(port.requests_free);
        port.requests_free = start + sectors;
        let at = self.noc.core_cycle(start + sectors - 1).max(now);
        if let Some(evicted) = evicted {
            self.write_back(at, slice, evicted, queue)?;
        }
        if request.kind == Kind::Store {
            self.slices[slice].cache.write(place, request.mask, true);
            self.counts.add(Counter::L2Writes, sectors);
            self.answer(slice, at, request, queue)?;
        } else {
            self.read(at, (target, place), request, queue)?;
        }
        Ok(true)
    }

    /// Reads sectors; an atomic reads and writes them.
    fn read(
        &mut self,
        at: u64,
        (target, place): (Target, u32),
        request: &Request,
        queue: &mut Queue,
    ) -> Result<(), GpuError> {
        let slice = &mut self.slices[target.slice];
        let found = slice.cache.look(place, request.mask);
        let count = |mask: u8| u64::from(mask.count_ones());
        self.counts.add(Counter::L2Reads, count(request.mask));
        self.counts.add(Counter::L2ReadHits, count(found.hit));
        self.counts.add(Counter::L2ReadMerges, count(found.pending));
        self.counts.add(Counter::L2ReadMisses, count(found.missing));
        if request.kind == Kind::Atomic {
            slice.cache.dirty(place, request.mask);
            self.counts.add(Counter::L2Writes, count(request.mask));
        }
        let wanted = found.pending | found.missing;
        if wanted == 0 {
            return self.answer(target.slice, at, request, queue);
        }
        let number = slice.number(*request);
        slice.cache.wait(place, wanted, number);
        if found.missing == 0 {
            return Ok(());
        }
        slice.cache.request(place, found.missing);
        slice.on_their_way += found.missing.count_ones();
        let at = at + u64::from(self.spec.l2.miss_cycles);
        let (bank, row) = self.row(target);
        let request = DramRequest {
            slice: target.slice as u16,
            place,
            mask: found.missing,
            bank,
            row,
            access: Access::Read,
            origin: None,
        };
        self.ask_dram(at, request, queue)
    }

    /// Dirty sectors of a line go to DRAM.
    fn write_back(
        &mut self,
        at: u64,
        slice: usize,
        evicted: Evicted,
        queue: &mut Queue,
    ) -> Result<(), GpuError> {
        let target = Target {
            slice,
            line: evicted.line,
        };
        let (bank, row) = self.row(target);
        let request = DramRequest {
            slice: slice as u16,
            place: 0,
            mask: evicted.dirty,
            bank,
            row,
            access: Access::Write,
            origin: None,
        };
        self.counts
            .add(Counter::L2WriteBacks, u64::from(evicted.dirty.count_ones()));
        self.ask_dram(at + u64::from(self.spec.l2.miss_cycles), request, queue)
    }

    fn row(&self, target: Target) -> (u16, u32) {
        self.map.row(
            target.slice,
            target.line * u64::from(self.spec.l2.line_bytes),
        )
    }

    /// Sectors come from DRAM: who waited for them is answered, and who found no place tries again.
    pub(super) fn fill_slice(
        &mut self,
        now: u64,
        request: &DramRequest,
        queue: &mut Queue,
    ) -> Result<(), GpuError> {
        let index = usize::from(request.slice);
        let slice = &mut self.slices[index];
        slice.on_their_way -= request.mask.count_ones();
        let mut served = std::mem::take(&mut slice.served);
        slice.cache.fill(request.place, request.mask, &mut served);
        for number in served.drain(..) {
            let slice = &mut self.slices[index];
            slice.free.push(number);
            let waited = slice.waiting[number as usize];
            self.answer(index, now, &waited, queue)?;
        }
        self.slices[index].served = served;
        while let Some(&blocked) = self.slices[index].blocked.front() {
            if !self.try_look_up(now, index, &blocked, queue)? {
                break;
            }
            self.slices[index].blocked.pop_front();
        }
        Ok(())
    }
}

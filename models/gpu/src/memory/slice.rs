//! A slice of the second-level cache: written back, allocated by reads and writes, filled by sectors.

use std::collections::VecDeque;

use super::cache::{Cache, Evicted};
use super::dram::{Access, DramRequest};
use super::{Kind, Memory, Request};
use crate::counters::Counter;
use crate::event::Queue;
use crate::{GpuError, GpuSpec, SharedEvent};

/// A slice.
#[derive(Clone, Debug)]
pub(crate) struct Slice {
    pub(super) cache: Cache,
    /// The network's edge from which another sector can be looked up.
    free: u64,
    /// Sectors on their way from DRAM.
    on_their_way: u32,
    /// Requests that cannot be looked up yet, in their order, and their sectors.
    stalled: VecDeque<Request>,
    held: u32,
    pub to_dram: ToDram,
    /// Requests that wait for sectors, by number.
    waiting: Vec<Waiting>,
    unused: Vec<u32>,
    served: Vec<u32>,
}

/// A request that waits for sectors.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    request: Request,
    /// The cycle from which it can be answered: that of an atomic's last turn at them. What is only read goes to all that wait as it comes.
    from: u64,
}

/// Requests of a slice that DRAM has no room for.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToDram {
    numbers: VecDeque<u32>,
    /// The places that they take.
    entries: u32,
}

impl ToDram {
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    pub fn first(&self) -> Option<u32> {
        self.numbers.front().copied()
    }

    pub fn push(&mut self, number: u32, entries: u32) {
        self.numbers.push_back(number);
        self.entries += entries;
    }

    /// The first one leaves.
    pub fn pop(&mut self, entries: u32) {
        self.numbers.pop_front();
        self.entries -= entries;
    }
}

impl Slice {
    pub fn new(spec: &GpuSpec) -> Self {
        let (sets, ways) = if spec.has_l2() {
            (spec.l2_sets(), spec.l2.ways)
        } else {
            (1, 1)
        };
        Self {
            cache: Cache::new(sets, ways, spec.l2.index),
            free: 0,
            on_their_way: 0,
            stalled: VecDeque::new(),
            held: 0,
            to_dram: ToDram::default(),
            waiting: Vec::new(),
            unused: Vec::new(),
            served: Vec::new(),
        }
    }

    /// Whether the network may bring more, where `most` sectors may wait.
    pub fn has_room(&self, most: u32) -> bool {
        self.held < most
    }

    fn number(&mut self, waiting: Waiting) -> u32 {
        match self.unused.pop() {
            Some(number) => {
                self.waiting[number as usize] = waiting;
                number
            }
            None => {
                self.waiting.push(waiting);
                (self.waiting.len() - 1) as u32
            }
        }
    }
}

/// Where a request looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub slice: usize,
    pub line: u64,
    /// The slice that the line is kept from in this one, if it is of the other partition.
    pub home: Option<usize>,
}

/// A request that has been looked up.
#[derive(Clone, Copy, Debug)]
struct LookUp {
    target: Target,
    /// The line's place in the slice.
    place: u32,
    /// The cycles of its first sector and of its last.
    first: u64,
    last: u64,
}

impl Memory {
    /// Whether the network may bring more to a slice.
    pub(super) fn is_open(&self, slice: usize) -> bool {
        self.slices[slice].has_room(self.spec.slice_sectors())
    }

    /// A request reaches the look-up of its slice.
    pub(super) fn look_up(
        &mut self,
        now: u64,
        request: Request,
        queue: &mut Queue,
    ) -> Result<(), GpuError> {
        let slice = usize::from(request.slice);
        // What has crossed waits for nothing but DRAM, so that partitions never wait for each other in a circle.
        let first = self.slices[slice].stalled.is_empty() || request.crossing;
        if first && self.try_look_up(now, &request, queue)? {
            return Ok(());
        }
        let slice = &mut self.slices[slice];
        slice.held += request.mask.count_ones();
        slice.stalled.push_back(request);
        Ok(())
    }

    /// What had stalled a slice may be gone: its requests are looked up, and the network brings more.
    pub(super) fn go_on(
        &mut self,
        now: u64,
        slice: usize,
        queue: &mut Queue,
    ) -> Result<(), GpuError> {
        while let Some(&request) = self.slices[slice].stalled.front() {
            if !self.try_look_up(now, &request, queue)? {
                break;
            }
            let slice = &mut self.slices[slice];
            slice.held -= request.mask.count_ones();
            slice.stalled.pop_front();
        }
        while self.is_open(slice) {
            let Some(port) = self.to_slices.next_waiting(slice) else {
                break;
            };
            self.look_at_port(now, port as u16, queue)?;
        }
        Ok(())
    }

    /// Looks up a request's sectors, one a cycle; `false` if its slice is stalled.
    fn try_look_up(
        &mut self,
        now: u64,
        request: &Request,
        queue: &mut Queue,
    ) -> Result<bool, GpuError> {
        let index = usize::from(request.slice);
        let target = self.target(request);
        if request.kind.carries_data() && self.crosses(now, target, request, queue)? {
            return Ok(true);
        }
        let found = self.slices[index].cache.find(target.line);
        if self.is_stalled(request, found) {
            return Ok(false);
        }
        let (place, evicted) = match found {
            Some(place) => (place, None),
            None => match self.slices[index].cache.reserve(target.line) {
                Some(reserved) => reserved,
                None if request.crossing => {
                    self.pass_by(now, target, request, queue)?;
                    return Ok(true);
                }
                None => return Ok(false),
            },
        };
        let sectors = u64::from(request.mask.count_ones());
        let slice = &mut self.slices[index];
        let start = self.noc.edge(now).max(slice.free);
        let atomics = match request.kind {
            Kind::Atomic => u64::from(request.repeats) * u64::from(self.spec.l2.atomic_cycles),
            _ => 0,
        };
        slice.free = start + sectors.max(atomics);
        let first = self.noc.core_cycle(start).max(now);
        let last = self.noc.core_cycle(slice.free - 1).max(now);
        if found.is_none() {
            self.watch(first, index, |place| SharedEvent::Evicted { place }, place);
        }
        if let Some(evicted) = evicted {
            self.write_back(last, index, evicted, queue)?;
        }
        if request.kind == Kind::Store {
            self.slices[index].cache.write(place, request.mask, true);
            self.watch_access(first, request, place);
            self.counts.add(Counter::L2Writes, sectors);
            self.answer(first, request, queue)?;
        } else {
            let look_up = LookUp {
                target,
                place,
                first,
                last,
            };
            self.read(look_up, request, queue)?;
        }
        Ok(true)
    }

    /// Whether a request must wait: for room in a queue, for a miss that is free, or for one that takes another to wait with it.
    fn is_stalled(&self, request: &Request, found: Option<u32>) -> bool {
        let slice = &self.slices[usize::from(request.slice)];
        let l2 = &self.spec.l2;
        if request.crossing {
            return false;
        }
        if slice.to_dram.entries >= l2.dram_queue
            || self.to_sms.waiting(usize::from(request.slice)) >= self.spec.reply_flits()
        {
            return true;
        }
        if request.kind == Kind::Store {
            return false;
        }
        let (missing, pending) = match found {
            None => (request.mask, 0),
            Some(place) => slice.cache.peek(place, request.mask),
        };
        (missing != 0 && slice.on_their_way >= l2.mshrs)
            || found.is_some_and(|place| {
                pending != 0 && slice.cache.merged(place, pending) >= l2.merges
            })
    }

    /// Reads sectors; an atomic reads and writes them.
    fn read(
        &mut self,
        look_up: LookUp,
        request: &Request,
        queue: &mut Queue,
    ) -> Result<(), GpuError> {
        let LookUp { target, place, .. } = look_up;
        let slice = &mut self.slices[target.slice];
        let found = slice.cache.look(place, request.mask);
        let count = |mask: u8| u64::from(mask.count_ones());
        self.counts.add(Counter::L2Reads, count(request.mask));
        self.counts.add(Counter::L2ReadHits, count(found.hit));
        self.counts.add(Counter::L2ReadMerges, count(found.pending));
        let asked = match target.home {
            None => Counter::L2ReadMisses,
            Some(_) => Counter::L2Crossings,
        };
        self.counts.add(asked, count(found.missing));
        if request.kind == Kind::Atomic {
            slice.cache.dirty(place, request.mask);
            self.counts.add(Counter::L2Writes, count(request.mask));
        }
        let wanted = found.pending | found.missing;
        let (at, from) = match request.kind {
            Kind::Atomic => (look_up.last, look_up.last),
            _ => (look_up.first, 0),
        };
        if wanted == 0 {
            self.watch_access(look_up.last, request, place);
            return self.answer(at, request, queue);
        }
        let number = slice.number(Waiting {
            request: *request,
            from,
        });
        slice.cache.wait(place, wanted, number);
        if found.missing == 0 {
            return Ok(());
        }
        slice.cache.request(place, found.missing);
        slice.on_their_way += found.missing.count_ones();
        if let Some(home) = target.home {
            let missing = Request {
                mask: found.missing,
                ..*request
            };
            return self.ask_other(look_up.last, (target.slice, home), (place, missing), queue);
        }
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
        self.ask_dram(look_up.last, request, queue)
    }

    /// Shows what happens to the line in a slice's place to those who see where bits lie.
    #[inline]
    fn watch(&mut self, cycle: u64, slice: usize, of: impl Fn(u32) -> SharedEvent, place: u32) {
        if self.observers.is_empty() {
            return;
        }
        let lines = self.spec.l2_sets() * self.spec.l2.ways;
        let event = of(slice as u32 * lines + place);
        for observer in &mut self.observers {
            observer.cached(cycle, event);
        }
    }

    /// Shows them that a request has all its sectors in a line, and reads or writes them; an atomic does both.
    #[inline]
    fn watch_access(&mut self, cycle: u64, request: &Request, place: u32) {
        let (slice, sectors) = (usize::from(request.slice), request.mask);
        if request.kind != Kind::Store {
            self.watch(
                cycle,
                slice,
                |place| SharedEvent::Read { place, sectors },
                place,
            );
        }
        if request.kind.carries_data() {
            self.watch(
                cycle,
                slice,
                |place| SharedEvent::Written { place, sectors },
                place,
            );
        }
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
            home: None,
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
        self.ask_dram(at, request, queue)
    }

    pub(super) fn row(&self, target: Target) -> (u16, u32) {
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
        let sectors = request.mask;
        let filled = |place| SharedEvent::Filled { place, sectors };
        self.watch(now, index, filled, request.place);
        for number in served.drain(..) {
            let slice = &mut self.slices[index];
            slice.unused.push(number);
            let waited = slice.waiting[number as usize];
            let at = now.max(waited.from);
            self.watch_access(at, &waited.request, request.place);
            self.answer(at, &waited.request, queue)?;
        }
        self.slices[index].served = served;
        self.go_on(now, index, queue)
    }
}

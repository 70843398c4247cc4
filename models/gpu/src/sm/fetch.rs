//! Instruction fetch: selection, filter, I-cache, delivery into the instruction buffers.

use super::{Sm, World};
use crate::counters::Counter;
use crate::event::Event;
use crate::{FetchEvent, GpuError};

/// With two fetch stages, the I-cache delivers to the filter a cycle after the look-up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LateFill {
    cycle: u64,
    pc: u64,
}

impl LateFill {
    pub fn pc(self) -> u64 {
        self.pc
    }
}

impl Sm<'_> {
    /// Instructions that hit reach their buffers.
    pub(super) fn arrive(&mut self, now: u64, world: &World<'_>) {
        while let Some(&(arrival, warp)) = self.arrivals.front() {
            if arrival > now {
                break;
            }
            self.arrivals.pop_front();
            self.deliver(warp, world);
        }
    }

    /// An instruction is decoded and in its buffer.
    pub fn deliver(&mut self, warp: u8, world: &World<'_>) {
        let index = usize::from(warp);
        self.counts.add(Counter::BufferWrite, 1);
        self.warps[index].delivered += 1;
        if self.warps[index].delivered == 1 {
            self.examine(index, world);
        }
        self.missing &= !(1 << index);
        self.update_fetch(index, world);
    }

    /// A branch is resolved.
    pub fn resolve(&mut self, warp: u8, world: &World<'_>) {
        self.warps[usize::from(warp)].branch = false;
        self.update_fetch(usize::from(warp), world);
    }

    /// Decides anew whether the fetch stage may fetch for a warp.
    #[inline]
    pub(super) fn update_fetch(&mut self, index: usize, world: &World<'_>) {
        let warp = &self.warps[index];
        let bit = 1 << index;
        let can = warp.next.is_some()
            && !warp.branch
            && u32::from(warp.held) < world.spec.fetch.buffer_entries
            && self.missing & bit == 0;
        if can {
            self.can_fetch |= bit;
            self.awake = true;
        } else {
            self.can_fetch &= !bit;
        }
    }

    /// Fetches for one warp, if there is one to fetch for.
    pub(super) fn fetch(&mut self, now: u64, world: &mut World<'_>) -> Result<(), GpuError> {
        if self.can_fetch == 0 {
            return Ok(());
        }
        let index = self
            .select
            .next(self.can_fetch, self.last_fetched, self.last_issued);
        self.last_fetched = index;
        let Some(step) = self.warps[index as usize].fetch() else {
            return Ok(());
        };
        let pc = world.program.base
            + u64::from(step.inst) * u64::from(world.spec.fetch.instruction_bytes);
        self.warps[index as usize].branch = world.program.insts[step.inst as usize].control;
        self.counts.add(Counter::Fetches, 1);
        let event = FetchEvent {
            cycle: now,
            warp: index as u8,
            pc,
        };
        for observer in &mut self.observers {
            observer.fetched(event);
        }
        let filtered = self.filtered(event);
        if filtered || self.cached(event, world)? {
            self.hit(event, world);
        }
        self.update_fetch(index as usize, world);
        Ok(())
    }

    /// The instruction enters the buffer after the fetch and decode stages.
    fn hit(&mut self, event: FetchEvent, world: &World<'_>) {
        let arrival =
            event.cycle + u64::from(world.spec.fetch.stages + world.spec.fetch.decode_cycles);
        self.arrivals.push_back((arrival, event.warp));
        for observer in &mut self.observers {
            observer.delivered(FetchEvent {
                cycle: arrival,
                ..event
            });
        }
    }

    /// Whether an attached filter serves the fetch.
    #[inline]
    fn filtered(&mut self, event: FetchEvent) -> bool {
        let Some(filter) = &mut self.filter else {
            return false;
        };
        if let Some(late) = self.late_fill.take_if(|late| late.cycle < event.cycle) {
            filter.fill(late.pc);
        }
        let hit = filter.lookup(event.pc);
        if let Some(late) = self.late_fill.take() {
            filter.fill(late.pc);
        }
        self.counts.add(Counter::FilteredFetches, u64::from(hit));
        hit
    }

    /// Looks up the I-cache; a miss makes the warp wait for the line.
    fn cached(&mut self, event: FetchEvent, world: &mut World<'_>) -> Result<bool, GpuError> {
        self.counts.add(Counter::IcacheTagRead, 1);
        self.counts.add(Counter::IcacheDataRead, 1);
        let line = event.pc >> world.spec.icache.line_bytes.trailing_zeros();
        if self.icache.lookup(line) {
            self.fill_filter(event, world.spec.fetch.stages);
            return Ok(true);
        }
        self.counts.add(Counter::IcacheMisses, 1);
        self.missing |= 1 << event.warp;
        match self.misses.wait(line, event.warp, event.pc) {
            Some(miss) => {
                let fill = event.cycle + u64::from(world.spec.icache.miss_cycles);
                world
                    .queue
                    .schedule(fill, Event::Fill { sm: self.id, miss })?;
            }
            None => self.counts.add(Counter::IcacheMshrMerges, 1),
        }
        Ok(false)
    }

    fn fill_filter(&mut self, event: FetchEvent, stages: u32) {
        let Some(filter) = &mut self.filter else {
            return;
        };
        if stages == 1 {
            filter.fill(event.pc);
        } else {
            self.late_fill = Some(LateFill {
                cycle: event.cycle + 1,
                pc: event.pc,
            });
        }
    }

    /// A line comes: it is written, and the warps that wait get their instructions, one a cycle.
    pub fn fill(&mut self, miss: u8, now: u64, world: &mut World<'_>) -> Result<(), GpuError> {
        let icache = &world.spec.icache;
        self.counts.add(Counter::IcacheFills, 1);
        self.counts.add(Counter::IcacheTagWrite, 1);
        self.counts.add(
            Counter::IcacheDataWrite,
            u64::from(icache.line_bytes / icache.word_bytes),
        );
        let miss_entry = self.misses.get(miss);
        if let Some(line) = miss_entry.line {
            self.icache.fill(line);
        }
        let first = now + u64::from(world.spec.fetch.stages + world.spec.fetch.decode_cycles);
        for (cycle, &(warp, pc)) in (first..).zip(&miss_entry.waiters) {
            if let Some(filter) = &mut self.filter {
                filter.fill(pc);
            }
            for observer in &mut self.observers {
                observer.delivered(FetchEvent { cycle, warp, pc });
            }
            world
                .queue
                .schedule(cycle, Event::Deliver { sm: self.id, warp })?;
        }
        self.misses.free(miss);
        Ok(())
    }
}

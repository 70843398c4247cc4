//! Instruction fetch: selection, filter, I-cache, delivery into the instruction buffers.

use super::l15::Answer;
use super::warp::Warp;
use super::{Attached, Sm, World};
use crate::counters::Counter;
use crate::engine::NEVER;
use crate::event::Event;
use crate::memory::coalesce::Block;
use crate::program::Program;
use crate::request::Kind;
use crate::{
    BranchFetch, CodeEvent, FetchEvent, Fetched, GpuError, GpuSpec, MissSource, SECTOR_BYTES,
};

/// Instructions lie above local memory.
const CODE_BASE: u64 = 1 << 60;

/// The sectors of a line of a read-only cache.
pub(super) fn lines(address: u64, bytes: u32, spec: &GpuSpec) -> Block {
    let segment = u64::from(spec.ldst.segment_bytes);
    let base = address & !(segment - 1);
    let first = (address - base) / u64::from(SECTOR_BYTES);
    let count = bytes.div_ceil(SECTOR_BYTES);
    Block::new(base, (((1u16 << count) - 1) << first) as u8)
}

/// The instruction that is fetched first for a warp.
fn next_fetch(warp: &Warp, program: &Program, branches: BranchFetch) -> u32 {
    match branches {
        // Behind the last instruction there is nothing to fetch by mistake.
        BranchFetch::NotTaken if (warp.fetch_at as usize) < program.insts.len() => warp.fetch_at,
        _ => warp.next().unwrap_or(0),
    }
}

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

impl Sm {
    /// Instructions that hit reach their buffers.
    pub(super) fn arrive(&mut self, now: u64, world: &mut World<'_>) {
        while let Some((cycle, warp)) = self.arrivals.pop(now) {
            self.deliver(warp, cycle, world);
        }
    }

    /// What was fetched for a warp is decoded and in its buffer: one instruction, or all that one fetch brought.
    pub fn deliver(&mut self, warp: u8, cycle: u64, world: &mut World<'_>) {
        let index = usize::from(warp);
        let bit = 1 << index;
        let slot = &mut self.warps[index];
        let (bare, before) = (slot.bare, slot.delivered);
        let count = slot.deliver(world.spec.fetch.instructions > 1);
        for observer in &mut world.attached.observers {
            for number in before..slot.delivered {
                let bytes = world.spec.fetch.instruction_bytes;
                let pc = world.program.address(slot.buffered(number), bytes);
                observer.buffered(FetchEvent { cycle, warp, pc });
            }
        }
        let right = slot.delivered - before;
        for observer in &mut world.attached.storage {
            observer.buffered(cycle, warp, right, count - right);
        }
        self.counts.add(Counter::BufferWrite, u64::from(count));
        let mut again = bare || self.missing & bit != 0;
        self.missing &= !bit;
        if slot.held == 0 {
            // Nothing but what lies behind a taken branch: the scheduler finds that out as soon as it sees it.
            slot.forget_wrong();
            for observer in &mut world.attached.storage {
                observer.flushed(world.now, warp);
            }
            again = true;
        } else if self.empty & bit != 0 {
            self.empty &= !bit;
            self.consider(index, world);
            self.awake = true;
        }
        if again {
            self.update_fetch(index, world);
        }
    }

    /// A branch is resolved, or what was fetched behind it thrown away.
    pub(super) fn resolve(&mut self, index: usize, world: &mut World<'_>) {
        let slot = &mut self.warps[index];
        slot.branch = false;
        slot.resolves = NEVER;
        slot.forget_wrong();
        for observer in &mut world.attached.storage {
            observer.flushed(world.now, index as u8);
        }
        self.update_fetch(index, world);
    }

    /// Decides anew whether the fetch stage may fetch for a warp.
    #[inline]
    pub(super) fn update_fetch(&mut self, index: usize, world: &World<'_>) {
        let (warp, fetch) = (&self.warps[index], &world.spec.fetch);
        let bit = 1 << index;
        let room = if fetch.instructions > 1 {
            warp.held == 0
        } else {
            u32::from(warp.held) < fetch.buffer_entries
        };
        let can = room
            && !warp.branch
            && warp.wrong == 0
            && !warp.bare
            && self.missing & bit == 0
            && warp.next().is_some();
        if can {
            self.can_fetch |= bit;
            self.next = self.next.min(world.now);
        } else {
            self.can_fetch &= !bit;
        }
    }

    /// Fetches for as many warps as the fetch stage serves in a cycle.
    pub(super) fn fetch(&mut self, now: u64, world: &mut World<'_>) -> Result<(), GpuError> {
        for _ in 0..world.spec.fetch.warps {
            let can = self.may_fetch(world.attached);
            if can == 0 {
                break;
            }
            let last_issued = self.schedulers[0].last_issued;
            let index = self.select.fetch(can, self.last_fetched, last_issued);
            self.last_fetched = index;
            self.fetch_for(index, now, world)?;
        }
        Ok(())
    }

    /// Warps that the fetch stage may serve, and the filter as well.
    #[inline]
    fn may_fetch(&self, attached: &Attached) -> u64 {
        let filter = attached.filter.as_ref();
        if filter.is_none_or(|it| it.lets_fetch_ahead()) {
            return self.can_fetch;
        }
        let holds = |index: &usize| self.warps[*index].held > 0;
        let holding = (0..self.warps.len()).filter(holds);
        holding.fold(self.can_fetch, |can, index| can & !(1 << index))
    }

    fn fetch_for(&mut self, index: u32, now: u64, world: &mut World<'_>) -> Result<(), GpuError> {
        let (program, settings) = (world.program, &world.spec.fetch);
        let warp = &mut self.warps[index as usize];
        let at = next_fetch(warp, program, settings.branches);
        let due = match warp.next() {
            Some(inst) if inst == at => u64::from(warp.due),
            _ => 0,
        };
        let address = program.address(at, settings.instruction_bytes)
            - due * u64::from(settings.instruction_bytes);
        // Instructions passed, and metadata in front of them.
        let (mut passed, mut metadata) = (0, 0);
        let watched = !world.attached.storage.is_empty();
        // The places of these among all, if somebody wants to know.
        let (mut on_path, mut in_front) = (0, 0);
        while passed + metadata < settings.instructions {
            match warp.next() {
                Some(inst) if inst == at + passed && !warp.branch => {
                    let place = if watched { 1 << (passed + metadata) } else { 0 };
                    if warp.due > 0 {
                        warp.due -= 1;
                        metadata += 1;
                        in_front |= place;
                        continue;
                    }
                    on_path |= place;
                    let control = program.insts[inst as usize].control;
                    warp.branch = control && settings.branches == BranchFetch::Stall;
                    warp.fetch();
                    warp.due = warp.metadata(program);
                }
                // Behind a branch that is taken, behind the end of the warp, or behind one that is not resolved.
                _ if settings.branches == BranchFetch::NotTaken
                    && ((at + passed) as usize) < program.insts.len() =>
                {
                    warp.wrong += 1;
                }
                _ => break,
            }
            passed += 1;
        }
        warp.bare = passed == 0 && metadata > 0;
        warp.fetch_at = if warp.wrong > 0 {
            warp.next().unwrap_or(0)
        } else {
            at + passed
        };
        let flushed = u64::from(warp.wrong);
        self.counts
            .add(Counter::Fetches, u64::from(passed + metadata));
        self.counts
            .add(Counter::MetadataFetches, u64::from(metadata));
        self.counts.add(Counter::FetchGrants, 1);
        self.counts.add(Counter::FlushedInstructions, flushed);
        let event = FetchEvent {
            cycle: now,
            warp: index as u8,
            pc: address,
        };
        for observer in &mut world.attached.observers {
            observer.fetched(event);
        }
        let filtered = self.filtered(event, world.attached);
        let hit = filtered || self.cached(event, world)?;
        if hit {
            let decoded = filtered && world.attached.skips_decode();
            self.hit(event, decoded, world);
        }
        if watched {
            let fetched = Fetched {
                warp: index as u8,
                pc: address,
                inst: at,
                path: on_path,
                metadata: in_front,
                read: hit && !filtered,
            };
            for observer in &mut world.attached.storage {
                observer.fetched(now, fetched);
            }
        }
        self.update_fetch(index as usize, world);
        Ok(())
    }

    /// The instruction enters the buffer after the fetch stages, and those of decode unless it is decoded already.
    fn hit(&mut self, event: FetchEvent, decoded: bool, world: &mut World<'_>) {
        let fetch = &world.spec.fetch;
        let decode = if decoded { 0 } else { fetch.decode_cycles };
        let arrival = event.cycle + u64::from(fetch.stages + decode);
        let arrival = self.arrivals.push(arrival, event.warp);
        for observer in &mut world.attached.observers {
            observer.delivered(FetchEvent {
                cycle: arrival,
                ..event
            });
        }
    }

    /// Whether an attached filter serves the fetch.
    #[inline]
    fn filtered(&mut self, event: FetchEvent, attached: &mut Attached) -> bool {
        let Some(filter) = &mut attached.filter else {
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
        let icache = &world.spec.icache;
        let line = event.pc >> icache.line_bytes.trailing_zeros();
        if icache.misses == MissSource::Never || self.icache.lookup(line) {
            self.fill_filter(event, world.spec.fetch.stages, world.attached);
            return Ok(true);
        }
        self.counts.add(Counter::IcacheMisses, 1);
        self.missing |= 1 << event.warp;
        let Some(miss) = self.misses.wait(line, event.warp, event.pc) else {
            self.counts.add(Counter::IcacheMshrMerges, 1);
            return Ok(false);
        };
        let address = CODE_BASE + (line << icache.line_bytes.trailing_zeros());
        let bytes = icache.line_bytes;
        let fill = match self.l15.look_up(address, bytes, &mut self.counts) {
            Answer::Comes(late) => event.cycle + late,
            Answer::Below(late) if icache.misses == MissSource::Fixed => {
                event.cycle + late + u64::from(icache.miss_cycles)
            }
            Answer::Below(late) => {
                let block = lines(address, bytes, world.spec);
                let at = event.cycle + 1 + late;
                self.send(Kind::Code, block, u32::from(miss), at, world)?;
                return Ok(false);
            }
        };
        let sm = self.id;
        world.schedule(fill, Event::Fill { sm, miss })?;
        Ok(false)
    }

    fn fill_filter(&mut self, event: FetchEvent, stages: u32, attached: &mut Attached) {
        let Some(filter) = &mut attached.filter else {
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
        if let Some(line) = self.misses.get(miss).line {
            let shift = icache.line_bytes.trailing_zeros();
            if let Some(old) = self.icache.fill(line) {
                let line = old << shift;
                world.attached.watch_code(now, CodeEvent::Evicted { line });
            }
            let line = line << shift;
            world.attached.watch_code(now, CodeEvent::Filled { line });
            self.l15
                .fill(CODE_BASE + line, icache.line_bytes, &mut self.counts);
        }
        let miss_entry = self.misses.get(miss);
        let first = now + u64::from(world.spec.fetch.stages + world.spec.fetch.decode_cycles);
        for (cycle, &(warp, pc)) in (first..).zip(&miss_entry.waiters) {
            if let Some(filter) = &mut world.attached.filter {
                filter.fill(pc);
            }
            for observer in &mut world.attached.observers {
                observer.delivered(FetchEvent { cycle, warp, pc });
            }
            let read = now + (cycle - first);
            for observer in &mut world.attached.storage {
                observer.code_cached(read, CodeEvent::Read { warp });
            }
            world.schedule(cycle, Event::Deliver { sm: self.id, warp })?;
        }
        self.misses.free(miss);
        Ok(())
    }
}

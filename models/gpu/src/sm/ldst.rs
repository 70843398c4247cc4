//! The load-store unit: shared memory, the constant port, and global and local memory behind the first-level cache or the network.
//!
//! Instructions pass in order. What happens to one is decided as soon as it is known when it reaches the unit, a few cycles ahead. Its blocks then go through
//! the first-level cache's pipeline, at the end of which tags are read. One that finds no room, in the cache or before the network, and those behind it, wait
//! for an event; as long as the pipeline has room, others follow it into the unit.

use std::collections::VecDeque;

use warpwatt_simt::trace::{Addresses, Beyond, LaneMask, MemoryOp, MemoryOpKind, Space};

use super::l1::Access;
use super::units::{self, Collected};
use super::{Attached, Sm, World};
use crate::counters::Counter;
use crate::event::Event;
use crate::memory::coalesce::{Block, LOCAL_MASK, LocalAccess, Rules};
use crate::memory::space_of;
use crate::request::Kind;
use crate::{
    DataBanks, GpuError, GpuSpec, Masks, MemoryPath, SECTOR_BYTES, SharedUse, TexturePath,
    Transactions,
};

/// Loads and atomics whose data are on their way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Loads {
    entries: Vec<Load>,
    free: Vec<u32>,
    /// Transactions of stores, and of loads and atomics that pass no cache, that have not come back.
    pub in_flight: u32,
}

/// Registers that wait for a result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub warp: u8,
    /// The static instruction that writes them.
    pub inst: u32,
    /// Their regions in the scoreboard.
    pub slots: u32,
    /// How many of them are written to the banks, the first ones.
    pub writes: u32,
    /// Hooks are told when it comes.
    pub told: bool,
}

impl Wanted {
    /// In place of an instruction: a register moves between file and memory.
    const MOVE: u32 = 1 << 31;

    /// In place of an instruction: a copy that goes on alone.
    const COPY: u32 = 1 << 30;

    /// Copy `number` of a warp.
    pub fn by_copy(warp: u8, number: u32) -> Self {
        Self {
            warp,
            inst: Self::COPY | number,
            slots: 0,
            writes: 0,
            told: false,
        }
    }

    /// The copy that goes on alone.
    #[inline]
    pub fn copy(self) -> Option<u32> {
        (self.inst >> 30 == 1).then_some(self.inst & !Self::COPY)
    }

    /// Register `word` of a warp, which moves.
    pub fn by_move(warp: u8, word: u16) -> Self {
        Self {
            warp,
            inst: Self::MOVE | u32::from(word),
            slots: 0,
            writes: 1,
            told: false,
        }
    }

    /// The register that moves.
    #[inline]
    pub fn moved(self) -> Option<u16> {
        (self.inst & Self::MOVE != 0).then_some(self.inst as u16)
    }
}

#[derive(Clone, Copy, Debug)]
struct Load {
    wanted: Wanted,
    /// Blocks that have not come.
    blocks: u32,
}

impl Loads {
    /// A load of `blocks` blocks.
    pub fn insert(&mut self, wanted: Wanted, blocks: u32) -> u32 {
        let load = Load { wanted, blocks };
        if let Some(index) = self.free.pop() {
            self.entries[index as usize] = load;
            return index;
        }
        self.entries.push(load);
        (self.entries.len() - 1) as u32
    }

    /// Who waits for a load.
    pub fn wanted(&self, index: u32) -> Wanted {
        self.entries[index as usize].wanted
    }

    /// One block has come; who waited for it once all have.
    pub fn arrived(&mut self, index: u32) -> Option<Wanted> {
        let load = &mut self.entries[index as usize];
        load.blocks -= 1;
        if load.blocks > 0 {
            return None;
        }
        self.free.push(index);
        Some(load.wanted)
    }
}

/// The unit itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct LdstUnit {
    /// First cycle in which it can take another instruction.
    pub free: u64,
    /// First cycle in which it can form other addresses: sooner, unless they are formed again.
    addresses_free: u64,
    /// Accesses on their way to the tags, in order, and their blocks.
    passing: VecDeque<Pass>,
    blocks: VecDeque<Passing>,
    /// The first of them found no room.
    stuck: bool,
    /// Instructions that the pipeline has no room for.
    behind: VecDeque<Waiting>,
    /// Blocks of all accesses so far.
    accessed: u64,
}

/// A memory instruction with its operands.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub wanted: Wanted,
    pub op: MemoryOp,
    pub addresses: Addresses,
    pub executed: LaneMask,
    pub collected: Collected,
    /// Cycles that the unit takes to form the addresses.
    pub interval: u64,
}

/// An access to global or local memory under way.
#[derive(Clone, Copy, Debug)]
struct Pass {
    kind: Kind,
    /// A copy, which passes no first-level cache.
    alone: bool,
    load: u32,
    /// Blocks that have not been looked up.
    blocks: u32,
    /// The cycle in which its first block is looked up; later if it finds no room.
    from: u64,
    /// Cycles from the first block to the last.
    length: u64,
}

/// A block, and by how many cycles it is behind the first one of its access.
#[derive(Clone, Copy, Debug)]
struct Passing {
    block: Block,
    behind: u64,
}

impl LdstUnit {
    /// The first cycle in which it can take an instruction whose operands are there.
    pub fn takes_next(&self) -> u64 {
        self.free.max(self.addresses_free)
    }

    /// The first cycle in which it can take an instruction.
    fn takes_from(&self, waiting: &Waiting) -> u64 {
        let ready = waiting.collected.ready.max(self.free);
        ready.max(self.addresses_free)
    }
}

impl Sm {
    /// The operands of a memory instruction will be there: what becomes of it.
    pub(super) fn pass_memory(
        &mut self,
        waiting: Waiting,
        world: &mut World<'_>,
    ) -> Result<(), GpuError> {
        if self.pipeline_full(world.spec) {
            self.units.hold(&waiting.collected);
            self.ldst.behind.push_back(waiting);
            return Ok(());
        }
        let from = self.ldst.takes_from(&waiting);
        self.units.pass(&waiting.collected, from);
        self.serve(&waiting, from, world)
    }

    /// The unit works for so many cycles from one on.
    pub(super) fn take_ldst(&mut self, from: u64, cycles: u64) {
        self.ldst.free = from + cycles;
        self.counts.add(Counter::LdstBusyCycles, cycles);
    }

    /// Addresses are formed again, as if their instruction had issued in `slot`; accesses that have been formed go on meanwhile.
    pub(super) fn form_again(&mut self, slot: u64, cycles: u64) {
        let from = (slot + self.units.depth()).max(self.ldst.addresses_free);
        self.ldst.addresses_free = from + cycles;
    }

    /// Whether what found no room holds up the unit.
    fn pipeline_full(&self, spec: &GpuSpec) -> bool {
        let depth = to_tags(spec) * u64::from(spec.l1.banks);
        self.ldst.stuck && self.ldst.blocks.len() as u64 >= depth
    }

    /// Whether it asks for room before the network when it ticks, not in an event: then its accesses take no time to the tags.
    pub fn asks_when_it_ticks(spec: &GpuSpec) -> bool {
        spec.ldst.memory == MemoryPath::System && to_tags(spec) == 0
    }

    /// The unit takes an instruction in a cycle.
    fn serve(
        &mut self,
        waiting: &Waiting,
        from: u64,
        world: &mut World<'_>,
    ) -> Result<(), GpuError> {
        self.ldst.addresses_free = from + waiting.interval;
        if waiting.wanted.moved().is_none() {
            world.attached.watch_entry(from, waiting.wanted);
        }
        match space(waiting) {
            Space::Shared => self.access_shared(waiting, from, world),
            Space::Const | Space::Param => self.access_constant(waiting, from, world),
            Space::Global
                if waiting.op.kind == MemoryOpKind::Texture
                    && world.spec.texture.path == TexturePath::Own =>
            {
                self.access_texture(waiting, from, world)
            }
            Space::Global | Space::Local | Space::Generic => {
                self.access_memory(waiting, from, world)
            }
        }
    }

    /// There may be room again for what found none.
    pub fn resume(&mut self, now: u64, world: &mut World<'_>) -> Result<(), GpuError> {
        if !self.ldst.stuck {
            return Ok(());
        }
        self.ldst.stuck = false;
        self.hold_up(now);
        self.go_through(world)?;
        self.access_reaches_tags(now, world)?;
        while !self.pipeline_full(world.spec) {
            let Some(waiting) = self.ldst.behind.pop_front() else {
                break;
            };
            let from = self.ldst.takes_from(&waiting).max(now);
            self.units.enter(&waiting.collected, from);
            self.serve(&waiting, from, world)?;
            self.awake = true;
        }
        Ok(())
    }

    /// Results come in `cycle`: they are released once they are written.
    pub(super) fn results_at(
        &mut self,
        wanted: Wanted,
        cycle: u64,
        world: &mut World<'_>,
    ) -> Result<(), GpuError> {
        if let Some(word) = wanted.moved() {
            return self.restores_at(wanted.warp, word, cycle, world);
        }
        if let Some(number) = wanted.copy() {
            return self.copied(number, world);
        }
        if self.gated {
            self.access_ends(usize::from(wanted.warp), wanted.inst, cycle, world);
        }
        if wanted.told {
            for hook in &mut world.attached.issue {
                hook.loaded(cycle, wanted.warp);
            }
        }
        if wanted.slots == 0 {
            return Ok(());
        }
        let written = self.write(wanted, cycle, world);
        self.release_at(wanted, written, world)
    }

    /// The cycle in which results that come in `cycle` are in their registers.
    fn write(&mut self, wanted: Wanted, cycle: u64, world: &mut World<'_>) -> u64 {
        let inst = &world.program.insts[wanted.inst as usize];
        let words = world.program.writes(inst);
        let words = &words[..words.len().min(wanted.writes as usize)];
        let (warp, now) = (u32::from(wanted.warp), world.now);
        let written = self.units.write(words, warp, cycle, now);
        self.counts
            .add(Counter::WriteConflictCycles, written - cycle);
        for observer in &mut world.attached.storage {
            observer.written(written, wanted.warp, wanted.inst);
        }
        written
    }

    fn access_shared(
        &mut self,
        waiting: &Waiting,
        from: u64,
        world: &mut World<'_>,
    ) -> Result<(), GpuError> {
        for observer in &mut world.attached.storage {
            let lanes = (&waiting.addresses, waiting.executed);
            observer.accesses_shared(from, waiting.wanted.warp, waiting.wanted.inst, lanes);
        }
        let atomic = waiting.op.kind == MemoryOpKind::Atomic;
        let passes = self.banks.passes(
            &waiting.addresses,
            waiting.executed,
            u64::from(waiting.op.bytes),
            atomic,
        );
        let lanes = u64::from(waiting.executed.count_ones());
        self.counts.add(Counter::SharedAccesses, 1);
        self.counts.add(Counter::AddressLanes, lanes);
        self.counts.add(
            Counter::SharedWords,
            lanes * u64::from(waiting.op.bytes).div_ceil(4),
        );
        self.counts.add(Counter::SharedPasses, passes.count);
        self.counts.add(Counter::SharedRetries, passes.retries);
        let shared = &world.spec.shared;
        let pass_cycles = u64::from(match waiting.op.kind {
            MemoryOpKind::Store => shared.store_pass_cycles,
            _ => shared.pass_cycles,
        });
        for hook in &mut world.attached.issue {
            let lanes = (&waiting.addresses, waiting.executed);
            hook.shared_taken(&SharedUse {
                from,
                passes: passes.count,
                pass_cycles,
                ..SharedUse::new(world.spec, lanes, waiting.op.bytes.into(), !atomic)
            });
        }
        self.take_ldst(from, waiting.interval.max(passes.count * pass_cycles));
        // Whoever comes back has seen a load's result first.
        let again = passes.retries * u64::from(shared.latency);
        let extra = (passes.count - self.banks.fewest()) * pass_cycles + again;
        let done = from + u64::from(shared.latency) + extra - self.units.depth();
        self.results_at(waiting.wanted, done, world)
    }

    fn access_memory(
        &mut self,
        waiting: &Waiting,
        from: u64,
        world: &mut World<'_>,
    ) -> Result<(), GpuError> {
        let beyond = waiting.addresses.beyond();
        match &beyond {
            Some(Beyond::Copy(copied)) => {
                self.coalescer.runs(copied);
                self.pass_shared(copied);
            }
            _ => self.coalesce(waiting, world.spec),
        }
        self.ldst.accessed += self.coalescer.blocks.len() as u64;
        self.counts.add(Counter::MemoryAccesses, 1);
        self.counts.add(
            Counter::AddressLanes,
            u64::from(waiting.executed.count_ones()),
        );
        let kind = match waiting.op.kind {
            MemoryOpKind::Load if beyond.is_some() || waiting.op.past_l1 => Kind::Copy,
            MemoryOpKind::Load | MemoryOpKind::Texture => Kind::Load,
            MemoryOpKind::Store => Kind::Store,
            MemoryOpKind::Atomic => Kind::Atomic,
        };
        if beyond.is_none() {
            self.mark_writes(kind, waiting, world.spec);
        }
        if world.spec.ldst.memory != MemoryPath::System && beyond.is_none() {
            return self.access_fixed(waiting, kind, from, world);
        }
        let mut load = u32::MAX;
        if kind != Kind::Store {
            // One more than blocks, so that none of them ends it before all are looked up.
            let blocks = self.coalescer.blocks.len() as u32 + 1;
            load = match &beyond {
                Some(Beyond::Copy(copied)) => {
                    let warp = waiting.wanted.warp;
                    let number = self.set_out(warp, copied);
                    self.loads.insert(Wanted::by_copy(warp, number), blocks)
                }
                _ => self.begin_load(waiting.wanted, blocks, world.attached),
            };
        }
        let words = world.spec.l1.data == DataBanks::Words && beyond.is_none();
        let length = match words && world.spec.has_l1() {
            true => self.enter_by_words(waiting, world.spec),
            false => self.enter_pipeline(world.spec),
        };
        self.take_ldst(from, waiting.interval.max(1 + length));
        let to_tags = to_tags(world.spec);
        let at = from + 1 + to_tags;
        if self.gated && kind == Kind::Store && waiting.wanted.moved().is_none() {
            let Wanted { warp, inst, .. } = waiting.wanted;
            self.access_ends(usize::from(warp), inst, at + length, world);
        }
        self.ldst.passing.push_back(Pass {
            alone: beyond.is_some(),
            kind,
            load,
            blocks: self.coalescer.blocks.len() as u32,
            from: at,
            length,
        });
        if to_tags > 0 {
            let sm = self.id;
            return world.schedule(at, Event::Access { sm });
        }
        if !self.ldst.stuck {
            self.go_through(world)?;
        }
        Ok(())
    }

    /// An access to a memory that answers after a fixed time, one after the other.
    fn access_fixed(
        &mut self,
        waiting: &Waiting,
        kind: Kind,
        from: u64,
        world: &mut World<'_>,
    ) -> Result<(), GpuError> {
        let ldst = &world.spec.ldst;
        let own = match kind {
            Kind::Store => ldst.fixed_store,
            _ => ldst.fixed_load,
        };
        let blocks = std::mem::take(&mut self.coalescer.blocks);
        let mut transactions = 0;
        for &block in &blocks {
            transactions += self.count_transaction(kind, block, world.spec);
        }
        self.coalescer.blocks = blocks;
        let sending = transactions * u64::from(ldst.fixed_transaction);
        let cycles = (u64::from(own) + sending).max(1);
        let busy = match ldst.memory {
            MemoryPath::Pipelined => sending.max(waiting.interval),
            MemoryPath::System | MemoryPath::Fixed => cycles,
        };
        self.take_ldst(from, busy.max(1));
        let done = (from + cycles).saturating_sub(self.units.depth());
        self.results_at(waiting.wanted, done.max(from), world)
    }

    /// A load or an atomic of so many blocks goes to memory; hooks are told when it has come.
    pub(super) fn begin_load(&mut self, wanted: Wanted, blocks: u32, attached: &Attached) -> u32 {
        let told = wanted.moved().is_none() && !attached.issue.is_empty();
        self.loads.insert(Wanted { told, ..wanted }, blocks)
    }

    /// What of the coalesced blocks only stores and atomics have.
    fn mark_writes(&mut self, kind: Kind, waiting: &Waiting, spec: &GpuSpec) {
        let (lanes, executed) = (&waiting.addresses, waiting.executed);
        if kind == Kind::Atomic {
            let rules = Rules::new(spec);
            self.coalescer.count_repeats(&rules, lanes, executed);
        }
        if spec.noc.masks == Masks::Sector {
            let written = u64::from(executed.count_ones()) * u64::from(waiting.op.bytes);
            self.coalescer.mark_masked(kind, written);
        }
    }

    /// Puts the coalesced blocks into the pipeline of a cache that is one array with shared memory: tags of some lines a cycle, and a pass for each word of the
    /// fullest bank. The cycles from the first to the last.
    fn enter_by_words(&mut self, waiting: &Waiting, spec: &GpuSpec) -> u64 {
        let blocks = &self.coalescer.blocks;
        let tags = u64::from(spec.l1.banks);
        let sectors: u32 = blocks.iter().map(|block| block.mask.count_ones()).sum();
        let bytes = u32::from(waiting.op.bytes);
        let whole = waiting.executed.count_ones() * bytes == sectors * SECTOR_BYTES;
        let passes = match whole || space(waiting) == Space::Local {
            true => u64::from((sectors * SECTOR_BYTES).div_ceil(4 * spec.shared.banks)),
            false => {
                let (lanes, executed) = (&waiting.addresses, waiting.executed);
                self.banks
                    .passes(lanes, executed, bytes.into(), false)
                    .count
            }
        };
        let entering = (0..).zip(blocks).map(|(number, &block)| Passing {
            block,
            behind: number / tags,
        });
        self.ldst.blocks.extend(entering);
        (blocks.len() as u64).div_ceil(tags).max(passes).max(1) - 1
    }

    /// Puts the coalesced blocks into the pipeline; the cycles from the first to the last.
    fn enter_pipeline(&mut self, spec: &GpuSpec) -> u64 {
        let mut slot = (0, 0);
        let mut last = 0;
        for &block in &self.coalescer.blocks {
            last = take_banks(&mut slot, block, spec);
            self.ldst.blocks.push_back(Passing {
                block,
                behind: last,
            });
        }
        last
    }

    /// The accesses whose time has come read the tags, unless one before them found no room.
    pub fn access_reaches_tags(&mut self, now: u64, world: &mut World<'_>) -> Result<(), GpuError> {
        while !self.ldst.stuck {
            let first = self.ldst.passing.front();
            if first.is_none_or(|pass| pass.from > now) {
                break;
            }
            self.hold_up(now);
            self.go_through(world)?;
        }
        Ok(())
    }

    /// The first block that has not been looked up is so now at the earliest.
    fn hold_up(&mut self, now: u64) {
        if let (Some(pass), Some(block)) = (self.ldst.passing.front_mut(), self.ldst.blocks.front())
        {
            pass.from = pass.from.max(now.saturating_sub(block.behind));
        }
    }

    /// Looks up block after block of the first access, until all are through or one finds no room.
    fn go_through(&mut self, world: &mut World<'_>) -> Result<(), GpuError> {
        let Some(mut pass) = self.ldst.passing.pop_front() else {
            return Ok(());
        };
        while pass.blocks > 0 {
            let Some(&Passing { block, behind }) = self.ldst.blocks.front() else {
                break;
            };
            if !self.look_up(&pass, block, pass.from + behind, world)? {
                self.ldst.stuck = true;
                self.ldst.passing.push_front(pass);
                return Ok(());
            }
            self.ldst.blocks.pop_front();
            pass.blocks -= 1;
        }
        if pass.kind == Kind::Store {
            return Ok(());
        }
        let Some(wanted) = self.loads.arrived(pass.load) else {
            return Ok(());
        };
        let (now, last) = (world.now, pass.from + pass.length);
        if last <= now {
            return self.results_at(wanted, now, world);
        }
        self.results_at(wanted, last, world)
    }

    /// One block of an access at `cycle`; `false` if there is no room for it.
    fn look_up(
        &mut self,
        access: &Pass,
        block: Block,
        cycle: u64,
        world: &mut World<'_>,
    ) -> Result<bool, GpuError> {
        match access.kind {
            Kind::Load if world.spec.has_l1() => {
                match self.load_block(block, access.load, cycle, world)? {
                    Access::NoRoom => {
                        self.counts.add(Counter::L1Retries, 1);
                        return Ok(false);
                    }
                    Access::Hit => {
                        self.loads.entries[access.load as usize].blocks -= 1;
                    }
                    Access::Waits => {}
                }
            }
            _ if !world.has_room(self.id) => return Ok(false),
            Kind::Store if !access.alone => self.store_block(block, cycle, world)?,
            kind => {
                self.loads.in_flight += 1;
                self.send(kind, block, access.load, cycle, world)?;
            }
        }
        Ok(true)
    }

    /// Blocks of memory beyond the SM that its instructions have accessed so far.
    pub fn blocks_accessed(&self) -> u64 {
        self.ldst.accessed
    }

    fn coalesce(&mut self, waiting: &Waiting, spec: &GpuSpec) {
        let rules = Rules::new(spec);
        let bytes = u64::from(waiting.op.bytes);
        if space(waiting) == Space::Local {
            let base = local_base(spec, (self.id, waiting.wanted.warp));
            self.coalescer.coalesce_local(
                &rules,
                &waiting.addresses,
                waiting.executed,
                LocalAccess { base, bytes },
            );
        } else {
            self.coalescer
                .coalesce(&rules, &waiting.addresses, waiting.executed, bytes);
        }
    }

    /// A block of a load has come.
    pub(super) fn block_arrived(
        &mut self,
        load: u32,
        now: u64,
        world: &mut World<'_>,
    ) -> Result<(), GpuError> {
        match self.loads.arrived(load) {
            Some(wanted) => self.results_at(wanted, now, world),
            None => Ok(()),
        }
    }

    /// A transaction that passes no cache has come back.
    pub(super) fn returned(&mut self, world: &World<'_>) {
        self.awake |= self.loads.in_flight >= world.spec.ldst.outstanding;
        self.loads.in_flight -= 1;
    }
}

/// Cycles from the unit to the tags of the first-level cache.
fn to_tags(spec: &GpuSpec) -> u64 {
    if spec.has_l1() {
        (u64::from(spec.l1.latency) - 1).saturating_sub(units::depth(spec))
    } else {
        0
    }
}

/// Local memory lies above everything that programs allocate.
const LOCAL_BASE: u64 = 1 << 40;
/// Where registers go that leave the file, above local memory.
pub(super) const SPILL_BASE: u64 = 1 << 42;

/// The cycle in which a block goes through: the first one in which its banks are free. Blocks of a cycle take different banks.
fn take_banks((next, taken): &mut (u64, u32), block: Block, spec: &GpuSpec) -> u64 {
    if spec.l1.banks == 1 || !spec.has_l1() {
        *next += 1;
        return *next - 1;
    }
    let mut banks = 0u32;
    let first = match spec.ldst.transactions {
        Transactions::Segments => (block.base / u64::from(spec.ldst.segment_bytes)) as u32,
        Transactions::Sectors => (block.base / u64::from(SECTOR_BYTES)) as u32,
    };
    match spec.ldst.transactions {
        Transactions::Segments => banks = 1 << (first % spec.l1.banks),
        Transactions::Sectors => {
            for sector in 0..8 {
                if block.mask >> sector & 1 != 0 {
                    banks |= 1 << ((first + sector) % spec.l1.banks);
                }
            }
        }
    }
    if *taken & banks != 0 {
        *next += 1;
        *taken = 0;
    }
    *taken |= banks;
    // More sectors than banks take more than a cycle.
    let cycles = block.mask.count_ones().div_ceil(spec.l1.banks);
    if matches!(spec.ldst.transactions, Transactions::Sectors) && cycles > 1 {
        *next += u64::from(cycles - 1);
    }
    *next
}

/// Where the local memory of an SM's warp slot lies.
pub(super) fn local_base(spec: &GpuSpec, (sm, slot): (u16, u8)) -> u64 {
    let slot = u64::from(sm) * u64::from(spec.warps_per_sm()) + u64::from(slot);
    LOCAL_BASE + slot * (LOCAL_MASK + 1) * u64::from(spec.sm.warp_width)
}

/// The space that the first executing lane accesses.
fn space(waiting: &Waiting) -> Space {
    space_of(waiting.op, &waiting.addresses, waiting.executed)
}

//! The first-level data cache of an SM.

use super::{Sm, World};
use crate::counters::Counter;
use crate::memory::cache::Cache;
use crate::memory::coalesce::Block;
use crate::memory::request_flits;
use crate::request::{Kind, Request};
use crate::{CacheEvent, Fill, GpuError, GpuSpec, SmCache, StoreMiss, Transactions};

/// Tags, and how many misses are on their way.
#[derive(Clone, Debug)]
pub(crate) struct L1 {
    pub cache: Cache,
    on_their_way: u32,
    /// Whoever a fill serves; kept from call to call.
    served: Vec<u32>,
}

impl L1 {
    /// The cache; one of a line if the GPU has none.
    pub fn new(spec: &GpuSpec) -> Self {
        let (sets, ways) = if spec.has_l1() {
            (spec.l1_sets(), spec.l1.ways)
        } else {
            (1, 1)
        };
        Self {
            cache: Cache::new(sets, ways, spec.l1.index),
            on_their_way: 0,
            served: Vec::new(),
        }
    }

    /// Empties it for a launch whose resident CTAs take `shared_bytes` of a unified capacity.
    pub fn begin(&mut self, spec: &GpuSpec, shared_bytes: u32) {
        if !spec.has_l1() {
            return;
        }
        let taken = spec.l1.carveout.taken_kb(shared_bytes);
        let left = spec.l1.kb.saturating_sub(taken);
        let ways = u64::from(spec.l1.ways) * u64::from(left) / u64::from(spec.l1.kb);
        self.cache.clear(ways as usize);
    }

    /// Misses that a request for `mask` counts as.
    fn misses(fill: Fill, mask: u8) -> u32 {
        match fill {
            Fill::Line => 1,
            Fill::Sector => mask.count_ones(),
        }
    }
}

/// What a block met in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// All of it is there.
    Hit,
    /// Its load waits for some of it.
    Waits,
    /// There is no room for what is missing; nothing has changed.
    NoRoom,
}

impl Sm {
    /// A load's block reaches the cache at `at`.
    pub(super) fn load_block(
        &mut self,
        block: Block,
        load: u32,
        at: u64,
        world: &mut World<'_>,
    ) -> Result<Access, GpuError> {
        let spec = world.spec;
        let line = block.base / u64::from(spec.l1.line_bytes);
        let wanted = match spec.l1.fill {
            Fill::Sector => block.mask,
            Fill::Line => u8::MAX >> (8 - spec.l1.line_bytes / crate::SECTOR_BYTES),
        };
        let found = self.l1.cache.find(line);
        let (missing, pending) = match found {
            Some(place) => self.l1.cache.peek(place, wanted),
            None => (wanted, 0),
        };
        let misses = L1::misses(spec.l1.fill, missing);
        if missing != 0
            && (self.l1.on_their_way + misses > spec.l1.mshrs.max(misses)
                || !world.has_room(self.id))
        {
            return Ok(Access::NoRoom);
        }
        let waits = |place| self.l1.cache.merged(place, pending) >= spec.l1.merges;
        if pending & block.mask != 0 && found.is_some_and(waits) {
            return Ok(Access::NoRoom);
        }
        let place = match found {
            Some(place) => place,
            None => match self.l1.cache.reserve(line) {
                Some((place, _)) => {
                    world
                        .attached
                        .watch_cache(at, SmCache::L1, CacheEvent::Evicted { place });
                    place
                }
                None => return Ok(Access::NoRoom),
            },
        };
        let found = self.l1.cache.look(place, block.mask);
        self.watch_read(world.attached, (at, SmCache::L1), (place, found.hit), load);
        self.counts.add(Counter::L1Lookups, 1);
        for (counter, mask) in [
            (Counter::L1Reads, block.mask),
            (Counter::L1ReadHits, found.hit),
            (Counter::L1ReadMerges, found.pending),
            (Counter::L1ReadMisses, found.missing),
        ] {
            self.counts.add(counter, u64::from(mask.count_ones()));
        }
        let awaited = found.pending | found.missing;
        if awaited == 0 {
            return Ok(Access::Hit);
        }
        self.l1.cache.wait(place, awaited, load);
        if missing != 0 {
            self.l1.cache.request(place, missing);
            self.l1.on_their_way += misses;
            let miss = Block::new(block.base, missing);
            self.send(Kind::Load, miss, place, at, world)?;
        }
        Ok(Access::Waits)
    }

    /// A store's block reaches the cache at `at` and goes on to the second level.
    pub(super) fn store_block(
        &mut self,
        block: Block,
        at: u64,
        world: &mut World<'_>,
    ) -> Result<(), GpuError> {
        let spec = world.spec;
        if spec.has_l1() {
            let line = block.base / u64::from(spec.l1.line_bytes);
            let found = self.l1.cache.find(line);
            let place = match (found, spec.l1.stores) {
                (None, StoreMiss::Allocate) => self.l1.cache.reserve(line).map(|(place, _)| place),
                (found, _) => found,
            };
            if let Some(place) = place {
                if found.is_none() {
                    world
                        .attached
                        .watch_cache(at, SmCache::L1, CacheEvent::Evicted { place });
                }
                self.l1.cache.write(place, block.mask, false);
                let sectors = block.mask;
                world
                    .attached
                    .watch_cache(at, SmCache::L1, CacheEvent::Filled { place, sectors });
            }
            let sectors = u64::from(block.mask.count_ones());
            self.counts.add(Counter::L1Writes, sectors);
            self.counts.add(Counter::L1Lookups, 1);
        }
        self.loads.in_flight += 1;
        self.send(Kind::Store, block, 0, at, world)
    }

    /// Sends a block on its way at `at`.
    pub(super) fn send(
        &mut self,
        kind: Kind,
        block: Block,
        cookie: u32,
        at: u64,
        world: &mut World<'_>,
    ) -> Result<(), GpuError> {
        let request = Request {
            base: block.base,
            mask: block.mask,
            repeats: block.repeats,
            masked: block.masked,
            crossing: false,
            kind,
            sm: self.id,
            slice: 0,
            cookie,
        };
        let flits = request_flits(world.spec, &request);
        world.send(at, (request, flits))?;
        self.counts.add(Counter::RequestFlits, flits);
        self.count_transaction(kind, block, world.spec);
        Ok(())
    }

    /// Counts what a block asks for; the transactions that it is.
    pub(super) fn count_transaction(&mut self, kind: Kind, block: Block, spec: &GpuSpec) -> u64 {
        let transactions = match spec.ldst.transactions {
            Transactions::Segments => 1,
            Transactions::Sectors => u64::from(block.mask.count_ones()),
        };
        let (transaction, load, store) = match kind {
            Kind::Load | Kind::Copy => (Counter::LoadTransactions, true, false),
            Kind::Store => (Counter::StoreTransactions, false, true),
            Kind::Atomic => (Counter::AtomicTransactions, true, true),
            Kind::Code => (Counter::CodeTransactions, false, false),
            Kind::Constant => (Counter::ConstantTransactions, false, false),
            Kind::Texture => (Counter::TextureTransactions, true, false),
        };
        self.counts.add(transaction, transactions);
        if load {
            self.counts.add(Counter::LoadBytes, block.bytes());
        }
        if store {
            self.counts.add(Counter::StoreBytes, block.bytes());
        }
        transactions
    }

    /// Sectors of a line have come.
    pub(super) fn fill_l1(
        &mut self,
        place: u32,
        mask: u8,
        now: u64,
        world: &mut World<'_>,
    ) -> Result<(), GpuError> {
        self.l1.on_their_way -= L1::misses(world.spec.l1.fill, mask);
        let mut served = std::mem::take(&mut self.l1.served);
        self.l1.cache.fill(place, mask, &mut served);
        let event = CacheEvent::Filled {
            place,
            sectors: mask,
        };
        world.attached.watch_cache(now, SmCache::L1, event);
        for load in served.drain(..) {
            self.block_arrived(load, now, world)?;
        }
        self.l1.served = served;
        self.resume(now, world)
    }
}

//! The texture cache of an SM: lines that are only read, from the memory system, empty at each launch.

use super::fetch::lines;
use super::ldst::Waiting;
use super::{Sm, World};
use crate::counters::Counter;
use crate::memory::cache::Cache;
use crate::request::Kind;
use crate::{CacheEvent, GpuError, GpuSpec, Index, SmCache, TexturePath};

/// The cache; a line is one sector to it.
#[derive(Clone, Debug)]
pub(crate) struct Textures {
    cache: Cache,
    served: Vec<u32>,
}

/// A line is there whole or not at all.
const LINE: u8 = 1;

/// Marks the cookie of a line that finds no place in the cache; the rest is the load that waits for it.
const PASSING: u32 = 1 << 31;

impl Textures {
    pub fn new(spec: &GpuSpec) -> Self {
        let (sets, ways) = match spec.texture.path {
            TexturePath::Data => (1, 1),
            TexturePath::Own => (spec.texture_sets(), spec.texture.cache_ways),
        };
        Self {
            cache: Cache::new(sets, ways, Index::Linear),
            served: Vec::new(),
        }
    }

    /// What a buffer holds may have changed since the last launch.
    pub fn begin(&mut self, spec: &GpuSpec) {
        self.cache.clear(spec.texture.cache_ways as usize);
    }
}

impl Sm {
    /// The unit looks up a line a cycle; lanes that read from one line share it.
    pub(super) fn access_texture(
        &mut self,
        waiting: &Waiting,
        from: u64,
        world: &mut World<'_>,
    ) -> Result<(), GpuError> {
        let texture = &world.spec.texture;
        let bytes = u64::from(texture.cache_line_bytes);
        let (mut seen, mut count) = ([0; 64], 0);
        waiting.addresses.for_each(waiting.executed, |_, address| {
            if !seen[..count].contains(&(address / bytes)) {
                seen[count] = address / bytes;
                count += 1;
            }
        });
        self.counts.add(Counter::TextureAccesses, 1);
        self.counts.add(Counter::TextureReads, count as u64);
        let looked_up = count.max(1) as u64;
        self.take_ldst(from, waiting.interval.max(looked_up));
        let hit = from + u64::from(texture.latency) - self.units.depth() + (looked_up - 1);
        let load = self.begin_load(waiting.wanted, count as u32 + 1, world.attached);
        for (cycle, &line) in (from + 1..).zip(&seen[..count]) {
            if self.texture_hits(line, load, cycle, world)? {
                // The last one, for all lines that were there, follows below.
                let _ = self.loads.arrived(load);
            }
        }
        match self.loads.arrived(load) {
            Some(wanted) => self.results_at(wanted, hit, world),
            None => Ok(()),
        }
    }

    /// Looks up one line; if it is missing, `load` waits for it, and it is asked for if nobody has done so.
    fn texture_hits(
        &mut self,
        line: u64,
        load: u32,
        at: u64,
        world: &mut World<'_>,
    ) -> Result<bool, GpuError> {
        let cache = &mut self.textures.cache;
        let found = cache.find(line);
        let place = found.or_else(|| cache.reserve(line).map(|(place, _)| place));
        if let (None, Some(place)) = (found, place) {
            world
                .attached
                .watch_cache(at, SmCache::Texture, CacheEvent::Evicted { place });
        }
        let cache = &mut self.textures.cache;
        let cookie = match place {
            None => PASSING | load,
            Some(place) => {
                let found = cache.look(place, LINE);
                if found.hit != 0 {
                    self.watch_read(world.attached, (at, SmCache::Texture), (place, LINE), load);
                    return Ok(true);
                }
                cache.wait(place, LINE, load);
                if found.missing == 0 {
                    self.counts.add(Counter::TextureMerges, 1);
                    return Ok(false);
                }
                cache.request(place, LINE);
                place
            }
        };
        self.counts.add(Counter::TextureMisses, 1);
        let bytes = world.spec.texture.cache_line_bytes;
        let block = lines(line * u64::from(bytes), bytes, world.spec);
        self.send(Kind::Texture, block, cookie, at, world)?;
        Ok(false)
    }

    /// A line has come.
    pub fn fill_texture(
        &mut self,
        cookie: u32,
        now: u64,
        world: &mut World<'_>,
    ) -> Result<(), GpuError> {
        if cookie & PASSING != 0 {
            return self.block_arrived(cookie & !PASSING, now, world);
        }
        let mut served = std::mem::take(&mut self.textures.served);
        self.textures.cache.fill(cookie, LINE, &mut served);
        let event = CacheEvent::Filled {
            place: cookie,
            sectors: LINE,
        };
        world.attached.watch_cache(now, SmCache::Texture, event);
        for load in served.drain(..) {
            self.block_arrived(load, now, world)?;
        }
        self.textures.served = served;
        Ok(())
    }
}

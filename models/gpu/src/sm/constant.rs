//! The constant and parameter port: it serves one address a cycle; behind it may be a cache.

use warpwatt_simt::trace::{Addresses, LaneMask};

use super::fetch::lines;
use super::l15::Answer;
use super::ldst::Waiting;
use super::{Sm, World};
use crate::counters::Counter;
use crate::event::Event;
use crate::memory::cache::Cache;
use crate::request::Kind;
use crate::{
    CacheEvent, ConstantSpec, ConstantTurns, GpuError, GpuSpec, Index, MissSource, SmCache,
};

/// The constant cache; a line is one sector to it.
#[derive(Clone, Debug)]
pub(crate) struct Constants {
    cache: Cache,
    /// Sets the constants of each launch apart in the second level.
    launch: u64,
    served: Vec<u32>,
}

/// A line is there whole or not at all.
const LINE: u8 = 1;

/// Constants lie above the code.
const CONSTANT_BASE: u64 = 1 << 61;

/// More than the constants of a launch.
const LAUNCH: u64 = 1 << 40;

impl Constants {
    pub fn new(spec: &GpuSpec) -> Self {
        let constant = &spec.constant;
        let (sets, ways) = match constant.misses {
            MissSource::Never => (1, 1),
            MissSource::Fixed | MissSource::Memory => (
                constant.cache_bytes / (constant.cache_ways * constant.cache_line_bytes),
                constant.cache_ways,
            ),
        };
        Self {
            cache: Cache::new(sets, ways, Index::Linear),
            launch: 0,
            served: Vec::new(),
        }
    }

    /// Each launch has its own parameters.
    pub fn begin(&mut self, spec: &GpuSpec) {
        self.cache.clear(spec.constant.cache_ways as usize);
        self.launch += LAUNCH;
    }
}

/// Cycles one after the other that a load of these addresses takes; at least one.
fn turns(constant: &ConstantSpec, addresses: &[u64]) -> u64 {
    let count = match constant.turns {
        ConstantTurns::Load => 1,
        ConstantTurns::Address => addresses.len(),
        ConstantTurns::Line => {
            let line = |address: &u64| address / u64::from(constant.cache_line_bytes);
            let places = addresses.iter().enumerate();
            let first = |(place, address): &(usize, &u64)| {
                let mut before = addresses[..*place].iter();
                !before.any(|other| line(other) == line(address))
            };
            places.filter(first).count()
        }
    };
    count.max(1) as u64
}

impl Sm {
    /// Lanes that agree on an address share it.
    pub(super) fn access_constant(
        &mut self,
        waiting: &Waiting,
        from: u64,
        world: &mut World<'_>,
    ) -> Result<(), GpuError> {
        let (seen, count) = distinct(&waiting.addresses, waiting.executed);
        let turns = turns(&world.spec.constant, &seen[..count]);
        self.counts.add(Counter::ConstantAccesses, 1);
        let busy = match world.spec.constant.busy_cycles {
            0 => turns,
            cycles => waiting.interval.max(turns).max(u64::from(cycles)),
        };
        self.take_ldst(from, busy);
        let latency = u64::from(world.spec.constant.latency);
        let hit = from + latency - self.units.depth() + (turns - 1);
        if world.spec.constant.misses == MissSource::Never {
            return self.results_at(waiting.wanted, hit, world);
        }
        let load = self.loads.insert(waiting.wanted, count as u32 + 1);
        for &address in &seen[..count] {
            if self.constant_hits(address, load, hit, world)? {
                // The last one, for all lines that were there, follows below.
                let _ = self.loads.arrived(load);
            }
        }
        match self.loads.arrived(load) {
            Some(wanted) => self.results_at(wanted, hit, world),
            None => Ok(()),
        }
    }

    /// Looks up one address; if its line is missing, `load` waits for it, and it is asked for if nobody has done so.
    fn constant_hits(
        &mut self,
        address: u64,
        load: u32,
        at: u64,
        world: &mut World<'_>,
    ) -> Result<bool, GpuError> {
        let constant = &world.spec.constant;
        let line = address / u64::from(constant.cache_line_bytes);
        let place = match self.constants.cache.find(line) {
            Some(place) => place,
            // Every line of the set is on its way: the access passes the cache by.
            None => match self.constants.cache.reserve(line) {
                Some((place, _)) => {
                    world.attached.watch_cache(
                        at,
                        SmCache::Constant,
                        CacheEvent::Evicted { place },
                    );
                    place
                }
                None => return Ok(true),
            },
        };
        let found = self.constants.cache.look(place, LINE);
        if found.hit != 0 {
            self.watch_read(world.attached, (at, SmCache::Constant), (place, LINE), load);
            return Ok(true);
        }
        self.counts.add(Counter::ConstantMisses, 1);
        self.constants.cache.wait(place, LINE, load);
        if found.missing == 0 {
            return Ok(false);
        }
        self.constants.cache.request(place, LINE);
        let bytes = constant.cache_line_bytes;
        let address = CONSTANT_BASE + line * u64::from(bytes);
        let of_launch = address + self.constants.launch;
        let fill = match self.l15.look_up(of_launch, bytes, &mut self.counts) {
            Answer::Comes(late) => at + late,
            Answer::Below(late) if constant.misses == MissSource::Fixed => {
                at + late + u64::from(constant.miss_cycles)
            }
            Answer::Below(late) => {
                let block = lines(address, bytes, world.spec);
                self.send(Kind::Constant, block, place, at + late, world)?;
                return Ok(false);
            }
        };
        let sm = self.id;
        world.schedule(fill, Event::Constant { sm, place })?;
        Ok(false)
    }

    /// A line of constants has come.
    pub fn fill_constant(
        &mut self,
        place: u32,
        now: u64,
        world: &mut World<'_>,
    ) -> Result<(), GpuError> {
        let mut served = std::mem::take(&mut self.constants.served);
        self.constants.cache.fill(place, LINE, &mut served);
        let sectors = LINE;
        world.attached.watch_cache(
            now,
            SmCache::Constant,
            CacheEvent::Filled { place, sectors },
        );
        let bytes = world.spec.constant.cache_line_bytes;
        let address = CONSTANT_BASE + self.constants.cache.line(place) * u64::from(bytes);
        self.l15
            .fill(address + self.constants.launch, bytes, &mut self.counts);
        for load in served.drain(..) {
            self.block_arrived(load, now, world)?;
        }
        self.constants.served = served;
        Ok(())
    }
}

/// The different addresses of the lanes, and how many they are.
fn distinct(addresses: &Addresses, executed: LaneMask) -> ([u64; 64], usize) {
    let mut seen = [0; 64];
    if let Addresses::Affine { base, stride: 0 } = *addresses {
        seen[0] = base;
        return (seen, 1);
    }
    let mut count = 0;
    addresses.for_each(executed, |_, address| {
        if !seen[..count].contains(&address) {
            seen[count] = address;
            count += 1;
        }
    });
    (seen, count)
}

//! What every warp of the running CTA knows of the others.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use warpwatt_ptx::types::Space;

use super::shadow::Access;

/// One count a warp of a CTA.
type Clock = Vec<u32>;

fn join(into: &mut Clock, other: &Clock) {
    for (own, other) in into.iter_mut().zip(other) {
        *own = (*own).max(*other);
    }
}

#[derive(Debug)]
pub(super) struct Clocks {
    /// The running CTA, counted from zero.
    pub cta: u32,
    warps: Vec<Known>,
    /// What was brought to each barrier by warps that did not wait.
    arrived: BTreeMap<u32, Known>,
    mbarriers: Known,
    /// What atomics on each place have told, in this CTA.
    told: FxHashMap<(Space, u64), Clock>,
    /// What atomics on places of global memory have told, by CTA.
    published: FxHashMap<u64, BTreeMap<u32, Clock>>,
}

/// What a warp knows.
#[derive(Clone, Debug, Default)]
struct Known {
    /// The accesses of every warp of the CTA that are ordered before its next one.
    clock: Clock,
    /// Those of them that a fence has made visible to others.
    fenced: Option<Clock>,
    /// Places of global memory whose atomics told it what other CTAs had published there.
    heard: FxHashSet<u64>,
}

impl Known {
    fn join(&mut self, other: &Known) {
        join(&mut self.clock, &other.clock);
        match (&mut self.fenced, &other.fenced) {
            (Some(own), Some(other)) => join(own, other),
            (own @ None, other) => own.clone_from(other),
            (Some(_), None) => {}
        }
        self.heard.extend(&other.heard);
    }
}

impl Clocks {
    pub fn new(warps: usize) -> Self {
        Self {
            cta: 0,
            warps: vec![Known::default(); warps],
            arrived: BTreeMap::new(),
            mbarriers: Known::default(),
            told: FxHashMap::default(),
            published: FxHashMap::default(),
        }
    }

    pub fn start(&mut self, cta: u32) {
        self.cta = cta;
        let count = self.warps.len();
        let nothing = Known {
            clock: vec![0; count],
            ..Known::default()
        };
        self.mbarriers = nothing.clone();
        self.arrived.clear();
        self.told.clear();
        for (at, warp) in self.warps.iter_mut().enumerate() {
            *warp = nothing.clone();
            warp.clock[at] = 1;
        }
    }

    fn warp(&mut self, warp: u32) -> &mut Known {
        &mut self.warps[warp as usize]
    }

    /// A warp's own count.
    pub fn now(&self, warp: u32) -> u32 {
        self.warps[warp as usize].clock[warp as usize]
    }

    /// What a warp does from now on is not what it has told.
    pub fn tick(&mut self, warp: u32) {
        self.warp(warp).clock[warp as usize] += 1;
    }

    pub fn fence(&mut self, warp: u32) {
        let known = self.warp(warp);
        known.fenced = Some(known.clock.clone());
        self.tick(warp);
    }

    pub fn arrive(&mut self, warp: u32, barrier: u32) {
        let known = self.warps[warp as usize].clone();
        let brought = self.arrived.entry(barrier).or_insert_with(|| known.clone());
        brought.join(&known);
        self.tick(warp);
    }

    pub fn open(&mut self, warps: impl Iterator<Item = u32> + Clone, barrier: u32) {
        let mut all = self.arrived.remove(&barrier).unwrap_or_else(|| Known {
            clock: vec![0; self.warps.len()],
            ..Known::default()
        });
        for warp in warps.clone() {
            all.join(&self.warps[warp as usize]);
        }
        for warp in warps {
            self.warps[warp as usize] = all.clone();
            self.tick(warp);
        }
    }

    pub fn mbarrier(&mut self, warp: u32) {
        let known = &mut self.warps[warp as usize];
        known.join(&self.mbarriers);
        self.mbarriers.join(known);
        self.tick(warp);
    }

    /// An atomic tells what the warp's last fence has made visible, and is told what other atomics on that place have.
    pub fn atomic(&mut self, warp: u32, space: Space, place: u64) {
        let known = &mut self.warps[warp as usize];
        if let Some(told) = self.told.get(&(space, place)) {
            join(&mut known.clock, told);
        }
        if space != Space::Shared && self.published.contains_key(&place) {
            known.heard.insert(place);
        }
        let Some(fenced) = &known.fenced else {
            return;
        };
        let tell = |known: &mut Clock| join(known, fenced);
        tell(
            self.told
                .entry((space, place))
                .or_insert_with(|| fenced.clone()),
        );
        if space != Space::Shared {
            let here = self.published.entry(place).or_default();
            tell(here.entry(self.cta).or_insert_with(|| fenced.clone()));
        }
    }

    /// Whether an access is ordered before what a warp of the running CTA does now.
    pub fn ordered(&self, earlier: &Access, warp: u32) -> bool {
        let known = &self.warps[warp as usize];
        let at = earlier.warp as usize;
        if earlier.cta == self.cta {
            return earlier.clock <= known.clock[at];
        }
        known.heard.iter().any(|place| {
            let clock = self.published[place].get(&earlier.cta);
            clock.is_some_and(|clock| earlier.clock <= clock[at])
        })
    }
}

//! The registers of one warp, with literals and special registers among them.

use warpwatt_ptx::Entry;
use warpwatt_ptx::program::{MaskKind, Slot, Source, Special};

use crate::trace::LaneMask;

/// Values of all slots, one array of lanes a slot.
#[derive(Clone, Debug)]
pub(crate) struct Registers<const W: usize> {
    words: Vec<[u32; W]>,
    doubles: Vec<[u64; W]>,
    predicates: Vec<LaneMask>,
}

/// Where a warp stands in its launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub cta: [u32; 3],
    pub warp: u32,
    pub warps: u32,
    pub static_shared: u32,
    pub dynamic_shared: u32,
}

impl Place {
    /// Thread coordinates of a lane. Lanes beyond the CTA's last thread get coordinates nobody reads.
    pub fn thread(&self, lane: u32, width: u32) -> [u32; 3] {
        let linear = self.warp * width + lane;
        let [x, y, _] = self.block;
        [linear % x, linear / x % y, linear / (x * y)]
    }

    fn special(&self, special: Special, lane: u32, width: u32) -> u32 {
        let axis = usize::from;
        match special {
            Special::Tid(at) => self.thread(lane, width)[axis(at)],
            Special::Ntid(at) => self.block[axis(at)],
            Special::Ctaid(at) => self.cta[axis(at)],
            Special::Nctaid(at) => self.grid[axis(at)],
            Special::LaneId => lane,
            Special::WarpId => self.warp,
            Special::NwarpId => self.warps,
            Special::SmId | Special::GridId => 0,
            Special::NsmId => 1,
            Special::LaneMask(kind) => lane_mask(kind, lane) as u32,
            Special::DynamicShared => self.dynamic_shared,
            Special::TotalShared => self.static_shared + self.dynamic_shared,
            Special::WarpSize => width,
        }
    }
}

fn lane_mask(kind: MaskKind, lane: u32) -> LaneMask {
    let own = 1 << lane;
    match kind {
        MaskKind::Eq => own,
        MaskKind::Lt => own - 1,
        MaskKind::Le => own | (own - 1),
        MaskKind::Gt => !(own | (own - 1)),
        MaskKind::Ge => !(own - 1),
    }
}

impl<const W: usize> Registers<W> {
    pub fn new(entry: &Entry) -> Self {
        Self {
            words: vec![[0; W]; entry.words.len()],
            doubles: vec![[0; W]; entry.doubles.len()],
            predicates: vec![0; usize::from(entry.predicates)],
        }
    }

    /// Fills every slot with what it holds when a warp starts.
    pub fn start(&mut self, entry: &Entry, place: &Place) {
        let width = W as u32;
        for (slot, source) in self.words.iter_mut().zip(&entry.words) {
            *slot = match *source {
                Source::Register => [0; W],
                Source::Literal(value) => [value; W],
                Source::Special(special) => {
                    std::array::from_fn(|lane| place.special(special, lane as u32, width))
                }
            };
        }
        for (slot, source) in self.doubles.iter_mut().zip(&entry.doubles) {
            *slot = match *source {
                Source::Register => [0; W],
                Source::Literal(value) => [value; W],
                Source::Special(special) => std::array::from_fn(|lane| {
                    u64::from(place.special(special, lane as u32, width))
                }),
            };
        }
        self.predicates.fill(0);
    }

    #[inline]
    pub fn word(&self, slot: Slot) -> &[u32; W] {
        &self.words[slot.index()]
    }

    #[inline]
    pub fn double(&self, slot: Slot) -> &[u64; W] {
        &self.doubles[slot.index()]
    }

    #[inline]
    pub fn predicate(&self, slot: Slot) -> LaneMask {
        self.predicates[slot.index()]
    }

    #[inline]
    pub fn set_word(&mut self, slot: Slot, lanes: LaneMask, values: &[u32; W]) {
        let target = &mut self.words[slot.index()];
        if lanes == full::<W>() {
            *target = *values;
        } else {
            for lane in 0..W {
                if lanes >> lane & 1 == 1 {
                    target[lane] = values[lane];
                }
            }
        }
    }

    #[inline]
    pub fn set_double(&mut self, slot: Slot, lanes: LaneMask, values: &[u64; W]) {
        let target = &mut self.doubles[slot.index()];
        if lanes == full::<W>() {
            *target = *values;
        } else {
            for lane in 0..W {
                if lanes >> lane & 1 == 1 {
                    target[lane] = values[lane];
                }
            }
        }
    }

    #[inline]
    pub fn set_predicate(&mut self, slot: Slot, lanes: LaneMask, values: LaneMask) {
        let target = &mut self.predicates[slot.index()];
        *target = *target & !lanes | values & lanes;
    }
}

/// All lanes of a warp.
#[inline]
pub(crate) const fn full<const W: usize>() -> LaneMask {
    if W == 64 { LaneMask::MAX } else { (1 << W) - 1 }
}

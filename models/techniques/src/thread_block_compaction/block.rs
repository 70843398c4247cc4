//! The block-wide stack: which warps of a CTA run where, and where they meet again.
//!
//! Fung and Aamodt, HPCA 2011, section 3: an entry has a program counter, a meeting point and the warps formed for it. Warps of the top entry run; those that come
//! to a branch wait for the others of the entry, and each side of the branch gets warps of its own, a thread keeping its lane.

use warpwatt_gpu::trace::lanes;

/// Threads of a formed warp: from which warp of the program the thread of each lane comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Formed {
    /// The warp's slot in its CTA.
    pub slot: u8,
    lanes: u64,
    origins: [u8; Formed::WIDEST],
}

impl Formed {
    const WIDEST: usize = 64;
    const NONE: u8 = u8::MAX;

    pub fn empty(slot: u8) -> Self {
        Self {
            slot,
            lanes: 0,
            origins: [Self::NONE; Self::WIDEST],
        }
    }

    /// The warp of the program that the thread in a lane is of.
    pub fn origin(&self, lane: u32) -> Option<u8> {
        let origin = self.origins[lane as usize];
        (origin != Self::NONE).then_some(origin)
    }

    pub fn put(&mut self, lane: u32, origin: u8) {
        self.origins[lane as usize] = origin;
        self.lanes |= 1 << lane;
    }

    pub fn take(&mut self, lane: u32) {
        self.origins[lane as usize] = Self::NONE;
        self.lanes &= !(1 << lane);
    }

    /// Lanes with threads.
    pub fn lanes(&self) -> u64 {
        self.lanes
    }

    /// Whether its threads are of several warps of the program.
    pub fn is_mixed(&self) -> bool {
        let mut origins = lanes(self.lanes).filter_map(|lane| self.origin(lane));
        let first = origins.next();
        origins.any(|origin| Some(origin) != first)
    }
}

/// Where no lanes meet before they end.
pub(super) const NOWHERE: u32 = u32::MAX;

/// A place that warps run from.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub warps: Vec<Formed>,
    /// The instruction before which they wait.
    pub meets: u32,
}

impl Entry {
    /// Slots of its warps.
    pub fn slots(&self) -> u64 {
        self.warps
            .iter()
            .fold(0, |slots, warp| slots | 1 << warp.slot)
    }
}

/// The threads of `warps` for which `wanted(origin, lane)` holds, in as few warps as their lanes allow, in the first of their slots.
pub(super) fn compacted(warps: &[Formed], wanted: impl Fn(u8, u32) -> bool) -> Vec<Formed> {
    let mut formed: Vec<Formed> = Vec::new();
    let mut depth = [0_usize; Formed::WIDEST];
    for warp in warps {
        for lane in 0..Formed::WIDEST as u32 {
            let Some(origin) = warp.origin(lane).filter(|origin| wanted(*origin, lane)) else {
                continue;
            };
            let at = &mut depth[lane as usize];
            if *at == formed.len() {
                // No lane has more threads than there are warps.
                formed.push(Formed::empty(warps[*at].slot));
            }
            formed[*at].put(lane, origin);
            *at += 1;
        }
    }
    formed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_keep_their_lanes_and_fill_as_few_warps_as_they_can() {
        let whole: Vec<Formed> = (0..2)
            .map(|slot| {
                let mut warp = Formed::empty(slot);
                (0..4).for_each(|lane| warp.put(lane, slot));
                warp
            })
            .collect();
        // Warp 0 goes with lanes 0 and 1, warp 1 with lanes 1 and 2.
        let goes = |origin: u8, lane: u32| [[0, 1], [1, 2]][usize::from(origin)].contains(&lane);
        let formed = compacted(&whole, goes);
        assert_eq!(formed.len(), 2);
        assert_eq!((formed[0].lanes(), formed[1].lanes()), (0b111, 0b010));
        let from = |lane| formed[0].origin(lane);
        assert_eq!((from(0), from(1), from(2)), (Some(0), Some(0), Some(1)));
        assert_eq!(formed[1].origin(1), Some(1));
        let stays = compacted(&whole, |origin, lane| !goes(origin, lane));
        assert_eq!((stays[0].lanes(), stays[1].lanes()), (0b1101, 0b1000));
    }
}

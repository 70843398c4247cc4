//! How fast warps get on, by their age.
//!
//! Schedulers that do not take turns prefer older warps, so that how fast a warp gets on hangs on its place in the order of ages; where they take turns, all places
//! come out alike. What warps of all SMs did is taken together: what a single one did in a short time says little of it.

use std::collections::BTreeMap;

use super::Sm;

/// What of a pace is kept from one time that is measured to the next.
const KEPT: f64 = 0.98;

/// How fast warps get on, by how many an SM has and by their places in the order of ages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paces {
    of: BTreeMap<usize, Seen>,
}

/// What was seen of SMs with so many warps; what was seen earlier counts less.
#[derive(Clone, Debug)]
struct Seen {
    /// How often.
    times: f64,
    /// Instructions that were issued, from the oldest warp on.
    issued: Vec<f64>,
}

/// How far the warps of an SM were when they were seen last: by slot, the number of the placement and what was issued since.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places(Vec<(u64, u64)>);

impl Paces {
    /// What follows is seen later.
    pub fn fade(&mut self) {
        for seen in self.of.values_mut() {
            seen.times *= KEPT;
            seen.issued.iter_mut().for_each(|issued| *issued *= KEPT);
        }
    }

    /// Warps of an SM have issued so much, from the oldest on.
    pub fn see(&mut self, issued: &[u64]) {
        let seen = self.of.entry(issued.len()).or_insert_with(|| Seen {
            times: 0.0,
            issued: vec![0.0; issued.len()],
        });
        seen.times += 1.0;
        for (sum, &issued) in seen.issued.iter_mut().zip(issued) {
            *sum += issued as f64;
        }
    }

    /// How fast so many warps of an SM get on, from the oldest one on; by what was seen of about as many, if these have not been.
    pub fn of(&self, warps: usize) -> Vec<f64> {
        let seen = self.of.iter().filter(|(count, _)| **count > 0);
        let Some((&count, seen)) = seen.min_by_key(|(count, _)| count.abs_diff(warps)) else {
            return vec![1.0; warps];
        };
        let place = |place| seen.issued[place * count / warps] / seen.times;
        (0..warps).map(place).collect()
    }
}

impl Sm {
    /// The slots of its warps, from the oldest one on.
    pub fn by_age(&self) -> Vec<usize> {
        let mut slots: Vec<usize> = self.live_slots().collect();
        slots.sort_unstable_by_key(|&slot| self.ages.placed[slot]);
        slots
    }

    /// What its warps have issued since they were seen last, from the oldest one on.
    pub fn issued_since(&self, places: &mut Places) -> Vec<u64> {
        places.0.resize(self.warps.len(), (0, 0));
        let slots = self.by_age().into_iter();
        let issued = slots.map(|slot| {
            let (age, (placed, before)) = (self.ages.placed[slot], places.0[slot]);
            self.warps[slot].issued - if age == placed { before } else { 0 }
        });
        let issued = issued.collect();
        let ages = self.ages.placed.iter().zip(&self.warps);
        for (place, (&placed, warp)) in places.0.iter_mut().zip(ages) {
            *place = (placed, warp.issued);
        }
        issued
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_warps_are_seen_apart_and_new_counts_go_by_near_ones() {
        let mut paces = Paces::default();
        assert_eq!(paces.of(2), [1.0, 1.0]);
        paces.see(&[30, 10]);
        paces.see(&[50, 30]);
        paces.fade();
        let near = |one: &[f64], other: &[f64]| {
            one.len() == other.len() && one.iter().zip(other).all(|(a, b)| (a - b).abs() < 1e-9)
        };
        assert!(near(&paces.of(2), &[40.0, 20.0]));
        assert!(near(&paces.of(4), &[40.0, 40.0, 20.0, 20.0]));
        // What comes later counts more.
        paces.see(&[0, 20]);
        assert!(paces.of(2)[0] < 80.0 / 3.0);
        assert!(paces.of(0).is_empty());
    }
}

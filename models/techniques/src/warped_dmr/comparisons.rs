//! Which results are compared with which: what faults of lanes are found by.

use warpwatt_gpu::GpuSpec;
use warpwatt_gpu::trace::LaneMask;

use super::WarpedDmr;
use super::lanes::Clusters;
use crate::{Compared, ResultCheck};

/// The comparisons of a GPU.
pub(super) struct Comparisons {
    settings: WarpedDmr,
    clusters: Clusters,
}

impl Comparisons {
    pub fn new(settings: &WarpedDmr, gpu: &GpuSpec) -> Self {
        Self {
            settings: settings.clone(),
            clusters: settings.clusters(gpu),
        }
    }

    /// An instruction that is executed again.
    fn again(&self, executed: LaneMask, lane: u32) -> Compared {
        let own = executed >> lane & 1 != 0;
        if !self.settings.shuffle {
            return Compared {
                here: own,
                ..Compared::default()
            };
        }
        Compared {
            elsewhere: own,
            here: false,
            others: executed & 1 << self.clusters.partner(lane),
        }
    }

    /// One that idle lanes repeat.
    fn beside(&self, executed: LaneMask, lane: u32) -> Compared {
        let repeated = |idle: u32| self.clusters.repeated_by(executed, idle);
        if executed >> lane & 1 == 0 {
            return Compared {
                others: repeated(lane).map_or(0, |other| 1 << other),
                ..Compared::default()
            };
        }
        let mut idle = self.clusters.neighbours(lane);
        let looks = |idle: u32| executed >> idle & 1 == 0 && repeated(idle) == Some(lane);
        Compared {
            elsewhere: idle.any(looks),
            ..Compared::default()
        }
    }
}

impl ResultCheck for Comparisons {
    fn compared(&self, executed: LaneMask, lane: u32) -> Compared {
        let within = self.settings.within(self.clusters.pair(executed));
        if self
            .settings
            .repeats(executed == self.clusters.all(), within)
        {
            self.again(executed, lane)
        } else if self.settings.intra {
            self.beside(executed, lane)
        } else {
            Compared::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LaneCheck, Technique};
    use warpwatt_gpu::presets;

    fn check(parameters: &str) -> Box<dyn ResultCheck> {
        let technique = super::super::DEFINITION.parse(&parameters.parse().unwrap());
        let technique: Box<dyn Technique> = technique.map_err(|_| "wrong parameters").unwrap();
        let spec = presets()[0].spec().unwrap();
        match technique.lane_check(&spec) {
            Some(LaneCheck::Results(check)) => check,
            _ => panic!("it compares results"),
        }
    }

    const ALL: LaneMask = 0xffff_ffff;

    #[test]
    fn whole_warps_are_checked_by_the_neighbour_or_by_the_lane_itself() {
        let shuffled = check("mapping = \"in_order\"").compared(ALL, 6);
        let other = Compared {
            elsewhere: true,
            here: false,
            others: 1 << 7,
        };
        assert_eq!(shuffled, other);
        let around = check("").compared(ALL, 6);
        assert_eq!(
            around.others,
            1 << 14,
            "eight clusters: thread 14 is on the next lane"
        );
        let itself = Compared {
            here: true,
            ..Compared::default()
        };
        assert_eq!(check("shuffle = false").compared(ALL, 6), itself);
    }

    #[test]
    fn idle_lanes_check_whom_they_forward() {
        let check = check("mapping = \"in_order\"");
        let two = 0b0011;
        assert!(check.compared(two, 0).elsewhere && check.compared(two, 1).elsewhere);
        assert_eq!(check.compared(two, 2).others, 1 << 0);
        assert_eq!(check.compared(two, 3).others, 1 << 1);
        let three = 0b0111;
        let found = [0, 1, 2].map(|lane| check.compared(three, lane).elsewhere);
        assert_eq!(found, [false, false, true]);
        assert_eq!(
            check.compared(two, 8),
            Compared::default(),
            "of another cluster"
        );
    }

    /// What is compared is what coverage counts, whatever executes.
    #[test]
    fn as_many_lanes_are_compared_as_coverage_counts() {
        let spec = presets()[0].spec().unwrap();
        for parameters in ["", "enhanced = true", "inter = false", "cluster_lanes = 8"] {
            let check = check(parameters);
            let parsed = super::super::DEFINITION.parse(&parameters.parse().unwrap());
            assert!(parsed.is_ok());
            let lanes = if parameters.contains('8') { 8 } else { 4 };
            let clusters =
                Clusters::new(spec.sm.warp_width, lanes, super::super::Mapping::RoundRobin);
            let mut mask: LaneMask = 1;
            for _ in 0..200 {
                mask = mask.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1) & ALL;
                let compared = (0..32).filter(|lane| check.compared(mask, *lane).elsewhere);
                let pairs = clusters.pair(mask);
                let again = mask == ALL && parameters != "inter = false"
                    || parameters == "enhanced = true" && pairs.verified < pairs.active;
                let counted = if again { pairs.active } else { pairs.verified };
                assert_eq!(compared.count() as u32, counted, "{parameters}: {mask:x}");
            }
        }
    }
}

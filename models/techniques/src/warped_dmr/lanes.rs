//! Which idle lanes repeat what active ones do: clusters of lanes, how threads go to them, and the register forwarding unit.

use warpwatt_gpu::trace::LaneMask;

/// How threads of a warp go to lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mapping {
    /// Thread k is on lane k: neighbours share a cluster.
    InOrder,
    /// Threads go around the clusters (section 4.4.2).
    RoundRobin,
}

/// The lanes of an SM, cluster by cluster.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clusters {
    lanes: u32,
    count: u32,
    mapping: Mapping,
}

/// What the forwarding units make of a warp's lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pairing {
    /// Active lanes.
    pub active: u32,
    /// Those that an idle lane repeats.
    pub verified: u32,
    /// Idle lanes that repeat one; several may repeat the same.
    pub repeating: u32,
    /// Clusters with an active lane.
    pub working: u32,
    /// Clusters with a pair.
    pub comparing: u32,
}

impl Clusters {
    /// Clusters of `lanes` lanes each for a warp of `width`.
    pub fn new(width: u32, lanes: u32, mapping: Mapping) -> Self {
        Self {
            lanes,
            count: width / lanes,
            mapping,
        }
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// All lanes of the warp.
    pub fn all(&self) -> LaneMask {
        LaneMask::MAX >> (LaneMask::BITS - self.lanes * self.count)
    }

    /// Every idle lane repeats the first active lane in its order of table 4.1.
    pub fn pair(&self, threads: LaneMask) -> Pairing {
        let mut sum = Pairing::default();
        for cluster in 0..self.count {
            let active = self.gather(threads, cluster);
            let (verified, repeating) = forward(active, self.lanes);
            sum.active += active.count_ones();
            sum.verified += verified.count_ones();
            sum.repeating += repeating;
            sum.working += u32::from(active != 0);
            sum.comparing += u32::from(repeating != 0);
        }
        sum
    }

    /// The lanes of a cluster that execute.
    fn gather(&self, threads: LaneMask, cluster: u32) -> u32 {
        (0..self.lanes).fold(0, |mask, lane| {
            mask | ((threads >> self.thread(cluster, lane)) as u32 & 1) << lane
        })
    }

    /// The thread that executes on a lane of a cluster.
    fn thread(&self, cluster: u32, lane: u32) -> u32 {
        match self.mapping {
            Mapping::InOrder => cluster * self.lanes + lane,
            Mapping::RoundRobin => lane * self.count + cluster,
        }
    }

    /// The cluster, and the lane in it, on which a thread executes.
    fn place(&self, thread: u32) -> (u32, u32) {
        match self.mapping {
            Mapping::InOrder => (thread / self.lanes, thread % self.lanes),
            Mapping::RoundRobin => (thread % self.count, thread / self.count),
        }
    }

    /// The thread of the lane to which second executions of `thread` go when lanes are shuffled, and the other way round: the lane's second choice of table 4.1.
    pub fn partner(&self, thread: u32) -> u32 {
        let (cluster, lane) = self.place(thread);
        self.thread(cluster, lane ^ 1)
    }

    /// The thread whose work the lane of `idle` repeats while `threads` execute.
    pub fn repeated_by(&self, threads: LaneMask, idle: u32) -> Option<u32> {
        let (cluster, lane) = self.place(idle);
        let chosen = choice(self.gather(threads, cluster), self.lanes, lane)?;
        Some(self.thread(cluster, chosen))
    }

    /// The threads whose lanes lie in the cluster of that of `thread`.
    pub fn neighbours(&self, thread: u32) -> impl Iterator<Item = u32> {
        let (cluster, _) = self.place(thread);
        let clusters = *self;
        (0..self.lanes).map(move |lane| clusters.thread(cluster, lane))
    }
}

/// Multiplexer i passes the first active lane of i, i^1, i^2, ... on (table 4.1, and the same rule for larger clusters): active lanes that an idle one repeats,
/// and how many idle ones do.
fn forward(active: u32, lanes: u32) -> (u32, u32) {
    let (mut verified, mut repeating) = (0, 0);
    for idle in (0..lanes).filter(|lane| active >> lane & 1 == 0) {
        if let Some(chosen) = choice(active, lanes, idle) {
            verified |= 1 << chosen;
            repeating += 1;
        }
    }
    (verified, repeating)
}

/// The active lane that idle lane `idle` repeats.
fn choice(active: u32, lanes: u32, idle: u32) -> Option<u32> {
    let mut choices = (1..lanes).map(|choice| idle ^ choice);
    choices.find(|lane| active >> lane & 1 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's example: threads 0 and 1 are active, lanes 2 and 3 repeat them.
    #[test]
    fn lanes_two_and_three_repeat_lanes_zero_and_one() {
        assert_eq!(forward(0b0011, 4), (0b0011, 2));
        assert_eq!(forward(0b0111, 4), (0b0100, 1), "lane 3 looks at 2 first");
        assert_eq!(forward(0b0100, 4), (0b0100, 3), "more than dual");
        assert_eq!(forward(0b1111, 4), (0, 0));
        assert_eq!(forward(0, 4), (0, 0));
    }

    /// Section 4.3.3: all of them up to half, and then as many as there are idle ones.
    #[test]
    fn clusters_of_four_verify_as_many_as_they_can() {
        for active in 0..16_u32 {
            let (verified, _) = forward(active, 4);
            let idle = 4 - active.count_ones();
            assert_eq!(verified.count_ones(), active.count_ones().min(idle));
            assert_eq!(verified & !active, 0);
        }
    }

    /// The priorities leave pairs of larger clusters unused: of four neighbours and one more, only that one is found.
    #[test]
    fn clusters_of_eight_may_repeat_one_lane_often() {
        assert_eq!(forward(0b0000_1111, 8).0, 0b0000_1111);
        assert_eq!(forward(0b0001_0111, 8), (0b0001_0100, 4));
    }

    #[test]
    fn threads_go_to_neighbouring_lanes_or_around_the_clusters() {
        let half = 0x0000_ffff;
        let of = |mapping| Clusters::new(32, 4, mapping).pair(half);
        assert_eq!(
            of(Mapping::InOrder),
            Pairing {
                active: 16,
                verified: 0,
                repeating: 0,
                working: 4,
                comparing: 0
            }
        );
        assert_eq!(
            of(Mapping::RoundRobin),
            Pairing {
                active: 16,
                verified: 16,
                repeating: 16,
                working: 8,
                comparing: 8
            }
        );
    }
}

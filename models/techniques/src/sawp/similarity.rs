//! How alike the instructions of an SM's buffer are.

use warpwatt_activity::Activity;
use warpwatt_gpu::{FetchEvent, FetchObserver};

/// How many different instructions the buffer holds, over time (figure 3). It is the same for every table beside the buffer.
#[derive(Clone, Debug, Default)]
pub(super) struct Similarity {
    /// Those that it holds, and in how many slots.
    held: Vec<(u64, u32)>,
    since: u64,
    /// Cycles with so many different ones.
    cycles: Vec<u64>,
}

impl Similarity {
    fn pass(&mut self, cycle: u64) {
        let unique = self.held.len();
        self.cycles.resize(self.cycles.len().max(unique + 1), 0);
        self.cycles[unique] += cycle.saturating_sub(self.since);
        self.since = self.since.max(cycle);
    }

    fn added(&mut self, pc: u64, cycle: u64) {
        self.pass(cycle);
        match self.held.iter_mut().find(|(held, _)| *held == pc) {
            Some((_, slots)) => *slots += 1,
            None => self.held.push((pc, 1)),
        }
    }

    fn removed(&mut self, pc: u64, cycle: u64) {
        self.pass(cycle);
        if let Some(place) = self.held.iter().position(|(held, _)| *held == pc) {
            self.held[place].1 -= 1;
            if self.held[place].1 == 0 {
                self.held.swap_remove(place);
            }
        }
    }
}

impl FetchObserver for Similarity {
    fn buffered(&mut self, event: FetchEvent) {
        self.added(event.pc, event.cycle);
    }

    fn issued(&mut self, event: FetchEvent) {
        self.removed(event.pc, event.cycle);
    }

    fn report(&self, activity: &mut Activity) {
        for (unique, &cycles) in self.cycles.iter().enumerate().skip(1) {
            activity.add(&super::unique(unique), cycles);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_put_down_to_the_number_of_different_instructions() {
        let mut similarity = Similarity::default();
        similarity.added(8, 10);
        similarity.added(8, 12);
        similarity.added(16, 15);
        similarity.removed(8, 16);
        similarity.removed(8, 20);
        similarity.removed(16, 21);
        let mut activity = Activity::new();
        similarity.report(&mut activity);
        assert_eq!(activity.get("sawp_unique_1"), 5 + 1);
        assert_eq!(activity.get("sawp_unique_2"), 5);
        assert_eq!(activity.get("sawp_unique_3"), 0);
    }
}

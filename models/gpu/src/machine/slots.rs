//! When the block dispatcher can place the next CTA: it places so many in so many cycles, on all SMs together.

use crate::spec::GpuSpec;

/// The moments at which CTAs are placed. Whoever asks does so in the order of time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slots {
    /// CTAs of a turn.
    per_turn: u32,
    /// Cycles of a turn.
    cycles: u64,
    /// When the last turn began.
    turn: u64,
    /// CTAs placed in it.
    placed: u32,
}

impl Slots {
    /// Those of a dispatcher that has placed nothing.
    pub(super) fn of(spec: &GpuSpec) -> Self {
        Self {
            per_turn: spec.sm.dispatch_per_cycle,
            cycles: u64::from(spec.sm.dispatch_cycles),
            turn: 0,
            placed: 0,
        }
    }

    /// When a CTA is placed for which there is room from `ready` on.
    pub(super) fn next(&mut self, ready: u64) -> u64 {
        if ready >= self.turn + self.cycles {
            (self.turn, self.placed) = (ready, 0);
        } else if self.placed == self.per_turn {
            (self.turn, self.placed) = (self.turn + self.cycles, 0);
        }
        self.placed += 1;
        ready.max(self.turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(turn: (u32, u64), ready: &[u64]) -> Vec<u64> {
        let mut slots = Slots {
            per_turn: turn.0,
            cycles: turn.1,
            ..Slots::default()
        };
        ready.iter().map(|ready| slots.next(*ready)).collect()
    }

    #[test]
    fn a_turn_takes_no_more_than_its_ctas() {
        assert_eq!(placed((1, 1), &[7, 7, 7]), [7, 8, 9]);
        assert_eq!(placed((2, 1), &[7, 7, 7]), [7, 7, 8]);
        assert_eq!(placed((2, 3), &[7, 7, 7, 7, 7]), [7, 7, 10, 10, 13]);
    }

    #[test]
    fn an_idle_dispatcher_places_at_once() {
        assert_eq!(placed((1, 6), &[0, 100, 101, 104]), [0, 100, 106, 112]);
        assert_eq!(placed((2, 6), &[100, 104]), [100, 104]);
    }
}

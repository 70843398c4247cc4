//! When flips are noticed, and the bit-cycles that come of it.

use crate::residency::{Outcome, Residency};

/// What a protection makes of flips during a part of a residency; outside of it they stay silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cover {
    /// What comes of a flip.
    pub outcome: Outcome,
    /// Of how many of the bits; more than there are means all of them.
    pub bits: u32,
    /// From this cycle on.
    pub from: u64,
    /// Before this cycle.
    pub to: u64,
}

impl Cover {
    /// All bits, all the time.
    pub fn always(outcome: Outcome) -> Self {
        Self {
            outcome,
            bits: u32::MAX,
            from: 0,
            to: u64::MAX,
        }
    }
}

/// Bit-cycles of which a flip is detected, and of which it is corrected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Noticed {
    pub detected: u128,
    pub corrected: u128,
}

/// Puts a residency down to the best that covers make of it, cycle by cycle. Of covers of a part of the bits, the larger contains the smaller: who covers which
/// bits is not said, and the least that it can be counts.
pub(crate) fn noticed(residency: &Residency, covers: &mut Vec<Cover>) -> Noticed {
    covers.retain(|it| it.from < residency.to && it.to > residency.from);
    covers.sort_by_key(|cover| cover.from);
    let mut ends: Vec<u64> = covers.iter().flat_map(|it| [it.from, it.to]).collect();
    ends.push(residency.to);
    ends.retain(|end| (residency.from + 1..=residency.to).contains(end));
    ends.sort_unstable();
    ends.dedup();
    let mut found = Noticed::default();
    let (mut from, mut coming) = (residency.from, covers.as_slice());
    let mut open: Vec<Cover> = Vec::new();
    for to in ends {
        let begun = coming.partition_point(|cover| cover.from <= from);
        open.extend_from_slice(&coming[..begun]);
        coming = &coming[begun..];
        open.retain(|cover| cover.to > from);
        let most = |outcome: Outcome| {
            let of = open.iter().filter(|cover| cover.outcome >= outcome);
            let bits = of.map(|cover| cover.bits).max().unwrap_or(0);
            u128::from(bits.min(residency.bits))
        };
        let corrected = most(Outcome::Corrected);
        let detected = most(Outcome::Detected) - corrected;
        let cycles = u128::from(to - from);
        found.corrected += corrected * cycles;
        found.detected += detected * cycles;
        from = to;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Structure;
    use proptest::prelude::*;

    fn held(bits: u32, from: u64, to: u64) -> Residency {
        Residency {
            structure: Structure::RegisterFile,
            warp: 0,
            entry: 0,
            bits,
            from,
            to,
        }
    }

    fn cover(outcome: Outcome, bits: u32, from: u64, to: u64) -> Cover {
        Cover {
            outcome,
            bits,
            from,
            to,
        }
    }

    #[test]
    fn parts_of_the_bits_and_of_the_time_are_covered() {
        use Outcome::{Corrected, Detected};
        let of = |mut covers: Vec<Cover>| {
            let found = noticed(&held(8, 10, 20), &mut covers);
            (found.detected, found.corrected)
        };
        assert_eq!(of(vec![]), (0, 0));
        assert_eq!(of(vec![cover(Corrected, 3, 0, 15)]), (0, 15));
        let both = vec![cover(Detected, 100, 12, 18), cover(Corrected, 2, 14, 100)];
        assert_eq!(of(both), (8 * 2 + 6 * 4, 2 * 6));
        let apart = vec![cover(Corrected, 8, 16, 17), cover(Corrected, 8, 11, 13)];
        assert_eq!(of(apart), (0, 8 * 3));
        assert_eq!(of(vec![cover(Outcome::Silent, 8, 0, 100)]), (0, 0));
        assert_eq!(of(vec![cover(Corrected, 8, 20, 100)]), (0, 0));
    }

    proptest! {
        /// The sweep is what one finds cycle by cycle.
        #[test]
        fn a_sweep_is_as_good_as_looking_at_every_cycle(
            all in prop::collection::vec((0u8..3, 0u32..12, 0u64..30, 0u64..20), 0..8),
        ) {
            let outcomes = [Outcome::Silent, Outcome::Detected, Outcome::Corrected];
            let mut covers: Vec<Cover> = all
                .iter()
                .map(|&(outcome, bits, from, length)| cover(outcomes[usize::from(outcome)], bits, from, from + length))
                .collect();
            let residency = held(9, 5, 35);
            let mut expected = Noticed::default();
            for cycle in 5..35 {
                let most = |least: Outcome| {
                    let at = covers.iter().filter(|it| it.outcome >= least && (it.from..it.to).contains(&cycle));
                    u128::from(at.map(|it| it.bits.min(9)).max().unwrap_or(0))
                };
                let corrected = most(Outcome::Corrected);
                expected.corrected += corrected;
                expected.detected += most(Outcome::Detected) - corrected;
            }
            prop_assert_eq!(noticed(&residency, &mut covers), expected);
        }
    }
}

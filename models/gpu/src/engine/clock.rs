//! Another clock seen from the SM clock, exactly.

/// The edges of a clock against the cycles of the SM clock. Edge k of a clock of frequency f lies at time k / f; both clocks start together. Every
/// conversion starts from a cycle number, so that nothing is ever rounded twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockRatio {
    core: u64,
    other: u64,
}

impl ClockRatio {
    /// A clock of `other_mhz` against an SM clock of `core_mhz`.
    pub fn new(core_mhz: u32, other_mhz: u32) -> Self {
        let divisor = gcd(core_mhz, other_mhz).max(1);
        Self {
            core: u64::from(core_mhz / divisor),
            other: u64::from(other_mhz / divisor),
        }
    }

    /// The first edge of the other clock at or after the SM's cycle.
    #[inline]
    pub fn edge(self, core_cycle: u64) -> u64 {
        divide_up(core_cycle * self.other, self.core)
    }

    /// The first cycle of the SM clock at or after the other clock's edge.
    #[inline]
    pub fn core_cycle(self, edge: u64) -> u64 {
        divide_up(edge * self.core, self.other)
    }
}

/// Most ratios of clocks have a power of two on one side, and a shift is several times faster than a division.
#[inline]
fn divide_up(value: u64, divisor: u64) -> u64 {
    if divisor.is_power_of_two() {
        (value + divisor - 1) >> divisor.trailing_zeros()
    } else {
        value.div_ceil(divisor)
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn half_the_clock_has_every_second_edge() {
        let noc = ClockRatio::new(1300, 650);
        assert_eq!([0, 1, 2, 3].map(|cycle| noc.edge(cycle)), [0, 1, 1, 2]);
        assert_eq!([0, 1, 2].map(|edge| noc.core_cycle(edge)), [0, 2, 4]);
    }

    #[test]
    fn nothing_drifts() {
        let dram = ClockRatio::new(1300, 800);
        assert_eq!(dram.core_cycle(8_000_000_000), 13_000_000_000);
        assert_eq!(dram.edge(13_000_000_000), 8_000_000_000);
    }

    proptest! {
        #[test]
        fn an_edge_is_the_first_at_or_after_a_cycle(core in 1u32..5000, other in 1u32..5000, cycle in 0u64..1 << 40) {
            let clock = ClockRatio::new(core, other);
            let edge = clock.edge(cycle);
            let (core, other) = (u128::from(core), u128::from(other));
            prop_assert!(u128::from(edge) * core >= u128::from(cycle) * other, "not before");
            prop_assert!(edge == 0 || u128::from(edge - 1) * core < u128::from(cycle) * other, "the first");
            prop_assert!(clock.core_cycle(edge) >= cycle);
        }
    }
}

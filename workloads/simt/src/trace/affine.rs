//! Addresses at a common distance, as most accesses of most kernels have them.

use super::{LaneMask, lanes};

/// Lane k's address is `base + k * stride`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Affine {
    /// Address of lane 0, whether or not it executes.
    pub base: u64,
    /// Bytes between neighbouring lanes; zero if all addresses are the same, and for a single lane.
    pub stride: i64,
}

impl Affine {
    /// A lane's address.
    #[inline]
    pub fn at(self, lane: u32) -> u64 {
        self.base
            .wrapping_add_signed(self.stride.wrapping_mul(i64::from(lane)))
    }

    /// The rule that the addresses of the executed lanes follow, if they follow one. At least one lane executes.
    #[inline]
    pub fn of<const W: usize>(executed: LaneMask, addresses: &[u64; W]) -> Option<Self> {
        if W > 1 && executed.count_zeros() == 64 - W as u32 {
            Self::of_all(addresses)
        } else {
            Self::of_some(executed, addresses)
        }
    }

    /// The rules of neighbouring sixteens of lanes, if all lanes execute and each sixteen has one: what blocks of sixteen threads a row make.
    #[inline]
    pub fn of_sixteens<const W: usize>(
        executed: LaneMask,
        addresses: &[u64; W],
    ) -> Option<impl Iterator<Item = (LaneMask, Self)>> {
        let mut rules = [None; 4];
        if executed.count_zeros() != 64 - W as u32 {
            return None;
        }
        let sixteens = addresses.as_chunks::<16>().0;
        for (at, (rule, addresses)) in rules.iter_mut().zip(sixteens).enumerate() {
            let found = Self::of_all(addresses)?;
            let before = found.stride.wrapping_mul(16 * at as i64);
            *rule = Some((
                0xffff << (16 * at),
                Self {
                    base: found.base.wrapping_sub(before as u64),
                    ..found
                },
            ));
        }
        Some(rules.into_iter().flatten())
    }

    /// All lanes execute: their differences are compared without a branch.
    fn of_all<const W: usize>(addresses: &[u64; W]) -> Option<Self> {
        let base = addresses[0];
        let stride = addresses[1].wrapping_sub(base);
        let differing = addresses.windows(2).fold(0, |differing, pair| {
            differing | (pair[1].wrapping_sub(pair[0]) ^ stride)
        });
        (differing == 0).then_some(Self {
            base,
            stride: stride as i64,
        })
    }

    /// As [`of`](Self::of), lane by lane.
    pub fn of_some(executed: LaneMask, addresses: &[u64]) -> Option<Self> {
        let first = executed.trailing_zeros();
        let start = addresses[first as usize];
        let rest = executed & (executed - 1);
        if rest == 0 {
            return Some(Self {
                base: start,
                stride: 0,
            });
        }
        let second = rest.trailing_zeros();
        let distance = addresses[second as usize].wrapping_sub(start) as i64;
        let stride = match i64::from(second - first) {
            1 => distance,
            gap if distance % gap == 0 => distance / gap,
            _ => return None,
        };
        let rule = Self {
            base: start.wrapping_sub(stride.wrapping_mul(i64::from(first)) as u64),
            stride,
        };
        lanes(rest)
            .all(|lane| addresses[lane as usize] == rule.at(lane))
            .then_some(rule)
    }
}

//! Memory that the lanes of a warp reach at a common distance: one look-up and one check of the bounds for all of them.

use warpwatt_ptx::types::Space;

use crate::memory::Memories;
use crate::trace::{Affine, LaneMask};

/// The lanes that access, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    pub executed: LaneMask,
    pub rule: Affine,
    /// Bytes that a lane accesses: a power of two, and what addresses must be multiples of.
    pub bytes: usize,
}

/// Bytes of which lane k's begin at `first + k * step`; those of the executed lanes lie inside.
pub(crate) struct Span<'m> {
    pub bytes: &'m mut [u8],
    first: usize,
    step: usize,
}

/// Farther apart than any two bytes of a memory, and few enough that 64 such steps do not overflow.
const MAX_STRIDE: u64 = 1 << 40;

impl Reach {
    /// The lowest and the highest executed lane.
    fn ends(self) -> [u32; 2] {
        [
            self.executed.trailing_zeros(),
            LaneMask::BITS - 1 - self.executed.leading_zeros(),
        ]
    }

    /// The lowest and the highest address, if all are aligned and in order.
    fn bounds(self) -> Option<[u64; 2]> {
        let Affine { base, stride } = self.rule;
        let [low, high] = self.ends().map(|lane| self.rule.at(lane));
        let aligned = (base | stride as u64) & (self.bytes as u64 - 1) == 0;
        let [low, high] = if stride < 0 { [high, low] } else { [low, high] };
        (aligned && low <= high && stride.unsigned_abs() < MAX_STRIDE).then_some([low, high])
    }
}

impl Span<'_> {
    /// Where a lane's bytes begin.
    #[inline]
    pub fn at(&self, lane: usize) -> usize {
        self.first.wrapping_add(self.step.wrapping_mul(lane))
    }

    /// All lanes access the same bytes.
    pub fn is_uniform(&self) -> bool {
        self.step == 0
    }

    /// The bytes of `lanes` lanes from `first` on, if each begins where the one before it ends.
    pub fn row<const N: usize>(&mut self, first: usize, lanes: usize) -> Option<&mut [[u8; N]]> {
        if self.step != N {
            return None;
        }
        let start = self.at(first);
        let bytes = self.bytes.get_mut(start..start + N * lanes)?;
        Some(bytes.as_chunks_mut().0)
    }
}

impl Memories<'_> {
    /// The memory that the lanes reach, if they all do and in one range; what else there may be is left to a look at each lane.
    pub fn span(&mut self, space: Space, reach: Reach) -> Option<Span<'_>> {
        let [low, high] = reach.bounds()?;
        let (space, window) = match space {
            Space::Generic => {
                let actual = Space::of(low);
                if Space::of(high) != actual {
                    return None;
                }
                (actual, actual.window_base())
            }
            space => (space, 0),
        };
        let offset = low.checked_sub(window)?;
        let last = high.checked_sub(window)?.checked_add(reach.bytes as u64)?;
        if space == Space::Local {
            return self.local_span(reach, offset, last);
        }
        let (start, bytes) = self.range(space, 0, offset)?;
        if last - start > bytes.len() as u64 {
            return None;
        }
        let base = reach.rule.base.wrapping_sub(window).wrapping_sub(start);
        Some(Span {
            bytes,
            first: base as usize,
            step: reach.rule.stride as usize,
        })
    }

    /// Each lane's memory is its own: the same address in all of them is a rule, too.
    fn local_span(&mut self, reach: Reach, offset: u64, last: u64) -> Option<Span<'_>> {
        let single = reach.executed.is_power_of_two();
        let (bytes, stride) = self.local.all();
        let possible = reach.rule.stride == 0 && !single && last <= stride;
        possible.then_some(Span {
            bytes,
            first: offset as usize,
            step: stride as usize,
        })
    }
}

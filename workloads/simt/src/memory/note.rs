//! Which device memory the lanes of a warp reach.

use warpwatt_ptx::types::Space;

use super::{Memories, View};
use crate::trace::{Affine, LaneMask, lanes};

/// The lanes that access, and their addresses.
pub(crate) struct Reached<'a, const W: usize> {
    pub executed: LaneMask,
    pub addresses: &'a [u64; W],
    /// The rule that the executed lanes' addresses follow, if one is known.
    pub rule: Option<Affine>,
}

impl<const W: usize> Reached<'_, W> {
    /// From the first byte to behind the last one, if the lanes reach all between them, `bytes` each.
    fn row(&self, bytes: u64) -> Option<[u64; 2]> {
        let rule = self.rule?;
        let first = self.executed.trailing_zeros();
        let count = self.executed.count_ones();
        let neighbours = self.executed >> first == LaneMask::MAX >> (LaneMask::BITS - count);
        let row = neighbours && rule.stride as u64 == bytes || rule.stride == 0;
        let last = self.addresses[(first + count - 1) as usize % W];
        row.then(|| {
            let start = self.addresses[first as usize];
            let end = if rule.stride == 0 { start } else { last };
            [start, end.saturating_add(bytes)]
        })
    }
}

impl Memories<'_> {
    /// Notes what lanes read or wrote, `bytes` each, where CTAs run before those in front of them have come to their end.
    #[inline]
    pub fn note<const W: usize>(
        &mut self,
        space: Space,
        bytes: u32,
        lanes: &Reached<'_, W>,
        written: bool,
    ) {
        if let Some(view) = self.device.view() {
            view.note_lanes(space, bytes.into(), lanes, written);
        }
    }
}

impl View {
    fn note_lanes<const W: usize>(
        &mut self,
        space: Space,
        bytes: u64,
        reached: &Reached<'_, W>,
        written: bool,
    ) {
        let reaches = |address: u64| match space {
            Space::Global => true,
            Space::Generic => Space::of(address) == Space::Global,
            _ => false,
        };
        if let Some([start, end]) = reached.row(bytes) {
            // No row of a warp is as long as what lies between two spaces.
            if reaches(start) {
                self.note(start, end, written);
            }
            return;
        }
        // Neighbours are noted together.
        let (mut start, mut end) = (0, 0);
        for lane in lanes(reached.executed) {
            let address = reached.addresses[lane as usize];
            if !reaches(address) {
                continue;
            }
            if address == end {
                end += bytes;
            } else if address < start || address.saturating_add(bytes) > end {
                self.note(start, end, written);
                (start, end) = (address, address.saturating_add(bytes));
            }
        }
        self.note(start, end, written);
    }
}

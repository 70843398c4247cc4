//! Which device memory the lanes of a warp reach.

use warpwatt_ptx::types::Space;

use super::View;
use crate::memory::Memories;
use crate::trace::{LaneMask, lanes};

impl Memories<'_> {
    /// Notes what lanes read or wrote, `bytes` each, where CTAs run before those in front of them have come to their end.
    #[inline]
    pub fn note<const W: usize>(
        &mut self,
        space: Space,
        bytes: u32,
        (executed, addresses): (LaneMask, &[u64; W]),
        written: bool,
    ) {
        if let Some(view) = self.device.view() {
            view.note_lanes(space, bytes.into(), (executed, addresses), written);
        }
    }
}

impl View {
    fn note_lanes<const W: usize>(
        &mut self,
        space: Space,
        bytes: u64,
        (executed, addresses): (LaneMask, &[u64; W]),
        written: bool,
    ) {
        let reaches = |address: u64| match space {
            Space::Global => true,
            Space::Generic => Space::of(address) == Space::Global,
            _ => false,
        };
        // Neighbours are noted together.
        let (mut start, mut end) = (0, 0);
        for lane in lanes(executed) {
            let address = addresses[lane as usize];
            if !reaches(address) {
                continue;
            }
            if address == end {
                end += bytes;
            } else if address < start || address + bytes > end {
                self.note(start, end, written);
                (start, end) = (address, address + bytes);
            }
        }
        self.note(start, end, written);
    }
}

//! The address space of a kernel: buffers, and above them the object, the arguments, the dispatch packet and the scratch memory.

use warpwatt_simt::{DeviceMemory, Interrupt};

use crate::error::Cause;
use crate::object::IMAGE_BASE;
use crate::wave::{LANES, Longs, WaveFault};

/// Where the arguments lie.
pub(crate) const ARGUMENTS_BASE: u64 = 2 * IMAGE_BASE;

/// Where the dispatch packet lies.
pub(crate) const PACKET_BASE: u64 = 3 * IMAGE_BASE;

/// Where the scratch memory of a work-group lies.
pub(crate) const SCRATCH_BASE: u64 = 4 * IMAGE_BASE;

/// What a wavefront can reach.
pub(crate) struct World<'w> {
    pub device: &'w mut DeviceMemory,
    pub image: &'w [u8],
    pub arguments: &'w [u8],
    pub packet: &'w [u8],
    pub scratch: &'w mut [u8],
    pub share: &'w mut [u8],
    /// What may end the execution before its time.
    pub interrupt: Option<Interrupt>,
}

/// A range that is read.
fn within(base: u64, bytes: &[u8], address: u64, count: u32) -> Option<&[u8]> {
    let start = usize::try_from(address.checked_sub(base)?).ok()?;
    bytes.get(start..start.checked_add(count as usize)?)
}

impl World<'_> {
    /// Bytes for reading.
    pub fn read(&mut self, address: u64, count: u32) -> Result<&[u8], Cause> {
        let found = if address >= SCRATCH_BASE {
            within(SCRATCH_BASE, self.scratch, address, count)
        } else if address >= PACKET_BASE {
            within(PACKET_BASE, self.packet, address, count)
        } else if address >= ARGUMENTS_BASE {
            within(ARGUMENTS_BASE, self.arguments, address, count)
        } else if address >= IMAGE_BASE {
            within(IMAGE_BASE, self.image, address, count)
        } else {
            let whole =
                |(base, bytes): (u64, &mut [u8])| within(base, bytes, address, count).is_some();
            if !self.device.range_of(address).is_some_and(whole) {
                return Err(outside(address, count, self.device.near(address)));
            }
            let range = self.device.range_of(address);
            range.and_then(|(base, bytes)| within(base, bytes, address, count))
        };
        found.ok_or_else(|| outside(address, count, region(address).to_owned()))
    }

    /// A word of a buffer for each lane, if all lanes execute and their words lie one behind the other.
    #[inline]
    pub fn row(&mut self, (executed, addresses): (u64, &Longs)) -> Option<&mut [[u8; 4]]> {
        let first = addresses[0];
        let apart = addresses.iter().zip(0u64..).fold(0, |apart, (at, lane)| {
            apart | (at ^ first.wrapping_add(4 * lane))
        });
        if executed != u64::MAX || apart != 0 || first >= IMAGE_BASE {
            return None;
        }
        let (base, bytes) = self.device.range_of(first)?;
        let start = (first - base) as usize;
        let row = bytes.get_mut(start..start + 4 * LANES)?;
        Some(row.as_chunks_mut().0)
    }

    /// Calls `each` with the bytes at the address of each executing lane, lowest first.
    #[inline]
    pub fn for_each_lane(
        &mut self,
        (executed, addresses): (u64, &Longs),
        count: u32,
        mut each: impl FnMut(usize, &mut [u8]),
    ) -> Result<(), WaveFault> {
        let mut left = executed;
        while left != 0 {
            let first = left.trailing_zeros() as usize;
            let fault = |cause| WaveFault {
                cause,
                lane: Some(first as u32),
            };
            let address = addresses[first];
            let near = |device: &DeviceMemory| match address {
                0..IMAGE_BASE => device.near(address),
                _ => region(address).to_owned(),
            };
            let range = match address {
                SCRATCH_BASE.. => Some((SCRATCH_BASE, &mut *self.scratch)),
                IMAGE_BASE..SCRATCH_BASE => return Err(fault(Cause::ReadOnly(region(address)))),
                _ => self.device.range_of(address),
            };
            let before = left;
            if let Some((base, bytes)) = range {
                // Neighbours lie in the same buffer nearly always.
                while left != 0 {
                    let lane = left.trailing_zeros() as usize;
                    let start = addresses[lane].wrapping_sub(base) as usize;
                    let Some(place) = bytes.get_mut(start..start.saturating_add(count as usize))
                    else {
                        break;
                    };
                    each(lane, place);
                    left &= left - 1;
                }
            }
            if left == before {
                return Err(fault(outside(address, count, near(self.device))));
            }
        }
        Ok(())
    }
}

/// What lies at an address that no buffer has.
fn region(address: u64) -> &'static str {
    match address {
        0..IMAGE_BASE => "global",
        IMAGE_BASE..ARGUMENTS_BASE => "the object's",
        ARGUMENTS_BASE..PACKET_BASE => "the arguments'",
        PACKET_BASE..SCRATCH_BASE => "the dispatch packet's",
        _ => "the work-group's scratch",
    }
}

fn outside(address: u64, bytes: u32, near: String) -> Cause {
    let space = if address >= SCRATCH_BASE {
        "scratch"
    } else {
        "global"
    };
    Cause::OutOfBounds {
        space,
        address,
        bytes,
        near,
    }
}

//! Texture reads of a warp.

use warpwatt_ptx::program::{Inst, Sample};

use super::Warp;
use crate::error::Cause;
use crate::memory::{BadAccess, DeviceMemory};
use crate::texture::Texture;
use crate::trace::{LaneMask, lanes};

impl<const W: usize> Warp<W> {
    /// Reads the texture in each executed lane, and returns the address of the first texel of each: that of the texture where a lane reads
    /// only what lies outside.
    pub(super) fn texture(
        &mut self,
        sample: &Sample,
        inst: &Inst,
        executed: LaneMask,
        device: &mut DeviceMemory,
    ) -> Result<[u64; W], BadAccess> {
        let mut addresses = [0; W];
        let mut channels = [[0u32; W]; 4];
        for lane in lanes(executed) {
            let bad = |cause| BadAccess { lane, cause };
            let at = lane as usize;
            let handle = self.registers.double(inst.src[0])[at];
            let texture = device.texture(handle);
            let texture = *texture.ok_or_else(|| bad(Cause::NoTexture(handle)))?;
            let coordinates = self.coordinates(sample, inst, at);
            let (address, value) = read(&texture, sample, coordinates, device).map_err(bad)?;
            addresses[at] = address;
            for (channel, value) in channels.iter_mut().zip(value) {
                channel[at] = value;
            }
        }
        for (slot, values) in inst.dst.as_slice().iter().zip(&channels) {
            self.registers.set_word(*slot, executed, values);
        }
        Ok(addresses)
    }

    fn coordinates(&self, sample: &Sample, inst: &Inst, lane: usize) -> [u32; 3] {
        let mut coordinates = [0; 3];
        for (axis, coordinate) in coordinates.iter_mut().enumerate() {
            if axis < usize::from(sample.dimensions) {
                *coordinate = self.registers.word(inst.src[1 + axis])[lane];
            }
        }
        coordinates
    }
}

/// The address of the first texel that the coordinates name, and the four channels.
fn read(
    texture: &Texture,
    sample: &Sample,
    coordinates: [u32; 3],
    device: &mut DeviceMemory,
) -> Result<(u64, [u32; 4]), Cause> {
    let texels = if sample.integer {
        vec![(coordinates.map(|at| i64::from(at as i32)), 1.0)]
    } else {
        texture.sample(
            coordinates.map(f32::from_bits),
            usize::from(sample.dimensions),
        )
    };
    let mut first = None;
    let mut floats = [0.0f32; 4];
    let mut integers = [0; 4];
    for (texel, weight) in texels {
        let Some(address) = texture.at(texel) else {
            continue;
        };
        first = first.or(Some(address));
        let bytes = (texture.element.bytes() * texture.channels) as usize;
        let found = device
            .range_of(address)
            .and_then(|(base, range)| range.get((address - base) as usize..)?.get(..bytes));
        let Some(found) = found else {
            return Err(device.outside(address, bytes as u32));
        };
        let value = texture.decode(found);
        for (sum, channel) in floats.iter_mut().zip(value.floats) {
            *sum += weight * channel;
        }
        integers = value.integers;
    }
    let channels = if texture.gives_floats() {
        floats.map(f32::to_bits)
    } else {
        integers
    };
    Ok((first.unwrap_or(texture.address), channels))
}

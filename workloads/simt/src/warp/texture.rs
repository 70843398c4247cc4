//! Texture reads of a warp.

use warpwatt_ptx::program::{Geometry, Inst, Sample};

use super::Warp;
use crate::error::Cause;
use crate::memory::{BadAccess, DeviceMemory};
use crate::texture::{Texel, Texture};
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

    /// The layer, zero if there is none, and the coordinates.
    fn coordinates(&self, sample: &Sample, inst: &Inst, lane: usize) -> (u32, [u32; 3]) {
        let value = |at: usize| self.registers.word(inst.src[at])[lane];
        let layered = usize::from(sample.geometry.has_layers());
        let mut coordinates = [0; 3];
        for axis in 0..sample.geometry.coordinates() {
            coordinates[axis] = value(1 + layered + axis);
        }
        let layer = if layered == 1 { value(1) } else { 0 };
        (layer, coordinates)
    }
}

/// Where a sample is taken: the place along axes that are not interpolated, the coordinates along the others, and how many those are.
fn plane(
    texture: &Texture,
    sample: &Sample,
    layer: u32,
    coordinates: [f32; 3],
) -> ([i64; 3], [f32; 3], usize) {
    let layers = texture.extent[2];
    let clamped = |layer: u32, of: u32| i64::from(layer.min(of.saturating_sub(1)));
    match sample.geometry {
        Geometry::D1 => ([0; 3], coordinates, 1),
        Geometry::D2 => ([0; 3], coordinates, 2),
        Geometry::D3 => ([0; 3], coordinates, 3),
        Geometry::Layers1 => ([0, 0, clamped(layer, layers)], coordinates, 1),
        Geometry::Layers2 => ([0, 0, clamped(layer, layers)], coordinates, 2),
        Geometry::Cube | Geometry::Cubes => {
            let (face, [s, t]) = cube_face(coordinates);
            let size = if texture.normalized {
                [1.0; 2]
            } else {
                [texture.extent[0] as f32, texture.extent[1] as f32]
            };
            let z = clamped(layer, layers / 6) * 6 + face;
            ([0, 0, z], [s * size[0], t * size[1], 0.0], 2)
        }
    }
}

/// The face that a direction points to, and where on it from 0 to 1 (CUDA C++ Programming Guide, "Cubemap Textures").
fn cube_face([x, y, z]: [f32; 3]) -> (i64, [f32; 2]) {
    let [ax, ay, az] = [x, y, z].map(f32::abs);
    let (face, m, s, t) = if ax >= ay && ax >= az {
        if x >= 0.0 {
            (0, x, -z, -y)
        } else {
            (1, -x, z, -y)
        }
    } else if ay >= az {
        if y >= 0.0 {
            (2, y, x, z)
        } else {
            (3, -y, x, -z)
        }
    } else if z >= 0.0 {
        (4, z, x, -y)
    } else {
        (5, -z, -x, -y)
    };
    let at = |side: f32| {
        if m == 0.0 {
            0.5
        } else {
            (side / m + 1.0) / 2.0
        }
    };
    (face, [at(s), at(t)])
}

/// The address of the first texel that the coordinates name, and the four channels.
fn read(
    texture: &Texture,
    sample: &Sample,
    (layer, coordinates): (u32, [u32; 3]),
    device: &mut DeviceMemory,
) -> Result<(u64, [u32; 4]), Cause> {
    let (first, floats, dimensions) =
        plane(texture, sample, layer, coordinates.map(f32::from_bits));
    if let Some(channel) = sample.gather {
        return gathered(texture, texture.around(first, floats), channel, device);
    }
    let texels = if sample.integer {
        let mut texel = coordinates.map(|at| i64::from(at as i32));
        if sample.geometry.has_layers() {
            texel[2] = first[2];
        }
        vec![(texel, 1.0)]
    } else {
        texture.sample(first, floats, dimensions)
    };
    let mut found = None;
    let mut sums = [0.0f32; 4];
    let mut integers = [0; 4];
    for (texel, weight) in texels {
        let Some((address, value)) = fetch(texture, texel, device)? else {
            continue;
        };
        found = found.or(Some(address));
        for (sum, channel) in sums.iter_mut().zip(value.floats) {
            *sum += weight * channel;
        }
        integers = value.integers;
    }
    let channels = if texture.gives_floats() {
        sums.map(f32::to_bits)
    } else {
        integers
    };
    Ok((found.unwrap_or(texture.address), channels))
}

/// One channel of four texels.
fn gathered(
    texture: &Texture,
    texels: [[i64; 3]; 4],
    channel: u8,
    device: &mut DeviceMemory,
) -> Result<(u64, [u32; 4]), Cause> {
    let mut found = None;
    let mut values = [0; 4];
    for (value, texel) in values.iter_mut().zip(texels) {
        let Some((address, read)) = fetch(texture, texel, device)? else {
            continue;
        };
        found = found.or(Some(address));
        let at = usize::from(channel);
        *value = if texture.gives_floats() {
            read.floats[at].to_bits()
        } else {
            read.integers[at]
        };
    }
    Ok((found.unwrap_or(texture.address), values))
}

/// A texel and its address; `None` outside.
fn fetch(
    texture: &Texture,
    texel: [i64; 3],
    device: &mut DeviceMemory,
) -> Result<Option<(u64, Texel)>, Cause> {
    let Some(address) = texture.at(texel) else {
        return Ok(None);
    };
    let bytes = (texture.element.bytes() * texture.channels) as usize;
    let found = device
        .range_of(address)
        .and_then(|(base, range)| range.get((address - base) as usize..)?.get(..bytes));
    match found {
        Some(found) => Ok(Some((address, texture.decode(found)))),
        None => Err(device.outside(address, bytes as u32)),
    }
}

#[cfg(test)]
mod tests {
    use super::cube_face;

    #[test]
    fn directions_point_to_faces() {
        assert_eq!(cube_face([1.0, 0.0, 0.0]), (0, [0.5, 0.5]));
        assert_eq!(cube_face([-2.0, 1.0, 2.0]), (1, [1.0, 0.25]));
        assert_eq!(cube_face([0.0, 3.0, -3.0]), (2, [0.5, 0.0]));
        assert_eq!(cube_face([0.0, 0.0, -1.0]), (5, [0.5, 0.5]));
    }
}

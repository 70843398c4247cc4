//! Surfaces, and what kernels ask of images.

use warpwatt_ptx::program::{
    Access, Atomic, Geometry, ImageFact, Inst, Outside, SlotKind, Surface, SurfaceOp,
};
use warpwatt_ptx::types::{Space, Type};

use super::Warp;
use super::access::combine;
use crate::error::Cause;
use crate::memory::{BadAccess, DeviceMemory};
use crate::texture::Texture;
use crate::trace::{LaneMask, lanes};

impl<const W: usize> Warp<W> {
    /// Performs the instruction in each executed lane and returns the address of each: that of the surface where a lane stays outside.
    pub(super) fn surface(
        &mut self,
        how: &Surface,
        inst: &Inst,
        executed: LaneMask,
        device: &mut DeviceMemory,
    ) -> Result<[u64; W], BadAccess> {
        let mut addresses = [0; W];
        let mut loaded = [[0u64; W]; 4];
        for lane in lanes(executed) {
            let bad = |cause| BadAccess { lane, cause };
            let at = lane as usize;
            let image = self.image(inst, at, device).map_err(bad)?;
            let found = place(how, &image, self.position(how, inst, at)).map_err(bad)?;
            addresses[at] = found.unwrap_or(image.address);
            let Some(address) = found else { continue };
            let bytes = if how.pixels {
                image.element.bytes() * image.channels
            } else {
                how.bytes()
            };
            let range = device.range_of(address).and_then(|(base, range)| {
                range
                    .get_mut((address - base) as usize..)?
                    .get_mut(..bytes as usize)
            });
            let Some(range) = range else {
                return Err(bad(device.outside(address, bytes)));
            };
            let values = self.surface_values(how, inst, at);
            perform(how, &image, range, values, |number, value| {
                loaded[number][at] = value;
            });
        }
        for (slot, values) in inst.dst.as_slice().iter().zip(&loaded) {
            self.registers.set_extended(*slot, executed, values);
        }
        Ok(addresses)
    }

    fn image(&self, inst: &Inst, lane: usize, device: &DeviceMemory) -> Result<Texture, Cause> {
        let handle = self.registers.double(inst.src[0])[lane];
        let image = device.texture(handle);
        image.copied().ok_or(Cause::NoTexture(handle))
    }

    /// Coordinates x, y and z, where a layer is a z.
    fn position(&self, how: &Surface, inst: &Inst, lane: usize) -> [i64; 3] {
        let value = |at: usize| i64::from(self.registers.word(inst.src[at])[lane] as i32);
        match how.geometry {
            Geometry::D1 => [value(1), 0, 0],
            Geometry::D2 => [value(1), value(2), 0],
            Geometry::Layers1 => [value(2), 0, value(1)],
            Geometry::Layers2 => [value(2), value(3), value(1)],
            Geometry::D3 | Geometry::Cube | Geometry::Cubes => [value(1), value(2), value(3)],
        }
    }

    fn surface_values(&self, how: &Surface, inst: &Inst, lane: usize) -> [u64; 4] {
        let mut values = [0; 4];
        if how.op == SurfaceOp::Load {
            return values;
        }
        let own = &inst.src.as_slice()[inst.src.as_slice().len() - usize::from(how.count)..];
        for (value, slot) in values.iter_mut().zip(own) {
            *value = match slot.kind {
                SlotKind::Double => self.registers.double(*slot)[lane],
                _ => u64::from(self.registers.word(*slot)[lane]),
            };
        }
        values
    }

    /// `txq`, `suq`.
    pub(super) fn image_query(
        &mut self,
        fact: ImageFact,
        inst: &Inst,
        executed: LaneMask,
        device: &DeviceMemory,
    ) -> Result<(), BadAccess> {
        let mut values = [0; W];
        for lane in lanes(executed) {
            let image = self.image(inst, lane as usize, device);
            let image = image.map_err(|cause| BadAccess { lane, cause })?;
            values[lane as usize] = match fact {
                ImageFact::Width => image.extent[0],
                ImageFact::Height => image.extent[1],
                ImageFact::Depth | ImageFact::Layers => image.extent[2],
                ImageFact::One => 1,
                ImageFact::Normalized => u32::from(image.normalized),
            };
        }
        self.registers.set_word(inst.dst[0], executed, &values);
        Ok(())
    }
}

/// The address that a position names; `None` outside where that is allowed.
fn place(how: &Surface, image: &Texture, position: [i64; 3]) -> Result<Option<u64>, Cause> {
    let pixel = image.texel_bytes() as i64;
    let (unit, moved) = if how.pixels {
        (pixel, pixel)
    } else {
        (1, i64::from(how.bytes()))
    };
    let [x, y, z] = position;
    let mut place = [x.saturating_mul(unit), y, z];
    // The last places that hold the whole of what is moved.
    let last = [
        i64::from(image.extent[0]) * pixel - moved,
        i64::from(image.extent[1]) - 1,
        i64::from(image.extent[2]) - 1,
    ];
    for (at, last) in place.iter_mut().zip(last) {
        let inside = (0..=last).contains(at);
        match how.outside {
            _ if inside => {}
            Outside::Clamp if last >= 0 => *at = (*at).clamp(0, last),
            Outside::Zero => return Ok(None),
            _ => return Err(Cause::OutsideSurface { position }),
        }
    }
    let [x, y, z] = place.map(|at| at as u64);
    let row = z * u64::from(image.extent[1]) + y;
    let address = image.address + row * image.pitch + x;
    if !how.pixels && !address.is_multiple_of(u64::from(how.bytes())) {
        return Err(Cause::Misaligned {
            space: Space::Global,
            address,
            bytes: how.bytes(),
        });
    }
    Ok(Some(address))
}

fn perform(
    how: &Surface,
    image: &Texture,
    range: &mut [u8],
    values: [u64; 4],
    mut load: impl FnMut(usize, u64),
) {
    let read = |bytes: &[u8]| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    };
    if how.pixels && how.op == SurfaceOp::Store {
        return image.encode(values.map(|value| value as u32), range);
    }
    let size = how.element.bytes() as usize;
    for (number, chunk) in range.chunks_exact_mut(size).take(4).enumerate() {
        match how.op {
            SurfaceOp::Load => load(number, read(chunk)),
            SurfaceOp::Store => chunk.copy_from_slice(&values[number].to_le_bytes()[..size]),
            SurfaceOp::Reduce(op) => {
                let element = match how.element {
                    Type::B32 => Type::U32,
                    element => element,
                };
                let access = Access::of(Space::Global, element);
                let new = combine(&Atomic { op, access }, read(chunk), values[number], 0);
                chunk.copy_from_slice(&new.to_le_bytes()[..size]);
            }
        }
    }
}

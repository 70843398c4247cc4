//! Textures and surfaces: arrays and memory under handles that kernels are given.

use warpwatt_ptx::types::Type;
use warpwatt_simt::{Border, Filter, Texture};

use crate::error::{Code, Outcome};
use crate::gpu::Gpu;
use crate::memory::Format;
use crate::resource::Resource;

/// `cudaTextureDesc`, as far as it is read.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    /// Wrap (0), clamp (1), mirror (2), border (3), in each direction.
    pub address: [i32; 3],
    /// Point (0), linear (1).
    pub filter: i32,
    /// The element's type (0), normalized float (1).
    pub read: i32,
    srgb: i32,
    border: [f32; 4],
    /// Coordinates run from 0 to 1.
    pub normalized: i32,
}

/// The texels of a resource: address, extent, pitch, format.
struct Texels {
    address: u64,
    extent: [u64; 3],
    pitch: u64,
    format: Format,
}

impl Gpu {
    /// Makes a texture, or a surface if nothing is said of how it is sampled; its handle.
    ///
    /// # Errors
    /// The resource or its texels cannot be read.
    pub fn make_texture(&mut self, resource: &Resource, how: Option<&Sampling>) -> Outcome<u64> {
        let texels = self.texels(resource)?;
        let element = element(texels.format)?;
        let extent = texels.extent.map(|extent| u32::try_from(extent).ok());
        let [Some(x), Some(y), Some(z)] = extent else {
            return Err(Code::INVALID_VALUE);
        };
        let channels = texels.format.bits.iter().filter(|&&bits| bits > 0).count();
        let texture = Texture {
            address: texels.address,
            extent: [x, y, z],
            pitch: texels.pitch,
            element,
            channels: channels as u32,
            border: border(how.map_or(1, |how| how.address[0])),
            filter: match how {
                Some(how) if how.filter == 1 => Filter::Linear,
                _ => Filter::Nearest,
            },
            normalized: how.is_some_and(|how| how.normalized != 0),
            fractions: how.is_some_and(|how| how.read == 1) && !element.is_float(),
        };
        let handle = self.registry.handle();
        self.memory.device.bind_texture(handle, texture);
        self.textures.insert(handle, *resource);
        Ok(handle)
    }

    /// Unmakes a texture or surface.
    ///
    /// # Errors
    /// There is none.
    pub fn drop_texture(&mut self, handle: u64) -> Outcome {
        self.memory.device.unbind_texture(handle);
        let known = self.textures.remove(&handle);
        known.map(drop).ok_or(Code::INVALID_VALUE)
    }

    fn texels(&mut self, resource: &Resource) -> Outcome<Texels> {
        let texel = resource.format.bytes().max(1);
        match resource.kind {
            0 => {
                let array = self.memory.array(resource.first)?;
                Ok(Texels {
                    address: array.address,
                    extent: array.extent,
                    pitch: array.pitch(),
                    format: array.format,
                })
            }
            2 => Ok(Texels {
                address: resource.first,
                extent: [resource.sizes[0] / texel, 1, 1],
                pitch: resource.sizes[0],
                format: resource.format,
            }),
            3 => Ok(Texels {
                address: resource.first,
                extent: [resource.sizes[0], resource.sizes[1], 1],
                pitch: resource.sizes[2],
                format: resource.format,
            }),
            _ => Err(Code::NOT_SUPPORTED),
        }
    }
}

fn border(mode: i32) -> Border {
    match mode {
        0 => Border::Wrap,
        2 => Border::Mirror,
        3 => Border::Zero,
        _ => Border::Clamp,
    }
}

fn element(format: Format) -> Outcome<Type> {
    Ok(match (format.kind, format.bits[0]) {
        (0, 8) => Type::S8,
        (0, 16) => Type::S16,
        (0, 32) => Type::S32,
        (1, 8) => Type::U8,
        (1, 16) => Type::U16,
        (1, 32) => Type::U32,
        (2, 16) => Type::F16,
        (2, 32) => Type::F32,
        _ => return Err(Code::INVALID_CHANNEL),
    })
}

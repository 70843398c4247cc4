//! Texture and surface objects.

use super::entries;
use crate::error::Code;
use crate::foreign::{In, Out};
use crate::resource::Resource;
use crate::texture::Sampling;

entries! {
    cudaCreateTextureObject | cudaCreateTextureObject_v2: (to: Out<u64>, resource: In<Resource>, how: In<Sampling>, _view: u64) |gpu| {
        let handle = gpu.make_texture(&resource.get()?, Some(&how.get()?))?;
        to.put(handle)
    };
    cudaDestroyTextureObject: (handle: u64) |gpu| gpu.drop_texture(handle);
    cudaCreateSurfaceObject: (to: Out<u64>, resource: In<Resource>) |gpu| {
        let handle = gpu.make_texture(&resource.get()?, None)?;
        to.put(handle)
    };
    cudaDestroySurfaceObject: (handle: u64) |gpu| gpu.drop_texture(handle);
    cudaGetTextureObjectResourceDesc: (to: Out<Resource>, handle: u64) |gpu| {
        let found = gpu.textures.get(&handle).copied();
        to.put(found.ok_or(Code::INVALID_VALUE)?)
    };
}

//! Libraries that a program loads itself.

use super::entries;
use super::registration::any_image;
use crate::error::Code;
use crate::foreign::{In, Out, Text};
use crate::registry::Image;

entries! {
    cudaLibraryLoadData: (to: Out<u64>, code: In<u64>) |gpu| {
        let image = any_image(code.address())?;
        let unit = gpu.registry.add(image);
        gpu.load(unit)?;
        to.put(unit)
    };
    cudaLibraryLoadFromFile: (to: Out<u64>, file: Text) |gpu| {
        let bytes = std::fs::read(file.get()?).map_err(|_| Code::FILE_NOT_FOUND)?;
        let image = match crate::fatbin::container_bytes(&bytes) {
            // It stays as long as the program runs.
            Some(_) => Image::Containers(vec![Vec::leak(bytes)]),
            None => Image::Text(String::from_utf8(bytes).map_err(|_| Code::INVALID_IMAGE)?),
        };
        let unit = gpu.registry.add(image);
        gpu.load(unit)?;
        to.put(unit)
    };
    cudaLibraryUnload: (unit: u64) |gpu| {
        gpu.registry.remove(unit);
        Ok(())
    };
    cudaLibraryGetKernel: (to: Out<u64>, unit: u64, name: Text) |gpu| {
        let kernel = gpu.registry.kernel_named(unit, &name.get()?)?;
        to.put(kernel)
    };
    cudaLibraryGetKernelCount: (to: Out<u32>, unit: u64) |gpu| {
        let count = gpu.registry.read(unit)?.entries.len();
        to.put(count as u32)
    };
    cudaLibraryEnumerateKernels: (to: Out<u64>, most: u32, unit: u64) |gpu| {
        let entries = gpu.registry.read(unit)?.entries.iter();
        let names: Vec<String> = entries.take(most as usize).map(|entry| entry.name.clone()).collect();
        for (at, name) in names.iter().enumerate() {
            let kernel = gpu.registry.kernel_named(unit, name)?;
            to.put_at(at, kernel)?;
        }
        Ok(())
    };
    cudaLibraryGetGlobal: (to: Out<u64>, bytes: Out<u64>, unit: u64, name: Text) |gpu| {
        let place = gpu.registry.variable_named(unit, &name.get()?, &mut gpu.memory)?;
        bytes.put_if(place.bytes);
        to.put(place.device.ok_or(Code::INVALID_SYMBOL)?)
    };
}

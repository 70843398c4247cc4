//! What compilers put before `main`.

use super::entries;
use crate::channel::say;
use crate::error::{Code, Outcome};
use crate::fatbin::container_bytes;
use crate::foreign::{In, Text, image};
use crate::gpu::{Gpu, answer_even_if_broken};
use crate::registry::Image;

/// The first bytes of what a compiler passes: it points to the container.
const WRAPPER: u32 = 0x4662_43b1;

/// The version of a wrapper whose container holds what was linked, nothing if that was PTX, and which has a list of the containers that it was linked of.
const LINKED: u32 = 2;
/// Modules of a program at most: a list without an end is none.
const MOST_MODULES: usize = 1 << 16;

/// The container at an address.
pub(super) fn container(address: u64) -> Outcome<Image> {
    Ok(Image::Containers(vec![bytes(address)?]))
}

fn bytes(address: u64) -> Outcome<&'static [u8]> {
    let bytes = container_bytes(image(address, 16)?).ok_or(Code::INVALID_IMAGE)?;
    image(address, bytes)
}

/// What a wrapper at an address points to.
fn wrapped(address: u64) -> Outcome<Image> {
    let version = In::<u32>::at_address(address).get_at(1)?;
    let fields = In::<u64>::at_address(address);
    let list = match version {
        LINKED => fields.get_at(2)?,
        _ => 0,
    };
    if list == 0 {
        return container(fields.get_at(1)?);
    }
    let list = In::<u64>::at_address(list);
    let mut modules = Vec::new();
    while modules.len() < MOST_MODULES {
        match list.get_at(modules.len())? {
            0 => return Ok(Image::Containers(modules)),
            module => modules.push(bytes(module)?),
        }
    }
    Err(Code::INVALID_IMAGE)
}

/// What `cudaLibraryLoadData` and a compiler pass: a wrapper, a container, or PTX.
pub(super) fn any_image(address: u64) -> Outcome<Image> {
    let magic = In::<u32>::at_address(address).get()?;
    if magic == WRAPPER {
        return wrapped(address);
    }
    match magic.to_le_bytes() {
        [0x7f, b'E', b'L', b'F'] => {
            say(
                "machine code cannot be executed: let the program make PTX (Numba does where nvJitLink is not installed)",
            );
            Err(Code::NO_IMAGE)
        }
        _ => match container(address) {
            Err(Code::INVALID_IMAGE) => Ok(Image::Text(Text::at_address(address).get()?)),
            found => found,
        },
    }
}

/// `__cudaRegisterFatBinary`: a handle, zero if there is nothing to register.
#[doc(hidden)]
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterFatBinary(wrapper: In<u64>) -> u64 {
    let mut handle = 0;
    answer_even_if_broken(|gpu| {
        handle = gpu.registry.add(any_image(wrapper.address())?);
        Ok(())
    });
    handle
}

/// `__cudaInitModule`: whether the unit's managed variables are there.
#[doc(hidden)]
#[unsafe(no_mangle)]
pub extern "C" fn __cudaInitModule(_unit: u64) -> u8 {
    u8::from(answer_even_if_broken(managed) == 0)
}

/// Loads units with managed variables.
fn managed(gpu: &mut Gpu) -> Outcome {
    gpu.registry.load_managed(&mut gpu.memory, &gpu.setup)
}

entries! {
    __cudaRegisterFatBinaryEnd: (_unit: u64) |gpu| managed(gpu);
    __cudaUnregisterFatBinary: (unit: u64) |gpu| {
        gpu.registry.remove(unit);
        Ok(())
    };
    __cudaRegisterFunction: (unit: u64, host: u64, _name: u64, name: Text) |gpu| {
        gpu.registry.add_kernel(host, unit, name.get()?);
        Ok(())
    };
    __cudaRegisterVar: (unit: u64, host: u64, _address: u64, name: Text) |gpu| {
        gpu.registry.add_variable(host, unit, name.get()?, None);
        Ok(())
    };
    __cudaRegisterManagedVar: (unit: u64, wanted: u64, host: u64, name: Text) |gpu| {
        gpu.registry.add_variable(host, unit, name.get()?, Some(wanted));
        Ok(())
    };
    __cudaRegisterHostVar: (_unit: u64, _name: Text, _address: u64, _bytes: u64) |_| Ok(());
    __cudaRegisterUnifiedTable: (_unit: u64, _table: u64) |_| Ok(());
    __cudaRegisterTexture | __cudaRegisterSurface: (_unit: u64, _host: u64, _address: u64, _name: Text) |_| Ok(());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_image_is_refused() {
        assert_eq!(any_image(0).err(), Some(Code::INVALID_VALUE));
        let object = *b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0";
        assert_eq!(
            any_image(object.as_ptr() as u64).err(),
            Some(Code::NO_IMAGE)
        );
        let text = c".version 8.0, and so on";
        let found = any_image(text.as_ptr() as u64).unwrap();
        assert!(matches!(found, Image::Text(text) if text.starts_with(".version")));
    }
}

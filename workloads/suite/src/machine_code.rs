//! Machine code as a host sees it: kernels and their parameters, without what runs inside.

use warpwatt_gcn::{Argument, Code, Kernel, Object};
use warpwatt_ptx::program::Param;
use warpwatt_ptx::{Entry, Module, PtxError};
use warpwatt_simt::Launch;

/// A module with the object's kernels as entries, to check and lay out launches with. Its entries have no PTX, so that whatever executes or changes
/// PTX refuses them.
pub fn host_view(code: &Code) -> Module {
    Module {
        entries: code.object().kernels.iter().map(entry).collect(),
        ..Module::default()
    }
}

/// The [host's view](host_view) of a code object.
///
/// # Errors
/// Why the file is no such object.
pub fn object_view(file: &[u8]) -> Result<Module, String> {
    let object = Object::read(file).map_err(|error| error.to_string())?;
    Ok(host_view(&Code::new(object)))
}

fn entry(kernel: &Kernel) -> Entry {
    let passed = kernel
        .arguments
        .iter()
        .filter(|argument| !argument.is_hidden());
    let reason = "it is machine code, which has no PTX to replay or to change";
    Entry {
        name: kernel.name.clone(),
        params: passed.enumerate().map(param).collect(),
        shared_bytes: kernel.descriptor.lds_bytes,
        local_bytes: kernel.descriptor.scratch_bytes,
        registers: kernel.descriptor.vector_registers(),
        unsupported: vec![PtxError::new(0..0, reason)],
        ..Entry::default()
    }
}

/// A launch as machine code has it: hidden arguments lie behind those that are passed.
pub fn machine_launch<'l>(code: &Code, launch: &Launch<'l>) -> warpwatt_gcn::Launch<'l> {
    let mut arguments = launch.params.clone();
    let kernel = code.object().kernel(launch.entry);
    let bytes = kernel.map_or(0, |kernel| kernel.argument_bytes as usize);
    arguments.resize(bytes.max(arguments.len()), 0);
    warpwatt_gcn::Launch {
        kernel: launch.entry,
        grid: launch.grid,
        block: launch.block,
        dynamic_share: launch.dynamic_shared,
        arguments,
    }
}

/// Pointers are integers; what is passed by value may be anything of its size.
fn param((at, argument): (usize, &Argument)) -> Param {
    let bits = 8 * argument.bytes;
    let kind = if argument.kind == "by_value" {
        "b"
    } else {
        "u"
    };
    let named = !argument.name.is_empty();
    Param {
        name: if named {
            argument.name.clone()
        } else {
            format!("argument_{at}")
        },
        element: format!("{kind}{bits}"),
        offset: argument.offset,
        bytes: argument.bytes,
    }
}

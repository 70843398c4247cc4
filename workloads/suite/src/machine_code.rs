//! Machine code as a host sees it: kernels and their parameters, without what runs inside.

use warpwatt_gcn::{Argument, Code, Kernel};
use warpwatt_ptx::program::Param;
use warpwatt_ptx::{Entry, Module, PtxError};

/// A module with the object's kernels as entries, to check and lay out launches with. Its entries have no PTX, so that whatever executes or changes
/// PTX refuses them.
pub fn host_view(code: &Code) -> Module {
    Module {
        entries: code.object().kernels.iter().map(entry).collect(),
        ..Module::default()
    }
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

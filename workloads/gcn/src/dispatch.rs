//! What a dispatcher tells a kernel of its launch: hidden arguments, and the packet.
//!
//! Both are LLVM's "User Guide for AMDGPU Backend": hidden arguments of code object version 5 (`.value_kind`), and the packet of HSA's system architecture.

use crate::launch::Launch;
use crate::object::Kernel;

/// Bytes of a packet.
pub(crate) const PACKET_BYTES: usize = 64;

/// The axes in the names of hidden arguments.
const AXES: [&str; 3] = ["_x", "_y", "_z"];

/// The arguments with the hidden ones among them. Compilers read whole words of several registers, beyond the last argument too: memory goes on there.
pub(crate) fn arguments(kernel: &Kernel, launch: &Launch<'_>) -> Vec<u8> {
    let mut block = launch.arguments.clone();
    block.resize(block.len().next_multiple_of(64), 0);
    for argument in kernel.arguments.iter().filter(|it| it.is_hidden()) {
        let value = hidden(&argument.kind, launch).to_le_bytes();
        let bytes = value.len().min(argument.bytes as usize);
        let start = argument.offset as usize;
        if let Some(place) = block.get_mut(start..start + bytes) {
            place.copy_from_slice(&value[..bytes]);
        }
    }
    block
}

/// The value of a hidden argument; zero if it is of no use here, as buffers of `printf` are.
fn hidden(kind: &str, launch: &Launch<'_>) -> u64 {
    let axis = AXES.iter().position(|axis| kind.ends_with(axis));
    let of = |extents: [u32; 3]| u64::from(axis.map_or(0, |axis| extents[axis]));
    let name = axis.map_or(kind, |axis| kind.trim_end_matches(AXES[axis]));
    match name {
        "hidden_block_count" => of(launch.grid),
        "hidden_group_size" => of(launch.block),
        "hidden_grid_dims" => u64::from(dimensions(launch)),
        "hidden_dynamic_lds_size" => u64::from(launch.dynamic_share),
        // Grids are of whole work-groups that begin at zero.
        _ => 0,
    }
}

fn dimensions(launch: &Launch<'_>) -> u16 {
    let used = |axis: &usize| launch.grid[*axis] > 1 || launch.block[*axis] > 1;
    (0..3).rev().find(used).map_or(1, |axis| axis as u16 + 1)
}

/// The dispatch packet. Addresses in it are zero: nothing lies there.
pub(crate) fn packet(kernel: &Kernel, launch: &Launch<'_>) -> [u8; PACKET_BYTES] {
    let mut packet = [0; PACKET_BYTES];
    let mut put = |at: usize, bytes: &[u8]| packet[at..at + bytes.len()].copy_from_slice(bytes);
    put(2, &dimensions(launch).to_le_bytes());
    for axis in 0..3 {
        let (groups, items) = (launch.grid[axis], launch.block[axis]);
        put(4 + 2 * axis, &(items as u16).to_le_bytes());
        put(12 + 4 * axis, &groups.wrapping_mul(items).to_le_bytes());
    }
    let descriptor = &kernel.descriptor;
    put(24, &descriptor.scratch_bytes.to_le_bytes());
    let share = descriptor.lds_bytes.saturating_add(launch.dynamic_share);
    put(28, &share.to_le_bytes());
    packet
}

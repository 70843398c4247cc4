//! The register file of an SM: one kind of array behind its area, leakage and energy.

use warpwatt_circuit::{Ports, RamSpec, Spec};
use warpwatt_gpu::GpuSpec;

use crate::{Charge, Group, Structure};

/// Bits of a lane's word.
const LANE_BITS: u32 = 32;

/// Arrays whose words are some lanes side by side. An access of a warp goes to as many as its executing lanes need.
pub fn register_file(gpu: &GpuSpec) -> Structure {
    let operands = &gpu.operands;
    let ports = match operands.bank_ports {
        0 => Ports::ONE,
        read => Ports {
            read,
            write: 1,
            ..Ports::NONE
        },
    };
    let spec = Spec::Ram(RamSpec {
        words: u64::from(operands.bank_words),
        bits: u64::from(operands.bank_bits),
        out_bits: None,
        ports,
        banks: 1,
    });
    let lanes = (operands.bank_bits / LANE_BITS).max(1);
    let of = |action, counter| Charge::each(action, counter).at_once(lanes);
    Structure::new("register_file", Group::Storage, spec)
        .per_sm((8 * gpu.sm.registers_bytes).div_ceil(operands.bank_words * operands.bank_bits))
        .charged(of("read", "register_words_read"))
        .charged(of("write", "register_words_written"))
}

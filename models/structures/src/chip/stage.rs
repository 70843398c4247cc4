//! The time that each structure of a chip has, which decides how fast its transistors must be.
//!
//! Memories that take an access a cycle and are no pipelines have a cycle of their clock. What the latency of an access leaves more for has so many. Clock
//! trees and DRAM have none: skew decides on the ones, makers on the others.

use warpwatt_gpu::GpuSpec;

use crate::Stage;

/// Cycles that a bank of a second-level slice has, its tags as well as its data: banks work in turns, and a hit takes more than a hundred cycles. Assumed.
const SLICE_CYCLES: u32 = 4;
/// Cycles in which a memory controller finds the next of the requests that wait: its DRAM takes a column access every two to four. Assumed.
const QUEUE_CYCLES: u32 = 2;
/// Depth of a multiply-add of double precision: seven stages of thirteen inverters that drive four (POWER6: Trong et al., ARITH 2007; recalled).
const FP64_DEPTH: u32 = 91;
/// Of single precision: its shifter, tree and adder are each a level or two less deep. Assumed.
const FP32_DEPTH: u32 = 75;
/// Of a multiply-add of matrices: short products, but a sum of several. Assumed.
const TENSOR_DEPTH: u32 = FP32_DEPTH;
/// Of a special function: a table, a product of single precision, a sum. Assumed.
const SFU_DEPTH: u32 = FP64_DEPTH;
/// Of an addition of 32 or 64 bits: parallel prefixes, and a choice of operands. Assumed.
const ADD_DEPTH: u32 = 15;
/// Of a multiply-add of whole numbers. Assumed.
const MAD_DEPTH: u32 = 50;

/// That of the structure called `name`.
pub(super) fn of(gpu: &GpuSpec, name: &str) -> Option<Stage> {
    let [sm_mhz, noc_mhz] = clocks(gpu);
    let core = |cycles: u32| (sm_mhz, cycles, 0);
    let network = |cycles: u32| (noc_mhz, cycles, 0);
    // One cycle of a result's latency reads its operands.
    let unit = |latency: u32, depth: u32| (sm_mhz, latency.saturating_sub(1), depth);
    let timing = &gpu.timing;
    let (clock_mhz, cycles, depth) = match name {
        // A second stage of the fetch does not make it longer: its look-up and its read are then a cycle each.
        "icache.tag" | "icache.data" => core(1),
        "decoder" => core(gpu.fetch.decode_cycles),
        "l15.tag" | "l15.data" => core(gpu.l15.latency),
        "instruction_buffer" | "scoreboard" | "scheduler" | "simt_stack" => core(1),
        "operand_buffer" | "operand_crossbar" | "register_file" => core(1),
        "shared_memory" | "shared_memory.crossbar" => core(1),
        "l1.tag" | "l1.data" | "l1.mshr" => core(1),
        "constant_cache.tag" | "constant_cache" => core(1),
        "texture_cache.tag" | "texture_cache" => core(1),
        "int_add" => unit(timing.int.add.latency, ADD_DEPTH),
        "int_mul" => unit(timing.int.mad.latency, MAD_DEPTH),
        // Additions are done in the multiply-add.
        "fp32_add" | "fp32_mul" => unit(timing.fp32.mad.latency, FP32_DEPTH),
        "fp64" => unit(timing.fp64.mad.latency, FP64_DEPTH),
        "sfu" => unit(timing.special.latency, SFU_DEPTH),
        "tensor" => unit(timing.tensor.latency, TENSOR_DEPTH),
        "address_generation" => (sm_mhz, 1, ADD_DEPTH),
        "coalescer" => core(1),
        "network.request" | "network.reply" => network(1),
        "network.request_links" | "network.reply_links" => network(gpu.noc.latency),
        "l2.tag" | "l2.data" | "l2.mshr" => network(SLICE_CYCLES),
        "l2.partition_links" => core(gpu.l2.crossing_cycles),
        "memory_controller" => (gpu.dram.clock_mhz, QUEUE_CYCLES, 0),
        _ => return None,
    };
    Some(Stage {
        cycles: cycles.max(1),
        clock_mhz,
        depth,
    })
}

/// A cycle of the SMs.
pub(super) fn a_cycle(gpu: &GpuSpec) -> Stage {
    let [clock_mhz, _] = clocks(gpu);
    Stage {
        cycles: 1,
        clock_mhz,
        depth: 0,
    }
}

/// Clocks of SMs and network that structures are designed for; the second goes with the first.
fn clocks(gpu: &GpuSpec) -> [u32; 2] {
    let (runs, network) = (gpu.sm.clock_mhz, gpu.noc.clock_mhz);
    match gpu.chip.clock_mhz {
        0 => [runs, network],
        designed => {
            let scaled = u64::from(network) * u64::from(designed) / u64::from(runs.max(1));
            [designed, u32::try_from(scaled).unwrap_or(u32::MAX).max(1)]
        }
    }
}

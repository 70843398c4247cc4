//! What it takes: an earlier phase of the clock at the ends of fast paths, checksums of what is stored, and who checks whom.

use warpwatt_circuit::Spec;
use warpwatt_circuit::logic::{GateCounts, LogicBlock, LogicSpec};
use warpwatt_gpu::{GpuSpec, Inventory};
use warpwatt_structures::compute_unit::{Holds, flip_flops};
use warpwatt_structures::{ACTIVE, Charge};

use crate::{Group, Structure};

/// Inverters by which the clock of a flip-flop comes earlier than it would: assumed, a delay of two fan-outs of four.
const INVERTERS: u64 = 4;
/// Flip-flops whose phases are priced together.
const TOGETHER: u64 = 64;
/// Bits of a checksum: CRC-32. A bit of it depends on half of those of the word and of the sum before it.
const CHECKSUM: u64 = 32;
/// Bits of a CTA's number.
const NUMBER: u64 = 32;
/// Bits of the clock that change in a cycle: it rises and falls.
const EDGES: u32 = 2;

fn counted(gates: GateCounts, activity: u8) -> Spec {
    Spec::Logic(LogicSpec {
        block: LogicBlock::Counted { gates },
        activity,
    })
}

fn bits(values: u32) -> u64 {
    u64::from(u32::BITS - values.saturating_sub(1).leading_zeros())
}

/// Flip-flops of one SM and of the whole GPU that say who checks whom: a mark for each warp, whose stores are off, and a checksum; the number of the CTA in its epoch, the
/// CTA that is checked, and two SMs.
pub(super) fn state(gpu: &GpuSpec, epoch: u32) -> [u64; 2] {
    let of_sm = u64::from(gpu.warps_per_sm()) + CHECKSUM;
    [of_sm, bits(epoch) + NUMBER + 2 * bits(gpu.sm.count)]
}

pub(super) fn structures(gpu: &GpuSpec, epoch: u32, fast_paths: u32) -> Vec<Structure> {
    let [of_sm, of_gpu] = state(gpu, epoch);
    let keeps = |flops: u64| GateCounts {
        mux: flops,
        flops,
        ..GateCounts::default()
    };
    let words = gpu.ldst.lanes;
    let sum = GateCounts {
        xor: CHECKSUM * CHECKSUM,
        ..GateCounts::default()
    };
    let front = |name, gates| Structure::new(name, Group::FrontEnd, counted(gates, 50));
    let mut found = vec![
        front("aged_sampling_dmr.marks", keeps(of_sm)).per_sm(1),
        front("aged_sampling_dmr.epoch", keeps(of_gpu)).per_gpu(1),
        Structure::new(
            "aged_sampling_dmr.checksum",
            Group::Execution,
            counted(sum, 50),
        )
        .per_sm(words),
    ];
    // Whose flip-flops are known.
    if gpu.chip.inventory == Inventory::ComputeUnit && fast_paths > 0 {
        let files = [Holds::VectorRegisters, Holds::ScalarRegisters];
        let logic = flip_flops(gpu).into_iter();
        let logic = logic.filter(|it| !files.contains(&it.holds));
        let flops = logic.map(|it| it.bits).sum::<u64>() * u64::from(fast_paths);
        let parts = flops.div_ceil(100 * TOGETHER) as u32;
        let phase = GateCounts {
            mux: TOGETHER,
            not: INVERTERS * TOGETHER,
            ..GateCounts::default()
        };
        let phase = Structure::new("aged_sampling_dmr.phase", Group::Clock, counted(phase, 100));
        let edges = ACTIVE.map(|counter| (counter, EDGES * parts));
        found.push(phase.per_sm(parts).charged(Charge::weighted("read", edges)));
    }
    found
}

//! Clock trees by region. Each runs while its region works, and stands still else: units between their instructions, SMs without warps.

use warpwatt_circuit::Spec;
use warpwatt_circuit::noc::{NocBlock, NocSpec};
use warpwatt_gpu::GpuSpec;

use crate::{ACTIVE, Charge, Group, Region, Structure};

/// Flip-flops of a lane of single precision or of whole numbers: three operands and a result of 32 bits, and as much again in each of three stages between. Assumed.
const LANE_FLOPS: u32 = 4 * 4 * 32;
/// Of a lane of double precision.
const WIDE_LANE_FLOPS: u32 = 2 * LANE_FLOPS;
/// Of a multiply-add of a tensor unit: two operands of half precision and a sum. Assumed.
const MULTIPLY_ADD_FLOPS: u32 = 64;
/// Of a lane of the load-store unit: an address and a word, in two stages. Assumed.
const ADDRESS_FLOPS: u32 = 2 * (64 + 32);
/// Of fetch, decode and issue of a scheduler: four instructions with their control lines in four stages. Assumed.
const ISSUE_FLOPS: u32 = 4 * 4 * 256;
/// Of a network port or a slice, for each bit of its wires: four stages. Assumed.
const PORT_STAGES: u32 = 4;

/// Units that are clocked on their own: name, the counter of cycles in which one works, how many, flip-flops of all of them.
fn regions(gpu: &GpuSpec) -> [(&'static str, &'static str, u32, u32); 6] {
    let (units, chip) = (&gpu.units, &gpu.chip);
    let lanes = |lanes: u32| LANE_FLOPS * lanes;
    [
        (
            "clock.sp",
            "sp_busy_cycles",
            units.sp.count,
            lanes(chip.fp32_lanes),
        ),
        (
            "clock.int",
            "int_busy_cycles",
            units.int.count,
            lanes(chip.int_lanes),
        ),
        (
            "clock.sfu",
            "sfu_busy_cycles",
            units.sfu.count,
            lanes(chip.sfu_lanes),
        ),
        (
            "clock.fp64",
            "fp64_busy_cycles",
            units.fp64.count,
            WIDE_LANE_FLOPS * chip.fp64_lanes,
        ),
        (
            "clock.tensor",
            "tensor_busy_cycles",
            units.tensor.count,
            MULTIPLY_ADD_FLOPS * chip.tensor_macs,
        ),
        (
            "clock.ldst",
            "ldst_busy_cycles",
            1,
            ADDRESS_FLOPS * gpu.ldst.lanes,
        ),
    ]
}

/// The clock trees of the chip. Those of an SM share its area by their flip-flops.
pub(super) fn structures(gpu: &GpuSpec) -> Vec<Structure> {
    let regions = regions(gpu).into_iter();
    let regions: Vec<_> = regions
        .filter(|&(_, _, count, flops)| count > 0 && flops > 0)
        .collect();
    let issue = ISSUE_FLOPS * gpu.scheduler.count;
    let all = issue + regions.iter().map(|&(_, _, _, flops)| flops).sum::<u32>();
    let share = |flops: u32| (100 * u64::from(flops)).div_ceil(u64::from(all)) as u32;
    let mut found: Vec<Structure> = regions
        .into_iter()
        .map(|(name, busy, count, flops)| {
            let each = flops.div_ceil(count);
            tree(name, each, (Region::Sm, share(each)))
                .per_sm(count)
                .charged(Charge::each("read", busy))
        })
        .collect();
    found.push(
        tree("clock.sm", issue, (Region::Sm, share(issue))).charged(Charge::any("read", &ACTIVE)),
    );
    let ports = gpu.noc_ports() + gpu.slices();
    let flops = ports * 8 * gpu.chip.link_bytes * PORT_STAGES;
    found.push(
        tree("clock.uncore", flops, (Region::Uncore, 100))
            .per_gpu(1)
            .charged(Charge::each("read", "cycles")),
    );
    found
}

/// A tree down to so many flip-flops, over a share of a region in percent.
fn tree(name: &'static str, flops: u32, (region, percent): (Region, u32)) -> Structure {
    let spec = Spec::Noc(NocSpec {
        block: NocBlock::Clock {
            sinks: u64::from(flops),
            square_micrometres: 1,
        },
        activity: 100,
    });
    Structure::new(name, Group::Clock, spec).spanning(region, percent)
}

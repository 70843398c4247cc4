//! What it takes: a second latch at flip-flops that may be late, with a comparison, and where each warp's region begins.

use warpwatt_circuit::Spec;
use warpwatt_circuit::logic::{GateCounts, LogicBlock, LogicSpec};
use warpwatt_circuit::noc::{NocBlock, NocSpec};
use warpwatt_gpu::{GpuSpec, Inventory};
use warpwatt_structures::compute_unit::{Holds, flip_flops};
use warpwatt_structures::{ACTIVE, Charge, Region};

use crate::{Group, Structure};

/// Flip-flops that are priced together.
const TOGETHER: u64 = 64;
/// Bits of a program counter.
const COUNTER: u64 = 32;
/// Switching of random data, in percent.
const RANDOM: u8 = 50;

fn counted(gates: GateCounts) -> Spec {
    Spec::Logic(LogicSpec {
        block: LogicBlock::Counted { gates },
        activity: RANDOM,
    })
}

pub(super) fn structures(gpu: &GpuSpec, shadowed: u32) -> Vec<Structure> {
    let counters = COUNTER * u64::from(gpu.warps_per_sm());
    let starts = GateCounts {
        mux: counters,
        flops: counters,
        ..GateCounts::default()
    };
    let mut found = vec![
        Structure::new(
            "timing_speculation.starts",
            Group::FrontEnd,
            counted(starts),
        )
        .per_sm(1),
    ];
    if gpu.chip.inventory == Inventory::ComputeUnit && shadowed > 0 {
        found.extend(shadows(gpu, shadowed));
    }
    found
}

/// Razor's (Ernst et al., MICRO 2003): a latch on a later clock, an exclusive-or with the flip-flop, a multiplexer that puts the right value back, and an OR on the way to one signal
/// of error; and the clock of the latches.
fn shadows(gpu: &GpuSpec, shadowed: u32) -> [Structure; 2] {
    let files = [Holds::VectorRegisters, Holds::ScalarRegisters];
    let all: u64 = flip_flops(gpu).iter().map(|it| it.bits).sum();
    let logic = flip_flops(gpu).into_iter();
    let logic = logic.filter(|it| !files.contains(&it.holds));
    let flops = logic.map(|it| it.bits).sum::<u64>() * u64::from(shadowed);
    let parts = flops.div_ceil(100 * TOGETHER);
    let gates = GateCounts {
        mux: TOGETHER,
        xor: TOGETHER,
        or: TOGETHER,
        flops: TOGETHER,
        ..GateCounts::default()
    };
    let shadow = Structure::new(
        "timing_speculation.shadow",
        Group::Execution,
        counted(gates),
    );
    let sinks = parts * TOGETHER;
    let clock = Spec::Noc(NocSpec {
        block: NocBlock::Clock {
            sinks,
            square_micrometres: 1,
        },
        activity: 100,
    });
    let share = (100 * sinks).div_ceil(all) as u32;
    let clock = Structure::new("timing_speculation.clock", Group::Clock, clock);
    let cycles = ACTIVE.map(|counter| (counter, parts as u32));
    [
        shadow
            .per_sm(parts as u32)
            .charged(Charge::weighted("read", cycles)),
        clock
            .spanning(Region::Sm, share)
            .charged(Charge::any("read", &ACTIVE)),
    ]
}

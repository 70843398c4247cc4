use std::sync::Arc;

use warpwatt_gpu::trace::{
    Flow, KernelTrace, LaunchShape, MemoryOp, MemoryOpKind, Space, StaticInst, Unit, WarpRecorder,
};
use warpwatt_gpu::{Dispatcher, Hooks, simulate};
use warpwatt_structures::Count;

use super::*;

fn technique(text: &str) -> Box<dyn Technique> {
    DEFINITION.parse(&text.parse().unwrap()).unwrap()
}

fn inst(unit: Unit) -> StaticInst {
    StaticInst {
        bytes: 4,
        line: 1,
        ..StaticInst::bare(unit)
    }
}

/// Six computations and a store, in every warp of so many CTAs of one warp.
fn trace(ctas: u32) -> KernelTrace {
    let compute = inst(Unit::Int);
    let store = StaticInst {
        memory: Some(MemoryOp::new(Space::Global, MemoryOpKind::Store, 4)),
        ..inst(Unit::Memory)
    };
    let exit = StaticInst {
        flow: Some(Flow::Exit),
        ..inst(Unit::Control)
    };
    let code: Arc<[StaticInst]> = [vec![compute; 6], vec![store, exit]].concat().into();
    let shape = LaunchShape {
        grid: [ctas, 1, 1],
        block: [64, 1, 1],
        warp_width: 64,
        shared_bytes: 0,
        registers: 8,
    };
    let mut trace = KernelTrace::new("k", code, shape);
    let mut recorder = WarpRecorder::default();
    for cta in 0..u64::from(ctas) {
        recorder.clear();
        for inst in 0..6 {
            recorder.step(inst, u64::MAX, u64::MAX);
        }
        let addresses: Vec<u64> = (0..64)
            .map(|lane| (1 << 40) + 256 * cta + 4 * lane)
            .collect();
        recorder.access(6, u64::MAX, u64::MAX, &addresses);
        recorder.step(7, u64::MAX, u64::MAX);
        trace.push_warp(&recorder).unwrap();
    }
    trace
}

fn two() -> GpuSpec {
    let mut gpu = GpuSpec::preset("miaow").unwrap();
    gpu.sm.count = 2;
    gpu
}

#[test]
fn samples_lie_evenly_and_every_launch_has_one() {
    for (percent, epoch, ctas, want) in [
        (1, 100, 1, 1),
        (1, 100, 250, 3),
        (10, 100, 35, 4),
        (100, 100, 7, 7),
        (3, 100, 100, 3),
    ] {
        let sampling = Sampling { percent, epoch };
        let found = (0..ctas).filter(|cta| sampling.samples(*cta)).count();
        assert_eq!((found, sampling.among(ctas)), (want, want));
        assert_eq!(sampling.program(ctas + want), ctas);
    }
}

/// Nothing is lost, copies store nothing, and their words are summed up as those of what they check.
#[test]
fn copies_run_beside_and_store_nothing() {
    let gpu = two();
    let traces = [trace(20)];
    let plain = simulate(&gpu, &traces, Hooks::default()).unwrap();
    let mut hooks = Hooks::default();
    technique("sampling = 10").attach(&gpu, &mut hooks);
    let run = simulate(&gpu, &traces, hooks).unwrap();
    let of = |name: &str| run.activity.get(name);
    assert_eq!((of("ctas"), of("aged_sampling_dmr_ctas")), (22, 2));
    assert_eq!(of("aged_sampling_dmr_program_ctas"), 20);
    assert_eq!(of("aged_sampling_dmr_instructions"), 2 * 8);
    assert_eq!(of("aged_sampling_dmr.checksum.read"), 2 * 2 * 64);
    assert_eq!(of("address_lanes"), plain.activity.get("address_lanes"));
    assert!(run.cycles > plain.cycles && of("aged_sampling_dmr_held") > 0);
}

/// A checker has nothing else: with one CTA at a time on two SMs, the second run takes the place of one of the program.
#[test]
fn a_checker_takes_nothing_else() {
    let mut checking = Checking::new(Sampling {
        percent: 100,
        epoch: 100,
    });
    checking.begin(&with_copies(&trace(2), checking_all()).unwrap(), 2);
    assert_eq!(checking.next(0), Some(0));
    checking.placed(0, 0);
    // The copy of the first is number two.
    assert_eq!(checking.next(1), Some(2));
    checking.placed(1, 2);
    assert_eq!(checking.next(1), None);
    assert_eq!(checking.next(0), Some(1));
    checking.placed(0, 1);
    checking.finished(1);
    assert_eq!(checking.next(1), Some(3));
}

fn checking_all() -> Sampling {
    Sampling {
        percent: 100,
        epoch: 100,
    }
}

/// By hand: 240,716 flip-flops that are none of the register files, 23 % of them 55,365, in 866 parts of 64; 40 marks and a sum of 32 bits in each of two units,
/// 7 bits of a number up to 100, a CTA of 32, two units of one bit.
#[test]
fn it_is_built_of_what_is_known() {
    let gpu = two();
    let all = technique("").structures(&gpu);
    let phase = all.iter().find(|it| it.name == "aged_sampling_dmr.phase");
    assert_eq!(phase.unwrap().count, Count::PerSm(866));
    let [of_sm, of_gpu] = structures::state(&gpu, 100);
    assert_eq!(2 * of_sm + of_gpu, 2 * 72 + 7 + 32 + 2);
}

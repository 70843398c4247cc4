//! What compute units of AMD's instruction sets do otherwise: a scalar unit, SIMDs in turn, instructions of several kinds at once, waits for counts of accesses.

use crate::gpu_support::*;
use warpwatt_gpu::{Choice, CountWaits, Exits, GpuSpec, MemoryPath, Turns, Unitless};
use warpwatt_simt::trace::{Asynchronous, Flow, KernelTrace, Outstanding, Space, StaticInst, Unit};

/// One compute unit whose memory answers after 100 cycles, one access at a time.
fn unit() -> GpuSpec {
    let mut spec = GpuSpec::preset("tahiti").unwrap();
    spec.sm.count = 1;
    // Code and arguments are there.
    spec.icache.misses = warpwatt_gpu::MissSource::Never;
    spec.ldst.memory = MemoryPath::Fixed;
    (spec.ldst.fixed_load, spec.ldst.fixed_store) = (100, 100);
    spec
}

/// The same launch of wavefronts.
fn wide(mut trace: KernelTrace) -> KernelTrace {
    trace.launch.warp_width = 64;
    trace.launch.block[0] *= 2;
    trace
}

fn cycles(spec: &GpuSpec, mut code: Vec<StaticInst>, groups: u32) -> u64 {
    code.push(end());
    run(spec, wide(straight(code, groups, 1))).cycles
}

fn end() -> StaticInst {
    StaticInst {
        flow: Some(Flow::Exit),
        ..inst(Unit::Control, &[], &[])
    }
}

fn scalar() -> StaticInst {
    inst(Unit::Scalar, &[], &[])
}

/// What `s_waitcnt` leaves of vector accesses and of others.
fn wait(vector: u8, near: u8) -> StaticInst {
    StaticInst {
        asynchronous: Some(Asynchronous::Outstanding(Outstanding { vector, near })),
        ..inst(Unit::Control, &[], &[])
    }
}

fn additions(count: usize) -> Vec<StaticInst> {
    vec![add(1, &[1]); count]
}

#[test]
fn a_wavefront_adds_every_fourth_cycle() {
    let spec = unit();
    let slope = cycles(&spec, additions(40), 1) - cycles(&spec, additions(20), 1);
    assert_eq!(slope, 20 * 4);
}

/// Wavefronts go around the SIMDs, which take turns: four take three cycles more than one, and four more wait for theirs.
#[test]
fn each_simd_has_its_wavefronts() {
    let spec = unit();
    let time = |groups| cycles(&spec, additions(40), groups);
    let slope = |groups| time(groups) - cycles(&spec, additions(20), groups);
    assert_eq!(slope(4), slope(1));
    assert_eq!(slope(8), 2 * slope(1));
    let mut free = spec.clone();
    free.scheduler.turns = Turns::Any;
    let first = |spec: &GpuSpec| cycles(spec, additions(1), 1);
    assert!(first(&free) <= first(&spec));
}

/// Scalar and vector instructions of two wavefronts of a SIMD go in one turn, unless a turn has one instruction.
#[test]
fn kinds_issue_together() {
    let mut spec = unit();
    let mix = |groups| {
        let code: Vec<StaticInst> = (0..40)
            .map(|at| if at % 2 == 0 { scalar() } else { add(1, &[]) })
            .collect();
        move |spec: &GpuSpec| cycles(spec, code.clone(), groups)
    };
    // Every fourth work-group is of one SIMD: two wavefronts each.
    let (alone, together) = (mix(4)(&spec), mix(8)(&spec));
    assert!(together <= alone + 8, "{together} for two, {alone} for one");
    spec.scheduler.choice = Choice::OneWarp;
    spec.scheduler.width = 1;
    assert!(mix(8)(&spec) >= alone + 40 * 4 - 8);
}

#[test]
fn scalar_instructions_have_a_unit_or_go_to_the_integer_units() {
    let code = vec![scalar(), add(1, &[]), scalar(), end()];
    let counted = |spec: &GpuSpec| {
        let run = run(spec, wide(straight(code.clone(), 1, 1)));
        [
            "issued_scalar",
            "issued_sp",
            "issued_barrier",
            "scalar_busy_cycles",
        ]
        .map(|name| run.activity.get(name))
    };
    let mut spec = unit();
    assert_eq!(counted(&spec), [2, 1, 1, 2], "an end takes no unit");
    spec.units.scalar.count = 0;
    assert_eq!(counted(&spec), [0, 4, 0, 0]);
}

/// An addition that needs nothing of a load waits for it behind `s_waitcnt`, and only there.
#[test]
fn a_wait_holds_up_what_is_behind_it() {
    let mut spec = unit();
    let near = Outstanding::ANY;
    let code = |most: u8| {
        [
            vec![load(Space::Global, 9), wait(most, near)],
            additions(40),
        ]
        .concat()
    };
    let free = cycles(&spec, code(1), 1);
    let waits = cycles(&spec, code(0), 1);
    assert!((90..=101).contains(&(waits - free)), "{waits}, {free}");
    spec.scoreboard.counts = CountWaits::Ignored;
    assert!(cycles(&spec, code(0), 1) <= free + 4);
}

/// Of two loads, the first of which takes 100 cycles and the second another 100, a wait that lets one go on waits for the first. Stores count as loads do.
#[test]
fn a_wait_lets_the_latest_go_on() {
    let spec = unit();
    let loads = [9, 10].map(|register| load(Space::Global, register));
    let stores = [9, 10].map(|register| store(Space::Global, register));
    for [first, second] in [loads, stores] {
        let code = |most: u8| {
            let head = vec![first.clone(), second.clone(), wait(most, Outstanding::ANY)];
            [head, additions(60)].concat()
        };
        let time = [2, 1, 0].map(|most| cycles(&spec, code(most), 1));
        assert!((85..=105).contains(&(time[1] - time[0])), "{time:?}");
        assert_eq!(
            time[2] - time[1],
            100 + u64::from(spec.ldst.fixed_transaction),
            "{time:?}"
        );
    }
}

/// Shared memory has a count of its own.
#[test]
fn counts_are_apart() {
    let spec = unit();
    let code = |vector: u8, near: u8| {
        [
            vec![load(Space::Shared, 9), wait(vector, near)],
            additions(20),
        ]
        .concat()
    };
    let free = cycles(&spec, code(0, Outstanding::ANY), 1);
    let waits = cycles(&spec, code(Outstanding::ANY, 0), 1);
    assert!(waits >= free + 40, "{waits}, {free}");
}

/// An instruction of two words is fetched twice, and issues later where its halves are put together.
#[test]
fn long_instructions_take_two_fetches() {
    let mut spec = unit();
    let long = |at: u8| StaticInst {
        bytes: 4 + at,
        ..add(1, &[])
    };
    let counted = |code: Vec<StaticInst>| {
        let run = run(&spec, wide(straight([code, vec![end()]].concat(), 1, 1)));
        ["fetches", "metadata_fetches", "instruction_buffer.write"]
            .map(|name| run.activity.get(name))
    };
    assert_eq!(counted(vec![long(0); 12]), [13, 0, 13]);
    assert_eq!(counted(vec![long(4); 12]), [25, 12, 13]);
    (spec.scheduler.warp_interval, spec.scheduler.word_interval) = (20, 6);
    let time = |at| cycles(&spec, vec![long(at); 32], 1) - cycles(&spec, vec![long(at); 16], 1);
    // SIMDs have their turn every fourth cycle.
    assert_eq!([time(0), time(4)], [16 * 20, 16 * 28]);
}

/// Nothing waits before units without a queue: a second wavefront's instruction issues when the unit is free.
#[test]
fn without_a_queue_an_instruction_waits_for_its_unit() {
    let mut spec = unit();
    spec.scheduler.turns = Turns::Any;
    spec.scheduler.interval = 1;
    spec.scheduler.count = 1;
    spec.units.sp.count = 1;
    spec.timing.int.add.interval = 50;
    spec.timing.int.simple.interval = 50;
    let resident = |spec: &GpuSpec| {
        let code = vec![add(1, &[]), scalar(), end()];
        let run = run(spec, wide(straight(code, 2, 1)));
        run.activity.get("resident_warp_cycles")
    };
    let queued = resident(&spec);
    spec.units.sp.queue = 0;
    assert!(
        resident(&spec) >= queued,
        "the scalar instruction waits behind"
    );
    let run = run(
        &spec,
        wide(straight(vec![add(1, &[]), add(2, &[]), end()], 1, 1)),
    );
    assert!(run.activity.get("stall_unit") >= 40);
}

/// A wavefront whose last instruction waits for results ends when they are there, as it does else; it issues later.
#[test]
fn ends_wait_for_results() {
    let mut spec = unit();
    spec.timing.control.latency = 50;
    let code = || vec![load(Space::Global, 9)];
    let free = cycles(&spec, code(), 1);
    spec.scoreboard.exits = Exits::Drained;
    let drained = cycles(&spec, code(), 1);
    assert!(drained > free + 40, "{drained}, {free}");
}

/// What takes no unit goes beside the rest: ends do not cost a turn.
#[test]
fn ends_take_no_turn() {
    let mut spec = unit();
    let time = |spec: &GpuSpec| cycles(spec, additions(1), 40);
    let beside = time(&spec);
    spec.scheduler.unitless = Unitless::Slot;
    spec.scheduler.width = 1;
    assert!(time(&spec) >= beside);
}

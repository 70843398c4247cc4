//! Warped-DMR: what is verified, what that costs, and that nothing else changes.

use crate::gpu_support::*;
use warpwatt_gpu::{GpuSpec, Hooks, Run, simulate};
use warpwatt_simt::trace::{KernelTrace, Space, StaticInst};
use warpwatt_techniques::{Stack, Technique, find};
use warpwatt_tests::{traces, traces_with_values};

fn technique(name: &str, parameters: &str) -> Box<dyn Technique> {
    find(name)
        .ok()
        .unwrap()
        .parse(&parameters.parse().unwrap())
        .unwrap()
}

fn dmr_gpu(sms: u32) -> GpuSpec {
    let mut spec = GpuSpec::preset("dmr-30sm").unwrap();
    spec.sm.count = sms;
    spec
}

fn run_stack(spec: &GpuSpec, traces: &[KernelTrace], members: &[(&str, &str)]) -> (Run, Stack) {
    let members = members.iter();
    let members = members.map(|(name, parameters)| technique(name, parameters).into());
    let stack = Stack::new(members.collect()).unwrap();
    let (mut spec, mut hooks) = (spec.clone(), Hooks::default());
    stack.reshape(&mut spec);
    stack.attach(&spec, &mut hooks);
    (simulate(&spec, traces, hooks).unwrap(), stack)
}

fn dmr(spec: &GpuSpec, traces: &[KernelTrace], parameters: &str) -> Run {
    run_stack(spec, traces, &[("warped_dmr", parameters)]).0
}

fn plain(spec: &GpuSpec, traces: &[KernelTrace]) -> Run {
    simulate(spec, traces, Hooks::default()).unwrap()
}

fn count(run: &Run, name: &str) -> u64 {
    run.activity.get(&format!("warped_dmr_{name}"))
}

fn metric(run: &Run, name: &str) -> f64 {
    let metrics = technique("warped_dmr", "").metrics(run);
    let found = metrics
        .iter()
        .find(|metric| metric.name == format!("warped_dmr.{name}"));
    found.unwrap().value
}

fn lane_operations(run: &Run) -> u64 {
    let units = ["int_add", "int_mul", "fp32_add", "fp32_mul", "fp64", "sfu"];
    let counts = units
        .iter()
        .map(|unit| run.activity.get(&format!("{unit}.read")));
    counts.sum()
}

/// One warp executes independent additions in so many lanes.
fn masked(lanes: u64, length: u32) -> KernelTrace {
    let code: Vec<StaticInst> = (0..length).map(|at| add(at as u16, &[])).collect();
    launch(code, 1, 1, |_, _| {
        let step = |inst| Dynamic {
            executed: lanes,
            ..Dynamic::plain(inst)
        };
        (0..length).map(step).collect()
    })
}

/// Coverage by hand: pairs within clusters of the mapping.
#[test]
fn coverage_of_lanes_is_as_by_hand() {
    let three_of_four = 0x7777_7777;
    for (lanes, parameters, coverage) in [
        (0x0000_ffff, "mapping = \"in_order\"", 0.0),
        (0x0000_ffff, "mapping = \"round_robin\"", 1.0),
        (0x5555_5555, "mapping = \"in_order\"", 1.0),
        // Every other thread fills every other cluster.
        (0x5555_5555, "mapping = \"round_robin\"", 0.0),
        (three_of_four, "mapping = \"in_order\"", 1.0 / 3.0),
        (
            three_of_four,
            "mapping = \"in_order\"\ncluster_lanes = 8",
            1.0 / 3.0,
        ),
        (three_of_four, "mapping = \"round_robin\"", 0.0),
        (
            three_of_four,
            "mapping = \"round_robin\"\nenhanced = true",
            1.0,
        ),
        // Seven full clusters of eight in order; six lanes of eight in each cluster around them: 28 lanes, four idle ones.
        (0x0fff_ffff, "mapping = \"in_order\"", 0.0),
        (0x0fff_ffff, "mapping = \"round_robin\"", 4.0 / 28.0),
        (1, "", 1.0),
        (1, "intra = false", 0.0),
        (ALL, "", 1.0),
        (ALL, "inter = false", 0.0),
    ] {
        let run = dmr(&dmr_gpu(1), &[masked(lanes, 40)], parameters);
        let found = metric(&run, "coverage");
        assert!(
            (found - coverage).abs() < 1e-12,
            "{lanes:x} {parameters}: {found}"
        );
        assert_eq!(
            count(&run, "lanes_computation"),
            40 * u64::from(lanes.count_ones())
        );
    }
}

/// Lane 0 of each cluster of round robin: three idle lanes repeat it, and no time is lost.
#[test]
fn idle_lanes_repeat_at_no_cost_in_time() {
    let trace = [masked(0xff, 100)];
    let (before, after) = (plain(&dmr_gpu(1), &trace), dmr(&dmr_gpu(1), &trace, ""));
    assert_eq!(before.cycles, after.cycles);
    assert_eq!(lane_operations(&before), 800);
    assert_eq!(lane_operations(&after), 800 + 100 * 24);
    assert_eq!(after.activity.get("warped_dmr.comparator.read"), 100 * 8);
    assert_eq!(count(&after, "instructions_repeated"), 0);
}

const LONG: u32 = 400;

/// Warps that all add, over and over in code that fits the I-cache: an instruction a cycle.
fn additions(warps: u32) -> KernelTrace {
    let code: Vec<StaticInst> = (0..40).map(|at| add(at, &[])).collect();
    launch(code, 1, warps, |_, _| {
        (0..LONG).map(|at| Dynamic::plain(at % 40)).collect()
    })
}

/// Without a queue every addition gives up the cycle behind it, so that all take twice as long.
#[test]
fn a_run_of_one_kind_without_a_queue_doubles() {
    let (spec, trace) = (dmr_gpu(1), [additions(16)]);
    let all = u64::from(16 * LONG);
    let (before, after) = (
        plain(&spec, &trace),
        dmr(&spec, &trace, "replayq_entries = 0"),
    );
    assert!(
        before.cycles > all && before.cycles < all + all / 10,
        "{}",
        before.cycles
    );
    let stalls = count(&after, "stalls_full");
    assert_eq!(stalls + count(&after, "behind"), all);
    assert!(stalls > all - all / 20, "{stalls}");
    let ratio = after.cycles as f64 / before.cycles as f64;
    assert!((1.85..=2.0).contains(&ratio), "{ratio}");
    assert_eq!(count(&after, "stalls_raw") + count(&after, "queued"), 0);
}

/// Addresses are formed again while words that share a bank pass one after the other.
#[test]
fn addresses_are_formed_again_in_the_shadow_of_conflicts() {
    let code: Vec<StaticInst> = (0..40).map(|at| load(Space::Shared, at)).collect();
    let trace = |stride: u64| {
        [launch(code.clone(), 1, 8, |_, _| {
            let step = |inst| Dynamic::at(inst, ALL, |lane| stride * lane);
            (0..40).map(step).collect()
        })]
    };
    let spec = dmr_gpu(1);
    // Words of one bank take as many passes as lanes, those of as many banks one.
    for (stride, most) in [(128, 1.01), (4, 2.0)] {
        let trace = trace(stride);
        let (before, after) = (
            plain(&spec, &trace),
            dmr(&spec, &trace, "replayq_entries = 0"),
        );
        let ratio = after.cycles as f64 / before.cycles as f64;
        assert!((1.0..=most).contains(&ratio), "{stride}: {ratio}");
        assert_eq!(count(&after, "instructions_repeated"), 320);
    }
}

/// A queue of ten spares ten cycles of a run, not more.
#[test]
fn a_queue_spares_as_many_cycles_as_it_has_entries() {
    let (spec, trace) = (dmr_gpu(1), [additions(16)]);
    let stalls = |entries: u32| {
        let run = dmr(&spec, &trace, &format!("replayq_entries = {entries}"));
        assert_eq!(metric(&run, "replayq.most"), f64::from(entries.min(64)));
        assert_eq!(metric(&run, "coverage"), 1.0);
        count(&run, "stalls_full") + count(&run, "stalls_raw")
    };
    let (none, one, ten) = (stalls(0), stalls(1), stalls(10));
    // Cycles in which nothing issued anyway empty the queue, which can then take as many again.
    assert!(none > one && one > ten, "{none} {one} {ten}");
    assert!(ten + 200 > none, "{none} {ten}");
}

/// An addition and a load in turn verify each other: no queue is needed.
#[test]
fn kinds_in_turn_need_no_queue() {
    let code: Vec<StaticInst> = (0..LONG)
        .map(|at| match at % 2 {
            0 => add(at as u16 % 100, &[]),
            _ => load(Space::Shared, 100 + at as u16 % 100),
        })
        .collect();
    let trace = [straight(code, 1, 1)];
    let (before, after) = (
        plain(&dmr_gpu(1), &trace),
        dmr(&dmr_gpu(1), &trace, "replayq_entries = 0"),
    );
    assert_eq!(metric(&after, "coverage"), 1.0);
    let stalls = count(&after, "stalls_full");
    assert!(stalls * 50 < u64::from(LONG), "{stalls}");
    assert!(after.cycles < before.cycles + before.cycles / 20);
}

const KERNELS: [&str; 5] = ["matrix_mul", "bfs", "hotspot", "reduction", "vector_add"];

/// The laws of coverage, of the queue's size, and of conservation.
#[test]
fn the_laws_of_verification_hold_on_kernels() {
    for name in KERNELS {
        let (spec, traces) = (dmr_gpu(2), traces(name));
        let before = plain(&spec, &traces);
        let mut last: Option<(u64, f64)> = None;
        for entries in [0, 1, 5, 10, 64] {
            let run = dmr(&spec, &traces, &format!("replayq_entries = {entries}"));
            let (stalls, coverage) = (count(&run, "stalls_full"), metric(&run, "coverage"));
            assert!((0.0..=1.0).contains(&coverage), "{name}");
            let ways = ["behind", "queued", "stalls_full"].map(|way| count(&run, way));
            assert_eq!(
                ways.iter().sum::<u64>(),
                count(&run, "instructions_repeated"),
                "{name}"
            );
            assert_eq!(
                run.activity.get("warp_instructions"),
                before.activity.get("warp_instructions")
            );
            if let Some((more_stalls, same)) = last {
                assert!(
                    stalls <= more_stalls,
                    "{name}, {entries} entries: {stalls} of {more_stalls}"
                );
                assert_eq!(
                    coverage, same,
                    "{name}: what is verified does not depend on when"
                );
            }
            last = Some((stalls, coverage));
        }
        for parameters in [
            "",
            "cluster_lanes = 8",
            "mapping = \"in_order\"",
            "intra = false",
        ] {
            let run = dmr(&spec, &traces, &format!("{parameters}\nenhanced = true"));
            assert_eq!(metric(&run, "coverage"), 1.0, "{name} {parameters}");
            assert_eq!(
                metric(&run, "coverage.instructions"),
                1.0,
                "{name} {parameters}"
            );
        }
        let inter = dmr(&spec, &traces, "intra = false");
        assert_eq!(
            lane_operations(&inter) - lane_operations(&before),
            count(&inter, "inter_computation"),
            "{name}: every second execution is charged, once"
        );
        assert_eq!(metric(&inter, "coverage.intra"), 0.0);
        let intra = dmr(&spec, &traces, "inter = false");
        assert_eq!(
            intra.cycles, before.cycles,
            "{name}: idle lanes take no time"
        );
        assert_eq!(metric(&intra, "coverage.inter"), 0.0);
        let both = dmr(&spec, &traces, "");
        let parts = metric(&intra, "coverage") + metric(&inter, "coverage");
        assert!((metric(&both, "coverage") - parts).abs() < 1e-12, "{name}");
    }
}

/// A second lane beside each: twice the operations in the same time. R-Naive: twice everything.
#[test]
fn the_comparisons_do_everything_twice() {
    for name in KERNELS {
        let (spec, traces) = (dmr_gpu(2), traces(name));
        let before = plain(&spec, &traces);
        let (lanes, _) = run_stack(&spec, &traces, &[("full_dmr", "")]);
        assert_eq!(lanes.cycles, before.cycles, "{name}");
        assert_eq!(
            lane_operations(&lanes),
            2 * lane_operations(&before),
            "{name}"
        );
        let (kernel, _) = run_stack(&spec, &traces, &[("full_dmr", "design = \"kernel\"")]);
        assert_eq!(
            lane_operations(&kernel),
            2 * lane_operations(&before),
            "{name}"
        );
        // The second time finds code and data in caches.
        let ratio = kernel.cycles as f64 / before.cycles as f64;
        assert!((1.5..=2.0).contains(&ratio), "{name}: {ratio}");
        assert_eq!(kernel.launches.len(), 2 * before.launches.len());
        // R-Thread: as many launches of twice the CTAs, which fill an SM better.
        let (threads, _) = run_stack(&spec, &traces, &[("full_dmr", "design = \"threads\"")]);
        assert_eq!(
            lane_operations(&threads),
            2 * lane_operations(&before),
            "{name}"
        );
        assert_eq!(threads.launches.len(), before.launches.len());
        let ratio = threads.cycles as f64 / before.cycles as f64;
        assert!((1.0..=2.05).contains(&ratio), "{name}: {ratio}");
    }
}

/// Where one lane does the work of all, its neighbour repeats it: what would be executed again is verified at once.
#[test]
fn uniform_instructions_are_verified_by_a_neighbour() {
    for name in ["matrix_mul", "hotspot"] {
        let (spec, traces) = (dmr_gpu(2), traces_with_values(name));
        let alone = dmr(&spec, &traces, "");
        let (both, _) = run_stack(
            &spec,
            &traces,
            &[("warped_dmr", ""), ("uniform_vector", "mode = \"intra\"")],
        );
        assert!(
            count(&both, "instructions_repeated") < count(&alone, "instructions_repeated"),
            "{name}"
        );
        assert_eq!(count(&both, "instructions"), count(&alone, "instructions"));
        let verified = [&both, &alone].map(|run| count(run, "instructions_verified"));
        assert_eq!(verified[0], verified[1], "{name}");
    }
}

/// What else is in the GPU does what it does.
#[test]
fn verification_goes_with_renaming_and_a_filter_cache() {
    let (spec, traces) = (dmr_gpu(2), traces("matrix_mul"));
    let alone = dmr(&spec, &traces, "");
    let members = [
        ("warped_dmr", ""),
        ("register_virtualization", ""),
        ("filter_cache", ""),
    ];
    let (all, _) = run_stack(&spec, &traces, &members);
    for name in [
        "instructions",
        "instructions_verified",
        "instructions_repeated",
        "repeating_lanes",
    ] {
        assert_eq!(count(&all, name), count(&alone, name), "{name}");
    }
    assert!(all.activity.get("filter_cache_hits") > 0);
    assert!(all.activity.get("renaming_table.read") > 0);
}

/// Figures 4.1 and 4.4 by hand: half of the lanes, two kinds of units in turn.
#[test]
fn a_profile_is_as_by_hand() {
    let code: Vec<StaticInst> = (0..40)
        .map(|at| match at % 4 {
            3 => load(Space::Shared, 100),
            _ => add(at as u16, &[]),
        })
        .collect();
    let trace = launch(code, 1, 1, |_, _| {
        let step = |inst: u32| match inst % 4 {
            3 => Dynamic::at(inst, 0xffff, |lane| 4 * lane),
            _ => Dynamic::plain(inst),
        };
        (0..40).map(step).collect()
    });
    let (run, stack) = run_stack(&dmr_gpu(1), &[trace], &[("execution_profile", "")]);
    let metrics = stack.metrics(&run);
    let value = |name: &str| {
        let name = format!("execution_profile.{name}");
        metrics
            .iter()
            .find(|metric| metric.name == name)
            .unwrap()
            .value
    };
    assert_eq!((value("lanes.32"), value("lanes.9_to_16")), (0.75, 0.25));
    assert_eq!((value("units.sp"), value("units.ldst")), (0.75, 0.25));
    assert_eq!(
        (value("run_length.sp"), value("run_length.ldst")),
        (3.0, 1.0)
    );
    assert_eq!(value("run_length"), 2.0);
}

//! Uniform vectors: what is detected, what that saves, and that nothing is lost.

use std::sync::Arc;

use crate::gpu_support::*;
use warpwatt_gpu::{GpuSpec, Hooks, Run, simulate};
use warpwatt_simt::trace::{KernelTrace, LaunchShape, Space, StaticInst, WarpRecorder};
use warpwatt_techniques::{Technique, find};
use warpwatt_tests::traces_with_values;

fn technique(parameters: &str) -> Box<dyn Technique> {
    find("uniform_vector")
        .ok()
        .unwrap()
        .parse(&parameters.parse().unwrap())
        .unwrap()
}

fn run_on(spec: &GpuSpec, traces: &[KernelTrace], technique: Option<&dyn Technique>) -> Run {
    let (mut spec, mut hooks) = (spec.clone(), Hooks::default());
    if let Some(technique) = technique {
        technique.reshape(&mut spec);
        technique.attach(&spec, &mut hooks);
    }
    simulate(&spec, traces, hooks).unwrap()
}

fn gtx285() -> GpuSpec {
    GpuSpec::preset("gtx285").unwrap()
}

/// What a warp executes: an instruction, its lanes, its address if it is a load from one, a digest of its operands.
type Executed = (u32, u64, Option<u64>, Option<u32>);

fn synthetic(code: &[StaticInst], warps: u32, steps: &[Executed]) -> KernelTrace {
    let shape = LaunchShape {
        grid: [1, 1, 1],
        block: [32 * warps, 1, 1],
        warp_width: 32,
        shared_bytes: 0,
        registers: 8,
    };
    let code = compiled(code.to_vec());
    let mut trace = KernelTrace::new("synthetic", Arc::from(code), shape);
    let mut recorder = WarpRecorder::default();
    for &(inst, lanes, address, values) in steps {
        match address {
            Some(address) => recorder.access(inst, lanes, lanes, &[address; 64]),
            None => recorder.computed(inst, lanes, lanes, values),
        }
    }
    (0..warps).for_each(|_| trace.push_warp(&recorder).unwrap());
    trace
}

fn count(run: &Run, name: &str) -> u64 {
    run.activity.get(name)
}

fn detected(parameters: &str, code: &[StaticInst], warps: u32, steps: &[Executed]) -> Run {
    let trace = synthetic(code, warps, steps);
    run_on(&one_sm(), &[trace], Some(technique(parameters).as_ref()))
}

const WHOLE: u64 = ALL;

#[test]
fn tokens_spread_from_broadcasts_and_literals_through_whole_warps_only() {
    let code = [
        load(Space::Global, 1),
        add(2, &[1]),
        add(3, &[]),
        add(4, &[2, 3]),
        add(5, &[4, 9]),
        add(6, &[5]),
    ];
    let plain = |inst| (inst, WHOLE, None, None);
    let steps = [
        (0, WHOLE, Some(0xc000_0000), None),
        plain(1),
        plain(2),
        plain(3),
        plain(4),
        plain(5),
    ];
    let run = detected("mode = \"intra\"", &code, 1, &steps);
    assert_eq!(
        count(&run, "uniform_vector_computations"),
        3,
        "2, 3 and 4; register 9 never got a token"
    );
    let half = [steps[0], steps[1], (3, 0xffff, None, None)];
    let run = detected("mode = \"intra\"", &code, 1, &half);
    assert_eq!(count(&run, "uniform_vector_computations"), 1);
}

/// The value of `x` must reach all lanes before some of them get another, whether or not the instruction reads `x`.
#[test]
fn a_write_of_some_lanes_costs_a_copy() {
    let code = [add(1, &[]), add(1, &[1]), add(1, &[2])];
    for (second, of_sources) in [(1, 1), (2, 0)] {
        let steps = [(0, WHOLE, None, None), (second, 0xff, None, None)];
        let run = detected("mode = \"intra\"", &code, 1, &steps);
        assert_eq!(count(&run, "uniform_vector_copies"), 1);
        assert_eq!(count(&run, "uniform_vector_copies_of_sources"), of_sources);
    }
    let whole = [(0, WHOLE, None, None), (2, WHOLE, None, None)];
    let run = detected("mode = \"intra\"", &code, 1, &whole);
    assert_eq!(
        count(&run, "uniform_vector_copies"),
        0,
        "nothing is left of the old value"
    );
}

#[test]
fn scalar_registers_run_out_and_come_back() {
    let code = [add(1, &[]), add(2, &[]), add(1, &[9]), add(3, &[])];
    let plain = |inst| (inst, WHOLE, None, None);
    let run = |entries: u32, steps: &[Executed]| {
        let parameters = format!("design = \"srf\"\nmode = \"intra\"\nsrf_entries = {entries}");
        let run = detected(&parameters, &code, 1, steps);
        [
            count(&run, "uniform_vector_computations"),
            count(&run, "uniform_vector_structural"),
        ]
    };
    let steps = [plain(0), plain(1), plain(2), plain(3)];
    assert_eq!(
        run(1, &steps),
        [2, 1],
        "the second finds none, the fourth that of the first"
    );
    assert_eq!(run(2, &steps), [3, 0]);
    assert_eq!(
        run(1, &[plain(0), plain(0)]),
        [2, 0],
        "a register keeps its own"
    );
}

#[test]
fn a_result_is_reused_by_warps_that_come_after_it() {
    let code = [add(1, &[])];
    let steps: Vec<Executed> = (0..40).map(|_| (0, WHOLE, None, Some(7))).collect();
    let run = detected("mode = \"inter\"", &code, 1, &steps);
    let hits = count(&run, "uniform_vector_reused");
    assert_eq!(count(&run, "uniform_vector.irb.tag.search"), 40);
    assert!(hits >= 38, "all but those before the first result: {hits}");
    let early = detected("mode = \"inter\"\nirb_early = true", &code, 1, &steps);
    assert_eq!(count(&early, "uniform_vector_reused"), 39);
    let different: Vec<Executed> = (0..40).map(|at| (0, WHOLE, None, Some(at))).collect();
    let run = detected("mode = \"inter\"", &code, 1, &different);
    assert_eq!(count(&run, "uniform_vector_reused"), 0);
    let unknown: Vec<Executed> = (0..40).map(|_| (0, WHOLE, None, None)).collect();
    let run = detected("mode = \"inter\"", &code, 1, &unknown);
    assert_eq!(
        count(&run, "uniform_vector.irb.tag.search"),
        0,
        "without values nothing can be compared"
    );
}

/// Section 5.1: what misses the reuse buffer "is not converted" where inter-warp reuse stands alone. It reads and writes all lanes, and is a uniform vector all the same.
#[test]
fn what_misses_the_reuse_buffer_is_held_in_all_lanes() {
    let code = [load(Space::Global, 1), add(2, &[1]), add(3, &[2])];
    let first: Vec<Executed> = vec![(0, WHOLE, Some(0xc000_0000), None)];
    let repeated = |values: fn(u32) -> u32| {
        let pairs = (0..40).flat_map(|at| [1, 2].map(|inst| (inst, WHOLE, None, Some(values(at)))));
        let steps: Vec<Executed> = first.iter().copied().chain(pairs).collect();
        steps
    };
    for design in ["token", "srf"] {
        let parameters = format!("design = \"{design}\"\nmode = \"inter\"\nirb_early = true");
        let run = |steps: &[Executed]| detected(&parameters, &code, 1, steps);
        let missed = run(&repeated(|at| at));
        let words = |run: &Run, name: &str| count(run, name);
        assert_eq!(count(&missed, "uniform_vector_computations"), 80);
        assert_eq!(
            words(&missed, "register_words_read"),
            32 * 81,
            "the load reads its address"
        );
        assert_eq!(words(&missed, "register_words_written"), 32 * 81);
        assert_eq!(words(&missed, "uniform_vector.srf.read"), 0);
        let (hits, read) = (78, if design == "token" { 78 } else { 39 });
        let found = run(&repeated(|_| 7));
        assert_eq!(count(&found, "uniform_vector_reused"), hits);
        assert_eq!(
            words(&found, "register_words_read"),
            32 * 3 + read,
            "{design}: the first of each reads all lanes"
        );
        let narrow = if design == "token" { hits } else { 0 };
        assert_eq!(words(&found, "register_words_written"), 32 * 3 + narrow);
    }
}

/// A warp of 32 occupies 8 lanes for four cycles, a uniform instruction for one.
#[test]
fn uniform_instructions_issue_every_cycle() {
    let mut spec = gtx285();
    spec.sm.count = 1;
    let code = [add(1, &[])];
    let steps: Vec<Executed> = (0..200).map(|_| (0, WHOLE, None, None)).collect();
    let trace = synthetic(&code, 32, &steps);
    let before = run_on(&spec, std::slice::from_ref(&trace), None);
    let intra = technique("mode = \"intra\"");
    let after = run_on(&spec, &[trace], Some(intra.as_ref()));
    assert!(before.cycles >= 4 * 32 * 200);
    let ratio = before.cycles as f64 / after.cycles as f64;
    assert!((3.7..=4.0).contains(&ratio), "{ratio}");
}

const KERNELS: [&str; 5] = [
    "vector_add",
    "heart_wall",
    "hotspot",
    "n_queens",
    "scalar_product",
];

fn lanes(run: &Run) -> u64 {
    ["int_add", "int_mul", "fp32_add", "fp32_mul", "fp64", "sfu"]
        .iter()
        .map(|unit| count(run, &format!("{unit}.read")))
        .sum()
}

/// Every lane operation of the plain GPU is executed, saved by a lane that stands for it, or reused; copies come on top.
#[test]
fn lane_operations_are_conserved() {
    for name in KERNELS {
        let traces = traces_with_values(name);
        let before = run_on(&gtx285(), &traces, None);
        for (parameters, standing) in [
            ("mode = \"intra\"", 1),
            ("", 1),
            ("design = \"srf\"\nsrf_entries = 32", 1),
            ("reliability = true", 2),
        ] {
            let after = run_on(&gtx285(), &traces, Some(technique(parameters).as_ref()));
            let n = |counter: &str| count(&after, counter);
            let (uniform, reused) = (n("uniform_vector_computations"), n("uniform_vector_reused"));
            let saved = (32 - standing) * (uniform - reused) + 32 * reused;
            let copied = 32 * n("uniform_vector_copies");
            assert_eq!(lanes(&before), n("uniform_vector_computed_lanes"), "{name}");
            assert_eq!(
                lanes(&before) + copied,
                lanes(&after) + saved,
                "{name} {parameters}"
            );
            assert_eq!(n("warp_instructions"), count(&before, "warp_instructions"));
            assert!(uniform > 0, "{name}");
        }
    }
}

/// Hardware detects what it does, wherever the values are held; an unlimited number of scalar registers detects what tokens do.
#[test]
fn unlimited_scalar_registers_detect_what_tokens_do() {
    for name in KERNELS {
        let traces = traces_with_values(name);
        let of = |parameters: &str| {
            let run = run_on(&gtx285(), &traces, Some(technique(parameters).as_ref()));
            count(&run, "uniform_vector_computations")
        };
        let tokens = of("mode = \"intra\"");
        let sizes = ["4", "32", "\"unlimited\""].map(|entries| {
            of(&format!(
                "design = \"srf\"\nmode = \"intra\"\nsrf_entries = {entries}"
            ))
        });
        assert_eq!(sizes[2], tokens, "{name}");
        assert!(
            sizes[0] <= sizes[1] && sizes[1] <= sizes[2],
            "{name}: {sizes:?}"
        );
    }
}

/// What is detected is so: its operands are the same in all lanes. What a compiler knows is, too.
#[test]
fn what_is_detected_or_known_has_equal_operands() {
    for name in KERNELS {
        let traces = traces_with_values(name);
        let known = find("static_scalarization")
            .ok()
            .unwrap()
            .parse(&toml::Table::new())
            .unwrap();
        let of = |technique: &dyn Technique| run_on(&gtx285(), &traces, Some(technique));
        let (stat, token) = (
            of(known.as_ref()),
            of(technique("mode = \"intra\"").as_ref()),
        );
        let equal = count(&stat, "static_scalarization_equal");
        let found = count(&token, "uniform_vector_computations");
        assert!(
            count(&stat, "static_scalarization_computations") <= equal,
            "{name}"
        );
        assert_eq!(
            found + count(&token, "uniform_vector_missed"),
            equal,
            "{name}"
        );
    }
}

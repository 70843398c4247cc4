//! Techniques that work together: each does what it does alone, and nothing is saved or charged twice.

use std::sync::Arc;

use crate::gpu_support::*;
use warpwatt_gpu::{GpuSpec, Hooks, Run, simulate};
use warpwatt_simt::trace::{KernelTrace, LaunchShape, WarpRecorder};
use warpwatt_structures::plain;
use warpwatt_techniques::{Stack, Structure, Technique, find};
use warpwatt_tests::traces_with_values;

/// Members, each a name and its parameters.
type Members<'m> = &'m [(&'m str, &'m str)];

fn stack(members: Members<'_>) -> Stack {
    let members = members.iter().map(|(name, parameters)| {
        let definition = find(name).ok().unwrap();
        let technique = definition.parse(&parameters.parse().unwrap()).unwrap();
        Arc::<dyn Technique>::from(technique)
    });
    Stack::new(members.collect()).unwrap()
}

fn fermi() -> GpuSpec {
    GpuSpec::preset("fermi-16sm").unwrap()
}

fn run_on(spec: &GpuSpec, traces: &[KernelTrace], stack: &Stack) -> Run {
    let (mut spec, mut hooks) = (spec.clone(), Hooks::default());
    stack.reshape(&mut spec);
    stack.attach(&spec, &mut hooks);
    simulate(&spec, traces, hooks).unwrap()
}

fn structures(stack: &Stack) -> Vec<Structure> {
    let mut structures = plain::structures(&fermi());
    stack.build(&fermi(), &mut structures);
    structures
}

fn count(run: &Run, name: &str) -> u64 {
    run.activity.get(name)
}

/// Divergence, loops, barriers, many launches, much that is uniform and little.
const KERNELS: [&str; 5] = ["matrix_mul", "bfs", "n_queens", "hotspot", "scalar_product"];

const WHOLE_TABLE: &str = "renaming_table_bytes = \"full\"";
const SCALARS: &str = "design = \"srf\"\nsrf_entries = \"unlimited\"";

/// Members that only watch, and register virtualization with all that it does switched off.
#[test]
fn a_neutral_member_changes_nothing() {
    let neutral = [
        ("fetch_redundancy", ""),
        ("static_scalarization", ""),
        (
            "register_virtualization",
            "allocation = \"static\"\ngating = \"none\"",
        ),
    ];
    let working: [Members; 2] = [
        &[("filter_cache", ""), ("uniform_vector", SCALARS)],
        &[("uniform_vector", "")],
    ];
    let traces = traces_with_values("hotspot");
    for working in working {
        let alone = run_on(&fermi(), &traces, &stack(working));
        for member in neutral {
            let with = stack(&[working, &[member]].concat());
            let run = run_on(&fermi(), &traces, &with);
            assert_eq!(run.cycles, alone.cycles, "{}", with.label());
            for (name, counted) in alone.activity.iter() {
                assert_eq!(count(&run, name), counted, "{}: {name}", with.label());
            }
            assert_eq!(structures(&with), structures(&stack(working)));
        }
    }
}

/// A value in a scalar register takes no vector register: its accesses are spared once, by uniform vectors, and renaming is not charged for them.
#[test]
fn a_register_access_is_saved_once() {
    for name in KERNELS {
        let traces = traces_with_values(name);
        let run = |members: Members| run_on(&fermi(), &traces, &stack(members));
        let scalars = run(&[("uniform_vector", SCALARS)]);
        let renamed = run(&[("register_virtualization", WHOLE_TABLE)]);
        let both = run(&[
            ("register_virtualization", WHOLE_TABLE),
            ("uniform_vector", SCALARS),
        ]);
        let accesses =
            |run: &Run| count(run, "register_file.read") + count(run, "register_file.write");
        assert_eq!(accesses(&both), accesses(&scalars), "{name}");
        assert!(accesses(&both) < accesses(&renamed), "{name}");
        for run in [&renamed, &both] {
            assert_eq!(count(run, "renaming_table.read"), accesses(run), "{name}");
            assert_eq!(count(run, "wear_accesses"), accesses(run), "{name}");
        }
        for counter in ["uniform_vector.srf.read", "uniform_vector.srf.write"] {
            assert_eq!(count(&both, counter), count(&scalars, counter), "{name}");
        }
        let held = |run: &Run| {
            count(run, "registers_cycles") as f64 / count(run, "registers_reserved_cycles") as f64
        };
        assert!(held(&both) < held(&renamed), "{name}");
        assert!(count(&both, "register_select.read") < count(&renamed, "register_select.read"));
    }
}

/// With tokens the value lies in one lane of its vector register, which it takes as any other.
#[test]
fn tokens_leave_values_where_renaming_puts_them() {
    for name in KERNELS {
        let traces = traces_with_values(name);
        let run = |members: Members| run_on(&fermi(), &traces, &stack(members));
        let renamed = run(&[("register_virtualization", WHOLE_TABLE)]);
        let both = run(&[
            ("register_virtualization", WHOLE_TABLE),
            ("uniform_vector", ""),
        ]);
        let copies = count(&both, "uniform_vector_copies");
        assert_eq!(
            count(&both, "renaming_table.read"),
            count(&renamed, "renaming_table.read") + copies,
            "{name}"
        );
        assert!(count(&both, "register_words_read") < count(&renamed, "register_words_read"));
    }
}

/// Metadata instructions are looked up in the filter cache like all others.
#[test]
fn metadata_pass_the_filter_cache() {
    let traces = traces_with_values("matrix_mul");
    let members: Members = &[("filter_cache", ""), ("register_virtualization", "")];
    let run = run_on(&fermi(), &traces, &stack(members));
    let n = |name: &str| count(&run, name);
    assert!(n("metadata_fetches") > 0);
    assert_eq!(n("filter_cache.tag.read"), n("fetch_grants"));
    assert_eq!(
        n("icache.tag.read"),
        n("fetch_grants") - n("filter_cache_hits")
    );
}

/// What is reused is not executed, but its registers are looked up: a chain of reused results takes the stage every time.
#[test]
fn reused_results_pass_the_renaming_stage() {
    const STEPS: u64 = 300;
    let shape = LaunchShape {
        grid: [1, 1, 1],
        block: [32, 1, 1],
        warp_width: 32,
        shared_bytes: 0,
        registers: 8,
    };
    let code = compiled(vec![add(1, &[]), add(1, &[1])]);
    let mut trace = KernelTrace::new("chain", Arc::from(code), shape);
    let mut recorder = WarpRecorder::default();
    recorder.computed(0, ALL, ALL, Some(1));
    for _ in 0..STEPS {
        recorder.computed(1, ALL, ALL, Some(2));
    }
    trace.push_warp(&recorder).unwrap();
    let cycles = |stage: u64| {
        let renaming = format!("pipeline_cycles = {stage}");
        let members: Members = &[
            ("uniform_vector", "irb_early = true"),
            ("register_virtualization", &renaming),
        ];
        let run = run_on(&one_sm(), std::slice::from_ref(&trace), &stack(members));
        assert!(count(&run, "uniform_vector_reused") >= STEPS - 2);
        run.cycles
    };
    let (none, four) = (cycles(0), cycles(4));
    let later = four - none;
    assert!((4 * STEPS..4 * STEPS + 20).contains(&later), "{later}");
}

//! The data races of the suite's kernels: none but stores of one value, which `docs/kernels.md` explains.

use warpwatt_simt::races::{Race, RaceKind};
use warpwatt_suite::{Kernel, RunOptions, kernel, kernels, run_case};

/// The races of a kernel's default case.
fn races(kernel: &Kernel, ptx: &str) -> Vec<Race> {
    let module = warpwatt_ptx::load(ptx).unwrap();
    let (case, prepared) = kernel.prepare(None).unwrap();
    let options = RunOptions {
        record: false,
        races: true,
        ..RunOptions::default()
    };
    let run = run_case(&module, &case, &prepared, options).unwrap();
    let executions = run.executions.into_iter();
    executions
        .flat_map(|executed| executed.execution.races)
        .collect()
}

#[test]
fn no_result_of_the_suite_depends_on_a_race() {
    for kernel in kernels() {
        for (file, ptx) in kernel.ptx_files() {
            let races = races(kernel, ptx);
            for race in &races {
                assert!(!race.matters(), "{} {file}: {race}", kernel.name);
            }
            // Nodes of a level are found by several threads, all of which store the same.
            assert_eq!(
                !races.is_empty(),
                kernel.name == "bfs",
                "{} {file}",
                kernel.name
            );
        }
    }
}

/// Without its barriers, a kernel that needs them shows races.
#[test]
fn a_kernel_without_its_barriers_has_races() {
    for name in ["scan", "matrix_mul", "reduction_tree"] {
        let kernel = kernel(name).unwrap();
        let without = kernel.ptx.replace("bar.sync", "// bar.sync");
        assert_ne!(without, kernel.ptx);
        let races = races(kernel, &without);
        let shared = races
            .iter()
            .filter(|race| race.matters() && race.kind == RaceKind::Shared);
        assert!(shared.count() > 0, "{name}: {races:?}");
    }
}

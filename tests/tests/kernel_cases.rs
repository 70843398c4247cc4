//! Dynamic instruction counts against an independent interpreter of PTX: `[default_dynamic]` of the launch files.

use warpwatt_suite::{RunOptions, kernels, run_case};

#[test]
fn dynamic_counts_agree_with_an_independent_interpreter() {
    let mut compared = 0;
    for kernel in kernels() {
        let file: toml::Table = kernel.launch.parse().unwrap();
        let Some(counts) = file.get("default_dynamic") else {
            continue;
        };
        let count = |key: &str| counts[key].as_integer().unwrap() as u64;
        let (case, prepared) = kernel.prepare(Some("default")).unwrap();
        let module = warpwatt_ptx::load(kernel.ptx).unwrap();
        let options = RunOptions {
            record: false,
            ..RunOptions::default()
        };
        let run = run_case(&module, &case, &prepared, options).unwrap();
        assert_eq!(
            run.thread_instructions(),
            count("thread_inst"),
            "{}",
            kernel.name
        );
        // The interpreter lets lanes meet at the smallest program counter, not at the post-dominator.
        let (ours, theirs) = (run.warp_instructions() as f64, count("warp_inst") as f64);
        assert!(
            (ours / theirs - 1.0).abs() < 0.02,
            "{}: {ours} warp instructions for {theirs}",
            kernel.name
        );
        compared += 1;
    }
    assert_eq!(compared, 14);
}

//! The GPU model beside runs of GPGPU-Sim 4.2.0 that nobody here made: targets hold, and known gaps are where the documentation says.

use warpwatt::validate::gpu::{Compared, compare};

/// Kernels that are further off than 15 %, and how far: between these. `docs/gpu-fidelity.md` explains them.
const GAPS: [(&str, &str, f64, f64); 0] = [];

fn mean_error(runs: &[&Compared]) -> f64 {
    runs.iter().map(|run| run.error().abs()).sum::<f64>() / runs.len() as f64
}

#[test]
fn cycles_and_instructions_are_near_the_simulator_s() {
    let pool = rayon::ThreadPoolBuilder::new().build().unwrap();
    let compared = compare(&pool).unwrap();
    let page = include_str!("../../docs/gpu-fidelity.md");
    let mut missing = Vec::new();
    for (preset, target) in [("gtx480", 0.10), ("v100", 0.05)] {
        let runs: Vec<&Compared> = compared
            .iter()
            .filter(|run| run.reference.preset == preset)
            .collect();
        let error = mean_error(&runs);
        assert!(error < target, "{preset}: mean absolute error {error}");
        let row = format!("| {preset} | {:.1} % |", 100.0 * error);
        missing.extend((!page.contains(&row)).then_some(row));
        for run in runs {
            let kernel = run.reference.kernel.as_str();
            assert!(
                run.error().abs() < 0.5,
                "{preset} {kernel}: {}",
                run.error()
            );
            let row = format!(
                "| {kernel} | {} | {} | {:+.1} % |",
                run.reference.cycles,
                run.run.cycles,
                100.0 * run.error()
            );
            missing.extend((!page.contains(&row)).then(|| format!("{preset}: {row}")));
            instructions(run);
            gap(run);
        }
    }
    assert_eq!(missing, Vec::<String>::new(), "not on the page");
}

/// Instructions are exactly the simulator's, but for the kernel on whose path its fma, which rounds twice, decides.
fn instructions(run: &Compared) {
    let ours = run.run.activity.get("warp_instructions");
    let theirs = run.reference.warp_instructions;
    if run.reference.kernel == "mandelbrot" {
        assert!((ours as f64 / theirs as f64 - 1.0).abs() < 0.02);
        assert_ne!(ours, theirs, "fused multiply-add rounds once");
    } else {
        assert_eq!(ours, theirs, "{}", run.reference.kernel);
    }
    assert_eq!(
        run.run.launches[0].ctas_per_sm, run.reference.ctas_per_sm,
        "{}",
        run.reference.kernel
    );
}

/// A kernel further off than 15 % is a known gap, and a known gap is still there.
fn gap(run: &Compared) {
    let (preset, kernel, error) = (
        run.reference.preset.as_str(),
        run.reference.kernel.as_str(),
        run.error(),
    );
    match GAPS.iter().find(|gap| gap.0 == preset && gap.1 == kernel) {
        Some(&(.., least, most)) => assert!(
            (least..most).contains(&error),
            "{preset} {kernel}: {error} is another gap than the one known"
        ),
        None => assert!(error.abs() < 0.15, "{preset} {kernel}: {error}"),
    }
}

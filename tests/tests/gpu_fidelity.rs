//! The GPU model beside runs of GPGPU-Sim 4.2.0 that nobody here made: targets hold, and known gaps are where the documentation says.

use warpwatt::validate::gpu::{Compared, compare};

/// Kernels that are further off than 15 %, and how far: between these. `docs/gpu-fidelity.md` explains them.
const GAPS: [(&str, &str, f64, f64); 6] = [
    ("gtx480", "bitonic_step", -0.40, -0.20),
    ("gtx480", "gaussian_step", -0.25, -0.10),
    ("gtx480", "spmv_csr", -0.45, -0.25),
    ("gtx480", "transpose_naive", -0.30, -0.15),
    ("gtx480", "vector_add", 0.20, 0.40),
    ("v100", "transpose_naive", -0.25, -0.12),
];

fn mean_error(runs: &[&Compared]) -> f64 {
    runs.iter().map(|run| run.error().abs()).sum::<f64>() / runs.len() as f64
}

#[test]
fn cycles_and_instructions_are_near_the_simulator_s() {
    let pool = rayon::ThreadPoolBuilder::new().build().unwrap();
    let compared = compare(&pool).unwrap();
    let page = include_str!("../../docs/gpu-fidelity.md");
    for (preset, target) in [("gtx480", 0.20), ("v100", 0.10)] {
        let runs: Vec<&Compared> = compared
            .iter()
            .filter(|run| run.reference.preset == preset)
            .collect();
        let error = mean_error(&runs);
        assert!(error < target, "{preset}: mean absolute error {error}");
        let row = format!("| {preset} | {:.1} % |", 100.0 * error);
        assert!(page.contains(&row), "not on the page: {row}");
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
            assert!(page.contains(&row), "not on the page: {preset} {row}");
            instructions(run);
            gap(run);
        }
    }
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

//! How fast the suite's kernels execute functionally, each with its default case.
//!
//! `cargo run --release -p warpwatt-tests --example suite_speed -- [plain] [rounds=N] [KERNEL...]`
//!
//! Prints millions of warp instructions a second, traces recorded unless `plain` is asked for, the best of N rounds (5), preparation of
//! the buffers and comparison of the results left out. Host instructions a warp instruction, as in `docs/execution.md`:
//! `valgrind --tool=callgrind --toggle-collect='warpwatt_simt::execute::execute' target/release/examples/suite_speed rounds=1 KERNEL`.

use std::time::{Duration, Instant};

use warpwatt_suite::{Kernel, RunOptions, kernels, run_case};

struct Asked {
    record: bool,
    rounds: u32,
    names: Vec<String>,
}

fn asked() -> Asked {
    let mut asked = Asked {
        record: true,
        rounds: 5,
        names: Vec::new(),
    };
    for argument in std::env::args().skip(1) {
        match argument.strip_prefix("rounds=") {
            Some(rounds) => asked.rounds = rounds.parse().expect("rounds is a number"),
            None if argument == "plain" => asked.record = false,
            None => asked.names.push(argument),
        }
    }
    asked
}

/// Warp instructions of the kernel's default case and the shortest time for them.
#[expect(clippy::disallowed_methods, reason = "the time is what is asked for")]
fn measure(kernel: &Kernel, asked: &Asked) -> (u64, Duration) {
    let module = warpwatt_ptx::load(kernel.ptx).expect("the suite's PTX is valid");
    let (case, prepared) = kernel.prepare(None).expect("the suite's cases are valid");
    let options = RunOptions {
        record: asked.record,
        ..RunOptions::default()
    };
    let mut best = Duration::MAX;
    let mut instructions = 0;
    for _ in 0..asked.rounds {
        let begin = Instant::now();
        let run = run_case(&module, &case, &prepared, options).expect("the suite's cases run");
        best = best.min(begin.elapsed());
        instructions = run.warp_instructions();
    }
    (instructions, best)
}

fn main() {
    let asked = asked();
    let wanted = |kernel: &&Kernel| {
        asked.names.is_empty() || asked.names.iter().any(|name| name == kernel.name)
    };
    let (mut total, mut seconds) = (0, 0.0);
    for kernel in kernels().iter().filter(wanted) {
        let (instructions, time) = measure(kernel, &asked);
        let rate = instructions as f64 / time.as_secs_f64() / 1e6;
        println!("{:<20}{instructions:>10}{rate:>10.1}", kernel.name);
        total += instructions;
        seconds += time.as_secs_f64();
    }
    println!(
        "{:<20}{total:>10}{:>10.1}",
        "all",
        total as f64 / seconds / 1e6
    );
}

//! Releasing never frees a register whose value some lane still reads: over the whole trace of every kernel, and of random programs.

use crate::random_programs::{steps, traced};
use proptest::prelude::*;
use warpwatt_simt::trace::{KernelTrace, Register, RegisterKind, StaticInst};
use warpwatt_suite::{RunOptions, kernels, run_case};

/// The 32-bit registers that a register is.
fn words(register: Register) -> std::ops::Range<usize> {
    let number = usize::from(register.number);
    match register.kind {
        RegisterKind::Word => number..number + 1,
        RegisterKind::Double => 2 * number..2 * number + 2,
        RegisterKind::Predicate => 0..0,
    }
}

/// What lanes have in a register of a warp.
#[derive(Clone, Copy, Default)]
struct Held {
    /// Lanes that wrote it since it was released last.
    valid: u64,
    /// Lanes whose value went with a release.
    lost: u64,
}

/// How much was checked.
#[derive(Debug, Default)]
struct Seen {
    released_by_readers: u64,
    released_where_paths_meet: u64,
    reads: u64,
}

/// Replays every warp; a lane that reads what a release took away is a fault.
fn check(trace: &KernelTrace, seen: &mut Seen) -> Result<(), String> {
    let code: &[StaticInst] = &trace.code;
    for cta in 0..trace.launch.ctas() {
        for warp in 0..trace.launch.warps_per_cta() {
            let mut held = [Held::default(); 1 << 10];
            for step in trace.warp(cta, warp).unwrap() {
                let inst = &code[step.inst as usize];
                for &word in &inst.release.meeting {
                    let held = &mut held[usize::from(word)];
                    seen.released_where_paths_meet += u64::from(held.valid != 0);
                    held.lost |= std::mem::take(&mut held.valid);
                }
                for word in inst.sources.iter().flat_map(|&source| words(source)) {
                    seen.reads += 1;
                    let missing = step.executed & held[word].lost & !held[word].valid;
                    if missing != 0 {
                        return Err(format!(
                            "{}, line {}: lanes {missing:#x} read register {word}, which was released",
                            trace.kernel, inst.line
                        ));
                    }
                }
                for word in inst
                    .release
                    .sources
                    .iter()
                    .flat_map(|&source| words(source))
                {
                    seen.released_by_readers += 1;
                    let held = &mut held[word];
                    held.lost |= std::mem::take(&mut held.valid);
                }
                for word in inst.destinations.iter().flat_map(|&result| words(result)) {
                    held[word].valid |= step.executed;
                    held[word].lost &= !step.executed;
                }
            }
        }
    }
    Ok(())
}

#[test]
fn no_kernel_of_the_suite_reads_what_was_released() {
    let mut checked = 0;
    for kernel in kernels() {
        let module = warpwatt_ptx::load(kernel.ptx).unwrap();
        let (case, prepared) = kernel.prepare(Some("default")).unwrap();
        let options = RunOptions {
            limit: 1_000_000_000,
            ..RunOptions::default()
        };
        let run = run_case(&module, &case, &prepared, options).unwrap();
        let mut seen = Seen::default();
        for launch in &run.executions {
            let trace = launch.execution.trace.as_ref().unwrap();
            check(trace, &mut seen).unwrap_or_else(|fault| panic!("{}: {fault}", kernel.name));
        }
        assert!(seen.reads > 0, "{}", kernel.name);
        assert!(seen.released_by_readers > 0, "{}: {seen:?}", kernel.name);
        checked += 1;
    }
    assert!(checked >= 40, "the law sees something");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_random_program_reads_what_was_released(steps in steps()) {
        let fault = check(&traced(&steps), &mut Seen::default());
        prop_assert!(fault.is_ok(), "{fault:?}");
    }
}

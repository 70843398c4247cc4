//! Kernels on fewer registers than they would take: the same results, with values in local memory.

use warpwatt_ptx::{Entry, Module};
use warpwatt_suite::{CaseRun, Kernel, RunOptions, kernels, run_case};

fn module(kernel: &Kernel) -> Module {
    warpwatt_ptx::load(kernel.ptx).unwrap()
}

/// The module with each entry on as many registers as `limit` says.
fn limited(module: &Module, limit: impl Fn(&Entry) -> u32) -> Module {
    let mut limited = module.clone();
    for entry in &mut limited.entries {
        let registers = limit(entry);
        *entry = entry.with_registers(registers).unwrap();
        assert!(entry.registers <= registers, "{}", entry.name);
    }
    limited
}

fn run(kernel: &Kernel, module: &Module) -> CaseRun {
    let (case, prepared) = kernel.prepare(Some("default")).unwrap();
    let options = RunOptions {
        record: false,
        limit: 1_000_000_000,
        ..RunOptions::default()
    };
    let run = run_case(module, &case, &prepared, options).unwrap();
    assert!(run.passed(), "{}: {:?}", kernel.name, run.mismatches);
    assert!(run.outputs_compared > 0, "{}", kernel.name);
    run
}

/// Each kernel of the suite under a tight limit, and under the tightest.
#[test]
fn every_kernel_computes_the_same_on_fewer_registers() {
    for kernel in kernels() {
        let module = module(kernel);
        let tight = limited(&module, |entry| {
            (entry.registers * 3 / 5).max(entry.least_registers())
        });
        let tightest = limited(&module, Entry::least_registers);
        run(kernel, &tight);
        run(kernel, &tightest);
        for (tight, tightest) in tight.entries.iter().zip(&tightest.entries) {
            let [some, most] = [tight, tightest].map(|entry| entry.allocation.spills);
            assert!(some.loads <= most.loads && some.stores <= most.stores);
            assert!(most.loads > 0 && most.stores > 0, "{}", tight.name);
        }
    }
}

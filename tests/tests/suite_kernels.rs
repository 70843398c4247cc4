//! The suite's kernels, executed and compared with their references.

use warpwatt_gcn::{Code, Object};
use warpwatt_ptx::Module;
use warpwatt_suite::launch::{Files, LaunchFile};
use warpwatt_suite::machine_code::host_view;
use warpwatt_suite::{
    Build, CaseRun, Kernel, RunError, RunOptions, kernel, kernels, run_case, run_machine_code,
};

fn module(kernel: &Kernel, file: &str, ptx: &str) -> Module {
    let module = warpwatt_ptx::load(ptx);
    let module = module.unwrap_or_else(|errors| panic!("{} {file}: {errors:#?}", kernel.name));
    for entry in &module.entries {
        assert!(
            entry.unsupported.is_empty(),
            "{} {file}: {:#?}",
            kernel.name,
            entry.unsupported
        );
    }
    module
}

/// Runs a case with one of the kernel's PTX files and panics with the first mismatches.
fn run(kernel: &Kernel, case: &str, (file, ptx): (&str, &str), options: RunOptions) -> CaseRun {
    let (case, prepared) = kernel.prepare(Some(case)).unwrap();
    let module = module(kernel, file, ptx);
    let problems = case.check(&module);
    assert!(problems.is_empty(), "{} {file}: {problems:#?}", kernel.name);
    let run = run_case(&module, &case, &prepared, options);
    let run = run.unwrap_or_else(|error| panic!("{} {file}: {error}", kernel.name));
    let wrong = (run.mismatch_count, &run.mismatches);
    assert!(run.passed(), "{} {file}: {wrong:#?}", kernel.name);
    assert!(run.outputs_compared > 0);
    run
}

#[test]
fn every_kernel_computes_what_its_reference_says() {
    for kernel in kernels() {
        for ptx in kernel.ptx_files() {
            run(kernel, "default", ptx, RunOptions::default());
        }
    }
}

/// Results do not depend on how threads are grouped into warps.
#[test]
fn warps_of_64_lanes_compute_the_same() {
    let options = RunOptions {
        warp_width: 64,
        record: false,
        ..RunOptions::default()
    };
    for kernel in kernels() {
        run(kernel, "default", ("kernel.ptx", kernel.ptx), options);
    }
}

/// The same function from PTX and from machine code of Southern Islands leaves the same bytes in every buffer.
#[test]
fn machine_code_leaves_what_ptx_does() {
    let mut compared = 0;
    for kernel in kernels() {
        let Some((file, object)) = kernel.program(Build::Gfx600) else {
            continue;
        };
        let code = Code::new(Object::read(object).unwrap());
        let view = host_view(&code);
        for name in kernel.launch_file().unwrap().cases {
            let name = name.name.get_ref();
            let of_ptx = run(
                kernel,
                name,
                ("kernel.ptx", kernel.ptx),
                RunOptions::default(),
            );
            let (case, prepared) = kernel.prepare(Some(name)).unwrap();
            assert!(case.check(&view).is_empty(), "{} {file}", kernel.name);
            let options = RunOptions {
                warp_width: 64,
                ..RunOptions::default()
            };
            let of_code = run_machine_code((&code, &view), &case, &prepared, options).unwrap();
            assert!(of_code.passed(), "{} {name}", kernel.name);
            for (one, other) in of_ptx.buffers.iter().zip(&of_code.buffers) {
                assert_eq!(
                    one.bytes, other.bytes,
                    "{} {name}: {}",
                    kernel.name, one.name
                );
                compared += 1;
            }
        }
    }
    assert!(compared >= 28, "{compared}");
}

/// A trace has exactly the instructions that were executed.
#[test]
fn traces_hold_every_instruction() {
    let bfs = kernel("bfs").unwrap();
    let run = run(
        bfs,
        "default",
        ("kernel.ptx", bfs.ptx),
        RunOptions::default(),
    );
    assert_eq!(run.executions.len(), 14); // seven rounds of two launches
    for executed in &run.executions {
        let trace = executed.execution.trace.as_ref().unwrap();
        assert_eq!(trace.kernel, executed.kernel);
        assert_eq!(
            trace.warp_instructions(),
            executed.execution.warp_instructions
        );
    }
}

/// A wrong expectation is found, counted and placed.
#[test]
fn a_wrong_element_is_reported() {
    let vector_add = kernel("vector_add").unwrap();
    let (case, mut prepared) = vector_add.prepare(None).unwrap();
    let c = prepared.buffer_mut("c").unwrap();
    for index in [7, 4000, 130_999] {
        c.expected.as_mut().unwrap()[4 * index] ^= 1;
    }
    let module = module(vector_add, "kernel.ptx", vector_add.ptx);
    let options = RunOptions {
        listed: 2,
        ..RunOptions::default()
    };
    let run = run_case(&module, &case, &prepared, options).unwrap();
    assert!(!run.passed());
    assert_eq!(run.mismatch_count, 3);
    let places: Vec<_> = run
        .mismatches
        .iter()
        .map(|wrong| (wrong.buffer.as_str(), wrong.index))
        .collect();
    assert_eq!(places, [("c", 7), ("c", 4000)]);
}

/// Buffers that a case calls inputs must be unchanged.
#[test]
fn a_changed_input_is_a_mismatch() {
    let vector_add = kernel("vector_add").unwrap();
    let text = vector_add.launch.replace("kind = \"out\"", "kind = \"in\"");
    let text = text.replace("tol_abs = 0\ntol_rel = 0\n", "");
    let file = LaunchFile::parse(&text).unwrap();
    let module = module(vector_add, "kernel.ptx", vector_add.ptx);
    let prepared = file.cases[0].prepare(&module, Files::None).unwrap();
    let run = run_case(&module, &file.cases[0], &prepared, RunOptions::default()).unwrap();
    assert_eq!(run.mismatch_count, 131_000);
    assert_eq!(run.outputs_compared, 0);
}

#[test]
fn loops_and_limits_end_with_an_error() {
    let bfs = kernel("bfs").unwrap();
    let module = module(bfs, "kernel.ptx", bfs.ptx);
    let file = LaunchFile::parse(&bfs.launch.replace("max = 64", "max = 3")).unwrap();
    let prepared = file.cases[0].prepare(&module, Files::None).unwrap();
    let error = run_case(&module, &file.cases[0], &prepared, RunOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "`over` is still not zero after 3 rounds");
    let (case, prepared) = bfs.prepare(None).unwrap();
    let options = RunOptions {
        limit: 2000,
        ..RunOptions::default()
    };
    let error = run_case(&module, &case, &prepared, options).unwrap_err();
    assert!(
        matches!(error, RunError::Launch { launch: 1.., .. }),
        "{error}"
    );
}

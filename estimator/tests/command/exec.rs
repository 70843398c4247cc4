//! `warpwatt exec` with small programs in C, which are compiled where a compiler is found.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program of that name; none, with the reason on standard error, where it cannot be compiled or run.
fn program(name: &str) -> Option<PathBuf> {
    if !cfg!(target_os = "linux") {
        eprintln!("skipped: programs find the runtime on Linux only");
        return None;
    }
    let command = Path::new(env!("CARGO_BIN_EXE_warpwatt"));
    let folder = command.parent()?;
    let places = [folder.to_path_buf(), folder.join("deps")];
    let library = places.map(|place| place.join("libwarpwatt_cudart.so"));
    let Some(library) = library.into_iter().find(|path| path.is_file()) else {
        eprintln!("skipped: libwarpwatt_cudart.so was not built");
        return None;
    };
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/programs/own");
    let binary = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("exec-{name}"));
    // As a program of CUDA 13 is: it asks for that library, in that version.
    let stub = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("exec-{name}.so"));
    let bytes = warpwatt_cudart::stub::shared_object("libcudart.so.13", &library.to_string_lossy());
    std::fs::write(&stub, bytes).unwrap();
    let compiled = Command::new("cc")
        .args(["-Wl,--no-as-needed", "-o"])
        .arg(&binary)
        .arg(sources.join(format!("{name}.c")))
        .args([&stub, &library])
        .output();
    match compiled {
        Err(error) => {
            eprintln!("skipped: there is no C compiler: {error}");
            None
        }
        Ok(output) if output.status.success() => Some(binary),
        Ok(output) => panic!("{}", String::from_utf8_lossy(&output.stderr)),
    }
}

fn exec(options: &[&str], program: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpwatt"));
    command.arg("exec").args(options).arg("--").arg(program);
    command.args(words).output().unwrap()
}

#[test]
fn a_program_runs_and_its_kernels_are_priced() {
    let Some(program) = program("scale") else {
        return;
    };
    let json = Path::new(env!("CARGO_TARGET_TMPDIR")).join("exec-scale.json");
    let json_text = json.to_string_lossy();
    let options = ["--technique", "power_gating", "--json", &json_text];
    let output = exec(&options, &program, &["3"]);
    let report = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(7), "{report}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "PASS, timed\n");
    assert!(
        report.contains("4 calls") && report.contains("with power_gating"),
        "{report}"
    );
    assert!(report.contains("neither timed nor priced"), "{report}");
    let value: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    let kernel = &value["kernels"][0];
    assert_eq!((&kernel["calls"], &kernel["timed"]), (&4.into(), &4.into()));
    assert!(kernel["configurations"][0]["energy_j"].as_f64().unwrap() > 0.0);
    assert_eq!(kernel["configurations"].as_array().unwrap().len(), 2);
    // Device memory is written by each launch, but its addresses stay; managed memory lies elsewhere.
    assert_eq!(value["distinct_launches_timed"], 2);
}

#[test]
fn a_launch_that_repeats_another_is_timed_once_and_bounds_are_told() {
    let Some(program) = program("scale") else {
        return;
    };
    let output = exec(&["--launches", "1"], &program, &["5"]);
    let report = String::from_utf8_lossy(&output.stderr);
    assert!(
        report.contains("5 of 6 launches timed, 1 of them different"),
        "{report}"
    );
    assert!(report.contains("1 launch: too many others"), "{report}");
    let output = exec(&["--functional"], &program, &["5"]);
    let report = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "PASS, not timed\n");
    assert!(
        report.contains("not timed") && !report.contains(" J"),
        "{report}"
    );
}

#[test]
fn a_fault_is_told_with_its_place_and_stays() {
    let Some(program) = program("fault") else {
        return;
    };
    let output = exec(&[], &program, &[]);
    let report = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "cudaErrorIllegalAddress 700 700\n"
    );
    assert!(report.contains("in `wild` at PTX line 8"), "{report}");
    assert!(report.contains("a kernel stopped: "), "{report}");
}

#[test]
fn what_cannot_begin_is_told() {
    let missing = exec(&[], Path::new("./no-such-program"), &[]);
    assert_eq!(missing.status.code(), Some(2));
    let report = String::from_utf8_lossy(&missing.stderr);
    assert!(report.contains("there is no program"), "{report}");
    let technique = exec(&["-t", "no_such_technique"], Path::new("/bin/true"), &[]);
    assert_eq!(technique.status.code(), Some(2));
}

#[test]
fn a_program_without_kernels_is_passed_through() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let output = exec(
        &["--functional"],
        Path::new("/bin/sh"),
        &["-c", "echo out; exit 3"],
    );
    if output.status.code() == Some(2) {
        eprintln!("skipped: {}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "out\n");
    let report = String::from_utf8_lossy(&output.stderr);
    assert!(report.contains("called no function"), "{report}");
}

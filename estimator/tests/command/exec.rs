//! `warpwatt exec` with small programs in C, which are compiled where a compiler is found.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

/// Programs so far: tests run side by side, and each has its own.
static PROGRAMS: AtomicU32 = AtomicU32::new(0);

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
    let number = PROGRAMS.fetch_add(1, Ordering::Relaxed);
    let binary = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("exec-{name}-{number}"));
    // As a program of CUDA 13 is: it asks for these libraries, in that version.
    let stubs = ["libcudart.so.13", "libcublas.so.13"].map(|asked| {
        let stub = format!("exec-{name}-{number}-{asked}");
        let stub = Path::new(env!("CARGO_TARGET_TMPDIR")).join(stub);
        let bytes = warpwatt_cudart::stub::shared_object(asked, &library.to_string_lossy());
        std::fs::write(&stub, bytes).unwrap();
        stub
    });
    let compiled = Command::new("cc")
        .args(["-Wl,--no-as-needed", "-o"])
        .arg(&binary)
        .arg(sources.join(format!("{name}.c")))
        .args(stubs)
        .arg(&library)
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
    let beside = ["csv", "html", "timeline"].map(|ending| {
        let path = json.with_extension(ending);
        path.to_string_lossy().into_owned()
    });
    let [csv, html, timeline] = &beside;
    let files = ["--csv", csv, "--html", html, "--timeline", timeline];
    let options = ["--technique", "power_gating", "--json", &json_text];
    let options = [&options[..], &files].concat();
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
    let with = &kernel["configurations"][1];
    assert!(with["energy_change"].as_f64().unwrap() != 0.0);
    assert!(with["energy_change_halfwidth"].as_f64().unwrap() > 0.0);
    let plain = &kernel["configurations"][0];
    let figure = |key: &str| plain[key].as_f64().unwrap();
    assert!(figure("energy_halfwidth_j") > 0.1 * figure("energy_j"));
    assert!(figure("peak_power_w") >= figure("power_w") * (1.0 - 1e-9));
    let [csv, html, timeline] = beside.map(|path| std::fs::read_to_string(path).unwrap());
    let header = csv.lines().next().unwrap().split(',').count();
    assert_eq!(
        csv.lines().count(),
        5,
        "two configurations of a kernel and of all: {csv}"
    );
    assert!(
        csv.lines().all(|line| line.split(',').count() == header),
        "{csv}"
    );
    assert!(
        html.contains("<h2>Techniques</h2>") && html.contains("twice"),
        "{html}"
    );
    let page: serde_json::Value = serde_json::from_str(&timeline).unwrap();
    let events = page["traceEvents"].as_array().unwrap();
    let launches = events.iter().filter(|event| event["ph"] == "X");
    let nanoseconds: u64 = launches.map(|event| event["dur"].as_u64().unwrap()).sum();
    assert!((nanoseconds as f64 - 1e9 * figure("time_s")).abs() < 4.0);
    // Device memory is written by each launch, but its addresses stay; managed memory lies elsewhere.
    assert_eq!(value["distinct_launches_timed"], 2);
}

#[test]
fn what_kernels_print_is_the_programs_when_it_waits_and_assertions_are_told() {
    let Some(program) = program("print") else {
        return;
    };
    let output = exec(&["--functional"], &program, &[]);
    let report = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "launched\nk 0\nk 1\nwaited\nk 0\n710 cudaErrorAssert\n",
        "{report}"
    );
    assert!(report.contains("x:9: x: Assertion `x` failed"), "{report}");
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
fn what_a_gpu_does_not_notice_is_done_and_told_unless_it_is_to_stop() {
    let Some(program) = program("behind") else {
        return;
    };
    let json = Path::new(env!("CARGO_TARGET_TMPDIR")).join("exec-behind.json");
    let output = exec(&["--json", &json.to_string_lossy()], &program, &[]);
    let report = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "0: 10 21 32\n",
        "{report}"
    );
    let told = "`careless` reached byte 256 of device memory at 0xc0200000, which has 256;";
    assert_eq!(report.matches(told).count(), 2, "{report}");
    let json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    assert_eq!(json["behind"][0]["kernel"], "careless");
    assert!(json["stopped"].as_array().unwrap().is_empty());
    let output = exec(&["--sanitize"], &program, &[]);
    let report = String::from_utf8_lossy(&output.stderr);
    assert!(
        report.contains("member mask 0xffff does not name it"),
        "{report}"
    );
    assert!(report.contains("in `careless` at PTX line 11"), "{report}");
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

/// What `rounds` comes to: its report, and what its events say, in seconds.
fn rounds(program: &Path, options: &[&str]) -> (serde_json::Value, f64) {
    let number = PROGRAMS.fetch_add(1, Ordering::Relaxed);
    let json = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("exec-rounds-{number}.json"));
    let json_text = json.to_string_lossy();
    let options = [options, &["--json", &json_text]].concat();
    let output = exec(&options, program, &["160"]);
    let report = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{report}");
    let printed = String::from_utf8_lossy(&output.stdout);
    let milliseconds: f64 = printed.trim().parse().unwrap();
    let text = std::fs::read_to_string(&json).unwrap();
    (serde_json::from_str(&text).unwrap(), milliseconds / 1e3)
}

#[test]
fn a_few_launches_stand_for_those_that_are_alike_and_say_how_sure_that_is() {
    let Some(program) = program("rounds") else {
        return;
    };
    let technique = ["--technique", "power_gating"];
    let (exact, _) = rounds(&program, &technique);
    let sample = [&technique[..], &["--sample", "error=2%", "--jobs", "1"]].concat();
    let (sampled, seconds) = rounds(&program, &sample);
    let all = &sampled["all_kernels"];
    let (timed, alike) = (
        all["timed"].as_u64().unwrap(),
        all["alike"].as_u64().unwrap(),
    );
    assert_eq!(timed + alike, 160);
    assert!(timed < 60, "{timed}");
    let figure = |value: &serde_json::Value, place: usize, key: &str| {
        let configuration = &value["all_kernels"]["configurations"][place];
        configuration[key].as_f64().unwrap()
    };
    for place in 0..2 {
        for (key, half) in [
            ("time_s", "time_halfwidth_s"),
            ("energy_j", "energy_halfwidth_j"),
        ] {
            let (of_all, of_few) = (figure(&exact, place, key), figure(&sampled, place, key));
            let off = (of_few - of_all).abs();
            assert!(
                off <= figure(&sampled, place, half),
                "{key} {of_few} {of_all}"
            );
            assert!(off / of_all < 0.01, "{key} {of_few} {of_all}");
        }
    }
    // Both sides of a change were timed with the same launches.
    let change = |value| figure(value, 1, "energy_change");
    let off = (change(&sampled) - change(&exact)).abs();
    assert!(off < 0.002, "{} {}", change(&sampled), change(&exact));
    assert_eq!(figure(&exact, 0, "time_halfwidth_s"), 0.0);
    assert!(figure(&sampled, 0, "time_halfwidth_s") < 0.02 * figure(&sampled, 0, "time_s"));
    assert!(
        (seconds / figure(&exact, 0, "time_s") - 1.0).abs() < 0.02,
        "{seconds}"
    );
    // What is timed does not depend on who is quick.
    let sample = [&technique[..], &["--sample", "error=2%", "--jobs", "4"]].concat();
    assert_eq!(rounds(&program, &sample), (sampled, seconds));
}

#[test]
fn functions_of_cublas_have_kernels_of_our_own() {
    let Some(program) = program("blas") else {
        return;
    };
    let output = exec(&[], &program, &[]);
    let (said, report) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    // 1 + 30 + 500, 2 + 40 + 600, twice that; 1 + 20 + 300 + 8 + 100 + 1200.
    let expected = "0 0 0 CUBLAS_STATUS_INVALID_VALUE CUBLAS_STATUS_NOT_SUPPORTED 0 CUBLAS_STATUS_NOT_INITIALIZED\n531 642 1062 1284, 1629, 0\n";
    assert_eq!(said, expected, "{report}");
    assert!(
        report.contains("cublasSsyrk_v2 is not supported"),
        "{report}"
    );
    assert!(report.contains("gemm_f32_32"), "{report}");
    let told = report.matches("kernels of warpwatt's own").count();
    assert_eq!(told, 1, "{report}");
}

#[test]
fn a_report_that_cannot_be_written_is_refused_before_the_program_runs() {
    let Some(program) = program("blas") else {
        return;
    };
    let output = exec(&["--json", "/dev/null"], &program, &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let report = String::from_utf8_lossy(&output.stderr);
    assert!(report.contains("output::unwritable"), "{report}");
}

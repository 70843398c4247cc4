//! `warpwatt kernel` and `warpwatt list` through the command.

use std::collections::BTreeMap;
use std::fs;

use crate::common::{Scratch, command, errors, stderr, stdout, warpwatt};
use serde_json::Value;

fn json(arguments: &[&str]) -> (Option<i32>, Value) {
    let output = warpwatt(&errors(), arguments);
    let document = serde_json::from_slice(&output.stdout);
    (
        output.status.code(),
        document.unwrap_or_else(|error| panic!("{error}: {}", stderr(&output))),
    )
}

#[test]
fn a_kernel_of_the_suite_passes_and_is_timed() {
    let (code, value) = json(&["kernel", "vector_add", "--json"]);
    assert_eq!(code, Some(0));
    assert_eq!(value["passed"], true);
    assert_eq!(value["mismatches"], Value::Array(vec![]));
    let count = |key: &str| value[key].as_u64().unwrap();
    assert!(count("cycles") > 0);
    assert!(
        count("thread_instructions") > 31 * count("warp_instructions"),
        "nearly all lanes are busy"
    );
    assert_eq!(value["counters"]["cycles"], value["cycles"]);
}

#[test]
fn settings_of_the_gpu_and_the_warp_width_take_effect() {
    let (_, base) = json(&["kernel", "mandelbrot", "--json"]);
    let (_, half) = json(&["kernel", "mandelbrot", "--json", "--set", "sm.count=8"]);
    assert!(
        half["cycles"].as_u64() > base["cycles"].as_u64(),
        "half of the SMs take longer"
    );
    let (_, wide) = json(&[
        "kernel",
        "mandelbrot",
        "--json",
        "--no-timing",
        "--warp-width",
        "64",
    ]);
    assert_eq!(wide["passed"], true);
    assert_eq!(wide["cycles"], Value::Null);
    assert!(wide["warp_instructions"].as_u64() < base["warp_instructions"].as_u64());
}

/// Stores of one value are notes; a barrier left out is a race that matters, with both lines.
#[test]
fn races_are_told_and_decide_the_exit_code_if_they_matter() {
    let options = ["--check-races", "--no-timing", "--json"];
    let run = |first: &[&str]| json(&[first, &options].concat());
    let (code, value) = run(&["kernel", "bfs"]);
    assert_eq!(code, Some(0));
    let races = value["races"].as_array().unwrap();
    assert!(!races.is_empty());
    assert!(
        races
            .iter()
            .all(|race| race["same_value"] == true && race["matters"] == false)
    );

    let scratch = Scratch::new();
    let kernels = errors().join("../../../workloads/kernels");
    let ptx = fs::read_to_string(kernels.join("scan/kernel.ptx")).unwrap();
    scratch.write("scan.ptx", &ptx.replace("bar.sync", "// bar.sync"));
    let path = scratch.path("scan.ptx");
    let (code, value) = run(&["kernel", "scan", "--ptx", path.to_str().unwrap()]);
    assert_eq!(code, Some(1));
    let race = &value["races"][0];
    assert_eq!(
        (&race["kind"], &race["matters"]),
        (&Value::from("shared"), &Value::from(true))
    );
    assert!(race["first"]["line"].as_u64() > Some(0) && race["second"]["line"].as_u64() > Some(0));

    let (code, value) = run(&["kernel", "scan"]);
    assert_eq!((code, &value["races"]), (Some(0), &Value::Array(vec![])));
    let (_, value) = json(&["kernel", "scan", "--no-timing", "--json"]);
    assert_eq!(value["races"], Value::Null, "not looked for");
}

/// The default GPU has 16 KiB of shared memory an SM: a kernel that wants more is checked all the same.
#[test]
fn a_kernel_that_does_not_fit_the_default_gpu_is_checked_but_not_timed() {
    let scratch = Scratch::new();
    let ptx = fs::read_to_string(errors().join("launches/copy.ptx")).unwrap();
    let large = ".reg .b32 %large; .shared .align 4 .b8 large[32768]; mov.u32 %large, large;";
    scratch.write(
        "copy.ptx",
        &ptx.replacen(".reg", &format!("{large} .reg"), 1),
    );
    fs::copy(
        errors().join("launches/copy.toml"),
        scratch.path("copy.toml"),
    )
    .unwrap();
    let run = |more: &[&str]| {
        let arguments = [&["kernel", "copy.toml", "--json"], more].concat();
        let output = warpwatt(&scratch.path(""), &arguments);
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), value)
    };
    let (code, value) = run(&[]);
    assert_eq!((code, &value["cycles"]), (Some(0), &Value::Null), "{value}");
    assert!(
        value["timing_error"]
            .as_str()
            .unwrap()
            .contains("does not fit"),
        "{value}"
    );
    let (code, _) = run(&["--preset", "tesla-16sm", "--dump", "to=to.bin"]);
    assert_eq!(code, Some(2), "a GPU that was asked for must fit");
    assert!(!scratch.path("to.bin").exists(), "and nothing is written");
    for asked in [
        &["--node", "7nm"][..],
        &["--node", "7nm", "--power", "p.csv"],
        &["--activity", "p.csv"],
    ] {
        let (code, value) = run(asked);
        assert_eq!(code, Some(2), "{asked:?} needs its time: {value}");
        assert!(value.to_string().contains("sm.shared_bytes to at least"));
    }
    assert!(!scratch.path("p.csv").exists());
    let (code, value) = run(&["--set", "sm.shared_bytes=65536"]);
    assert_eq!(code, Some(0));
    assert!(value["cycles"].as_u64() > Some(0));
}

#[test]
fn a_wrong_result_is_shown_and_ends_with_one() {
    let scratch = Scratch::new();
    let launch = fs::read_to_string(errors().join("launches/copy.toml")).unwrap();
    let launch = launch.replace(
        "init = \"zeros()\"",
        "init = \"zeros()\"\nfile = \"want.bin\"",
    );
    scratch.write("copy.toml", &launch);
    fs::copy(errors().join("launches/copy.ptx"), scratch.path("copy.ptx")).unwrap();
    let want: Vec<u8> = (0..32u32)
        .flat_map(|word| (if word == 7 { 99 } else { word }).to_le_bytes())
        .collect();
    fs::write(scratch.path("want.bin"), want).unwrap();
    let output = warpwatt(
        &scratch.path(""),
        &["kernel", "copy.toml", "--json", "--dump", "to=to.bin"],
    );
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["passed"], false);
    assert_eq!(value["mismatch_count"], 1);
    assert_eq!(
        value["mismatches"][0],
        serde_json::json!({ "buffer": "to", "index": 7, "got": 7, "want": 99 })
    );
    let dumped = fs::read(scratch.path("to.bin")).unwrap();
    assert_eq!(
        dumped,
        (0..32u32).flat_map(u32::to_le_bytes).collect::<Vec<u8>>()
    );
    let text = stdout(&warpwatt(&scratch.path(""), &["kernel", "copy.toml"]));
    assert!(
        text.contains("FAIL") && text.contains("to[7]: got 7, want 99"),
        "{text}"
    );
}

#[test]
fn faults_of_a_kernel_are_shown_with_their_line() {
    let copy = "launches/copy.toml";
    for (ptx, limit, code, words) in [
        ("launches/endless.ptx", "1000", "kernel::fault", "limit"),
        (
            "launches/out_of_bounds.ptx",
            "1000",
            "kernel::fault",
            "outside",
        ),
        (
            "launches/misaligned.ptx",
            "1000",
            "kernel::fault",
            "misaligned",
        ),
        ("launches/syntax.ptx", "1000", "ptx::", "^"),
        ("launches/unsupported.ptx", "1000", "ptx::", "frobnicate"),
    ] {
        let output = warpwatt(&errors(), &["kernel", copy, "--ptx", ptx, "--limit", limit]);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(
            text.contains(code) && text.contains(words) && text.contains(&format!("--> {ptx}:")),
            "{text}"
        );
    }
}

#[test]
fn names_that_do_not_exist_come_with_the_nearest_one() {
    for (arguments, nearest) in [
        (vec!["kernel", "vector_ad"], "vector_add"),
        (
            vec!["kernel", "vector_add", "--preset", "tesla"],
            "tesla-16sm",
        ),
        (vec!["kernel", "vector_add", "--case", "defalt"], "default"),
        (
            vec!["kernel", "vector_add", "--set", "sm.thread=1"],
            "threads",
        ),
    ] {
        let output = warpwatt(&errors(), &arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(nearest), "{}", stderr(&output));
    }
}

#[test]
fn every_listing_is_text_and_json() {
    for what in ["presets", "nodes", "kernels", "techniques", "counters"] {
        let (code, value) = json(&["list", what, "--json"]);
        assert_eq!(code, Some(0));
        assert!(
            value.as_array().is_some_and(|entries| !entries.is_empty()),
            "{what}"
        );
        let text = stdout(&warpwatt(&errors(), &["list", what]));
        for entry in value.as_array().unwrap() {
            let name = entry["name"].as_str().or(entry["node"].as_str()).unwrap();
            assert!(text.contains(name), "{what}: {name}");
        }
    }
}

#[test]
fn a_listing_is_a_line_each_and_one_in_full_with_its_name() {
    let text = |words: &[&str]| stdout(&warpwatt(&errors(), words));
    let presets = text(&["list", "presets"]);
    assert!(presets.lines().count() <= 24, "{presets}");
    let narrow = command(&errors())
        .args(["list", "presets"])
        .env("COLUMNS", "60")
        .output();
    let narrow = stdout(&narrow.unwrap());
    assert_eq!(narrow.lines().count(), presets.lines().count());
    assert!(
        narrow.lines().all(|line| line.chars().count() <= 60),
        "{narrow}"
    );
    let preset = text(&["list", "presets", "v100"]);
    assert!(preset.starts_with("v100\n") && preset.contains("[sm]"));
    assert!(!preset.contains("gtx480\n"), "{preset}");
    assert!(text(&["list", "kernels", "hotspot"]).contains("thread instructions"));
    assert!(text(&["list", "techniques", "filter_cache"]).contains("entries"));
    assert!(text(&["list", "metrics", "energy_j"]).contains("better: lower"));
    assert!(text(&["list", "counters", "fetches"]).starts_with("fetches: "));
    assert!(text(&["list", "nodes", "7nm"]).contains("hp"));

    for (what, key, name) in [
        ("presets", "name", "v100"),
        ("kernels", "name", "hotspot"),
        ("nodes", "node", "32nm"),
    ] {
        let (_, all) = json(&["list", what, "--json"]);
        let (code, one) = json(&["list", what, name, "--json"]);
        assert_eq!(code, Some(0));
        let all = all.as_array().unwrap().iter();
        let wanted: Vec<_> = all.filter(|entry| entry[key] == name).collect();
        assert!(!wanted.is_empty());
        assert_eq!(one.as_array().unwrap().iter().collect::<Vec<_>>(), wanted);
    }
}

#[test]
fn help_teaches() {
    for arguments in [
        vec!["--help"],
        vec!["run", "--help"],
        vec!["kernel", "--help"],
        vec!["trace", "--help"],
        vec!["avf", "--help"],
        vec!["list", "--help"],
        vec!["report", "--help"],
    ] {
        let output = warpwatt(&errors(), &arguments);
        assert_eq!(output.status.code(), Some(0));
        assert!(stdout(&output).contains("Examples:"), "{arguments:?}");
    }
    assert!(stdout(&warpwatt(&errors(), &["--help"])).contains("Exit codes:"));
}

/// The same buffers on fewer registers, with more instructions; the launch file's limit and the command's do the same.
#[test]
fn a_limit_of_registers_is_kept_and_one_too_low_is_refused() {
    let (_, free) = json(&["kernel", "hotspot", "--json"]);
    let (code, limited) = json(&["kernel", "hotspot", "--registers", "16", "--json"]);
    assert_eq!(code, Some(0));
    assert_eq!(limited["passed"], true);
    let registers = |value: &Value| value["registers"][0].clone();
    assert!(registers(&free)["registers"].as_u64() > Some(16));
    assert_eq!(registers(&free)["spill_loads"], 0);
    assert_eq!(registers(&limited)["registers"], 16);
    assert!(registers(&limited)["spill_loads"].as_u64() > Some(0));
    let count = |value: &Value| value["warp_instructions"].as_u64();
    assert!(count(&limited) > count(&free));

    let scratch = Scratch::new();
    let ptx = fs::read_to_string(errors().join("launches/copy.ptx")).unwrap();
    let launch = fs::read_to_string(errors().join("launches/copy.toml")).unwrap();
    scratch.write("copy.ptx", &ptx);
    let write = |limit: &str| {
        let line = format!("[small]\nregisters = {limit}");
        scratch.write("copy.toml", &launch.replace("[small]", &line));
        warpwatt(&scratch.path(""), &["kernel", "copy.toml", "--json"])
    };
    let value: Value = serde_json::from_slice(&write("4").stdout).unwrap();
    assert_eq!(value["registers"][0]["registers"], 4);
    for (limit, message) in [
        ("3", "`copy` needs at least 4 registers, not 3"),
        ("0", "`registers` must be from 1 to 255, not 0"),
        ("\"all\"", "`registers` must be an integer"),
    ] {
        let output = write(limit);
        assert_eq!(output.status.code(), Some(2));
        let text = stderr(&output) + &stdout(&output);
        assert!(text.contains(message), "{text}");
    }
}

/// Zero banks, no clock, more warps than an SM has slots for, a network without ports, a cache beyond all memory: each with its path, all at once, from the
/// command line and from a study.
#[test]
fn gpus_that_cannot_be_are_refused_with_all_that_is_wrong() {
    let wrong = [
        ("sm.threads", "4096"),
        ("sm.clock_mhz", "0"),
        ("dram.banks", "0"),
        ("dram.burst", "-1"),
        ("noc.sms_per_port", "0"),
        ("units.sp.lanes", "0"),
        ("icache.ways", "0"),
        ("operands.collectors", "3"),
        ("l1.line_bytes", "100"),
        ("l2.kb", "4194304"),
        ("scheduler.policy", "\"lottery\""),
        ("fetch.warps", "1.5"),
        ("sm.thread", "1"),
    ];
    let mut arguments = vec!["kernel", "vector_add", "--preset", "v100"];
    let settings: Vec<String> = wrong
        .iter()
        .map(|(path, value)| format!("{path}={value}"))
        .collect();
    for setting in &settings {
        arguments.extend(["--set", setting]);
    }
    let scratch = Scratch::new();
    let study = settings.join("\n");
    scratch.write(
        "study.toml",
        &format!(
            "[study]\ntitle = \"t\"\n[gpu]\npreset = \"v100\"\nnode = \"32nm\"\n{study}\n[workloads]\nkernels = [\"vector_add\"]\n"
        ),
    );
    for arguments in [arguments, vec!["run", "study.toml"]] {
        let output = warpwatt(&scratch.path(""), &arguments);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        for (path, _) in wrong {
            assert!(text.contains(path), "{path}: {text}");
        }
        assert!(text.matches("help").count() >= 10, "with remedies: {text}");
    }
}

/// What does not fit says all that is missing and what would be enough.
#[test]
fn a_cta_that_does_not_fit_says_what_would_be_enough() {
    let output = warpwatt(
        &errors(),
        &[
            "kernel",
            "matrix_mul",
            "--set",
            "sm.threads=64",
            "--set",
            "sm.shared_bytes=512",
        ],
    );
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    for words in [
        "does not fit an SM",
        "set sm.threads to at least 256 and sm.shared_bytes to at least",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn a_limit_of_cycles_ends_the_run_with_what_every_warp_waits_for() {
    let output = warpwatt(&errors(), &["kernel", "vector_add", "--cycle-limit", "500"]);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    for words in ["by cycle 500", "SM 15, CTA", "--cycle-limit"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let (code, value) = json(&[
        "kernel",
        "vector_add",
        "--cycle-limit",
        "100000000",
        "--json",
    ]);
    assert_eq!(code, Some(0), "{value}");
}

/// A price names its GPU, a file of power is named with its windows, and numbers without a unit say which they lack, all at once.
#[test]
fn conditions_are_asked_for_and_answered_in_words() {
    let scratch = Scratch::new();
    let run = |arguments: &[&str]| {
        let arguments = [&["kernel", "vector_add"], arguments].concat();
        warpwatt(&scratch.path(""), &arguments)
    };
    let output = run(&["--node", "12nm", "--power", "p.csv"]);
    let said = stdout(&output);
    assert!(said.contains("  tesla-16sm at 12nm hp, "), "{said}");
    let rows = fs::read_to_string(scratch.path("p.csv")).unwrap();
    let line = format!(
        "  power over time, {} windows: p.csv",
        rows.lines().count() - 1
    );
    assert!(said.contains(&line), "{said}");
    let output = run(&["--node", "12", "--vdd", "0.7", "--temperature", "350"]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    for remedy in ["`--node 12nm`", "`--vdd 0.7V`", "`--temperature 350K`"] {
        assert!(said.contains(remedy), "{said}");
    }
}

/// The SMs and what belongs to none add up to the GPU, structure by structure; the timeline shows the same watts.
#[test]
fn power_is_parted_by_sm_and_shown_on_the_timeline() {
    let scratch = Scratch::new();
    let run = |more: &[&str]| {
        let kernel = [
            "kernel",
            "matmul_tiled",
            "--preset",
            "v100",
            "--node",
            "12nm",
        ];
        let output = warpwatt(&scratch.path(""), &[&kernel[..], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    };
    let table = |name: &str| -> Vec<BTreeMap<String, f64>> {
        let mut rows = csv::Reader::from_path(scratch.path(name)).unwrap();
        let rows = rows.deserialize().map(|row| row.unwrap());
        let number = |(key, cell): (String, String)| Some((key, cell.parse().ok()?));
        rows.map(|row: BTreeMap<String, String>| row.into_iter().filter_map(number).collect())
            .collect()
    };
    let window = ["--power-window", "500"];
    run(&[&["--power", "gpu.csv"], &window[..]].concat());
    let sms = [
        "--power",
        "sm.csv",
        "--power-by",
        "sm",
        "--timeline",
        "t.json",
    ];
    run(&[&sms, &window[..]].concat());
    let (whole, parts) = (table("gpu.csv"), table("sm.csv"));
    assert_eq!(parts.len(), 81 * whole.len());
    let mut uneven = false;
    for (window, parts) in whole.iter().zip(parts.chunks(81)) {
        for (key, watts) in window.iter().filter(|(key, _)| key.ends_with("_w")) {
            let sum: f64 = parts.iter().filter_map(|row| row.get(key)).sum();
            approx::assert_relative_eq!(sum, watts, max_relative = 1e-9, epsilon = 1e-12);
        }
        uneven |= parts[0]["power_w"] != parts[79]["power_w"];
        assert!(parts[0].contains_key("register_file_w") && !parts[0].contains_key("l2.data_w"));
        assert!(!parts[80].contains_key("sm") && parts[80].contains_key("l2.data_w"));
    }
    assert!(uneven, "not all SMs do the same at all times");
    let timeline = fs::read_to_string(scratch.path("t.json")).unwrap();
    let timeline: Value = serde_json::from_str(&timeline).unwrap();
    let shown = |pid: u64, name: &str| -> Vec<f64> {
        let events = timeline["traceEvents"].as_array().unwrap().iter();
        let events = events.filter(|it| it["pid"] == pid && it["name"] == name);
        events
            .map(|it| it["args"]["value"].as_f64().unwrap())
            .collect()
    };
    let gpu = shown(100_000, "power, W");
    assert_eq!(gpu.len(), whole.len());
    let groups = [
        "front_end",
        "storage",
        "execution",
        "uncore",
        "dram",
        "clock",
    ];
    let groups = groups.map(|group| shown(100_000, &format!("power of {group}, W")));
    let (first, second) = (shown(1, "power, W"), shown(2, "power, W"));
    for (number, window) in whole.iter().enumerate() {
        approx::assert_abs_diff_eq!(gpu[number], window["power_w"], epsilon = 1e-5);
        let sum: f64 = groups.iter().map(|group| group[number]).sum();
        approx::assert_abs_diff_eq!(gpu[number], sum, epsilon = 1e-4);
        for (sm, shown) in [&first, &second].into_iter().enumerate() {
            let watts = parts[81 * number + sm]["power_w"];
            approx::assert_abs_diff_eq!(shown[number], watts, epsilon = 1e-5);
        }
    }
}

/// What `--activity` writes is priced like the kernel itself, to the last bit.
#[test]
fn counts_that_were_written_out_are_priced_alike() {
    let scratch = Scratch::new();
    let run = |arguments: &[&str]| {
        let output = warpwatt(&scratch.path(""), arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output)
    };
    run(&["kernel", "vector_add", "--activity", "counts.csv"]);
    let totals = |kernel: &str, out: &str| {
        let study = format!(
            "[study]\ntitle = \"x\"\n[gpu]\npreset = \"tesla-16sm\"\nnode = \"7nm\"\n[workloads]\nkernels = [{kernel}]\n"
        );
        scratch.write("study.toml", &study);
        let text = run(&["run", "study.toml", "--quiet", "--json", "--out", out]);
        let report: Value = serde_json::from_str(&text).unwrap();
        let point = &report["points"][0];
        (
            point["totals"].clone(),
            point["structures"].clone(),
            point["time_s"].clone(),
        )
    };
    let executed = totals("\"vector_add\"", "one");
    assert_eq!(
        executed,
        totals("{ activity = { file = \"counts.csv\" } }", "other")
    );
    assert!(executed.0["dynamic_j"].as_f64().unwrap() > 0.0);
    let output = warpwatt(
        &scratch.path(""),
        &["kernel", "vector_add", "--activity", "x.csv", "--no-timing"],
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(!scratch.path("x.csv").exists());
}

/// Opcodes and lines of the source share the dynamic energy; issues are all counted.
#[test]
fn energy_by_opcode_and_by_line_is_that_of_the_run() {
    let arguments = [
        "kernel",
        "matmul_tiled",
        "--preset",
        "v100",
        "--node",
        "12nm",
    ];
    let (code, value) = json(&[&arguments[..], &["--json"]].concat());
    assert_eq!(code, Some(0));
    let rows = |key: &str| value[key].as_array().unwrap().clone();
    for key in ["opcodes", "lines"] {
        let issued: u64 = rows(key)
            .iter()
            .map(|row| row["count"].as_u64().unwrap())
            .sum();
        assert_eq!(
            Some(issued),
            value["counters"]["warp_instructions"].as_u64(),
            "{key}"
        );
    }
    let named = |name: &str| rows("opcodes").into_iter().find(|row| row["name"] == name);
    let fma = named("fma.rn.f32").unwrap();
    let ret = named("ret").unwrap();
    assert!(fma["dynamic_j"].as_f64() > ret["dynamic_j"].as_f64());
    assert!(
        rows("lines")
            .iter()
            .all(|row| row["line"].as_u64() > Some(0))
    );
    let rest = value["of_no_instruction"].as_object().unwrap();
    assert!(
        rest.contains_key("clock.uncore") && !rest.contains_key("register_file"),
        "{rest:?}"
    );

    let scratch = Scratch::new();
    let shown = |parts: &str| {
        let output = warpwatt(
            &scratch.path(""),
            &[&arguments[..], &["--show", parts]].concat(),
        );
        stdout(&output)
    };
    let text = shown("opcodes");
    assert!(
        text.contains("dynamic energy by opcode") && text.contains("fma.rn.f32"),
        "{text}"
    );
    assert!(text.contains("of no instruction: clock."), "{text}");
    assert!(shown("lines").contains("dynamic energy by line"));
}

/// Machine code runs on the same launch files as PTX, linked or not, and is timed as warps of 64.
#[test]
fn machine_code_of_southern_islands_runs_and_is_timed() {
    let cases = concat!(env!("CARGO_MANIFEST_DIR"), "/../workloads/gcn/tests/cases");
    let mut counts = Vec::new();
    for object in ["kernel.o", "kernel.hsaco"] {
        let launch = format!("{cases}/group_sum/meta.toml");
        let code = format!("{cases}/group_sum/{object}");
        let arguments = [
            "kernel", &launch, "--case", "small", "--code", &code, "--json",
        ];
        let (exit, value) = json(&[&arguments[..], &["--no-cache"]].concat());
        assert_eq!((exit, &value["passed"]), (Some(0), &Value::Bool(true)));
        assert_eq!(value["warp_width"], 64);
        assert!(value["cycles"].as_u64() > Some(0));
        assert_eq!(value["wavefront_instructions"], value["warp_instructions"]);
        counts.push([
            value["wavefront_instructions"].clone(),
            value["cycles"].clone(),
        ]);
    }
    assert_eq!(counts[0], counts[1]);
}

/// Machine code of the suite is timed on any preset, once its warps are as wide.
#[test]
fn machine_code_of_wider_warps_says_how_it_is_timed() {
    let arguments = ["kernel", "scan", "--build", "gfx600", "--preset", "v100"];
    let scratch = Scratch::new();
    let output = warpwatt(&scratch.path(""), &arguments);
    assert_eq!(output.status.code(), Some(2));
    let text = stderr(&output);
    assert!(text.contains("help: pass `--warp-width 64`"), "{text}");
    let wide = [&arguments[..], &["--warp-width", "64", "--json"]].concat();
    let (exit, value) = json(&wide);
    assert_eq!((exit, &value["warp_width"]), (Some(0), &Value::from(64)));
}

/// Near machine code the same results come from fewer accesses to shared memory: four words are one.
#[test]
fn a_kernel_is_brought_near_machine_code() {
    let run = |lower: &str| {
        let (code, value) = json(&["kernel", "matmul_tiled", "--lower", lower, "--json"]);
        assert_eq!((code, &value["passed"]), (Some(0), &Value::Bool(true)));
        let loads = &value["counters"]["shared_loads"];
        (value["warp_instructions"].as_u64(), loads.clone())
    };
    let (ptx, lowered) = (run("ptx"), run("sass-like"));
    assert!(lowered.0 < ptx.0, "{ptx:?} {lowered:?}");
}

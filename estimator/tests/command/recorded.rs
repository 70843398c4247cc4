//! Traces that Accel-Sim's tracer recorded, from the command line.

use std::path::PathBuf;

use serde_json::Value;

use crate::common::{Scratch, stderr, stdout, warpwatt};

fn data(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../workloads/sass/tests/data");
    folder.join(name).display().to_string()
}

#[test]
fn a_list_of_launches_is_timed_and_priced() {
    let scratch = Scratch::new();
    let file = data("kernelslist.g");
    let priced = [
        "kernel",
        &file,
        "--preset",
        "v100",
        "--node",
        "12nm",
        "--json",
        "--no-cache",
    ];
    let output = warpwatt(&scratch.path(""), &priced);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let value: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(value["launches"], 3);
    // Three times five warps of 15 instructions and one of 6.
    assert_eq!(value["warp_instructions"], 3 * (5 * 15 + 6));
    assert_eq!(value["passed"], true);
    assert!(value["cycles"].as_u64().unwrap() > 300);
    assert!(value["energy_j"].as_f64().unwrap() > 0.0);
    let opcodes = value["opcodes"].as_array().unwrap();
    let count = |name: &str| {
        let found = opcodes.iter().find(|opcode| opcode["name"] == name);
        found.unwrap_or_else(|| panic!("{name} in {opcodes:?}"))["count"].clone()
    };
    // All three launches are of one kernel, whose instructions are shown once.
    assert_eq!(count("FADD"), 3 * 5);
    assert_eq!(count("LDG.E.SYS"), 3 * 5 * 2);
    assert_eq!(count("EXIT"), 3 * (5 * 2 + 1));
}

#[test]
fn packings_and_kept_traces_count_alike() {
    let scratch = Scratch::new();
    let cycles = |name: &str, cache: &[&str]| {
        let file = data(name);
        let mut words = vec!["kernel", &file, "--preset", "v100", "--json"];
        words.extend(cache);
        let output = warpwatt(&scratch.path(""), &words);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let value: Value = serde_json::from_str(&stdout(&output)).unwrap();
        (value["cycles"].clone(), value["counters"].clone())
    };
    let first = cycles("kernel-1.traceg", &["--cache", "kept"]);
    assert_eq!(cycles("kernel-1.traceg", &["--cache", "kept"]), first);
    assert_eq!(cycles("kernel-2.traceg.xz", &["--no-cache"]), first);
    assert_eq!(cycles("kernel-3.tracez", &["--no-cache"]), first);
}

#[test]
fn a_study_takes_them_beside_kernels() {
    let scratch = Scratch::new();
    let list = data("kernelslist.g");
    let study = format!(
        "[study]\ntitle = \"Recorded\"\n[gpu]\npreset = \"v100\"\nnode = \"12nm\"\n[workloads]\nkernels = [\"vector_add\", {{ launch = {list:?} }}]\n[[technique]]\nname = \"filter_cache\"\nentries = 16\n"
    );
    std::fs::write(scratch.path("study.toml"), study).unwrap();
    let output = warpwatt(
        &scratch.path(""),
        &["run", "study.toml", "--json", "--quiet", "--no-cache"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("\"kernelslist\""));
}

/// A trace tells no lifetimes of registers, no strands and no values.
#[test]
fn techniques_that_live_from_a_compiler_s_knowledge_refuse_them() {
    let scratch = Scratch::new();
    let list = data("kernelslist.g");
    for technique in [
        "compiler_spill",
        "hierarchical_register_file",
        "register_shrink",
        "register_virtualization",
        "static_scalarization",
        "uniform_vector",
    ] {
        let words = [
            "what-if", "--kernel", &list, "-t", technique, "--preset", "v100", "--node", "12nm",
        ];
        let output = warpwatt(&scratch.path(""), &words);
        assert_eq!(output.status.code(), Some(2), "{technique}");
        assert!(
            stderr(&output).contains("it is machine code, whose trace tells no"),
            "{technique}: {}",
            stderr(&output)
        );
    }
}

/// A line that was lost, in a text that still looks like a trace.
#[test]
fn a_trace_that_lost_a_line_is_refused() {
    let scratch = Scratch::new();
    let text = std::fs::read_to_string(data("kernel-1.traceg")).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    let lost = lines.iter().position(|line| line.contains("FADD")).unwrap();
    lines.remove(lost);
    std::fs::write(scratch.path("kernel-1.traceg"), lines.join("\n")).unwrap();
    let output = warpwatt(&scratch.path(""), &["kernel", "kernel-1.traceg"]);
    assert_eq!(output.status.code(), Some(2));
    let message = "a warp has 14 instructions, not 15";
    assert!(stderr(&output).contains(message), "{}", stderr(&output));
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let scratch = Scratch::new();
    let text = std::fs::read_to_string(data("kernel-1.traceg")).unwrap();
    let damaged = text.replacen("FADD", "FROB", 1);
    std::fs::write(scratch.path("kernel-1.traceg"), damaged).unwrap();
    std::fs::write(scratch.path("kernelslist.g"), "kernel-1.trace\nhello\n").unwrap();
    std::fs::write(scratch.path("kernelslist_2.g"), "kernel-9.traceg\n").unwrap();
    let whole = data("kernel-1.traceg");
    for (words, message) in [
        (
            &["kernel", "kernel-1.traceg"][..],
            "`kernel-1.traceg`: line 34: `FROB` is no instruction that is known",
        ),
        (
            &["kernel", "kernelslist.g"],
            "`kernelslist.g`: line 2: `hello` is neither a copy nor a launch",
        ),
        (
            &["kernel", "kernelslist_2.g"],
            "cannot read the trace `kernel-9.traceg`",
        ),
        (
            &["kernel", &whole, "--registers", "20"],
            "it has nothing that --registers could choose",
        ),
        (
            &["kernel", &whole, "--lower", "ptx"],
            "it has nothing that --lower could choose",
        ),
        (
            &["avf", &whole, "--build", "gfx600"],
            "it has nothing that --build could choose",
        ),
        (
            &["kernel", &whole, "--preset", "tahiti"],
            "was recorded in warps of 32 lanes; the GPU's have 64",
        ),
        (
            &["inject", &whole, "--structure", "register_file"],
            "bits are flipped while a kernel is executed",
        ),
        (
            &["kernel", &whole, "--check-races"],
            "data races of machine code are not looked for",
        ),
        (
            &["kernel", &whole, "--limit", "10"],
            "it has more warp instructions than are allowed",
        ),
    ] {
        let output = warpwatt(&scratch.path(""), words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
}

//! What commands say of files that are not what they must be: every message whole. Faulty studies are in `errors`, stores in `faulty_stores`.

use std::fs;
use std::process::Command;

use insta::assert_snapshot;

use crate::common::{ONE_POINT, Scratch, command, errors, stderr, warpwatt};
use crate::faults::refusals;

/// Command lines, each about a file that is wrong in one way.
const WRONG: &str = "\
array --batch empty.csv
array --batch twice.csv
array --batch ragged.csv
array --cacti /dev/zero
array --cacti large.cfg
array --cacti without_blocks.cfg
array --cacti other_tags.cfg
kernel no_ptx.toml
kernel endless.toml
kernel calls/meta.toml --code half.o
kernel calls/meta.toml --code calls/kernel.o --check-races
kernel calls/meta.toml --code calls/kernel.o --registers 8
avf wrong.toml
trace wrong.toml --out wrong.trace
trace half.trace
inject wrong.toml --structure register_file
run wrong_result.toml --quiet
run small_sm.toml --quiet
run negative.toml --quiet
reproduce manifest.json
reproduce earlier.json
";

const LAUNCH: &str = r#"
name = "wrong"

[build]
ptx = "copy.ptx"

[small]
kernel = "copy"
grid = [1, 1, 1]
block = [32, 1, 1]

[[small.arg]]
name = "to"
kind = "out"
type = "u32"
count = 32
file = "zeros.bin"

[[small.arg]]
name = "from"
kind = "in"
type = "u32"
count = 32
init = "iota()"
"#;

/// Instead of the launch: rounds until there are only zeros, which never come.
const ROUNDS: &str = r#"
[[small.step]]
loop = { while_nonzero = "to", reset = true, max = 3 }
kernel = "copy"
grid = [1, 1, 1]
block = [32, 1, 1]
"#;

const CACTI: &str = "\
-size (bytes) 65536
-block size (bytes) 64
-associativity 2
-technology (u) 0.032
-cache type \"cache\"
-Data array cell type - \"itrs-hp\"
-Data array peripheral type - \"itrs-hp\"
";

fn tables(scratch: &Scratch) {
    scratch.write("empty.csv", "");
    let columns = "size_bytes,block_bytes,node_um";
    scratch.write("twice.csv", &format!("{columns},node_um\n65536,64,1,1\n"));
    let ragged = format!("{columns}\n65536,64\n65536,64,0.032,5\n");
    scratch.write("ragged.csv", &ragged);
    scratch.write("slip.csv", &format!("{columns},asoc\n65536,64,0.032,1\n"));
    let blockless = CACTI.replace("-block size (bytes) 64\n", "");
    scratch.write("without_blocks.cfg", &blockless);
    scratch.write("large.cfg", &"#\n".repeat(1 << 20));
    let tags = "-Tag array cell type - \"itrs-lstp\"\n";
    scratch.write("other_tags.cfg", &format!("{CACTI}{tags}"));
    scratch.write("twice.cfg", &format!("{CACTI}-associativity 4\n"));
}

fn launches(scratch: &Scratch) {
    fs::copy(errors().join("launches/copy.ptx"), scratch.path("copy.ptx")).unwrap();
    fs::write(scratch.path("zeros.bin"), [0; 128]).unwrap();
    scratch.write("wrong.toml", LAUNCH);
    scratch.write("no_ptx.toml", &LAUNCH.replace("ptx = \"copy.ptx\"", ""));
    let one = "kernel = \"copy\"\ngrid = [1, 1, 1]\nblock = [32, 1, 1]\n";
    let endless = LAUNCH
        .replace(one, "")
        .replace("file = \"zeros.bin\"", "init = \"zeros()\"");
    scratch.write("endless.toml", &format!("{endless}{ROUNDS}"));
}

/// Machine code, and the first half of it.
fn objects(scratch: &Scratch) {
    let case = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../workloads/gcn/tests/cases/calls"
    );
    fs::create_dir_all(scratch.path("calls/small")).unwrap();
    for file in ["meta.toml", "kernel.o", "small/in.bin", "small/out.bin"] {
        fs::copy(
            format!("{case}/{file}"),
            scratch.path(&format!("calls/{file}")),
        )
        .unwrap();
    }
    let object = fs::read(scratch.path("calls/kernel.o")).unwrap();
    fs::write(scratch.path("half.o"), &object[..object.len() / 2]).unwrap();
}

fn studies(scratch: &Scratch) {
    let wrong = ONE_POINT.replace(
        "\"vector_add\"",
        "{ launch = \"wrong.toml\", ptx = \"copy.ptx\" }",
    );
    scratch.write("wrong_result.toml", &wrong);
    let small = ONE_POINT.replace("[workloads]", "sm.threads = 128\n[workloads]");
    scratch.write("small_sm.toml", &small);
    let negative = "[[structure]]\nname = \"odd\"\narray = { words = 64, bits = 96 }\nread = \"0 - int_add.read\"\nbaseline = true\n";
    scratch.write("negative.toml", &format!("{ONE_POINT}{negative}"));
    scratch.write("manifest.json", "{}");
    scratch.write("earlier.json", "{\"format\": 3}");
}

#[test]
fn files_are_told_what_is_wrong_with_them() {
    let scratch = Scratch::new();
    tables(&scratch);
    launches(&scratch);
    objects(&scratch);
    studies(&scratch);
    let traced = warpwatt(
        &scratch.path(""),
        &["trace", "vector_add", "--out", "whole.trace"],
    );
    assert_eq!(traced.status.code(), Some(0), "{}", stderr(&traced));
    let whole = fs::read(scratch.path("whole.trace")).unwrap();
    fs::write(scratch.path("half.trace"), &whole[..whole.len() / 2]).unwrap();
    assert_snapshot!(refusals(&scratch, WRONG));
    assert!(!scratch.path("wrong.trace").exists() && !scratch.path("results").exists());
}

/// What may be meant so, and is done, is told all the same.
#[test]
fn what_looks_wrong_and_may_be_right_is_a_warning() {
    let scratch = Scratch::new();
    tables(&scratch);
    scratch.write("taken", "a file");
    let mut said = String::new();
    for line in [
        "array --batch slip.csv --out priced.csv",
        "array --cacti twice.cfg",
        "kernel vector_add --cache taken",
    ] {
        let words = line.split(' ');
        let output = command(&scratch.path("")).args(words).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{line}: {}", stderr(&output));
        said.push_str(&format!("$ warpwatt {line}\n"));
        // The rate is of this machine, the name of a trace of this version.
        for line in stderr(&output).lines() {
            match line.strip_prefix("warning[cache::unusable]: cannot read `taken/") {
                Some(_) => said.push_str("warning[cache::unusable]: cannot read `taken/...`\n"),
                None if line.starts_with("wrote") => {}
                None => said.push_str(&format!("{line}\n")),
            }
        }
    }
    assert_snapshot!(said);
}

/// Stacks larger than the address space: the first thread cannot be had, whatever else takes memory.
#[test]
#[cfg(target_os = "linux")]
fn too_many_threads_are_refused() {
    let scratch = Scratch::new();
    tables(&scratch);
    let run = format!(
        "ulimit -v 67108864; exec '{}' array --batch slip.csv --jobs 1024",
        env!("CARGO_BIN_EXE_warpwatt")
    );
    let mut shell = Command::new("bash");
    shell.current_dir(scratch.path("")).env("NO_COLOR", "1");
    shell.env("RUST_MIN_STACK", (1_u64 << 40).to_string());
    let output = shell.args(["-c", &run]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert_snapshot!(stderr(&output));
}

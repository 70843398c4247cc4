//! Inputs that are files of another kind, hold nothing, or hold what other programs obey.

use std::fs;

use serde_json::Value;

use crate::common::{ONE_POINT, Scratch, command, errors, stderr, stdout, warpwatt};

/// A launch of `copy.ptx` under a name.
fn launch(name: &str, count: u32) -> String {
    format!(
        "name = \"{name}\"\n[build]\nptx = \"copy.ptx\"\n[small]\nkernel = \"copy\"\ngrid = [1, 1, 1]\nblock = [32, 1, 1]\n\
         [[small.arg]]\nname = \"to\"\nkind = \"out\"\ntype = \"u32\"\ncount = {count}\ninit = \"iota()\"\n\
         [[small.arg]]\nname = \"from\"\nkind = \"in\"\ntype = \"u32\"\ncount = 32\ninit = \"iota()\"\n"
    )
}

fn with_ptx() -> Scratch {
    let scratch = Scratch::new();
    fs::copy(errors().join("launches/copy.ptx"), scratch.path("copy.ptx")).unwrap();
    scratch
}

/// Command lines, each with a file that need not have an end.
#[cfg(unix)]
const ENDLESS: &str = "\
ptx ENDLESS
kernel ENDLESS
kernel vector_add --ptx ENDLESS
kernel from_endless.toml
trace ENDLESS
run ENDLESS
run counts.toml
optimize ENDLESS --minimise edp_js
array --batch ENDLESS
array --cacti ENDLESS
array --capacity 4KiB --word 128b --node ./ENDLESS
tech check ENDLESS
reproduce ENDLESS
";

/// Nobody writes to the pipe, and the device never ends.
#[cfg(unix)]
#[test]
fn files_that_need_not_end_are_refused_at_once() {
    let scratch = with_ptx();
    let made = std::process::Command::new("mkfifo")
        .arg(scratch.path("pipe.toml"))
        .status();
    assert!(made.unwrap().success());
    for endless in ["pipe.toml", "/dev/zero"] {
        let from = launch("a", 32).replace("init = \"iota()\"", &format!("file = \"{endless}\""));
        scratch.write("from_endless.toml", &from);
        let counts = ONE_POINT.replace(
            "\"vector_add\"",
            &format!("{{ activity = {{ file = \"{endless}\" }} }}"),
        );
        scratch.write("counts.toml", &counts);
        for line in ENDLESS.lines() {
            let words = line
                .replace(
                    "./ENDLESS",
                    if endless == "pipe.toml" {
                        "./pipe.toml"
                    } else {
                        endless
                    },
                )
                .replace("ENDLESS", endless);
            let mut run = std::process::Command::new("timeout");
            run.args(["20", env!("CARGO_BIN_EXE_warpwatt")])
                .args(words.split(' '))
                .current_dir(scratch.path(""))
                .env("WARPWATT_CACHE", "")
                .env("NO_COLOR", "1");
            let output = run.output().unwrap();
            let text = stderr(&output);
            assert_eq!(output.status.code(), Some(2), "{words}: {text}");
            let told = text.contains("need not have an end");
            assert!(told, "{words}: {text}");
        }
    }
}

/// What a shell opens for the command is read: whoever wrote the line knows what is at its other end.
#[cfg(target_os = "linux")]
#[test]
fn what_a_shell_hands_over_is_read() {
    let scratch = with_ptx();
    scratch.write("launch.toml", &launch("a", 32));
    scratch.write("study.toml", ONE_POINT);
    scratch.write(
        "arrays.csv",
        "size_bytes,block_bytes,node_um\n65536,64,0.032\n",
    );
    for words in [
        "ptx <(cat copy.ptx)",
        "ptx /dev/stdin < copy.ptx",
        "kernel vector_add --ptx <(warpwatt_ptx)",
        "kernel /dev/fd/3 --ptx copy.ptx 3< launch.toml",
        "run <(cat study.toml) --dry-run",
        "array --batch <(cat arrays.csv)",
    ] {
        let own = warpwatt_suite::kernel("vector_add").unwrap().ptx;
        scratch.write("own.ptx", own);
        let words = words.replace("warpwatt_ptx", "cat own.ptx");
        let line = format!("'{}' {words}", env!("CARGO_BIN_EXE_warpwatt"));
        let mut shell = std::process::Command::new("bash");
        let shell = shell
            .current_dir(scratch.path(""))
            .env("WARPWATT_CACHE", "")
            .env("NO_COLOR", "1");
        let output = shell.args(["-c", &line]).output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(0),
            "{words}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn a_file_without_ptx_is_no_module() {
    let scratch = Scratch::new();
    for nothing in ["", "\n\n", "// a comment\n"] {
        scratch.write("nothing.ptx", nothing);
        let output = warpwatt(&scratch.path(""), &["ptx", "nothing.ptx"]);
        assert_eq!(output.status.code(), Some(2), "{nothing:?}");
        let text = stderr(&output);
        assert!(text.contains("error[ptx::empty]"), "{text}");
        assert_eq!(stdout(&output), "");
    }
    scratch.write(
        "header.ptx",
        ".version 8.0\n.target sm_90\n.address_size 64\n",
    );
    let text = stdout(&warpwatt(&scratch.path(""), &["ptx", "header.ptx"]));
    assert!(text.contains("there is nothing in it to run"), "{text}");
    let output = warpwatt(&scratch.path(""), &["ptx", "header.ptx", "--json"]);
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["coverage"], Value::Null);
}

/// Names, titles and paths that would clear the screen, set its title, or turn the line around.
#[test]
fn no_input_commands_a_terminal() {
    let scratch = with_ptx();
    let commands = r"\u001B[2J\u001B]0;x\u0007\u009B31m\u202E";
    let plain = "\u{1b}[2J\u{1b}]0;x\u{7}\u{9b}31m\u{202e}";
    scratch.write("launch.toml", &launch(commands, 32));
    let study = ONE_POINT
        .replace("\"small\"", &format!("\"{commands}\""))
        .replace("\"vector_add\"", "{ launch = \"launch.toml\" }");
    scratch.write("study.toml", &study);
    scratch.write(
        "fault.toml",
        &study.replace("32nm", &format!("{commands}32nm")),
    );
    for words in [
        &["kernel", "launch.toml"][..],
        &["kernel", "launch.toml", "--json"],
        &["kernel", "launch.toml", "--case", plain],
        &["trace", "launch.toml"],
        &["run", "study.toml"],
        &["report", "results"],
        &["report", "results", "--json"],
        &["run", "fault.toml"],
        &["run", "fault.toml", "--json"],
        &["ptx", plain],
        &["list", "kernels", plain],
        &[plain],
    ] {
        for coloured in [false, true] {
            let mut run = command(&scratch.path(""));
            if coloured {
                run.env_remove("NO_COLOR");
            }
            let output = run.args(words).output().unwrap();
            for text in [stdout(&output), stderr(&output)] {
                let obeyed = |c: char| c.is_control() && c != '\n' && c != '\t' || c == '\u{202e}';
                assert!(!text.contains(obeyed), "{words:?}: {text:?}");
            }
        }
    }
    let output = warpwatt(&scratch.path(""), &["kernel", "launch.toml", "--json"]);
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["kernel"], plain);
}

#[test]
fn names_are_no_formulas_in_tables_for_spreadsheets() {
    let scratch = with_ptx();
    scratch.write("launch.toml", &launch("=HYPERLINK(1,2)", 32));
    let study = ONE_POINT.replace("\"vector_add\"", "{ launch = \"launch.toml\" }");
    let formats = "[output]\nformats = [\"csv\", \"csv-safe\"]\n";
    scratch.write("study.toml", &format!("{study}{formats}"));
    let output = warpwatt(&scratch.path(""), &["run", "study.toml", "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let read = |name: &str| fs::read_to_string(scratch.path("results").join(name)).unwrap();
    let (exact, safe) = (read("points.csv"), read("points.safe.csv"));
    assert!(exact.contains("\"=HYPERLINK(1,2)\""), "{exact}");
    assert_eq!(safe, exact.replace("\"=HYPERLINK", "\"'=HYPERLINK"));
    let output = warpwatt(
        &scratch.path(""),
        &["report", "results", "--formats", "csv-safe"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(read("points.safe.csv"), safe);
    scratch.write(
        "arrays.csv",
        "size_bytes,block_bytes,node_um,name\n65536,64,0.032,@a\n",
    );
    let table = |more: &[&str]| {
        let words = [&["array", "--batch", "arrays.csv"], more].concat();
        stdout(&warpwatt(&scratch.path(""), &words))
    };
    let (exact, safe) = (table(&[]), table(&["--csv-safe"]));
    assert_eq!(safe, exact.replace("@a", "'@a"));
}

/// A run holds a buffer as it was before and as it is, and no third time.
#[cfg(target_os = "linux")]
#[test]
fn buffers_take_their_memory_twice() {
    let scratch = with_ptx();
    scratch.write("large.toml", &launch("large", 32 << 20));
    let run = format!(
        "ulimit -v 360000; exec '{}' kernel large.toml --no-timing",
        env!("CARGO_BIN_EXE_warpwatt")
    );
    let mut shell = std::process::Command::new("bash");
    let shell = shell
        .current_dir(scratch.path(""))
        .env("WARPWATT_CACHE", "");
    let output = shell.args(["-c", &run]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

//! Every command of the documentation is run, or there is a reason why not; what is not run is at least read by the command: its name, options and values.
//!
//! What commands print is compared where pages show it (`cookbook`, `explain`).

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Scratch, command, stderr, warpwatt};

/// Pages whose commands are run with what they print compared.
const COMPARED: [&str; 3] = ["cookbook.md", "explain.md", "uncertainty.md"];

/// Beginnings of commands that are not run.
const NOT_RUN: &[(&str, &str)] = &[
    ("validate", "minutes; tests of each suite run it"),
    ("serve", "ends when it is stopped; `serve` talks to it"),
    ("exec", "needs a program of CUDA's; `exec` runs ours"),
    (
        "run workloads/studies/",
        "minutes; what it would do is counted",
    ),
    (
        "inject matrix_mul --structure lanes",
        "half a minute; `inject` runs smaller ones",
    ),
    (
        "report results --formats parquet",
        "needs a build with Parquet; `columns` has it",
    ),
];

/// Programs that are not ours to run.
const OTHERS: &[(&str, &str)] = &[
    ("cargo", "builds"),
    ("rustup", "builds"),
    (".ci/wheel", "builds"),
    ("sh", "hands jobs in to SLURM; tests/fleet has one"),
    ("tests/fleet/slurm.sh", "needs SLURM"),
    ("tests/fleet/hyperqueue.sh", "needs HyperQueue"),
    ("tests/fleet/speedup.sh", "takes a minute"),
    ("hq", "hands jobs in to HyperQueue; tests/fleet has one"),
    ("pip", "builds; tests/python uses what comes of it"),
    ("nvcc", "NVIDIA's compiler"),
    ("ncu", "NVIDIA's profiler"),
    ("clang", "a compiler"),
    ("clang-19", "a compiler"),
    ("python3", "scripts for a GPU, and for NVIDIA's assembler"),
    (
        "target/release/warpwatt-campaign",
        "attacks the command for minutes",
    ),
    ("man", "reads what is installed"),
];

const STUDY: &str = "[study]\ntitle = \"filter caches\"\n[gpu]\npreset = \"tesla-16sm\"\nsm.count = 2\nnode = \"7nm\"\n[workloads]\nkernels = [\"hotspot\"]\n[[technique]]\nname = \"filter_cache\"\nentries = [16, 32]\n";
const SPECS: &str = "id,size_bytes,block_bytes,node_um\na,512,4,0.045\n";
const CACTI: &str = "-size (bytes) 512\n-block size (bytes) 4\n-technology (u) 0.045\n-cache type \"ram\"\n-operating temperature (K) 360\n";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Name and text of the readme and of every page.
fn pages() -> Vec<(String, String)> {
    let pages = fs::read_dir(root().join("docs")).unwrap();
    let mut paths: Vec<PathBuf> = pages.map(|page| page.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.sort();
    paths.push(root().join("README.md"));
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    paths
        .iter()
        .map(|path| (name(path), fs::read_to_string(path).unwrap()))
        .collect()
}

/// The lines of the page's blocks of commands: in a block with prompts those behind one.
fn lines(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for block in text.split("\n```").skip(1).step_by(2) {
        let Some((kind, block)) = block.split_once('\n') else {
            continue;
        };
        if !matches!(kind, "sh" | "console") {
            continue;
        }
        let block = block.replace("\\\n", "");
        let prompts = block.lines().any(|line| line.starts_with("$ "));
        let lines = block.lines().filter_map(|line| match prompts {
            true => line.strip_prefix("$ "),
            false => Some(line),
        });
        found.extend(
            lines
                .map(str::trim)
                .filter(|line| !line.is_empty())
                .map(str::to_owned),
        );
    }
    found
}

/// Words as a shell makes them of a line, up to a comment, a pipe or a file for the output. Lines of programs may end with prose, behind three blanks.
fn words(line: &str) -> Vec<String> {
    let mut words = crate::common::words(line.split("   ").next().unwrap());
    let end = words
        .iter()
        .position(|word| word.starts_with('#') || [">", "|", "&&"].contains(&word.as_str()));
    words.truncate(end.unwrap_or(words.len()));
    words
}

/// The arguments of a command of ours.
fn ours(words: &[String]) -> Option<&[String]> {
    let cargo = ["cargo", "run", "--release", "--"];
    match words {
        [first, arguments @ ..] if first == "warpwatt" => Some(arguments),
        words if words.len() > 4 && words[..4] == cargo => Some(&words[4..]),
        _ => None,
    }
}

/// Writes what the commands read into `scratch`.
fn prepare(scratch: &Scratch, arguments: &[String]) {
    let from = |path: &str| root().join(path);
    let copy = |file: &str, to: &str| fs::copy(from(file), scratch.path(to)).unwrap();
    let scan = fs::read_to_string(from("workloads/kernels/scan/launch.toml")).unwrap();
    // The buffer that the pages look at.
    let scan = scan.replace("name = \"out\"", "name = \"c\"");
    scratch.write("my.toml", &scan.replace("kernel.ptx", "my.ptx"));
    if arguments[0] == "new" {
        fs::remove_file(scratch.path("my.toml")).unwrap();
    }
    copy("workloads/kernels/scan/kernel.ptx", "my.ptx");
    copy("workloads/kernels/scan/kernel.gfx600.o", "my.o");
    for folder in ["traces", "small", "man"] {
        fs::create_dir_all(scratch.path(folder)).unwrap();
    }
    let lanes = "workloads/gcn/tests/cases/lanes";
    for file in fs::read_dir(from(lanes).join("small")).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), scratch.path("small").join(file.file_name())).unwrap();
    }
    copy(&format!("{lanes}/meta.toml"), "meta.toml");
    copy(&format!("{lanes}/kernel.o"), "kernel.o");
    for file in [
        "kernelslist.g",
        "kernel-1.traceg",
        "kernel-2.traceg.xz",
        "kernel-3.tracez",
    ] {
        copy(
            &format!("workloads/sass/tests/data/{file}"),
            &format!("traces/{file}"),
        );
    }
    copy(
        "workloads/sass/tests/data/kernel-2.traceg.xz",
        "traces/kernel-3.traceg.xz",
    );
    scratch.write("study.toml", STUDY);
    scratch.write("specs.csv", SPECS);
    scratch.write("cache.cfg", CACTI);
    copy("estimator/board/measured/titan_v_micro.csv", "counts.csv");
    copy("estimator/board/measured/qv100_kernels.csv", "measured.csv");
}

/// Runs a command of ours, or has it read what it is asked. What is wrong, if anything.
fn tried(scratch: &Scratch, arguments: &[String]) -> Option<String> {
    prepare(scratch, arguments);
    let line = arguments.join(" ");
    let mut arguments: Vec<String> = arguments
        .iter()
        .map(|word| word.replace('~', "man"))
        .collect();
    if line.starts_with("run workloads/") {
        arguments[1] = root().join(&arguments[1]).to_string_lossy().into_owned();
        arguments.extend(["--dry-run", "--out", "elsewhere"].map(str::to_owned));
    } else if NOT_RUN
        .iter()
        .any(|(beginning, _)| line.starts_with(beginning))
    {
        // What stands before it is read first.
        let end = arguments.iter().position(|word| word == "--");
        arguments.truncate(end.unwrap_or(arguments.len()));
        arguments.push("--help".to_owned());
    }
    if let Some(at) = arguments.iter().position(|word| word == "--out") {
        let place = scratch.path(&arguments[at + 1]);
        let folder = match arguments[0].as_str() {
            "man" => place.as_path(),
            _ => place.parent().unwrap(),
        };
        fs::create_dir_all(folder).unwrap();
    }
    let output = command(&scratch.path(""))
        .args(&arguments)
        .output()
        .unwrap();
    let done = output.status.code() == Some(0);
    (!done).then(|| format!("warpwatt {line}\n{}", stderr(&output)))
}

#[test]
fn every_command_is_run_or_has_a_reason_why_not() {
    let scratch = Scratch::new();
    scratch.write("study.toml", STUDY);
    let made = warpwatt(&scratch.path(""), &["run", "study.toml", "--quiet"]);
    assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
    for document in ["before.json", "after.json"] {
        let told = warpwatt(&scratch.path(""), &["kernel", "scan", "--json"]);
        fs::write(scratch.path(document), told.stdout).unwrap();
    }
    let mut wrong = Vec::new();
    let mut found = Vec::new();
    for (page, text) in pages() {
        if COMPARED.contains(&page.as_str()) {
            continue;
        }
        for line in lines(&text) {
            let words = words(&line);
            let fault = match ours(&words) {
                Some(arguments) => {
                    found.push(arguments.join(" "));
                    tried(&scratch, arguments)
                }
                None => {
                    let known = OTHERS
                        .iter()
                        .any(|(name, _)| words.first().is_some_and(|word| word == name));
                    (!known).then(|| {
                        format!("{line}\nno program of ours, and no reason why it is not run")
                    })
                }
            };
            wrong.extend(fault.map(|fault| format!("{page}: {fault}")));
        }
    }
    assert!(found.len() > 60, "only {} commands", found.len());
    for (beginning, reason) in NOT_RUN {
        let needed = found.iter().any(|line| line.starts_with(beginning));
        assert!(needed, "no page has `warpwatt {beginning}`: {reason}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// What is named in a sentence is a command too.
#[test]
fn every_command_in_a_sentence_is_there() {
    let help = warpwatt(&Scratch::new().path(""), &["--help"]);
    let help = String::from_utf8(help.stdout).unwrap();
    let listed = |name: &str| {
        help.lines()
            .any(|line| line.split_whitespace().next() == Some(name))
    };
    let mut wrong = Vec::new();
    for (page, text) in pages() {
        for part in text.split("`warpwatt ").skip(1) {
            let name = part.split([' ', '`', '\n']).next().unwrap();
            let is_name =
                name.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !name.starts_with('-');
            if is_name && !listed(name) {
                wrong.push(format!("{page}: `warpwatt {name}`"));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

/// The test of the reading itself.
#[test]
fn commands_are_found_in_blocks() {
    let page = "x\n\n```sh\nwarpwatt a \"b c\"   # d\npip e > f\n```\n\n```toml\nwarpwatt g\n```\n\n```console\n$ warpwatt h\ni\n```\n";
    let found: Vec<Vec<String>> = lines(page).iter().map(|line| words(line)).collect();
    assert_eq!(
        found,
        [
            vec!["warpwatt", "a", "b c"],
            vec!["pip", "e"],
            vec!["warpwatt", "h"]
        ]
    );
    assert_eq!(ours(&found[0]).unwrap(), ["a", "b c"]);
    assert_eq!(ours(&found[1]), None);
}

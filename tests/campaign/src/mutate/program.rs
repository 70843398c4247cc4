//! Damaged inputs, given to the program: files of every kind, and arguments.
//!
//! No command here writes a file: what stands where is decided by damaged text.

use std::fs;
use std::io;

use super::mutation::damaged;
use super::seeds;
use crate::attack::{Attack, Setting, Tally};
use crate::cases::{Verdict, each};
use crate::program::Call;
use crate::random::Random;
use crate::scratch::Scratch;

/// Inputs given to the program.
pub const PROGRAM: Attack = Attack {
    name: "mutate-program",
    what: "damaged files and arguments, given to the program",
    run,
};

/// A kind of file: its name, what reads it, what is right.
struct File {
    name: &'static str,
    words: &'static [&'static str],
    seeds: Vec<Vec<u8>>,
}

fn files() -> Vec<File> {
    let file = |name, words, seeds| File { name, words, seeds };
    vec![
        file(
            "study.toml",
            &["run", "study.toml", "--dry-run"][..],
            seeds::below("workloads/studies", ".toml"),
        ),
        file(
            "study.toml",
            &["run", "study.toml", "--dry-run", "--json"],
            seeds::below("workloads/studies", ".toml"),
        ),
        file(
            "launch.toml",
            &["kernel", "launch.toml", "--no-timing", "--limit", "100000"],
            seeds::below("workloads/kernels", "launch.toml"),
        ),
        file(
            "k.ptx",
            &["ptx", "k.ptx"],
            seeds::below("workloads/kernels", ".ptx"),
        ),
        file(
            "k.ptx",
            &[
                "kernel",
                "vector_add",
                "--ptx",
                "k.ptx",
                "--limit",
                "100000",
            ],
            seeds::below("workloads/kernels/vector_add", ".ptx"),
        ),
        file(
            "own.toml",
            &["tech", "check", "own.toml"],
            seeds::below("techlib/data/silicon", "nm.toml"),
        ),
        file(
            "a.csv",
            &["array", "--batch", "a.csv"],
            seeds::texts(&["capacity,word,node\n4KiB,128b,32nm\n"]),
        ),
        file(
            "t.trace",
            &["trace", "t.trace"],
            seeds::texts(&["WARPTRAC\u{1}\u{0}"]),
        ),
    ]
}

/// Command lines that are right: a word a line.
const LINES: &[&str] = &[
    "array\n--capacity\n4KiB\n--word\n128b\n--node\n7nm",
    "array\n--capacity\n32KiB\n--line\n64B\n--ways\n4\n--node\n32nm\n--json",
    "logic\nsecded\n--width\n32\n--code\nhsiao\n--node\n40nm",
    "logic\nadder\n--set\nwidth=64\n--vdd\n0.8V\n--json",
    "list\npresets\nv100\n--json",
    "list\nkernels\nbfs",
    "tech\nshow\n7nm\n--flavour\nlstp\n--temperature\n350K\n--vdd\n0.6V",
    "tech\ncompare\n45nm\n7nm",
    "schema\nstudy",
    "completions\nbash",
    "kernel\nvector_add\n--no-timing\n--limit\n10000",
    "kernel\nvector_add\n--preset\nv100\n--set\nsm.threads=512",
    "explain\nresults\n--metric\nenergy_j\n--point\n1",
    "ptx\nk.ptx\n--registers\n24",
];

fn run(setting: &Setting) -> Result<Tally, String> {
    let files = files();
    let lines = seeds::texts(LINES);
    let count = setting.count(200, 20_000);
    let case = |number| {
        let done = one(setting, (&files, &lines), number);
        done.unwrap_or_else(|error| (Some(error.to_string()), (0.0, 0)))
    };
    Ok(each(setting, count, case))
}

fn one(
    setting: &Setting,
    (files, lines): (&[File], &[Vec<u8>]),
    number: u64,
) -> io::Result<Verdict> {
    let mut random = Random::of_case(setting.seed, number);
    let scratch = Scratch::new()?;
    let call = Call::new(&setting.program, scratch.path());
    // Two forms in ten are command lines.
    let (words, what) = match files.get(random.below(files.len() + 2)) {
        Some(file) => {
            let input = damaged(&file.seeds, &mut random);
            fs::write(scratch.join(file.name), input)?;
            let words = file.words.iter().map(|word| (*word).to_owned());
            (words.collect::<Vec<_>>(), file.words.join(" "))
        }
        None => {
            let line = damaged(lines, &mut random);
            let line = String::from_utf8_lossy(&line).replace('\0', "");
            let words: Vec<String> = line.split('\n').map(str::to_owned).collect();
            let what = format!("{words:?}").chars().take(200).collect();
            (words, what)
        }
    };
    if words
        .iter()
        .any(|word| WRITE.iter().any(|begin| word.starts_with(begin)))
    {
        return Ok((None, (0.0, 0)));
    }
    Ok(call.args(words).run()?.verdict(&what))
}

/// What damage may not make of a word: these write files.
const WRITE: &[&str] = &[
    "--out",
    "--dump",
    "--save",
    "--activity",
    "--timeline",
    "--cache",
    "--open",
    "man",
];

//! A run is ended, or refused, at every system call that writes; the next run goes on and comes to the same report.
//!
//! The calls are counted in a run without disturbance, and disturbed from outside with `strace --inject`: the program knows nothing of it.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use crate::attack::{Attack, Setting, Tally};
use crate::cases::{Verdict, spread, worse};
use crate::program::Call;
use crate::scratch::Scratch;
use crate::study::{self, Files, RESULTS, RUN, STORE, difference, folder, start};

/// The program is killed.
pub const KILL: Attack = Attack {
    name: "kill",
    what: "killed at every system call that writes, then resumed",
    run: |setting| run(setting, Disturbance::Kill),
};

/// The call fails.
pub const ERROR: Attack = Attack {
    name: "error",
    what: "an error of every system call that writes, then resumed",
    run: |setting| run(setting, Disturbance::Error),
};

#[derive(Clone, Copy, Debug)]
enum Disturbance {
    Kill,
    Error,
}

/// Calls that change a file, with the errors that they may give.
const CALLS: &[(&str, &[&str])] = &[
    ("write", &["ENOSPC", "EIO"]),
    ("pwrite64", &["ENOSPC", "EIO"]),
    ("fsync", &["EIO", "ENOSPC"]),
    ("fdatasync", &["EIO", "ENOSPC"]),
    ("ftruncate", &["ENOSPC", "EIO"]),
    ("rename", &["ENOSPC", "EACCES"]),
    ("renameat2", &["ENOSPC", "EACCES"]),
    ("link", &["ENOSPC"]),
    ("unlink", &["EACCES", "EIO"]),
    ("mkdir", &["ENOSPC", "EROFS"]),
    ("openat", &["EROFS", "ENOSPC", "EMFILE"]),
];

/// A command that writes.
struct Line {
    words: &'static [&'static str],
    /// What is done before it.
    before: &'static [&'static [&'static str]],
    /// Files of what was done before it that are not there.
    without: &'static [&'static str],
}

/// What is disturbed.
const LINES: &[Line] = &[
    Line {
        words: RUN,
        before: &[],
        without: &[],
    },
    Line {
        words: &["merge", RESULTS, "a", "b"],
        before: &[PARTS[0], PARTS[1]],
        without: &[],
    },
    Line {
        words: &["report", RESULTS],
        before: &[RUN],
        without: &["points.csv", "comparisons.csv", "report.json"],
    },
    Line {
        words: &[
            "what-if",
            "-k",
            "vector_add",
            "-t",
            "filter_cache",
            "--preset",
            "tesla-16sm",
            "--no-cache",
            "--jobs",
            "1",
            "--save",
            "results/saved.toml",
        ],
        before: &[RUN],
        without: &[],
    },
];

/// A study in two parts.
const PARTS: [&[&str]; 2] = [
    &[
        "run",
        "study.toml",
        "--quiet",
        "--no-cache",
        "--shard",
        "1/2",
        "--out",
        "a",
    ],
    &[
        "run",
        "study.toml",
        "--quiet",
        "--no-cache",
        "--shard",
        "2/2",
        "--out",
        "b",
    ],
];

/// One disturbance: of which command, at which call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct At {
    line: usize,
    call: usize,
    number: usize,
}

/// A command, with the folder that it begins with and the report that it must come to.
struct Prepared {
    words: &'static [&'static str],
    folder: Scratch,
    must: Files,
}

impl Prepared {
    /// Does what comes before the command, and the command in a copy of the folder; finds its calls that write.
    fn new(setting: &Setting, (number, line): (usize, &Line)) -> Result<(Self, Vec<At>), String> {
        let said = |error: io::Error| error.to_string();
        let folder = folder().map_err(said)?;
        for words in line.before {
            let ended = start(setting, folder.path(), words).map_err(said)?;
            if ended.report.code != Some(0) {
                return Err(format!("{}{}", words.join(" "), ended.last_words()));
            }
        }
        for name in line.without {
            let path = folder.join(RESULTS).join(name);
            fs::remove_file(path).map_err(|error| format!("{name}: {error}"))?;
        }
        let mut prepared = Self {
            words: line.words,
            folder,
            must: Files::new(),
        };
        let copy = prepared.copy().map_err(said)?;
        let places = calls(setting, (number, line.words), &copy)?;
        prepared.must = study::report(&copy.join(RESULTS)).map_err(said)?;
        Ok((prepared, places))
    }

    fn copy(&self) -> io::Result<Scratch> {
        let copy = Scratch::new()?;
        copy_files(self.folder.path(), copy.path())?;
        Ok(copy)
    }
}

fn copy_files(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        match path.is_dir() {
            true => copy_files(&path, &target)?,
            false => fs::copy(&path, &target).map(|_| ())?,
        }
    }
    Ok(())
}

fn run(setting: &Setting, disturbance: Disturbance) -> Result<Tally, String> {
    let known = Command::new("strace").arg("--version").output();
    known.map_err(|error| format!("`strace`: {error}"))?;
    let mut lines = Vec::new();
    let mut places = BTreeSet::new();
    for line in LINES.iter().enumerate() {
        let (line, found) = Prepared::new(setting, line)?;
        lines.push(line);
        places.extend(found);
    }
    let errors = |at: &At| match disturbance {
        Disturbance::Kill => vec!["signal=KILL".to_owned()],
        Disturbance::Error => CALLS[at.call]
            .1
            .iter()
            .map(|error| format!("error={error}"))
            .collect(),
    };
    let cases: Vec<(At, String)> = places
        .iter()
        .flat_map(|at| errors(at).into_iter().map(|how| (at.clone(), how)))
        .collect();
    let all = cases.len() as u64;
    let count = setting.count(30.min(all), all);
    Ok(spread(setting, (count, all), |number| {
        let Some((at, how)) = cases.get(number as usize) else {
            return (Some(format!("there are {all} cases")), (0.0, 0));
        };
        let done = one(setting, (at, how), &lines[at.line]);
        done.unwrap_or_else(|error| (Some(error.to_string()), (0.0, 0)))
    }))
}

/// The calls of a command that write, each by its number in its thread.
fn calls(
    setting: &Setting,
    (line, words): (usize, &[&str]),
    folder: &Scratch,
) -> Result<Vec<At>, String> {
    let said = |error: io::Error| error.to_string();
    let names: Vec<&str> = CALLS.iter().map(|(name, _)| *name).collect();
    let log = folder.join("log");
    let trace = format!("trace={}", names.join(","));
    let call = Call::new(&setting.program, folder.path()).args(words);
    let log_name = log.display().to_string();
    let ended = call
        .by(["strace", "-f", "-qq", "-o", &log_name, "-e", &trace])
        .run()
        .map_err(said)?;
    let text = fs::read_to_string(&log).unwrap_or_default();
    if ended.report.code != Some(0) || text.is_empty() {
        return Err(format!("`strace` does not work here{}", ended.last_words()));
    }
    let mut numbers: std::collections::BTreeMap<(&str, usize), usize> = Default::default();
    let mut found = Vec::new();
    for entry in text.lines() {
        let (thread, rest) = entry.split_once(' ').unwrap_or_default();
        let rest = rest.trim_start();
        let Some(call) = names
            .iter()
            .position(|name| rest.starts_with(&format!("{name}(")))
        else {
            continue;
        };
        let number = numbers.entry((thread, call)).or_default();
        *number += 1;
        let reads = names[call] == "openat"
            && !["O_WRONLY", "O_RDWR", "O_CREAT"]
                .iter()
                .any(|flag| rest.contains(flag));
        if !reads {
            found.push(At {
                line,
                call,
                number: *number,
            });
        }
    }
    Ok(found)
}

fn one(setting: &Setting, (at, how): (&At, &str), line: &Prepared) -> io::Result<Verdict> {
    let folder = line.copy()?;
    let (words, must) = (line.words, &line.must);
    let (name, _) = CALLS[at.call];
    let inject = format!("inject={name}:{how}:when={}", at.number);
    let trace = format!("trace={name}");
    let call = Call::new(&setting.program, folder.path()).args(words);
    let ended = call
        .by([
            "strace",
            "-f",
            "-qq",
            "-o",
            "/dev/null",
            "-e",
            &trace,
            "-e",
            &inject,
        ])
        .run()?;
    let mut cost = ended.cost();
    let what = format!("{} with {name} number {} {how}", words[0], at.number);
    if how.starts_with("error") {
        let done = ended.report.code == Some(0);
        let incomplete = || {
            difference(
                &study::report(&folder.join(RESULTS)).unwrap_or_default(),
                must,
            )
        };
        let wrong = ended.fault().or_else(|| match done {
            true => incomplete().map(|what| format!("exit code 0, {what}")),
            false => None,
        });
        if let Some(wrong) = wrong {
            return Ok((Some(format!("{what}: {wrong}")), cost));
        }
    }
    let again = start(setting, folder.path(), words)?;
    cost = worse(cost, again.cost());
    let held = folder.join(RESULTS).join(STORE).exists();
    let wrong = match again.report.code {
        Some(0) => difference(&study::report(&folder.join(RESULTS))?, must),
        _ => Some(
            again
                .fault()
                .unwrap_or_else(|| format!("refused{}", again.last_words())),
        ),
    };
    let wrong = wrong.map(|wrong| format!("{what}, then again (a store: {held}): {wrong}"));
    Ok((wrong, cost))
}

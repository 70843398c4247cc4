//! A run is ended, or refused, at every system call that writes; the next run goes on and comes to the same report.
//!
//! The calls are counted in a run without disturbance, and disturbed from outside with `strace --inject`: the program knows nothing of it.

use std::collections::BTreeSet;
use std::fs;
use std::io;

use crate::attack::{Attack, Setting, Tally};
use crate::cases::{Verdict, spread, worse};
use crate::program::Call;
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

/// What is disturbed: the commands that write results.
const LINES: &[&[&str]] = &[RUN, &["merge", RESULTS, "a", "b"]];

/// One disturbance: of which command, at which call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct At {
    line: usize,
    call: usize,
    number: usize,
}

fn run(setting: &Setting, disturbance: Disturbance) -> Result<Tally, String> {
    let (_folder, must) = study::finished(setting)?;
    let mut places = BTreeSet::new();
    for line in 0..LINES.len() {
        places.extend(calls(setting, line)?);
    }
    let all: Vec<At> = places.into_iter().collect();
    let errors = |at: &At| match disturbance {
        Disturbance::Kill => vec!["signal=KILL".to_owned()],
        Disturbance::Error => CALLS[at.call]
            .1
            .iter()
            .map(|error| format!("error={error}"))
            .collect(),
    };
    let cases: Vec<(At, String)> = all
        .iter()
        .flat_map(|at| errors(at).into_iter().map(|how| (at.clone(), how)))
        .collect();
    let all = cases.len() as u64;
    let count = setting.count(30.min(all), all);
    Ok(spread(setting, (count, all), |number| {
        let Some((at, how)) = cases.get(number as usize) else {
            return (Some(format!("there are {all} cases")), (0.0, 0));
        };
        let done = one(setting, (at, how), &must);
        done.unwrap_or_else(|error| (Some(error.to_string()), (0.0, 0)))
    }))
}

/// What a command begins with.
fn prepared(setting: &Setting, line: usize) -> io::Result<crate::scratch::Scratch> {
    let folder = folder()?;
    if line == 1 {
        for (part, out) in [("1/2", "a"), ("2/2", "b")] {
            let words = [RUN, &["--shard", part, "--out", out]].concat();
            start(setting, folder.path(), &words)?;
        }
    }
    Ok(folder)
}

/// The calls of a command that write, each by its number in its thread.
fn calls(setting: &Setting, line: usize) -> Result<Vec<At>, String> {
    let said = |error: io::Error| error.to_string();
    let folder = prepared(setting, line).map_err(said)?;
    let names: Vec<&str> = CALLS.iter().map(|(name, _)| *name).collect();
    let log = folder.join("log");
    let trace = format!("trace={}", names.join(","));
    let call = Call::new(&setting.program, folder.path()).args(LINES[line]);
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

fn one(setting: &Setting, (at, how): (&At, &str), must: &Files) -> io::Result<Verdict> {
    let folder = prepared(setting, at.line)?;
    let (name, _) = CALLS[at.call];
    let inject = format!("inject={name}:{how}:when={}", at.number);
    let trace = format!("trace={name}");
    let words = LINES[at.line];
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

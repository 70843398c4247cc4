//! Damaged stores: whatever is changed in the file, no figure is wrong and nothing is overwritten. Most through the library, some through the program.

mod change;
mod library;

use std::fs;
use std::io;

use rayon::prelude::*;

use crate::attack::{Attack, Setting, Tally};
use crate::cases::{Verdict, each};
use crate::random::Random;
use crate::study::{self, Files, RESULTS, RUN, STORE, difference, folder, start};
use crate::worker::until_done;
use change::damaged;
pub use library::work;

/// The attack.
pub const ATTACK: Attack = Attack {
    name: "damage",
    what: "damaged stores, reported, resumed and merged",
    run,
};

/// One case in so many goes through the program.
const THROUGH_PROGRAM: u64 = 10;

fn run(setting: &Setting) -> Result<Tally, String> {
    let (whole, must) = study::finished(setting)?;
    let store = fs::read(whole.join(RESULTS).join(STORE)).map_err(|error| error.to_string())?;
    let count = setting.count(200, 10_000);
    let in_library = |from, step, to| until_done(setting, library::job(&whole), (from, step, to));
    if let Some(only) = setting.only.filter(|only| only % THROUGH_PROGRAM != 0) {
        return in_library(only, 1, only + 1);
    }
    let mut tally = each(setting, count.div_ceil(THROUGH_PROGRAM), |number| {
        let number = setting.only.unwrap_or(number * THROUGH_PROGRAM);
        let done = one(setting, (&store, &must), number);
        done.unwrap_or_else(|error| (Some(error.to_string()), (0.0, 0)))
    });
    if setting.only.is_none() {
        for failure in &mut tally.failures {
            failure.case *= THROUGH_PROGRAM;
        }
        let rest = 1..THROUGH_PROGRAM;
        let found = rest
            .into_par_iter()
            .map(|first| in_library(first, THROUGH_PROGRAM, count));
        for found in found.collect::<Vec<_>>() {
            tally.add(found?);
        }
    }
    Ok(tally)
}

/// What is done with a damaged store, by the words of the command.
const USES: &[&[&str]] = &[
    &["report", RESULTS],
    RUN,
    &["merge", "merged", RESULTS],
    &[
        "reproduce",
        "results/manifest.json",
        "--quiet",
        "--no-cache",
    ],
    &["explain", RESULTS, "--metric", "energy_j", "--point", "1"],
];

fn one(setting: &Setting, (store, must): (&[u8], &Files), number: u64) -> io::Result<Verdict> {
    let mut random = Random::of_case(setting.seed, number);
    let folder = folder()?;
    let results = folder.join(RESULTS);
    fs::create_dir(&results)?;
    for (name, bytes) in must {
        fs::write(results.join(name), bytes)?;
    }
    let (damaged, how) = damaged(store.to_vec(), &mut random);
    fs::write(results.join(STORE), damaged)?;
    let words = *random.of(USES);
    let ended = start(setting, folder.path(), words)?;
    let cost = ended.cost();
    let what = format!("{how}; {}", words.join(" "));
    if let Some(fault) = ended.fault() {
        return Ok((Some(format!("{what}: {fault}")), cost));
    }
    // Whatever it said: the report that was right is right.
    let mut wrong = difference(&study::report(&results)?, must);
    if ended.report.code == Some(0) && words[0] == "merge" {
        wrong = wrong.or(difference(&study::report(&folder.join("merged"))?, must));
    }
    let wrong = wrong.map(|wrong| format!("{what}: exit code {:?}, {wrong}", ended.report.code));
    Ok((wrong, cost))
}

//! One study, run in every way that must not matter: threads, kept traces, parts and their order.

use std::io;

use crate::attack::{Attack, Setting, Tally};
use crate::cases::{Verdict, each, worse};
use crate::study::{self, Files, RESULTS, difference, folder, start};

/// The attack.
pub const ATTACK: Attack = Attack {
    name: "matrix",
    what: "one study by threads, kept traces, parts and their order",
    run,
};

/// The commands of a case, a line each; `{program}` runs them one after the other.
const WAYS: &[&[&str]] = &[
    &["run study.toml --quiet --no-cache --jobs 1"],
    &["run study.toml --quiet --no-cache --jobs 2"],
    &["run study.toml --quiet --no-cache --jobs 7"],
    &["run study.toml --quiet --cache kept --jobs 2"],
    &[
        "run study.toml --quiet --cache kept --out other",
        "run study.toml --quiet --cache kept --jobs 3",
    ],
    &["run study.toml --quiet --cache kept --cache-limit 1KiB --jobs 2"],
    &[
        "run study.toml --quiet --no-cache",
        "run study.toml --quiet --no-cache",
    ],
    &[
        "run study.toml --quiet --no-cache",
        "run study.toml --quiet --no-cache --fresh --jobs 3",
    ],
    &["run study.toml --quiet --no-cache", "report results"],
    &[
        "run study.toml --quiet --no-cache --shard 1/2",
        "run study.toml --quiet --no-cache",
    ],
    &[
        "run study.toml --quiet --no-cache --shard 1/2 --out a",
        "run study.toml --quiet --no-cache --shard 2/2 --out b",
        "merge results a b",
    ],
    &[
        "run study.toml --quiet --no-cache --shard 2/2 --out a",
        "run study.toml --quiet --no-cache --shard 1/2 --out b --jobs 5",
        "merge results a b",
    ],
    &[
        "run study.toml --quiet --no-cache --shard 3/3 --out c",
        "run study.toml --quiet --no-cache --shard 1/3 --out a",
        "run study.toml --quiet --no-cache --shard 2/3 --out b",
        "merge results c b",
        "merge results a",
    ],
    &[
        "run study.toml --quiet --no-cache --shard 2/5",
        "run study.toml --quiet --no-cache --shard 5/5",
        "run study.toml --quiet --no-cache --shard 1/5",
        "run study.toml --quiet --no-cache --jobs 2",
    ],
];

fn run(setting: &Setting) -> Result<Tally, String> {
    let (_folder, must) = study::finished(setting)?;
    let ways = WAYS.len() as u64;
    let count = setting.count(ways, 5 * ways);
    Ok(each(setting, count, |number| {
        let way = WAYS[(number % ways) as usize];
        one(setting, way, &must).unwrap_or_else(|error| (Some(error.to_string()), (0.0, 0)))
    }))
}

fn one(setting: &Setting, way: &[&str], must: &Files) -> io::Result<Verdict> {
    let folder = folder()?;
    let mut cost = (0.0, 0);
    for (place, line) in way.iter().enumerate() {
        let words: Vec<&str> = line.split(' ').collect();
        let ended = start(setting, folder.path(), &words)?;
        cost = worse(cost, ended.cost());
        // A part alone has points that are missing still: exit code 1 of `merge`.
        let last = place + 1 == way.len();
        if let Some(fault) = ended.fault().or_else(|| ended.unlike(last)) {
            return Ok((Some(format!("{line}: {fault}")), cost));
        }
    }
    let is = study::report(&folder.join(RESULTS))?;
    let wrong = difference(&is, must).map(|what| format!("{}: {what}", way.join("; ")));
    Ok((wrong, cost))
}

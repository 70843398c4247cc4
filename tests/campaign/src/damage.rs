//! Damaged stores: whatever is changed in the file, no figure is wrong and nothing is overwritten.

use std::fs;
use std::io;

use crate::attack::{Attack, Setting, Tally};
use crate::cases::{Verdict, each, worse};
use crate::random::Random;
use crate::study::{self, Files, RESULTS, RUN, STORE, difference, folder, start};

/// The attack.
pub const ATTACK: Attack = Attack {
    name: "damage",
    what: "damaged stores, reported, resumed and merged",
    run,
};

/// Bytes of a page of the store.
const PAGE: usize = 4096;

fn run(setting: &Setting) -> Result<Tally, String> {
    let (whole, must) = study::finished(setting)?;
    let store = fs::read(whole.join(RESULTS).join(STORE)).map_err(|error| error.to_string())?;
    let count = setting.count(40, 10_000);
    Ok(each(setting, count, |number| {
        let done = one(setting, (&store, &must), number);
        done.unwrap_or_else(|error| (Some(error.to_string()), (0.0, 0)))
    }))
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
    let cost = worse((0.0, 0), ended.cost());
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

fn damaged(mut store: Vec<u8>, random: &mut Random) -> (Vec<u8>, String) {
    let at = random.below(store.len());
    let page = |at: usize| at / PAGE * PAGE;
    match random.below(6) {
        0 => {
            let bit = random.below(8);
            store[at] ^= 1 << bit;
            (store, format!("bit {bit} of byte {at} flipped"))
        }
        1 => {
            // A digit of a figure: what no check of pages alone would show.
            let digits: Vec<usize> = (at..store.len())
                .filter(|at| store[*at].is_ascii_digit())
                .take(1)
                .collect();
            let at = digits.first().copied().unwrap_or(at);
            store[at] = b'0' + (store[at].wrapping_sub(b'0') + 1) % 10;
            (store, format!("digit at byte {at} raised"))
        }
        2 => {
            let from = page(at);
            let to = (from + PAGE).min(store.len());
            store[from..to].fill(0);
            (store, format!("page at byte {from} zeroed"))
        }
        3 => {
            let other = page(random.below(store.len()));
            let (first, second) = (page(at).min(other), page(at).max(other));
            if first < second && second + PAGE <= store.len() {
                let (left, right) = store.split_at_mut(second);
                left[first..first + PAGE].swap_with_slice(&mut right[..PAGE]);
            }
            (
                store,
                format!("pages at bytes {first} and {second} exchanged"),
            )
        }
        4 => {
            store.truncate(at);
            (store, format!("cut off at byte {at}"))
        }
        _ => {
            let from = page(random.below(store.len()));
            let end = (from + PAGE).min(store.len());
            let copy = store[from..end].to_vec();
            let to = page(at).min(store.len() - copy.len());
            store[to..to + copy.len()].copy_from_slice(&copy);
            (store, format!("page at byte {from} copied to byte {to}"))
        }
    }
}

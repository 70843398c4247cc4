//! Damaged inputs: every reader of the libraries, a million times; and through the program for a part.

mod mutation;
mod program;
mod reader;
mod seeds;
pub mod worker;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

pub use program::PROGRAM;
use reader::Reader;

use crate::attack::{Attack, Failure, Setting, Tally};

/// Inputs given to the libraries.
pub const LIBRARY: Attack = Attack {
    name: "mutate",
    what: "damaged inputs, given to every reader",
    run: library,
};

fn library(setting: &Setting) -> Result<Tally, String> {
    let readers = reader::ALL;
    let mut tally = Tally::default();
    if let Some(only) = setting.only {
        let reader = &readers[(only % readers.len() as u64) as usize];
        tally.add(worker_until_done(setting, reader, only..only + 1, 1)?);
        return Ok(tally);
    }
    let count = setting.count(20_000, 1_000_000);
    let next = std::sync::Mutex::new(0);
    let total = std::sync::Mutex::new(Ok(Tally::default()));
    std::thread::scope(|scope| {
        for _ in 0..setting.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let Some(place) = take(&next, readers.len()) else {
                        break;
                    };
                    let cases = place as u64..count;
                    let step = readers.len() as u64;
                    let found = worker_until_done(setting, &readers[place], cases, step);
                    let mut total = lock(&total);
                    match (&mut *total, found) {
                        (Ok(total), Ok(found)) => total.add(found),
                        (total, Err(problem)) => *total = Err(problem),
                        (Err(_), Ok(_)) => {}
                    }
                }
            });
        }
    });
    total
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn take(next: &std::sync::Mutex<usize>, most: usize) -> Option<usize> {
    let mut next = lock(next);
    *next += 1;
    (*next <= most).then(|| *next - 1)
}

/// Gives a reader its cases, in a process that is started again behind each case that ends it.
fn worker_until_done(
    setting: &Setting,
    reader: &Reader,
    cases: std::ops::Range<u64>,
    step: u64,
) -> Result<Tally, String> {
    let mut tally = Tally::default();
    let mut from = cases.start;
    while from < cases.end {
        let (part, last) = one_worker(setting, reader, (from, step, cases.end))
            .map_err(|error| error.to_string())?;
        tally.add(part);
        match last {
            None => break,
            Some(last) => from = last + step,
        }
    }
    Ok(tally)
}

/// One process: what it found, and the case that ended it, if one did.
fn one_worker(
    setting: &Setting,
    reader: &Reader,
    (from, step, to): (u64, u64, u64),
) -> std::io::Result<(Tally, Option<u64>)> {
    let mut child = Command::new(std::env::current_exe()?)
        .args([worker::ARGUMENT, reader.name])
        .args([setting.seed, from, step, to].map(|number| number.to_string()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut tally = Tally::default();
    let mut at = from;
    let mut done = false;
    let mut hung = None;
    if let Some(said) = child.stdout.take() {
        for line in BufReader::new(said).lines() {
            let line = line?;
            let (kind, rest) = line.split_at(line.len().min(1));
            match kind {
                "!" => tally.failures.push(Failure {
                    case: at,
                    what: format!("{}: {rest}", reader.name),
                }),
                "?" => hung = Some(rest.to_owned()),
                "=" => done = true,
                _ => at = line.parse().unwrap_or(at),
            }
            if matches!(kind, "=" | "~") {
                let mut words = rest.split(' ');
                let mut number = || words.next().and_then(|word| word.parse::<f64>().ok());
                tally.cases = number().unwrap_or_default() as u64;
                tally.seconds = number().unwrap_or_default();
                tally.bytes = number().unwrap_or_default() as u64;
            }
        }
    }
    let status = child.wait()?;
    if done {
        return Ok((tally, None));
    }
    tally.cases = (at - from) / step + 1;
    let why = hung.unwrap_or_else(|| format!("ended the process: {status}"));
    tally.failures.push(Failure {
        case: at,
        what: format!("{}: {why}", reader.name),
    });
    Ok((tally, Some(at)))
}

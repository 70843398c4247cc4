//! A process that gives damaged inputs to one reader: what it does not survive ends it alone.

use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};

use super::reader;
use crate::random::Random;
use crate::{MOST_SECONDS, guard};

/// The first argument of a process that is a worker.
pub const ARGUMENT: &str = "--worker";

/// Microseconds of CPU when the case at hand began.
static BEGAN: AtomicU64 = AtomicU64::new(0);

/// What the last panic said.
static SAID: Mutex<String> = Mutex::new(String::new());

/// Does the cases of one reader: `READER SEED FROM STEP TO`.
///
/// # Errors
/// The arguments are wrong, or the limits cannot be set.
pub fn run(words: &[String]) -> Result<(), String> {
    let [name, numbers @ ..] = words else {
        return Err("a worker needs a reader".to_owned());
    };
    let numbers: Vec<u64> = numbers
        .iter()
        .filter_map(|word| word.parse().ok())
        .collect();
    let [seed, from, step, to] = numbers[..] else {
        return Err("a worker needs a seed, a first case, a step and a last case".to_owned());
    };
    let reader = reader::ALL
        .iter()
        .find(|reader| reader.name == name)
        .ok_or_else(|| format!("no reader is called {name}"))?;
    guard::limit_memory().map_err(|error| error.to_string())?;
    set_hook(Box::new(|info| {
        if let Ok(mut said) = SAID.lock() {
            *said = info.to_string().replace('\n', " ");
        }
    }));
    let (seeds, mut check) = (reader.prepare)();
    let tell = |line: String| io::stdout().write_all(line.as_bytes());
    std::thread::spawn(watch);
    let (mut cases, mut worst) = (0, 0);
    for case in (from..to).step_by(step.max(1) as usize) {
        tell(format!("{case}\n")).map_err(|error| error.to_string())?;
        let mut random = Random::of_case(seed, case);
        let input = super::mutation::damaged(&seeds, &mut random);
        let before = cpu();
        BEGAN.store(before, Ordering::Relaxed);
        if catch_unwind(AssertUnwindSafe(|| check(&input))).is_err() {
            let said = SAID.lock().map(|said| said.clone()).unwrap_or_default();
            tell(format!("!{said}\n")).map_err(|error| error.to_string())?;
        }
        cases += 1;
        worst = worst.max(cpu() - before);
    }
    BEGAN.store(u64::MAX, Ordering::Relaxed);
    let seconds = worst as f64 * 1e-6;
    tell(format!("={cases} {seconds} {}\n", peak())).map_err(|error| error.to_string())
}

/// The input of a case, to be looked at.
pub fn input(name: &str, seed: u64, case: u64) -> Option<Vec<u8>> {
    let reader = reader::ALL.iter().find(|reader| reader.name == name)?;
    let (seeds, _) = (reader.prepare)();
    Some(super::mutation::damaged(
        &seeds,
        &mut Random::of_case(seed, case),
    ))
}

/// Ends the process when a case takes too much time.
fn watch() {
    loop {
        std::thread::sleep(Duration::from_millis(200));
        let began = BEGAN.load(Ordering::Relaxed);
        if cpu().saturating_sub(began) > MOST_SECONDS * 1_000_000 {
            let _ =
                io::stdout().write_all(format!("?more than {MOST_SECONDS} s of CPU\n").as_bytes());
            std::process::exit(1);
        }
    }
}

/// Microseconds of CPU that this process has had.
fn cpu() -> u64 {
    getrusage(UsageWho::RUSAGE_SELF).map_or(0, |usage| {
        [usage.user_time(), usage.system_time()]
            .map(|time| time.tv_sec().unsigned_abs() * 1_000_000 + time.tv_usec().unsigned_abs())
            .iter()
            .sum()
    })
}

/// The most memory that it has had, in bytes.
fn peak() -> u64 {
    getrusage(UsageWho::RUSAGE_SELF).map_or(0, |usage| usage.max_rss().unsigned_abs() * 1024)
}

//! Processes that do many cases each in the libraries: what one of them does not survive ends it alone, and another goes on behind that case.

use std::io::{self, BufRead, BufReader, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};

use crate::attack::{Failure, Setting, Tally};
use crate::random::Random;
use crate::{MOST_SECONDS, damage, guard, mutate};

/// The first argument of a process that is a worker.
pub const ARGUMENT: &str = "--worker";

/// Does a case. What is wrong it says by a panic.
pub type Work = Box<dyn FnMut(Random)>;

/// What workers are asked for: the name of their work, and a folder that it may need.
#[derive(Clone, Copy, Debug)]
pub struct Job<'j> {
    /// The name.
    pub name: &'j str,
    /// The folder.
    pub folder: &'j Path,
}

/// Cases by their numbers: the first, how far the next one is, and where they end.
pub type Cases = (u64, u64, u64);

/// Has workers do cases until all are done.
///
/// # Errors
/// A worker cannot be started.
pub fn until_done(setting: &Setting, job: Job<'_>, cases: Cases) -> Result<Tally, String> {
    let (mut from, step, to) = cases;
    let mut tally = Tally::default();
    while from < to {
        let (part, last) =
            one(setting, job, (from, step, to)).map_err(|error| error.to_string())?;
        tally.add(part);
        match last {
            None => break,
            Some(last) => from = last + step,
        }
    }
    Ok(tally)
}

/// One process: what it found, and the case that ended it, if one did.
fn one(
    setting: &Setting,
    job: Job<'_>,
    (from, step, to): Cases,
) -> io::Result<(Tally, Option<u64>)> {
    let mut child = Command::new(std::env::current_exe()?)
        .args([ARGUMENT, job.name])
        .arg(job.folder)
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
                    what: format!("{}: {rest}", job.name),
                }),
                "?" => hung = Some(rest.to_owned()),
                "=" => {
                    done = true;
                    let mut words = rest.split(' ');
                    let mut number = || words.next().and_then(|word| word.parse::<f64>().ok());
                    tally.cases = number().unwrap_or_default() as u64;
                    tally.seconds = number().unwrap_or_default();
                    tally.bytes = number().unwrap_or_default() as u64;
                }
                _ => at = line.parse().unwrap_or(at),
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
        what: format!("{}: {why}", job.name),
    });
    Ok((tally, Some(at)))
}

/// Microseconds of CPU when the case at hand began.
static BEGAN: AtomicU64 = AtomicU64::new(0);

/// What the last panic said.
static SAID: Mutex<String> = Mutex::new(String::new());

/// Does cases of one work: `NAME FOLDER SEED FROM STEP TO`.
///
/// # Errors
/// The arguments are wrong, or the limits cannot be set.
pub fn run(words: &[String]) -> Result<(), String> {
    let [name, folder, numbers @ ..] = words else {
        return Err("a worker needs the name of its work and a folder".to_owned());
    };
    let numbers: Vec<u64> = numbers
        .iter()
        .filter_map(|word| word.parse().ok())
        .collect();
    let [seed, from, step, to] = numbers[..] else {
        return Err("a worker needs a seed, a first case, a step and a last case".to_owned());
    };
    let folder = Path::new(folder);
    let job = Job { name, folder };
    let work = damage::work(job).or_else(|| mutate::work(job));
    let mut work = work.ok_or_else(|| format!("no work is called {name}"))?;
    guard::limit_memory().map_err(|error| error.to_string())?;
    set_hook(Box::new(|info| {
        if let Ok(mut said) = SAID.lock() {
            *said = info.to_string().replace('\n', " ");
        }
    }));
    let tell = |line: String| io::stdout().write_all(line.as_bytes());
    std::thread::spawn(watch);
    let (mut cases, mut worst) = (0, 0);
    for case in (from..to).step_by(step.max(1) as usize) {
        tell(format!("{case}\n")).map_err(|error| error.to_string())?;
        let random = Random::of_case(seed, case);
        let before = cpu();
        BEGAN.store(before, Ordering::Relaxed);
        if catch_unwind(AssertUnwindSafe(|| work(random))).is_err() {
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

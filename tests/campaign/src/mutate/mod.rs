//! Damaged inputs: every reader of the libraries, a million times; and through the program for a part.

mod mutation;
mod program;
mod reader;
mod seeds;

use std::path::Path;

pub use program::PROGRAM;

use crate::attack::{Attack, Setting, Tally};
use crate::random::Random;
use crate::worker::{Job, Work, until_done};

/// Inputs given to the libraries.
pub const LIBRARY: Attack = Attack {
    name: "mutate",
    what: "damaged inputs, given to every reader",
    run: library,
};

fn library(setting: &Setting) -> Result<Tally, String> {
    let readers = reader::ALL.len() as u64;
    // A reader's cases follow each other at this distance, so that it makes its seeds once.
    let of_reader = |place: u64, cases: (u64, u64)| {
        let name = reader::ALL[place as usize].name;
        let folder = Path::new("");
        until_done(setting, Job { name, folder }, (cases.0, readers, cases.1))
    };
    if let Some(only) = setting.only {
        return of_reader(only % readers, (only, only + 1));
    }
    let count = setting.count(20_000, 1_000_000);
    let next = std::sync::Mutex::new(0);
    let total = std::sync::Mutex::new(Ok(Tally::default()));
    std::thread::scope(|scope| {
        for _ in 0..setting.jobs.max(1) {
            scope.spawn(|| {
                while let Some(place) = take(&next, readers) {
                    let found = of_reader(place, (place, count));
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

fn take(next: &std::sync::Mutex<u64>, most: u64) -> Option<u64> {
    let mut next = lock(next);
    *next += 1;
    (*next <= most).then(|| *next - 1)
}

/// What a worker does that is asked for a reader.
pub fn work(job: Job<'_>) -> Option<Work> {
    let reader = reader::ALL.iter().find(|reader| reader.name == job.name)?;
    let (seeds, mut check) = (reader.prepare)();
    Some(Box::new(move |mut random| {
        check(&mutation::damaged(&seeds, &mut random));
    }))
}

/// The input of a case, to be looked at.
pub fn input(seed: u64, case: u64) -> Vec<u8> {
    let reader = &reader::ALL[(case % reader::ALL.len() as u64) as usize];
    let (seeds, _) = (reader.prepare)();
    mutation::damaged(&seeds, &mut Random::of_case(seed, case))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A little of what a campaign does, of every reader.
    #[test]
    fn damaged_inputs_are_read() {
        for reader in reader::ALL {
            let (seeds, mut check) = (reader.prepare)();
            assert!(!seeds.is_empty(), "{}", reader.name);
            seeds.iter().for_each(|seed| check(seed));
            for case in 0..500 {
                let mut random = Random::of_case(1, case);
                check(&mutation::damaged(&seeds, &mut random));
            }
        }
    }
}

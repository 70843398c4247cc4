//! Signs of life: a number in a file that a worker counts up. Whoever looks on measures by its own clock how long the file has been the same, so that clocks need
//! not agree.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::queue::Queue;
use super::write::{begin, part_of, removed, replace, unusable};
use crate::diag::Diag;

/// Beats of a lease: some may be late or lost.
const BEATS: u32 = 6;

/// Workers of one process number on one host, which may be a container that many share a name with.
const MOST_ALIKE: usize = 100_000;

/// What a worker says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sign {
    /// The machine.
    pub host: String,
    /// The process on it.
    pub process: u32,
    /// Threads that do units.
    pub jobs: usize,
    /// Units that it has done.
    pub done: usize,
    /// Counts up.
    pub beat: u64,
}

/// A worker that shows that it lives.
#[derive(Debug)]
pub struct Beating<'q> {
    queue: &'q Queue,
    /// Its name, which no other worker of the queue has or had while this one lives.
    pub name: String,
    sign: Sign,
    done: AtomicUsize,
}

impl<'q> Beating<'q> {
    /// Enters a worker of so many threads into the queue.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn enter(queue: &'q Queue, jobs: usize) -> Result<Self, Diag> {
        let host = host();
        let process = std::process::id();
        for number in 0..MOST_ALIKE {
            let name = match number {
                0 => format!("{host}-{process}"),
                _ => format!("{host}-{process}-{number}"),
            };
            let path = queue.path("workers", &name);
            if begin(&path).map_err(|error| unusable(&path, &error))? {
                let sign = Sign {
                    host,
                    process,
                    jobs,
                    done: 0,
                    beat: 0,
                };
                let beating = Self {
                    queue,
                    name,
                    sign,
                    done: AtomicUsize::new(0),
                };
                beating.show(0);
                return Ok(beating);
            }
        }
        let message = format!("{MOST_ALIKE} workers `{host}-{process}` are or were at the queue");
        Err(Diag::error("run::defect", message))
    }

    /// Beats until nobody is there any more who could say that it is enough.
    pub fn beat(&self, enough: Receiver<()>) {
        let pause = Duration::from_secs(self.queue.sheet.lease_s.into()) / BEATS;
        let mut beat = 0;
        while let Err(RecvTimeoutError::Timeout) = enough.recv_timeout(pause) {
            beat += 1;
            self.show(beat);
        }
    }

    /// Counts a unit that was done.
    pub fn count(&self) -> usize {
        self.done.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Units that were done.
    pub fn done(&self) -> usize {
        self.done.load(Ordering::Relaxed)
    }

    /// Shows a sign of life. One that cannot be written is as one that is late: if all are, the unit is taken again, and what it comes to is the same.
    fn show(&self, beat: u64) {
        let sign = Sign {
            beat,
            done: self.done(),
            ..self.sign.clone()
        };
        let path = self.queue.path("workers", &self.name);
        let part = part_of(&self.queue.path("workers", ""), &self.name);
        if let Ok(bytes) = serde_json::to_vec(&sign) {
            let _ = replace(&part, &path, &bytes);
        }
    }

    /// Leaves the queue.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn leave(self) -> Result<(), Diag> {
        let path = self.queue.path("workers", &self.name);
        removed(&path).map_err(|error| unusable(&path, &error))
    }
}

/// The machine's name, as far as it can stand in the name of a file.
fn host() -> String {
    let read = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let named = ["HOSTNAME", "COMPUTERNAME"].map(|name| std::env::var(name).ok());
    let found = read.into_iter().chain(named.into_iter().flatten()).next();
    let name: String = found
        .unwrap_or_default()
        .chars()
        .filter(|letter| letter.is_ascii_alphanumeric() || *letter == '-')
        .collect();
    if name.is_empty() {
        "host".to_owned()
    } else {
        name
    }
}

//! What can be attacked, and what comes of it.

use std::path::PathBuf;

/// One kind of attack.
pub struct Attack {
    /// The name that it is asked for by.
    pub name: &'static str,
    /// What it does, for the table.
    pub what: &'static str,
    /// Carries it out; `Err` says why it cannot be on this machine.
    pub run: fn(&Setting) -> Result<Tally, String>,
}

/// Every attack, in the order of the table.
pub const ALL: &[Attack] = &[crate::mutate::LIBRARY, crate::mutate::PROGRAM];

/// How an attack is carried out.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The program that is attacked.
    pub program: PathBuf,
    /// Other seeds give other cases.
    pub seed: u64,
    /// Cases to do, instead of the attack's own number.
    pub cases: Option<u64>,
    /// The one case to do.
    pub only: Option<u64>,
    /// A few cases of each kind.
    pub short: bool,
    /// Cases at the same time.
    pub jobs: usize,
}

impl Setting {
    /// How many cases to do: what was asked for, or `few` or `many` of them.
    pub fn count(&self, few: u64, many: u64) -> u64 {
        self.cases.unwrap_or(if self.short { few } else { many })
    }
}

/// A case that did not go as it must.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Failure {
    /// Its number.
    pub case: u64,
    /// What was done, and what came of it.
    pub what: String,
}

/// What came of an attack.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Cases that were done.
    pub cases: u64,
    /// Those that went wrong.
    pub failures: Vec<Failure>,
    /// Seconds of CPU that the worst case took.
    pub seconds: f64,
    /// Bytes of memory that the worst case took.
    pub bytes: u64,
}

impl Tally {
    /// Counts one case: what was wrong with it, its seconds and bytes.
    pub fn count(&mut self, case: u64, wrong: Option<String>, (seconds, bytes): (f64, u64)) {
        self.cases += 1;
        self.seconds = self.seconds.max(seconds);
        self.bytes = self.bytes.max(bytes);
        self.failures
            .extend(wrong.map(|what| Failure { case, what }));
    }

    /// Adds what another part of the attack found.
    pub fn add(&mut self, other: Tally) {
        self.cases += other.cases;
        self.seconds = self.seconds.max(other.seconds);
        self.bytes = self.bytes.max(other.bytes);
        self.failures.extend(other.failures);
        self.failures.sort();
    }
}

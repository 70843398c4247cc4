//! What was measured: a hash for each result; of approximations some of the values themselves.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::approximate;
use crate::kernel::{Kernel, Outcome};

const RESULTS: &str = include_str!("results.txt");
const APPROXIMATIONS: &str = include_str!("approximations.txt");
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/silicon");

/// How a measured result and ours are to each other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// The same, of this hash.
    Same(u64),
    /// Not the same: the machine does not what PTX says, or what it says is not known.
    Other(u64),
    /// Near each other.
    Near,
}

impl Mark {
    fn of(text: &str) -> Option<Self> {
        let number = |text| u64::from_str_radix(text, 16).ok();
        match text.strip_prefix('!') {
            Some(rest) => number(rest).map(Self::Other),
            None if text == "~" => Some(Self::Near),
            None => number(text).map(Self::Same),
        }
    }
}

/// Forty-eight bits of FNV-1a.
pub fn hash(bytes: &[u8]) -> u64 {
    let hash = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    hash >> 16
}

/// Little-endian numbers of `width` bytes.
pub fn numbers(bytes: &[u8], width: usize) -> impl Iterator<Item = u64> {
    let number = |bytes: &[u8]| {
        bytes
            .iter()
            .rev()
            .fold(0, |number, &byte| number << 8 | u64::from(byte))
    };
    bytes.chunks(width).map(number)
}

/// Both files.
pub struct Record {
    kernels: BTreeMap<&'static str, Vec<Mark>>,
    values: BTreeMap<&'static str, Vec<u64>>,
}

impl Record {
    pub fn read() -> Self {
        let lines = RESULTS.lines().filter(|line| !line.starts_with('#'));
        let kernels = lines.map(|line| {
            let mut words = line.split(' ');
            let name = words.next().unwrap_or_default();
            (name, words.filter_map(Mark::of).collect())
        });
        let values = APPROXIMATIONS
            .lines()
            .filter_map(|line| line.split_once(": "));
        let values = values.map(|(name, numbers)| {
            let numbers = numbers
                .split(' ')
                .filter_map(|number| u64::from_str_radix(number, 16).ok());
            (name, numbers.collect())
        });
        Self {
            kernels: kernels.collect(),
            values: values.collect(),
        }
    }

    /// Of each of the kernel's results.
    pub fn of(&self, kernel: &Kernel) -> &[Mark] {
        let marks = self
            .kernels
            .get(&kernel.name[..])
            .map_or(&[][..], |marks| marks);
        assert_eq!(
            marks.len(),
            kernel.outcomes.len(),
            "results of {} were not measured",
            kernel.name
        );
        marks
    }

    pub fn values(&self, outcome: &Outcome) -> &[u64] {
        &self.values[&outcome.name[..]]
    }
}

/// Writes both files.
#[derive(Default)]
pub struct Writer {
    results: String,
    approximations: String,
}

impl Writer {
    pub fn kernel(&mut self, kernel: &Kernel, measured: &[u8], ours: &[u8]) {
        self.results += &kernel.name;
        for outcome in &kernel.outcomes {
            let [measured, ours] =
                [measured, ours].map(|bytes| &bytes[outcome.at..][..outcome.bytes]);
            if approximate::is(outcome) {
                self.results += " ~";
                self.approximations += &format!("{}:", outcome.name);
                for number in numbers(measured, outcome.width).take(approximate::KEPT) {
                    write!(self.approximations, " {number:x}").expect("a text takes all");
                }
                self.approximations.push('\n');
            } else {
                let other = if measured == ours { "" } else { "!" };
                write!(self.results, " {other}{:x}", hash(measured)).expect("a text takes all");
            }
        }
        self.results.push('\n');
    }

    pub fn finish(self) {
        let about = "# Hashes of what each kernel's instructions left on a GPU; those behind `!` are not what we compute, `~` are in approximations.txt.\n";
        for (name, text) in [
            ("results.txt", about.to_owned() + &self.results),
            ("approximations.txt", self.approximations),
        ] {
            std::fs::write(format!("{FOLDER}/{name}"), text).expect("the folder can be written");
        }
    }
}

//! Bit-cycles of structures, added up exactly: in all, and in windows of time.

use crate::cover::noticed;
use crate::windows::{OverTime, Windows};
use crate::{Cover, Protection, Residency, Structure};

/// Bit-cycles of one structure. Whole numbers, so that the parts add up to the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BitCycles {
    /// All bits of the structure times all cycles.
    pub total: u128,
    /// Of these, bits that are in use: they belong to a warp, a CTA or a valid line.
    pub occupied: u128,
    /// Needed for architecturally correct execution (ACE), whatever protects them.
    pub ace: u128,
    /// Of these, those of which a flip is detected and not corrected.
    pub detected: u128,
    /// Of these, those of which a flip is corrected.
    pub corrected: u128,
}

impl BitCycles {
    /// Not needed for architecturally correct execution.
    pub fn unace(&self) -> u128 {
        self.total - self.ace
    }

    /// Needed, and a flip is silent.
    pub fn silent(&self) -> u128 {
        self.ace - self.detected - self.corrected
    }

    /// Architectural vulnerability factor without any protection: the share of all bit-cycles that is ACE (Mukherjee et al., MICRO 2003, section 2.2).
    pub fn avf(&self) -> f64 {
        share(self.ace, self.total)
    }

    /// The share of the occupied bit-cycles that is ACE.
    pub fn avf_of_occupied(&self) -> f64 {
        share(self.ace, self.occupied)
    }

    /// AVF for silent data corruption: what protection leaves of [`avf`](Self::avf).
    pub fn sdc_avf(&self) -> f64 {
        share(self.silent(), self.total)
    }

    /// AVF for detected unrecoverable errors.
    pub fn due_avf(&self) -> f64 {
        share(self.detected, self.total)
    }
}

impl std::ops::AddAssign for BitCycles {
    fn add_assign(&mut self, other: Self) {
        self.total += other.total;
        self.occupied += other.occupied;
        self.ace += other.ace;
        self.detected += other.detected;
        self.corrected += other.corrected;
    }
}

/// `part / whole`; zero if there is no whole.
fn share(part: u128, whole: u128) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// What the bits of an entry are from `from` on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Needed bits.
    pub bits: u32,
    /// Since when.
    pub since: u64,
}

/// The account of one SM, or of the memory system, for one launch after the other.
pub struct Ledger {
    structures: [BitCycles; Structure::COUNT],
    window: u64,
    windows: Windows,
    /// When each launch started, the one at hand last.
    starts: Vec<u64>,
    late: Vec<Late>,
    protections: Vec<Box<dyn Protection>>,
    /// What the protections make of the residency at hand.
    covers: Vec<Cover>,
}

/// What a ledger held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Closed {
    /// Bit-cycles of each structure, but for the totals.
    pub structures: [BitCycles; Structure::COUNT],
    /// ACE bit-cycles of each structure over time.
    pub over_time: OverTime,
    /// What turned out about launches before.
    pub late: Vec<Late>,
}

/// Bits that lay in a structure while an earlier launch ran, and that a later one needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Late {
    /// The launch, by its number since the ledger was made.
    pub launch: usize,
    /// The residency in that launch, in cycles from its start.
    pub residency: Residency,
    /// What it adds to the bit-cycles of its structure.
    pub more: BitCycles,
}

impl Ledger {
    /// An empty account with windows of `window` cycles, the first beginning at cycle `start`. If they become too many, they are as many times longer as it takes.
    pub fn new(start: u64, window: u64, protections: Vec<Box<dyn Protection>>) -> Self {
        Self {
            structures: Default::default(),
            window,
            windows: Windows::new(start, window),
            starts: Vec::new(),
            late: Vec::new(),
            protections,
            covers: Vec::new(),
        }
    }

    /// A launch starts, where the one before ended: an empty account begins.
    pub fn start_at(&mut self, start: u64) {
        self.starts.push(start);
        self.windows = Windows::new(start, self.window);
    }

    /// Needed bits that lay in a structure for a while. One that ends before it begins counts as nothing. What lies there from launch to launch is put down to
    /// each of them for its time.
    pub fn ace(&mut self, residency: Residency) {
        if residency.bits == 0 || residency.to <= residency.from {
            return;
        }
        match self.starts.last() {
            Some(&start) if residency.from < start => self.ace_in_all(residency),
            _ => self.ace_now(&residency),
        }
    }

    /// In the launch at hand.
    fn ace_now(&mut self, residency: &Residency) {
        let more = self.bit_cycles(residency);
        self.structures[residency.structure as usize] += more;
        self.windows.add(residency);
    }

    /// In the launch at hand and those before.
    fn ace_in_all(&mut self, residency: Residency) {
        let first = self
            .starts
            .partition_point(|&start| start <= residency.from)
            .saturating_sub(1);
        for launch in first..self.starts.len() {
            let start = self.starts[launch];
            let end = self.starts.get(launch + 1).copied();
            let part = Residency {
                from: residency.from.max(start),
                to: residency.to.min(end.unwrap_or(u64::MAX)),
                ..residency
            };
            if part.to <= part.from {
                continue;
            }
            if end.is_none() {
                self.ace_now(&part);
                continue;
            }
            let more = self.bit_cycles(&part);
            let residency = Residency {
                from: part.from - start,
                to: part.to - start,
                ..part
            };
            self.late.push(Late {
                launch,
                residency,
                more,
            });
        }
    }

    /// What a residency adds to its structure, with the best that protections make of it.
    fn bit_cycles(&mut self, residency: &Residency) -> BitCycles {
        let mut more = BitCycles {
            ace: u128::from(residency.bit_cycles()),
            ..BitCycles::default()
        };
        self.covers.clear();
        for protection in &mut self.protections {
            protection.cover(residency, &mut self.covers);
        }
        if !self.covers.is_empty() {
            let noticed = noticed(residency, &mut self.covers);
            (more.detected, more.corrected) = (noticed.detected, noticed.corrected);
        }
        more
    }

    /// Something needed reads a register: see [`Protection::read`].
    pub fn read(&mut self, warp: u8, entry: u32, cycle: u64) {
        for protection in &mut self.protections {
            protection.read(warp, entry, cycle);
        }
    }

    /// Bits in use for a while, needed or not.
    pub fn occupied(&mut self, structure: Structure, bits: u64, from: u64, to: u64) {
        let cycles = u128::from(to.saturating_sub(from));
        self.structures[structure as usize].occupied += u128::from(bits) * cycles;
    }

    /// The bits that the entry holds change at `at`; what it held until then is accounted for.
    pub fn change(&mut self, held: &mut Held, bits: u32, at: u64, of: Residency) {
        let at = at.max(held.since);
        self.ace(Residency {
            bits: held.bits,
            from: held.since,
            to: at,
            ..of
        });
        *held = Held { bits, since: at };
    }

    /// Closes the account at cycle `end`; another begins there.
    pub fn close(&mut self, end: u64) -> Closed {
        let next = Windows::new(end, self.window);
        Closed {
            structures: std::mem::take(&mut self.structures),
            over_time: std::mem::replace(&mut self.windows, next).close(end),
            late: std::mem::take(&mut self.late),
        }
    }
}

#[cfg(test)]
mod tests;

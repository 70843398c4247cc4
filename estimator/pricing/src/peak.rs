//! Counts by windows of time, and the window of a run that takes the most power.
//!
//! A window is as long as the capacitance of die, package and board can feed a peak: shorter peaks are smoothed, longer ones must be delivered. Windows
//! follow each other without a gap; what is left at the end of a run joins the last one. Energy that no window holds is spread evenly over the run, so that
//! the windows' energies add up to the run's: leakage, and structures whose events an expression makes of counters.

use std::borrow::Cow;
use std::collections::BTreeMap;

use warpwatt_activity::Activity;
use warpwatt_gpu::{MemoryView, Run, SmView, Watcher};
use warpwatt_structures::Charge;

pub use crate::outcome::Peak;

use crate::outcome::{Action, PricedStructure};
use crate::pace::{Length, Pace, add};

/// Windows of a run beyond which none are kept: some 100 MB of counts.
pub const MOST_WINDOWS: usize = 65_536;

/// Takes a run's counts at the end of each window.
#[derive(Debug)]
pub struct Sampler {
    pace: Pace,
    before: Activity,
    names: BTreeMap<String, usize>,
    /// By window and name: what was counted.
    rows: Vec<Vec<u64>>,
    /// There were too many windows.
    full: bool,
}

/// The counts of a run, window by window. They add up to those of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Windows {
    /// Cycles of each but the last, which has what is left at the end besides.
    pub window: u64,
    /// Cycles of the run.
    pub cycles: u64,
    /// What is counted.
    pub names: Vec<String>,
    /// By window and name.
    pub rows: Vec<Vec<u64>>,
}

impl Sampler {
    /// With windows of a length.
    pub fn new(length: Length) -> Self {
        Self {
            pace: Pace::new(length),
            before: Activity::new(),
            names: BTreeMap::new(),
            rows: Vec::new(),
            full: false,
        }
    }

    /// The windows of `run`, which this has watched; nothing if they were too many.
    pub fn finish(mut self, run: &Run) -> Option<Windows> {
        if self.full {
            return None;
        }
        // What ends with the run is joined to the last window that is whole.
        let rest = self.take(&run.activity);
        match self.rows.last_mut() {
            Some(last) => add(last, &rest),
            None => self.rows.push(rest),
        }
        let mut names = vec![String::new(); self.names.len()];
        for (name, place) in self.names {
            names[place] = name;
        }
        for row in &mut self.rows {
            row.resize(names.len(), 0);
        }
        Some(Windows {
            window: self.pace.window,
            cycles: run.cycles,
            names,
            rows: self.rows,
        })
    }

    /// What has happened since the last call.
    fn take(&mut self, now: &Activity) -> Vec<u64> {
        let mut row = vec![0; self.names.len()];
        for (name, count) in now.iter() {
            let more = count.saturating_sub(self.before.get(name));
            match self.names.get(name) {
                Some(&place) => row[place] = more,
                None => {
                    self.names.insert(name.to_owned(), row.len());
                    row.push(more);
                }
            }
        }
        self.before = now.clone();
        row
    }
}

impl Watcher for Sampler {
    fn launch(&mut self, _: u64, _: &str) {}

    fn watches(&self, _: u16) -> bool {
        false
    }

    fn sm(&mut self, _: u64, _: &SmView<'_>) {}

    fn memory(&mut self, cycle: u64, view: &MemoryView<'_>) -> u64 {
        if cycle < self.pace.ends {
            return self.pace.ends;
        }
        while self.pace.ends <= cycle {
            if self.rows.len() == MOST_WINDOWS {
                self.full = true;
                return u64::MAX;
            }
            // Between two looks SMs only wait.
            let row = self.take(&view.at(self.pace.ends).activity());
            self.rows.push(row);
            self.pace.next(&mut self.rows, |row, next| add(row, &next));
        }
        self.pace.ends
    }

    fn end(&mut self, _: u64, _: &MemoryView<'_>) {}
}

impl Windows {
    /// Where a window begins, and how many cycles it has.
    pub fn span(&self, number: usize) -> (u64, u64) {
        let from = number as u64 * self.window;
        let last = number + 1 == self.rows.len();
        (
            from,
            if last {
                self.cycles - from
            } else {
                self.window
            },
        )
    }

    /// The same with what structures are charged for, by the names of their actions: `l2.data` and its charges count `l2.data.read`. Their windows add up to
    /// the count of the run, what is left over when many are done at once among them.
    pub fn charged<'c>(
        &self,
        charges: impl Iterator<Item = (&'c str, &'c Charge)>,
    ) -> Cow<'_, Self> {
        let mut charged = Cow::Borrowed(self);
        for (structure, charge) in charges {
            let windows = charged.to_mut();
            let column = self.column(charge);
            let name = format!("{structure}.{}", charge.action);
            match windows.names.iter().position(|known| *known == name) {
                Some(place) => {
                    for (row, count) in windows.rows.iter_mut().zip(column) {
                        row[place] = count;
                    }
                }
                None => {
                    windows.names.push(name);
                    for (row, count) in windows.rows.iter_mut().zip(column) {
                        row.push(count);
                    }
                }
            }
        }
        charged
    }

    /// What is charged in each window.
    fn column(&self, charge: &Charge) -> Vec<u64> {
        let events = charge.events.iter().filter_map(|(counter, each)| {
            let place = self.names.iter().position(|known| known == counter)?;
            Some((place, u64::from(*each)))
        });
        let events: Vec<(usize, u64)> = events.collect();
        let at_once = u64::from(charge.at_once);
        let mut so_far = 0u64;
        let counts = self.rows.iter().map(|row| {
            let before = so_far.div_ceil(at_once);
            so_far += events
                .iter()
                .map(|(place, each)| row[*place] * each)
                .sum::<u64>();
            so_far.div_ceil(at_once) - before
        });
        counts.collect()
    }

    /// Mean power of each of `structures` in each window: its events there, and what windows do not hold (leakage, switching parts on) spread evenly over the
    /// run of `time_s`.
    pub fn power(&self, structures: &[PricedStructure], time_s: f64) -> Vec<Vec<f64>> {
        let places: BTreeMap<&str, usize> = self
            .names
            .iter()
            .enumerate()
            .map(|(place, name)| (name.as_str(), place))
            .collect();
        let cycle_s = time_s / self.cycles.max(1) as f64;
        let of = |structure: &PricedStructure, number: usize| {
            let seconds = self.span(number).1 as f64 * cycle_s;
            let mut even_j = structure.leakage_j;
            let mut own_j = 0.0;
            for (action, priced) in structure.actions.iter() {
                let name = format!("{}.{action}", structure.name);
                match places.get(name.as_str()) {
                    Some(place) => own_j += self.rows[number][*place] as f64 * priced.unit_j,
                    None => even_j += priced.total_j,
                }
            }
            own_j / seconds + even_j / time_s
        };
        let lasting = (0..self.rows.len()).filter(|number| self.span(*number).1 > 0);
        lasting
            .map(|number| structures.iter().map(|it| of(it, number)).collect())
            .collect()
    }

    /// The window in which `structures` take the most dynamic power; `wakes` says which counter switches parts of a structure on, where one does. Nothing of a run
    /// that took no time.
    pub fn peak(
        &self,
        structures: &[PricedStructure],
        wakes: impl Fn(&str) -> Option<&'static str>,
    ) -> Option<Peak> {
        let places = self.names.iter().enumerate();
        let places: BTreeMap<&str, usize> =
            places.map(|(place, name)| (name.as_str(), place)).collect();
        let mut priced = Vec::new();
        for structure in structures {
            for (action, at) in structure.actions.iter() {
                let own = format!("{}.{action}", structure.name);
                let counter = match action {
                    Action::Wake => wakes(&structure.name).unwrap_or(&own),
                    _ => &own,
                };
                let place = places.get(counter).copied();
                priced.extend(place.map(|place| (own.clone(), place, at.unit_j)));
            }
        }
        let power = |number: usize| {
            let joules = priced
                .iter()
                .map(|(_, place, unit_j)| self.rows[number][*place] as f64 * unit_j);
            joules.sum::<f64>() / self.span(number).1 as f64
        };
        let lasting = (0..self.rows.len()).filter(|number| self.span(*number).1 > 0);
        let powers = lasting.map(|number| (power(number), number));
        // Of equal ones the first.
        let (_, most) = powers.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))?;
        let (from_cycle, cycles) = self.span(most);
        let counts = priced
            .into_iter()
            .map(|(name, place, _)| (name, self.rows[most][place]));
        Some(Peak {
            window_cycles: self.window,
            windows: self.rows.len() as u64,
            from_cycle,
            cycles,
            counts: counts.collect(),
        })
    }
}

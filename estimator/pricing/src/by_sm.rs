//! Counts of single SMs by windows of time, and the power that they take.
//!
//! The windows are those of [`Windows`], whose counts are the whole GPU's. What a structure of the SMs spends in a window is parted among them by what each did of
//! it there; leakage, and what no SM has counted, is spread evenly. So the SMs and what belongs to none of them add up to the power of the GPU.

use std::collections::{BTreeMap, BTreeSet};

use warpwatt_activity::{Activity, Event};
use warpwatt_gpu::{GpuSpec, MemoryView, Run, SmView, Watcher};
use warpwatt_structures::{Count, Structure, inventory};

use crate::outcome::PricedStructure;
use crate::pace::{Length, Pace, add};
use crate::peak::Windows;

/// SMs times windows beyond which none are kept: some 250 MB of counts.
pub const MOST_ROWS: usize = 500_000;

/// Takes the counts of single SMs at the end of each window.
#[derive(Debug)]
pub struct SmSampler {
    pace: Pace,
    /// Numbers of the SMs that are wanted, ascending.
    sms: Vec<u16>,
    /// Structures of SMs, and counters of other names that they are charged for.
    structures: BTreeSet<&'static str>,
    charged: BTreeSet<&'static str>,
    names: BTreeMap<String, usize>,
    /// By SM: what was counted before.
    before: Vec<Vec<u64>>,
    /// By window and SM that is wanted, and last the sum of all: what was counted.
    rows: Vec<Vec<Vec<u64>>>,
    full: bool,
}

/// What SMs counted, window by window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmWindows {
    /// Numbers of the SMs, ascending.
    pub sms: Vec<u16>,
    names: BTreeMap<String, usize>,
    rows: Vec<Vec<Vec<u64>>>,
}

impl SmSampler {
    /// With windows of a length, of those SMs of a GPU that are `wanted`.
    pub fn new(length: Length, gpu: &GpuSpec, wanted: impl Fn(u16) -> bool) -> Self {
        let structures = inventory(gpu);
        let of_sms: Vec<&Structure> = structures.iter().filter(|it| is_of_sms(it)).collect();
        let charges = of_sms.iter().flat_map(|it| it.charges.iter());
        let counters = charges.flat_map(|charge| &charge.events);
        let sms = gpu.sm.count;
        let numbers = (0..sms).filter_map(|number| u16::try_from(number).ok());
        Self {
            pace: Pace::new(length),
            sms: numbers.filter(|number| wanted(*number)).collect(),
            structures: of_sms.iter().map(|it| it.name).collect(),
            charged: counters.map(|(counter, _)| *counter).collect(),
            names: BTreeMap::new(),
            before: vec![Vec::new(); sms as usize],
            rows: Vec::new(),
            full: false,
        }
    }

    /// The windows of `run`, which this has watched; nothing if they were too many.
    pub fn finish(mut self, run: &Run) -> Option<SmWindows> {
        if self.full {
            return None;
        }
        // What ends with the run is joined to the last window that is whole.
        let rest = self.take(run.per_sm.iter().cloned());
        match self.rows.last_mut() {
            Some(last) => join(last, &rest),
            None => self.rows.push(rest),
        }
        Some(SmWindows {
            sms: self.sms,
            names: self.names,
            rows: self.rows,
        })
    }

    /// What each SM that is wanted has counted since the last call, and all of them together.
    fn take(&mut self, now: impl Iterator<Item = Activity>) -> Vec<Vec<u64>> {
        let mut all: Vec<u64> = Vec::new();
        let mut rows = Vec::with_capacity(self.sms.len() + 1);
        for (number, activity) in now.enumerate() {
            let mut row = Vec::new();
            for (name, count) in activity.iter() {
                let Some(place) = self.place(name) else {
                    continue;
                };
                let before = &mut self.before[number];
                for list in [&mut *before, &mut row, &mut all] {
                    list.resize(list.len().max(place + 1), 0);
                }
                row[place] = count.saturating_sub(before[place]);
                all[place] += row[place];
                before[place] = count;
            }
            let wanted = u16::try_from(number).is_ok_and(|it| self.sms.binary_search(&it).is_ok());
            rows.extend(wanted.then_some(row));
        }
        rows.push(all);
        rows
    }

    /// Where a counter is kept, if a structure of SMs is charged for it.
    fn place(&mut self, name: &str) -> Option<usize> {
        if let Some(place) = self.names.get(name) {
            return Some(*place);
        }
        let own = Event::of(name).is_some_and(|event| self.structures.contains(event.structure));
        if !own && !self.charged.contains(name) {
            return None;
        }
        let place = self.names.len();
        self.names.insert(name.to_owned(), place);
        Some(place)
    }
}

/// Adds the counts of a window to those of the one before.
fn join(row: &mut [Vec<u64>], next: &[Vec<u64>]) {
    for (counts, more) in row.iter_mut().zip(next) {
        add(counts, more);
    }
}

fn is_of_sms(structure: &Structure) -> bool {
    matches!(structure.count, Count::PerSm(_))
}

impl Watcher for SmSampler {
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
            if (self.rows.len() + 1) * (self.sms.len() + 1) > MOST_ROWS {
                self.full = true;
                return u64::MAX;
            }
            // Between two looks SMs only wait.
            let row = self.take(view.at(self.pace.ends).activity_by_sm());
            self.rows.push(row);
            self.pace.next(&mut self.rows, |row, next| join(row, &next));
        }
        self.pace.ends
    }

    fn end(&mut self, _: u64, _: &MemoryView<'_>) {}
}

/// The power of SMs, window by window.
#[derive(Clone, Debug)]
pub struct PowerBySm {
    /// By structure of the outcome; nothing of those that belong to no SM.
    structures: Vec<Option<Share>>,
    /// Which of the windows last.
    lasting: Vec<usize>,
    gpu_sms: f64,
    of_sms: SmWindows,
}

/// What an SM has of a structure.
#[derive(Clone, Debug)]
struct Share {
    /// Watts at all times.
    even_w: f64,
    /// Its actions.
    works: Vec<Work>,
}

/// An action of a structure.
#[derive(Clone, Debug)]
struct Work {
    /// Counters by their places among those of the SMs, with how often each counts.
    events: Vec<(Option<usize>, u64)>,
    /// By window: watts, and events over the whole GPU.
    spent: Vec<(f64, u64)>,
}

impl PowerBySm {
    /// From the counts of SMs in the windows of a `run`.
    pub fn of(run: &CountedRun<'_>, of_sms: SmWindows) -> Self {
        let numbers = 0..run.windows.rows.len();
        let lasting = numbers.filter(|number| run.windows.span(*number).1 > 0);
        let priced = run.priced.iter();
        Self {
            structures: priced.map(|priced| run.share(priced, &of_sms)).collect(),
            lasting: lasting.collect(),
            gpu_sms: f64::from(run.sms.max(1)),
            of_sms,
        }
    }

    /// The SMs, ascending.
    pub fn sms(&self) -> &[u16] {
        &self.of_sms.sms
    }

    /// Whether the structure of this place belongs to SMs.
    pub fn is_of_sms(&self, structure: usize) -> bool {
        self.structures[structure].is_some()
    }

    /// Watts of the SM at this place among [`Self::sms`] in a window, of those that last: of every structure, nothing of those that belong to no SM.
    pub fn watts(&self, window: usize, sm: usize) -> Vec<Option<f64>> {
        let number = self.lasting[window];
        let counts: &[Vec<u64>] = &self.of_sms.rows[number];
        let counted = |sm: usize, events: &[(Option<usize>, u64)]| -> f64 {
            let row = counts.get(sm).map_or(&[][..], Vec::as_slice);
            let count = |place: &Option<usize>| row.get((*place)?).copied();
            let counted = events.iter();
            let counted = counted.map(|(place, each)| count(place).unwrap_or_default() * each);
            counted.sum::<u64>() as f64
        };
        let of = |share: &Share| {
            let works = share.works.iter().map(|work| {
                let (watts, events) = work.spent[number];
                if events == 0 {
                    return watts / self.gpu_sms;
                }
                let others = events as f64 - counted(self.of_sms.sms.len(), &work.events);
                let own = counted(sm, &work.events) + others / self.gpu_sms;
                watts * own / events as f64
            });
            share.even_w + works.sum::<f64>()
        };
        let structures = self.structures.iter();
        structures.map(|share| share.as_ref().map(of)).collect()
    }
}

/// A run that was counted by windows, and what it was priced at.
#[derive(Clone, Copy, Debug)]
pub struct CountedRun<'r> {
    /// The counts of the GPU.
    pub windows: &'r Windows,
    /// The same with the names of what is charged.
    pub charged: &'r Windows,
    /// What the GPU is made of.
    pub built: &'r [Structure],
    /// What that was priced at.
    pub priced: &'r [PricedStructure],
    /// How many SMs it has.
    pub sms: u32,
    /// How long it took.
    pub time_s: f64,
}

impl CountedRun<'_> {
    /// What an SM has of a structure, if it has it.
    fn share(&self, priced: &PricedStructure, of_sms: &SmWindows) -> Option<Share> {
        let mut built = self.built.iter();
        let built = built.find(|it| it.name == &*priced.name && is_of_sms(it))?;
        let mut even_j = priced.leakage_j;
        let mut works = Vec::new();
        for (action, spent) in priced.actions.iter() {
            let name = format!("{}.{action}", priced.name);
            let mut names = self.charged.names.iter();
            let Some(place) = names.position(|known| *known == name) else {
                even_j += spent.total_j;
                continue;
            };
            let mut charges = built.charges.iter();
            let events: Vec<(&str, u64)> =
                match charges.find(|charge| charge.action == action.name()) {
                    None => vec![(&name, 1)],
                    Some(charge) => {
                        let events = charge.events.iter();
                        events
                            .map(|(counter, each)| (*counter, u64::from(*each)))
                            .collect()
                    }
                };
            works.push(Work {
                spent: self.spent(place, spent.unit_j, &events),
                events: events
                    .iter()
                    .map(|(counter, each)| (of_sms.names.get(*counter).copied(), *each))
                    .collect(),
            });
        }
        Some(Share {
            even_w: even_j / self.time_s / f64::from(self.sms.max(1)),
            works,
        })
    }

    /// By window: the watts of an action that is counted at `place`, and how many of these events there were.
    fn spent(&self, place: usize, unit_j: f64, events: &[(&str, u64)]) -> Vec<(f64, u64)> {
        let cycle_s = self.time_s / self.windows.cycles.max(1) as f64;
        let events: Vec<(usize, u64)> = events
            .iter()
            .filter_map(|(counter, each)| {
                let mut names = self.windows.names.iter();
                Some((names.position(|known| known == counter)?, *each))
            })
            .collect();
        let rows = self.windows.rows.iter().zip(&self.charged.rows).enumerate();
        rows.map(|(number, (row, charged))| {
            let seconds = self.windows.span(number).1 as f64 * cycle_s;
            let counted = events.iter().map(|(place, each)| row[*place] * each);
            (charged[place] as f64 * unit_j / seconds, counted.sum())
        })
        .collect()
    }
}

//! One run as a page.

use warpwatt_gpu::{GpuSpec, MemoryView, Run, SmView, Watcher};
use warpwatt_pricing::by_sm::{SmSampler, SmWindows};
use warpwatt_pricing::pace::Length;
use warpwatt_pricing::peak::{Sampler, Windows};

use super::energy::Energy;
use super::spent::listing;
use crate::diag::Diag;
use crate::outcome::{KernelName, Outcome, gpu_label};
use crate::report::kernel_page::{KernelPage, WatchedRun};
use crate::report::{Class, Layer, OfSm, Scope};
use crate::run::plain::PowerOverTime;

/// Causes of stalls that have a layer of their own; the others share one.
const STALLS: usize = 5;

/// When launches begin.
#[derive(Debug, Default)]
pub struct Launches(Vec<(u64, String)>);

impl Watcher for Launches {
    fn launch(&mut self, cycle: u64, kernel: &str) {
        self.0.push((cycle, kernel.to_owned()));
    }

    fn watches(&self, _: u16) -> bool {
        false
    }

    fn sm(&mut self, _: u64, _: &SmView<'_>) {}

    fn memory(&mut self, _: u64, _: &MemoryView<'_>) -> u64 {
        u64::MAX
    }

    fn end(&mut self, _: u64, _: &MemoryView<'_>) {}
}

/// How long windows are that no one has chosen: from so many cycles on as a page needs them.
pub const FITTED: Length = Length::Fitted(64);

/// Looks on while a run goes on.
#[derive(Default)]
pub struct Look {
    sampler: Option<Sampler>,
    by_sm: Option<SmSampler>,
    launches: Launches,
}

/// What was seen.
#[derive(Default)]
pub struct Seen {
    /// What was counted over time; nothing if nobody counted, or if it was too much to be kept.
    pub windows: Option<Windows>,
    /// The same by SM.
    pub by_sm: Option<SmWindows>,
    /// When launches began.
    pub launches: Launches,
}

impl Look {
    /// With those that count, if any.
    pub fn new(sampler: Option<Sampler>, by_sm: Option<SmSampler>) -> Self {
        Self {
            sampler,
            by_sm,
            launches: Launches::default(),
        }
    }

    /// At a run on this GPU that a page is made of.
    pub fn at(gpu: &GpuSpec) -> Self {
        let by_sm = SmSampler::new(FITTED, gpu, |_| true);
        Self::new(Some(Sampler::new(FITTED)), Some(by_sm))
    }

    /// Those that look; nobody if nobody counts.
    pub fn watchers(&mut self) -> Vec<&mut dyn Watcher> {
        let launches = self.sampler.is_some().then_some(&mut self.launches as _);
        let sampler = self.sampler.as_mut().map(|sampler| sampler as _);
        let by_sm = self.by_sm.as_mut().map(|sampler| sampler as _);
        sampler.into_iter().chain(by_sm).chain(launches).collect()
    }

    /// What was seen of the run.
    pub fn finish(self, run: &Run) -> Seen {
        Seen {
            windows: self.sampler.and_then(|sampler| sampler.finish(run)),
            by_sm: self.by_sm.and_then(|sampler| sampler.finish(run)),
            launches: self.launches,
        }
    }
}

/// What a page shows of a run beside its price.
pub struct Shown<'s> {
    /// The kernel.
    pub kernel: &'s KernelName,
    /// The preset of the GPU.
    pub preset: &'s str,
    /// Whether every buffer that was compared holds what it must.
    pub passed: bool,
    /// What was seen of it over time.
    pub seen: &'s Seen,
    /// The name and the text of the program.
    pub source: (&'s str, &'s str),
}

impl Shown<'_> {
    /// The page, of what was priced by windows and by instruction.
    ///
    /// # Errors
    /// It was not.
    pub fn page<'p>(&self, energy: &'p Energy) -> Result<KernelPage<'p>, Diag> {
        let missing = || Diag::error("kernel::page", "the run was not counted over time");
        let power = energy.power.as_ref().ok_or_else(missing)?;
        let windows = self.seen.windows.as_ref().ok_or_else(missing)?;
        let parts = energy.parts.as_ref().ok_or_else(missing)?;
        let outcome = &energy.outcome;
        let rest =
            (!parts.rest.is_empty()).then(|| ("no instruction".to_owned(), parts.rest.clone()));
        let classes = parts.classes.iter();
        let classes = classes.map(|(name, by)| ((*name).to_owned(), by.clone()));
        let mut classes: Vec<Class> = classes.collect();
        classes.sort_by(|a, b| joules(b).total_cmp(&joules(a)).then(a.0.cmp(&b.0)));
        classes.extend(rest);
        Ok(KernelPage {
            title: format!("{}, case {}", self.kernel.name, self.kernel.case),
            lead: self.lead(outcome),
            outcome,
            over_time: self.over_time(power, windows, outcome),
            classes,
            lines: listing(self.source, parts),
            scope: Scope::of(std::slice::from_ref(outcome)).words(),
            version: env!("CARGO_PKG_VERSION"),
        })
    }

    fn lead(&self, outcome: &Outcome) -> String {
        let point = &outcome.point;
        let verdict = match self.passed {
            true => "",
            false => " Its buffers do not hold what they must.",
        };
        format!(
            "On {}, {}. Energies are dynamic and leakage, of everything that is priced.{verdict}",
            gpu_label(self.preset, &point.axes),
            point.technology.label()
        )
    }

    fn over_time<'p>(
        &self,
        power: &'p PowerOverTime,
        windows: &Windows,
        outcome: &Outcome,
    ) -> WatchedRun<'p> {
        let cycle_s = outcome.time_s / windows.cycles.max(1) as f64;
        let launches = self.seen.launches.0.iter();
        let launches = launches.map(|(cycle, name)| (*cycle as f64 * cycle_s, name.clone()));
        WatchedRun {
            spans: &power.spans,
            launches: launches.collect(),
            watts: &power.watts,
            cycles: cycles(windows),
            sms: sms(power),
        }
    }
}

fn joules((_, by): &Class) -> f64 {
    by.values().sum()
}

/// Power of each SM in each window.
fn sms(power: &PowerOverTime) -> Vec<OfSm> {
    let Some(by_sm) = &power.by_sm else {
        return Vec::new();
    };
    let of = |(place, sm): (usize, &u16)| {
        let windows = 0..power.spans.len();
        let watts = windows.map(|window| by_sm.watts(window, place).into_iter().flatten().sum());
        OfSm {
            sm: *sm,
            watts: watts.collect(),
        }
    };
    by_sm.sms().iter().enumerate().map(of).collect()
}

/// Shares of the cycles of all SMs by what they went into: with an issue, by what kept most from one, idle.
fn cycles(windows: &Windows) -> Vec<Layer> {
    let lasting = (0..windows.rows.len()).filter(|number| windows.span(*number).1 > 0);
    let lasting: Vec<&Vec<u64>> = lasting.map(|number| &windows.rows[number]).collect();
    let counted = |place: usize| lasting.iter().map(|row| row[place]).collect::<Vec<u64>>();
    let named = |name: &str| {
        let place = windows.names.iter().position(|known| known == name);
        place.map_or_else(|| vec![0; lasting.len()], counted)
    };
    let names = windows.names.iter().enumerate();
    let stalls = names.filter_map(|(place, name)| {
        let cause = name.strip_prefix("stall_")?;
        Some((cause.replace('_', " "), counted(place)))
    });
    let mut stalls: Vec<(String, Vec<u64>)> = stalls.collect();
    let sum = |counts: &[u64]| counts.iter().sum::<u64>();
    stalls.sort_by(|a, b| sum(&b.1).cmp(&sum(&a.1)).then(a.0.cmp(&b.0)));
    stalls.retain(|(_, counts)| sum(counts) > 0);
    if stalls.len() > STALLS + 1 {
        let others = stalls.split_off(STALLS);
        let mut together = vec![0; lasting.len()];
        for (_, counts) in others {
            let both = together.iter_mut().zip(counts);
            both.for_each(|(sum, count)| *sum += count);
        }
        stalls.push(("other stalls".to_owned(), together));
    }
    let mut all = vec![("issue".to_owned(), named("issue_cycles"))];
    all.append(&mut stalls);
    all.push(("idle".to_owned(), named("idle_cycles")));
    let whole = |window: usize| all.iter().map(|(_, counts)| counts[window]).sum::<u64>();
    let whole: Vec<u64> = (0..lasting.len()).map(whole).collect();
    let layer = |(name, counts): &(String, Vec<u64>)| Layer {
        name: name.clone(),
        values: counts
            .iter()
            .zip(&whole)
            .map(|(count, whole)| *count as f64 / (*whole).max(1) as f64)
            .collect(),
        is_idle: name == "idle",
    };
    all.iter().map(layer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of two windows the second is longer; every window's shares are those of its own cycles, and causes beyond the largest share a layer.
    #[test]
    fn shares_of_cycles_are_of_each_window() {
        let names = [
            "issue_cycles",
            "stall_memory",
            "stall_dependence",
            "idle_cycles",
            "fetches",
        ];
        let windows = Windows {
            window: 10,
            cycles: 30,
            names: names.map(str::to_owned).to_vec(),
            rows: vec![vec![5, 3, 2, 0, 9], vec![5, 5, 0, 10, 7]],
        };
        let layers = cycles(&windows);
        let shown: Vec<(&str, &[f64])> = layers
            .iter()
            .map(|layer| (layer.name.as_str(), &layer.values[..]))
            .collect();
        let expected: [(&str, &[f64]); 4] = [
            ("issue", &[0.5, 0.25]),
            ("memory", &[0.3, 0.25]),
            ("dependence", &[0.2, 0.0]),
            ("idle", &[0.0, 0.5]),
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn many_causes_of_stalls_share_a_layer() {
        let names = (0..9).map(|number| format!("stall_{number}"));
        let windows = Windows {
            window: 45,
            cycles: 45,
            names: names.collect(),
            rows: vec![(1..=9).collect()],
        };
        let layers = cycles(&windows);
        let names: Vec<&str> = layers.iter().map(|layer| layer.name.as_str()).collect();
        assert_eq!(
            names,
            ["issue", "8", "7", "6", "5", "4", "other stalls", "idle"]
        );
        let all: f64 = layers.iter().map(|layer| layer.values[0]).sum();
        assert!((all - 1.0).abs() < 1e-12);
        assert!((layers[6].values[0] - 10.0 / 45.0).abs() < 1e-12);
    }
}

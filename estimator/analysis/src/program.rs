//! What a program's launches come to, by kernel and together.

mod alike;

use std::collections::BTreeMap;

use crate::outcome::Outcome;
use crate::report::estimate::{Estimate, Figure, Sum};
use crate::report::terms;
use crate::run::program::{Answer, Answers, Item, Launched};
use alike::{Weights, add_spread};

/// What launches come to under one configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// Simulated time, with what it is uncertain by where launches were not timed whole.
    pub time: Sum,
    /// Energy that switching takes.
    pub dynamic_j: f64,
    /// Energy that leaks.
    pub leakage_j: f64,
    /// Energy by structure.
    pub structures: BTreeMap<String, f64>,
    /// Cycles of all SMs by what they were spent on.
    pub stalls: BTreeMap<String, u64>,
    /// What a board draws, times the seconds for which it does, if a board is named.
    pub board_j: Option<f64>,
    /// Dynamic and leakage energy with what they are uncertain by: launches share the errors of prices.
    pub energy: Sum,
    /// The most power of a window, of any launch, if power is looked at over windows.
    pub peak_w: Option<f64>,
}

impl Totals {
    /// Simulated time.
    pub fn seconds(&self) -> f64 {
        self.time.estimate().value
    }

    /// Energy.
    pub fn energy_j(&self) -> f64 {
        self.dynamic_j + self.leakage_j
    }

    /// Mean power while kernels run; none if none took time.
    pub fn power_w(&self) -> Option<Estimate> {
        let energy = self.energy.estimate();
        let seconds = self.seconds();
        (seconds > 0.0).then(|| Estimate {
            value: energy.value / seconds,
            sigma: energy.sigma / seconds,
        })
    }

    /// What the energy is relative to that of a plain GPU, less one; none if that took none.
    pub fn energy_change(&self, plain: &Self) -> Option<Estimate> {
        self.energy.over(&plain.energy).map(Estimate::minus_one)
    }

    /// The same of time.
    pub fn time_change(&self, plain: &Self) -> Option<Estimate> {
        self.time.over(&plain.time).map(Estimate::minus_one)
    }

    /// What so many launches of one trace come to.
    fn of(outcome: &Outcome, trace: u64, n: f64) -> Self {
        let mut structures: BTreeMap<String, f64> = BTreeMap::new();
        for structure in &outcome.structures {
            let joules = n * structure.energy_j();
            *structures.entry(structure.name.to_string()).or_default() += joules;
        }
        let stalls = outcome.performance.stalls.iter();
        let mut energy = Sum::default();
        energy.add(&terms::priced_energy(outcome), n);
        let mut time = Sum::default();
        time.add_sure(n * outcome.time_s);
        if let Some(sampled) = &outcome.sampled {
            for error in &sampled.errors {
                let cause = format!("{trace} {}", error.cause).into();
                time.add_error(Figure::Sample, &cause, n * error.time_s);
                energy.add_error(Figure::Sample, &cause, n * error.energy_j);
            }
        }
        let board = outcome.metrics.iter().find(|it| it.name == "board.power_w");
        Self {
            time,
            dynamic_j: n * outcome.totals.dynamic_j,
            leakage_j: n * outcome.totals.leakage_j,
            structures,
            stalls: stalls
                .map(|(cause, cycles)| (cause.clone(), (n * *cycles as f64).round() as u64))
                .collect(),
            board_j: board.map(|watts| n * watts.value * outcome.time_s),
            energy,
            peak_w: outcome.peak.as_ref().map(|peak| peak.power_w(outcome)),
        }
    }

    fn merge(&mut self, other: &Self) {
        self.time.merge(&other.time);
        self.dynamic_j += other.dynamic_j;
        self.leakage_j += other.leakage_j;
        for (name, joules) in &other.structures {
            *self.structures.entry(name.clone()).or_default() += joules;
        }
        for (cause, cycles) in &other.stalls {
            *self.stalls.entry(cause.clone()).or_default() += cycles;
        }
        if let Some(joules) = other.board_j {
            *self.board_j.get_or_insert_default() += joules;
        }
        self.energy.merge(&other.energy);
        self.peak_w = self.peak_w.into_iter().chain(other.peak_w).reduce(f64::max);
    }
}

/// What the launches of a kernel come to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelSums {
    /// Launches.
    pub calls: u64,
    /// Those that were timed.
    pub timed: u64,
    /// Why others were not: how many launches each reason has.
    pub untimed: BTreeMap<String, u64>,
    /// Those that were not, but are in all figures by others that are like them.
    pub alike: u64,
    /// Those that were timed in part.
    pub sampled: u64,
    /// Instructions of warps, of all launches.
    pub warp_instructions: u64,
    /// Those of them that were timed, of launches that repeat an earlier one too.
    pub instructions_timed: f64,
    /// By configuration, of the launches that were timed.
    pub totals: Vec<Totals>,
}

/// What a program comes to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sums {
    /// By kernel.
    pub kernels: BTreeMap<String, KernelSums>,
    /// All of them.
    pub all: KernelSums,
}

/// Adds up the launches among `items`; `configurations` is how many there are.
pub fn sums(items: &[Item], answers: &Answers, configurations: usize) -> Sums {
    let empty = || KernelSums {
        totals: vec![Totals::default(); configurations],
        ..KernelSums::default()
    };
    // By kernel, so that the same outcome is added once.
    let mut weights: BTreeMap<&str, Weights> = BTreeMap::new();
    let mut kernels: BTreeMap<String, KernelSums> = BTreeMap::new();
    for item in items {
        let Item::Launch(launched) = item else {
            continue;
        };
        let kernel = kernels.entry(launched.kernel.clone()).or_insert_with(empty);
        let weights = weights.entry(&launched.kernel).or_default();
        kernel.count(launched, answers, weights);
    }
    for (name, weights) in weights {
        if let Some(kernel) = kernels.get_mut(name) {
            kernel.add(&weights, answers);
        }
    }
    let mut all = empty();
    for kernel in kernels.values() {
        all.merge(kernel);
    }
    Sums { kernels, all }
}

impl KernelSums {
    /// Counts a launch, and what stands for it.
    fn count(&mut self, launched: &Launched, answers: &Answers, weights: &mut Weights) {
        self.calls += 1;
        self.warp_instructions += launched.warp_instructions;
        let known = launched.trace.and_then(|trace| {
            let answer = answers.traces.get(&trace)?;
            Some((trace, answer))
        });
        let reason = match known {
            Some((trace, Answer::Timed(outcomes))) => {
                self.timed += 1;
                let sampled = outcomes.first().and_then(|it| it.sampled.as_ref());
                self.sampled += u64::from(sampled.is_some());
                let share = sampled.map_or(1.0, |sampled| sampled.timed);
                self.instructions_timed += share * launched.warp_instructions as f64;
                weights.add_timed(trace);
                return;
            }
            Some((trace, Answer::Like(_))) => {
                self.alike += 1;
                weights.add_alike(trace);
                return;
            }
            Some((_, Answer::Failed(why))) => Some(why.clone()),
            Some((_, Answer::Left)) => Some("too many others were timed before".to_owned()),
            None => launched.untraced.clone(),
        };
        if let Some(reason) = reason {
            *self.untimed.entry(reason).or_default() += 1;
        }
    }

    /// Adds what was timed, as often as it counts, and what its launches are uncertain by for which others stand.
    fn add(&mut self, weights: &Weights, answers: &Answers) {
        for (trace, times) in weights.all(answers) {
            let Some(Answer::Timed(outcomes)) = answers.traces.get(&trace) else {
                continue;
            };
            for (totals, outcome) in self.totals.iter_mut().zip(outcomes) {
                totals.merge(&Totals::of(outcome, trace, times));
            }
        }
        for (configuration, totals) in self.totals.iter_mut().enumerate() {
            add_spread(totals, weights, answers, configuration);
        }
    }

    fn merge(&mut self, other: &Self) {
        self.calls += other.calls;
        self.timed += other.timed;
        self.alike += other.alike;
        self.sampled += other.sampled;
        self.warp_instructions += other.warp_instructions;
        self.instructions_timed += other.instructions_timed;
        for (reason, launches) in &other.untimed {
            *self.untimed.entry(reason.clone()).or_default() += launches;
        }
        for (sum, totals) in self.totals.iter_mut().zip(&other.totals) {
            sum.merge(totals);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(kernel: &str, trace: Option<u64>) -> Item {
        Item::Launch(Launched {
            kernel: kernel.to_owned(),
            grid: [1; 3],
            block: [32, 1, 1],
            trace,
            untraced: None,
            warp_instructions: 10,
            launches_by_kernels: 0,
        })
    }

    #[test]
    fn launches_that_are_not_timed_are_counted_with_their_reasons() {
        let items = [
            launch("a", Some(1)),
            launch("a", Some(2)),
            launch("b", Some(1)),
        ];
        let traces = BTreeMap::from([
            (1, Answer::Timed(Vec::new())),
            (2, Answer::Failed("it does not fit".to_owned())),
        ]);
        let answers = Answers {
            traces,
            ..Answers::default()
        };
        let sums = sums(&items, &answers, 1);
        assert_eq!((sums.all.calls, sums.all.timed), (3, 2));
        assert_eq!(sums.kernels["a"].untimed["it does not fit"], 1);
        assert_eq!(sums.all.warp_instructions, 30);
    }
}

//! Everything that a report tells of a program.

use std::collections::BTreeMap;

use super::arguments::ExecArguments;
use crate::outcome::Outcome;
use crate::program::{KernelSums, Sums, Totals, sums};
use crate::run::Resolved;
use crate::run::program::{Answer, Answers, Heard, Timed};

/// What is told.
pub struct Told<'t> {
    /// The program with its arguments.
    pub program: String,
    /// The preset.
    pub gpu: String,
    /// Where it is priced: node, flavour, supply, temperature; nothing if nothing was timed.
    pub technology: Option<String>,
    /// The configurations: the plain GPU first.
    pub configurations: Vec<String>,
    /// Whether launches were to be timed.
    pub timed: bool,
    /// What was heard.
    pub heard: &'t Heard,
    /// What it comes to.
    pub sums: Sums,
    /// Distinct launches that were timed.
    pub traces: u64,
    /// Time and power of each trace on the plain GPU.
    pub launches: BTreeMap<u64, Timed>,
    /// Over which time power is a peak.
    pub peak_window: String,
}

impl<'t> Told<'t> {
    /// Adds up what was heard and timed.
    pub fn new(
        (arguments, gpu): (&ExecArguments, &str),
        resolved: &Resolved,
        heard: &'t Heard,
        answers: &Answers,
    ) -> Self {
        let configurations = resolved.plan.axes.configurations.iter();
        let configurations: Vec<String> = configurations.map(|it| it.label.clone()).collect();
        let baselines = answers
            .traces
            .iter()
            .filter_map(|(trace, answer)| match answer {
                Answer::Timed(outcomes) => Some((*trace, outcomes.first()?)),
                _ => None,
            });
        let baselines: Vec<(u64, &Outcome)> = baselines.collect();
        let technology = baselines.first().map(|(_, outcome)| {
            let technology = &outcome.point.technology;
            format!(
                "{} {}, {:.2} V, {:.0} K",
                technology.node, technology.flavour, technology.vdd_v, technology.temperature_k
            )
        });
        let words: Vec<String> = (arguments.command.iter())
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        Self {
            program: words.join(" "),
            gpu: gpu.to_owned(),
            technology,
            timed: !arguments.functional,
            heard,
            sums: sums(&heard.items, answers, configurations.len()),
            configurations,
            traces: baselines.len() as u64,
            launches: launches(answers),
            peak_window: arguments.peak_window.clone(),
        }
    }
}

impl Told<'_> {
    /// What a kernel comes to by configuration, with the plain GPU beside each but that; nothing of one of which no launch was timed.
    pub fn configurations_of<'k>(
        &'k self,
        kernel: &'k KernelSums,
    ) -> impl Iterator<Item = (&'k String, &'k Totals, Option<&'k Totals>)> {
        let plain = kernel.totals.first();
        let all = self.configurations.iter().zip(&kernel.totals).enumerate();
        all.filter(|_| kernel.timed > 0)
            .map(move |(place, (label, totals))| (label, totals, plain.filter(|_| place > 0)))
    }
}

/// Time and power of each trace on the plain GPU, of those for which others stand too.
fn launches(answers: &Answers) -> BTreeMap<u64, Timed> {
    let of = |trace: u64| match answers.traces.get(&trace) {
        Some(Answer::Timed(outcomes)) => outcomes.first(),
        _ => None,
    };
    let timed = answers.traces.iter().filter_map(|(trace, answer)| {
        let shares = match answer {
            Answer::Timed(_) => vec![(*trace, 1.0)],
            Answer::Like(like) => like.shares.clone(),
            _ => return None,
        };
        let outcomes = shares
            .iter()
            .filter_map(|(by, times)| Some((of(*by)?, *times)));
        let (mut seconds, mut joules) = (0.0, 0.0);
        for (outcome, times) in outcomes {
            seconds += times * outcome.time_s;
            joules += times * outcome.energy_j();
        }
        let watts = if seconds > 0.0 { joules / seconds } else { 0.0 };
        Some((*trace, Timed { seconds, watts }))
    });
    timed.collect()
}

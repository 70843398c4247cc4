//! Everything that a report tells of a program.

use std::collections::BTreeMap;

use super::arguments::ExecArguments;
use crate::outcome::Outcome;
use crate::run::Resolved;
use crate::run::program::{Answer, Heard, Sums, sums};

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
    /// Simulated seconds of each trace on the plain GPU.
    pub seconds: BTreeMap<u64, f64>,
}

impl<'t> Told<'t> {
    /// Adds up what was heard and timed.
    pub fn new(
        (arguments, gpu): (&ExecArguments, &str),
        resolved: &Resolved,
        heard: &'t Heard,
        answers: &BTreeMap<u64, Answer>,
    ) -> Self {
        let configurations = resolved.plan.axes.configurations.iter();
        let configurations: Vec<String> = configurations.map(|it| it.label.clone()).collect();
        let baselines = answers.iter().filter_map(|(trace, answer)| match answer {
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
            seconds: baselines
                .iter()
                .map(|(trace, outcome)| (*trace, outcome.time_s))
                .collect(),
        }
    }
}

//! What techniques report: the names come from the techniques, which way is good from what they declare.

use warpwatt_activity::Activity;
use warpwatt_board::reported;
use warpwatt_gpu::{Run, Work};
use warpwatt_techniques::{ALL, Definition, Stack, judged};

use super::{Better, Figure, Metric};
use crate::reliability;

/// A metric that a technique reports.
pub fn metric(name: &str, unit: &str) -> Metric {
    let better = match judged(name) {
        Some(judged) if judged.higher => Better::Higher,
        Some(_) => Better::Lower,
        None => Better::Neither,
    };
    if let Some(meaning) = reliability::meaning(name).or_else(|| reported::meaning(name)) {
        return Metric {
            name: name.to_owned(),
            unit: unit.to_owned(),
            better: Better::Lower,
            meaning,
            interval: false,
            figure: Figure::Technique,
        };
    }
    let technique = name.split('.').next().unwrap_or(name);
    Metric {
        name: name.to_owned(),
        unit: unit.to_owned(),
        better,
        meaning: format!("as `{technique}` reports it"),
        interval: false,
        figure: Figure::Technique,
    }
}

/// What every technique reports with its default parameters, and what a study with `[reliability]` or a board does.
pub fn defaults() -> Vec<Metric> {
    let stacks = ALL.iter().filter_map(|definition| default(definition));
    let followed = reliability::names().map(|(name, unit)| metric(&name, unit));
    stacks
        .flat_map(|stack| of(&stack))
        .chain(followed)
        .chain(reported::names().map(|(name, unit)| metric(&name, unit)))
        .collect()
}

fn default(definition: &Definition) -> Option<Stack> {
    let technique = definition.parse(&toml::Table::new()).ok()?;
    Stack::new(vec![technique.into()]).ok()
}

/// What the techniques of `stack` report. The names do not depend on what was counted, so an empty run shows them.
pub fn of(stack: &Stack) -> Vec<Metric> {
    let run = Run {
        cycles: 0,
        activity: Activity::new(),
        per_sm: Vec::new(),
        launches: Vec::new(),
        work: Work::default(),
    };
    let metrics = stack.metrics(&run).into_iter();
    metrics.map(|m| metric(&m.name, m.unit)).collect()
}

//! The numbers of a suite: measured, reduced, put together, compared.

use std::collections::BTreeMap;

use super::circuit::{self, Setting};
use super::flips::Flipped;
use super::measure::{self, Measure, native};
use super::points::{Pair, pairs};
use super::row::{GPU, WITHOUT};
use super::{Ours, Selection, Suite};
use crate::Check;
use warpwatt_input::expression::Expression;
use warpwatt_pricing::label;
use warpwatt_pricing::outcome::Outcome;
use warpwatt_report::metric::Metrics;
use warpwatt_report::{Comparison, beside};

/// Before the name of a counter.
const ACTIVITY: &str = "activity.";

/// The points of a study, by the name of its file.
pub type Studies = BTreeMap<String, Vec<Outcome>>;

impl Suite {
    /// Every row of which the points are there.
    ///
    /// # Errors
    /// A circuit cannot be built, or a row names a technique that no point of its study has.
    pub fn checks(&self, studies: &Studies) -> Result<Vec<Check>, String> {
        self.checks_with(studies, &Flipped::new())
    }

    /// As [`checks`](Self::checks), with what came of the suite's flips.
    ///
    /// # Errors
    /// As [`checks`](Self::checks).
    pub fn checks_with(&self, studies: &Studies, flips: &Flipped) -> Result<Vec<Check>, String> {
        let mut values = circuit::price(self.setting.as_ref(), &self.circuits)?;
        values.extend(flips.iter().map(|(name, value)| (name.clone(), *value)));
        let engine = Engine {
            suite: self,
            studies,
            metrics: Metrics::known().with_points(studies.values().flatten()),
        };
        let mut checks = Vec::new();
        for row in &self.rows {
            let ours = match &row.ours {
                Ours::Points(selection) => engine.reduced(selection)?,
                Ours::Made(expression) => made(expression, &values, self.setting.as_ref()),
            };
            let Some(ours) = ours else { continue };
            if let Some(id) = &row.id {
                values.insert(id.clone(), ours);
            }
            if let Some(it) = &row.published {
                let check = Check::new(&it.figure, &it.what, it.value, ours, it.tolerance);
                let check = check.in_unit(&it.unit).of_kind(it.kind);
                checks.push(check.known(it.gap.clone()));
            }
        }
        Ok(checks)
    }
}

/// An expression over other values; `None` if one of them is not there.
fn made(
    expression: &Expression,
    values: &BTreeMap<String, f64>,
    setting: Option<&Setting>,
) -> Option<f64> {
    let gpu = setting.and_then(|setting| setting.gpu);
    let gpu = gpu.and_then(|gpu| toml::Table::try_from(gpu.spec().ok()?).ok());
    let of = |name: &str| match name.strip_prefix(GPU) {
        Some(path) => number(gpu.as_ref()?, path),
        None => values.get(name).copied(),
    };
    let names = expression.names();
    let there = names.iter().all(|(name, _)| of(name).is_some());
    let value = || expression.value(&|name| of(name).unwrap_or(f64::NAN));
    there.then(|| value().unwrap_or(f64::NAN))
}

/// A setting of a GPU.
fn number(table: &toml::Table, path: &str) -> Option<f64> {
    match path.split_once('.') {
        Some((first, rest)) => number(table.get(first)?.as_table()?, rest),
        None => match table.get(path)? {
            toml::Value::Integer(number) => Some(*number as f64),
            other => other.as_float(),
        },
    }
}

struct Engine<'e> {
    suite: &'e Suite,
    studies: &'e Studies,
    metrics: Metrics,
}

impl<'e> Engine<'e> {
    /// A row's number; `None` if none of its points is there.
    fn reduced(&self, selection: &Selection) -> Result<Option<f64>, String> {
        let Some(outcomes) = self.studies.get(&selection.study) else {
            return Ok(None);
        };
        for technique in [&selection.technique, &selection.against] {
            if !outcomes
                .iter()
                .any(|it| label::same(&it.point.technique, technique))
            {
                let study = &selection.study;
                return Err(format!(
                    "no point of `{study}` has the technique `{technique}`"
                ));
            }
        }
        let pairs = pairs(
            outcomes,
            self.suite.paper,
            selection,
            self.needs_other(&selection.metric),
        );
        let of_pair = |pair: &Pair<'_>| self.value(&selection.metric, *pair);
        let values: Vec<f64> = pairs.iter().map(of_pair).collect();
        Ok((!values.is_empty()).then(|| selection.reduce.of(&values)))
    }

    fn value(&self, expression: &Expression, pair: Pair<'_>) -> f64 {
        let value = expression.value(&|name| {
            let value = match name.strip_prefix(WITHOUT) {
                None => self.named(name, pair),
                Some(name) => pair.without.and_then(|with| {
                    let other = Pair {
                        with,
                        without: None,
                    };
                    self.named(name, other)
                }),
            };
            value.unwrap_or(f64::NAN)
        });
        value.unwrap_or(f64::NAN)
    }

    /// A measure or a metric of a point.
    fn named(&self, name: &str, pair: Pair<'_>) -> Option<f64> {
        match self.measure(name) {
            Some(Measure::Is(expression)) => return Some(self.value(expression, pair)),
            Some(Measure::Sum { structures, of }) => {
                return Some(measure::sum(pair.with, structures, of));
            }
            None => {}
        }
        // What did not happen has no counter.
        if let Some(counter) = name.strip_prefix(ACTIVITY) {
            return Some(pair.with.activity.get(counter) as f64);
        }
        if let Some(native) = native(name) {
            return native(pair.with);
        }
        let metric = self.metrics.find(name).ok()?;
        let beside = metric.paper().zip(pair.without).map(|(paper, without)| {
            let paper = beside::load(Some(paper));
            Comparison::of(without, pair.with, paper.as_deref())
        });
        metric.value(pair.with, beside.as_ref())
    }

    fn measure(&self, name: &str) -> Option<&'e Measure> {
        let found = self.suite.measures.iter().find(|(known, _)| known == name);
        found.map(|(_, measure)| measure)
    }

    /// Whether an expression, or a measure that it is made of, names the other point.
    fn needs_other(&self, expression: &Expression) -> bool {
        let names = expression.names();
        names.iter().any(|(name, _)| match self.measure(name) {
            Some(Measure::Is(inner)) => self.needs_other(inner),
            _ => {
                let metric = self.metrics.find(name);
                name.starts_with(WITHOUT) || metric.is_ok_and(|it| it.needs_baseline())
            }
        })
    }
}

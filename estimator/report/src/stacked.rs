//! Stacks of techniques beside their members alone: is the whole more or less than its parts?

use std::collections::BTreeSet;

use serde::Serialize;
use warpwatt_techniques::Stack;

use super::estimate::{self, Estimate, Term, Terms};
use super::format;
use super::model::Block;
use super::terms;
use super::text::Column;
use crate::label;
use crate::outcome::{KernelName, Outcome, Point};

/// A stack whose members the study also has alone, on one GPU variant and technology.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stacked {
    /// Techniques, GPU, settings and technology in one line.
    pub configuration: String,
    /// The members' labels, in the order in which they are applied.
    pub members: Vec<String>,
    /// One a kernel, in the order of the study.
    pub points: Vec<StackedPoint>,
}

/// A stack on one kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StackedPoint {
    /// The point of the stack.
    pub point: Point,
    /// Dynamic and leakage energy.
    pub energy: Interplay,
    /// Dynamic energy.
    pub dynamic: Interplay,
    /// Leakage energy.
    pub leakage: Interplay,
    /// Cycles.
    pub cycles: Interplay,
    /// Area of all structures that are priced.
    pub area: Interplay,
}

/// Relative changes of a figure against the plain GPU: what is saved is negative.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Interplay {
    /// Of each member alone.
    pub alone: Vec<f64>,
    /// Their sum: what the stack would do if each member saved what it saves alone.
    pub sum: f64,
    /// What it would do if each multiplied what those before it leave.
    pub product: f64,
    /// Of the stack.
    pub stack: f64,
    /// `stack - sum`: above zero the members get in each other's way, below zero they help each other. Errors that all configurations share cancel.
    pub excess: Estimate,
}

impl Stacked {
    /// The block of a stack, as far as its members are among `points`; `None` if it is no stack or nothing can be compared.
    pub fn of(block: &Block, points: &[Outcome]) -> Option<Self> {
        let first = &block.comparisons.first()?.point;
        let members: Vec<String> = first.members().map(str::to_owned).collect();
        if members.len() < 2 {
            return None;
        }
        let stacked = block.comparisons.iter().filter_map(|comparison| {
            let point = &comparison.point;
            let here = || {
                points
                    .iter()
                    .filter(|p| p.point.differs_only_in_technique(point))
            };
            let labelled = |label: &str| here().find(|p| label::same(&p.point.technique, label));
            // Beside the same structures of the study's own.
            let beside = |member: &String| {
                let structures = label::structures(&point.technique);
                let label: Vec<&str> = [&member[..]].into_iter().chain(structures).collect();
                labelled(&label.join(Stack::JOIN))
            };
            let alone: Option<Vec<&Outcome>> = members.iter().map(beside).collect();
            let plain = here().find(|p| p.point.is_baseline())?;
            let (alone, stack) = (alone?, labelled(&point.technique)?);
            Some(StackedPoint::of_members(plain, &alone, stack))
        });
        let points: Vec<StackedPoint> = stacked.collect();
        (!points.is_empty()).then(|| Self {
            configuration: block.label(),
            members,
            points,
        })
    }

    /// The kernels' names, and `mean` below them.
    pub fn names(&self) -> Vec<String> {
        let kernels: Vec<&KernelName> = self.points.iter().map(|p| &*p.point.kernel).collect();
        let mut names = format::kernels(&kernels);
        names.push("mean".to_owned());
        names
    }

    /// The figures, with their means in the last cell.
    pub fn columns(&self) -> Vec<Column> {
        let members = self.members.iter().enumerate().map(|(place, member)| {
            let (name, _) = member.split_once('(').unwrap_or((member, ""));
            let mut heading: Vec<String> = name.split('_').map(str::to_owned).collect();
            heading.push("energy".to_owned());
            let meaning = format!("change of dynamic and leakage energy by {member} alone");
            self.column(heading, meaning, |p| p.energy.alone[place])
        });
        let mut columns: Vec<Column> = members.collect();
        for (heading, meaning, figure) in TOGETHER {
            let heading = heading.iter().map(|&line| line.to_owned()).collect();
            columns.push(self.column(heading, (*meaning).to_owned(), figure));
        }
        columns.insert(self.members.len() + 3, self.excess());
        columns
    }

    /// What the stack spends beyond the sum, with its error where it is one kernel's.
    fn excess(&self) -> Column {
        let heading = vec!["stacked".to_owned(), "less sum".to_owned()];
        let meaning =
            "what the stack spends beyond the sum: above zero the members get in each other's way";
        let mut column = self.column(heading, meaning.to_owned(), |p| p.energy.excess.value);
        for (cell, point) in column.cells.iter_mut().zip(&self.points) {
            *cell = format::estimate(Some(point.energy.excess));
        }
        column
    }

    fn column(
        &self,
        heading: Vec<String>,
        meaning: String,
        figure: impl Fn(&StackedPoint) -> f64,
    ) -> Column {
        let values: Vec<f64> = self.points.iter().map(figure).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let cells = values.iter().chain([&mean]);
        Column {
            heading,
            meaning,
            cells: cells.map(|value| format::change(*value)).collect(),
        }
    }
}

/// A figure of a stack: heading, meaning, value.
type Figure = (
    &'static [&'static str],
    &'static str,
    fn(&StackedPoint) -> f64,
);

const TOGETHER: &[Figure] = &[
    (&["sum"], "sum of the changes of each alone", |p| {
        p.energy.sum
    }),
    (
        &["product"],
        "change if each multiplied the energy that the others leave",
        |p| p.energy.product,
    ),
    (
        &["stacked"],
        "change of dynamic and leakage energy by the stack",
        |p| p.energy.stack,
    ),
    (
        &["dynamic", "sum"],
        "sum of the changes of dynamic energy",
        |p| p.dynamic.sum,
    ),
    (&["dynamic", "stacked"], "the same by the stack", |p| {
        p.dynamic.stack
    }),
    (
        &["leakage", "sum"],
        "sum of the changes of leakage energy",
        |p| p.leakage.sum,
    ),
    (&["leakage", "stacked"], "the same by the stack", |p| {
        p.leakage.stack
    }),
    (&["cycles", "sum"], "sum of the changes of cycles", |p| {
        p.cycles.sum
    }),
    (&["cycles", "stacked"], "the same by the stack", |p| {
        p.cycles.stack
    }),
    (
        &["area", "sum"],
        "sum of what is added to the area of all priced structures",
        |p| p.area.sum,
    ),
    (&["area", "stacked"], "the same by the stack", |p| {
        p.area.stack
    }),
];

impl StackedPoint {
    /// Without the study's own structures that stand beside each member and the stack but not in the plain GPU: what they cost is nobody's, and would count once a member.
    fn of_members(plain: &Outcome, alone: &[&Outcome], stack: &Outcome) -> Self {
        let has =
            |outcome: &Outcome, name: &str| outcome.structures.iter().any(|it| &*it.name == name);
        let names = stack.structures.iter().map(|it| &*it.name);
        let beside: BTreeSet<&str> = names
            .filter(|name| !has(plain, name) && alone.iter().all(|outcome| has(outcome, name)))
            .collect();
        if beside.is_empty() {
            return Self::of(plain, alone, stack);
        }
        let without = |outcome: &Outcome| {
            let mut left = outcome.clone();
            left.structures.retain(|it| !beside.contains(&*it.name));
            left
        };
        let alone: Vec<Outcome> = alone.iter().map(|outcome| without(outcome)).collect();
        let alone: Vec<&Outcome> = alone.iter().collect();
        Self::of(plain, &alone, &without(stack))
    }

    fn of(plain: &Outcome, alone: &[&Outcome], stack: &Outcome) -> Self {
        let of = |figure: fn(&Outcome) -> Terms<'_>| Interplay::of(figure, plain, alone, stack);
        let cycles = |outcome: &Outcome| outcome.cycles as f64;
        let alone_cycles: Vec<f64> = alone.iter().map(|outcome| cycles(outcome)).collect();
        Self {
            point: stack.point.clone(),
            energy: of(terms::all_energy),
            dynamic: of(|outcome| terms::energy_of(outcome, None, terms::dynamic)),
            leakage: of(|outcome| terms::energy_of(outcome, None, terms::leakage_energy)),
            cycles: Interplay::exact(cycles(plain), &alone_cycles, cycles(stack)),
            area: of(|outcome| outcome.structures.iter().map(terms::area).collect()),
        }
    }
}

impl Interplay {
    /// The figure is a sum of terms with errors.
    fn of(
        figure: fn(&Outcome) -> Terms<'_>,
        plain: &Outcome,
        alone: &[&Outcome],
        stack: &Outcome,
    ) -> Self {
        let total = |outcome: &Outcome| estimate::sum(&figure(outcome)).value;
        let alone_totals: Vec<f64> = alone.iter().map(|outcome| total(outcome)).collect();
        let exact = Self::exact(total(plain), &alone_totals, total(stack));
        // stack / plain - 1 - sum of (alone / plain - 1), all over the same denominator.
        let mut excess = figure(stack);
        for outcome in alone {
            excess.extend(scaled(figure(outcome), -1.0));
        }
        excess.extend(scaled(figure(plain), alone.len() as f64 - 1.0));
        Self {
            excess: estimate::ratio(&excess, &figure(plain)).unwrap_or(exact.excess),
            ..exact
        }
    }

    /// The figure has no error.
    fn exact(plain: f64, alone: &[f64], stack: f64) -> Self {
        let change = |value: f64| {
            if plain > 0.0 {
                value / plain - 1.0
            } else {
                0.0
            }
        };
        let alone: Vec<f64> = alone.iter().map(|value| change(*value)).collect();
        let sum = alone.iter().sum();
        let stack = change(stack);
        Self {
            product: alone.iter().map(|change| 1.0 + change).product::<f64>() - 1.0,
            sum,
            stack,
            excess: Estimate {
                value: stack - sum,
                sigma: 0.0,
            },
            alone,
        }
    }
}

fn scaled<'o>(terms: Terms<'o>, factor: f64) -> impl Iterator<Item = Term<'o>> {
    terms.into_iter().map(move |term| Term {
        value: factor * term.value,
        ..term
    })
}

#[cfg(test)]
mod tests;

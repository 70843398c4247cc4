//! The columns of the answer, each declared once: the terminal, the page, CSV and JSON render this list.

use std::collections::BTreeMap;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::row::Answer;
use crate::format::{self, NONE};
use crate::metric::Better::{self, Higher, Lower, Neither};
use crate::sheet::{self, Cell, Kind};

/// A figure of a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// Words.
    Text(String),
    /// Names.
    Names(Vec<String>),
    /// A number in the column's unit.
    Number(f64),
    /// A verdict.
    Flag(bool),
    /// Numbers by name, ratios all of them.
    Named(BTreeMap<String, f64>),
}

/// A column of the answer.
pub struct Column {
    /// Its key in machine-readable output.
    pub key: &'static str,
    /// What its cells are in tables for machines.
    pub kind: Kind,
    /// SI unit, `1` for a fraction, empty for words.
    pub unit: &'static str,
    /// Which way is good.
    pub better: Better,
    /// The lines of its heading where people read it; empty if only machines do.
    pub title: &'static [&'static str],
    /// What it is.
    pub meaning: &'static str,
    /// The figure; `None` where a row has none.
    pub value: fn(&Answer) -> Option<Value>,
}

/// Every column in its place.
#[rustfmt::skip]
pub const COLUMNS: &[Column] = &[
    column("configuration", "", Neither, &[], "technique, GPU with its swept settings, technology and operating point", |a| text(&a.configuration)).of(Kind::Text),
    column("technique", "", Neither, &["technique"], "the technique with its parameters", |a| text(&a.technique)).of(Kind::Text),
    column("gpu", "", Neither, &[], "the GPU with its swept settings", |a| text(&a.gpu)).of(Kind::Text),
    column("node", "", Neither, &["node"], "the technology node", |a| text(&a.technology.node)).of(Kind::Text),
    column("kernels", "", Neither, &[], "the kernels that the means are over", |a| Some(Value::Names(a.kernels.clone()))).of(Kind::Count),
    column("energy_change", "1", Lower, &["energy"], "relative change of dynamic and leakage energy of all priced structures", |a| number(a.energy_change.map(|change| change.value))),
    column("energy_change_low", "1", Lower, &[], "lower end of its 95 % interval", |a| number(a.energy_change.map(|change| change.value - change.half_width()))),
    column("energy_change_high", "1", Lower, &[], "upper end of its 95 % interval", |a| number(a.energy_change.map(|change| change.value + change.half_width()))),
    column("energy_gross_saving", "1", Higher, &["gross", "saving"], "saved by the structures that spend less, over the energy without", |a| number(a.energy_gross_saving)),
    column("energy_overhead", "1", Lower, &["over-", "head"], "added by the structures that spend more, over the energy without", |a| number(a.energy_overhead)),
    column("power_change", "1", Lower, &["power"], "relative change of average power", |a| number(a.power_change)),
    column("area_change", "1", Lower, &["area"], "relative change of the area of all priced structures", |a| number(a.area_change)),
    column("area_m2", "m2", Lower, &["mm2"], "area of all priced structures with the technique", |a| number(a.area_m2)),
    column("slowdown", "1", Lower, &["slow-", "down"], "cycles added, over those without", |a| number(a.slowdown)),
    column("edp_change", "1", Lower, &["energy", "x delay"], "relative change of energy times time", |a| number(a.edp_change)),
    column("headline", "1", Neither, &["its own"], "what the technique declares as its own headline", |a| Some(Value::Named(a.headline.clone()))).of(Kind::Text),
    column("within_budget", "", Neither, &["budget"], "whether every kernel is inside the budget", |a| a.within_budget.map(Value::Flag)).of(Kind::Mark),
];

/// A column of real numbers.
const fn column(
    key: &'static str,
    unit: &'static str,
    better: Better,
    title: &'static [&'static str],
    meaning: &'static str,
    value: fn(&Answer) -> Option<Value>,
) -> Column {
    Column {
        key,
        kind: Kind::Real,
        unit,
        better,
        title,
        meaning,
        value,
    }
}

impl Column {
    const fn of(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }
}

fn number(value: Option<f64>) -> Option<Value> {
    value.filter(|value| value.is_finite()).map(Value::Number)
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "words stand where other columns may be empty"
)]
fn text(words: &str) -> Option<Value> {
    Some(Value::Text(words.to_owned()))
}

/// A key a column, nothing where it has no value; then a key a parameter.
impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for column in COLUMNS {
            map.serialize_entry(column.key, &(column.value)(self))?;
        }
        for (name, cell) in &self.parameters {
            map.serialize_entry(name, cell)?;
        }
        map.end()
    }
}

impl Answer {
    /// The text of a column for people.
    pub fn cell(&self, column: &Column) -> String {
        // A change of energy stands with half its interval.
        if column.key == ENERGY_CHANGE {
            return format::estimate(self.energy_change);
        }
        match (column.value)(self) {
            None => NONE.to_owned(),
            Some(value) => value.text(column.unit),
        }
    }
}

impl Value {
    /// The cell in tables for machines: names are counted, numbers by name are one field.
    pub fn cell(self) -> Cell {
        match self {
            Self::Text(text) => text.into(),
            Self::Names(names) => Cell::Count(names.len() as u64),
            Self::Number(number) => number.into(),
            Self::Flag(flag) => flag.into(),
            Self::Named(named) => {
                let named = named.into_iter();
                let named = named.map(|(name, value)| format!("{name}={}", sheet::real(value)));
                named.collect::<Vec<_>>().join(" ").into()
            }
        }
    }

    fn text(self, unit: &str) -> String {
        match self {
            Self::Text(text) => text,
            Self::Names(names) => names.join(", "),
            Self::Number(number) => match unit {
                "1" => format::change(number),
                "m2" => format::number(number * 1e6),
                _ => format::number(number),
            },
            Self::Flag(inside) => (if inside { "inside" } else { "outside" }).to_owned(),
            Self::Named(named) => {
                let named = named.iter();
                let words = named
                    .map(|(name, value)| format!("{} {}", words(name), format::percent(*value)));
                words.collect::<Vec<_>>().join(", ")
            }
        }
    }
}

/// The last words of a metric's name: `hit rate` of `filter_cache.hit_rate`.
fn words(metric: &str) -> String {
    let short = metric.split_once('.').map_or(metric, |(_, short)| short);
    short.replace(['_', '.'], " ")
}

/// The column that is shown with its interval.
const ENERGY_CHANGE: &str = "energy_change";

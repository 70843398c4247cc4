//! What a paper puts beside a comparison, if the study asks for it. The report itself knows no paper.

use std::borrow::Cow;
use std::fmt::Debug;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::compare::Comparison;
use super::estimate::Estimate;
use super::format;
use super::metric::Better;
use super::model::Block;
use crate::outcome::Outcome;

/// A paper whose figures stand beside ours.
pub trait Paper: Debug + Send + Sync {
    /// Its name in studies.
    fn name(&self) -> &'static str;

    /// Authors, title, venue.
    fn citation(&self) -> &str;

    /// What it adds to a comparison, in the order of its columns.
    fn figures(&self) -> &'static [PaperFigure];

    /// The values for a point without and with a technique.
    fn beside(&self, without: &Outcome, with: &Outcome) -> Beside;

    /// What follows from all kernels of a configuration, in words.
    fn lines(&self, comparisons: &[Comparison]) -> Vec<String>;

    /// Pictures of a configuration; `index` tells those of several apart.
    fn charts(&self, block: &Block, index: usize) -> Vec<PaperChart>;
}

/// A figure that a paper adds, declared once.
#[derive(Clone, Copy, Debug)]
pub struct PaperFigure {
    /// Its name as a metric and a column.
    pub key: &'static str,
    /// SI unit, `1` for a fraction.
    pub unit: &'static str,
    /// Which way is good.
    pub better: Better,
    /// The lines of its heading where people read it; empty if only machines do.
    pub heading: &'static [&'static str],
    /// What it is.
    pub meaning: &'static str,
    /// How it is written.
    pub form: Form,
}

/// How a figure is written for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A share: `95.0%`.
    Percent,
    /// A relative change: `-12.6%`.
    Change,
    /// A relative change with half its 95 % interval, which machines get as a column of its own.
    Interval,
    /// An energy in nanojoules.
    Nanojoules,
}

/// The values of a paper's figures for one comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Beside {
    /// The paper's own name for the kernel, if it has it.
    pub row: Option<String>,
    /// The figures that there are, by key.
    pub values: Vec<(&'static str, Estimate)>,
}

/// A picture with its heading.
#[derive(Clone, Debug)]
pub struct PaperChart {
    /// The heading.
    pub heading: Cow<'static, str>,
    /// What it shows.
    pub caption: &'static str,
    /// The picture.
    pub svg: String,
}

impl Beside {
    /// The figure `key`, if it has a value.
    pub fn get(&self, key: &str) -> Option<Estimate> {
        let found = self.values.iter().find(|(name, _)| *name == key);
        found.map(|(_, value)| *value)
    }
}

/// The row and a value a figure.
impl Serialize for Beside {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("row", &self.row)?;
        for (key, value) in &self.values {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl PaperFigure {
    /// The text for people.
    pub fn text(&self, beside: Option<&Beside>) -> String {
        let Some(value) = beside.and_then(|beside| beside.get(self.key)) else {
            return format::NONE.to_owned();
        };
        match self.form {
            Form::Percent => format::percent(value.value),
            Form::Change => format::change(value.value),
            Form::Interval => format::estimate(Some(value)),
            Form::Nanojoules => format::nanojoules(value.value),
        }
    }

    /// The name of the column with half its interval, if it has one.
    pub fn half_width_key(&self) -> Option<String> {
        (self.form == Form::Interval).then(|| format!("{}_halfwidth", self.key))
    }
}

//! The axes of a study as they are read, and what is drawn along them.

pub(crate) mod draw;

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::toml_reader::Placed;

pub use draw::Method;

/// The number of an axis, in the order in which axes are read.
pub type AxisId = usize;

/// Samples of a study: what was drawn, to be drawn again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sampling {
    /// How.
    pub method: Method,
    /// How many.
    pub count: u32,
    /// From which seed.
    pub seed: u32,
}

/// An axis as it was read.
#[derive(Clone, Debug)]
pub(crate) struct Noted {
    /// Where a study writes it: `gpu.sm.threads`.
    pub name: String,
    /// Where its value stands.
    pub range: Range<usize>,
    /// How many values are written; `None` if it is a span whose values are drawn.
    pub written: Option<usize>,
    /// The place of each sample's value among its values, if it is drawn.
    pub places: Option<Vec<usize>>,
}

/// What `[sweep]` says, and the axes as they are read.
#[derive(Clone, Debug, Default)]
pub struct Sweep {
    pub(crate) zips: Vec<Vec<Placed<String>>>,
    pub(crate) sampling: Option<Sampling>,
    /// The axes that are drawn; all if that is not said.
    pub(crate) over: Option<Vec<Placed<String>>>,
    pub(crate) axes: Vec<Noted>,
    /// What was drawn by dimension: the name of an axis, or of the first of those that walk together.
    pub(crate) columns: BTreeMap<String, Vec<f64>>,
}

impl Sweep {
    /// The axis that was read last.
    pub(crate) fn last(&self) -> AxisId {
        self.axes.len().saturating_sub(1)
    }

    /// The dimension that an axis is drawn in, if it is drawn.
    pub(crate) fn dimension(&self, name: &str) -> Option<String> {
        self.sampling.as_ref()?;
        let with = self
            .zips
            .iter()
            .find(|zip| zip.iter().any(|member| member.value == name));
        let group = with.map_or_else(
            || vec![name],
            |zip| zip.iter().map(|member| member.value.as_str()).collect(),
        );
        let over = self.over.as_ref();
        let drawn =
            over.is_none_or(|over| over.iter().any(|axis| group.contains(&axis.value.as_str())));
        drawn.then(|| group[0].to_owned())
    }

    /// The numbers of [0, 1) of all samples in a dimension.
    pub(crate) fn column(&mut self, dimension: String) -> Vec<f64> {
        let Some(sampling) = &self.sampling else {
            return Vec::new();
        };
        let number = self.columns.len();
        let column = self.columns.entry(dimension);
        column
            .or_insert_with_key(|name| draw::column(sampling, name, number))
            .clone()
    }
}

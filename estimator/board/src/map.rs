//! Which column of a table of measurements is what: data, shipped for three layouts, and written by whoever has another.

use serde::Deserialize;

use crate::channel::Channel;

/// What the numbers of a table are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// Shares of documented peaks at the board's default clocks.
    Utilisation,
    /// Events a second over the measured time.
    Rates,
    /// Events of one launch, beside how many launches took how long.
    Counts,
}

/// On what a row computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operands {
    /// In loops on few loaded words, which hardly change any more after some turns.
    Still,
    /// On data.
    Random,
    /// On zeros, or on other bits that are always the same.
    Zeros,
}

impl Operands {
    /// Their names in tables.
    pub const NAMES: [(&'static str, Self); 3] = [
        ("still", Self::Still),
        ("random", Self::Random),
        ("zeros", Self::Zeros),
    ];
}

/// A layout of tables.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Map {
    /// What it is called.
    pub title: String,
    /// What its numbers are.
    pub basis: Basis,
    /// What a number is multiplied by to be events a second.
    #[serde(default = "one")]
    pub per_second: f64,
    /// On what the rows of a calibration compute; predictions are of kernels on data unless they say otherwise.
    pub operands: Operands,
    /// Share of operands of kernels on data that change as random ones do.
    #[serde(default = "one")]
    pub changing: f64,
    /// A table that has any of these columns is of this layout.
    pub recognised_by: Vec<String>,
    /// Columns that are known and play no part.
    #[serde(default)]
    pub ignored: Vec<String>,
    /// Columns that are no rates.
    pub columns: Columns,
    /// Columns that are.
    pub term: Vec<Term>,
}

/// Columns of a table that are no rates: names of each, the first that is there holds.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Columns {
    /// What a row is called.
    pub name: Vec<String>,
    /// Measured watts of the board.
    pub power_w: Vec<String>,
    /// Clock of the SMs.
    pub core_mhz: Vec<String>,
    /// Clock of the memory, as the driver names it.
    pub memory_mhz: Vec<String>,
    /// What kept the clocks down; empty where nothing did.
    pub limited: Vec<String>,
    /// Mean of SMs without work.
    pub idle_sms: Vec<String>,
    /// Mean share of SMs with work.
    pub active_share: Vec<String>,
    /// Cycles in which an SM had work.
    pub active_cycles: Vec<String>,
    /// Cycles of the launch.
    pub elapsed_cycles: Vec<String>,
    /// Measured seconds.
    pub seconds: Vec<String>,
    /// Launches in them.
    pub launches: Vec<String>,
    /// Temperature of the GPU, in degrees Celsius.
    pub temperature_c: Vec<String>,
    /// On what the row computes, where that is not the same for all.
    pub operands: Vec<String>,
}

/// A column that counts events of a kind.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
    /// The kind, by its name.
    pub channel: String,
    /// Names of the column, the first that is there and has a number holds.
    pub columns: Vec<String>,
    /// What of it is no such event, such as repetitions; taken away where it is counted.
    #[serde(default)]
    pub less: Option<Less>,
    /// Events for each of what it counts.
    #[serde(default = "one")]
    pub times: f64,
}

/// A column that counts what another one has counted as well.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Less {
    /// Names of the column.
    pub columns: Vec<String>,
    /// What the other one has counted for each.
    #[serde(default = "one")]
    pub times: f64,
}

fn one() -> f64 {
    1.0
}

/// The shipped maps by name.
pub const SHIPPED: [(&str, &str); 4] = [
    ("utilisation", include_str!("../maps/utilisation.toml")),
    ("accelwattch", include_str!("../maps/accelwattch.toml")),
    ("ncu", include_str!("../maps/ncu.toml")),
    ("nvml", include_str!("../maps/nvml.toml")),
];

impl Map {
    /// The map that `text` is.
    ///
    /// # Errors
    /// What is wrong with it, with its place.
    pub fn parse(text: &str) -> Result<Self, (std::ops::Range<usize>, String)> {
        let map: Self = toml::from_str(text)
            .map_err(|error| (error.span().unwrap_or(0..0), error.message().to_owned()))?;
        let unknown = map
            .term
            .iter()
            .find(|term| Channel::named(&term.channel).is_none());
        match unknown {
            None => Ok(map),
            Some(term) => {
                let at = text.find(&format!("\"{}\"", term.channel)).unwrap_or(0);
                let known = Channel::ALL.map(Channel::key).join(", ");
                let message = format!("`{}` is no kind of event; there are {known}", term.channel);
                Err((at..at + term.channel.len() + 2, message))
            }
        }
    }

    /// The shipped one of that name.
    pub fn shipped(name: &str) -> Option<Self> {
        let (_, text) = SHIPPED.iter().find(|(known, _)| *known == name)?;
        Self::parse(text).ok()
    }

    /// The shipped one whose layout a table with these columns has.
    pub fn recognised(columns: &[&str]) -> Option<Self> {
        SHIPPED.iter().find_map(|(name, _)| {
            let map = Self::shipped(name)?;
            let is_it = map
                .recognised_by
                .iter()
                .any(|own| columns.contains(&own.as_str()));
            is_it.then_some(map)
        })
    }

    /// Every column that it knows.
    pub fn known(&self) -> impl Iterator<Item = &str> {
        let columns = &self.columns;
        let lists = [
            &columns.name,
            &columns.power_w,
            &columns.core_mhz,
            &columns.memory_mhz,
            &columns.limited,
            &columns.idle_sms,
            &columns.active_share,
            &columns.active_cycles,
            &columns.elapsed_cycles,
            &columns.seconds,
            &columns.launches,
            &columns.temperature_c,
            &columns.operands,
            &self.ignored,
        ];
        let terms = self.term.iter().flat_map(|term| {
            let less = term.less.iter().flat_map(|less| &less.columns);
            term.columns.iter().chain(less)
        });
        lists.into_iter().flatten().chain(terms).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_map_can_be_read() {
        for (name, text) in SHIPPED {
            Map::parse(text).unwrap_or_else(|(_, error)| panic!("{name}: {error}"));
        }
    }

    #[test]
    fn layouts_are_told_by_their_columns() {
        let title = |columns: &[&str]| Map::recognised(columns).map(|map| map.basis);
        assert_eq!(
            title(&["name", "power_w", "util_dram"]),
            Some(Basis::Utilisation)
        );
        assert_eq!(title(&["kernel", "hw_W", "TOT_INST"]), Some(Basis::Rates));
        assert_eq!(
            title(&["name", "smsp__inst_executed.sum"]),
            Some(Basis::Counts)
        );
        assert_eq!(title(&["a", "b"]), None);
    }
}

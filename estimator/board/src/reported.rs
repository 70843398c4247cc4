//! What is reported of a board at the points of a study: names, units, meanings.

use crate::board::Prediction;
use crate::split::{Part, parts};

/// What the figures of a board begin with.
const PREFIX: &str = "board.";
/// The unit of all of them.
const UNIT: &str = "W";
/// What is reported before the parts: name, meaning.
const WHOLE: [(&str, &str); 3] = [
    ("power", "what the graphics board draws"),
    ("low", "2.5 % of measurements of the board lie below"),
    ("high", "2.5 % of measurements of the board lie above"),
];

/// Names and meanings of what is reported: watts with their interval, then each part.
fn figures() -> impl Iterator<Item = (String, String)> {
    let whole = WHOLE
        .into_iter()
        .map(|(name, meaning)| (name, meaning.to_owned()));
    let parts = parts().map(|part| (part.key, format!("of what the board draws, {}", part.words)));
    whole
        .chain(parts)
        .map(|(name, meaning)| (format!("{PREFIX}{name}_w"), meaning))
}

/// Names and units of what is reported.
pub fn names() -> impl Iterator<Item = (String, &'static str)> {
    figures().map(|(name, _)| (name, UNIT))
}

/// What a figure means; nothing if it is not one of a board.
pub fn meaning(name: &str) -> Option<String> {
    if !name.starts_with(PREFIX) {
        return None;
    }
    let found = figures().find(|(known, _)| known == name)?;
    Some(found.1)
}

/// Watts of a board as a point's metrics have them.
pub struct Reported {
    /// What the board draws.
    pub power_w: f64,
    /// Its interval.
    pub within_w: (f64, f64),
    /// Each of the parts.
    pub parts: Vec<(Part, f64)>,
}

impl Reported {
    /// All watts, in the order of [`names`].
    pub fn watts(&self) -> impl Iterator<Item = f64> {
        let whole = [self.power_w, self.within_w.0, self.within_w.1].into_iter();
        whole.chain(self.parts.iter().map(|(_, watts)| *watts))
    }

    /// Those among a point's metrics, of which `metric` finds one by its name; none if the study names no board.
    pub fn of(metric: impl Fn(&str) -> Option<f64>) -> Option<Self> {
        let value = |key: &str| metric(&format!("{PREFIX}{key}_w"));
        let parts = parts().map(|part| Some((part, value(part.key)?)));
        let [power, low, high] = WHOLE.map(|(name, _)| value(name));
        Some(Self {
            power_w: power?,
            within_w: (low?, high?),
            parts: parts.collect::<Option<Vec<(Part, f64)>>>()?,
        })
    }
}

/// What the board draws, in the order of [`names`].
pub fn values(drawn: &Prediction) -> impl Iterator<Item = f64> {
    [drawn.power_w, drawn.low_w, drawn.high_w]
        .into_iter()
        .chain(drawn.split.watts())
}

//! How often particles flip bits: raw rates of soft errors by node.
//!
//! Between two nodes of the table the rate is geometric in the node, as are rows of cells. Below its last node the rate a bit is held, and is uncertain by a factor: no
//! figure for 10 nm to 2 nm was found, and flips of several cells at once are not in it. Above the first node, likewise.

use serde::Deserialize;

use super::{checked, parse};
use crate::TechError;
use crate::quantity::Length;

const FILE: &str = "operations/upsets.toml";
const TEXT: &str = include_str!("../../data/operations/upsets.toml");

/// Relative uncertainty of a rate that is held beyond the table.
const HELD: f64 = 1.0;

/// Bits of a megabit, as rates are published.
const MEGABIT: f64 = 1e6;

/// How often a bit of an SRAM cell flips, with neither protection nor masking.
#[derive(Clone, Debug, PartialEq)]
pub struct UpsetRate {
    /// Failures in 10⁹ hours (FIT) a bit, at sea level in New York.
    pub fit_per_bit: f64,
    /// Where it is from, and by what rule.
    pub source: String,
    /// Relative, one sigma.
    pub uncertainty: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    upset: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    node: Length,
    fit_per_megabit: f64,
    source: String,
    uncertainty: f64,
}

/// The rate of SRAM cells of a node. Latches and flip-flops have other rates, for which there is no source here.
///
/// # Errors
///
/// If the data that come with the crate cannot be read.
pub fn upset_rate(node: Length) -> Result<UpsetRate, TechError> {
    let document: Document = parse(FILE, TEXT)?;
    for entry in &document.upset {
        checked(FILE, &entry.source, entry.uncertainty)?;
    }
    let table = &document.upset;
    let near = |entry: &Entry| (entry.node.as_nm() - node.as_nm()).abs() < 1e-6;
    if let Some(entry) = table.iter().find(|entry| near(entry)) {
        return Ok(entry.rate());
    }
    let pair = table
        .windows(2)
        .find(|pair| pair[0].node > node && node > pair[1].node);
    Ok(match (pair, table.first(), table.last()) {
        (Some([larger, smaller]), ..) => between(larger, smaller, node),
        (_, Some(first), _) if node > first.node => first.held(),
        (_, _, Some(last)) => last.held(),
        _ => return Err(super::problem(FILE, "there are no rates")),
    })
}

impl Entry {
    fn rate(&self) -> UpsetRate {
        UpsetRate {
            fit_per_bit: self.fit_per_megabit / MEGABIT,
            source: self.source.clone(),
            uncertainty: self.uncertainty,
        }
    }

    fn held(&self) -> UpsetRate {
        UpsetRate {
            source: format!("held from {}: {}", self.node, self.source),
            uncertainty: HELD,
            ..self.rate()
        }
    }
}

fn between(larger: &Entry, smaller: &Entry, node: Length) -> UpsetRate {
    let share = libm::log(node / smaller.node) / libm::log(larger.node / smaller.node);
    let ratio = larger.fit_per_megabit / smaller.fit_per_megabit;
    UpsetRate {
        fit_per_bit: smaller.fit_per_megabit * libm::pow(ratio, share) / MEGABIT,
        source: format!(
            "between {} and {}: {}; {}",
            larger.node, smaller.node, larger.source, smaller.source
        ),
        uncertainty: larger.uncertainty.max(smaller.uncertainty),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nm: f64) -> UpsetRate {
        upset_rate(Length::from_nm(nm)).unwrap()
    }

    #[test]
    fn the_table_is_met_and_lies_between_its_neighbours() {
        assert!((at(40.0).fit_per_bit - 262e-6).abs() < 1e-12);
        for (larger, node, smaller) in [(45.0, 42.0, 40.0), (40.0, 32.0, 28.0), (28.0, 22.0, 20.0)]
        {
            let (a, b) = (at(larger).fit_per_bit, at(smaller).fit_per_bit);
            let found = at(node).fit_per_bit;
            assert!(a.min(b) <= found && found <= a.max(b), "{node}: {found}");
        }
        // Half way in the logarithms.
        let middle = at((40.0f64 * 28.0).sqrt()).fit_per_bit;
        assert!((middle / (262e-6f64 * 73e-6).sqrt() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn beyond_the_table_rates_are_held_and_less_certain() {
        for (beyond, last) in [(7.0, 16.0), (2.0, 16.0), (180.0, 150.0)] {
            let (held, of) = (at(beyond), at(last));
            assert!((held.fit_per_bit - of.fit_per_bit).abs() < 1e-15);
            assert!(held.uncertainty > of.uncertainty);
            assert!(held.source.starts_with("held from"), "{}", held.source);
        }
    }
}

//! Rows of standard cells by node.

use serde::Deserialize;

use super::{checked, parse, problem};
use crate::TechError;
use crate::quantity::Length;

const FILE: &str = "operations/rows.toml";
const TEXT: &str = include_str!("../../data/operations/rows.toml");

/// The grid that standard cells of a node stand on.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Contacted gate pitch: the width of one column of transistors.
    pub gate_pitch: Length,
    /// Height of a row, from rail to rail.
    pub height: Length,
    /// Columns left empty between two cells.
    pub gap: f64,
    /// Where pitch and height are from; of both neighbours at a node in between.
    pub source: String,
    /// Relative, one sigma, of the two lengths.
    pub uncertainty: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    row: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    node: Length,
    gate_pitch: Length,
    height: Length,
    gap: f64,
    source: String,
    uncertainty: f64,
}

/// The rows of a node; between two nodes of the table geometric in the node.
///
/// # Errors
///
/// If the node is outside the table (180 nm to 2 nm).
pub fn row(node: Length) -> Result<Row, TechError> {
    let document: Document = parse(FILE, TEXT)?;
    for entry in &document.row {
        checked(FILE, &entry.source, entry.uncertainty)?;
    }
    let same = |entry: &&Entry| (entry.node.as_nm() - node.as_nm()).abs() < 1e-6;
    if let Some(entry) = document.row.iter().find(same) {
        return Ok(between(entry, entry, 1.0));
    }
    let pair = document
        .row
        .windows(2)
        .find(|pair| pair[0].node > node && node > pair[1].node);
    let Some([larger, smaller]) = pair else {
        return Err(problem(
            FILE,
            &format!("no standard-cell rows for {node}; they go from 180 nm to 2 nm"),
        ));
    };
    let share = libm::log(node / smaller.node) / libm::log(larger.node / smaller.node);
    Ok(between(larger, smaller, share))
}

/// `share` of the larger node in the logarithms.
fn between(larger: &Entry, smaller: &Entry, share: f64) -> Row {
    let mixed = |a: Length, b: Length| b * libm::pow(a / b, share);
    let source = if larger.source == smaller.source {
        larger.source.clone()
    } else {
        format!(
            "between {} and {}: {}; {}",
            larger.node, smaller.node, larger.source, smaller.source
        )
    };
    Row {
        gate_pitch: mixed(larger.gate_pitch, smaller.gate_pitch),
        height: mixed(larger.height, smaller.height),
        gap: larger.gap * share + smaller.gap * (1.0 - share),
        source,
        uncertainty: larger.uncertainty.max(smaller.uncertainty),
    }
}

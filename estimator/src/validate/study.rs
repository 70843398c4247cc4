//! The filter-cache paper's Table 4 against a study's points.

use super::{Check, Tolerance};
use crate::report::{Comparison, Report};

/// Points of hit rate: other inputs of the same program.
const HIT_RATE: Tolerance = Tolerance::Absolute(0.05);
/// Of the ratio of I-cache energies under the sum that Table 4 implies.
const RATIO: Tolerance = Tolerance::Absolute(0.05);
/// Points of front-end energy; the paper prints whole ones.
const SAVING: Tolerance = Tolerance::Absolute(0.02);

/// Hit rate, I-cache energy ratio and front-end saving of every kernel that stands for a row of Table 4, in the study's first block that has any.
/// Energies are under the sum that Table 4 implies.
pub fn filter_cache_study(report: &Report) -> Vec<Check> {
    let block = report.blocks.iter().find(|block| {
        block.technology.node == "32nm" && block.comparisons.iter().any(|c| c.paper.is_some())
    });
    let comparisons = block.map_or(&[] as &[Comparison], |block| &block.comparisons);
    comparisons.iter().flat_map(rows).collect()
}

fn rows(comparison: &Comparison) -> Vec<Check> {
    let (Some(paper), Some(hit_rate), Some(implied)) =
        (&comparison.paper, comparison.hit_rate, comparison.implied)
    else {
        return Vec::new();
    };
    let name = |figure: &str| {
        format!(
            "{} ({}, {}) {figure}",
            paper.abbreviation, comparison.point.kernel.name, comparison.point.kernel.case
        )
    };
    let place = "Table 4";
    let mut checks = vec![Check::new(
        (place, name("hit rate"), ""),
        paper.hit_rate,
        hit_rate,
        HIT_RATE,
    )];
    if let Some(ratio) = implied.icache.ratio() {
        checks.push(Check::new(
            (place, name("I-cache energy ratio"), ""),
            paper.icache_ratio,
            ratio,
            RATIO,
        ));
    }
    if let Some(change) = implied.front_end.relative {
        checks.push(Check::new(
            (place, name("front-end saving"), ""),
            paper.front_end_saving,
            -change.value,
            SAVING,
        ));
    }
    checks
}

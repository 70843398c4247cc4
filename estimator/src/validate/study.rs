//! The filter-cache paper's Table 4 against a study's points.

use super::{Check, Tolerance};
use crate::report::{Block, Comparison, Report};

/// Points of hit rate: other inputs of the same program.
const HIT_RATE: Tolerance = Tolerance::Absolute(0.05);
/// Of the ratio of I-cache energies under the sum that Table 4 implies.
const RATIO: Tolerance = Tolerance::Absolute(0.05);
/// Points of front-end energy; the paper prints whole ones.
const SAVING: Tolerance = Tolerance::Absolute(0.02);

/// Shares of the front end's energy: averages over the kernels at hand, which are not all of the paper's.
const SHARE: Tolerance = Tolerance::Absolute(0.05);
/// Hit rates of 16 entries against 32: the same.
const SIZE: Tolerance = Tolerance::Absolute(0.03);

/// Hit rate, I-cache energy ratio and front-end saving of every kernel that stands for a row of Table 4, at 32 nm; energies are under the sum that
/// Table 4 implies. Then what section 5.2 says of averages, over the same kernels.
pub fn filter_cache_study(report: &Report) -> Vec<Check> {
    let is_the_papers = |block: &&Block| {
        block.technology.node == "32nm" && block.comparisons.iter().any(|c| c.paper.is_some())
    };
    let Some(block) = report.blocks.iter().find(is_the_papers) else {
        return Vec::new();
    };
    let kernels: Vec<&Comparison> = block
        .comparisons
        .iter()
        .filter(|c| c.paper.is_some())
        .collect();
    let mut checks: Vec<Check> = kernels
        .iter()
        .flat_map(|comparison| rows(comparison))
        .collect();
    checks.extend(shares(&kernels, report));
    checks.extend(smaller(&kernels, block, report));
    checks
}

/// Section 5.2, "Energy Breakdown": averages over the baseline.
fn shares(kernels: &[&Comparison], report: &Report) -> Vec<Check> {
    let derived = report.paper.derived;
    let check = |what: &str, published: f64, prefix: &str| {
        let share = |c: &&Comparison| {
            let parts = c
                .front_end_parts
                .iter()
                .filter(|p| p.structure.starts_with(prefix));
            parts.map(|part| part.without_j).sum::<f64>() / c.front_end.without_j
        };
        let what = format!("{what} of the front end's dynamic energy, mean");
        Check::new(
            ("section 5.2", what, ""),
            published,
            mean(kernels, share),
            SHARE,
        )
    };
    vec![
        check(
            "operand buffer's share",
            derived.operand_collector_share_of_front_end,
            "operand_buffer",
        ),
        check(
            "I-cache's share",
            derived.icache_share_of_front_end,
            "icache.",
        ),
    ]
}

/// Section 5.2, "FC Size": what 16 entries lose against 32.
fn smaller(kernels: &[&Comparison], block: &Block, report: &Report) -> Option<Check> {
    let smaller = report.blocks.iter().find(|other| {
        other.technique == "filter_cache(entries=16)"
            && other.gpu == block.gpu
            && other.axes == block.axes
            && other.technology == block.technology
    })?;
    let loss = |c: &&Comparison| {
        let other = smaller
            .comparisons
            .iter()
            .find(|o| o.point.kernel == c.point.kernel);
        let rate = |c: &Comparison| c.hit_rate.unwrap_or(f64::NAN);
        rate(c) - other.map_or(f64::NAN, rate)
    };
    let [from, to] = report.paper.derived.fc16_average_hit_rate_below_fc32_points;
    let published = f64::midpoint(from, to) / 100.0;
    let what = "hit rate lost by 16 entries against 32, mean".to_owned();
    Some(Check::new(
        ("section 5.2", what, ""),
        published,
        mean(kernels, loss),
        SIZE,
    ))
}

fn mean(kernels: &[&Comparison], figure: impl Fn(&&Comparison) -> f64) -> f64 {
    kernels.iter().map(figure).sum::<f64>() / kernels.len() as f64
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

//! The filter-cache paper's Table 4 against a study's points.

use super::{Check, Tolerance};
use crate::papers::FilterCachePaper;
use crate::report::paper::Beside;
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
    let at_32nm = |block: &&Block| {
        block.technology.node == "32nm" && block.comparisons.iter().any(is_the_papers)
    };
    let Some(block) = report.blocks.iter().find(at_32nm) else {
        return Vec::new();
    };
    let kernels: Vec<&Comparison> = block
        .comparisons
        .iter()
        .filter(|c| is_the_papers(c))
        .collect();
    let mut checks: Vec<Check> = kernels
        .iter()
        .flat_map(|comparison| rows(comparison))
        .collect();
    checks.extend(shares(&kernels));
    checks.extend(smaller(&kernels, block, report));
    checks
}

/// Section 5.2, "Energy Breakdown": averages over the baseline.
fn shares(kernels: &[&Comparison]) -> Vec<Check> {
    let derived = FilterCachePaper::load().derived;
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
        let rate = |c: &Comparison| figure(c, "filter_cache_hit_rate").unwrap_or(f64::NAN);
        rate(c) - other.map_or(f64::NAN, rate)
    };
    let [from, to] = FilterCachePaper::load()
        .derived
        .fc16_average_hit_rate_below_fc32_points;
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

/// What the paper puts beside a comparison.
fn figure(comparison: &Comparison, key: &str) -> Option<f64> {
    let beside = comparison.beside.as_ref()?;
    beside.get(key).map(|figure| figure.value)
}

/// Whether the paper has a row for it.
fn is_the_papers(comparison: &Comparison) -> bool {
    comparison
        .beside
        .as_ref()
        .is_some_and(|beside| beside.row.is_some())
}

fn rows(comparison: &Comparison) -> Vec<Check> {
    let Some(Beside { row: Some(row), .. }) = &comparison.beside else {
        return Vec::new();
    };
    let ours = |key: &str| figure(comparison, key);
    let rows = [
        (
            "hit rate",
            "paper_hit_rate",
            ours("filter_cache_hit_rate"),
            HIT_RATE,
        ),
        (
            "I-cache energy ratio",
            "paper_icache_ratio",
            ours("implied_icache_change").map(|change| change + 1.0),
            RATIO,
        ),
        (
            "front-end saving",
            "paper_front_end_saving",
            ours("implied_front_end_change").map(|change| -change),
            SAVING,
        ),
    ];
    let checks = rows
        .into_iter()
        .filter_map(|(what, published, ours, tolerance)| {
            let kernel = &comparison.point.kernel;
            let name = format!("{row} ({}, {}) {what}", kernel.name, kernel.case);
            let published = figure(comparison, published)?;
            Some(Check::new(
                ("Table 4", name, ""),
                published,
                ours?,
                tolerance,
            ))
        });
    checks.collect()
}

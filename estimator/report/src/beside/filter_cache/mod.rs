//! The filter-cache paper beside ours: A. Lashgar, A. Baniasadi, A. Khonsari, ARCS 2013, Table 4.

mod accounting;
mod breakdown;
mod charts;
mod scatter;
mod supply;

use warpwatt_gpu::{Preset, presets, setting};

use crate::estimate::Estimate;
use crate::label;
use crate::metric::Better::{Higher, Lower, Neither};
use crate::outcome::{Outcome, Point};
use crate::paper::{Beside, Form, Paper, PaperChart, PaperFigure};
use crate::papers::{Benchmark, FilterCachePaper};
use crate::{Block, Comparison, Line};

pub use accounting::Implied;
pub use supply::Supply;

/// The paper's name in studies.
pub const NAME: &str = "filter_cache";

/// The preset and the technique that the paper's Table 4 is about.
const PAPER_GPU: &str = "tesla-16sm";
const PAPER_TECHNIQUE: &str = "filter_cache(entries=32)";

/// The paper, loaded.
#[derive(Clone, Debug)]
pub struct FilterCache {
    paper: FilterCachePaper,
}

/// What the paper adds to a comparison.
#[rustfmt::skip]
pub(super) const FIGURES: &[PaperFigure] = &[
    PaperFigure { key: "filter_cache_hit_rate", unit: "1", better: Higher, heading: &["FC hits"], meaning: "fetches that the filter cache served", form: Form::Percent },
    PaperFigure { key: "paper_hit_rate", unit: "1", better: Neither, heading: &["paper"], meaning: "the same in the paper, on its own inputs", form: Form::Percent },
    PaperFigure { key: "icache_without_j", unit: "J", better: Neither, heading: &["I-cache", "nJ"], meaning: "dynamic energy of the I-cache without the technique, fills included", form: Form::Nanojoules },
    PaperFigure { key: "icache_with_j", unit: "J", better: Lower, heading: &["with", "nJ"], meaning: "the same with the technique, what it adds to the front end included", form: Form::Nanojoules },
    PaperFigure { key: "icache_change", unit: "1", better: Lower, heading: &["I-cache", "change"], meaning: "relative change of that energy, counted structure by structure", form: Form::Interval },
    PaperFigure { key: "icache_saving", unit: "1", better: Higher, heading: &[], meaning: "the same as a saving", form: Form::Change },
    PaperFigure { key: "implied_icache_without_j", unit: "J", better: Neither, heading: &[], meaning: "I-cache energy without as the paper's Table 4 implies it", form: Form::Nanojoules },
    PaperFigure { key: "implied_icache_with_j", unit: "J", better: Lower, heading: &[], meaning: "the same with the filter cache", form: Form::Nanojoules },
    PaperFigure { key: "implied_icache_change", unit: "1", better: Lower, heading: &["Table 4", "sum"], meaning: "relative change of I-cache energy under the sum that Table 4 implies: a hit costs tag + 2 data, a miss I-cache + 2 tag", form: Form::Interval },
    PaperFigure { key: "paper_icache_ratio", unit: "1", better: Neither, heading: &["paper,", "ratio"], meaning: "the paper's I-cache energy with the filter cache, over that without", form: Form::Percent },
    PaperFigure { key: "implied_front_end_change", unit: "1", better: Lower, heading: &["front end,", "Table 4"], meaning: "relative change of the front end's dynamic energy with the I-cache part as Table 4 implies it", form: Form::Interval },
    PaperFigure { key: "paper_front_end_saving", unit: "1", better: Neither, heading: &["paper,", "saving"], meaning: "the paper's saving of front-end energy", form: Form::Percent },
];

impl FilterCache {
    /// The paper with its numbers.
    pub fn load() -> Self {
        Self {
            paper: FilterCachePaper::load(),
        }
    }

    /// Its numbers.
    pub fn numbers(&self) -> &FilterCachePaper {
        &self.paper
    }

    /// The row of Table 4 that a point is about: of the paper's filter cache of 32 entries on its GPU.
    pub fn row(&self, point: &Point) -> Option<&Benchmark> {
        let benchmark = self.paper.benchmark(&point.kernel.paper);
        benchmark.filter(|_| is_the_papers_configuration(point))
    }
}

impl Paper for FilterCache {
    fn name(&self) -> &'static str {
        NAME
    }

    fn citation(&self) -> &str {
        &self.paper.citation
    }

    fn figures(&self) -> &'static [PaperFigure] {
        FIGURES
    }

    fn beside(&self, without: &Outcome, with: &Outcome) -> Beside {
        let row = self.row(&with.point);
        let supply = Supply::of(without, with);
        let exact = |value: f64| Estimate { value, sigma: 0.0 };
        let mut values: Vec<(&'static str, Estimate)> = Vec::new();
        let mut put = |key: &'static str, value: Option<Estimate>| {
            values.extend(value.map(|value| (key, value)));
        };
        put("filter_cache_hit_rate", supply.hit_rate.map(exact));
        put("paper_hit_rate", row.map(|row| exact(row.fc_hit)));
        put("icache_without_j", Some(supply.icache.without()));
        put("icache_with_j", Some(supply.icache.with()));
        put("icache_change", supply.icache.relative);
        put(
            "icache_saving",
            supply.icache.relative.map(Estimate::negated),
        );
        if let Some(implied) = supply.implied {
            put("implied_icache_without_j", Some(implied.icache.without()));
            put("implied_icache_with_j", Some(implied.icache.with()));
            put("implied_icache_change", implied.icache.relative);
            put("implied_front_end_change", implied.front_end.relative);
        }
        put(
            "paper_icache_ratio",
            row.map(|row| exact(row.energy_ratio())),
        );
        put(
            "paper_front_end_saving",
            row.map(|row| exact(row.front_end_saving)),
        );
        Beside {
            row: row.map(|row| row.abbr.clone()),
            values,
        }
    }

    fn lines(&self, comparisons: &[Comparison]) -> Vec<String> {
        let fitted = [
            (
                "counted structure by structure",
                line(comparisons, "icache_change"),
            ),
            (
                "the sum that Table 4 implies",
                line(comparisons, "implied_icache_change"),
            ),
        ];
        let mut lines: Vec<String> = fitted
            .into_iter()
            .filter_map(|(name, line)| Some(format!("{name}: {}", line?.text())))
            .collect();
        if !lines.is_empty() {
            let heading = "I-cache energy ratio as a line in the hit rate h (± 95 %):".to_owned();
            lines.insert(0, heading);
            let line = self.paper.implied_by_table_4;
            lines.push(format!(
                "the paper: {:.4} + {:.4} (1 - h), 21 rows, largest residual {:.4}",
                line.ratio_at_full_hit, line.ratio_slope_per_miss, line.largest_residual
            ));
        }
        lines
    }

    fn charts(&self, block: &Block, index: usize) -> Vec<PaperChart> {
        charts::all(block, &self.paper, index)
    }
}

/// The line of a ratio, `key` being its change, in the miss rate; `None` without a filter cache.
fn line(comparisons: &[Comparison], key: &str) -> Option<Line> {
    let points = comparisons.iter().filter_map(|comparison| {
        let beside = comparison.beside.as_ref()?;
        let hits = beside.get("filter_cache_hit_rate")?.value;
        Some((1.0 - hits, 1.0 + beside.get(key)?.value))
    });
    Line::through(&points.collect::<Vec<_>>())
}

/// Whether a point is what the paper's Table 4 is about. Other sizes and variants have no row of their own.
fn is_the_papers_configuration(point: &Point) -> bool {
    if !label::same(PAPER_TECHNIQUE, &point.technique) || &*point.gpu != PAPER_GPU {
        return false;
    }
    let preset = presets().iter().find(|preset| preset.name == PAPER_GPU);
    preset.map(Preset::table).is_some_and(|preset| {
        let mut axes = point.axes.iter();
        axes.all(|(path, value)| {
            let papers = setting(&preset, path);
            papers.is_some_and(|papers| shown(papers) == *value)
        })
    })
}

/// A setting's value as an axis shows it.
fn shown(value: &toml::Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests;

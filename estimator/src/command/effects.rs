//! `warpwatt effects`: which parameter of a study matters to a metric.

use std::path::PathBuf;

use clap::Args;
use comfy_table::Table;
use serde_json::json;

use super::console::{Exit, out, out_json, reject};
use super::list::table;
use super::report::stored;
use crate::diag::Diag;
use crate::outcome::Outcome;
use crate::report::Report;
use crate::report::beside;
use crate::report::effects::{Effect, Effects, FEWEST_GROUPS, Index};
use crate::report::factors::Factors;
use crate::report::metric::{Metric, Metrics, quantity};
use crate::select::matching;

/// Show which parameters of a study matter to a metric: what each does to it, and its share of the variance (Sobol indices).
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  warpwatt effects results --metric energy_j
  warpwatt effects results --metric energy_saving --where kernel=hotspot
  warpwatt effects results --metric edp_js --json

Exit codes: 0 done; 2 there are no such results, metric or points, or nothing differs between them.")]
pub struct EffectsArguments {
    /// The directory that `warpwatt run` wrote its results to
    #[arg(value_name = "RESULTS_DIR")]
    pub results: PathBuf,
    /// The metric; `warpwatt list metrics`
    #[arg(long, short, value_name = "METRIC")]
    pub metric: String,
    /// Only these points: key=value pairs with commas between them, such as kernel=hotspot,node=7nm
    #[arg(long = "where", value_name = "SELECTOR")]
    pub selector: Option<String>,
    /// Decides the resamples of intervals, where points are no full grid
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
}

/// Shows the effects.
pub fn run(arguments: &EffectsArguments) -> Exit {
    match effects(arguments) {
        Ok((metric, effects)) if arguments.json => {
            out_json(
                &json!({ "metric": metric.name(), "unit": metric.unit(), "effects": effects }),
            );
            Exit::Done
        }
        Ok((metric, effects)) => {
            out(&text(&metric, &effects));
            Exit::Done
        }
        Err(diag) => reject(&diag.into(), arguments.json),
    }
}

fn effects(arguments: &EffectsArguments) -> Result<(Metric, Effects), Diag> {
    let (manifest, outcomes) = stored(&arguments.results)?;
    let metric = Metrics::known()
        .with_points(&outcomes)
        .find(&arguments.metric)?;
    let wanted = match &arguments.selector {
        Some(selector) => matching(selector, &outcomes)?,
        None => (0..outcomes.len()).collect(),
    };
    let report = Report::beside(
        &manifest.title,
        &outcomes,
        beside::load(manifest.paper.as_deref()),
    );
    let valued = wanted.iter().filter_map(|&number| {
        let outcome: &Outcome = &outcomes[number];
        Some((
            &outcome.point,
            metric.value(outcome, report.comparison(number))?,
        ))
    });
    let (points, values): (Vec<_>, Vec<f64>) = valued.unzip();
    let factors = Factors::of(&points);
    if factors.factors.is_empty() {
        let message = match points.len() {
            0 => format!("no point has a value of `{}`", metric.name()),
            1 => format!("only one point has a value of `{}`", metric.name()),
            count => format!("the {count} points differ in nothing"),
        };
        return Err(Diag::error("effects::nothing", message)
            .help("effects are between points that differ: let a list in the study be an axis"));
    }
    Ok((metric, Effects::of(&factors, &values, arguments.seed)))
}

fn text(metric: &Metric, effects: &Effects) -> String {
    let show = |value: f64| quantity::show(value, metric.unit());
    let mut rows = Table::new();
    for effect in &effects.effects {
        let total = effect.total.map_or(String::new(), |value| {
            index(&Index {
                value,
                interval: effect.total_interval,
            })
        });
        let alone = effect.one_at_a_time.map_or(String::new(), show);
        rows.add_row([
            name(effect),
            ends(effect, metric),
            show(effect.swing),
            alone,
            index(&effect.first_order),
            total,
        ]);
    }
    let heading = [
        "parameter",
        "mean, from least to most",
        "swing of means",
        "one at a time",
        "first order",
        "total",
    ];
    let mut text = format!(
        "{} over {} points: mean {}, standard deviation {}\n\n{}",
        metric.name(),
        effects.points,
        show(effects.mean),
        show(effects.deviation),
        table(rows, heading)
    );
    match effects.interactions {
        Some(rest) => {
            text += &format!(
                "\nThe points are a full grid: shares of the variance are exact. {} of it is what parameters only do together.\n",
                share(rest)
            );
        }
        None if effects.grid => text += "\nThe metric is the same at every point.\n",
        None => {
            text += "\nThe points are no full grid: shares are estimates with a 95 % interval.\n";
            if effects.effects.iter().any(|effect| effect.total.is_none()) {
                text += &format!(
                    "No total share can be had of a parameter in which alone fewer than {FEWEST_GROUPS} groups of points differ: a grid has all of them, a sample of few levels many.\n"
                );
            }
        }
    }
    text
}

fn name(effect: &Effect) -> String {
    if effect.moves_with.is_empty() {
        effect.factor.clone()
    } else {
        format!(
            "{} (and with it {})",
            effect.factor,
            effect.moves_with.join(", ")
        )
    }
}

/// The levels with the least and the most mean.
fn ends(effect: &Effect, metric: &Metric) -> String {
    let by_mean = |a: &&_, b: &&_| {
        let (a, b): (
            &crate::report::effects::Level,
            &crate::report::effects::Level,
        ) = (a, b);
        a.mean.total_cmp(&b.mean)
    };
    let levels = || effect.levels.iter();
    let (Some(least), Some(most)) = (levels().min_by(by_mean), levels().max_by(by_mean)) else {
        return String::new();
    };
    let show = |value: f64| quantity::show(value, metric.unit());
    format!(
        "{} {} … {} {}",
        least.level,
        show(least.mean),
        most.level,
        show(most.mean)
    )
}

fn share(value: f64) -> String {
    format!("{:.1}%", 100.0 * value + 0.0)
}

fn index(index: &Index) -> String {
    match index.interval {
        None => share(index.value),
        Some([low, high]) => format!("{} ({} … {})", share(index.value), share(low), share(high)),
    }
}

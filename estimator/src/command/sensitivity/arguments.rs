//! What `warpwatt sensitivity` can be told.

use std::path::PathBuf;

use clap::Args;

use crate::uncertainty::Draws;

/// Show which uncertain inputs dominate a figure.
///
/// Two answers: each input moved by its own standard deviation, one at a time; and the parts of the variance under draws of all inputs together
/// (docs/uncertainty.md).
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  warpwatt sensitivity results --metric energy_j --point 1
  warpwatt sensitivity results --metric energy_saving --point kernel=hotspot,node=7nm,technique=filter_cache --top 5
  warpwatt sensitivity results --metric area_m2 --point 1 --samples 1000 --json

Exit codes: 0 done; 2 there are no results, no such metric or point.")]
pub struct SensitivityArguments {
    /// The directory of the results
    #[arg(value_name = "RESULTS_DIR")]
    pub results: PathBuf,
    /// The figure; `warpwatt list metrics` has all of them
    #[arg(long, value_name = "NAME")]
    pub metric: String,
    /// The point: its row in points.csv, from 1 on, or key=value pairs that fit no other (kernel=bfs,node=7nm,technique=baseline)
    #[arg(long, value_name = "SELECTOR")]
    pub point: String,
    /// Inputs and causes that are named
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub top: usize,
    /// Draws [default: the study's, or 200]
    #[arg(long, value_name = "N", value_parser = samples)]
    pub samples: Option<usize>,
    /// Where the generator of the draws starts [default: the study's, or 1]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Print one JSON document, with every input and cause, on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
}

fn samples(text: &str) -> Result<usize, String> {
    let range = Draws::FEWEST..=Draws::MOST;
    let number = text.parse().map_err(|_| "not a whole number".to_owned())?;
    if range.contains(&number) {
        return Ok(number);
    }
    Err(format!(
        "must lie between {} and {}",
        range.start(),
        range.end()
    ))
}

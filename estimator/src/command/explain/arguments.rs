//! What `warpwatt explain` can be told.

use std::path::PathBuf;

use clap::Args;

/// Show where a figure comes from.
///
/// The derivation is a tree: energy is counts times energies of events, those are what the circuit models make of the values of the technology, and each value
/// has a source and an uncertainty. Everything is computed again from what the result store holds (docs/explain.md).
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  warpwatt explain results --metric energy_j --point 1
  warpwatt explain results --metric energy_saving --point kernel=hotspot,node=7nm,technique=filter_cache --depth 4
  warpwatt explain results --metric structures.icache.data.area_m2 --point 1 --json

Exit codes: 0 done; 2 there are no results, no such metric or point.")]
pub struct ExplainArguments {
    /// The directory of the results
    #[arg(value_name = "RESULTS_DIR")]
    pub results: PathBuf,
    /// The figure; `warpwatt list metrics` has all of them
    #[arg(long, value_name = "NAME")]
    pub metric: String,
    /// The point: its row in points.csv, from 1 on, or key=value pairs that fit no other (kernel=bfs,node=7nm,technique=baseline)
    #[arg(long, value_name = "SELECTOR")]
    pub point: String,
    /// Levels of the tree below the figure
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub depth: usize,
    /// Print one JSON document, with the whole tree, on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
}

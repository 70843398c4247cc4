//! What `warpwatt array` can be told.

use std::path::PathBuf;

use clap::Args;

use crate::array::Request;

/// Price a memory, cache or content-addressable memory: area, delay, energy, leakage, and what they are made of.
///
/// Figures come with the interval in which those of hardware lie. The library silicon with the profile of the same name is the default; the library itrs
/// with the profile cacti7 or cacti65 gives what those tools give, for laying side by side.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  warpwatt array --capacity 4KiB --word 128b --ports 1r1w --node 40nm
  warpwatt array --words 32 --bits 64 --ports 2r1w --node 7nm --vdd 0.6V --json
  warpwatt array --capacity 32KiB --line 128B --assoc 4 --node 16nm --temperature 370K
  warpwatt array --kind cam --words 64 --bits 40 --ports 1rw1s --node 32nm --library itrs
  warpwatt array --batch specs.csv --out results.csv --library itrs --profile cacti65
  warpwatt array --cacti cache.cfg

Exit codes: 0 done (refused lines of a table have their reason in the column error); 2 the input is wrong, nothing was written.
Options, columns and keys are described in docs/arrays.md.")]
pub struct ArrayArguments {
    #[command(flatten)]
    pub request: Request,
    /// Technology library: silicon, itrs [default: silicon; with a profile of CACTI itrs]
    #[arg(long, value_name = "NAME")]
    pub library: Option<String>,
    /// Whose equations and defaults: silicon, cacti7, cacti65 [default: the library's: silicon, cacti7]
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// A table of arrays (CSV), one a line; - is standard input
    #[arg(long, value_name = "SPECS.csv", conflicts_with = "cacti")]
    pub batch: Option<PathBuf>,
    /// Where the table with its answers goes [default: standard output]
    #[arg(long, value_name = "RESULTS.csv")]
    pub out: Option<PathBuf>,
    /// Write no cell that a spreadsheet takes for a formula: names that begin with =, +, - or @ get an apostrophe
    #[arg(long, requires = "batch")]
    pub csv_safe: bool,
    /// Threads for a table [default: one a core]; results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// A configuration file of CACTI 6.5 or 7
    #[arg(long, value_name = "CACHE.cfg")]
    pub cacti: Option<PathBuf>,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
}

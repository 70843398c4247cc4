//! `warpwatt merge`: the results of parts of a study, put together.

use std::path::PathBuf;

use clap::Args;

use super::console::{Exit, err, reject};
use super::fleet;
use super::report::{Shape, report_on};
use crate::diag::Rejection;
use crate::report::Details;
use crate::store::merge;
use crate::study::Format;

/// Put the results of parts of a study together, and report them.
///
/// Parts are what `warpwatt run STUDY.toml --shard I/N --out DIR` leaves, on one machine or several, or one queue that `warpwatt work` has done. The report is that of
/// the whole study, to the byte.
/// A merge that was killed goes on when it is repeated.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  warpwatt merge results part1 part2 part3
  warpwatt merge results part1 part2 --json
  warpwatt merge results part1 part2 --fresh            whatever results holds is thrown away first
  warpwatt merge queue                                  a queue that is done, the results beside it
  warpwatt merge results queue                          the same, the results in their own place

Exit codes: 0 done; 1 points are missing, or no point meets the study's [budget]; 2 the parts do not belong together, or units of the queue have failed.")]
pub struct MergeArguments {
    /// The directory that gets all results; what it holds of the study already stays
    #[arg(value_name = "OUT")]
    pub out: PathBuf,
    /// The directories that parts of the study were written to, or that of a queue; none if OUT holds the queue
    #[arg(value_name = "IN")]
    pub parts: Vec<PathBuf>,
    /// Throw away what OUT holds and start over
    #[arg(long)]
    pub fresh: bool,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
    /// Nothing on standard error unless something is wrong
    #[arg(long)]
    pub quiet: bool,
}

/// Merges and reports.
pub fn run(arguments: &MergeArguments) -> Exit {
    if let Some(queue) = fleet::queue_of(&arguments.out, &arguments.parts) {
        let into = fleet::Into {
            directory: &arguments.out,
            fresh: arguments.fresh,
            json: arguments.json,
            quiet: arguments.quiet,
        };
        return fleet::merge(queue, into);
    }
    let merged = merge(&arguments.out, &arguments.parts, arguments.fresh);
    let merged = match merged {
        Ok(merged) => merged,
        Err(error) => return reject(&Rejection::from(error.diag()), arguments.json),
    };
    if merged.missing > 0 {
        err(&format!(
            "{} of {} points are missing: run the parts that hold them and merge again, or run the study with `--out {}`\n",
            merged.missing,
            merged.manifest.points.len(),
            arguments.out.display()
        ));
        return Exit::NotMet;
    }
    let shape = Shape {
        pareto: &[],
        details: Details::default(),
        json: arguments.json,
        quiet: arguments.quiet,
    };
    report_on(&arguments.out, Format::DEFAULT.to_vec(), shape)
        .unwrap_or_else(|rejection| reject(&rejection, arguments.json))
}

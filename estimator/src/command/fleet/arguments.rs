//! Arguments of what machines share a study with.

use std::path::PathBuf;

use clap::Args;

use crate::run::fleet::LEASE_S;

/// Say what there is to do in a study, unit by unit, and write it as a queue.
///
/// A unit is an execution of a kernel's case, or a timing run with its points. What each takes is estimated from the instructions that were counted of the suite's
/// kernels; of a user's own nothing is known, and they come first. A queue that is there stays: units that failed in it, or are damaged, are to be done again.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  warpwatt plan study.toml                              how long one worker takes, and how long several
  warpwatt plan study.toml --json                       every unit with its cost
  warpwatt plan study.toml --out queue                  the queue, for `warpwatt work queue` on any machine

Exit codes: 0 done; 2 the study is wrong, or the directory cannot be used.
Queues are described in docs/fleet.md.")]
pub struct PlanArguments {
    /// The study file (TOML)
    #[arg(value_name = "STUDY.toml")]
    pub study: PathBuf,
    /// The directory that gets the queue, where all machines see it
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// After how many seconds without a sign of life a worker's units are taken again
    #[arg(long, value_name = "SECONDS", default_value_t = LEASE_S, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub lease: u32,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
}

/// Do units of a queue until none is left.
///
/// The longest come first, and executions before what needs them. As many workers as wanted may be at a queue, on any machines that see its directory and the study's
/// files under the same paths. They may be killed at any time: what a worker had begun is done again by another.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  warpwatt work queue
  warpwatt work queue --jobs 4

Exit codes: 0 every unit of the queue is done; 1 some have failed, here or elsewhere; 2 the queue cannot be used, or the study is read otherwise than where it was
planned.")]
pub struct WorkArguments {
    /// The queue's directory
    #[arg(value_name = "DIR")]
    pub queue: PathBuf,
    /// Threads, each with a unit of its own [default: one a core]; results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
    /// Nothing on standard error unless something is wrong
    #[arg(long)]
    pub quiet: bool,
}

/// Show how far a queue has come.
///
/// Units that are done, taken, left and failed; who works at it; why units failed.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  warpwatt status queue
  warpwatt status queue --json

Exit codes: 0 done; 1 units have failed; 2 the queue cannot be read.")]
pub struct StatusArguments {
    /// The queue's directory
    #[arg(value_name = "DIR")]
    pub queue: PathBuf,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
}

/// Write a queue, and the scripts with which SLURM works on it.
///
/// `array.sh` is an array of workers, `merge.sh` puts together what they have done, `submit.sh` hands in both, the second behind the first.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  warpwatt slurm study.toml --nodes 8 --time 04:00:00
  warpwatt slurm study.toml --nodes 8 --time 04:00:00 --out queue --cpus 16

Then `queue/submit.sh`, with options for sbatch behind it (`--partition=short`). To be handed in again where time was too short: it goes on.

Exit codes: 0 done; 2 the study is wrong, or the directory cannot be used.")]
pub struct SlurmArguments {
    /// The study file (TOML)
    #[arg(value_name = "STUDY.toml")]
    pub study: PathBuf,
    /// Workers, each a task of the array
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4000))]
    pub nodes: u32,
    /// How long each may run: HH:MM:SS, or D-HH:MM:SS
    #[arg(long, value_name = "HH:MM:SS", value_parser = super::slurm::time)]
    pub time: String,
    /// Cores of each, as many threads
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub cpus: u16,
    /// The directory that gets the queue, where all machines see it
    #[arg(long, value_name = "DIR", default_value = "queue")]
    pub out: PathBuf,
    /// After how many seconds without a sign of life a worker's units are taken again
    #[arg(long, value_name = "SECONDS", default_value_t = LEASE_S, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub lease: u32,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
}

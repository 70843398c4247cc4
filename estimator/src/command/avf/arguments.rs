//! What `warpwatt avf` can be told.

use std::path::PathBuf;

use clap::Args;
use warpwatt_gpu::Control;

use super::super::cache::CacheArguments;
use crate::command::subject::KernelChoice;

/// How vulnerable the GPU's storage is to soft errors while a kernel runs.
///
/// For each structure the share of its bits, over all cycles, of which a flip can change the kernel's output (architectural vulnerability factor), and from that and the
/// rate of flips at a node the failures in 10^9 hours (docs/reliability.md).
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  warpwatt avf matrix_mul --preset softerror-28sm
  warpwatt avf bfs --structure register_file --structure instruction_buffer --node 40nm --json
  warpwatt avf my.toml --case small --protect register_file=correct --protect shared_memory=detect
  warpwatt avf matrix_mul --preset softerror-28sm --technique sawp --set entries=4
  warpwatt avf bfs -t \"ecc(structure=shared_memory) + sharp\" -t register_to_register_protection
  warpwatt avf hotspot --set scheduler.policy=gto --over-time hotspot.csv

Exit codes: 0 done; 2 the input is wrong, or the kernel stopped, computes a wrong result or does not fit the GPU.")]
pub struct AvfArguments {
    /// The kernel
    #[command(flatten)]
    pub kernel: KernelChoice,
    /// The GPU [default: tesla-16sm]
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// A technique with or without parameters, or several joined by + that work together (repeatable: each is compared with the plain GPU)
    #[arg(long, short = 't', value_name = "TECHNIQUE")]
    pub technique: Vec<String>,
    /// A parameter of the techniques, entries=16, or a setting of the GPU, sm.threads=512 (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// A structure to show, such as register_file (repeatable) [default: all that are watched]
    #[arg(long, value_name = "STRUCTURE")]
    pub structure: Vec<String>,
    /// A structure with a code on all of its words: detect (parity) or correct (repeatable)
    #[arg(long, value_name = "STRUCTURE=HOW")]
    pub protect: Vec<String>,
    /// A node for failures in time (repeatable) [default: 40nm, 28nm, 16nm]
    #[arg(long, value_name = "NODE")]
    pub node: Vec<String>,
    /// Write the AVF over time to a CSV file
    #[arg(long, value_name = "FILE")]
    pub over_time: Option<PathBuf>,
    /// Warp instructions that a launch may execute before it is taken for endless
    #[arg(long, value_name = "N", default_value_t = 1_000_000_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
    pub limit: u64,
    /// Cycles that timing may take before it is given up
    #[arg(long, value_name = "N", default_value_t = Control::CYCLE_LIMIT, value_parser = clap::value_parser!(u64).range(1..))]
    pub cycle_limit: u64,
    /// Lanes of a warp: 32 or 64 [default: the preset's]
    #[arg(long, value_name = "LANES", value_parser = ["32", "64"])]
    pub warp_width: Option<String>,
    /// Where traces are kept
    #[command(flatten)]
    pub cache: CacheArguments,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
}

impl AvfArguments {
    /// The settings of the GPU, whose keys have a dot, and those of techniques.
    pub fn settings(&self) -> (Vec<String>, Vec<String>) {
        let of_gpu = |setting: &String| {
            let key = setting.split('=').next().unwrap_or_default();
            key.contains('.')
        };
        self.set.iter().cloned().partition(of_gpu)
    }
}

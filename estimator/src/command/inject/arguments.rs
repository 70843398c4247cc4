//! Options of `warpwatt inject`.

use std::path::PathBuf;

use crate::command::subject::{GpuChoice, KernelChoice};
use crate::inject::lanes::Fault;
use clap::{ArgGroup, Args};
use warpwatt_reliability::inject::Target;

/// Flip single bits of a structure while a kernel runs, and see what comes of each: nothing, a wrong result, an error that is noticed, or no end. Or have
/// lanes compute wrongly, once or always, and see which techniques find it.
///
/// Sites are drawn from all bits of the structure in all cycles of a timing run. A bit that nobody holds is masked; one that a warp holds flips in an
/// execution of its CTA, before the first instruction that reads it in the order of the timing run (docs/fault-injection.md).
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("size").args(["samples", "margin", "exhaustive"]), after_long_help = "\
Examples:
  warpwatt inject vector_add --structure register_file
  warpwatt inject matmul_tiled --structure shared_memory --samples 10000 --seed 7 --json
  warpwatt inject bfs --structure instruction_buffer --margin 0.01 --confidence 0.99 --out bfs.json
  warpwatt inject my.toml --structure pipeline_latch --preset v100 --jobs 2
  warpwatt inject walsh --structure instruction_buffer --preset softerror-28sm -t sawp -t \"ecc(structure=instruction_buffer, code=parity)\" --node 40nm
  warpwatt inject scan --build gfx600 --structure flip_flops --preset miaow --samples 2000 --without register_file --without scalar_registers
  warpwatt inject hotspot --structure lanes --preset dmr-30sm
  warpwatt inject bfs --structure lanes --fault stuck_at_1 -t \"warped_dmr(shuffle=false)\" -t warped_dmr

Exit codes: 0 done; 1 stopped before the end (what was found is in the journal beside --out); 2 the input is wrong, or the kernel does not run or
computes a wrong result without a flip.")]
pub struct InjectArguments {
    /// The kernel
    #[command(flatten)]
    pub kernel: KernelChoice,
    /// What it is timed on
    #[command(flatten)]
    pub gpu: GpuChoice,
    /// Where bits flip: register_file, shared_memory, instruction_buffer, pipeline_latch; flip_flops, of all blocks of a compute unit; or lanes, whose results are wrong
    #[arg(long, value_name = "NAME", value_parser = struck)]
    pub structure: Struck,
    /// A block whose flip-flops are left out, such as register_file (repeatable)
    #[arg(long, value_name = "BLOCK")]
    pub without: Vec<String>,
    /// What is wrong with lanes: transient, stuck_at_0, stuck_at_1 (repeatable) [default: each]
    #[arg(long, value_name = "KIND", value_parser = fault)]
    pub fault: Vec<Fault>,
    /// A technique that protects the structure (repeatable): what it finds and corrects is counted, and what that costs; of lanes one that may find faults,
    /// warped_dmr or full_dmr with parameters [default there: what the works compare]
    #[arg(long, short = 't', value_name = "TECHNIQUE")]
    pub technique: Vec<String>,
    /// Price corrections at a technology node
    #[arg(long, value_name = "NODE", requires = "technique")]
    pub node: Option<String>,
    /// The technology library: silicon, itrs [default: silicon]
    #[arg(long, value_name = "NAME", requires = "node")]
    pub library: Option<String>,
    /// Flips to try, of lanes faults of each kind [default: as many as --margin and --confidence ask for]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub samples: Option<u64>,
    /// Half the width of the interval that the share of harmful flips is to be known in [default: 0.01, of lanes 0.05]
    #[arg(long, value_name = "SHARE", value_parser = margin)]
    pub margin: Option<f64>,
    /// Every bit in every cycle, flips that cannot differ executed once: for small kernels
    #[arg(long)]
    pub exhaustive: bool,
    /// How likely intervals hold what they are of
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, value_parser = confidence)]
    pub confidence: f64,
    /// What sites are drawn with: equal seeds draw equal sites
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Warp instructions that the kernel may execute without a flip: the times of each are kept, in 40 bytes
    #[arg(long, value_name = "N", default_value_t = 8_000_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub limit: u64,
    /// Threads to use [default: one a core]; results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Write the JSON document to a file; what was found is kept beside it meanwhile, so that a run that was killed goes on
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
    /// Nothing on standard error unless something is wrong
    #[arg(long)]
    pub quiet: bool,
}

/// What is struck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Struck {
    /// Bits of a structure.
    Bits(Target),
    /// What lanes compute.
    Lanes,
    /// Flip-flops of a compute unit that is known by its blocks.
    FlipFlops,
}

impl Struck {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bits(target) => target.name(),
            Self::Lanes => "lanes",
            Self::FlipFlops => "flip_flops",
        }
    }
}

fn struck(name: &str) -> Result<Struck, String> {
    let others = [Struck::Lanes, Struck::FlipFlops];
    if let Some(other) = others.into_iter().find(|other| other.name() == name) {
        return Ok(other);
    }
    let target = Target::of(name).map_err(|unknown| {
        let names = Target::ALL.map(Target::name).join(", ");
        let others = others.map(Struck::name).join(", ");
        format!("{unknown}; there are {names}, {others}")
    });
    target.map(Struck::Bits)
}

fn fault(name: &str) -> Result<Fault, String> {
    let names = Fault::ALL.map(Fault::name).join(", ");
    Fault::of(name).ok_or_else(|| format!("there are {names}"))
}

fn margin(text: &str) -> Result<f64, String> {
    share(text, 0.0001..=0.5)
}

fn confidence(text: &str) -> Result<f64, String> {
    share(text, 0.5..=0.9999)
}

fn share(text: &str, range: std::ops::RangeInclusive<f64>) -> Result<f64, String> {
    let share: Option<f64> = text.parse().ok();
    let outside = || format!("a share from {} to {}", range.start(), range.end());
    share.filter(|it| range.contains(it)).ok_or_else(outside)
}

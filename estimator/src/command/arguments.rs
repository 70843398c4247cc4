//! What the command line can say. The help texts teach: each has real examples.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use warpwatt_gpu::Control;
use warpwatt_techlib::Flavour;
use warpwatt_techlib::quantity::{Temperature, Voltage};

use super::array::ArrayArguments;
use super::avf::AvfArguments;
use super::cache::CacheArguments;
use super::calibrate::CalibrateArguments;
use super::completions::CompletionsArguments;
use super::drawn::BoardChoice;
use super::energy::Conditions;
use super::explain::ExplainArguments;
use super::inject::InjectArguments;
use super::man::ManArguments;
use super::predict::PredictArguments;
use super::registers_over_time::LiveArguments;
use super::reproduce::ReproduceArguments;
use super::sample::{Sample, sample};
use super::schema::SchemaArguments;
use super::sensitivity::SensitivityArguments;
use super::serve::ServeArguments;
use super::shown::ShowArguments;
use super::subject::{GpuChoice, KernelChoice};
use super::timeline::TimelineArguments;
use super::what_if::WhatIfArguments;
use crate::run::shard::Shard;

/// Power, energy and area of GPU structures: count first, price later.
///
/// warpwatt executes real PTX kernels, replays their warp traces through a discrete-event model of a GPU, and prices what was counted with
/// circuit models of a technology node. A study compares a GPU with and without a technique, over kernels, configurations and nodes.
#[derive(Debug, Parser)]
#[command(name = "warpwatt", version, after_long_help = AFTER_HELP, max_term_width = 120, subcommand_required = true, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  warpwatt run workloads/studies/filter_cache.toml      run a study, print its tables, write results/
  warpwatt run study.toml --jobs 4 --out out            with four threads, results elsewhere
  warpwatt what-if -k hotspot -t filter_cache --node 7nm  what a technique would bring, without a file
  warpwatt kernel matrix_mul                            run a kernel of the suite and check its result
  warpwatt kernel my.toml --ptx my.ptx --json           run your own kernel, for a script
  warpwatt exec --preset v100 --node 12nm -- ./app      run a CUDA program, and price its kernels
  warpwatt ptx my.ptx                                   what is in a PTX file, and what of it cannot run
  warpwatt avf bfs --preset softerror-28sm              which bits the kernel needs, and how often they flip
  warpwatt inject bfs --structure register_file         what flipped bits do to a kernel's result
  warpwatt trace bfs                                    how a kernel behaves: divergence, memory, live ranges
  warpwatt array --capacity 4KiB --word 128b --node 7nm one memory: area, delay, energy, leakage
  warpwatt predict counts.csv --board titan-v           what a graphics board draws for rows of counts
  warpwatt explain results --metric energy_j --point 1  where a figure comes from, down to the technology's values
  warpwatt list kernels                                 what there is to choose from
  warpwatt tech show 7nm                                what a technology node is made of, and how sure it is

Exit codes:
  0   done
  1   done, but a check, a budget or a validation is not met
  2   the input is wrong: every fault is listed with its place, nothing was written; or the output cannot be written
  70  a defect of warpwatt: please report it

Units: text shows readable units; JSON and CSV hold SI numbers with the unit in the key (read_energy_j, leakage_w, area_m2, delay_s).
Quantities in files and options are texts with a unit (\"350 K\", \"0.9 V\", \"32nm\").";

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a study: execute, time, price, compare, report
    Run(RunArguments),
    /// Ask one question without a file: what a technique brings for a kernel at a node
    WhatIf(WhatIfArguments),
    /// Run one kernel, check its buffers, show counts and cycles
    Kernel(Box<KernelArguments>),
    /// Run a CUDA program without a GPU: its kernels timed and priced
    #[cfg(unix)]
    Exec(Box<super::exec::ExecArguments>),
    /// Learn what a graphics board draws, from measured watts
    Calibrate(CalibrateArguments),
    /// Say what a graphics board draws for rows of counts
    Predict(PredictArguments),
    /// How vulnerable the GPU's storage is to soft errors while a kernel runs
    Avf(AvfArguments),
    /// Begin a launch file for a PTX file, with what the PTX tells
    New(NewArguments),
    /// Show what is in a PTX file, and what of it cannot run
    Ptx(PtxArguments),
    /// Show what a kernel's trace holds: mix, divergence, memory, lives of values
    Trace(TraceArguments),
    /// Flip bits of a structure while a kernel runs, and see what comes of it
    Inject(InjectArguments),
    /// Price a block of logic, a functional unit, an interconnect or a memory device
    Logic(LogicArguments),
    /// Price a memory, cache or content-addressable memory, or a table of them
    Array(Box<ArrayArguments>),
    /// Show what there is: presets, nodes, kernels, techniques, counters
    List(ListArguments),
    /// Show, compare and check technologies
    #[command(subcommand)]
    Tech(TechCommand),
    /// Render the results of a study again
    Report(super::report::ReportArguments),
    /// Serve a report's page on this machine, to be turned in the browser
    Serve(ServeArguments),
    /// Run a study again from the manifest of its results, and compare
    Reproduce(ReproduceArguments),
    /// Find the best point of a study under its budget without running all of it
    #[command(alias = "optimise")]
    Optimize(super::optimize::OptimizeArguments),
    /// Show which parameters of a study matter to a metric
    Effects(super::effects::EffectsArguments),
    /// Say what there is to do in a study, unit by unit, as a queue that machines share
    Plan(super::fleet::PlanArguments),
    /// Do units of a queue until none is left
    Work(super::fleet::WorkArguments),
    /// Show how far a queue has come
    Status(super::fleet::StatusArguments),
    /// Write a queue, and the scripts with which SLURM works on it
    Slurm(super::fleet::SlurmArguments),
    /// Put the results of parts of a study together, or those of a queue
    Merge(super::merge::MergeArguments),
    /// Show what changed between two reports: time and energy of each kernel
    Diff(super::diff::DiffArguments),
    /// Pack a study with its inputs and results for others to run again
    Artifact(super::artifact::ArtifactArguments),
    /// Show where a figure of a point comes from: formula, inputs, sources, uncertainty
    Explain(ExplainArguments),
    /// Show which uncertain inputs dominate a figure
    Sensitivity(SensitivityArguments),
    /// Compare our numbers with published ones
    Validate(ValidateArguments),
    /// Print the JSON schema of studies, launch files, GPUs or technology nodes, for editors
    Schema(SchemaArguments),
    /// Print a completion script for a shell
    Completions(CompletionsArguments),
    /// Print the manual page, or write the pages of all commands
    Man(ManArguments),
}

/// Show, compare and check technologies.
///
/// Every value of a node has a source, a way in which it was obtained and an uncertainty (docs/technology.md).
#[derive(Debug, Subcommand)]
#[command(after_long_help = "\
Examples:
  warpwatt tech show 7nm
  warpwatt tech show 7nm --flavour lstp --temperature 350K --vdd 0.6V --json
  warpwatt tech show 45nm --library itrs
  warpwatt tech compare 45nm 7nm
  warpwatt tech compare silicon.toml 7nm
  warpwatt tech check my.toml

Exit codes: 0 done; 2 the node, the file or the operating point is wrong: every fault of a file is listed with its place.")]
pub enum TechCommand {
    /// Every value of a node with unit, uncertainty and source, and what follows from them
    Show {
        /// A node (7nm, 28nm), or the path of a node file
        #[arg(value_name = "NODE|FILE.toml")]
        node: String,
        /// Where and which transistors
        #[command(flatten)]
        at: TechAt,
        /// Print one JSON document on standard output, and nothing else there
        #[arg(long)]
        json: bool,
    },
    /// Two nodes side by side, with ratios
    Compare {
        /// A node, or the path of a node file
        #[arg(value_name = "NODE|FILE.toml")]
        first: String,
        /// The one that is set against it
        #[arg(value_name = "NODE|FILE.toml")]
        second: String,
        /// Where and which transistors
        #[command(flatten)]
        at: TechAt,
        /// Print one JSON document on standard output, and nothing else there
        #[arg(long)]
        json: bool,
    },
    /// Check a node file: exit code 0 if it is fine, 2 with every fault if it is not
    Check {
        /// The node file
        #[arg(value_name = "FILE.toml")]
        file: PathBuf,
        /// Print one JSON document on standard output, and nothing else there
        #[arg(long)]
        json: bool,
    },
}

/// Library, transistors and operating point.
#[derive(Debug, Args)]
pub struct TechAt {
    /// The technology library: silicon, itrs (a node file names its own)
    #[arg(long, value_name = "NAME", default_value = "silicon")]
    pub library: String,
    /// Transistors: hp, lop, lstp, sram
    #[arg(long, value_name = "NAME", default_value = "hp")]
    pub flavour: Flavour,
    /// Temperature
    #[arg(long, value_name = "KELVIN", default_value = "300 K")]
    pub temperature: Temperature,
    /// Supply [default: the nominal one]
    #[arg(long, value_name = "VOLT")]
    pub vdd: Option<Voltage>,
}

/// Run a study: execute, time, price, compare, report.
///
/// Every kernel is executed once, every distinct configuration is timed once, every node is priced. Each finished point goes into the result store
/// DIR/results.redb at once, so a run that was killed goes on where it stopped when it is started again.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  warpwatt run workloads/studies/filter_cache.toml
  warpwatt run study.toml --jobs 2 --out /scratch/fc
  warpwatt run study.toml --json > study.json
  warpwatt run study.toml --dry-run                     how many points, how long, how large; nothing is written
  warpwatt run study.toml --shard 2/3 --out part2       the second third, for `warpwatt merge`
  warpwatt run study.toml --live registers.svg          live registers over time, where techniques manage them
  warpwatt run study.toml --repair                      what a disk has damaged, computed again

Exit codes: 0 done; 1 done, but no point meets the study's [budget]; 2 the study is wrong or a kernel cannot run.
The format of studies is described in docs/studies.md.")]
pub struct RunArguments {
    /// The study file (TOML)
    #[arg(value_name = "STUDY.toml")]
    pub study: PathBuf,
    /// Threads to use [default: one a core]; results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Directory for results, instead of the study's [output] directory [default: results]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Throw away the results that are there and start over
    #[arg(long)]
    pub fresh: bool,
    /// Where the result store is damaged, keep the points that are whole and compute the others again
    #[arg(long, conflicts_with = "fresh")]
    pub repair: bool,
    /// Say what there is to do and what it may take, and write nothing
    #[arg(long, conflicts_with_all = ["fresh", "repair", "timeline", "live"])]
    pub dry_run: bool,
    /// Time a part of long launches, as much as it takes until what is left out is known so well (95 %), as `[sampling]` in the study: error=2%, or off
    #[arg(long, value_name = "error=N%|off", default_value = "off", value_parser = sample, conflicts_with_all = ["dry_run", "timeline", "live"])]
    pub sample: Sample,
    /// Run the I-th of N parts of the study; `warpwatt merge` puts their results together
    #[arg(long, value_name = "I/N", conflicts_with_all = ["timeline", "live"])]
    pub shard: Option<Shard>,
    /// Where traces are kept
    #[command(flatten)]
    pub cache: CacheArguments,
    /// A picture of every run over time
    #[command(flatten)]
    pub timeline: TimelineArguments,
    /// Registers over time
    #[command(flatten)]
    pub live: LiveArguments,
    /// Show the page in the browser: the program that BROWSER names, or the system's
    #[arg(long)]
    pub open: bool,
    /// Details below the answer
    #[command(flatten)]
    pub show: ShowArguments,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
    /// Nothing on standard error unless something is wrong
    #[arg(long)]
    pub quiet: bool,
}

/// Run one kernel, check its buffers, show counts and cycles.
///
/// The launch file names the PTX, the arguments and what buffers must hold afterwards (docs/launch-files.md). A name of the suite works as well.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  warpwatt kernel matrix_mul
  warpwatt kernel my.toml --case small --dump c=c.bin
  warpwatt kernel vector_add --ptx other.ptx --set sm.threads=512
  warpwatt kernel my.toml --no-timing --json
  warpwatt kernel hotspot --registers 20
  warpwatt kernel bfs --preset v100 --timeline bfs.json
  warpwatt kernel matrix_mul --preset v100 --node 12nm

Exit codes: 0 every buffer holds what it must; 1 one does not (the first mismatches are shown), or --check-races finds races that matter;
2 the input is wrong, or the kernel stopped: endless, out of bounds, misaligned, barriers that not all threads reach.")]
pub struct KernelArguments {
    /// The kernel
    #[command(flatten)]
    pub kernel: KernelChoice,
    /// What it is timed on
    #[command(flatten)]
    pub gpu: GpuChoice,
    /// Write a buffer to a file after the run: .npy, .csv (a number a line), or as it lies in memory (repeatable)
    #[arg(long, value_name = "NAME=FILE")]
    pub dump: Vec<String>,
    /// Write the counts to a file, to be priced by a study (docs/foreign-activity.md)
    #[arg(long, value_name = "FILE.csv", conflicts_with = "no_timing")]
    pub activity: Option<PathBuf>,
    /// Only execute and check; no cycles
    #[arg(long, conflicts_with_all = ["timeline", "live"])]
    pub no_timing: bool,
    /// Look for data races: between warps of a CTA without a barrier, between CTAs of a launch
    #[arg(long)]
    pub check_races: bool,
    /// Threads to use [default: one a core]; results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Warp instructions that a launch may execute before it is taken for endless
    #[arg(long, value_name = "N", default_value_t = 1_000_000_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
    pub limit: u64,
    /// Cycles that timing may take before it is given up
    #[arg(long, value_name = "N", default_value_t = Control::CYCLE_LIMIT, value_parser = clap::value_parser!(u64).range(1..))]
    pub cycle_limit: u64,
    /// Time a part of long launches, as much as it takes until what is left out is known so well (95 %): error=2%, or off
    #[arg(long, value_name = "error=N%|off", default_value = "off", value_parser = sample, conflicts_with_all = ["no_timing", "timeline", "power", "page", "pictures", "live"])]
    pub sample: Sample,
    /// What happened when, as a file
    #[command(flatten)]
    pub timeline: TimelineArguments,
    /// Lanes of a warp: 32 or 64 [default: the preset's]
    #[arg(long, value_name = "LANES", value_parser = ["32", "64"])]
    pub warp_width: Option<String>,
    /// What it is priced in
    #[command(flatten)]
    pub conditions: Conditions,
    /// Registers over time
    #[command(flatten)]
    pub live: LiveArguments,
    /// On which board
    #[command(flatten)]
    pub board: BoardChoice,
    /// Where traces are kept
    #[command(flatten)]
    pub cache: CacheArguments,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
}

/// Write a launch file with what a PTX file tells: parameters with their types, buffers and pointers in structures, limits of the block, shared memory. What it
/// does not tell stands there as "TODO", and `warpwatt kernel` asks for it.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  warpwatt new my.ptx
  warpwatt new my.ptx --entry 'copy<float>' --out copy.toml

Exit codes: 0 written; 2 the file is no PTX, the launch file is there already, or it has several entries and --entry names none of them.
What stands in a launch file is described in docs/launch-files.md.")]
pub struct NewArguments {
    /// The PTX file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The entry: its name, its C++ name, or a part of either that no other entry has
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// The launch file [default: the PTX file's name with .toml]
    #[arg(long, value_name = "FILE.toml")]
    pub out: Option<PathBuf>,
}

/// Show what is in a PTX file, without running it: entries with parameters, registers, memory and instruction mix, and what is not supported.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  warpwatt ptx kernel.ptx
  warpwatt ptx kernel.ptx --json
  warpwatt ptx kernel.ptx --registers 24

Exit codes: 0 all of it is supported; 1 some is not: each form is listed with line and column; 2 the file is no PTX, or an entry needs more
registers than allowed.
What is supported is described in docs/ptx.md.")]
pub struct PtxArguments {
    /// The PTX file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The most registers a thread may have; values beyond them go to local memory [default: 255]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=255))]
    pub registers: Option<u32>,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
}

/// Where in a technology a GPU is priced, as a study says it.
#[derive(Debug, Args)]
pub struct PointArguments {
    /// Transistors: hp, lop, lstp [default: hp]
    #[arg(long, value_name = "NAME")]
    pub flavour: Option<String>,
    /// Junction temperature [default: 350 K]
    #[arg(long, value_name = "KELVIN")]
    pub temperature: Option<String>,
    /// Supply [default: the nominal one]
    #[arg(long, value_name = "VOLT")]
    pub vdd: Option<String>,
}

impl PointArguments {
    /// Keys of `[gpu]` and what was given for them.
    pub fn given(&self) -> impl Iterator<Item = (&'static str, String)> {
        given([
            ("flavour", &self.flavour),
            ("temperature", &self.temperature),
            ("vdd", &self.vdd),
        ])
    }
}

/// Those of some options that were given.
pub fn given<const N: usize>(
    options: [(&'static str, &Option<String>); N],
) -> impl Iterator<Item = (&'static str, String)> {
    let options = options.map(|(key, value)| (key, value.clone()));
    options
        .into_iter()
        .filter_map(|(key, value)| Some((key, value?)))
}

/// Show what a kernel's trace holds: instruction mix, divergence, uniform operands, memory by space, lives of values in registers, branches, size.
///
/// The kernel is executed if its trace is not kept from an earlier time. Addresses, lanes and instructions are in a trace, values are not (docs/traces.md).
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  warpwatt trace bfs
  warpwatt trace my.toml --case small --json
  warpwatt trace matrix_mul --out matrix_mul.trace
  warpwatt trace matrix_mul.trace

Exit codes: 0 done; 2 the input is wrong, the kernel stopped or computes a wrong result, or the trace file is damaged or of another version.")]
pub struct TraceArguments {
    /// A launch file (TOML), a kernel of the suite by name, or a trace file
    #[arg(value_name = "LAUNCH.toml|KERNEL|FILE.trace")]
    pub file: String,
    /// The case of the launch file [default: its first]
    #[arg(long, value_name = "NAME")]
    pub case: Option<String>,
    /// PTX to run instead of the launch file's own
    #[arg(long, value_name = "FILE")]
    pub ptx: Option<PathBuf>,
    /// Write the trace to a file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Warp instructions that a launch may execute before it is taken for endless
    #[arg(long, value_name = "N", default_value_t = 1_000_000_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
    pub limit: u64,
    /// Lanes of a warp [default: 32]
    #[arg(long, value_name = "LANES", value_parser = ["32", "64"])]
    pub warp_width: Option<String>,
    /// Where traces are kept
    #[command(flatten)]
    pub cache: CacheArguments,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
}

/// Price a block of logic, a functional unit, an interconnect or a memory device: area, delay, energy of one operation, leakage, their parts and sources.
///
/// Without a block it lists them with their parameters. Parameters are options of the block's own: --width 32, or --set width=32.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Options of every block:
  --node NODE            technology node [default: 40nm]
  --library NAME         technology library: silicon, itrs [default: silicon]
  --flavour NAME         transistors: hp, lstp, lop [default: hp]
  --temperature KELVIN   junction temperature, such as 350K [default: 350K]
  --vdd VOLT             supply, such as 0.9V [default: the node's]
  --set KEY=VALUE        a parameter of the block
  --json                 one JSON document on standard output, and nothing else there

Examples:
  warpwatt logic                                     the blocks and their parameters
  warpwatt logic secded --width 32 --code hsiao --node 40nm
  warpwatt logic adder --set width=64 --vdd 0.8V --json

Exit codes: 0 done; 2 something is wrong with what was asked for: every fault is listed. Blocks are described in docs/logic.md.")]
pub struct LogicArguments {
    /// The block and its options
    #[arg(value_name = "BLOCK", trailing_var_arg = true, allow_hyphen_values = true, num_args = 0..)]
    pub words: Vec<String>,
}

/// Show what there is, a line each: presets, nodes, kernels, techniques, counters, metrics. With a name, that one in full.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  warpwatt list kernels
  warpwatt list presets v100
  warpwatt list techniques --json")]
pub struct ListArguments {
    /// What to show
    pub what: Listing,
    /// Show all there is about this one
    pub name: Option<String>,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
}

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Listing {
    /// GPUs, with where their numbers come from and every setting
    Presets,
    /// Graphics boards, with every value
    Boards,
    /// Technology nodes and transistor flavours
    Nodes,
    /// Kernels of the suite, with their cases
    Kernels,
    /// Techniques, with their parameters
    Techniques,
    /// Figures of a point or of a comparison that can be asked for by name
    Metrics,
    /// What is counted, for expressions in studies
    Counters,
}

/// What there is to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Suite {
    /// The filter-cache paper: circuits with its Table 1, the shipped study with its Table 4
    FilterCache,
    /// Runs of CACTI 7 with the profile cacti7
    Cacti7,
    /// Runs of CACTI 6.5 with the profile cacti65
    Cacti65,
    /// Inputs that the two refuse: answered with a note, or explained
    Refused,
    /// Memories of foundries and open kits with the profile silicon
    Macros,
    /// Dies of products, operations, accesses and DRAM beside published ones, and what takes a V100's energy beside AccelWattch
    Dies,
    /// MIAOW: area of its compute unit and blocks at 32 nm, and Tahiti's
    Miaow,
    /// Runs of GPGPU-Sim 4.2.0 with the presets gtx480 and v100: cycles and instructions of fourteen kernels
    Gpu,
    /// Kernels and micro-benchmarks on silicon, as others measured them, with the presets of their GPUs
    Silicon,
    /// The uniform-vector paper: IPC of its Table 3 with the preset gtx285
    UniformVectors,
    /// The register-virtualization work: its Table 2.2, and the shipped study with its figures
    RegisterVirtualization,
    /// Warped-DMR: its synthesised circuits, and the shipped study with its figures 4.1 to 4.10
    WarpedDmr,
    /// The soft-error paper (SAWP and SHARP): two shipped studies with its figures
    SoftError,
    /// Measured watts of six boards: every case predicted from the others, and a board from what other boards told
    Watts,
    /// All of them: how many rows of each document hold, by what they are worth; with --json a row each
    All,
}

/// Compare our numbers with published ones: circuits with the filter-cache paper's Table 1, the shipped study with its Table 4.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  warpwatt validate
  warpwatt validate cacti7
  warpwatt validate --json
  warpwatt validate all

Exit codes: 0 every row that counts holds; 1 some are gaps: docs/validation.md explains them.")]
pub struct ValidateArguments {
    /// What to compare with [default: filter-cache]
    #[arg(value_name = "SUITE")]
    pub suite: Option<Suite>,
    /// Threads to use [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
    /// Print the table as Markdown, as docs/validation.md has it
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
    /// Draw ours over the published values: a bar a row, or of all suites a mark a row
    #[arg(long, value_name = "FILE.svg")]
    pub picture: Option<PathBuf>,
    /// Draw each suite into a directory, as SUITE.svg: a mark an independent row, a strip a table, figure or section of its document
    #[arg(long, value_name = "DIR")]
    pub pictures: Option<PathBuf>,
    /// Nothing on standard error unless something is wrong
    #[arg(long)]
    pub quiet: bool,
}

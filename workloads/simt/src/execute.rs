//! A launch: what is asked for, whether it fits, and what comes of it.

use std::borrow::Cow;
use std::sync::Arc;

use warpwatt_ptx::program::{Inst, Source, Special};
use warpwatt_ptx::types::Space;
use warpwatt_ptx::{Entry, Module};

use crate::cta::{ClusterShape, Cta, CtaFault, Ground, Idle};
use crate::error::{ExecError, Fault};
use crate::grid::Grid;
use crate::interrupt::Interrupt;
use crate::memory::DeviceMemory;
use crate::races::{Race, Watch};
use crate::registers::Place;
use crate::trace::{KernelTrace, LaunchShape, MAX_THREADS, Store};
use crate::under_way::{Scene, UnderWay};
use crate::warp::Warp;

/// A kernel launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch<'l> {
    /// Name of the entry.
    pub entry: &'l str,
    /// CTAs in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a CTA in x, y, z: at most 1024 together.
    pub block: [u32; 3],
    /// CTAs of a cluster in x, y, z, where the launch says how many; what the entry says holds otherwise, and one if it says nothing.
    pub cluster: Option<[u32; 3]>,
    /// Dynamic shared memory in bytes.
    pub dynamic_shared: u32,
    /// The parameter block, laid out as [`Entry::params`] say.
    pub params: Vec<u8>,
}

/// How to execute.
#[derive(Clone, Debug)]
pub struct Options {
    /// Lanes of a warp: 32 or 64.
    pub warp_width: u32,
    /// The most warp instructions the launch may execute.
    pub limit: u64,
    /// Whether to record a trace.
    pub record: bool,
    /// The most bytes that the trace may take: a longer one is not kept.
    pub trace_bytes: u64,
    /// What keeps the trace.
    pub store: Store,
    /// Whether the trace shows where all lanes of a computation have the same operands, and a digest of their values.
    pub values: bool,
    /// Threads that may execute CTAs. However many: memory, trace and counts are those of one CTA after the other.
    pub threads: usize,
    /// Whether to look for data races, which takes several times as long and about 100 bytes for each word that the kernel touches.
    pub races: bool,
    /// Whether what the PTX ISA leaves undefined is done as on a GPU. A lane may execute a shuffle or a ballot whose mask does not name it, and takes part then.
    /// And behind a barrier no warp goes on past its first load from global memory before all have come so far, which decides some races of data.
    pub as_gpu: bool,
    /// What may end the execution before its time.
    pub interrupt: Option<Interrupt>,
}

impl Default for Options {
    /// Warps of 32, a thousand million warp instructions, a trace in memory, one thread.
    fn default() -> Self {
        Self {
            warp_width: 32,
            limit: 1_000_000_000,
            record: true,
            trace_bytes: u64::MAX,
            store: Store::default(),
            values: false,
            threads: 1,
            races: false,
            as_gpu: false,
            interrupt: None,
        }
    }
}

/// What a launch did, apart from what it wrote to memory.
#[derive(Clone, Debug)]
pub struct Execution {
    /// The trace, if one was recorded and did not become too long.
    pub trace: Option<KernelTrace>,
    /// Instructions issued for warps.
    pub warp_instructions: u64,
    /// Instructions times active lanes; lanes that a guard predicate switched off are counted.
    pub thread_instructions: u64,
    /// Those switched off.
    pub predicated_off: u64,
    /// Warp instructions of CTAs that were executed beside others, on several threads.
    pub spread: u64,
    /// The races that were found, if they were looked for.
    pub races: Vec<Race>,
}

/// Most shared memory of a CTA: more than any GPU has.
const MAX_SHARED: u64 = 1 << 20;

/// Most CTAs of a cluster: with sizes that are not portable (CUDA C++ Programming Guide, "Thread Block Clusters").
const MAX_CLUSTER: u128 = 16;

/// Executes a launch functionally: CTA after CTA, warps in turns. Results land in `memory`.
///
/// # Errors
/// An unknown or unsupported entry, a launch that fits neither entry nor machine, or a fault with its place.
pub fn execute(
    module: &Module,
    launch: &Launch<'_>,
    memory: &mut DeviceMemory,
    options: &Options,
) -> Result<Execution, ExecError> {
    let entry = &*bound(find(module, launch)?, &launch.params);
    check(entry, launch, options)?;
    match options.warp_width {
        64 => run::<64>(module, entry, launch, memory, options),
        _ => run::<32>(module, entry, launch, memory, options),
    }
}

pub(crate) fn find<'m>(module: &'m Module, launch: &Launch<'_>) -> Result<&'m Entry, ExecError> {
    let entry = module
        .entry(launch.entry)
        .ok_or_else(|| ExecError::UnknownEntry {
            name: launch.entry.to_owned(),
            known: module
                .entries
                .iter()
                .map(|entry| entry.name.clone())
                .collect(),
        })?;
    if entry.unsupported.is_empty() {
        Ok(entry)
    } else {
        Err(ExecError::Unsupported {
            kernel: entry.name.clone(),
            problems: entry.unsupported.clone(),
        })
    }
}

/// The entry with its parameters as literals where instructions have them as operands.
pub(crate) fn bound<'m>(entry: &'m Entry, params: &[u8]) -> Cow<'m, Entry> {
    fn bytes<const N: usize>(params: &[u8], offset: u32) -> [u8; N] {
        let found = params.get(offset as usize..).and_then(<[u8]>::first_chunk);
        found.copied().unwrap_or([0; N])
    }
    let mut bound = Cow::Borrowed(entry);
    for (at, source) in entry.words.iter().enumerate() {
        if let Source::Special(Special::Param(offset)) = *source {
            let value = u32::from_le_bytes(bytes(params, offset));
            bound.to_mut().words[at] = Source::Literal(value);
        }
    }
    for (at, source) in entry.doubles.iter().enumerate() {
        if let Source::Special(Special::Param(offset)) = *source {
            let value = u64::from_le_bytes(bytes(params, offset));
            bound.to_mut().doubles[at] = Source::Literal(value);
        }
    }
    bound
}

/// Whether the launch fits the entry, the machine and the limit.
pub(crate) fn check(
    entry: &Entry,
    launch: &Launch<'_>,
    options: &Options,
) -> Result<(), ExecError> {
    let kernel = || entry.name.clone();
    fits(entry, launch, options).map_err(|message| ExecError::Launch {
        kernel: kernel(),
        message,
    })?;
    let ctas = product(launch.grid);
    if ctas > u128::from(options.limit) {
        return Err(ExecError::Limit {
            kernel: kernel(),
            ctas,
            limit: options.limit,
        });
    }
    Ok(())
}

/// How many a three-dimensional extent holds.
fn product(extents: [u32; 3]) -> u128 {
    extents.map(u128::from).into_iter().product()
}

fn fits(entry: &Entry, launch: &Launch<'_>, options: &Options) -> Result<(), String> {
    let (threads, ctas) = (product(launch.block), product(launch.grid));
    let shared = u64::from(entry.shared_bytes) + u64::from(launch.dynamic_shared);
    if !matches!(options.warp_width, 32 | 64) {
        return Err(format!(
            "a warp of {} lanes is not possible: 32 or 64",
            options.warp_width
        ));
    }
    if threads == 0 || ctas == 0 {
        return Err("grid and block need at least one in each direction".to_owned());
    }
    if threads > u128::from(MAX_THREADS) {
        return Err(format!(
            "a block of {threads} threads is too large: at most {MAX_THREADS}"
        ));
    }
    if shared > MAX_SHARED {
        return Err(format!(
            "{shared} bytes of shared memory are too many: at most {MAX_SHARED}"
        ));
    }
    if launch.params.len() != entry.param_bytes() as usize {
        return Err(format!(
            "the parameter block has {} bytes, the entry's parameters take {}",
            launch.params.len(),
            entry.param_bytes()
        ));
    }
    cluster_fits(entry, launch, options, shared)
}

/// Whether clusters fit the grid, the entry and what they are executed for.
fn cluster_fits(
    entry: &Entry,
    launch: &Launch<'_>,
    options: &Options,
    shared: u64,
) -> Result<(), String> {
    let cluster = cluster_of(entry, launch);
    let ctas = product(cluster);
    let shape = |[x, y, z]: [u32; 3]| format!("{x} x {y} x {z}");
    if entry.cluster.is_some_and(|required| required != cluster) {
        return Err(format!(
            "clusters of {} CTAs are asked for, the entry requires {} (`.reqnctapercluster`)",
            shape(cluster),
            shape(entry.cluster.unwrap_or(cluster))
        ));
    }
    if ctas == 0 || ctas > MAX_CLUSTER {
        return Err(format!(
            "a cluster of {} CTAs is not possible: 1 to {MAX_CLUSTER} together",
            shape(cluster)
        ));
    }
    if (0..3).any(|axis| !launch.grid[axis].is_multiple_of(cluster[axis])) {
        return Err(format!(
            "a grid of {} CTAs is no multiple of clusters of {}",
            shape(launch.grid),
            shape(cluster)
        ));
    }
    if ctas > 1 && shared > Space::PEER {
        return Err(format!(
            "{shared} bytes of shared memory are too many for CTAs of clusters: at most {}",
            Space::PEER
        ));
    }
    if ctas > 1 && options.races {
        return Err("races are not looked for in clusters of several CTAs".to_owned());
    }
    Ok(())
}

/// CTAs of a cluster in x, y, z.
pub(crate) fn cluster_of(entry: &Entry, launch: &Launch<'_>) -> [u32; 3] {
    launch.cluster.or(entry.cluster).unwrap_or([1; 3])
}

/// Whether the launch is one of clusters with several CTAs.
pub(crate) fn has_clusters(entry: &Entry, launch: &Launch<'_>) -> bool {
    product(cluster_of(entry, launch)) > 1
}

fn run<const W: usize>(
    module: &Module,
    entry: &Entry,
    launch: &Launch<'_>,
    memory: &mut DeviceMemory,
    options: &Options,
) -> Result<Execution, ExecError> {
    let shape = LaunchShape {
        grid: launch.grid,
        block: launch.block,
        warp_width: options.warp_width,
        shared_bytes: entry.shared_bytes + launch.dynamic_shared,
        registers: entry.registers,
    };
    let cluster = cluster_of(entry, launch);
    let scene = Scene {
        entry,
        launch,
        shape: &shape,
        cluster,
        options,
    };
    let mut constants = module.constants.clone();
    let mut params = launch.params.clone();
    let mut ground = Ground {
        entry,
        device: memory,
        constants: &mut constants,
        params: &mut params,
        left: options.limit,
        changes: 0,
        idle: Idle::of(options.limit),
        interrupt: options.interrupt,
        lanes: None,
    };
    let mut grid = Grid::new(0..scene.clusters(), scene.cta::<W>(), !options.races);
    let mut under_way = UnderWay::new(scene, 0);
    let ended = under_way.run(&mut grid, &mut ground);
    ended.map_err(|stop| scene.stopped(W as u32, stop))?;
    let UnderWay {
        total,
        trace,
        spread,
        ..
    } = under_way;
    Ok(Execution {
        trace,
        warp_instructions: total.warp_instructions,
        thread_instructions: total.thread_instructions,
        predicated_off: total.predicated_off,
        spread,
        races: grid.into_cta().map_or_else(Vec::new, Cta::races),
    })
}

/// Where the CTA of a number stands in its grid.
pub(crate) fn place_in(grid: [u32; 3], index: usize) -> [u32; 3] {
    let [x, y, _] = grid.map(|extent| extent as usize);
    [index % x, index / x % y, index / (x * y)].map(|at| at as u32)
}

pub(crate) fn new_cta<const W: usize>(
    entry: &Entry,
    launch: &Launch<'_>,
    shape: &LaunchShape,
    options: &Options,
) -> Cta<W> {
    let count = shape.warps_per_cta();
    let valued: Option<Arc<[bool]>> = (options.record && options.values).then(|| {
        let pure = |inst: &Inst| inst.op.traits().is_pure();
        entry.code.iter().map(pure).collect()
    });
    let cluster = cluster_of(entry, launch);
    let ctas = cluster.iter().product::<u32>() as usize;
    let warps = (0..ctas * count).map(|warp| {
        let place = Place {
            grid: launch.grid,
            block: launch.block,
            cta: [0; 3],
            cluster,
            explicit_cluster: launch.cluster.or(entry.cluster).is_some(),
            warp: (warp % count) as u32,
            warps: count as u32,
            static_shared: entry.shared_bytes,
            dynamic_shared: launch.dynamic_shared,
        };
        Warp::new(entry, place, options, valued.clone())
    });
    let watch = || Box::new(Watch::new(launch.grid, count));
    let shape = ClusterShape {
        cluster,
        shared_bytes: shape.shared_bytes as usize,
        local_bytes: entry.local_bytes,
    };
    Cta::new(warps.collect(), &shape, options.races.then(watch))
}

pub(crate) fn locate(
    entry: &Entry,
    cta: [u32; 3],
    block: [u32; 3],
    width: u32,
    found: CtaFault,
    limit: u64,
) -> ExecError {
    let linear = found.warp as u32 * width + found.fault.lane;
    let [x, y, _] = block;
    let cause = match found.fault.cause {
        crate::error::Cause::Limit(_) => crate::error::Cause::Limit(limit),
        cause => cause,
    };
    ExecError::Fault(Box::new(Fault {
        kernel: entry.name.clone(),
        line: found.fault.line,
        cta,
        thread: [linear % x, linear / x % y, linear / (x * y)],
        cause,
    }))
}

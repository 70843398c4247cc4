//! A launch that is executed: every CTA of the grid, one after the other, those of a cluster together; on several threads where that comes to the same.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use warpwatt_ptx::Entry;

use crate::cta::{Cta, CtaFault, Ground, Idle};
use crate::error::ExecError;
use crate::execute::{Launch, Options, has_clusters, locate, new_cta, place_in};
use crate::grid::{Grid, GridFault, Launched, Stop};
use crate::memory::DeviceMemory;
use crate::speculate;
use crate::statics::static_instructions;
use crate::trace::{Counts, KernelTrace, LaunchShape, StoreError, WarpRecorder};

/// What all CTAs of a launch have in common.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'l> {
    pub entry: &'l Entry,
    pub launch: &'l Launch<'l>,
    pub shape: &'l LaunchShape,
    pub cluster: [u32; 3],
    pub options: &'l Options,
}

impl Scene<'_> {
    /// Clusters of the grid; CTAs, where they are no larger.
    pub fn clusters(&self) -> usize {
        self.shape.ctas() / self.cluster.iter().product::<u32>() as usize
    }

    /// A CTA to run on.
    pub fn cta<const W: usize>(&self) -> Cta<W> {
        new_cta(self.entry, self.launch, self.shape, self.options)
    }

    /// Why the launch did not come to its end.
    pub fn stopped(&self, width: u32, stop: Stop) -> ExecError {
        match stop {
            Stop::Fault(found) => self.locate(width, found),
            Stop::Store(error) => ExecError::Store {
                kernel: self.entry.name.clone(),
                error,
            },
        }
    }

    /// Where in the program a fault happened, and to which thread.
    fn locate(&self, width: u32, found: GridFault) -> ExecError {
        let warps = self.shape.warps_per_cta();
        let rank = found.fault.warp / warps;
        let fault = CtaFault {
            warp: found.fault.warp % warps,
            ..found.fault
        };
        let place = inside(self.first_of(found.number), self.cluster, rank);
        let (block, limit) = (self.launch.block, self.options.limit);
        locate(self.entry, place, block, width, fault, limit)
    }

    /// The first CTA of a cluster.
    fn first_of(&self, number: usize) -> [u32; 3] {
        let clusters = std::array::from_fn(|axis| self.launch.grid[axis] / self.cluster[axis]);
        let at = place_in(clusters, number);
        std::array::from_fn(|axis| at[axis] * self.cluster[axis])
    }

    /// Threads that its CTAs can be spread over.
    fn threads(&self) -> usize {
        let single = self.options.threads < 2
            || self.options.races
            || has_clusters(self.entry, self.launch)
            || !speculate::can(self.entry);
        if single { 1 } else { self.options.threads }
    }
}

/// What came of a launch so far, or of a stretch of its CTAs.
pub(crate) struct UnderWay<'l> {
    scene: Scene<'l>,
    /// The number of the first CTA.
    first: usize,
    pub total: Counts,
    pub trace: Option<KernelTrace>,
    /// Warp instructions of stretches.
    pub spread: u64,
    /// What was recorded of CTAs that others of the grid stand before, by their numbers.
    late: BTreeMap<usize, Vec<WarpRecorder>>,
}

/// What came of a stretch.
struct Stretch {
    total: Counts,
    trace: Option<KernelTrace>,
    executed: u64,
}

impl<'l> UnderWay<'l> {
    /// Before the CTA of a number.
    pub fn new(scene: Scene<'l>, first: usize) -> Self {
        let trace = scene.options.record.then(|| {
            let code = Arc::from(static_instructions(scene.entry));
            let name = scene.entry.name.clone();
            KernelTrace::kept_in(scene.options.store.clone(), name, code, scene.shape.clone())
        });
        Self {
            scene,
            first,
            total: Counts::default(),
            trace,
            spread: 0,
            late: BTreeMap::new(),
        }
    }

    /// Runs all CTAs of the grid.
    pub fn run<const W: usize>(
        &mut self,
        grid: &mut Grid<W>,
        ground: &mut Ground<'_>,
    ) -> Result<(), Stop> {
        let limit = self.scene.options.limit;
        let mut threads = self.scene.threads();
        loop {
            let known = |ground: &Ground<'_>| limit - ground.left >= speculate::PROBE;
            grid.run(self, ground, |ground| threads > 1 && known(ground))?;
            let left = grid.left();
            if left.is_empty() {
                return Ok(());
            }
            let each = (limit - ground.left) / left.start.max(1) as u64;
            let round = speculate::round(left.len(), each, threads);
            let done = match round {
                Some(ctas) => {
                    let ctas = left.start..left.start + ctas;
                    let done = self.run_side_by_side::<W>(ctas.clone(), threads, ground)?;
                    grid.skip(if done { ctas.len() } else { 0 });
                    done
                }
                None => false,
            };
            if !done {
                threads = 1;
            }
        }
    }

    /// Runs CTAs on several threads, if that comes to the same; else nothing has happened.
    fn run_side_by_side<const W: usize>(
        &mut self,
        ctas: Range<usize>,
        threads: usize,
        ground: &mut Ground<'_>,
    ) -> Result<bool, StoreError> {
        let scene = self.scene;
        let (constants, params) = (&*ground.constants, &*ground.params);
        // However they share it, they do not have more together.
        let limit = ground.left / ctas.len() as u64;
        let stretch = |ctas: Range<usize>, memory: &mut DeviceMemory, stop: &AtomicBool| {
            let limit = limit * ctas.len() as u64;
            let mut ground = Ground {
                entry: scene.entry,
                device: memory,
                constants: &mut constants.to_vec(),
                params: &mut params.to_vec(),
                left: limit,
                changes: 0,
                idle: Idle::of(limit),
                interrupt: scene.options.interrupt,
                lanes: None,
            };
            let mut part = UnderWay::new(scene, ctas.start);
            let mut grid = Grid::new(ctas, scene.cta::<W>(), false);
            let stops = |_: &Ground<'_>| stop.load(Ordering::Relaxed);
            grid.run(&mut part, &mut ground, stops).ok()?;
            grid.left().is_empty().then_some(Stretch {
                total: part.total,
                trace: part.trace,
                executed: limit - ground.left,
            })
        };
        let stretches = speculate::stretches(ground.device, ctas, threads, stretch);
        let Some(stretches) = stretches else {
            return Ok(false);
        };
        for stretch in stretches {
            ground.left -= stretch.executed;
            self.append(&stretch)?;
        }
        Ok(true)
    }

    fn append(&mut self, stretch: &Stretch) -> Result<(), StoreError> {
        self.spread += stretch.total.warp_instructions;
        self.total += stretch.total;
        match (&mut self.trace, &stretch.trace) {
            (Some(trace), Some(more)) => trace.append(more)?,
            _ => self.trace = None,
        }
        self.bound();
        Ok(())
    }

    /// Appends what was recorded of a CTA, and of those that waited for it.
    fn record<'w>(
        &mut self,
        place: [u32; 3],
        mut warps: impl Iterator<Item = &'w WarpRecorder>,
    ) -> Result<(), StoreError> {
        let Some(trace) = &mut self.trace else {
            return Ok(());
        };
        let [width, height, _] = self.scene.launch.grid.map(|extent| extent as usize);
        let [x, y, z] = place.map(|at| at as usize);
        let number = (z * height + y) * width + x;
        if self.first + trace.ctas() == number {
            warps.try_for_each(|warp| trace.push_warp(warp))?;
        } else {
            self.late.insert(number, warps.cloned().collect());
        }
        while let Some(warps) = self.late.remove(&(self.first + trace.ctas())) {
            warps.iter().try_for_each(|warp| trace.push_warp(warp))?;
        }
        self.bound();
        Ok(())
    }

    /// Forgets a trace that has become too long.
    fn bound(&mut self) {
        let bytes = |trace: &KernelTrace| trace.record_bytes() as u64;
        if self.trace.as_ref().map_or(0, bytes) > self.scene.options.trace_bytes {
            self.trace = None;
            self.late.clear();
        }
    }
}

/// Where the CTA of a rank stands, in the cluster whose first CTA is `first`.
fn inside(first: [u32; 3], cluster: [u32; 3], rank: usize) -> [u32; 3] {
    let inside = place_in(cluster, rank);
    std::array::from_fn(|axis| first[axis] + inside[axis])
}

impl<const W: usize> Launched<W> for UnderWay<'_> {
    fn fresh(&self) -> Cta<W> {
        self.scene.cta()
    }

    fn place(&self, number: usize) -> [u32; 3] {
        self.scene.first_of(number)
    }

    fn done(&mut self, cta: &Cta<W>) -> Result<(), StoreError> {
        for warp in cta.warps() {
            self.total += warp.counts;
        }
        for warps in cta.by_rank() {
            let place = warps[0].warp().place.cta;
            self.record(place, warps.iter().map(|member| &member.warp().recorder))?;
        }
        Ok(())
    }
}

//! Warp traces: what one execution of a kernel leaves for any number of timing runs.
//!
//! A trace holds, for every warp of every CTA, the sequence of its dynamic instructions: which static instruction, which
//! lanes, which addresses. It holds no time and no values.

mod affine;
mod beyond;
mod check;
pub mod file;
mod needs;
pub(crate) mod record;
mod statics;
pub mod statistics;
mod store;

pub(crate) use affine::Affine;
pub use beyond::{Beyond, Copied, Piece, TensorWork};
pub(crate) use check::MAX_THREADS;
pub use check::{Counts, Malformed, Unsound};
pub use needs::{Need, Needs, Role};
pub use record::{Addresses, BarrierUse, Step, WarpCursor, WarpRecorder, lanes};
pub use statics::{
    Asynchronous, Flow, INSTRUCTION_BYTES, LatencyClass, Marks, MemoryOp, MemoryOpKind,
    Outstanding, Register, RegisterKind, Release, Results, Space, Split, StaticInst, Unit,
    ValueRead, ValueWrite, run_lengths,
};

pub use store::{DEFAULT_MEMORY, Store, StoreError};
use store::{Held, Place};

use std::sync::Arc;

/// One bit a lane; bit 0 is lane 0. Warps are at most 64 lanes wide.
pub type LaneMask = u64;

/// The trace of one kernel launch.
#[derive(Clone, Debug)]
pub struct KernelTrace {
    /// The entry's name.
    pub kernel: String,
    /// The static instructions; a step names one by its index.
    pub code: Arc<[StaticInst]>,
    /// The launch's shape and what bounds its occupancy.
    pub launch: LaunchShape,
    /// One entry a warp, CTA after CTA in launch order (x fastest).
    warps: Vec<WarpSpan>,
    /// Where the records are.
    held: Arc<Held>,
    /// Bytes of all records.
    bytes: usize,
}

/// A launch as the block dispatcher sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchShape {
    /// CTAs in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a CTA in x, y, z.
    pub block: [u32; 3],
    /// Lanes of a warp: 32 or 64.
    pub warp_width: u32,
    /// Shared memory of a CTA in bytes, static and dynamic.
    pub shared_bytes: u32,
    /// 32-bit registers a thread.
    pub registers: u32,
}

impl LaunchShape {
    /// CTAs in the grid.
    pub fn ctas(&self) -> usize {
        self.grid.iter().map(|&n| n as usize).product()
    }

    /// Threads of a CTA.
    pub fn threads_per_cta(&self) -> u32 {
        self.block.iter().product()
    }

    /// Warps of a CTA; the last one may have idle lanes.
    pub fn warps_per_cta(&self) -> usize {
        self.threads_per_cta().div_ceil(self.warp_width) as usize
    }
}

/// Where a warp's records lie, and how many there are.
#[derive(Clone, Copy, Debug)]
struct WarpSpan {
    place: Place,
    steps: u32,
}

impl KernelTrace {
    /// An empty trace in memory; warps are appended in CTA order.
    pub fn new(kernel: impl Into<String>, code: Arc<[StaticInst]>, launch: LaunchShape) -> Self {
        Self::kept_in(Store::default(), kernel, code, launch)
    }

    /// An empty trace whose records `store` keeps.
    pub fn kept_in(
        store: Store,
        kernel: impl Into<String>,
        code: Arc<[StaticInst]>,
        launch: LaunchShape,
    ) -> Self {
        Self {
            kernel: kernel.into(),
            code,
            launch,
            warps: Vec::new(),
            held: Arc::new(Held::new(store)),
            bytes: 0,
        }
    }

    /// An empty trace of the same launch with other instructions, which may have as much memory.
    #[must_use]
    pub fn another(&self, code: Arc<[StaticInst]>) -> Self {
        let store = self.held.store.another();
        Self::kept_in(store, self.kernel.clone(), code, self.launch.clone())
    }

    /// Appends the next warp (CTA after CTA, warp after warp).
    ///
    /// # Errors
    /// Its records are beyond the memory that there may be, and cannot be written elsewhere.
    pub fn push_warp(&mut self, warp: &WarpRecorder) -> Result<(), StoreError> {
        self.push(warp.bytes(), warp.steps())
    }

    fn push(&mut self, records: &[u8], steps: u32) -> Result<(), StoreError> {
        let place = Arc::make_mut(&mut self.held).keep(records)?;
        self.warps.push(WarpSpan { place, steps });
        self.bytes += records.len();
        Ok(())
    }

    /// Appends the warps of another trace of the launch.
    ///
    /// # Errors
    /// As [`push_warp`](Self::push_warp) and [`warp`](Self::warp).
    pub fn append(&mut self, other: &Self) -> Result<(), StoreError> {
        for warp in &other.warps {
            if self.held.has(warp.place, &other.held) {
                self.warps.push(*warp);
                self.bytes += warp.place.length() as usize;
            } else {
                self.push(&other.records(*warp)?, warp.steps)?;
            }
        }
        Ok(())
    }

    /// The launch with each CTA a second time, behind all of them: the grid is twice as deep.
    #[must_use]
    pub fn with_ctas_twice(&self) -> Self {
        let mut twice = self.clone();
        twice.launch.grid[2] *= 2;
        twice.warps.extend_from_slice(&self.warps);
        twice
    }

    /// CTAs of which all warps were appended.
    pub fn ctas(&self) -> usize {
        self.warps.len() / self.launch.warps_per_cta()
    }

    /// The same with other static instructions: what was number `n` is number `numbers[n]` of `code`.
    ///
    /// # Errors
    /// As [`push_warp`](Self::push_warp) and [`warp`](Self::warp).
    ///
    /// # Panics
    /// If a step's instruction has no number.
    pub fn renumbered(&self, code: Arc<[StaticInst]>, numbers: &[u32]) -> Result<Self, StoreError> {
        let (store, kernel, launch) = (
            self.held.store.clone(),
            self.kernel.clone(),
            self.launch.clone(),
        );
        let mut renumbered = Self::kept_in(store, kernel, code, launch);
        let mut recorder = WarpRecorder::default();
        for warp in 0..self.warps.len() {
            recorder.clear();
            for step in self.cursor(warp)? {
                recorder.again(&step, numbers[step.inst as usize]);
            }
            renumbered.push_warp(&recorder)?;
        }
        Ok(renumbered)
    }

    /// Replays warp `warp` of CTA `cta` from its first instruction.
    ///
    /// # Errors
    /// Its records were not held in memory, and cannot be read where they are.
    ///
    /// # Panics
    /// If the trace has no such warp.
    pub fn warp(&self, cta: usize, warp: usize) -> Result<WarpCursor, StoreError> {
        self.cursor(cta * self.launch.warps_per_cta() + warp)
    }

    /// As [`warp`](Self::warp), of a trace that is [in memory](Self::into_memory).
    ///
    /// # Panics
    /// If the trace has no such warp, or its records are elsewhere and cannot be read.
    pub fn warp_held(&self, cta: usize, warp: usize) -> WarpCursor {
        match self.warp(cta, warp) {
            Ok(cursor) => cursor,
            Err(error) => unreachable!("a trace that was brought into memory: {error}"),
        }
    }

    /// The same with all records in memory.
    ///
    /// # Errors
    /// As [`warp`](Self::warp).
    pub fn into_memory(self) -> Result<Self, StoreError> {
        if !self.warps.iter().any(|warp| warp.place.is_filed()) {
            return Ok(self);
        }
        let mut held = Self::new(self.kernel.clone(), self.code.clone(), self.launch.clone());
        held.append(&self)?;
        Ok(held)
    }

    fn cursor(&self, warp: usize) -> Result<WarpCursor, StoreError> {
        let records: Arc<[u8]> = self.held.read(self.warps[warp].place)?;
        Ok(WarpCursor::new(records))
    }

    fn records(&self, warp: WarpSpan) -> Result<Vec<u8>, StoreError> {
        self.held.read(warp.place)
    }

    /// Instructions of a warp.
    ///
    /// # Panics
    /// If the trace has no such warp.
    pub fn steps(&self, cta: usize, warp: usize) -> u32 {
        self.warps[cta * self.launch.warps_per_cta() + warp].steps
    }

    /// Dynamic warp instructions of the whole launch.
    pub fn warp_instructions(&self) -> u64 {
        self.warps.iter().map(|warp| u64::from(warp.steps)).sum()
    }

    /// Bytes that the records take, in memory or elsewhere.
    pub fn record_bytes(&self) -> usize {
        self.bytes + self.warps.len() * size_of::<WarpSpan>()
    }
}

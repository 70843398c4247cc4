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

pub(crate) use affine::Affine;
pub use beyond::{Beyond, Copied, Piece, TensorWork};
pub(crate) use check::MAX_THREADS;
pub use check::{Counts, Malformed};
pub use needs::{Need, Needs, Role};
pub use record::{Addresses, BarrierUse, Step, WarpCursor, WarpRecorder, lanes};
pub use statics::{
    Asynchronous, Flow, INSTRUCTION_BYTES, LatencyClass, Marks, MemoryOp, MemoryOpKind,
    Outstanding, Register, RegisterKind, Release, Results, Space, Split, StaticInst, Unit,
    ValueRead, ValueWrite,
};

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
    /// All records of all warps.
    bytes: Vec<u8>,
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
    start: u64,
    end: u64,
    steps: u32,
}

impl KernelTrace {
    /// An empty trace; warps are appended in CTA order.
    pub fn new(kernel: impl Into<String>, code: Arc<[StaticInst]>, launch: LaunchShape) -> Self {
        Self {
            kernel: kernel.into(),
            code,
            launch,
            warps: Vec::new(),
            bytes: Vec::new(),
        }
    }

    /// Appends the next warp (CTA after CTA, warp after warp).
    pub fn push_warp(&mut self, warp: &WarpRecorder) {
        let start = self.bytes.len() as u64;
        self.bytes.extend_from_slice(warp.bytes());
        self.warps.push(WarpSpan {
            start,
            end: self.bytes.len() as u64,
            steps: warp.steps(),
        });
    }

    /// Appends the warps of another trace of the launch.
    pub(crate) fn append(&mut self, other: &Self) {
        let shift = self.bytes.len() as u64;
        self.bytes.extend_from_slice(&other.bytes);
        self.warps.extend(other.warps.iter().map(|warp| WarpSpan {
            start: warp.start + shift,
            end: warp.end + shift,
            steps: warp.steps,
        }));
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
    /// # Panics
    /// If a step's instruction has no number.
    #[must_use]
    pub fn renumbered(&self, code: Arc<[StaticInst]>, numbers: &[u32]) -> Self {
        let mut renumbered = Self::new(self.kernel.clone(), code, self.launch.clone());
        let mut recorder = WarpRecorder::default();
        for warp in 0..self.warps.len() {
            recorder.clear();
            for step in self.cursor(warp) {
                recorder.again(&step, numbers[step.inst as usize]);
            }
            renumbered.push_warp(&recorder);
        }
        renumbered
    }

    /// Replays warp `warp` of CTA `cta` from its first instruction.
    ///
    /// # Panics
    /// If the trace has no such warp.
    pub fn warp(&self, cta: usize, warp: usize) -> WarpCursor<'_> {
        self.cursor(cta * self.launch.warps_per_cta() + warp)
    }

    fn cursor(&self, warp: usize) -> WarpCursor<'_> {
        let span = self.warps[warp];
        WarpCursor::new(&self.bytes[span.start as usize..span.end as usize])
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

    /// Memory that the records take.
    pub fn record_bytes(&self) -> usize {
        self.bytes.len() + self.warps.len() * size_of::<WarpSpan>()
    }
}

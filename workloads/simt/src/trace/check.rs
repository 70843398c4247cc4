//! Whether records are what a recorder writes, and what they add up to.

use std::ops::AddAssign;

use super::{
    Addresses, Asynchronous, KernelTrace, LaneMask, LaunchShape, StaticInst, Step, StoreError, Unit,
};

/// Threads of a CTA at the most, on every GPU since compute capability 2.0.
pub(crate) const MAX_THREADS: u64 = 1024;

/// What a launch executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Instructions issued for warps.
    pub warp_instructions: u64,
    /// Instructions times active lanes; lanes that a guard predicate switched off are counted.
    pub thread_instructions: u64,
    /// Those switched off.
    pub predicated_off: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.warp_instructions += other.warp_instructions;
        self.thread_instructions += other.thread_instructions;
        self.predicated_off += other.predicated_off;
    }
}

/// Why something is no trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub &'static str);

/// Why a trace is not counted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsound {
    /// It is none.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// Its records cannot be had.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl LaunchShape {
    /// Warps of the launch, if it is one that execution accepts.
    pub(super) fn checked_warps(&self) -> Result<u64, Malformed> {
        let product = |extents: [u32; 3]| extents.map(u128::from).into_iter().product::<u128>();
        let (threads, ctas) = (product(self.block), product(self.grid));
        if !matches!(self.warp_width, 32 | 64) {
            return Err(Malformed("a warp has 32 or 64 lanes"));
        }
        if threads == 0 || ctas == 0 || threads > u128::from(MAX_THREADS) {
            return Err(Malformed("no launch has such a grid and block"));
        }
        let warps = ctas * threads.div_ceil(u128::from(self.warp_width));
        u64::try_from(warps).map_err(|_| Malformed("no launch has so many warps"))
    }
}

impl KernelTrace {
    /// Walks through all steps and counts.
    ///
    /// # Errors
    /// Records that no execution leaves: they are cut short, or name instructions, lanes or addresses that there are not. Or records that cannot be had.
    pub fn counts(&self) -> Result<Counts, Unsound> {
        if self.launch.checked_warps()? != self.warps.len() as u64 {
            return Err(Malformed("there are more or fewer warps than the launch has").into());
        }
        let lanes = LaneMask::MAX >> (LaneMask::BITS - self.launch.warp_width);
        let mut counts = Counts::default();
        for (warp, span) in self.warps.iter().enumerate() {
            let mut cursor = self.cursor(warp)?;
            // Lanes change seldom; counting them takes longer than noticing that.
            let (mut active, mut active_count) = (0, 0);
            for _ in 0..span.steps {
                let step = cursor.next().ok_or(Malformed("a record is cut short"))?;
                check_step(&step, &self.code, lanes)?;
                if step.active != active {
                    active = step.active;
                    active_count = u64::from(active.count_ones());
                }
                counts.thread_instructions += active_count;
                if step.executed != active {
                    counts.predicated_off += u64::from((active & !step.executed).count_ones());
                }
            }
            if !cursor.at_end() {
                return Err(Malformed("a warp has more records than steps").into());
            }
            counts.warp_instructions += u64::from(span.steps);
        }
        Ok(counts)
    }
}

#[inline]
fn check_step(step: &Step, code: &[StaticInst], lanes: LaneMask) -> Result<(), Malformed> {
    let inst = code.get(step.inst as usize);
    let inst = inst.ok_or(Malformed("a record names an instruction that there is not"))?;
    if step.active == 0 || step.active & !lanes != 0 || step.executed & !step.active != 0 {
        return Err(Malformed("a record names lanes that there are not"));
    }
    let works = inst.asynchronous == Some(Asynchronous::Tensor);
    let named = (inst.unit == Unit::Barrier || works) && step.executed != 0;
    if step.addresses.is_some() != (inst.memory.is_some() && step.executed != 0) && !named {
        return Err(Malformed(
            "a record has addresses where none belong, or none where some do",
        ));
    }
    if step.values.is_some() && (inst.memory.is_some() || step.executed != lanes) {
        return Err(Malformed("a record has values where none belong"));
    }
    match &step.addresses {
        Some(Addresses::Scattered(_)) if named && !works => {
            Err(Malformed("a barrier has many numbers"))
        }
        Some(Addresses::Scattered(scattered)) if !scattered.fits(step.executed) => {
            Err(Malformed("a record has more or fewer addresses than lanes"))
        }
        _ => Ok(()),
    }
}

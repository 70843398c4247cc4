//! Whether records are what a recorder writes, and what they add up to.

use std::ops::AddAssign;

use super::{
    Addresses, Asynchronous, KernelTrace, LaneMask, LaunchShape, StaticInst, Step, StoreError,
    Unit, run_lengths,
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
        // From each instruction on, how many need nothing in their records.
        let plain = run_lengths(&self.code, |inst| inst.memory.is_none() || is_named(inst));
        let mut counts = Counts::default();
        for (warp, span) in self.warps.iter().enumerate() {
            let mut cursor = self.cursor(warp)?;
            // Lanes change seldom; counting them takes longer than noticing that.
            let (mut active, mut active_count) = (0, 0);
            let mut left = span.steps;
            while left > 0 {
                let mut step = cursor.next().ok_or(Malformed("a record is cut short"))?;
                check_step(&step, &self.code, lanes)?;
                if step.active != active {
                    active = step.active;
                    active_count = u64::from(active.count_ones());
                }
                if step.executed != active {
                    counts.predicated_off += u64::from((active & !step.executed).count_ones());
                }
                let behind = u32::from(cursor.pass_plain());
                step.inst = step.inst.wrapping_add(1);
                let known = plain.get(step.inst as usize).copied().unwrap_or(0);
                if behind > known {
                    step = Step::plain(step.inst + known, active);
                    check_step(&step, &self.code, lanes)?;
                }
                left = left.checked_sub(1 + behind).ok_or(MORE)?;
                counts.thread_instructions += active_count * u64::from(1 + behind);
            }
            if !cursor.at_end() {
                return Err(MORE.into());
            }
            counts.warp_instructions += u64::from(span.steps);
        }
        Ok(counts)
    }
}

const MORE: Malformed = Malformed("a warp has more records than steps");

/// Whether it may have an address that is none of its lanes'.
fn is_named(inst: &StaticInst) -> bool {
    inst.unit == Unit::Barrier || inst.asynchronous == Some(Asynchronous::Tensor)
}

#[inline]
fn check_step(step: &Step, code: &[StaticInst], lanes: LaneMask) -> Result<(), Malformed> {
    let inst = code.get(step.inst as usize);
    let inst = inst.ok_or(Malformed("a record names an instruction that there is not"))?;
    if step.active == 0 || step.active & !lanes != 0 || step.executed & !step.active != 0 {
        return Err(Malformed("a record names lanes that there are not"));
    }
    let works = inst.asynchronous == Some(Asynchronous::Tensor);
    let named = is_named(inst) && step.executed != 0;
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::trace::{MemoryOp, MemoryOpKind, Space};

    /// A barrier, a computation, a load, and computations behind it.
    fn code() -> Arc<[StaticInst]> {
        let mut code = vec![StaticInst::bare(Unit::Int); 8];
        code[0].unit = Unit::Barrier;
        code[2].memory = Some(MemoryOp::new(Space::Global, MemoryOpKind::Load, 4));
        code.into()
    }

    /// The same, a step at a time.
    fn by_steps(trace: &KernelTrace, steps: u32) -> Option<Counts> {
        let mut cursor = trace.warp_held(0, 0);
        let mut counts = Counts::default();
        for _ in 0..steps {
            let step = cursor.next()?;
            check_step(&step, &trace.code, LaneMask::MAX >> 32).ok()?;
            counts.warp_instructions += 1;
            counts.thread_instructions += u64::from(step.active.count_ones());
            counts.predicated_off += u64::from((step.active & !step.executed).count_ones());
        }
        cursor.at_end().then_some(counts)
    }

    proptest! {
        /// Plain steps pass in one: jumps, lanes, guards and addresses between them, right and wrong, count and are refused as if each were looked at.
        #[test]
        fn plain_steps_count_as_if_looked_at(
            runs in prop::collection::vec((0u8..12, prop::sample::select(vec![3u8, 3, 3, 7, 11, 1, 0, 16]), 0usize..10), 1..6),
            more in -1i64..2,
        ) {
            let mut bytes = Vec::new();
            let mut steps = 0;
            for (to, header, plain) in runs {
                bytes.push(header);
                let numbers = [header & 1 != 0, header & 2 != 0, header & 4 != 0, header & 24 != 0, header & 16 != 0];
                bytes.extend(numbers.iter().filter(|number| **number).map(|_| to));
                bytes.extend(vec![0; plain]);
                steps += 1 + plain as i64;
            }
            let steps = (steps + more).max(0) as u32;
            let shape = LaunchShape { grid: [1; 3], block: [32, 1, 1], warp_width: 32, shared_bytes: 0, registers: 0 };
            let mut trace = KernelTrace::new("k", code(), shape);
            trace.push(&bytes, steps).unwrap();
            prop_assert_eq!(trace.counts().ok(), by_steps(&trace, steps));
        }
    }

    #[test]
    fn a_plain_access_is_refused() {
        let shape = LaunchShape {
            grid: [1; 3],
            block: [32, 1, 1],
            warp_width: 32,
            shared_bytes: 0,
            registers: 0,
        };
        let refused = |first: u8, plain: usize| {
            let mut trace = KernelTrace::new("k", code(), shape.clone());
            // To instruction `first` on two lanes.
            let bytes = [&[3, 2 * first, 3][..], &vec![0; plain]].concat();
            trace.push(&bytes, 1 + plain as u32).unwrap();
            trace.counts().err().map(|error| error.to_string())
        };
        assert_eq!(refused(3, 4), None);
        let none = "a record names an instruction that there is not";
        assert_eq!(refused(3, 5).as_deref(), Some(none));
        assert_eq!(refused(0, 1), None);
        assert!(refused(0, 2).unwrap().contains("none where some do"));
    }
}

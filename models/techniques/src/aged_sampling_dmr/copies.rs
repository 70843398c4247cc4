//! Which CTAs run a second time, and the trace in which they do.

use std::sync::Arc;

use warpwatt_gpu::trace::{
    KernelTrace, MemoryOp, MemoryOpKind, Space, StaticInst, Step, WarpRecorder,
};

/// How many CTAs of an epoch are sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sampling {
    /// In percent.
    pub percent: u32,
    /// CTAs of an epoch.
    pub epoch: u32,
}

impl Sampling {
    /// CTAs of a whole epoch that are sampled.
    fn of_epoch(self) -> usize {
        (self.epoch as usize * self.percent as usize / 100).max(1)
    }

    /// Whether a CTA of a launch is: they lie evenly in their epoch, from the first one on.
    pub fn samples(self, cta: usize) -> bool {
        let (epoch, samples) = (self.epoch as usize, self.of_epoch());
        cta % epoch * samples % epoch < samples
    }

    /// How many of so many are.
    pub fn among(self, ctas: usize) -> usize {
        let (epoch, samples) = (self.epoch as usize, self.of_epoch());
        ctas / epoch * samples + (ctas % epoch * samples).div_ceil(epoch)
    }

    /// CTAs of the program where there are so many with copies.
    pub fn program(self, all: usize) -> usize {
        let (mut low, mut high) = (0, all);
        while low < high {
            let middle = (low + high) / 2;
            match middle + self.among(middle) < all {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }
}

/// The launch with copies of the sampled CTAs behind all others; what copies would do to memory that others see has no lane.
pub(super) fn with_copies(trace: &KernelTrace, sampling: Sampling) -> Result<KernelTrace, String> {
    let ctas = trace.launch.ctas();
    let mut all = trace.another(Arc::clone(&trace.code));
    all.append(trace)?;
    let mut recorder = WarpRecorder::default();
    for cta in (0..ctas).filter(|cta| sampling.samples(*cta)) {
        for warp in 0..trace.launch.warps_per_cta() {
            recorder.clear();
            copy(trace, (cta, warp), &mut recorder)?;
            all.push_warp(&recorder)?;
        }
    }
    let count = ctas + sampling.among(ctas);
    let count = u32::try_from(count).map_err(|_| "it has too many CTAs".to_owned())?;
    all.launch.grid = [count, 1, 1];
    Ok(all)
}

fn copy(
    trace: &KernelTrace,
    (cta, warp): (usize, usize),
    recorder: &mut WarpRecorder,
) -> Result<(), String> {
    for step in trace.warp(cta, warp)? {
        if step.beyond().is_some() {
            return Err("asynchronous copies reach memory by themselves: a second run could not be kept from it".to_owned());
        }
        let inst = &trace.code[step.inst as usize];
        match writes_for_others(inst, &step) {
            true => recorder.step(step.inst, step.active, 0),
            false => recorder.again(&step, step.inst),
        }
    }
    Ok(())
}

/// Whether an instruction writes where other CTAs see it.
fn writes_for_others(inst: &StaticInst, step: &Step) -> bool {
    let writes = |memory: &MemoryOp| memory.kind != MemoryOpKind::Load && reaches_others(memory);
    let (Some(memory), Some(addresses)) = (inst.memory.filter(writes), &step.addresses) else {
        return false;
    };
    let mut is_global = memory.space != Space::Generic;
    addresses.for_each(step.executed, |_, address| {
        is_global |= Space::of(address) == Space::Global;
    });
    is_global
}

/// Whether an access may reach memory that other CTAs see.
pub(super) fn reaches_others(memory: &MemoryOp) -> bool {
    matches!(memory.space, Space::Global | Space::Generic)
}

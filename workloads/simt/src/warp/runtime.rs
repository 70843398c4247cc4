//! What the CUDA runtime does on the device: its heap, and launches by kernels.

use warpwatt_ptx::program::{Inst, RuntimeCall};

use super::Warp;
use crate::device_launch::Shape;
use crate::memory::{BadAccess, Memories};
use crate::trace::{LaneMask, lanes};

impl<const W: usize> Warp<W> {
    /// Performs the call, lowest lane first.
    pub(super) fn runtime(
        &mut self,
        how: RuntimeCall,
        inst: &Inst,
        executed: LaneMask,
        memories: &mut Memories<'_>,
    ) -> Result<(), BadAccess> {
        let device = &mut *memories.device;
        let firsts = *self.registers.double(inst.src[0]);
        let mut results = [0; W];
        for lane in lanes(executed) {
            let at = lane as usize;
            let first = firsts[at];
            let fault = |cause| BadAccess { lane, cause };
            let double = |source: usize| self.registers.double(inst.src[source])[at];
            let word = |source: usize| self.registers.word(inst.src[source])[at];
            match how {
                RuntimeCall::Allocate => results[at] = device.allocate(first),
                RuntimeCall::Free => device.release(first).map_err(fault)?,
                RuntimeCall::Prepare => {
                    let shape = Shape {
                        entry: first,
                        grid: [1, 2, 3].map(word),
                        block: [4, 5, 6].map(word),
                        dynamic_shared: word(7),
                    };
                    results[at] = device.prepare(shape);
                }
                RuntimeCall::Launch => {
                    let from = (inst.src.as_slice().len() > 2).then(|| double(2));
                    results[at] = u64::from(device.launch(first, double(1), from));
                }
            }
        }
        if let Some(&slot) = inst.dst.as_slice().first() {
            self.registers.set_extended(slot, executed, &results);
        }
        Ok(())
    }
}

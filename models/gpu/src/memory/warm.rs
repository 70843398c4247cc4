//! What CTAs that are not timed would have left in the caches.

use std::ops::Range;

use warpwatt_simt::trace::{Beyond, KernelTrace, MemoryOpKind, Space, Step, StoreError};

use super::Memory;
use super::coalesce::{Block, Coalescer, LocalAccess, Rules};
use super::space_of;
use crate::counters::Counter;
use crate::{Fill, GpuSpec, SECTOR_BYTES, TexturePath};

/// How an instruction accesses memory beyond the SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    /// By way of the first-level cache.
    Loads,
    /// Past it.
    Copies,
    /// By way of the texture units and their own cache.
    Textures,
    Writes,
}

impl Touch {
    /// How `step` does, if it does; its blocks are left in `coalescer`. Local memory is accessed only if it is known where it lies (`local`).
    pub fn of(
        (trace, step): (&KernelTrace, &Step),
        spec: &GpuSpec,
        local: Option<u64>,
        coalescer: &mut Coalescer,
    ) -> Option<Self> {
        let op = trace.code[step.inst as usize].memory?;
        let addresses = step.addresses.as_ref()?;
        match addresses.beyond() {
            Some(Beyond::Copy(copied)) => {
                coalescer.runs(&copied);
                return Some(Self::Copies);
            }
            Some(_) => return None,
            None => {
                let (rules, bytes) = (Rules::new(spec), u64::from(op.bytes));
                match (space_of(op, addresses, step.executed), local) {
                    (Space::Global, _) => {
                        coalescer.coalesce(&rules, addresses, step.executed, bytes);
                    }
                    (Space::Local, Some(base)) => {
                        let access = LocalAccess { base, bytes };
                        coalescer.coalesce_local(&rules, addresses, step.executed, access);
                    }
                    _ => return None,
                }
            }
        }
        let touch = match op.kind {
            MemoryOpKind::Store | MemoryOpKind::Atomic => Self::Writes,
            MemoryOpKind::Texture if spec.texture.path == TexturePath::Own => Self::Textures,
            _ if op.past_l1 => Self::Copies,
            _ => Self::Loads,
        };
        if touch == Self::Loads && spec.has_l1() && spec.l1.fill == Fill::Line {
            let line = u8::MAX >> (8 - spec.l1.line_bytes / SECTOR_BYTES);
            coalescer
                .blocks
                .iter_mut()
                .for_each(|block| block.mask = line);
        }
        Some(touch)
    }
}

impl Memory {
    /// Brings into the second-level cache what the last of `ctas` access in global memory, in their order: as many of them as fill the cache twice, by what the
    /// `finished` ones before them have accessed. Takes no time and counts nothing.
    pub fn warm(
        &mut self,
        trace: &KernelTrace,
        ctas: Range<usize>,
        finished: u64,
    ) -> Result<(), StoreError> {
        if !self.spec.has_l2() {
            return Ok(());
        }
        let accessed = self.counts.get(Counter::L2Reads) + self.counts.get(Counter::L2Writes);
        let most = (2 * self.spec.shared_sectors() * finished.max(1)).div_ceil(accessed.max(1));
        let first = ctas.end.saturating_sub(most as usize).max(ctas.start);
        let mut coalescer = Coalescer::default();
        let sms = self.spec.sm.count as usize;
        for cta in first..ctas.end {
            for warp in 0..trace.launch.warps_per_cta() {
                let mut cursor = trace.warp(cta, warp)?;
                while let Some(step) = cursor.next() {
                    // They access nothing.
                    cursor.pass_plain();
                    let touch = Touch::of((trace, &step), &self.spec, None, &mut coalescer);
                    let Some(touch) = touch else { continue };
                    for block in &coalescer.blocks {
                        self.bring(block, (cta % sms) as u16, touch == Touch::Writes);
                    }
                }
            }
        }
        Ok(())
    }

    /// A block that an SM accesses is in the second-level cache now, if there is one.
    pub fn bring(&mut self, block: &Block, sm: u16, written: bool) {
        if !self.spec.has_l2() {
            return;
        }
        let (home, _) = self.map.slice(block.base);
        let near = self.map.near(home, self.partition(sm));
        let hit = near != home && !written && self.keep(block, near, false);
        if !hit {
            self.keep(block, home, written);
        }
    }

    /// A block is in a slice now. Whether it was before.
    fn keep(&mut self, block: &Block, slice: usize, written: bool) -> bool {
        let line = self.line(slice, block.base).line;
        self.slices[slice].cache.bring(line, block.mask, written)
    }
}

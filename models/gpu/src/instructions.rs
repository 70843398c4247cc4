//! What each static instruction of a launch counts on a plain GPU.
//!
//! Most of it is the same whenever an instruction issues. What becomes of its accesses behind the load-store unit is not, as others' accesses decide it too:
//! of them there is what was asked for.

use warpwatt_activity::Activity;
use warpwatt_simt::trace::{
    Addresses, Asynchronous, Beyond, KernelTrace, MemoryOp, MemoryOpKind, Space, Step, StoreError,
};

use crate::counters::{Counter, Counts, Selection};
use crate::memory::coalesce::{Coalescer, LOCAL_MASK, LocalAccess, Rules};
use crate::memory::space_of;
use crate::program::Program;
use crate::sm::{Tally, count_work};
use crate::{GpuSpec, SECTOR_BYTES, TexturePath};

/// What one static instruction caused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caused {
    /// How often it was issued.
    pub times: u64,
    /// The counters that say exactly what its issues did; others have no entry.
    pub counts: Activity,
    /// Sectors of global and local memory that it asked for.
    pub sectors_read: u64,
    /// Sectors of global and local memory that it wrote.
    pub sectors_written: u64,
    /// Accesses to constants and parameters.
    pub constants: u64,
    /// Accesses to textures beside the first-level cache.
    pub textures: u64,
}

/// What every static instruction of `trace` caused, in the order of the code.
///
/// # Errors
/// The trace cannot be read where it is kept.
pub fn caused(spec: &GpuSpec, trace: &KernelTrace) -> Result<Vec<Caused>, StoreError> {
    let program = Program::new(spec, trace, 0);
    let mut tally = Tally::default();
    tally.begin(trace.code.len(), spec.sm.warp_width);
    let mut all = vec![Caused::default(); trace.code.len()];
    let mut memory = Accesses {
        spec,
        rules: Rules::new(spec),
        coalescer: Coalescer::default(),
    };
    let mut counts = vec![Counts::new(); trace.code.len()];
    for cta in 0..trace.launch.ctas() {
        for warp in 0..trace.launch.warps_per_cta() {
            for step in trace.warp(cta, warp)? {
                tally.issue(&step);
                let index = step.inst as usize;
                let inst = &program.insts[index];
                if inst.asynchronous == Some(Asynchronous::Tensor)
                    && let Some(Beyond::Tensor(work)) = step.beyond()
                {
                    count_work(spec, inst.port, &work, &mut counts[index]);
                }
                let op = trace.code[index].memory;
                if let (Some(op), Some(addresses)) = (op, &step.addresses) {
                    memory.count((op, addresses, &step), &mut all[index], &mut counts[index]);
                }
            }
        }
    }
    let selection = Selection::new(|_| true);
    for (index, (caused, counts)) in all.iter_mut().zip(&mut counts).enumerate() {
        tally.of_one(&program, index, counts);
        let known = counts.activity(&selection);
        caused.times = counts.get(Counter::WarpInstructions);
        caused.counts = known.iter().filter(|(_, count)| *count > 0).collect();
    }
    Ok(all)
}

/// Memory instructions one after the other.
struct Accesses<'s> {
    spec: &'s GpuSpec,
    rules: Rules,
    coalescer: Coalescer,
}

impl Accesses<'_> {
    fn count(
        &mut self,
        (op, addresses, step): (MemoryOp, &Addresses, &Step),
        caused: &mut Caused,
        counts: &mut Counts,
    ) {
        let lanes = u64::from(step.executed.count_ones());
        if lanes == 0 {
            return;
        }
        match space_of(op, addresses, step.executed) {
            Space::Shared => {
                counts.add(Counter::AddressLanes, lanes);
                counts.add(
                    Counter::SharedWords,
                    lanes * u64::from(op.bytes).div_ceil(4),
                );
            }
            Space::Const | Space::Param => caused.constants += 1,
            Space::Global
                if op.kind == MemoryOpKind::Texture
                    && self.spec.texture.path == TexturePath::Own =>
            {
                caused.textures += 1;
            }
            space => {
                counts.add(Counter::AddressLanes, lanes);
                let sectors = self.sectors(space, (op, addresses, step));
                if op.kind != MemoryOpKind::Store {
                    caused.sectors_read += sectors;
                }
                if matches!(op.kind, MemoryOpKind::Store | MemoryOpKind::Atomic) {
                    caused.sectors_written += sectors;
                }
            }
        }
    }

    fn sectors(
        &mut self,
        space: Space,
        (op, addresses, step): (MemoryOp, &Addresses, &Step),
    ) -> u64 {
        let bytes = u64::from(op.bytes);
        if space == Space::Local {
            // Where a warp's memory lies plays no part: it begins at a line.
            let base = LOCAL_MASK + 1;
            let access = LocalAccess { base, bytes };
            self.coalescer
                .coalesce_local(&self.rules, addresses, step.executed, access);
        } else {
            self.coalescer
                .coalesce(&self.rules, addresses, step.executed, bytes);
        }
        let blocks = self.coalescer.blocks.iter();
        blocks.map(|block| block.bytes()).sum::<u64>() / u64::from(SECTOR_BYTES)
    }
}

//! The load-store unit: shared memory, the constant port, and global and local memory behind the network.

use warpwatt_simt::trace::{Addresses, LaneMask, MemoryOp, MemoryOpKind, Space, Step};

use super::{Sm, World};
use crate::counters::Counter;
use crate::event::Event;
use crate::memory::coalesce::{LOCAL_MASK, LocalAccess, Rules};
use crate::memory::{Request, RequestKind};
use crate::{GpuError, GpuSpec};

/// Loads and atomics whose data are on their way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Loads {
    entries: Vec<Load>,
    free: Vec<u16>,
    /// Transactions of loads, stores and atomics that have not come back.
    pub in_flight: u32,
}

#[derive(Clone, Copy, Debug)]
struct Load {
    warp: u8,
    slots: u16,
    transactions: u32,
}

impl Loads {
    fn insert(&mut self, load: Load) -> u16 {
        if let Some(index) = self.free.pop() {
            self.entries[usize::from(index)] = load;
            return index;
        }
        self.entries.push(load);
        (self.entries.len() - 1) as u16
    }

    /// One transaction has come; the warp and its regions once all have.
    fn arrived(&mut self, index: u16) -> Option<(u8, u16)> {
        self.in_flight -= 1;
        let load = &mut self.entries[usize::from(index)];
        load.transactions -= 1;
        if load.transactions > 0 {
            return None;
        }
        self.free.push(index);
        Some((load.warp, load.slots))
    }
}

/// A memory instruction at the unit.
struct Issued<'s, 't> {
    warp: u32,
    op: MemoryOp,
    addresses: &'s Addresses<'t>,
    executed: LaneMask,
    slots: u16,
    /// First cycle in the unit.
    from: u64,
    /// Cycles that the unit takes to form the addresses.
    interval: u64,
}

impl Sm<'_> {
    /// Issues a memory instruction; gives the cycle in which it has left the pipeline.
    pub(super) fn issue_memory(
        &mut self,
        warp: u32,
        step: &Step<'_>,
        slots: u16,
        now: u64,
        world: &mut World<'_>,
    ) -> Result<u64, GpuError> {
        let program = world.program;
        let inst = &program.insts[step.inst as usize];
        let dispatch = self.units.collect(program, inst, warp, now);
        self.counts
            .add(Counter::BankConflictCycles, dispatch.conflict_cycles);
        let through = dispatch.cycle + inst.latency - 1;
        let (Some(op), Some(addresses)) = (inst.memory, step.addresses.as_ref()) else {
            self.units.occupy(inst.port, dispatch.cycle, inst.interval);
            self.results_at(warp, slots, through, world)?;
            return Ok(through);
        };
        let executed = step.executed;
        let issued = Issued {
            warp,
            op,
            addresses,
            executed,
            slots,
            from: dispatch.cycle,
            interval: inst.interval,
        };
        match space(&issued) {
            Space::Shared => self.access_shared(&issued, world)?,
            Space::Const | Space::Param => self.access_constant(&issued, world)?,
            Space::Global | Space::Local | Space::Generic => self.access_memory(&issued, world)?,
        }
        Ok(through)
    }

    fn results_at(
        &mut self,
        warp: u32,
        slots: u16,
        cycle: u64,
        world: &mut World<'_>,
    ) -> Result<(), GpuError> {
        if slots != 0 {
            world.queue.schedule(
                cycle,
                Event::Release {
                    sm: self.id,
                    warp: warp as u8,
                    slots,
                },
            )?;
        }
        Ok(())
    }

    fn access_shared(
        &mut self,
        issued: &Issued<'_, '_>,
        world: &mut World<'_>,
    ) -> Result<(), GpuError> {
        let atomic = issued.op.kind == MemoryOpKind::Atomic;
        let passes = self.banks.passes(
            issued.addresses,
            issued.executed,
            u64::from(issued.op.bytes),
            atomic,
        );
        self.counts.add(Counter::SharedAccesses, 1);
        self.counts.add(Counter::SharedPasses, passes);
        let shared = &world.spec.shared;
        let pass_cycles = u64::from(shared.pass_cycles);
        self.units.occupy(
            crate::program::Port::Ldst,
            issued.from,
            issued.interval.max(passes * pass_cycles),
        );
        let extra = (passes - self.banks.fewest()) * pass_cycles;
        self.results_at(
            issued.warp,
            issued.slots,
            issued.from + u64::from(shared.latency) - 1 + extra,
            world,
        )
    }

    /// The port serves one address a cycle: lanes that agree share it.
    fn access_constant(
        &mut self,
        issued: &Issued<'_, '_>,
        world: &mut World<'_>,
    ) -> Result<(), GpuError> {
        let addresses = match issued.addresses {
            Addresses::Affine { stride: 0, .. } => 1,
            addresses => distinct(addresses, issued.executed),
        };
        self.counts.add(Counter::ConstantAccesses, 1);
        self.units.occupy(
            crate::program::Port::Ldst,
            issued.from,
            issued.interval.max(addresses),
        );
        let latency = u64::from(world.spec.constant.latency);
        self.results_at(
            issued.warp,
            issued.slots,
            issued.from + latency - 1 + (addresses - 1),
            world,
        )
    }

    fn access_memory(
        &mut self,
        issued: &Issued<'_, '_>,
        world: &mut World<'_>,
    ) -> Result<(), GpuError> {
        self.coalesce(issued, world.spec);
        let kind = match issued.op.kind {
            MemoryOpKind::Load => RequestKind::Load,
            MemoryOpKind::Store => RequestKind::Store,
            MemoryOpKind::Atomic => RequestKind::Atomic,
        };
        let transactions = self.coalescer.blocks.len() as u32;
        let mut load = u16::MAX;
        if kind != RequestKind::Store {
            load = self.loads.insert(Load {
                warp: issued.warp as u8,
                slots: issued.slots,
                transactions,
            });
        }
        self.loads.in_flight += transactions;
        self.units.occupy(
            crate::program::Port::Ldst,
            issued.from,
            issued.interval.max(u64::from(transactions)),
        );
        self.counts.add(Counter::MemoryAccesses, 1);
        for (leaves, block) in (issued.from + 1..).zip(&self.coalescer.blocks) {
            let request = Request {
                address: block.address,
                bytes: block.bytes as u16,
                sm: self.id,
                load,
                kind,
            };
            let flits = world.memory.send(leaves, request, world.queue)?;
            count_request(&mut self.counts, &request, flits);
        }
        Ok(())
    }

    fn coalesce(&mut self, issued: &Issued<'_, '_>, spec: &GpuSpec) {
        let rules = Rules {
            group: spec.ldst.coalesce_group,
            segment_bytes: u64::from(spec.ldst.segment_bytes),
            sector_bytes: u64::from(spec.ldst.sector_bytes),
            warp_width: spec.sm.warp_width,
        };
        let bytes = u64::from(issued.op.bytes);
        if space(issued) == Space::Local {
            let slot = u64::from(self.id) * u64::from(spec.warps_per_sm()) + u64::from(issued.warp);
            let base = LOCAL_BASE + slot * (LOCAL_MASK + 1) * u64::from(spec.sm.warp_width);
            self.coalescer.coalesce_local(
                &rules,
                issued.addresses,
                issued.executed,
                LocalAccess { base, bytes },
            );
        } else {
            self.coalescer
                .coalesce(&rules, issued.addresses, issued.executed, bytes);
        }
    }

    /// A reply is in the SM; whether that changed what the SM can do.
    pub fn loaded(&mut self, load: u16, now: u64, world: &mut World<'_>) -> Result<bool, GpuError> {
        self.awake |= self.loads.in_flight >= world.spec.ldst.outstanding;
        match self.loads.arrived(load) {
            Some((warp, slots)) => self.release(warp, slots, now, world),
            None => Ok(false),
        }
    }

    /// A store has reached memory.
    pub fn written(&mut self, world: &World<'_>) {
        self.awake |= self.loads.in_flight >= world.spec.ldst.outstanding;
        self.loads.in_flight -= 1;
    }
}

/// Local memory lies above everything that programs allocate.
const LOCAL_BASE: u64 = 1 << 40;

/// The space that the first executing lane accesses.
fn space(issued: &Issued<'_, '_>) -> Space {
    if issued.op.space != Space::Generic {
        return issued.op.space;
    }
    let mut first = None;
    issued.addresses.for_each(
        issued.executed & issued.executed.wrapping_neg(),
        |_, address| first = Some(address),
    );
    first.map_or(Space::Global, Space::of)
}

fn distinct(addresses: &Addresses<'_>, executed: LaneMask) -> u64 {
    let mut seen = [0; 64];
    let mut count = 0;
    addresses.for_each(executed, |_, address| {
        if !seen[..count].contains(&address) {
            seen[count] = address;
            count += 1;
        }
    });
    count.max(1) as u64
}

fn count_request(counts: &mut crate::counters::Counts, request: &Request, flits: u64) {
    let bytes = u64::from(request.bytes);
    counts.add(Counter::RequestFlits, flits);
    match request.kind {
        RequestKind::Load => {
            counts.add(Counter::LoadTransactions, 1);
            counts.add(Counter::LoadBytes, bytes);
        }
        RequestKind::Store => {
            counts.add(Counter::StoreTransactions, 1);
            counts.add(Counter::StoreBytes, bytes);
        }
        RequestKind::Atomic => {
            counts.add(Counter::AtomicTransactions, 1);
            counts.add(Counter::LoadBytes, bytes);
            counts.add(Counter::StoreBytes, bytes);
        }
    }
}

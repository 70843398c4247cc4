//! Accesses that are told to who looks for races.

use warpwatt_ptx::program::{Access, Inst, Op, SlotKind};
use warpwatt_ptx::types::Space;

use super::{Step, Warp};
use crate::memory::Memories;
use crate::races::{AccessKind, Seen};
use crate::trace::{LaneMask, lanes};

/// What a lane's bytes hold, as a number of up to 16 bytes.
type Contents = u128;

impl<const W: usize> Warp<W> {
    /// What the lanes' bytes hold before an access; `None` if nobody looks for races, or there can be none in this memory.
    #[inline]
    pub(super) fn before(
        &self,
        access: &Access,
        step: Step,
        addresses: &[u64; W],
        memories: &mut Memories<'_>,
    ) -> Option<[Contents; W]> {
        let shared = matches!(access.space, Space::Global | Space::Shared | Space::Generic);
        let watching = memories.watch.is_some() && shared;
        watching.then(|| contents(access, step, addresses, memories))
    }

    /// Tells of an access that has been performed.
    #[cold]
    pub(super) fn watched(
        &self,
        (inst, access): (&Inst, &Access),
        step: Step,
        addresses: &[u64; W],
        before: &[Contents; W],
        memories: &mut Memories<'_>,
    ) {
        let after = contents(access, step, addresses, memories);
        let lanes_where = |holds: &dyn Fn(usize) -> bool| {
            let found = lanes(step.executed).filter(|&lane| holds(lane as usize));
            found.fold(0, |mask: LaneMask, lane| mask | 1 << lane)
        };
        let kind = match inst.op {
            Op::Load(_) => AccessKind::Read,
            Op::Store(_) => AccessKind::Write,
            _ => AccessKind::Atomic,
        };
        // An atomic is taken to change what it works on: its value may be another one in another order.
        let changed = match kind {
            AccessKind::Atomic => step.executed,
            _ => lanes_where(&|lane| before[lane] != after[lane]),
        };
        let seen = Seen {
            warp: self.place.warp,
            line: inst.line,
            kind,
            space: access.space,
            executed: step.executed,
            addresses,
            bytes: access.bytes(),
            changed,
        };
        let overwritten = match kind {
            AccessKind::Write => {
                lanes_where(&|lane| self.stored(inst, access, lane) != after[lane])
            }
            _ => 0,
        };
        let device = &*memories.device;
        let Some(watch) = &mut memories.watch else {
            return;
        };
        watch.access(&seen, |address| device.place(address));
        for lane in lanes(overwritten) {
            watch.lanes_differ(&seen, lane, |address| device.place(address));
        }
    }

    /// What a lane stores.
    fn stored(&self, inst: &Inst, access: &Access, lane: usize) -> Contents {
        let bits = 8 * access.element.bytes();
        let slots = inst.src.as_slice()[1..].iter().rev();
        slots.fold(0, |all, &slot| {
            let value = match slot.kind {
                SlotKind::Double => self.registers.double(slot)[lane],
                _ => u64::from(self.registers.word(slot)[lane]),
            };
            let kept = Contents::from(value) & ((1 << bits) - 1);
            all << bits | kept
        })
    }
}

/// What the executed lanes' bytes hold; zero where they lie in no memory.
fn contents<const W: usize>(
    access: &Access,
    step: Step,
    addresses: &[u64; W],
    memories: &mut Memories<'_>,
) -> [Contents; W] {
    let count = access.bytes() as usize;
    let mut all = [0; W];
    for lane in lanes(step.executed) {
        let address = addresses[lane as usize];
        if let Some((start, bytes)) = memories.range(access.space, lane, address)
            && let Some(bytes) = bytes.get((address - start) as usize..)
            && let Some(bytes) = bytes.get(..count)
        {
            let value = bytes.iter().rev();
            all[lane as usize] = value.fold(0, |all, byte| all << 8 | Contents::from(*byte));
        }
    }
    all
}

//! Asynchronous copies, barriers in shared memory, the heap.

use warpwatt_ptx::program::{CopyAsync, CopySize, Heap, Inst, Mbarrier, MbarrierOp, MemoryOperand};
use warpwatt_ptx::types::Space;

use super::Warp;
use super::access::{Footprint, each_lane};
use crate::barrier_word::{BarrierWord, offset};
use crate::memory::{BadAccess, Memories};
use crate::trace::{Beyond, Copied, LaneMask, Piece, lanes};

/// What bulk copies move at a time.
const CHUNK: u64 = 16;

impl<const W: usize> Warp<W> {
    /// The addresses that a place names in each lane; its base is the `at`-th source.
    fn placed(&self, place: MemoryOperand, inst: &Inst, at: usize) -> [u64; W] {
        self.addresses(inst.src[at], place.offset)
    }

    /// Copies, and returns the addresses that are read.
    pub(super) fn copy_async(
        &mut self,
        how: &CopyAsync,
        inst: &Inst,
        executed: LaneMask,
        memories: &mut Memories<'_>,
    ) -> Result<[u64; W], BadAccess> {
        let from = self.placed(how.from, inst, 1);
        let to = self.placed(how.to, inst, 0);
        match how.size {
            CopySize::Bytes(4) => self.copy_few::<4>(how, inst, executed, memories)?,
            CopySize::Bytes(8) => self.copy_few::<8>(how, inst, executed, memories)?,
            CopySize::Bytes(_) => self.copy_few::<16>(how, inst, executed, memories)?,
            CopySize::Bulk(barrier) => {
                let mut copied = Copied::default();
                let mut before = None;
                let stores = how.to.space == Space::Global;
                let sizes = *self.registers.word(inst.src[2]);
                for lane in lanes(executed) {
                    let size = u64::from(sizes[lane as usize]);
                    let pair = [to, from].map(|all| all[lane as usize]);
                    // What all lanes of a warp do together, they do once.
                    if before.replace((pair, size)) == Some((pair, size)) && barrier.is_none() {
                        continue;
                    }
                    copy_bulk::<W>(how, lane, pair, size, memories)?;
                    let base = pair[usize::from(!stores)];
                    copied
                        .pieces
                        .extend((size > 0).then(|| Piece::plain(base, size)));
                    copied.bytes += size;
                    if let Some(place) = barrier {
                        let at = Footprint {
                            addresses: &self.placed(place, inst, 3),
                            executed: 1 << lane,
                            rule: None,
                        };
                        each_lane::<8, W>(place.space, &at, memories, |_, bytes| {
                            BarrierWord::change(bytes, |word| word.complete(size));
                        })?;
                        let address = at.addresses[lane as usize];
                        memories.told.complete(address, size);
                        copied.barrier = Some(offset(address));
                    }
                }
                if stores || how.from.space != Space::Shared {
                    self.beyond = Some(Beyond::Copy(copied));
                }
                if stores {
                    return Ok(to);
                }
            }
        }
        Ok(from)
    }

    fn copy_few<const N: usize>(
        &mut self,
        how: &CopyAsync,
        inst: &Inst,
        executed: LaneMask,
        memories: &mut Memories<'_>,
    ) -> Result<(), BadAccess> {
        let mut values = [[0u8; N]; W];
        let read = inst.src.as_slice().get(2);
        let read = read.map(|slot| *self.registers.word(*slot));
        let wanted = |lane: usize| read.map_or(N, |read| (read[lane] as usize).min(N));
        // Nothing is read where nothing is wanted: the address may lie outside.
        let reading = lanes(executed).filter(|&lane| wanted(lane as usize) > 0);
        let from = Footprint {
            addresses: &self.placed(how.from, inst, 1),
            executed: reading.fold(0, |mask, lane| mask | 1 << lane),
            rule: None,
        };
        each_lane::<N, W>(how.from.space, &from, memories, |lane, bytes| {
            let wanted = wanted(lane);
            values[lane][..wanted].copy_from_slice(&bytes[..wanted]);
        })?;
        let to = Footprint {
            addresses: &self.placed(how.to, inst, 0),
            executed,
            rule: None,
        };
        each_lane::<N, W>(how.to.space, &to, memories, |lane, bytes| {
            *bytes = values[lane];
        })
    }

    /// Performs the operation, lowest lane first; the addresses, and whether a lane has to wait on.
    pub(super) fn memory_barrier(
        &mut self,
        how: &Mbarrier,
        inst: &Inst,
        executed: LaneMask,
        memories: &mut Memories<'_>,
    ) -> Result<([u64; W], bool), BadAccess> {
        let addresses = self.placed(how.place, inst, 0);
        let operands = match inst.src.as_slice().get(1) {
            Some(slot) => self.registers.extended(*slot),
            None => [0; W],
        };
        let at = Footprint {
            addresses: &addresses,
            executed,
            rule: None,
        };
        let mut before = [0u64; W];
        let mut over: LaneMask = 0;
        each_lane::<8, W>(how.place.space, &at, memories, |lane, bytes| {
            let operand = operands[lane];
            let count = operand as u32;
            before[lane] = u64::from_le_bytes(*bytes);
            BarrierWord::change(bytes, |word| match how.op {
                MbarrierOp::Init => *word = BarrierWord::new(count),
                MbarrierOp::Invalidate => *word = BarrierWord::default(),
                MbarrierOp::Arrive {
                    drop,
                    expect: false,
                } => word.arrive(count, drop),
                MbarrierOp::Arrive { drop, expect: true } => {
                    word.expect(u64::from(count));
                    word.arrive(1, drop);
                }
                MbarrierOp::Expect => word.expect(u64::from(count)),
                MbarrierOp::Complete => word.complete(u64::from(count)),
                MbarrierOp::Test { parity } => {
                    let is_over = word.is_over(if parity { operand << 63 } else { operand });
                    over |= LaneMask::from(is_over) << lane;
                }
            });
        })?;
        self.tell(how, [addresses, operands], executed, over, memories);
        let Some(&slot) = inst.dst.as_slice().first() else {
            return Ok((addresses, false));
        };
        let tests = matches!(how.op, MbarrierOp::Test { .. });
        if tests {
            self.registers.set_predicate(slot, executed, over);
        } else {
            self.registers.set_double(slot, executed, &before);
        }
        Ok((addresses, tests && over & executed != executed))
    }

    /// What the record says of a barrier: who arrives, or what the phase that is over took.
    fn tell(
        &mut self,
        how: &Mbarrier,
        [addresses, operands]: [[u64; W]; 2],
        executed: LaneMask,
        over: LaneMask,
        memories: &mut Memories<'_>,
    ) {
        if executed == 0 {
            return;
        }
        let first = addresses[executed.trailing_zeros() as usize];
        self.beyond = match how.op {
            MbarrierOp::Arrive { expect, .. } => {
                let mut all = 0;
                for lane in lanes(executed) {
                    let count = if expect { 1 } else { operands[lane as usize] };
                    memories.told.arrive(addresses[lane as usize], count);
                    all += count;
                }
                Some(Beyond::Arrives(all))
            }
            MbarrierOp::Test { .. } if over == executed => {
                let [arrivals, bytes] = memories.told.so_far(first);
                Some(Beyond::Waits { arrivals, bytes })
            }
            _ => None,
        };
    }

    /// `malloc` and `free`, lowest lane first.
    pub(super) fn heap(
        &mut self,
        how: Heap,
        inst: &Inst,
        executed: LaneMask,
        memories: &mut Memories<'_>,
    ) -> Result<(), BadAccess> {
        let operands = *self.registers.double(inst.src[0]);
        let mut addresses = [0; W];
        for lane in lanes(executed) {
            let operand = operands[lane as usize];
            match how {
                Heap::Allocate => addresses[lane as usize] = memories.device.allocate(operand),
                Heap::Free => {
                    let freed = memories.device.release(operand);
                    freed.map_err(|cause| BadAccess { lane, cause })?;
                }
            }
        }
        if let Some(&slot) = inst.dst.as_slice().first() {
            self.registers.set_double(slot, executed, &addresses);
        }
        Ok(())
    }
}

fn copy_bulk<const W: usize>(
    how: &CopyAsync,
    lane: u32,
    [to, from]: [u64; 2],
    size: u64,
    memories: &mut Memories<'_>,
) -> Result<(), BadAccess> {
    for done in (0..size).step_by(CHUNK as usize) {
        let mut value = [0u8; CHUNK as usize];
        let addresses = [from.wrapping_add(done); W];
        let executed = 1 << lane;
        let at = Footprint {
            addresses: &addresses,
            executed,
            rule: None,
        };
        each_lane::<{ CHUNK as usize }, W>(how.from.space, &at, memories, |_, bytes| {
            value = *bytes
        })?;
        let addresses = [to.wrapping_add(done); W];
        let at = Footprint {
            addresses: &addresses,
            executed,
            rule: None,
        };
        each_lane::<{ CHUNK as usize }, W>(how.to.space, &at, memories, |_, bytes| *bytes = value)?;
    }
    Ok(())
}

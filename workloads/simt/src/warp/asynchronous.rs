//! Asynchronous copies, barriers in shared memory.

use warpwatt_ptx::program::{CopyAsync, CopySize, Inst, Mbarrier, MbarrierOp, MemoryOperand};
use warpwatt_ptx::types::Space;

use super::Warp;
use super::access::{Footprint, each_lane};
use super::tensor::complete;
use crate::barrier_word::{BarrierWord, offset};
use crate::memory::{BadAccess, Memories, Reached};
use crate::trace::{Beyond, Copied, LaneMask, Piece, lanes};

/// What bulk copies move at a time.
const CHUNK: u64 = 16;

impl<const W: usize> Warp<W> {
    /// The addresses that a place names in each lane; its base is the `at`-th source.
    pub(super) fn placed(&self, place: MemoryOperand, inst: &Inst, at: usize) -> [u64; W] {
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
            CopySize::Bytes { count: 4, .. } => {
                self.copy_few::<4>(how, inst, executed, memories)?
            }
            CopySize::Bytes { count: 8, .. } => {
                self.copy_few::<8>(how, inst, executed, memories)?
            }
            CopySize::Bytes { .. } => self.copy_few::<16>(how, inst, executed, memories)?,
            CopySize::Bulk(barrier) => self.copy_all(how, barrier, inst, executed, memories)?,
            CopySize::Multicast(barrier) => {
                self.copy_all(how, Some(barrier), inst, executed, memories)?;
            }
        }
        if let CopySize::Bytes { count, .. } = how.size {
            let reached = Reached {
                executed,
                addresses: &from,
                rule: None,
            };
            memories.note(how.from.space, count.into(), &reached, false);
        }
        let bulk = !matches!(how.size, CopySize::Bytes { .. });
        Ok(match bulk && how.to.space == Space::Global {
            true => to,
            false => from,
        })
    }

    /// Copies in bulk, lowest lane first.
    fn copy_all(
        &mut self,
        how: &CopyAsync,
        barrier: Option<MemoryOperand>,
        inst: &Inst,
        executed: LaneMask,
        memories: &mut Memories<'_>,
    ) -> Result<(), BadAccess> {
        let [to, from] = [(how.to, 0), (how.from, 1)].map(|(it, at)| self.placed(it, inst, at));
        let told = barrier.map(|place| (place.space, self.placed(place, inst, 3)));
        let sizes = *self.registers.word(inst.src[2]);
        let masks = match how.size {
            CopySize::Multicast(_) => Some(*self.registers.word(inst.src[4])),
            _ => None,
        };
        let stores = how.to.space == Space::Global;
        // What does not leave the SMs is done at once in traces, too.
        let leaves = stores || how.from.space != Space::Shared;
        let mut copied = Copied::default();
        let mut before = None;
        for lane in lanes(executed) {
            let size = u64::from(sizes[lane as usize]);
            let pair = [to, from].map(|all| all[lane as usize]);
            // What all lanes of a warp do together, they do once.
            if before.replace((pair, size)) == Some((pair, size)) && told.is_none() {
                continue;
            }
            let mask = masks.map(|masks| masks[lane as usize]);
            let place = told.map_or(0, |(_, at)| at[lane as usize]);
            for [to, barrier] in receivers([pair[0], place], mask, memories) {
                copy_bulk::<W>(how, lane, [to, pair[1]], size, memories)?;
                if let Some((space, _)) = told {
                    complete::<W>((space, barrier), lane, size, memories)?;
                    if leaves && memories.is_own(barrier) {
                        memories.told.complete(barrier, size);
                        copied.barrier = Some(offset(barrier));
                    }
                }
            }
            let base = pair[usize::from(!stores)];
            let piece = || Piece::plain(base, size);
            copied.pieces.extend((size > 0).then(piece));
            copied.bytes += size;
        }
        if leaves {
            self.beyond = Some(Beyond::Copy(copied));
        }
        Ok(())
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
        let mut recorded = addresses;
        if executed != 0 {
            let first = executed.trailing_zeros() as usize;
            recorded[first] = first_own(&addresses, executed, memories);
        }
        let addresses = recorded;
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
        let first = first_own(&addresses, executed, memories);
        self.beyond = match how.op {
            MbarrierOp::Arrive { expect, .. } => {
                let mut all = 0;
                for lane in lanes(executed).filter(|&lane| addresses[lane as usize] == first) {
                    all += if expect { 1 } else { operands[lane as usize] };
                }
                let own = memories.is_own(first);
                if own {
                    memories.told.arrive(first, all);
                }
                own.then_some(Beyond::Arrives(all))
            }
            MbarrierOp::Test { .. } if over == executed => {
                let [arrivals, bytes] = memories.told.so_far(first);
                Some(Beyond::Waits { arrivals, bytes })
            }
            _ => None,
        };
    }
}

/// The barrier that a record tells of, by its address: the first that is the CTA's own, or else the first.
fn first_own<const W: usize>(
    addresses: &[u64; W],
    executed: LaneMask,
    memories: &Memories<'_>,
) -> u64 {
    let mut own = lanes(executed).map(|lane| addresses[lane as usize]);
    let own = own.find(|&address| memories.is_own(address));
    own.unwrap_or(addresses[executed.trailing_zeros() as usize])
}

/// The CTAs that a mask names.
fn ranks(mask: u32) -> impl Iterator<Item = u64> {
    (0..16).filter(move |rank| mask >> rank & 1 != 0)
}

/// Where a copy goes and whom it tells: what the instruction names, or the same places in each CTA of a list.
pub(super) fn receivers(
    [to, barrier]: [u64; 2],
    mask: Option<u32>,
    memories: &Memories<'_>,
) -> Vec<[u64; 2]> {
    let in_cta = |rank| [to, barrier].map(|address| memories.in_cta(address, rank));
    match mask {
        None => vec![[to, barrier]],
        Some(mask) => ranks(mask).map(in_cta).collect(),
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

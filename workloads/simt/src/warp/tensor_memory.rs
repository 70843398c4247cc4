//! Tensor memory: what is allocated, copied from shared memory and shifted, and the barriers that are told when that is done. All of it is done at once, which every
//! wait for it allows.

use warpwatt_ptx::program::{
    Inst, MemoryOperand, TENSOR_LANES, TensorCopyLanes, TensorCopyShape, TensorMemoryOp, WARPGROUP,
};

use super::access::{Footprint, each_lane};
use super::asynchronous::receivers;
use super::shared_matrix::{Layout, SharedMatrix};
use super::{Step, Warp};
use crate::barrier_word::BarrierWord;
use crate::error::Cause;
use crate::memory::{BadAccess, Memories};
use crate::tensor_memory::{Place, TensorMemory};
use crate::trace::{Beyond, LaneMask, TensorWork, lanes};

/// Columns that are shifted.
const SHIFTED: u32 = 8;

impl<const W: usize> Warp<W> {
    /// Performs and records the operation; whether it was done, and does not wait for columns that others have to free.
    pub(super) fn in_tensor_memory(
        &mut self,
        how: &TensorMemoryOp,
        inst: &Inst,
        step: Step,
        memories: &mut Memories<'_>,
    ) -> Result<bool, BadAccess> {
        let executed = step.executed;
        let lane = executed.trailing_zeros();
        let fault = |why| BadAccess {
            lane,
            cause: Cause::TensorMemory(why),
        };
        let word = |at: usize| self.registers.word(inst.src[at])[lane as usize];
        let mut addresses = [0; W];
        let mut tells = true;
        match *how {
            TensorMemoryOp::Allocate(to) => {
                Self::all_execute(executed)?;
                let columns = word(1);
                let Some(first) = memories.own_tensor().allocate(columns).map_err(fault)? else {
                    return Ok(false);
                };
                addresses = self.placed(to, inst, 0);
                let at = Footprint {
                    addresses: &addresses,
                    executed: 1,
                    rule: None,
                };
                each_lane::<4, W>(to.space, &at, memories, |_, bytes| {
                    *bytes = first.to_le_bytes();
                })?;
            }
            TensorMemoryOp::Free => {
                Self::all_execute(executed)?;
                memories
                    .own_tensor()
                    .free(word(0), word(1))
                    .map_err(fault)?;
                tells = false;
            }
            TensorMemoryOp::Relinquish => {
                Self::all_execute(executed)?;
                memories.own_tensor().relinquish();
                tells = false;
            }
            TensorMemoryOp::Copy {
                offset,
                shape,
                pair,
            } => self.copy_rows(shape, (offset, pair), inst, executed, memories)?,
            TensorMemoryOp::Shift { offset, pair } => {
                self.shift((offset, pair), inst, executed, memories)?;
            }
            TensorMemoryOp::Commit { barrier, multicast } => {
                addresses = self.commit(barrier, multicast, inst, executed, memories)?;
            }
        }
        self.changes += 1;
        match tells {
            true => self.note_access(step, &addresses),
            false => self.note(step),
        }
        Ok(true)
    }

    /// An instruction that could not be executed has not been: it comes again.
    pub(super) fn take_back(&mut self, step: Step) {
        self.counts.warp_instructions -= 1;
        self.counts.thread_instructions -= u64::from(step.active.count_ones());
        self.dropped += 1;
        self.stack.go(step.at);
    }

    /// `tcgen05.cp` of each lane that executes it.
    fn copy_rows(
        &mut self,
        shape: TensorCopyShape,
        (offset, pair): (i32, bool),
        inst: &Inst,
        executed: LaneMask,
        memories: &mut Memories<'_>,
    ) -> Result<(), BadAccess> {
        let mut work = TensorWork {
            pair,
            ..TensorWork::default()
        };
        let (rows, row_bytes) = (usize::from(shape.rows), usize::from(shape.bytes));
        for lane in lanes(executed) {
            let fault = |cause| BadAccess { lane, cause };
            let bad = |why| fault(Cause::TensorMemory(why));
            let descriptor = self.registers.double(inst.src[1])[lane as usize];
            let source = SharedMatrix {
                layout: Layout::of_tensor(descriptor).map_err(bad)?,
                size: 1,
                row_bytes,
                transposed: false,
                packed: None,
            };
            let at = Place::of(self.registers.word(inst.src[0])[lane as usize], offset);
            for rank in memories.group(pair).map_err(fault)? {
                let bytes = source.rows(0..rows, rank, memories).map_err(fault)?;
                let rows = bytes.chunks_exact(row_bytes);
                let to = &mut memories.tensor[rank];
                copy_to_lanes(shape, rows, at, to).map_err(bad)?;
                work.shared_bytes += bytes.len() as u64;
            }
        }
        self.beyond = Some(Beyond::Tensor(work));
        Ok(())
    }

    /// `tcgen05.shift.down`: each lane of a warp's but the last gets what the one behind it has.
    fn shift(
        &mut self,
        (offset, pair): (i32, bool),
        inst: &Inst,
        executed: LaneMask,
        memories: &mut Memories<'_>,
    ) -> Result<(), BadAccess> {
        for lane in lanes(executed) {
            let fault = |cause| BadAccess { lane, cause };
            let bad = |why| fault(Cause::TensorMemory(why));
            let at = Place::of(self.registers.word(inst.src[0])[lane as usize], offset);
            let own = TENSOR_LANES / WARPGROUP;
            if !at.lane.is_multiple_of(own) {
                return Err(bad(format!(
                    "lanes are shifted from a multiple of {own} on"
                )));
            }
            for rank in memories.group(pair).map_err(fault)? {
                let memory = &mut memories.tensor[rank];
                for lane in at.lane..at.lane + own - 1 {
                    let behind = Place {
                        lane: lane + 1,
                        ..at
                    };
                    let words = memory.row(behind, SHIFTED).map_err(bad)?.to_vec();
                    let place = Place { lane, ..at };
                    let row = memory.row(place, SHIFTED).map_err(bad)?;
                    row.copy_from_slice(&words);
                }
            }
        }
        self.beyond = Some(Beyond::Tensor(TensorWork {
            pair,
            ..TensorWork::default()
        }));
        Ok(())
    }

    /// `tcgen05.commit` of each lane that executes it; the addresses of the barriers.
    fn commit(
        &mut self,
        barrier: MemoryOperand,
        multicast: bool,
        inst: &Inst,
        executed: LaneMask,
        memories: &mut Memories<'_>,
    ) -> Result<[u64; W], BadAccess> {
        let mut addresses = self.placed(barrier, inst, 0);
        let masks = multicast.then(|| *self.registers.word(inst.src[1]));
        let mut told: Option<(u64, u64)> = None;
        for lane in lanes(executed) {
            let mask = masks.map(|masks| masks[lane as usize]);
            let named = addresses[lane as usize];
            for [_, place] in receivers([named; 2], mask, memories) {
                let at = Footprint {
                    addresses: &[place; W],
                    executed: 1 << lane,
                    rule: None,
                };
                each_lane::<8, W>(barrier.space, &at, memories, |_, bytes| {
                    BarrierWord::change(bytes, |word| word.arrive(1, false));
                })?;
                if memories.is_own(place) {
                    memories.told.arrive(place, 1);
                    let (first, count) = told.get_or_insert((place, 0));
                    *count += u64::from(*first == place);
                }
            }
        }
        if let Some(watch) = &mut memories.watch {
            watch.mbarrier(self.place.warp);
        }
        if let Some((place, count)) = told {
            addresses[executed.trailing_zeros() as usize] = place;
            self.beyond = Some(Beyond::Arrives(count));
        }
        Ok(addresses)
    }
}

/// Writes rows to the lanes that they go to.
fn copy_to_lanes<'r>(
    shape: TensorCopyShape,
    rows: impl Iterator<Item = &'r [u8]>,
    at: Place,
    memory: &mut TensorMemory,
) -> Result<(), String> {
    for (row, bytes) in rows.enumerate() {
        for lane in receiving(shape, row as u32) {
            let place = Place {
                lane: at.lane + lane,
                column: at.column,
            };
            let words = memory.row(place, u32::from(shape.bytes) / 4)?.iter_mut();
            for (word, bytes) in words.zip(bytes.as_chunks().0) {
                *word = u32::from_le_bytes(*bytes);
            }
        }
    }
    Ok(())
}

/// The lanes that a row goes to, from the first on.
fn receiving(shape: TensorCopyShape, row: u32) -> Vec<u32> {
    let own = TENSOR_LANES / WARPGROUP;
    match shape.to {
        TensorCopyLanes::Repeated => (row..TENSOR_LANES)
            .step_by(usize::from(shape.rows))
            .collect(),
        TensorCopyLanes::Halves => {
            let first = row / own * 2 * own + row % own;
            vec![first, first + own]
        }
        TensorCopyLanes::OneEach => vec![row * own],
    }
}

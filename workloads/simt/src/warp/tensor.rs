//! Copies of tiles between tensors and shared memory. They are done at once, which every wait for them allows.

use warpwatt_ptx::program::Access;
use warpwatt_ptx::program::{
    Atomic, AtomicOp, BulkReduce, Inst, Matrix, MemoryOperand, ReplaceTensorMap, SlotKind,
    TENSOR_MAP_BYTES, TensorCopy, TensorWay,
};
use warpwatt_ptx::types::{Space, Type};

use super::Warp;
use super::access::{Footprint, combine, each_lane};
use super::asynchronous::receivers;
use crate::barrier_word::{BarrierWord, offset};
use crate::error::Cause;
use crate::memory::{BadAccess, Memories};
use crate::tensor_map::{TensorMap, replace};
use crate::tile::{Row, Tile};
use crate::trace::{Beyond, Copied, LaneMask, Piece, lanes};

const MAP: usize = TENSOR_MAP_BYTES as usize;

impl<const W: usize> Warp<W> {
    /// Moves a tile for each lane that executes; the addresses of the tiles' first elements in global memory.
    pub(super) fn tensor_copy(
        &mut self,
        how: &TensorCopy,
        matrix: &Matrix,
        inst: &Inst,
        executed: LaneMask,
        memories: &mut Memories<'_>,
    ) -> Result<[u64; W], BadAccess> {
        let maps = self.addresses(inst.src[0], how.map.offset);
        let place = |at: usize, place: MemoryOperand| self.addresses(inst.src[at], place.offset);
        let shared = match how.way {
            TensorWay::Prefetch => [0; W],
            _ => place(1, how.shared),
        };
        let mut firsts = [0; W];
        let mut copied = Copied::default();
        for lane in lanes(executed) {
            let at = lane as usize;
            let number = |slot: usize| self.registers.word(matrix.src[slot])[at];
            let fault = |cause| BadAccess { lane, cause };
            let map = read_map(how.map.space, lane, maps[at], memories).map_err(fault)?;
            let coordinates = (0..usize::from(how.rank)).map(number);
            let offsets = usize::from(how.rank)..usize::from(how.rank + how.offsets.unwrap_or(0));
            let tile = Tile::new(
                map,
                how.offsets.is_some(),
                coordinates.map(|coordinate| i64::from(coordinate as i32)),
                offsets.map(|slot| i64::from(number(slot) as u16)),
            );
            let tile = tile.map_err(|why| fault(Cause::TensorMap(why)))?;
            firsts[at] = tile.first();
            let (space, told) = match how.way {
                TensorWay::Load(barrier) => (Some(barrier.space), place(2, barrier)[at]),
                _ => (None, 0),
            };
            let mask = how.multicast.then(|| number(matrix.src.len() - 1));
            for [to, barrier] in receivers([shared[at], told], mask, memories) {
                self.move_tile(how, &tile, lane, to, memories)?;
                if let Some(space) = space {
                    complete::<W>((space, barrier), lane, tile.bytes(), memories)?;
                    if memories.is_own(barrier) {
                        memories.told.complete(barrier, tile.bytes());
                        copied.barrier = Some(offset(barrier));
                    }
                }
            }
            copied.bytes += tile.bytes();
            copied.pieces.extend(tile.told());
        }
        self.beyond = Some(Beyond::Copy(copied));
        Ok(firsts)
    }

    fn move_tile(
        &self,
        how: &TensorCopy,
        tile: &Tile,
        lane: u32,
        shared: u64,
        memories: &mut Memories<'_>,
    ) -> Result<(), BadAccess> {
        let fault = |cause| BadAccess { lane, cause };
        let mut bytes = vec![0; tile.row_bytes()];
        for (number, row) in tile.rows().enumerate() {
            let at = shared + (number * tile.row_bytes()) as u64;
            match how.way {
                TensorWay::Prefetch => {}
                TensorWay::Load(_) => {
                    tile.fill(&mut bytes);
                    load_row(tile, &row, &mut bytes, memories).map_err(fault)?;
                    tile.exchanged(at, |from, address| {
                        write(Space::Shared, address, &bytes[from], memories)
                    })
                    .map_err(fault)?;
                }
                TensorWay::Store | TensorWay::Reduce(_) => {
                    let copy = &mut bytes;
                    tile.exchanged(at, |to, address| {
                        read(Space::Shared, address, &mut copy[to], memories)
                    })
                    .map_err(fault)?;
                    let op = match how.way {
                        TensorWay::Reduce(op) => Some(op),
                        _ => None,
                    };
                    store_row(tile, &row, op, &bytes, memories).map_err(fault)?;
                }
            }
        }
        Ok(())
    }

    /// `cp.reduce.async.bulk`: the addresses that it changes first.
    pub(super) fn bulk_reduce(
        &mut self,
        how: &BulkReduce,
        inst: &Inst,
        executed: LaneMask,
        memories: &mut Memories<'_>,
    ) -> Result<[u64; W], BadAccess> {
        let to = self.addresses(inst.src[0], how.to.offset);
        let from = self.addresses(inst.src[1], how.from.offset);
        let sizes = *self.registers.word(inst.src[2]);
        let mut copied = Copied::default();
        for lane in lanes(executed) {
            let at = lane as usize;
            let fault = |cause| BadAccess { lane, cause };
            let size = sizes[at] as usize;
            if size as u64 > Space::WINDOW {
                return Err(fault(memories.explain(how.from.space, from[at], 16)));
            }
            let mut bytes = vec![0; size];
            read(how.from.space, from[at], &mut bytes, memories).map_err(fault)?;
            let place = (how.to.space, to[at]);
            reduce(how.op, how.element, place, &bytes, memories).map_err(fault)?;
            if let Some(barrier) = how.barrier {
                let address = self.addresses(inst.src[3], barrier.offset)[at];
                complete::<W>((barrier.space, address), lane, size as u64, memories)?;
            }
            copied.bytes += size as u64;
            let piece = || Piece::plain(to[at], size as u64);
            copied.pieces.extend((size > 0).then(piece));
        }
        if how.to.space == Space::Global {
            self.beyond = Some(Beyond::Copy(copied));
        }
        Ok(to)
    }

    /// `tensormap.replace`.
    pub(super) fn replace_tensor_map(
        &mut self,
        how: &ReplaceTensorMap,
        inst: &Inst,
        executed: LaneMask,
        memories: &mut Memories<'_>,
    ) -> Result<[u64; W], BadAccess> {
        let places = self.addresses(inst.src[0], how.place.offset);
        let values = match inst.src[1].kind {
            SlotKind::Double => *self.registers.double(inst.src[1]),
            _ => self.registers.extended(inst.src[1]),
        };
        for lane in lanes(executed) {
            let (address, value) = (places[lane as usize], values[lane as usize]);
            let cause = memories.explain(how.place.space, address, TENSOR_MAP_BYTES as u32);
            let found = memories.range(how.place.space, lane, address);
            let map = found.and_then(|(start, range)| {
                let range = range.get_mut(address.checked_sub(start)? as usize..)?;
                range.first_chunk_mut::<MAP>()
            });
            let map = map.ok_or(BadAccess { lane, cause })?;
            replace(map, how.field, value);
        }
        Ok(places)
    }
}

/// So many bytes have come: the barrier is told.
pub(super) fn complete<const W: usize>(
    (space, address): (Space, u64),
    lane: u32,
    bytes: u64,
    memories: &mut Memories<'_>,
) -> Result<(), BadAccess> {
    let at = Footprint {
        addresses: &[address; W],
        executed: 1 << lane,
        rule: None,
    };
    each_lane::<8, W>(space, &at, memories, |_, word| {
        BarrierWord::change(word, |word| word.complete(bytes));
    })
}

fn read_map(
    space: Space,
    lane: u32,
    address: u64,
    memories: &mut Memories<'_>,
) -> Result<TensorMap, Cause> {
    if !address.is_multiple_of(64) {
        return Err(memories.explain(space, address, 64));
    }
    let cause = memories.explain(space, address, 1);
    let found = memories.range(space, lane, address);
    let bytes = found.and_then(|(start, range)| {
        let range = range.get(address.checked_sub(start)? as usize..)?;
        range.first_chunk::<MAP>()
    });
    TensorMap::of(bytes.ok_or(cause)?).map_err(Cause::TensorMap)
}

/// What of a row lies inside the tensor, from global memory.
fn load_row(
    tile: &Tile,
    row: &Row,
    bytes: &mut [u8],
    memories: &mut Memories<'_>,
) -> Result<(), Cause> {
    tile.pieces(row, |place, address| {
        read(Space::Global, address, &mut bytes[place], memories)
    })
}

fn store_row(
    tile: &Tile,
    row: &Row,
    op: Option<AtomicOp>,
    bytes: &[u8],
    memories: &mut Memories<'_>,
) -> Result<(), Cause> {
    tile.pieces(row, |place, address| match op {
        None => write(Space::Global, address, &bytes[place], memories),
        Some(op) => {
            let to = (Space::Global, address);
            reduce(op, tile.element(), to, &bytes[place], memories)
        }
    })
}

/// The bytes that lie one behind the other, to be read or changed.
fn bytes<'m>(
    space: Space,
    address: u64,
    size: usize,
    memories: &'m mut Memories<'_>,
) -> Result<&'m mut [u8], Cause> {
    let cause = memories.explain(space, address, 1);
    let found = memories
        .range(space, 0, address)
        .and_then(|(start, range)| {
            let start = usize::try_from(address.checked_sub(start)?).ok()?;
            range.get_mut(start..start.checked_add(size)?)
        });
    found.ok_or(cause)
}

fn read(
    space: Space,
    address: u64,
    to: &mut [u8],
    memories: &mut Memories<'_>,
) -> Result<(), Cause> {
    to.copy_from_slice(bytes(space, address, to.len(), memories)?);
    Ok(())
}

fn write(
    space: Space,
    address: u64,
    from: &[u8],
    memories: &mut Memories<'_>,
) -> Result<(), Cause> {
    bytes(space, address, from.len(), memories)?.copy_from_slice(from);
    Ok(())
}

/// Combines elements one by one.
fn reduce(
    op: AtomicOp,
    element: Type,
    (space, address): (Space, u64),
    from: &[u8],
    memories: &mut Memories<'_>,
) -> Result<(), Cause> {
    let size = element.bytes() as usize;
    let atomic = Atomic {
        op,
        access: Access::of(space, element),
    };
    let number = |bytes: &[u8]| {
        let all = bytes.iter().rev();
        all.fold(0u64, |number, &byte| number << 8 | u64::from(byte))
    };
    let to = bytes(space, address, from.len(), memories)?;
    for (old, value) in to.chunks_exact_mut(size).zip(from.chunks_exact(size)) {
        let new = combine(&atomic, number(old), number(value), 0);
        old.copy_from_slice(&new.to_le_bytes()[..size]);
    }
    Ok(())
}

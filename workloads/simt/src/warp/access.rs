//! Loads, stores and atomics of a warp.

use warpwatt_ptx::program::{Access, Atomic, AtomicOp, Inst, Op, Slot, SlotKind};
use warpwatt_ptx::types::{Space, Type};

use super::Warp;
use crate::error::Cause;
use crate::memory::{BadAccess, Memories};
use crate::trace::{LaneMask, lanes};

impl<const W: usize> Warp<W> {
    /// Performs the access of each executed lane, lowest lane first, and returns the addresses.
    pub(super) fn access(
        &mut self,
        inst: &Inst,
        executed: LaneMask,
        memories: &mut Memories<'_>,
    ) -> Result<[u64; W], BadAccess> {
        let (access, addresses) = match &inst.op {
            Op::Load(access) | Op::Store(access) | Op::Atomic(Atomic { access, .. }) => {
                (access, self.addresses(inst.src[0], access.offset))
            }
            other => unreachable!("{other:?} accesses no memory"),
        };
        match &inst.op {
            Op::Load(_) => self.load(access, inst, executed, (&addresses, memories))?,
            Op::Store(_) => self.store(access, inst, executed, (&addresses, memories))?,
            Op::Atomic(atomic) => self.atomic(*atomic, inst, executed, (&addresses, memories))?,
            _ => {}
        }
        Ok(addresses)
    }

    fn addresses(&self, base: Slot, offset: i64) -> [u64; W] {
        match base.kind {
            SlotKind::Double => self
                .registers
                .double(base)
                .map(|base| base.wrapping_add_signed(offset)),
            _ => self
                .registers
                .word(base)
                .map(|base| u64::from(base.wrapping_add(offset as u32))),
        }
    }

    fn load(
        &mut self,
        access: &Access,
        inst: &Inst,
        executed: LaneMask,
        (addresses, memories): (&[u64; W], &mut Memories<'_>),
    ) -> Result<(), BadAccess> {
        let size = access.element.bytes() as usize;
        let signed = access.element.is_signed();
        let mut values = [[0u64; W]; 4];
        let count = usize::from(access.count);
        each_lane(access, executed, addresses, memories, |lane, bytes| {
            for (at, chunk) in bytes.chunks_exact(size).enumerate() {
                values[at][lane] = read(chunk, signed);
            }
        })?;
        for (slot, values) in inst.dst.as_slice().iter().zip(&values[..count]) {
            match slot.kind {
                SlotKind::Double => self.registers.set_double(*slot, executed, values),
                _ => {
                    let words = values.map(|value| value as u32);
                    self.registers.set_word(*slot, executed, &words);
                }
            }
        }
        Ok(())
    }

    fn store(
        &mut self,
        access: &Access,
        inst: &Inst,
        executed: LaneMask,
        (addresses, memories): (&[u64; W], &mut Memories<'_>),
    ) -> Result<(), BadAccess> {
        read_only(access, executed, addresses)?;
        let size = access.element.bytes() as usize;
        let registers = &self.registers;
        let slots = &inst.src.as_slice()[1..];
        each_lane(access, executed, addresses, memories, |lane, bytes| {
            for (slot, chunk) in slots.iter().zip(bytes.chunks_exact_mut(size)) {
                let value = match slot.kind {
                    SlotKind::Double => registers.double(*slot)[lane],
                    _ => u64::from(registers.word(*slot)[lane]),
                };
                chunk.copy_from_slice(&value.to_le_bytes()[..size]);
            }
        })
    }

    fn atomic(
        &mut self,
        atomic: Atomic,
        inst: &Inst,
        executed: LaneMask,
        (addresses, memories): (&[u64; W], &mut Memories<'_>),
    ) -> Result<(), BadAccess> {
        let access = &atomic.access;
        read_only(access, executed, addresses)?;
        let registers = &self.registers;
        let operand = |at: usize, lane: usize| match inst.src.as_slice().get(at) {
            None => 0,
            Some(slot) if slot.kind == SlotKind::Double => registers.double(*slot)[lane],
            Some(slot) => u64::from(registers.word(*slot)[lane]),
        };
        let mut before = [0u64; W];
        each_lane(access, executed, addresses, memories, |lane, bytes| {
            let old = read(bytes, false);
            let new = combine(&atomic, old, operand(1, lane), operand(2, lane));
            let size = bytes.len();
            bytes.copy_from_slice(&new.to_le_bytes()[..size]);
            before[lane] = old;
        })?;
        if let Some(slot) = inst.dst.as_slice().first() {
            match slot.kind {
                SlotKind::Double => self.registers.set_double(*slot, executed, &before),
                _ => {
                    let words = before.map(|value| value as u32);
                    self.registers.set_word(*slot, executed, &words);
                }
            }
        }
        Ok(())
    }
}

/// Calls `each` with the bytes that every executed lane accesses. Neighbouring lanes mostly share a range, so it is looked up
/// again only when a lane leaves it.
#[inline(always)]
fn each_lane(
    access: &Access,
    executed: LaneMask,
    addresses: &[u64],
    memories: &mut Memories<'_>,
    mut each: impl FnMut(usize, &mut [u8]),
) -> Result<(), BadAccess> {
    let bytes = access.bytes() as usize;
    let per_lane = matches!(access.space, Space::Local | Space::Generic);
    let mut left = executed;
    while left != 0 {
        let first = left.trailing_zeros();
        let bad = |lane: u32, memories: &Memories<'_>| BadAccess {
            lane,
            cause: memories.explain(access.space, addresses[lane as usize], bytes as u32),
        };
        let address = addresses[first as usize];
        let Some((start, range)) = memories.range(access.space, first, address) else {
            return Err(bad(first, memories));
        };
        let mut done = 0;
        let mut failed = None;
        for lane in lanes(left) {
            let address = addresses[lane as usize];
            let offset = address.wrapping_sub(start) as usize;
            let aligned = address & (bytes as u64 - 1) == 0;
            match range.get_mut(offset..offset.wrapping_add(bytes)) {
                Some(bytes) if aligned => each(lane as usize, bytes),
                _ if lane == first || !aligned => {
                    failed = Some(lane);
                    break;
                }
                // Another buffer, perhaps.
                _ => break,
            }
            done |= 1 << lane;
            if per_lane {
                break;
            }
        }
        if let Some(lane) = failed {
            return Err(bad(lane, memories));
        }
        left &= !done;
    }
    Ok(())
}

/// Stores through a generic address may not reach constants and parameters.
fn read_only(access: &Access, executed: LaneMask, addresses: &[u64]) -> Result<(), BadAccess> {
    if access.space != Space::Generic {
        return Ok(());
    }
    for lane in lanes(executed) {
        let space = Space::of(addresses[lane as usize]);
        if matches!(space, Space::Const | Space::Param) {
            let cause = Cause::ReadOnly { space };
            return Err(BadAccess { lane, cause });
        }
    }
    Ok(())
}

#[inline(always)]
fn read(bytes: &[u8], signed: bool) -> u64 {
    match *bytes {
        [a] if signed => a as i8 as u64,
        [a] => u64::from(a),
        [a, b] if signed => i16::from_le_bytes([a, b]) as u64,
        [a, b] => u64::from(u16::from_le_bytes([a, b])),
        [a, b, c, d] if signed => i32::from_le_bytes([a, b, c, d]) as u64,
        [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => 0,
    }
}

fn combine(atomic: &Atomic, old: u64, value: u64, swap: u64) -> u64 {
    let element = atomic.access.element;
    let signed = |bits: u64| match element.bytes() {
        4 => i64::from(bits as i32),
        _ => bits as i64,
    };
    match (atomic.op, element) {
        (AtomicOp::Add, Type::F32) => {
            let sum = f32::from_bits(old as u32) + f32::from_bits(value as u32);
            u64::from(sum.to_bits())
        }
        (AtomicOp::Add, Type::F64) => (f64::from_bits(old) + f64::from_bits(value)).to_bits(),
        (AtomicOp::Add, _) => old.wrapping_add(value),
        (AtomicOp::Min, _) if element.is_signed() => signed(old).min(signed(value)) as u64,
        (AtomicOp::Max, _) if element.is_signed() => signed(old).max(signed(value)) as u64,
        (AtomicOp::Min, _) => old.min(value),
        (AtomicOp::Max, _) => old.max(value),
        (AtomicOp::And, _) => old & value,
        (AtomicOp::Or, _) => old | value,
        (AtomicOp::Xor, _) => old ^ value,
        (AtomicOp::Exch, _) => value,
        (AtomicOp::Cas, _) => {
            if old == value {
                swap
            } else {
                old
            }
        }
        (AtomicOp::Inc, _) => {
            if old >= value {
                0
            } else {
                old + 1
            }
        }
        (AtomicOp::Dec, _) => {
            if old == 0 || old > value {
                value
            } else {
                old - 1
            }
        }
    }
}

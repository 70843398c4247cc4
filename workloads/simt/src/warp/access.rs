//! Loads, stores and atomics of a warp.

use warpwatt_ptx::program::{
    Access, Atomic, AtomicOp, Float, Half, HalfFormat, HalfOp, Inst, Op, Slot, SlotKind,
};
use warpwatt_ptx::types::{Space, Type};

use super::{Step, Warp};
use crate::error::Cause;
use crate::lanes::{add_singles, map1, quiet};
use crate::memory::{BadAccess, Memories, Reached};
use crate::span::{Reach, Span};
use crate::trace::{Affine, LaneMask, lanes};

/// The addresses of a warp's lanes, and which lanes access them.
pub(super) struct Footprint<'a, const W: usize> {
    pub addresses: &'a [u64; W],
    pub executed: LaneMask,
    /// The rule that the executed lanes' addresses follow, if one is known.
    pub rule: Option<Affine>,
}

impl<const W: usize> Footprint<'_, W> {
    /// The memory that the lanes reach, if they all reach it and at a common distance.
    fn span<'m>(
        &self,
        space: Space,
        bytes: usize,
        memories: &'m mut Memories<'_>,
    ) -> Option<Span<'m>> {
        let reach = Reach {
            executed: self.executed,
            rule: self.rule?,
            bytes,
        };
        memories.span(space, reach)
    }

    /// The first executed lane and how many there are, if they are neighbours.
    fn neighbours(&self) -> Option<(usize, usize)> {
        let first = self.executed.trailing_zeros();
        let ones = self.executed >> first;
        let count = (!ones).trailing_zeros();
        let alone = count == LaneMask::BITS || ones >> count == 0;
        alone.then_some((first as usize, count as usize))
    }
}

impl<const W: usize> Warp<W> {
    /// Performs and records the access of each executed lane, lowest lane first.
    pub(super) fn access(
        &mut self,
        inst: &Inst,
        step: Step,
        memories: &mut Memories<'_>,
    ) -> Result<(), BadAccess> {
        let Step {
            at,
            active,
            executed,
        } = step;
        if executed == 0 {
            self.note(step);
            return Ok(());
        }
        let (Op::Load(access) | Op::Store(access) | Op::Atomic(Atomic { access, .. })) = &inst.op
        else {
            unreachable!("{:?} accesses no memory", inst.op)
        };
        let framed;
        let (access, base) = if access.framed {
            // Parameters of functions lie in their frames too, whatever space names them.
            framed = Access {
                space: Space::Local,
                ..*access
            };
            (&framed, self.frame_base() as i64)
        } else {
            (access, 0)
        };
        let addresses = self.addresses(inst.src[0], access.offset + base);
        let rule = Affine::of(executed, &addresses);
        let footprint = |executed, rule| Footprint {
            addresses: &addresses,
            executed,
            rule,
        };
        let before = self.before(access, step, &addresses, memories);
        let parts = match rule {
            None => Affine::of_sixteens(executed, &addresses),
            Some(_) => None,
        };
        match parts {
            None => self.perform(inst, access, &footprint(executed, rule), memories)?,
            Some(parts) => {
                for (lanes, rule) in parts {
                    self.perform(inst, access, &footprint(lanes, Some(rule)), memories)?;
                }
            }
        }
        let written = !matches!(inst.op, Op::Load(_));
        let reached = Reached {
            executed,
            addresses: &addresses,
            rule,
        };
        memories.note(access.space, access.bytes(), &reached, written);
        if let Some(before) = before {
            self.watched((inst, access), step, &addresses, &before, memories);
        }
        if self.record {
            match rule {
                Some(rule) => self.recorder.affine(at, active, executed, rule),
                None => self.recorder.scattered(at, active, executed, &addresses),
            }
        }
        Ok(())
    }

    fn perform(
        &mut self,
        inst: &Inst,
        access: &Access,
        at: &Footprint<'_, W>,
        memories: &mut Memories<'_>,
    ) -> Result<(), BadAccess> {
        match &inst.op {
            Op::Load(_) => match (access.count, access.element.bytes()) {
                (1, 1) => self.load_one::<1>(access, inst, at, memories),
                (1, 2) => self.load_one::<2>(access, inst, at, memories),
                (1, 4) => self.load_one::<4>(access, inst, at, memories),
                (1, 8) => self.load_one::<8>(access, inst, at, memories),
                (_, 8) => self.load_vector::<16, 8>(access, inst, at, memories),
                (2, 4) => self.load_vector::<8, 4>(access, inst, at, memories),
                (4, 4) => self.load_vector::<16, 4>(access, inst, at, memories),
                (2, 2) => self.load_vector::<4, 2>(access, inst, at, memories),
                (4, 2) => self.load_vector::<8, 2>(access, inst, at, memories),
                (2, 1) => self.load_vector::<2, 1>(access, inst, at, memories),
                _ => self.load_vector::<4, 1>(access, inst, at, memories),
            },
            Op::Atomic(atomic) => match access.bytes() {
                2 => self.atomic::<2>(*atomic, inst, at, memories),
                8 if access.count > 1 => self.atomic_vector::<8>(*atomic, inst, at, memories),
                16 => self.atomic_vector::<16>(*atomic, inst, at, memories),
                4 if access.count > 1 => self.atomic_vector::<4>(*atomic, inst, at, memories),
                4 => self.atomic::<4>(*atomic, inst, at, memories),
                _ => self.atomic::<8>(*atomic, inst, at, memories),
            },
            _ => match access.bytes() {
                1 => self.store::<1>(access, inst, at, memories),
                2 => self.store::<2>(access, inst, at, memories),
                4 => self.store::<4>(access, inst, at, memories),
                8 => self.store::<8>(access, inst, at, memories),
                _ => self.store::<16>(access, inst, at, memories),
            },
        }
    }

    #[inline(always)]
    pub(super) fn addresses(&self, base: Slot, offset: i64) -> [u64; W] {
        match base.kind {
            SlotKind::Double => map1(self.registers.double(base), |base| {
                base.wrapping_add_signed(offset)
            }),
            _ => map1(self.registers.word(base), |base| {
                u64::from(base.wrapping_add(offset as u32))
            }),
        }
    }

    /// Loads one element of `N` bytes a lane.
    fn load_one<const N: usize>(
        &mut self,
        access: &Access,
        inst: &Inst,
        at: &Footprint<'_, W>,
        memories: &mut Memories<'_>,
    ) -> Result<(), BadAccess> {
        let signed = access.element.is_signed();
        let slot = inst.dst[0];
        if let Some(mut span) = at.span(access.space, N, memories) {
            self.load_span::<N, N>(&[slot], signed, at, &mut span);
            return Ok(());
        }
        if slot.kind == SlotKind::Word {
            let mut values = [0u32; W];
            each_lane::<N, W>(access.space, at, memories, |lane, bytes| {
                values[lane] = extend(bytes, signed) as u32;
            })?;
            self.registers.set_word(slot, at.executed, &values);
        } else {
            let mut values = [0u64; W];
            each_lane::<N, W>(access.space, at, memories, |lane, bytes| {
                values[lane] = extend(bytes, signed);
            })?;
            self.registers.set_double(slot, at.executed, &values);
        }
        Ok(())
    }

    /// Loads a vector of `N` bytes in all, `S` an element.
    fn load_vector<const N: usize, const S: usize>(
        &mut self,
        access: &Access,
        inst: &Inst,
        at: &Footprint<'_, W>,
        memories: &mut Memories<'_>,
    ) -> Result<(), BadAccess> {
        let signed = access.element.is_signed();
        if let Some(mut span) = at.span(access.space, N, memories) {
            self.load_span::<N, S>(inst.dst.as_slice(), signed, at, &mut span);
            return Ok(());
        }
        let mut values = [[0u64; W]; 4];
        each_lane::<N, W>(access.space, at, memories, |lane, bytes| {
            for (element, chunk) in values.iter_mut().zip(bytes.chunks_exact(S)) {
                element[lane] = extend(chunk, signed);
            }
        })?;
        for (slot, values) in inst.dst.as_slice().iter().zip(&values) {
            self.registers.set_extended(*slot, at.executed, values);
        }
        Ok(())
    }

    /// Loads elements of `S` bytes from lanes' `N` at a common distance, a register an element.
    #[inline(always)]
    fn load_span<const N: usize, const S: usize>(
        &mut self,
        slots: &[Slot],
        signed: bool,
        at: &Footprint<'_, W>,
        span: &mut Span<'_>,
    ) {
        let neighbours = at.neighbours();
        let row = neighbours
            .and_then(|(first, count)| Some((first, count, span.row::<N>(first, count)?)));
        if let Some((first, count, row)) = row {
            for (number, &slot) in slots.iter().enumerate() {
                let element = |bytes: &[u8; N]| extend(&bytes[number * S..][..S], signed);
                self.registers
                    .load(slot, first, count, |lane| element(&row[lane]));
            }
            return;
        }
        for (number, &slot) in slots.iter().enumerate() {
            let element =
                |lane: usize| extend(&span.bytes[span.at(lane) + number * S..][..S], signed);
            if span.is_uniform() {
                let value = element(at.executed.trailing_zeros() as usize);
                self.registers.splat(slot, at.executed, value);
            } else {
                let mut values = [0u64; W];
                for lane in lanes(at.executed) {
                    values[lane as usize] = element(lane as usize);
                }
                self.registers.set_extended(slot, at.executed, &values);
            }
        }
    }

    /// Stores `N` bytes a lane, from one register or several.
    fn store<const N: usize>(
        &mut self,
        access: &Access,
        inst: &Inst,
        at: &Footprint<'_, W>,
        memories: &mut Memories<'_>,
    ) -> Result<(), BadAccess> {
        read_only(access, at)?;
        let registers = &self.registers;
        let slots = &inst.src.as_slice()[1..];
        let value = |slot: Slot, lane: usize| match slot.kind {
            SlotKind::Double => registers.double(slot)[lane],
            _ => u64::from(registers.word(slot)[lane]),
        };
        if let [slot] = *slots {
            let span = at.span(access.space, N, memories);
            if let (Some(mut span), Some((first, count))) = (span, at.neighbours())
                && let Some(row) = span.row::<N>(first, count)
            {
                registers.store(slot, first, row);
                return Ok(());
            }
            return each_lane::<N, W>(access.space, at, memories, |lane, bytes| {
                bytes.copy_from_slice(&value(slot, lane).to_le_bytes()[..N]);
            });
        }
        let size = access.element.bytes() as usize;
        each_lane::<N, W>(access.space, at, memories, |lane, bytes| {
            for (slot, chunk) in slots.iter().zip(bytes.chunks_exact_mut(size)) {
                chunk.copy_from_slice(&value(*slot, lane).to_le_bytes()[..size]);
            }
        })
    }

    fn atomic<const N: usize>(
        &mut self,
        atomic: Atomic,
        inst: &Inst,
        at: &Footprint<'_, W>,
        memories: &mut Memories<'_>,
    ) -> Result<(), BadAccess> {
        read_only(&atomic.access, at)?;
        let registers = &self.registers;
        let operand = |at: usize, lane: usize| match inst.src.as_slice().get(at) {
            None => 0,
            Some(slot) if slot.kind == SlotKind::Double => registers.double(*slot)[lane],
            Some(slot) => u64::from(registers.word(*slot)[lane]),
        };
        let mut before = [0u64; W];
        let mut changes = false;
        each_lane::<N, W>(atomic.access.space, at, memories, |lane, bytes| {
            let old = extend(bytes, false);
            let (value, swap) = (operand(1, lane), operand(2, lane));
            let new = combine_at(&atomic, at.addresses[lane], old, value, swap);
            bytes.copy_from_slice(&new.to_le_bytes()[..N]);
            changes |= extend(bytes, false) != old;
            before[lane] = old;
        })?;
        self.changes += u64::from(changes);
        // It may be a lock that others have.
        self.loops.attentive |= !changes;
        if let Some(slot) = inst.dst.as_slice().first() {
            self.registers.set_extended(*slot, at.executed, &before);
        }
        Ok(())
    }
}

impl<const W: usize> Warp<W> {
    /// An atomic on each element of vectors of `N` bytes.
    fn atomic_vector<const N: usize>(
        &mut self,
        atomic: Atomic,
        inst: &Inst,
        at: &Footprint<'_, W>,
        memories: &mut Memories<'_>,
    ) -> Result<(), BadAccess> {
        read_only(&atomic.access, at)?;
        let size = atomic.access.element.bytes() as usize;
        self.changes += 1;
        let registers = &self.registers;
        let operand = |number: usize, lane: usize| registers.word(inst.src[1 + number])[lane];
        let mut before = [[0u32; W]; 4];
        each_lane::<N, W>(atomic.access.space, at, memories, |lane, bytes| {
            for (number, chunk) in bytes.chunks_exact_mut(size).enumerate() {
                let old = extend(chunk, false);
                let value = u64::from(operand(number, lane));
                let new = combine_at(&atomic, at.addresses[lane], old, value, 0);
                chunk.copy_from_slice(&new.to_le_bytes()[..size]);
                before[number][lane] = old as u32;
            }
        })?;
        for (slot, values) in inst.dst.as_slice().iter().zip(&before) {
            self.registers.set_word(*slot, at.executed, values);
        }
        Ok(())
    }
}

/// Calls `each` with the `N` bytes that every executed lane accesses, lowest lane first. Where they lie at a common distance they are
/// looked up once; else neighbouring lanes mostly share a range, so it is looked up again only when a lane leaves it.
#[inline(always)]
pub(super) fn each_lane<const N: usize, const W: usize>(
    space: Space,
    at: &Footprint<'_, W>,
    memories: &mut Memories<'_>,
    mut each: impl FnMut(usize, &mut [u8; N]),
) -> Result<(), BadAccess> {
    if let Some(span) = at.span(space, N, memories) {
        for lane in lanes(at.executed) {
            let start = span.at(lane as usize);
            if let Some(bytes) = span.bytes[start..].first_chunk_mut() {
                each(lane as usize, bytes);
            }
        }
        return Ok(());
    }
    let mut left = at.executed;
    while left != 0 {
        let first = left.trailing_zeros();
        let found = memories.range(space, first, at.addresses[first as usize]);
        let Some((start, range)) = found else {
            return Err(bad(space, at, first, N, memories));
        };
        // A lane's local memory is its own.
        let sharing = match space {
            Space::Local => 1 << first,
            Space::Generic if Space::of(at.addresses[first as usize]) == Space::Local => 1 << first,
            _ => left,
        };
        let mut stopped = None;
        for lane in lanes(sharing) {
            let address = at.addresses[lane as usize];
            let offset = address.wrapping_sub(start) as usize;
            let bytes = range
                .get_mut(offset..)
                .and_then(<[u8]>::first_chunk_mut::<N>);
            match bytes {
                Some(bytes) if address & (N as u64 - 1) == 0 => each(lane as usize, bytes),
                _ => {
                    stopped = Some(lane);
                    break;
                }
            }
        }
        left &= match stopped {
            None => !sharing,
            // This lane's address lies in another range, perhaps: but not if it was to decide the range itself.
            Some(lane) if lane != first && at.addresses[lane as usize] & (N as u64 - 1) == 0 => {
                LaneMask::MAX << lane
            }
            Some(lane) => return Err(bad(space, at, lane, N, memories)),
        };
    }
    Ok(())
}

#[cold]
fn bad<const W: usize>(
    space: Space,
    at: &Footprint<'_, W>,
    lane: u32,
    bytes: usize,
    memories: &Memories<'_>,
) -> BadAccess {
    BadAccess {
        lane,
        cause: memories.explain(space, at.addresses[lane as usize], bytes as u32),
    }
}

/// Stores through a generic address may not reach constants and parameters.
fn read_only<const W: usize>(access: &Access, at: &Footprint<'_, W>) -> Result<(), BadAccess> {
    if access.space != Space::Generic {
        return Ok(());
    }
    for lane in lanes(at.executed) {
        let space = Space::of(at.addresses[lane as usize]);
        if matches!(space, Space::Const | Space::Param) {
            let cause = Cause::ReadOnly { space };
            return Err(BadAccess { lane, cause });
        }
    }
    Ok(())
}

/// A little-endian number, extended to 64 bits.
#[inline(always)]
fn extend(bytes: &[u8], signed: bool) -> u64 {
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

/// The sum of singles in a space that keeps subnormal numbers, or flushes them.
fn add_singles_at(flush: bool, old: u64, value: u64) -> u64 {
    let [old, value] = [old, value].map(|bits| f32::from_bits(bits as u32));
    let float = Float {
        flush,
        ..Float::PLAIN
    };
    u64::from(add_singles(old, value, float).to_bits())
}

/// A NaN that comes is what remains, then one that is there.
fn add_doubles(old: u64, value: u64) -> u64 {
    let nan = [value, old]
        .into_iter()
        .find(|&bits| f64::from_bits(bits).is_nan());
    nan.unwrap_or_else(|| (f64::from_bits(old) + f64::from_bits(value)).to_bits())
}

/// As [`combine`], where a lane's atomic is: sums of singles in global memory flush subnormal numbers, those in shared memory do not (PTX ISA 8.x, section
/// 9.7.13.5); in shared memory a NaN that is there comes first, and becomes quiet (measured on an H100).
fn combine_at(atomic: &Atomic, address: u64, old: u64, value: u64, swap: u64) -> u64 {
    let space = match atomic.access.space {
        Space::Generic => Space::of(address),
        named => named,
    };
    match (atomic.op, atomic.access.element, space) {
        (AtomicOp::Add, Type::F32, Space::Global) => add_singles_at(true, old, value),
        (AtomicOp::Add, Type::F64, Space::Shared) => quiet(f64::from_bits(add_doubles(value, old))),
        _ => combine(atomic, old, value, swap),
    }
}

pub(super) fn combine(atomic: &Atomic, old: u64, value: u64, swap: u64) -> u64 {
    let element = atomic.access.element;
    let signed = |bits: u64| match element.bytes() {
        4 => i64::from(bits as i32),
        _ => bits as i64,
    };
    match (atomic.op, element) {
        (AtomicOp::Add, Type::F32) => add_singles_at(false, old, value),
        (AtomicOp::Add, Type::F64) => add_doubles(old, value),
        (op, element) if element.is_half() => combine_halves(op, element, old, value, swap),
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

/// Atomics on halves and pairs of them, which keep their subnormals.
fn combine_halves(op: AtomicOp, element: Type, old: u64, value: u64, swap: u64) -> u64 {
    let op = match op {
        AtomicOp::Add => HalfOp::Add,
        AtomicOp::Min => HalfOp::Min { nan: false },
        AtomicOp::Max => HalfOp::Max { nan: false },
        _ => return if old == value { swap } else { old },
    };
    let how = Half {
        op,
        format: match element {
            Type::F16 | Type::F16x2 => HalfFormat::F16,
            _ => HalfFormat::Bf16,
        },
        packed: element.bytes() == 4,
        flush: false,
        saturate: false,
        relu: false,
    };
    let [result] = crate::lanes::half(&how, &[&[old as u32], &[value as u32]]);
    u64::from(result)
}

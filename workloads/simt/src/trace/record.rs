//! The byte encoding of a warp's steps.
//!
//! A record is one header byte and what the header announces. Most instructions follow their predecessor with the same
//! lanes and take one byte; memory instructions add a base and a stride, or one difference a lane where there is no stride.

use std::fmt;
use std::sync::Arc;

use super::beyond::Beyond;
use super::{Affine, LaneMask};
use crate::lanes::gathered;

/// Header bits.
const JUMP: u8 = 1 << 0;
const NEW_MASK: u8 = 1 << 1;
const GUARDED: u8 = 1 << 2;
const ADDRESSES: u8 = 0b11 << 3;
const UNIFORM: u8 = 0b01 << 3;
const AFFINE: u8 = 0b10 << 3;
const SCATTERED: u8 = 0b11 << 3;
/// Only on instructions without addresses.
const VALUES: u8 = 1 << 5;

/// The first byte of scattered addresses: how far their differences are shifted, and whether each comes with a count.
const MAX_SHIFT: u8 = 0b111;
const RUNS: u8 = 1 << 3;
/// In place of both: all lanes have the first address, and what follows tells [more](Beyond).
const BEYOND: u8 = 1 << 4;

/// One dynamic warp instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Index of the static instruction.
    pub inst: u32,
    /// Lanes on the current control-flow path.
    pub active: LaneMask,
    /// Active lanes whose guard predicate lets them execute.
    pub executed: LaneMask,
    /// Addresses of the executed lanes, on memory instructions. Barriers other than [`BarrierUse::PLAIN`] have one that tells which they are.
    pub addresses: Option<Addresses>,
    /// On computations of a whole warp, if values were recorded and all lanes have the same operands: a digest of these, literals and special registers among
    /// them.
    pub values: Option<u32>,
}

/// What a warp does at a barrier of its CTA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierUse {
    /// Which barrier.
    pub number: u8,
    /// Threads that it is for, in whole warps; all that have not exited, if there is no number.
    pub threads: Option<u32>,
    /// Whether the warp waits there; if not, it announces itself and goes on (`bar.arrive`).
    pub waits: bool,
}

impl BarrierUse {
    /// What nearly every barrier is (`bar.sync 0`, `__syncthreads`); its record has nothing beyond the instruction.
    pub const PLAIN: Self = Self {
        number: 0,
        threads: None,
        waits: true,
    };

    /// As the one address of a record: bits 0 to 7 number the barrier, bit 8 tells who goes on, the bits from 9 on are one more than the threads, if
    /// there is a number.
    pub(crate) fn address(self) -> u64 {
        let threads = self.threads.map_or(0, |threads| u64::from(threads) + 1);
        u64::from(self.number) | u64::from(!self.waits) << 8 | threads << 9
    }

    fn of(address: u64) -> Self {
        let threads = (address >> 9).checked_sub(1);
        Self {
            number: address as u8,
            threads: threads.map(|threads| u32::try_from(threads).unwrap_or(u32::MAX)),
            waits: address >> 8 & 1 == 0,
        }
    }
}

impl Step {
    /// An instruction that all `lanes` on the path execute, with nothing else to tell.
    #[inline]
    pub fn plain(inst: u32, lanes: LaneMask) -> Self {
        Self {
            inst,
            active: lanes,
            executed: lanes,
            addresses: None,
            values: None,
        }
    }

    /// What the record of an asynchronous instruction tells beyond an address.
    pub fn beyond(&self) -> Option<Beyond> {
        self.addresses.as_ref()?.beyond()
    }

    /// What the warp does, if the instruction is a barrier.
    pub fn barrier(&self) -> BarrierUse {
        match self.addresses {
            Some(Addresses::Affine { base, .. }) => BarrierUse::of(base),
            _ => BarrierUse::PLAIN,
        }
    }
}

/// Addresses of a memory instruction's executed lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// The k-th lane of the warp accesses `base + k * stride`; `base` is lane 0's address whether or not it executes.
    Affine {
        /// Address of lane 0.
        base: u64,
        /// Bytes between neighbouring lanes; zero if all lanes access one address.
        stride: i64,
    },
    /// One address an executed lane.
    Scattered(Scattered),
}

/// Addresses without a common stride, still encoded.
#[derive(Clone)]
pub struct Scattered {
    first: u64,
    /// The records of the warp; one owner more costs less than the differences of a copy.
    records: Arc<[u8]>,
    /// Where in them the differences begin, with their length.
    at: usize,
}

impl PartialEq for Scattered {
    fn eq(&self, other: &Self) -> bool {
        (self.first, self.deltas()) == (other.first, other.deltas())
    }
}

impl Eq for Scattered {}

impl fmt::Debug for Scattered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Scattered");
        let shown = shown.field("first", &self.first);
        shown.field("deltas", &self.deltas()).finish()
    }
}

impl Addresses {
    /// What the record tells beyond an address.
    pub fn beyond(&self) -> Option<Beyond> {
        match self {
            Addresses::Scattered(scattered) => match scattered.deltas().split_first()? {
                (&shape, rest) if shape & BEYOND != 0 => Beyond::read(rest),
                _ => None,
            },
            Addresses::Affine { .. } => None,
        }
    }

    /// The first address.
    pub fn first(&self) -> u64 {
        match self {
            Addresses::Affine { base, .. } => *base,
            Addresses::Scattered(scattered) => scattered.first,
        }
    }

    /// Calls `each(lane, address)` for every lane in `executed`, lowest first.
    #[inline]
    pub fn for_each(&self, executed: LaneMask, mut each: impl FnMut(u32, u64)) {
        match self {
            &Addresses::Affine { base, stride } => {
                for lane in lanes(executed) {
                    each(
                        lane,
                        base.wrapping_add_signed(stride.wrapping_mul(i64::from(lane))),
                    );
                }
            }
            Addresses::Scattered(scattered) => scattered.for_each(executed, each),
        }
    }
}

impl Scattered {
    fn deltas(&self) -> &[u8] {
        let mut reader = Reader {
            bytes: &self.records[self.at..],
        };
        reader.prefixed().unwrap_or_default()
    }

    /// The first lane's address, then one difference a lane.
    fn for_each(&self, executed: LaneMask, mut each: impl FnMut(u32, u64)) {
        let _ = self.try_for_each(executed, &mut each);
    }

    /// As `for_each`; `None` if the differences end before the lanes do.
    #[inline]
    fn try_for_each(&self, executed: LaneMask, mut each: impl FnMut(u32, u64)) -> Option<()> {
        let mut reader = Reader {
            bytes: self.deltas(),
        };
        let shape = reader.unsigned()? as u8;
        if shape & BEYOND != 0 {
            lanes(executed).for_each(|lane| each(lane, self.first));
            return Some(());
        }
        let shift = shape & MAX_SHIFT;
        let mut address = self.first;
        let mut delta = 0;
        let mut same = 0u64;
        for (at, lane) in lanes(executed).enumerate() {
            if at > 0 {
                if same == 0 {
                    delta = reader.signed()? << shift;
                    same = if shape & RUNS == 0 {
                        1
                    } else {
                        reader.unsigned()?
                    };
                }
                same = same.checked_sub(1)?;
                address = address.wrapping_add_signed(delta);
            }
            each(lane, address);
        }
        Some(())
    }

    /// Whether there is an address for each executed lane, and nothing else.
    pub(super) fn fits(&self, executed: LaneMask) -> bool {
        if let Some((&shape, rest)) = self.deltas().split_first()
            && shape & BEYOND != 0
        {
            return Beyond::read(rest).is_some();
        }
        self.count() == Some(u64::from(executed.count_ones()))
    }

    /// How many lanes have an address; `None` if the differences are cut short, or a run is empty.
    fn count(&self) -> Option<u64> {
        let mut reader = Reader {
            bytes: self.deltas(),
        };
        let runs = reader.unsigned()? as u8 & RUNS != 0;
        let mut count = 1u64;
        while !reader.bytes.is_empty() {
            reader.unsigned()?;
            let same = if runs { reader.unsigned()? } else { 1 };
            count = count.checked_add(same).filter(|_| same > 0)?;
        }
        Some(count)
    }
}

/// The lanes of a mask, lowest first.
pub fn lanes(mut mask: LaneMask) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let lane = mask.trailing_zeros();
        mask &= mask - 1;
        Some(lane)
    })
}

/// Writes the steps of one warp.
#[derive(Clone, Debug, Default)]
pub struct WarpRecorder {
    bytes: Vec<u8>,
    /// Differences of scattered addresses, while they are encoded.
    scratch: Vec<u8>,
    steps: u32,
    context: Context,
}

/// What a record is encoded against.
#[derive(Clone, Copy, Debug, Default)]
struct Context {
    next_inst: u32,
    active: LaneMask,
    base: u64,
}

/// A place in a warp's records.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    bytes: usize,
    steps: u32,
    context: Context,
}

impl WarpRecorder {
    /// Forgets everything, keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.steps = 0;
        self.context = Context::default();
    }

    /// Where it stands.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            bytes: self.bytes.len(),
            steps: self.steps,
            context: self.context,
        }
    }

    /// Forgets what was recorded since `mark` was taken.
    pub(crate) fn rewind(&mut self, mark: &Mark) {
        self.bytes.truncate(mark.bytes);
        self.steps = mark.steps;
        self.context = mark.context;
    }

    /// The encoded records.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How many steps were recorded.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// Records an instruction that accesses no memory.
    #[inline]
    pub fn step(&mut self, inst: u32, active: LaneMask, executed: LaneMask) {
        let context = &mut self.context;
        if inst == context.next_inst && active == context.active && executed == active {
            self.bytes.push(0);
            context.next_inst += 1;
            self.steps += 1;
        } else {
            self.head(inst, active, executed, 0);
        }
    }

    /// Records a computation with a digest of its operands, if all lanes have the same.
    pub fn computed(
        &mut self,
        inst: u32,
        active: LaneMask,
        executed: LaneMask,
        values: Option<u32>,
    ) {
        match values {
            None => self.step(inst, active, executed),
            Some(digest) => {
                self.head(inst, active, executed, VALUES);
                self.bytes.extend(digest.to_le_bytes());
            }
        }
    }

    /// Records a memory instruction; `addresses[k]` is the address of lane `k` and is read for executed lanes only. Where no lane
    /// executes, the record carries no address.
    pub fn access(&mut self, inst: u32, active: LaneMask, executed: LaneMask, addresses: &[u64]) {
        if executed == 0 {
            return self.step(inst, active, executed);
        }
        match Affine::of_some(executed, addresses) {
            Some(rule) => self.affine(inst, active, executed, rule),
            None => {
                let mut all = [0; LaneMask::BITS as usize];
                all[..addresses.len()].copy_from_slice(addresses);
                self.scattered(inst, active, executed, &all);
            }
        }
    }

    /// Records an asynchronous instruction with the first address of its executed lanes.
    pub fn asynchronous(
        &mut self,
        inst: u32,
        active: LaneMask,
        executed: LaneMask,
        first: u64,
        beyond: &Beyond,
    ) {
        self.head(inst, active, executed, SCATTERED);
        self.base(first);
        self.scratch.clear();
        self.scratch.push(BEYOND);
        beyond.write(&mut self.scratch);
        write_unsigned(&mut self.bytes, self.scratch.len() as u64);
        self.bytes.extend_from_slice(&self.scratch);
    }

    /// Records a barrier that all active lanes reach.
    pub fn barrier(&mut self, inst: u32, active: LaneMask, at: BarrierUse) {
        if at == BarrierUse::PLAIN {
            return self.step(inst, active, active);
        }
        let rule = Affine {
            base: at.address(),
            stride: 0,
        };
        self.affine(inst, active, active, rule);
    }

    /// Records a memory instruction whose executed lanes' addresses follow a rule.
    pub(crate) fn affine(
        &mut self,
        inst: u32,
        active: LaneMask,
        executed: LaneMask,
        Affine { base, stride }: Affine,
    ) {
        let kind = if stride == 0 { UNIFORM } else { AFFINE };
        self.head(inst, active, executed, kind);
        self.base(base);
        if stride != 0 {
            write_signed(&mut self.bytes, stride);
        }
    }

    /// Records a memory instruction whose executed lanes' addresses follow no rule.
    pub(crate) fn scattered<const W: usize>(
        &mut self,
        inst: u32,
        active: LaneMask,
        executed: LaneMask,
        addresses: &[u64; W],
    ) {
        self.head(inst, active, executed, SCATTERED);
        let first = addresses[executed.trailing_zeros() as usize];
        self.base(first);
        self.deltas(executed, addresses);
    }

    /// Records what was read from a record, as instruction `inst`.
    pub fn again(&mut self, step: &Step, inst: u32) {
        let (active, executed) = (step.active, step.executed);
        match &step.addresses {
            None => self.computed(inst, active, executed, step.values),
            &Some(Addresses::Affine { base, stride }) => {
                self.affine(inst, active, executed, Affine { base, stride });
            }
            Some(Addresses::Scattered(scattered)) => {
                let deltas = scattered.deltas();
                self.head(inst, active, executed, SCATTERED);
                self.base(scattered.first);
                write_unsigned(&mut self.bytes, deltas.len() as u64);
                self.bytes.extend_from_slice(deltas);
            }
        }
    }

    #[inline(never)]
    fn head(&mut self, inst: u32, active: LaneMask, executed: LaneMask, kind: u8) {
        let context = &mut self.context;
        let jump = inst != context.next_inst;
        let new_mask = active != context.active;
        let guarded = executed != active;
        self.bytes.push(
            kind | (u8::from(jump) * JUMP)
                | (u8::from(new_mask) * NEW_MASK)
                | (u8::from(guarded) * GUARDED),
        );
        if jump {
            let delta = i64::from(inst) - i64::from(context.next_inst);
            write_signed(&mut self.bytes, delta);
        }
        if new_mask {
            write_unsigned(&mut self.bytes, active ^ context.active);
        }
        if guarded {
            write_unsigned(&mut self.bytes, executed);
        }
        context.next_inst = inst + 1;
        context.active = active;
        self.steps += 1;
    }

    fn base(&mut self, base: u64) {
        write_signed(&mut self.bytes, base.wrapping_sub(self.context.base) as i64);
        self.context.base = base;
    }

    /// Differences between neighbours, as runs where that is shorter; length-prefixed, so that a reader may skip them.
    fn deltas<const W: usize>(&mut self, executed: LaneMask, addresses: &[u64; W]) {
        let deltas = Deltas::of(executed, addresses);
        let shift = deltas.shift();
        let changes = deltas.changes();
        let as_runs = 2 * (changes.count_ones() as usize + 1) <= deltas.count;
        self.scratch.clear();
        self.scratch.push(shift | if as_runs { RUNS } else { 0 });
        if as_runs {
            let mut start = 0;
            for end in lanes(changes).chain([deltas.count as u32]) {
                let delta = deltas.between[start as usize];
                write_signed(&mut self.scratch, delta >> shift);
                write_unsigned(&mut self.scratch, u64::from(end - start));
                start = end;
            }
        } else {
            for delta in &deltas.between[..deltas.count] {
                write_signed(&mut self.scratch, delta >> shift);
            }
        }
        write_unsigned(&mut self.bytes, self.scratch.len() as u64);
        self.bytes.extend_from_slice(&self.scratch);
    }
}

/// Differences between the addresses of neighbouring executed lanes.
struct Deltas<const W: usize> {
    /// The first `count` count, the others are zero.
    between: [i64; W],
    count: usize,
}

impl<const W: usize> Deltas<W> {
    fn of(executed: LaneMask, addresses: &[u64; W]) -> Self {
        let mut between = [0; W];
        if executed.count_zeros() == LaneMask::BITS - W as u32 {
            for (delta, pair) in between.iter_mut().zip(addresses.windows(2)) {
                *delta = pair[1].wrapping_sub(pair[0]) as i64;
            }
            return Self {
                between,
                count: W - 1,
            };
        }
        let mut count = 0;
        let mut previous = addresses[executed.trailing_zeros() as usize];
        for lane in lanes(executed & (executed - 1)) {
            let address = addresses[lane as usize];
            between[count] = address.wrapping_sub(previous) as i64;
            previous = address;
            count += 1;
        }
        Self { between, count }
    }

    /// How many lower bits none of them has.
    fn shift(&self) -> u8 {
        let bits = self.between.iter().fold(0, |bits, delta| bits | delta);
        bits.trailing_zeros().min(u32::from(MAX_SHIFT)) as u8
    }

    /// Which differ from the one before.
    fn changes(&self) -> LaneMask {
        let differs: [u8; W] = std::array::from_fn(|at| {
            let before = self.between[at.saturating_sub(1)];
            u8::from(self.between[at] != before)
        });
        gathered(&differs) & ((1 << self.count) - 1)
    }
}

/// Reads the steps of one warp, whose records it has for itself. Bytes that no recorder wrote end the steps early; they do no harm.
#[derive(Clone, Debug)]
pub struct WarpCursor {
    records: Arc<[u8]>,
    /// Bytes that were read.
    at: usize,
    context: Context,
}

impl WarpCursor {
    pub(super) fn new(records: impl Into<Arc<[u8]>>) -> Self {
        Self {
            records: records.into(),
            at: 0,
            context: Context::default(),
        }
    }

    /// Whether all bytes were read.
    pub(super) fn at_end(&self) -> bool {
        self.left() == 0
    }

    /// Passes over the [plain](Step::plain) steps that follow the last one: the next instruction each, on the same lanes. How many they are, [`u8::MAX`] at the most.
    #[inline]
    pub fn pass_plain(&mut self) -> u8 {
        let bytes = &self.records[self.at..];
        let bytes = &bytes[..bytes.len().min(u8::MAX.into())];
        let mut count = 0;
        while let Some(eight) = bytes[count..].first_chunk() {
            let plain = u64::from_le_bytes(*eight).trailing_zeros() as usize / 8;
            count += plain;
            if plain < 8 {
                break;
            }
        }
        let rest = bytes[count..].iter().take_while(|&&header| header == 0);
        count += rest.count();
        let count = count as u8;
        self.at += usize::from(count);
        self.context.next_inst = self.context.next_inst.wrapping_add(count.into());
        count
    }

    /// The lanes on the path of the last step.
    #[inline]
    pub fn active(&self) -> LaneMask {
        self.context.active
    }

    /// Bytes of the record that are left: how far a warp is from its end, without counting its instructions.
    pub fn left(&self) -> usize {
        self.records.len() - self.at
    }
}

impl Iterator for WarpCursor {
    type Item = Step;

    #[inline]
    fn next(&mut self) -> Option<Step> {
        let mut reader = Reader {
            bytes: &self.records[self.at..],
        };
        let step = self.context.step(&mut reader, &self.records);
        self.at = self.records.len() - reader.bytes.len();
        step
    }
}

impl Context {
    /// The step whose record comes next in the records of a warp.
    #[inline]
    fn step(&mut self, reader: &mut Reader<'_>, records: &Arc<[u8]>) -> Option<Step> {
        let (&header, rest) = reader.bytes.split_first()?;
        reader.bytes = rest;
        let mut inst = self.next_inst;
        if header & JUMP != 0 {
            inst = i64::from(inst).wrapping_add(reader.signed()?) as u32;
        }
        if header & NEW_MASK != 0 {
            self.active ^= reader.unsigned()?;
        }
        let active = self.active;
        let executed = if header & GUARDED != 0 {
            reader.unsigned()?
        } else {
            active
        };
        self.next_inst = inst.wrapping_add(1);
        let addresses = match header & ADDRESSES {
            0 => None,
            kind => Some(self.addresses(kind, reader, records)?),
        };
        let values = if header & VALUES != 0 {
            Some(reader.word()?)
        } else {
            None
        };
        Some(Step {
            inst,
            active,
            executed,
            addresses,
            values,
        })
    }

    fn addresses(
        &mut self,
        kind: u8,
        reader: &mut Reader<'_>,
        records: &Arc<[u8]>,
    ) -> Option<Addresses> {
        let distance = reader.signed()?;
        let base = self.base.wrapping_add_signed(distance);
        self.base = base;
        Some(match kind {
            UNIFORM => Addresses::Affine { base, stride: 0 },
            AFFINE => Addresses::Affine {
                base,
                stride: reader.signed()?,
            },
            _ => {
                let at = records.len() - reader.bytes.len();
                reader.prefixed()?;
                Addresses::Scattered(Scattered {
                    first: base,
                    records: Arc::clone(records),
                    at,
                })
            }
        })
    }
}

/// Little-endian base-128 numbers; `None` where the bytes hold none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'t> {
    pub bytes: &'t [u8],
}

impl<'t> Reader<'t> {
    /// Bytes behind their number.
    #[inline]
    fn prefixed(&mut self) -> Option<&'t [u8]> {
        let length = usize::try_from(self.unsigned()?).ok()?;
        let (bytes, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(bytes)
    }

    fn word(&mut self) -> Option<u32> {
        let (word, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(u32::from_le_bytes(*word))
    }

    #[inline]
    pub fn unsigned(&mut self) -> Option<u64> {
        let mut value = 0;
        let mut shift = 0;
        loop {
            let (&byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            if shift >= u64::BITS {
                return None;
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
            shift += 7;
        }
    }

    #[inline]
    pub fn signed(&mut self) -> Option<i64> {
        let value = self.unsigned()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }
}

pub(super) fn write_unsigned(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

pub(super) fn write_signed(bytes: &mut Vec<u8>, value: i64) {
    write_unsigned(bytes, ((value << 1) ^ (value >> 63)) as u64);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn collect(addresses: &Addresses, executed: LaneMask) -> Vec<(u32, u64)> {
        let mut all = Vec::new();
        addresses.for_each(executed, |lane, address| all.push((lane, address)));
        all
    }

    #[test]
    fn straight_line_code_takes_a_byte_an_instruction() {
        let mut recorder = WarpRecorder::default();
        for inst in 0..100 {
            recorder.step(inst, 0xffff_ffff, 0xffff_ffff);
        }
        assert_eq!(recorder.steps(), 100);
        assert_eq!(recorder.bytes().len(), 100 + 5, "one mask of five bytes");
    }

    #[test]
    fn neighbouring_words_are_a_stride() {
        let addresses: Vec<u64> = (0..32).map(|lane| 0xc000_0000 + 4 * lane).collect();
        let mut recorder = WarpRecorder::default();
        recorder.access(7, 0xffff_fff0, 0xffff_fff0, &addresses);
        let step = WarpCursor::new(recorder.bytes().to_vec()).next().unwrap();
        assert_eq!(
            step.addresses,
            Some(Addresses::Affine {
                base: 0xc000_0000,
                stride: 4
            })
        );
    }

    #[test]
    fn rows_of_a_tile_are_a_few_runs() {
        let addresses: Vec<u64> = (0..32).map(|lane| 0x80 * (lane / 16) + 4).collect();
        let mut recorder = WarpRecorder::default();
        recorder.access(0, 0xffff_ffff, 0xffff_ffff, &addresses);
        assert!(recorder.bytes().len() <= 16, "{:?}", recorder.bytes());
        let step = WarpCursor::new(recorder.bytes().to_vec()).next().unwrap();
        let found: Vec<u64> = collect(&step.addresses.unwrap(), step.executed)
            .into_iter()
            .map(|(_, address)| address)
            .collect();
        assert_eq!(found, addresses);
    }

    #[derive(Clone, Debug)]
    struct Sample {
        inst: u32,
        active: LaneMask,
        guard: LaneMask,
        addresses: Option<Vec<u64>>,
    }

    fn sample() -> impl Strategy<Value = Sample> {
        let scattered = prop::collection::vec(any::<u64>(), 64);
        let affine = (any::<u32>(), -512i64..512).prop_map(|(base, stride)| {
            (0..64)
                .map(|lane| u64::from(base).wrapping_add_signed(stride * lane))
                .collect()
        });
        let addresses = prop::option::of(prop_oneof![scattered, affine]);
        (0u32..5000, any::<u64>(), any::<u64>(), addresses).prop_map(
            |(inst, active, guard, addresses)| Sample {
                inst,
                active,
                guard,
                addresses,
            },
        )
    }

    proptest! {
        /// Runs of plain steps are passed over as if they were read; those of more than a byte counts in several turns.
        #[test]
        fn plain_steps_are_passed_over(runs in prop::collection::vec((0u32..9, 1u64..4, 0usize..600), 0..8)) {
            let mut recorder = WarpRecorder::default();
            for &(jump, active, plain) in &runs {
                let first = 1000 * jump;
                (first..=first + plain as u32).for_each(|inst| recorder.step(inst, active, active));
            }
            let steps: Vec<_> = WarpCursor::new(recorder.bytes()).collect();
            let mut cursor = WarpCursor::new(recorder.bytes());
            let mut read = Vec::new();
            while let Some(step) = cursor.next() {
                let (first, active) = (step.inst, step.active);
                read.push(step);
                let passed = u32::from(cursor.pass_plain());
                prop_assert_eq!(cursor.active(), active);
                read.extend((1..=passed).map(|more| Step {
                    inst: first + more,
                    active,
                    executed: active,
                    addresses: None,
                    values: None,
                }));
                prop_assert_eq!(cursor.left(), recorder.bytes().len() - cursor.at);
            }
            prop_assert_eq!(read, steps);
        }

        #[test]
        fn what_was_recorded_is_what_is_read(samples in prop::collection::vec(sample(), 0..40)) {
            let mut recorder = WarpRecorder::default();
            for s in &samples {
                let executed = s.active & s.guard;
                match &s.addresses {
                    Some(addresses) => recorder.access(s.inst, s.active, executed, addresses),
                    None => recorder.step(s.inst, s.active, executed),
                }
            }
            let steps: Vec<_> = WarpCursor::new(recorder.bytes().to_vec()).collect();
            prop_assert_eq!(steps.len(), samples.len());
            for (step, s) in steps.iter().zip(&samples) {
                let executed = s.active & s.guard;
                prop_assert_eq!((step.inst, step.active, step.executed), (s.inst, s.active, executed));
                let mut again = WarpRecorder::default();
                again.again(step, step.inst);
                let read = WarpCursor::new(again.bytes().to_vec()).next();
                prop_assert_eq!(read.as_ref(), Some(step));
                if let (Some(want), Some(got)) = (&s.addresses, &step.addresses) {
                    let want: Vec<_> = lanes(executed).map(|lane| (lane, want[lane as usize])).collect();
                    prop_assert_eq!(collect(got, executed), want);
                } else {
                    prop_assert!(step.addresses.is_none());
                    prop_assert!(s.addresses.is_none() || executed == 0);
                }
            }
        }
    }
}

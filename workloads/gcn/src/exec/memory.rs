//! Scalar reads and buffer accesses.

use crate::decode::{Inst, Place};
use crate::error::Cause;
use crate::exec::World;
use crate::exec::scalar::UNSUPPORTED;
use crate::exec::space::SCRATCH_BASE;
use crate::op::{Form, Op};
use crate::wave::{LANES, Longs, Wave, WaveFault};

/// A buffer resource: four scalar registers.
#[derive(Clone, Copy, Debug)]
struct Resource([u32; 4]);

impl Resource {
    fn base(self) -> u64 {
        u64::from(self.0[1] & 0xffff) << 32 | u64::from(self.0[0])
    }

    fn stride(self) -> u64 {
        u64::from(self.0[1] >> 16 & 0x3fff)
    }

    fn is_swizzled(self) -> bool {
        self.0[1] >> 31 != 0
    }

    fn records(self) -> u64 {
        u64::from(self.0[2])
    }

    fn element_bytes(self) -> u64 {
        2 << (self.0[3] >> 19 & 3)
    }

    fn index_stride(self) -> u64 {
        8 << (self.0[3] >> 21 & 3)
    }

    fn adds_lane(self) -> bool {
        self.0[3] >> 23 & 1 != 0
    }

    /// Data format and number format.
    fn format(self) -> (u8, u8) {
        ((self.0[3] >> 15 & 0xf) as u8, (self.0[3] >> 12 & 7) as u8)
    }

    /// Where the byte at `offset` of the element `index` lies, from the base on; nothing beyond the records.
    fn place(self, index: u64, offset: u64, bytes: u64) -> Option<u64> {
        let inside = match self.stride() {
            0 => offset + bytes <= self.records(),
            _ => index < self.records(),
        };
        let place = if self.is_swizzled() {
            let (element, stride) = (self.element_bytes(), self.index_stride());
            let whole = (index / stride) * self.stride() + (offset / element) * element;
            whole * stride + (index % stride) * element + offset % element
        } else {
            index * self.stride() + offset
        };
        inside.then_some(place)
    }
}

/// Lanes that access, and where.
struct Reached {
    executed: u64,
    /// Lanes beyond the resource's records: they read zero and write nothing.
    beyond: u64,
    addresses: Longs,
}

impl Wave {
    fn resource(&self, place: Place) -> Resource {
        let first = usize::from(place.0);
        Resource([0, 1, 2, 3].map(|at| self.scalars[(first + at) & 127]))
    }

    pub(crate) fn scalar_read(
        &mut self,
        inst: &Inst,
        world: &mut World<'_>,
    ) -> Result<(), WaveFault> {
        match inst.op {
            Op::SDcacheInv => {
                self.record_access(0, &[0; LANES]);
                return Ok(());
            }
            Op::SMemtime => return Err(UNSUPPORTED.into()),
            _ => {}
        }
        let words = u32::from(inst.op.row().result);
        let offset = match inst.access.immediate {
            true => u64::from(inst.literal) * 4,
            false => u64::from(self.scalar(inst, 1)),
        };
        let is_buffer = inst.op.row().sources[0] == 4;
        let resource = self.resource(inst.sources[0]);
        let base = if is_buffer {
            resource.base()
        } else {
            self.pair(inst.sources[0].0)
        };
        let address = (base & !3).wrapping_add(offset & !3) & 0xffff_ffff_ffff;
        self.record_access(1, &[address; LANES]);
        let result = usize::from(inst.result.0);
        let limit = if is_buffer {
            resource.records() * resource.stride().max(1)
        } else {
            u64::MAX
        };
        for word in 0..words {
            let at = u64::from(word) * 4;
            let value = if offset + at + 4 > limit {
                0
            } else {
                let bytes = world.read(address + at, 4)?;
                bytes
                    .first_chunk()
                    .map_or(0, |bytes| u32::from_le_bytes(*bytes))
            };
            self.scalars[(result + word as usize) & 127] = value;
        }
        Ok(())
    }

    /// The addresses of a buffer access of `bytes` a lane.
    fn reached(&self, inst: &Inst, bytes: u64) -> Reached {
        let access = inst.access;
        let executed = self.exec();
        let resource = self.resource(inst.sources[1]);
        let scalar = u64::from(self.scalar(inst, 2));
        let constant = u64::from(access.offset);
        let start = resource.base().wrapping_add(scalar);
        let vector = usize::from(inst.sources[0].0 & 0xff);
        let (low, high) = (&self.vectors[vector], &self.vectors[(vector + 1) & 255]);
        let mut beyond = 0;
        let addresses = if access.addr64 {
            let start = start.wrapping_add(constant);
            std::array::from_fn(|lane| {
                start.wrapping_add(u64::from(high[lane]) << 32 | u64::from(low[lane]))
                    & 0xffff_ffff_ffff
            })
        } else {
            let offsets = if access.idxen { high } else { low };
            let own = u64::from(resource.adds_lane());
            std::array::from_fn(|lane| {
                let index = if access.idxen {
                    u64::from(low[lane])
                } else {
                    0
                } + own * lane as u64;
                let offset = if access.offen {
                    u64::from(offsets[lane])
                } else {
                    0
                } + constant;
                let place = resource.place(index, offset, bytes);
                beyond |= u64::from(place.is_none()) << lane;
                start.wrapping_add(place.unwrap_or(0)) & 0xffff_ffff_ffff
            })
        };
        Reached {
            executed: executed & !beyond,
            beyond: executed & beyond,
            addresses,
        }
    }

    /// The trace knows of scratch which byte of a work-item's own it is.
    fn record_buffer(&mut self, reached: &Reached, is_scratch: bool) {
        if !is_scratch {
            return self.record_access(reached.executed, &reached.addresses);
        }
        let own = reached.addresses.map(|address| {
            let place = address.wrapping_sub(SCRATCH_BASE + self.scratch);
            (place >> 8) * 4 + place % 4
        });
        self.record_access(reached.executed, &own);
    }

    pub(crate) fn buffer(&mut self, inst: &Inst, world: &mut World<'_>) -> Result<(), WaveFault> {
        if inst.access.lds || inst.access.tfe {
            return Err(Cause::Unsupported(
                "buffer accesses to the local data share or with a residency word",
            )
            .into());
        }
        let Some(shape) = Shape::of(inst) else {
            // Invalidates a cache.
            self.record_access(0, &[0; LANES]);
            return Ok(());
        };
        let format = match inst.op.row().form {
            Form::Mtbuf => inst.access.format,
            _ => self.resource(inst.sources[1]).format(),
        };
        let typed = shape.kind == Kind::Typed;
        if typed && !matches!(format.0, 4 | 11 | 13 | 14) {
            return Err(
                Cause::Unsupported("typed accesses of formats other than whole words").into(),
            );
        }
        if typed && !matches!(format.1, 4 | 5 | 7) {
            return Err(Cause::Unsupported(
                "typed accesses of numbers other than integers and floating point",
            )
            .into());
        }
        let bytes = u32::from(shape.bytes);
        let reached = self.reached(inst, u64::from(bytes));
        let is_scratch = is_scratch(&reached);
        self.record_buffer(&reached, is_scratch);
        // One, two or four.
        let multiple = bytes.min(4);
        let beyond_multiple = |address: u64| address & u64::from(multiple - 1) != 0;
        let crooked = |lane: &u32| beyond_multiple(reached.addresses[*lane as usize]);
        let any = beyond_multiple(reached.addresses.iter().fold(0, |all, it| all | it));
        let found = any.then(|| warpwatt_simt::trace::lanes(reached.executed).find(crooked));
        if let Some(lane) = found.flatten() {
            let cause = Cause::Misaligned {
                space: "global",
                address: reached.addresses[lane as usize],
                multiple,
            };
            return Err(WaveFault {
                cause,
                lane: Some(lane),
            });
        }
        match shape.act {
            Act::Load { signed } => self.load(inst, world, &reached, (bytes, signed)),
            Act::Store => self.store(inst, world, &reached, bytes),
            Act::Atomic(atomic) => self.atomic(inst, world, &reached, (bytes, atomic)),
        }
    }

    fn load(
        &mut self,
        inst: &Inst,
        world: &mut World<'_>,
        reached: &Reached,
        (bytes, signed): (u32, bool),
    ) -> Result<(), WaveFault> {
        let first = usize::from(inst.result.0 & 0xff);
        let registers = (bytes.div_ceil(4)) as usize;
        for register in 0..registers {
            for lane in warpwatt_simt::trace::lanes(reached.beyond) {
                self.vectors[(first + register) & 255][lane as usize] = 0;
            }
        }
        let vectors = &mut self.vectors;
        if bytes == 4 {
            let to = &mut vectors[first];
            if let Some(row) = world.row((reached.executed, &reached.addresses)) {
                for (to, place) in to.iter_mut().zip(row) {
                    *to = u32::from_le_bytes(*place);
                }
                return Ok(());
            }
            return world.for_each_lane(
                (reached.executed, &reached.addresses),
                4,
                |lane, place| {
                    to[lane] = place
                        .first_chunk()
                        .map_or(0, |place| u32::from_le_bytes(*place));
                },
            );
        }
        world.for_each_lane(
            (reached.executed, &reached.addresses),
            bytes,
            |lane, place| {
                for (register, part) in place.chunks(4).enumerate() {
                    let value = part
                        .iter()
                        .rev()
                        .fold(0, |value, byte| value << 8 | u32::from(*byte));
                    let unused = 32 - 8 * part.len() as u32;
                    vectors[(first + register) & 255][lane] = match signed {
                        true => (((value << unused) as i32) >> unused) as u32,
                        false => value,
                    };
                }
            },
        )
    }

    fn store(
        &mut self,
        inst: &Inst,
        world: &mut World<'_>,
        reached: &Reached,
        bytes: u32,
    ) -> Result<(), WaveFault> {
        let first = usize::from(inst.result.0 & 0xff);
        let vectors = &self.vectors;
        if bytes == 4
            && let Some(row) = world.row((reached.executed, &reached.addresses))
        {
            for (from, place) in vectors[first].iter().zip(row) {
                *place = from.to_le_bytes();
            }
            return Ok(());
        }
        world.for_each_lane(
            (reached.executed, &reached.addresses),
            bytes,
            |lane, place| {
                for (register, part) in place.chunks_mut(4).enumerate() {
                    let value = vectors[(first + register) & 255][lane].to_le_bytes();
                    part.copy_from_slice(&value[..part.len()]);
                }
            },
        )
    }

    fn atomic(
        &mut self,
        inst: &Inst,
        world: &mut World<'_>,
        reached: &Reached,
        (bytes, atomic): (u32, Atomic),
    ) -> Result<(), WaveFault> {
        let first = usize::from(inst.result.0 & 0xff);
        let vectors = &mut self.vectors;
        let wide = bytes == 8;
        let returns = inst.access.glc;
        world.for_each_lane(
            (reached.executed, &reached.addresses),
            bytes,
            |lane, place| {
                let register = |at: usize| u64::from(vectors[(first + at) & 255][lane]);
                let value = |at: usize| match wide {
                    true => register(2 * at + 1) << 32 | register(2 * at),
                    false => register(at),
                };
                let old = place
                    .iter()
                    .rev()
                    .fold(0, |value, byte| value << 8 | u64::from(*byte));
                let new = atomic.apply(old, [value(0), value(1)], wide);
                place.copy_from_slice(&new.to_le_bytes()[..place.len()]);
                if returns {
                    vectors[first][lane] = old as u32;
                    if wide {
                        vectors[(first + 1) & 255][lane] = (old >> 32) as u32;
                    }
                }
            },
        )
    }
}

/// All lanes of an access that has some are in scratch.
fn is_scratch(reached: &Reached) -> bool {
    let first = reached.executed.trailing_zeros() as usize;
    reached.executed != 0 && reached.addresses[first] >= SCRATCH_BASE
}

/// What a buffer instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub act: Act,
    /// Bytes a lane.
    pub bytes: u8,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    Typed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Load { signed: bool },
    Store,
    Atomic(Atomic),
}

/// Read-modify-write operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Atomic {
    Swap,
    /// The second word is compared, the first one stored.
    CompareSwap,
    Add,
    Sub,
    ReverseSub,
    SignedMin,
    Min,
    SignedMax,
    Max,
    And,
    Or,
    Xor,
    Increment,
    Decrement,
    MaskedOr,
}

impl Atomic {
    pub fn apply(self, old: u64, [value, other]: [u64; 2], wide: bool) -> u64 {
        let signed = |value: u64| {
            if wide {
                value as i64
            } else {
                i64::from(value as u32 as i32)
            }
        };
        let new = match self {
            Atomic::Swap => value,
            Atomic::CompareSwap if old == other => value,
            Atomic::CompareSwap => old,
            Atomic::Add => old.wrapping_add(value),
            Atomic::Sub => old.wrapping_sub(value),
            Atomic::ReverseSub => value.wrapping_sub(old),
            Atomic::SignedMin => signed(old).min(signed(value)) as u64,
            Atomic::SignedMax => signed(old).max(signed(value)) as u64,
            Atomic::Min => old.min(value),
            Atomic::Max => old.max(value),
            Atomic::And => old & value,
            Atomic::Or => old | value,
            Atomic::Xor => old ^ value,
            Atomic::Increment if old >= value => 0,
            Atomic::Increment => old + 1,
            Atomic::Decrement if old == 0 || old > value => value,
            Atomic::Decrement => old - 1,
            Atomic::MaskedOr => old & !value | other,
        };
        if wide { new } else { new & 0xffff_ffff }
    }
}

impl Shape {
    pub fn of(inst: &Inst) -> Option<Self> {
        let row = inst.op.row();
        let words = 4 * row.result;
        let plain = |act, bytes| {
            Some(Self {
                act,
                bytes,
                kind: Kind::Plain,
            })
        };
        let load = |bytes, signed| plain(Act::Load { signed }, bytes);
        let code = row.code;
        if row.form == Form::Mtbuf || code < 8 {
            let act = if code & 4 == 0 {
                Act::Load { signed: false }
            } else {
                Act::Store
            };
            return Some(Self {
                act,
                bytes: words,
                kind: Kind::Typed,
            });
        }
        match inst.op {
            Op::BufferLoadUbyte => load(1, false),
            Op::BufferLoadSbyte => load(1, true),
            Op::BufferLoadUshort => load(2, false),
            Op::BufferLoadSshort => load(2, true),
            Op::BufferLoadDword | Op::BufferLoadDwordx2 | Op::BufferLoadDwordx4 => {
                load(words, false)
            }
            Op::BufferStoreByte => plain(Act::Store, 1),
            Op::BufferStoreShort => plain(Act::Store, 2),
            Op::BufferStoreDword | Op::BufferStoreDwordx2 | Op::BufferStoreDwordx4 => {
                plain(Act::Store, words)
            }
            _ => plain(
                Act::Atomic(buffer_atomic(code)?),
                if code >= 80 { 8 } else { 4 },
            ),
        }
    }
}

/// Those of 64 bits have opcodes that are 32 higher.
fn buffer_atomic(code: u16) -> Option<Atomic> {
    let code = if code >= 80 { code - 32 } else { code };
    Some(match code {
        48 => Atomic::Swap,
        49 => Atomic::CompareSwap,
        50 => Atomic::Add,
        51 => Atomic::Sub,
        53 => Atomic::SignedMin,
        54 => Atomic::Min,
        55 => Atomic::SignedMax,
        56 => Atomic::Max,
        57 => Atomic::And,
        58 => Atomic::Or,
        59 => Atomic::Xor,
        60 => Atomic::Increment,
        61 => Atomic::Decrement,
        _ => return None,
    })
}

//! Accesses to the local data share.

use crate::decode::{Inst, Place};
use crate::error::Cause;
use crate::exec::World;
use crate::exec::memory::Atomic;
use crate::exec::scalar::UNSUPPORTED;
use crate::op::Op;
use crate::wave::{LANES, Longs, Wave, WaveFault, Words};

/// What a data-share instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Load { signed: bool },
    Store,
    Atomic(Atomic),
    Swizzle,
}

/// What it does, and to how many bytes at each place.
pub(crate) fn shape(op: Op) -> Option<(Act, u32)> {
    let code = op.row().code;
    let width = if code >= 64 { 8 } else { 4 };
    let atomic = |atomic| Some((Act::Atomic(atomic), width));
    Some(match op {
        Op::DsReadI8 => (Act::Load { signed: true }, 1),
        Op::DsReadU8 => (Act::Load { signed: false }, 1),
        Op::DsReadI16 => (Act::Load { signed: true }, 2),
        Op::DsReadU16 => (Act::Load { signed: false }, 2),
        Op::DsWriteB8 => (Act::Store, 1),
        Op::DsWriteB16 => (Act::Store, 2),
        Op::DsSwizzleB32 => (Act::Swizzle, 4),
        _ => match code % 64 {
            13..=15 => (Act::Store, width),
            54..=56 => (Act::Load { signed: false }, width),
            45..=47 => return atomic(Atomic::Swap),
            0 | 32 => return atomic(Atomic::Add),
            1 | 33 => return atomic(Atomic::Sub),
            2 | 34 => return atomic(Atomic::ReverseSub),
            3 | 35 => return atomic(Atomic::Increment),
            4 | 36 => return atomic(Atomic::Decrement),
            5 | 37 => return atomic(Atomic::SignedMin),
            6 | 38 => return atomic(Atomic::SignedMax),
            7 | 39 => return atomic(Atomic::Min),
            8 | 40 => return atomic(Atomic::Max),
            9 | 41 => return atomic(Atomic::And),
            10 | 42 => return atomic(Atomic::Or),
            11 | 43 => return atomic(Atomic::Xor),
            12 | 44 => return atomic(Atomic::MaskedOr),
            16 | 48 => return atomic(Atomic::CompareSwap),
            _ => return None,
        },
    })
}

/// One place of each lane, and the data that belong to it.
struct Part {
    addresses: Longs,
    /// Register of what is stored.
    data: usize,
    /// Register of what is loaded.
    result: usize,
}

impl Wave {
    pub(crate) fn share(&mut self, inst: &Inst, world: &mut World<'_>) -> Result<(), WaveFault> {
        let (act, bytes) = shape(inst.op).ok_or(UNSUPPORTED)?;
        if inst.access.gds {
            return Err(Cause::Unsupported("the global data share is not supported").into());
        }
        let exec = self.exec();
        if act == Act::Swizzle {
            self.record_access(0, &[0; LANES]);
            self.swizzle(inst);
            return Ok(());
        }
        let (first, second) = self.parts(inst, bytes);
        self.record_access(exec, &first.addresses);
        let limit = self.scalars[usize::from(Place::M0.0)];
        for part in std::iter::once(&first).chain(&second) {
            self.check(part, bytes, world.share.len())?;
            for lane in warpwatt_simt::trace::lanes(exec) {
                let lane = lane as usize;
                let start = part.addresses[lane] as usize;
                // Beyond M0 nothing is stored, and zero is read.
                let inside = start as u64 + u64::from(bytes) <= u64::from(limit);
                let place = &mut world.share[start..start + bytes as usize];
                self.reach(inst, (act, inside), part, (lane, place));
            }
        }
        Ok(())
    }

    /// The places that an instruction reaches: one or two.
    fn parts(&self, inst: &Inst, bytes: u32) -> (Part, Option<Part>) {
        let register = |place: Place| usize::from(place.0 & 0xff);
        let base = &self.vectors[register(inst.sources[0])];
        let at = |offset: u32| base.map(|address| u64::from(address.wrapping_add(offset)));
        let access = inst.access;
        let (data, result) = (register(inst.sources[1]), register(inst.result));
        if !inst.op.is_pair() {
            let only = Part {
                addresses: at(u32::from(access.offset)),
                data,
                result,
            };
            return (only, None);
        }
        let unit = if inst.op.is_far_pair() {
            64 * bytes
        } else {
            bytes
        };
        let first = Part {
            addresses: at(u32::from(access.offset) * unit),
            data,
            result,
        };
        let second = Part {
            addresses: at(u32::from(access.offset1) * unit),
            data: register(inst.sources[2]),
            result: (result + bytes as usize / 4) & 255,
        };
        (first, Some(second))
    }

    fn check(&self, part: &Part, bytes: u32, allocated: usize) -> Result<(), WaveFault> {
        for lane in warpwatt_simt::trace::lanes(self.exec()) {
            let address = part.addresses[lane as usize];
            let cause = if address + u64::from(bytes) > allocated as u64 {
                Cause::OutOfBounds {
                    space: "local",
                    address,
                    bytes,
                    near: format!("the work-group has {allocated} bytes"),
                }
            } else if address & u64::from(bytes - 1) != 0 {
                Cause::Misaligned {
                    space: "local",
                    address,
                    multiple: bytes,
                }
            } else {
                continue;
            };
            return Err(WaveFault {
                cause,
                lane: Some(lane),
            });
        }
        Ok(())
    }

    #[inline]
    fn reach(
        &mut self,
        inst: &Inst,
        (act, inside): (Act, bool),
        part: &Part,
        (lane, place): (usize, &mut [u8]),
    ) {
        let wide = place.len() == 8;
        let register = |wave: &Self, first: usize| {
            let high = if wide {
                wave.vectors[(first + 1) & 255][lane]
            } else {
                0
            };
            u64::from(high) << 32 | u64::from(wave.vectors[first & 255][lane])
        };
        let old = match inside {
            true => place
                .iter()
                .rev()
                .fold(0, |value, byte| value << 8 | u64::from(*byte)),
            false => 0,
        };
        let new = match act {
            Act::Store => Some(register(self, part.data)),
            Act::Atomic(atomic) => {
                let other = register(self, usize::from(inst.sources[2].0 & 0xff));
                let value = register(self, part.data);
                // Of a comparison the first source is compared, the second one stored.
                let values = if atomic == Atomic::CompareSwap {
                    [other, value]
                } else {
                    [value, other]
                };
                Some(atomic.apply(old, values, wide))
            }
            _ => None,
        };
        if let (Some(new), true) = (new, inside) {
            let bytes = place.len();
            place.copy_from_slice(&new.to_le_bytes()[..bytes]);
        }
        if inst.op.row().result > 0 {
            let unused = 64 - 8 * place.len() as u32;
            let value = match act {
                Act::Load { signed: true } => (((old << unused) as i64) >> unused) as u64,
                _ => old,
            };
            self.vectors[part.result & 255][lane] = value as u32;
            if wide {
                self.vectors[(part.result + 1) & 255][lane] = (value >> 32) as u32;
            }
        }
    }

    /// Exchange within four lanes, or within thirty-two by masks. From lanes that do not execute zero comes.
    fn swizzle(&mut self, inst: &Inst) {
        let pattern = u32::from(inst.access.offset);
        let values = self.words(inst, 0);
        let exec = self.exec();
        let moved: Words = std::array::from_fn(|lane| {
            let lane = lane as u32;
            let from = if pattern >> 15 != 0 {
                lane & !3 | pattern >> (2 * (lane & 3)) & 3
            } else {
                let within = ((lane & 31 & pattern) | pattern >> 5 & 31) ^ (pattern >> 10 & 31);
                lane & 32 | within
            };
            if exec >> from & 1 != 0 {
                values[from as usize]
            } else {
                0
            }
        });
        self.write(inst.result, &moved);
    }
}

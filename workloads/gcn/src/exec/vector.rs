//! Vector computations: integers, moves between lanes and scalars, conversions, comparisons.

use warpwatt_simt::lane_mask;

use crate::compare::{Compare, Type};
use crate::decode::{Inst, Place};
use crate::error::Cause;
use crate::exec::convert;
use crate::exec::scalar::{sign_extended, zero_extended};
use crate::op::Op;
use crate::wave::{LANES, Wave, Words, choose};

impl Wave {
    #[inline]
    fn word1(&mut self, inst: &Inst, f: impl Fn(u32) -> u32) {
        let mut space = None;
        let a = self.source(inst, 0, &mut space);
        let results = std::array::from_fn(|lane| f(a[lane]));
        self.write(inst.result, &results);
    }

    #[inline]
    fn word2(&mut self, inst: &Inst, f: impl Fn(u32, u32) -> u32) {
        let (mut first, mut second) = (None, None);
        let a = self.source(inst, 0, &mut first);
        let b = self.source(inst, 1, &mut second);
        let results = std::array::from_fn(|lane| f(a[lane], b[lane]));
        self.write(inst.result, &results);
    }

    #[inline]
    fn word3(&mut self, inst: &Inst, f: impl Fn(u32, u32, u32) -> u32) {
        let (mut first, mut second, mut third) = (None, None, None);
        let a = self.source(inst, 0, &mut first);
        let b = self.source(inst, 1, &mut second);
        let c = self.source(inst, 2, &mut third);
        let results = std::array::from_fn(|lane| f(a[lane], b[lane], c[lane]));
        self.write(inst.result, &results);
    }

    /// Any vector instruction.
    pub(crate) fn vector(&mut self, inst: &Inst) -> Result<(), Cause> {
        match inst.op {
            Op::VMovB32 => {
                let a = self.modified(inst, 0);
                self.write(inst.result, &a);
            }
            Op::VCndmaskB32 => self.select(inst),
            Op::VCmp => self.compare(inst),
            Op::VAddI32
            | Op::VSubI32
            | Op::VSubrevI32
            | Op::VAddcU32
            | Op::VSubbU32
            | Op::VSubbrevU32 => self.carry(inst),
            Op::VReadlaneB32 | Op::VWritelaneB32 | Op::VReadfirstlaneB32 => self.lane(inst),
            Op::VNop | Op::VClrexcp => {}
            op if op.is_relative() => self.move_relative(inst)?,
            _ if self.two(inst)
                || self.one(inst)
                || self.three(inst)
                || self.long(inst)
                || self.convert(inst) => {}
            _ if is_double(inst.op) => self.double(inst)?,
            _ => self.float(inst)?,
        }
        Ok(())
    }

    fn select(&mut self, inst: &Inst) {
        let (a, b) = (self.modified(inst, 0), self.modified(inst, 1));
        let mask = self.scalar_pair(inst, 2, zero_extended);
        let mut chosen = a;
        choose(mask, &b, &mut chosen);
        self.write(inst.result, &chosen);
    }

    /// Sums and differences, whose carries go to a scalar pair.
    fn carry(&mut self, inst: &Inst) {
        let (a, b) = (self.words(inst, 0), self.words(inst, 1));
        let carries = if inst.widths[2] > 0 {
            self.scalar_pair(inst, 2, zero_extended)
        } else {
            0
        };
        let (mut sums, mut out) = ([0; LANES], [0u8; LANES]);
        let (a, b) = match inst.op {
            Op::VSubrevI32 | Op::VSubbrevU32 => (b, a),
            _ => (a, b),
        };
        let adds = matches!(inst.op, Op::VAddI32 | Op::VAddcU32);
        for lane in 0..LANES {
            let carry = (carries >> lane & 1) as u32;
            let (one, first) = if adds {
                a[lane].overflowing_add(b[lane])
            } else {
                a[lane].overflowing_sub(b[lane])
            };
            let (two, second) = if adds {
                one.overflowing_add(carry)
            } else {
                one.overflowing_sub(carry)
            };
            sums[lane] = two;
            out[lane] = u8::from(first | second);
        }
        let mask = lane_mask(&out) & self.exec();
        self.write(inst.result, &sums);
        self.set_pair(inst.carry.0, mask);
    }

    fn lane(&mut self, inst: &Inst) {
        let register = usize::from(inst.sources[0].0 & 0xff);
        let to = usize::from(inst.result.0 & 0xff);
        match inst.op {
            Op::VReadfirstlaneB32 => {
                let lane = self.exec().trailing_zeros() & 63;
                let value = match inst.sources[0].vector() {
                    Some(_) => self.vectors[register][lane as usize],
                    None => self.scalar(inst, 0),
                };
                self.scalars[to & 127] = value;
            }
            Op::VReadlaneB32 => {
                let lane = self.scalar(inst, 1) & 63;
                let value = match inst.sources[0].vector() {
                    Some(_) => self.vectors[register][lane as usize],
                    None => self.scalar(inst, 0),
                };
                self.scalars[to & 127] = value;
            }
            _ => {
                let lane = self.scalar(inst, 1) & 63;
                self.vectors[to][lane as usize] = self.scalar(inst, 0);
            }
        }
    }

    fn move_relative(&mut self, inst: &Inst) -> Result<(), Cause> {
        let by = self.scalars[usize::from(Place::M0.0)];
        let moved = |place: Place, moves: bool| {
            let register = u32::from(place.0 & 0xff).wrapping_add(if moves { by } else { 0 });
            (register < 256).then(|| Place::of_vector(register))
        };
        let outside = Cause::Unsupported("M0 leads beyond the vector registers");
        let from = match inst.sources[0].vector() {
            Some(_) => moved(inst.sources[0], inst.op != Op::VMovreldB32).ok_or(outside.clone())?,
            None => inst.sources[0],
        };
        let to = moved(inst.result, inst.op != Op::VMovrelsB32).ok_or(outside)?;
        let values = match from.vector() {
            Some(register) => self.vectors[usize::from(register)],
            None => self.words(inst, 0),
        };
        self.write(to, &values);
        Ok(())
    }

    /// Integer operations of two sources; whether it was one.
    #[inline]
    fn two(&mut self, inst: &Inst) -> bool {
        match inst.op {
            Op::VMulI32I24 | Op::VMulU32U24 | Op::VMulHiI32I24 | Op::VMulHiU32U24 => {
                self.word2(inst, product24(inst.op))
            }
            Op::VMinI32 => self.word2(inst, |a, b| (a as i32).min(b as i32) as u32),
            Op::VMaxI32 => self.word2(inst, |a, b| (a as i32).max(b as i32) as u32),
            Op::VMinU32 => self.word2(inst, u32::min),
            Op::VMaxU32 => self.word2(inst, u32::max),
            Op::VLshrB32 => self.word2(inst, |a, b| a >> (b & 31)),
            Op::VLshrrevB32 => self.word2(inst, |a, b| b >> (a & 31)),
            Op::VAshrI32 => self.word2(inst, |a, b| ((a as i32) >> (b & 31)) as u32),
            Op::VAshrrevI32 => self.word2(inst, |a, b| ((b as i32) >> (a & 31)) as u32),
            Op::VLshlB32 => self.word2(inst, |a, b| a << (b & 31)),
            Op::VLshlrevB32 => self.word2(inst, |a, b| b << (a & 31)),
            Op::VAndB32 => self.word2(inst, |a, b| a & b),
            Op::VOrB32 => self.word2(inst, |a, b| a | b),
            Op::VXorB32 => self.word2(inst, |a, b| a ^ b),
            Op::VBfmB32 => self.word2(inst, |a, b| (1u32 << (a & 31)).wrapping_sub(1) << (b & 31)),
            Op::VBcntU32B32 => self.word2(inst, |a, b| a.count_ones().wrapping_add(b)),
            Op::VMbcntLoU32B32 => self.count_below(inst, |lane| {
                if lane < 32 {
                    (1u64 << lane) as u32 - 1
                } else {
                    u32::MAX
                }
            }),
            Op::VMbcntHiU32B32 => self.count_below(inst, |lane| {
                if lane < 32 {
                    0
                } else {
                    (1u64 << (lane - 32)) as u32 - 1
                }
            }),
            Op::VMulLoU32 | Op::VMulLoI32 => self.word2(inst, u32::wrapping_mul),
            Op::VMulHiU32 => self.word2(inst, |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32),
            Op::VMulHiI32 => self.word2(inst, |a, b| {
                ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32
            }),
            _ => return false,
        }
        true
    }

    /// Counts the bits of lanes below one's own.
    fn count_below(&mut self, inst: &Inst, below: impl Fn(usize) -> u32) {
        let (a, b) = (self.words(inst, 0), self.words(inst, 1));
        let counts =
            std::array::from_fn(|lane| (a[lane] & below(lane)).count_ones().wrapping_add(b[lane]));
        self.write(inst.result, &counts);
    }

    /// Integer operations of one source; whether it was one.
    fn one(&mut self, inst: &Inst) -> bool {
        let found = |any: bool, at: u32| if any { at } else { u32::MAX };
        match inst.op {
            Op::VNotB32 => self.word1(inst, |a| !a),
            Op::VBfrevB32 => self.word1(inst, u32::reverse_bits),
            Op::VFfbhU32 => self.word1(inst, |a| found(a != 0, a.leading_zeros())),
            Op::VFfblB32 => self.word1(inst, |a| found(a != 0, a.trailing_zeros())),
            Op::VFfbhI32 => self.word1(inst, |a| {
                let changes = a ^ ((a as i32) >> 31) as u32;
                found(changes != 0, changes.leading_zeros())
            }),
            _ => return false,
        }
        true
    }

    /// Integer operations of three sources; whether it was one.
    fn three(&mut self, inst: &Inst) -> bool {
        let signed = |f: fn(i32, i32) -> i32| move |a: u32, b: u32| f(a as i32, b as i32) as u32;
        let (least, most) = (signed(i32::min), signed(i32::max));
        match inst.op {
            Op::VMadI32I24 | Op::VMadU32U24 => {
                let product = product24(if inst.op == Op::VMadI32I24 {
                    Op::VMulI32I24
                } else {
                    Op::VMulU32U24
                });
                self.word3(inst, |a, b, c| product(a, b).wrapping_add(c));
            }
            Op::VBfeU32 => self.word3(inst, |a, b, c| {
                let width = c & 31;
                a >> (b & 31) & ((1u32 << width) - 1)
            }),
            Op::VBfeI32 => self.word3(inst, |a, b, c| signed_field(a, b & 31, c & 31)),
            Op::VBfiB32 => self.word3(inst, |a, b, c| a & b | !a & c),
            Op::VAlignbitB32 => self.word3(inst, |a, b, c| {
                ((u64::from(a) << 32 | u64::from(b)) >> (c & 31)) as u32
            }),
            Op::VAlignbyteB32 => self.word3(inst, |a, b, c| {
                ((u64::from(a) << 32 | u64::from(b)) >> (8 * (c & 3))) as u32
            }),
            Op::VMin3I32 => self.word3(inst, |a, b, c| least(least(a, b), c)),
            Op::VMax3I32 => self.word3(inst, |a, b, c| most(most(a, b), c)),
            Op::VMed3I32 => self.word3(inst, |a, b, c| most(least(a, b), least(most(a, b), c))),
            Op::VMin3U32 => self.word3(inst, |a, b, c| a.min(b).min(c)),
            Op::VMax3U32 => self.word3(inst, |a, b, c| a.max(b).max(c)),
            Op::VMed3U32 => self.word3(inst, |a, b, c| a.min(b).max(a.max(b).min(c))),
            Op::VSadU32 => self.word3(inst, |a, b, c| a.abs_diff(b).wrapping_add(c)),
            Op::VSadU16 => self.word3(inst, |a, b, c| {
                let parts = (a & 0xffff).abs_diff(b & 0xffff) + (a >> 16).abs_diff(b >> 16);
                parts.wrapping_add(c)
            }),
            Op::VSadU8 => self.word3(inst, |a, b, c| {
                byte_differences(a, b, false).wrapping_add(c)
            }),
            Op::VSadHiU8 => self.word3(inst, |a, b, c| {
                (byte_differences(a, b, false) << 16).wrapping_add(c)
            }),
            Op::VMsadU8 => self.word3(inst, |a, b, c| byte_differences(a, b, true).wrapping_add(c)),
            Op::VLerpU8 => self.word3(inst, lerp),
            _ => return false,
        }
        true
    }

    /// Shifts of 64 bits; whether it was one.
    fn long(&mut self, inst: &Inst) -> bool {
        match inst.op {
            Op::VLshlB64 => self.long2(inst, false, |a, b| a << (b & 63)),
            Op::VLshrB64 => self.long2(inst, false, |a, b| a >> (b & 63)),
            Op::VAshrI64 => self.long2(inst, true, |a, b| ((a as i64) >> (b & 63)) as u64),
            _ => return false,
        }
        true
    }

    /// Conversions; whether it was one.
    fn convert(&mut self, inst: &Inst) -> bool {
        let to_float = |wave: &mut Self, f: fn(u32) -> f32| {
            let a = wave.words(inst, 0);
            wave.write_floats(inst, &a.map(f));
        };
        match inst.op {
            Op::VCvtF32I32 => to_float(self, |a| a as i32 as f32),
            Op::VCvtF32U32 => to_float(self, |a| a as f32),
            Op::VCvtF32Ubyte0 => to_float(self, |a| (a & 0xff) as f32),
            Op::VCvtF32Ubyte1 => to_float(self, |a| (a >> 8 & 0xff) as f32),
            Op::VCvtF32Ubyte2 => to_float(self, |a| (a >> 16 & 0xff) as f32),
            Op::VCvtF32Ubyte3 => to_float(self, |a| (a >> 24) as f32),
            Op::VCvtOffF32I4 => to_float(self, |a| (((a << 28) as i32) >> 28) as f32 / 16.0),
            Op::VCvtF32F16 => {
                let a = self.modified(inst, 0);
                self.write_floats(inst, &a.map(|word| convert::half_to_single(word as u16)));
            }
            Op::VCvtF64I32 => self.make_double(inst, |a| f64::from(a as i32)),
            Op::VCvtF64U32 => self.make_double(inst, f64::from),
            Op::VCvtF64F32 => {
                let a = self.floats(inst, 0);
                self.write_doubles(inst, &a.map(f64::from));
            }
            Op::VCvtF32F64 => {
                let a = self.doubles(inst, 0);
                self.write_floats(inst, &a.map(|value| value as f32));
            }
            Op::VCvtI32F64 | Op::VCvtU32F64 | Op::VFrexpExpI32F64 => {
                let a = self.doubles(inst, 0);
                let f = convert::of_double(inst.op);
                self.write(inst.result, &a.map(f));
            }
            op => return self.convert_floats(inst, op),
        }
        true
    }

    fn make_double(&mut self, inst: &Inst, f: impl Fn(u32) -> f64) {
        let a = self.words(inst, 0);
        self.write_doubles(inst, &a.map(f));
    }

    /// Conversions of single precision to integers and packed parts.
    fn convert_floats(&mut self, inst: &Inst, op: Op) -> bool {
        if let Some(f) = convert::of_float(op) {
            let a = self.floats(inst, 0);
            self.write(inst.result, &a.map(f));
        } else if let Some(f) = convert::of_floats(op) {
            let (a, b) = (self.floats(inst, 0), self.floats(inst, 1));
            self.write(
                inst.result,
                &std::array::from_fn(|lane| f(a[lane], b[lane])),
            );
        } else if let Some(f) = convert::of_words(op) {
            self.word2(inst, f);
        } else if matches!(op, Op::VCvtPkU8F32 | Op::VCvtPkaccumU8F32) {
            let a = self.floats(inst, 0);
            let place = self.words(inst, 1);
            let into = match op {
                Op::VCvtPkU8F32 => self.words(inst, 2),
                _ => self.vectors[usize::from(inst.result.0 & 0xff)],
            };
            let packed: Words =
                std::array::from_fn(|lane| convert::into_byte(a[lane], place[lane], into[lane]));
            self.write(inst.result, &packed);
        } else {
            return false;
        }
        true
    }

    fn compare(&mut self, inst: &Inst) {
        let Some(compare) = inst.compare else { return };
        let mask = lane_mask(&self.compared(inst, compare)) & self.exec();
        self.set_pair(inst.result.0, mask);
        if compare.writes_exec {
            self.set_exec(mask);
        }
    }

    fn compared(&self, inst: &Inst, compare: Compare) -> [u8; LANES] {
        let Some(condition) = compare.condition else {
            let classes = self.words(inst, 1);
            let of: [u32; LANES] = match compare.of {
                Type::F64 => self.doubles(inst, 0).map(convert::class_double),
                _ => self.modified(inst, 0).map(convert::class),
            };
            return std::array::from_fn(|lane| u8::from(classes[lane] & of[lane] != 0));
        };
        match compare.of {
            Type::F32 => float_compared(self.floats(inst, 0), self.floats(inst, 1), condition),
            Type::F64 => float_compared(self.doubles(inst, 0), self.doubles(inst, 1), condition),
            Type::U32 => compared(self.words(inst, 0), self.words(inst, 1), condition),
            Type::I32 => compared(
                self.words(inst, 0).map(|a| a as i32),
                self.words(inst, 1).map(|b| b as i32),
                condition,
            ),
            Type::U64 => compared(
                self.longs(inst, 0, zero_extended),
                self.longs(inst, 1, zero_extended),
                condition,
            ),
            Type::I64 => compared(
                self.longs(inst, 0, sign_extended).map(|a| a as i64),
                self.longs(inst, 1, sign_extended).map(|b| b as i64),
                condition,
            ),
        }
    }
}

/// Less is bit 0 of a condition, equal bit 1, greater bit 2.
#[inline]
fn compared<T: PartialOrd>(a: [T; LANES], b: [T; LANES], condition: u8) -> [u8; LANES] {
    let each = |f: fn(&T, &T) -> bool| std::array::from_fn(|lane| u8::from(f(&a[lane], &b[lane])));
    match condition & 7 {
        0 => [0; LANES],
        1 => each(T::lt),
        2 => each(T::eq),
        3 => each(T::le),
        4 => each(T::gt),
        5 => each(T::ne),
        6 => each(T::ge),
        _ => [1; LANES],
    }
}

/// The upper eight conditions are the lower ones in reverse order, negated; unordered sources meet none of the lower ones.
fn float_compared<T: PartialOrd>(a: [T; LANES], b: [T; LANES], condition: u8) -> [u8; LANES] {
    let negated = condition >= 8;
    let plain = if negated { 15 - condition } else { condition };
    // Eight conditions: f, lt, eq, le, gt, lg, ge, o.
    let each = |f: fn(&T, &T) -> bool| {
        std::array::from_fn(|lane| u8::from(f(&a[lane], &b[lane]) != negated))
    };
    match plain {
        0 => [u8::from(negated); LANES],
        1 => each(T::lt),
        2 => each(T::eq),
        3 => each(T::le),
        4 => each(T::gt),
        5 => each(|a, b| a.partial_cmp(b).is_some_and(std::cmp::Ordering::is_ne)),
        6 => each(T::ge),
        _ => each(|a, b| a.partial_cmp(b).is_some()),
    }
}

fn product24(op: Op) -> fn(u32, u32) -> u32 {
    fn signed(a: u32) -> i64 {
        i64::from((a << 8) as i32 >> 8)
    }
    fn unsigned(a: u32) -> u64 {
        u64::from(a & 0xff_ffff)
    }
    match op {
        Op::VMulI32I24 => |a, b| (signed(a) * signed(b)) as u32,
        Op::VMulHiI32I24 => |a, b| ((signed(a) * signed(b)) >> 32) as u32,
        Op::VMulHiU32U24 => |a, b| ((unsigned(a) * unsigned(b)) >> 32) as u32,
        _ => |a, b| (unsigned(a) * unsigned(b)) as u32,
    }
}

fn signed_field(value: u32, low: u32, width: u32) -> u32 {
    match width {
        0 => 0,
        _ if low + width >= 32 => ((value as i32) >> low) as u32,
        width => ((value << (32 - low - width)) as i32 >> (32 - width)) as u32,
    }
}

/// Sum of the differences of four bytes; a mask leaves out those where `b` is zero.
fn byte_differences(a: u32, b: u32, masked: bool) -> u32 {
    let bytes = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
    let counted = bytes.filter(|(_, b)| !masked || *b != 0);
    counted.map(|(a, b)| u32::from(a.abs_diff(b))).sum()
}

/// Means of bytes, rounded up where the third source's lowest bits are set.
fn lerp(a: u32, b: u32, c: u32) -> u32 {
    let [a, b, c] = [a, b, c].map(u32::to_le_bytes);
    u32::from_le_bytes(std::array::from_fn(|at| {
        ((u16::from(a[at]) + u16::from(b[at]) + u16::from(c[at] & 1)) >> 1) as u8
    }))
}

fn is_double(op: Op) -> bool {
    let row = op.row();
    row.result == 2 && row.sources[0] == 2
}

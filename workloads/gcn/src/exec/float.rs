//! Floating point as the mode register wants it, and helpers that apply a function in every lane.

use warpwatt_simt::fused_single;

use crate::decode::{Encoding, Inst};
use crate::error::Cause;
use crate::exec::scalar::UNSUPPORTED;
use crate::wave::{LANES, Longs, Wave, Words};

/// What of the mode register matters to results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mode {
    /// Rounding and denormals: two bits each for single and double precision.
    float: u8,
    clamps_nan: bool,
    ieee: bool,
}

impl Mode {
    pub fn new(float: u8, clamps_nan: bool, ieee: bool) -> Result<Self, Cause> {
        let mode = Self {
            float,
            clamps_nan,
            ieee,
        };
        mode.check()
    }

    fn check(self) -> Result<Self, Cause> {
        if self.float & 0xf != 0 {
            return Err(Cause::Unsupported(
                "rounding other than to the nearest even is not supported",
            ));
        }
        Ok(self)
    }

    /// As the register holds it.
    pub fn bits(self) -> u32 {
        u32::from(self.float) | u32::from(self.clamps_nan) << 8 | u32::from(self.ieee) << 9
    }

    pub fn set(&mut self, bits: u32) -> Result<(), Cause> {
        *self = Self::new(bits as u8, bits >> 8 & 1 != 0, bits >> 9 & 1 != 0)?;
        Ok(())
    }

    /// Single-precision sources and results that are denormal: whether they become zero.
    pub fn flushes(self) -> [bool; 2] {
        let kept = self.float >> 4;
        [kept & 1 == 0, kept & 2 == 0]
    }

    /// The same of double precision.
    pub fn flushes_double(self) -> [bool; 2] {
        let kept = self.float >> 6;
        [kept & 1 == 0, kept & 2 == 0]
    }
}

/// A denormal becomes zero, if `flush`.
#[inline]
pub(crate) fn flushed(bits: u32, flush: bool) -> u32 {
    if flush && bits & 0x7f80_0000 == 0 {
        bits & SIGN
    } else {
        bits
    }
}

#[inline]
pub(crate) fn flushed_double(bits: u64, flush: bool) -> u64 {
    let exponent = 0x7ff0_0000_0000_0000;
    if flush && bits & exponent == 0 {
        bits & (1 << 63)
    } else {
        bits
    }
}

/// What a result is multiplied by.
fn scale(inst: &Inst) -> f64 {
    [1.0, 2.0, 4.0, 0.5][usize::from(inst.scale & 3)]
}

/// A literal is the upper half of a double.
pub(crate) fn upper_half(literal: u32) -> u64 {
    u64::from(literal) << 32
}

/// What modifiers do to the sign of a source.
#[derive(Clone, Copy)]
struct SignChange {
    kept: u32,
    changed: u32,
}

impl SignChange {
    fn new(inst: &Inst, at: usize) -> Self {
        let asked = |of: u8| inst.encoding == Encoding::Long && of >> at & 1 != 0;
        Self {
            kept: if asked(inst.magnitude) { !SIGN } else { !0 },
            changed: if asked(inst.negate) { SIGN } else { 0 },
        }
    }

    #[inline]
    fn apply(self, word: u32) -> u32 {
        word & self.kept ^ self.changed
    }
}

/// The sign of a single.
pub(super) const SIGN: u32 = 1 << 31;

impl Wave {
    /// A source with its modifiers.
    #[inline]
    pub fn modified(&self, inst: &Inst, at: usize) -> Words {
        let sign = SignChange::new(inst, at);
        let mut space = None;
        let words = self.source(inst, at, &mut space);
        std::array::from_fn(|lane| sign.apply(words[lane]))
    }

    /// A single-precision source.
    #[inline]
    pub fn floats(&self, inst: &Inst, at: usize) -> [f32; LANES] {
        let flush = self.mode.flushes()[0];
        let sign = SignChange::new(inst, at);
        let mut space = None;
        let words = self.source(inst, at, &mut space);
        std::array::from_fn(|lane| f32::from_bits(flushed(sign.apply(words[lane]), flush)))
    }

    /// A double-precision source.
    pub fn doubles(&self, inst: &Inst, at: usize) -> [f64; LANES] {
        let flush = self.mode.flushes_double()[0];
        let magnitude = inst.magnitude >> at & 1 != 0;
        let negate = inst.negate >> at & 1 != 0;
        self.longs(inst, at, upper_half).map(|mut bits| {
            if magnitude {
                bits &= !(1 << 63);
            }
            if negate {
                bits ^= 1 << 63;
            }
            f64::from_bits(flushed_double(bits, flush))
        })
    }

    /// Writes single-precision results, scaled, clamped and flushed.
    #[inline]
    pub fn write_floats(&mut self, inst: &Inst, values: &[f32; LANES]) {
        let flush = self.mode.flushes()[1];
        let written = |value: f32| flushed(value.to_bits(), flush);
        let results = if inst.scale != 0 || inst.clamp {
            let factor = scale(inst) as f32;
            values.map(|value| written(self.clamped(inst, f64::from(value * factor)) as f32))
        } else {
            std::array::from_fn(|lane| written(values[lane]))
        };
        self.write(inst.result, &results);
    }

    pub fn write_doubles(&mut self, inst: &Inst, values: &[f64; LANES]) {
        let flush = self.mode.flushes_double()[1];
        let written = |value: f64| flushed_double(value.to_bits(), flush);
        let results = if inst.scale != 0 || inst.clamp {
            let factor = scale(inst);
            values.map(|value| written(self.clamped(inst, value * factor)))
        } else {
            std::array::from_fn(|lane| written(values[lane]))
        };
        self.write_longs(inst.result, &results);
    }

    fn clamped(&self, inst: &Inst, value: f64) -> f64 {
        match (inst.clamp, value.is_nan()) {
            (false, _) => value,
            (true, true) if self.mode.clamps_nan => 0.0,
            (true, true) => value,
            (true, false) => value.clamp(0.0, 1.0) + 0.0,
        }
    }

    #[inline]
    pub fn float1(&mut self, inst: &Inst, f: impl Fn(f32) -> f32) {
        let a = self.floats(inst, 0);
        self.write_floats(inst, &a.map(f));
    }

    #[inline]
    pub fn float2(&mut self, inst: &Inst, f: impl Fn(f32, f32) -> f32) {
        let (a, b) = (self.floats(inst, 0), self.floats(inst, 1));
        self.write_floats(inst, &std::array::from_fn(|lane| f(a[lane], b[lane])));
    }

    #[inline]
    pub fn float3(&mut self, inst: &Inst, f: impl Fn(f32, f32, f32) -> f32) {
        let (a, b, c) = (
            self.floats(inst, 0),
            self.floats(inst, 1),
            self.floats(inst, 2),
        );
        self.write_floats(
            inst,
            &std::array::from_fn(|lane| f(a[lane], b[lane], c[lane])),
        );
    }

    pub fn double1(&mut self, inst: &Inst, f: impl Fn(f64) -> f64) {
        let a = self.doubles(inst, 0);
        self.write_doubles(inst, &a.map(f));
    }

    pub fn double2(&mut self, inst: &Inst, f: impl Fn(f64, f64) -> f64) {
        let (a, b) = (self.doubles(inst, 0), self.doubles(inst, 1));
        self.write_doubles(inst, &std::array::from_fn(|lane| f(a[lane], b[lane])));
    }

    pub fn double3(&mut self, inst: &Inst, f: impl Fn(f64, f64, f64) -> f64) {
        let (a, b, c) = (
            self.doubles(inst, 0),
            self.doubles(inst, 1),
            self.doubles(inst, 2),
        );
        self.write_doubles(
            inst,
            &std::array::from_fn(|lane| f(a[lane], b[lane], c[lane])),
        );
    }

    /// Multiply and add, rounded once.
    pub(super) fn fused(&self, inst: &Inst) -> [f32; LANES] {
        let [a, b, c] = [0, 1, 2].map(|at| self.floats(inst, at).map(f32::to_bits));
        fused_single(&a, &b, &c).map(f32::from_bits)
    }

    /// Multiply and add, rounded twice, without denormals whatever the mode says.
    #[inline]
    fn multiply_add(&mut self, inst: &Inst, [a, b, c]: &[[f32; LANES]; 3]) {
        let flat = |value: f32| f32::from_bits(flushed(value.to_bits(), true));
        let values = std::array::from_fn(|lane| {
            let product = flat(flat(a[lane]) * flat(b[lane]));
            flat(product + flat(c[lane]))
        });
        self.write_floats(inst, &values);
    }

    /// Single-precision operations.
    pub fn float(&mut self, inst: &Inst) -> Result<(), Cause> {
        use crate::op::Op;
        let ieee = self.mode.ieee;
        match inst.op {
            Op::VAddF32 => self.float2(inst, |a, b| a + b),
            Op::VSubF32 => self.float2(inst, |a, b| a - b),
            Op::VSubrevF32 => self.float2(inst, |a, b| b - a),
            Op::VMulF32 => self.float2(inst, |a, b| a * b),
            Op::VMulLegacyF32 => self.float2(inst, legacy_product),
            Op::VMinF32 => self.float2(inst, |a, b| least(a, b, ieee)),
            Op::VMaxF32 => self.float2(inst, |a, b| greatest(a, b, ieee)),
            Op::VMinLegacyF32 => self.float2(inst, |a, b| if a < b { a } else { b }),
            Op::VMaxLegacyF32 => self.float2(inst, |a, b| if a >= b { a } else { b }),
            Op::VMacF32 | Op::VMacLegacyF32 => {
                let result = inst.result;
                let c = self.vectors[usize::from(result.0 & 0xff)].map(f32::from_bits);
                let (a, b) = (self.floats(inst, 0), self.floats(inst, 1));
                if inst.op == Op::VMacLegacyF32 {
                    let product = std::array::from_fn(|lane| legacy_product(a[lane], b[lane]));
                    self.multiply_add(inst, &[product, [1.0; LANES], c]);
                } else {
                    self.multiply_add(inst, &[a, b, c]);
                }
            }
            Op::VMadF32 | Op::VMadakF32 | Op::VMadmkF32 => {
                let sources = [0, 1, 2].map(|at| self.floats(inst, at));
                self.multiply_add(inst, &sources);
            }
            Op::VMadLegacyF32 => self.float3(inst, |a, b, c| legacy_product(a, b) + c),
            Op::VFmaF32 => {
                let values = self.fused(inst);
                self.write_floats(inst, &values);
            }
            Op::VMin3F32 => self.float3(inst, |a, b, c| least(least(a, b, ieee), c, ieee)),
            Op::VMax3F32 => self.float3(inst, |a, b, c| greatest(greatest(a, b, ieee), c, ieee)),
            Op::VMed3F32 => self.float3(inst, |a, b, c| median(a, b, c, ieee)),
            Op::VLdexpF32 => {
                let exponents = self.words(inst, 1);
                let values = self.floats(inst, 0);
                let scaled =
                    std::array::from_fn(|lane| libm::ldexpf(values[lane], exponents[lane] as i32));
                self.write_floats(inst, &scaled);
            }
            Op::VTruncF32 => self.float1(inst, libm::truncf),
            Op::VCeilF32 => self.float1(inst, libm::ceilf),
            Op::VFloorF32 => self.float1(inst, libm::floorf),
            Op::VRndneF32 => self.float1(inst, f32::round_ties_even),
            Op::VFractF32 => self.float1(inst, |a| {
                (a - libm::floorf(a)).min(f32::from_bits(0x3f7f_ffff))
            }),
            Op::VExpF32 => self.float1(inst, |a| libm::exp2(f64::from(a)) as f32),
            Op::VLogF32 => self.float1(inst, |a| libm::log2(f64::from(a)) as f32),
            Op::VLogClampF32 => self.float1(inst, |a| finite(libm::log2(f64::from(a)) as f32)),
            Op::VRcpF32 | Op::VRcpIflagF32 => self.float1(inst, |a| 1.0 / a),
            Op::VRcpClampF32 => self.float1(inst, |a| finite(1.0 / a)),
            Op::VRcpLegacyF32 => self.float1(inst, |a| if a == 0.0 { 0.0 } else { 1.0 / a }),
            Op::VRsqF32 => self.float1(inst, reciprocal_root),
            Op::VRsqClampF32 => self.float1(inst, |a| finite(reciprocal_root(a))),
            Op::VRsqLegacyF32 => {
                self.float1(inst, |a| if a == 0.0 { 0.0 } else { reciprocal_root(a) })
            }
            Op::VSqrtF32 => self.float1(inst, libm::sqrtf),
            Op::VSinF32 => self.float1(inst, |a| turned(a, libm::sin)),
            Op::VCosF32 => self.float1(inst, |a| turned(a, libm::cos)),
            Op::VFrexpMantF32 => {
                self.float1(inst, |a| if a.is_finite() { libm::frexpf(a).0 } else { a })
            }
            Op::VDivFixupF32 => self.divide_fix_up(inst),
            Op::VDivFmasF32 => self.divide_fma(inst),
            Op::VDivScaleF32 => self.divide_scale(inst),
            _ => return Err(UNSUPPORTED),
        }
        Ok(())
    }

    /// Double-precision operations.
    pub fn double(&mut self, inst: &Inst) -> Result<(), Cause> {
        use crate::op::Op;
        let ieee = self.mode.ieee;
        match inst.op {
            Op::VAddF64 => self.double2(inst, |a, b| a + b),
            Op::VMulF64 => self.double2(inst, |a, b| a * b),
            Op::VMinF64 => self.double2(inst, |a, b| least_double(a, b, ieee)),
            Op::VMaxF64 => self.double2(inst, |a, b| -least_double(-a, -b, ieee)),
            Op::VFmaF64 => self.double3(inst, libm::fma),
            Op::VLdexpF64 => {
                let exponents = self.words(inst, 1);
                let values = self.doubles(inst, 0);
                let scaled =
                    std::array::from_fn(|lane| libm::ldexp(values[lane], exponents[lane] as i32));
                self.write_doubles(inst, &scaled);
            }
            Op::VRcpF64 => self.double1(inst, |a| 1.0 / a),
            Op::VRcpClampF64 => self.double1(inst, |a| finite_double(1.0 / a)),
            Op::VRsqF64 => self.double1(inst, |a| 1.0 / libm::sqrt(a)),
            Op::VRsqClampF64 => self.double1(inst, |a| finite_double(1.0 / libm::sqrt(a))),
            Op::VSqrtF64 => self.double1(inst, libm::sqrt),
            Op::VFractF64 => self.double1(inst, |a| {
                (a - libm::floor(a)).min(f64::from_bits(0x3fef_ffff_ffff_ffff))
            }),
            Op::VFrexpMantF64 => {
                self.double1(inst, |a| if a.is_finite() { libm::frexp(a).0 } else { a })
            }
            Op::VDivFixupF64 => self.double3(inst, super::divide::fix_up_double),
            Op::VDivFmasF64 => self.divide_fma_double(inst),
            Op::VDivScaleF64 => self.divide_scale_double(inst),
            _ => return Err(UNSUPPORTED),
        }
        Ok(())
    }

    /// Writes 64-bit integers of `f`.
    pub fn long2(&mut self, inst: &Inst, signed: bool, f: impl Fn(u64, u32) -> u64) {
        let literal = if signed {
            super::scalar::sign_extended
        } else {
            super::scalar::zero_extended
        };
        let a: Longs = self.longs(inst, 0, literal);
        let b = self.words(inst, 1);
        self.write_longs(
            inst.result,
            &std::array::from_fn(|lane| f(a[lane], b[lane])),
        );
    }
}

/// Zero times anything is zero.
fn legacy_product(a: f32, b: f32) -> f32 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

/// Of a number and a NaN the number; of two zeros the negative one. A signalling NaN comes out quiet in IEEE mode.
#[inline]
fn least(a: f32, b: f32, ieee: bool) -> f32 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) if ieee && is_signalling(a) => quiet(a),
        (_, true) if ieee && is_signalling(b) => quiet(b),
        (true, _) => b,
        (_, true) => a,
        _ if a < b || a == b && a.is_sign_negative() => a,
        _ => b,
    }
}

#[inline]
fn greatest(a: f32, b: f32, ieee: bool) -> f32 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) if ieee && is_signalling(a) => quiet(a),
        (_, true) if ieee && is_signalling(b) => quiet(b),
        (true, _) => b,
        (_, true) => a,
        _ if a > b || a == b && a.is_sign_positive() => a,
        _ => b,
    }
}

fn least_double(a: f64, b: f64, ieee: bool) -> f64 {
    let signalling = |value: f64| value.is_nan() && value.to_bits() >> 51 & 1 == 0;
    let quiet = |value: f64| f64::from_bits(value.to_bits() | 1 << 51);
    match (a.is_nan(), b.is_nan()) {
        _ if ieee && signalling(a) => quiet(a),
        _ if ieee && signalling(b) => quiet(b),
        (true, _) => b,
        (_, true) => a,
        _ if a < b || a == b && a.is_sign_negative() => a,
        _ => b,
    }
}

fn is_signalling(value: f32) -> bool {
    value.to_bits() >> 22 & 1 == 0
}

fn quiet(value: f32) -> f32 {
    f32::from_bits(value.to_bits() | 1 << 22)
}

fn median(a: f32, b: f32, c: f32, ieee: bool) -> f32 {
    if a.is_nan() || b.is_nan() || c.is_nan() {
        return least(least(a, b, ieee), c, ieee);
    }
    greatest(
        least(a, b, ieee),
        least(greatest(a, b, ieee), c, ieee),
        ieee,
    )
}

/// Infinities become the largest numbers.
fn finite(value: f32) -> f32 {
    if value.is_infinite() {
        f32::MAX.copysign(value)
    } else {
        value
    }
}

fn finite_double(value: f64) -> f64 {
    if value.is_infinite() {
        f64::MAX.copysign(value)
    } else {
        value
    }
}

fn reciprocal_root(value: f32) -> f32 {
    (1.0 / libm::sqrt(f64::from(value))) as f32
}

/// Angles are turns; beyond 256 of them the hardware gives up.
fn turned(turns: f32, f: impl Fn(f64) -> f64) -> f32 {
    if turns.abs() > 256.0 {
        return f(0.0) as f32;
    }
    let turns = f64::from(turns);
    f((turns - libm::round(turns)) * std::f64::consts::TAU) as f32
}

//! Element types of buffers and scalars, and single values of them.

use std::fmt;

use warpwatt_ptx::types::Type;

/// The type of a scalar or of a buffer's elements; little-endian in memory and in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementType {
    /// 8-bit signed integer.
    I8,
    /// 8-bit unsigned integer.
    U8,
    /// 16-bit signed integer.
    I16,
    /// 16-bit unsigned integer.
    U16,
    /// 32-bit signed integer.
    I32,
    /// 32-bit unsigned integer.
    U32,
    /// 64-bit signed integer.
    I64,
    /// 64-bit unsigned integer.
    U64,
    /// IEEE 754 binary16.
    F16,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
}

impl ElementType {
    /// Every type with its name in launch files.
    pub const ALL: [(&'static str, ElementType); 11] = [
        ("i8", Self::I8),
        ("u8", Self::U8),
        ("i16", Self::I16),
        ("u16", Self::U16),
        ("i32", Self::I32),
        ("u32", Self::U32),
        ("i64", Self::I64),
        ("u64", Self::U64),
        ("f16", Self::F16),
        ("f32", Self::F32),
        ("f64", Self::F64),
    ];

    /// The type called `name` in launch files.
    pub fn from_name(name: &str) -> Option<Self> {
        let found = Self::ALL.iter().find(|(known, _)| *known == name);
        found.map(|(_, element)| *element)
    }

    /// Its name in launch files.
    pub fn name(self) -> &'static str {
        let found = Self::ALL.iter().find(|(_, element)| *element == self);
        found.map_or("?", |(name, _)| name)
    }

    /// The same type in PTX.
    pub fn in_ptx(self) -> Type {
        match self {
            Self::I8 => Type::S8,
            Self::U8 => Type::U8,
            Self::I16 => Type::S16,
            Self::U16 => Type::U16,
            Self::I32 => Type::S32,
            Self::U32 => Type::U32,
            Self::I64 => Type::S64,
            Self::U64 => Type::U64,
            Self::F16 => Type::F16,
            Self::F32 => Type::F32,
            Self::F64 => Type::F64,
        }
    }

    /// Bytes of one element.
    pub fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// Whether it is a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }

    /// Smallest and largest integer of the type; `None` for floating point.
    pub fn integer_range(self) -> Option<(i128, i128)> {
        let bits = 8 * self.bytes() as u32;
        match self {
            Self::I8 | Self::I16 | Self::I32 | Self::I64 => {
                Some((-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1))
            }
            Self::U8 | Self::U16 | Self::U32 | Self::U64 => Some((0, (1i128 << bits) - 1)),
            Self::F16 | Self::F32 | Self::F64 => None,
        }
    }

    /// The bits of an integer: wrapped to the width of an integer type, converted for a floating-point type.
    pub fn bits_of_integer(self, value: i128) -> u64 {
        if self.is_float() {
            return self.bits_of_float(value as f64);
        }
        let mask = u64::MAX >> (64 - 8 * self.bytes());
        (value as u64) & mask
    }

    /// The bits of a number rounded to nearest even; integer types take its integer part.
    pub fn bits_of_float(self, value: f64) -> u64 {
        match self {
            Self::F16 => u64::from(f16_from_f64(value)),
            Self::F32 => u64::from((value as f32).to_bits()),
            Self::F64 => value.to_bits(),
            _ => self.bits_of_integer(value as i128),
        }
    }

    /// Appends an element's bits to a buffer.
    pub(crate) fn push(self, buffer: &mut Vec<u8>, bits: u64) {
        buffer.extend_from_slice(&bits.to_le_bytes()[..self.bytes()]);
    }

    /// Element `index` of a buffer.
    ///
    /// # Panics
    /// If the buffer is shorter.
    pub fn read(self, buffer: &[u8], index: usize) -> Value {
        let mut bytes = [0; 8];
        let start = index * self.bytes();
        bytes[..self.bytes()].copy_from_slice(&buffer[start..start + self.bytes()]);
        Value {
            element: self,
            bits: u64::from_le_bytes(bytes),
        }
    }
}

/// One element as its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// What the bits mean.
    pub element: ElementType,
    /// The element's bits, zero-extended.
    pub bits: u64,
}

impl Value {
    /// The element as a number; 64-bit integers beyond 2^53 are rounded.
    pub fn to_f64(self) -> f64 {
        match self.element {
            ElementType::F16 => f64_from_f16(self.bits as u16),
            ElementType::F32 => f64::from(f32::from_bits(self.bits as u32)),
            ElementType::F64 => f64::from_bits(self.bits),
            _ => self.to_integer() as f64,
        }
    }

    /// The element of an integer type as an integer; the bits of a floating-point one.
    pub fn to_integer(self) -> i128 {
        match self.element {
            ElementType::I8 => i128::from(self.bits as u8 as i8),
            ElementType::I16 => i128::from(self.bits as u16 as i16),
            ElementType::I32 => i128::from(self.bits as u32 as i32),
            ElementType::I64 => i128::from(self.bits as i64),
            _ => i128::from(self.bits),
        }
    }
}

/// Integers in decimal, floating-point numbers in as many digits as tell them from their neighbours.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.to_f64();
        match self.element {
            element if !element.is_float() => write!(f, "{}", self.to_integer()),
            _ if number.is_nan() => write!(f, "NaN (0x{:x})", self.bits),
            ElementType::F64 => write!(f, "{number:?}"),
            _ => write!(f, "{:?}", number as f32),
        }
    }
}

/// Rounds to binary16, nearest even (IEEE 754-2019, section 4.3.1).
fn f16_from_f64(value: f64) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = value.abs();
    if value.is_nan() {
        return sign | 0x7e00;
    }
    if magnitude >= 65520.0 {
        return sign | 0x7c00; // halfway between the largest number and 2^16, or beyond
    }
    // The spacing of binary16 numbers around `magnitude`; 2^-24 among the subnormal ones.
    let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(-14);
    let quanta = (magnitude / 2f64.powi(exponent - 10)).round_ties_even() as u16;
    // A carry out of the mantissa adds one to the exponent field, which is right.
    sign | (quanta + (((exponent + 14) as u16) << 10))
}

/// The exact value of a binary16 number.
fn f64_from_f16(bits: u16) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from(bits >> 10 & 0x1f);
    let mantissa = f64::from(bits & 0x3ff);
    sign * match exponent {
        0 => mantissa * 2f64.powi(-24),
        31 if mantissa == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + mantissa) * 2f64.powi(exponent - 25),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_survives_the_way_to_f64_and_back() {
        for bits in 0..=u16::MAX {
            let number = f64_from_f16(bits);
            if !number.is_nan() {
                assert_eq!(f16_from_f64(number), bits, "0x{bits:04x} = {number}");
            }
        }
    }

    #[test]
    fn halves_round_to_even() {
        assert_eq!(f16_from_f64(2049.0), f16_from_f64(2048.0));
        assert_eq!(f16_from_f64(2051.0), f16_from_f64(2052.0));
        assert_eq!(f16_from_f64(65519.9), 0x7bff);
        assert_eq!(f16_from_f64(65520.0), 0x7c00);
        assert_eq!(f16_from_f64(2f64.powi(-25)), 0);
    }

    #[test]
    fn integers_keep_their_sign() {
        for (name, element) in ElementType::ALL {
            assert_eq!(element.name(), name);
            let value = |number| Value {
                element,
                bits: element.bits_of_integer(number),
            };
            assert_eq!(value(100).to_f64(), 100.0);
            if let Some((low, high)) = element.integer_range() {
                assert_eq!(value(low).to_integer(), low);
                assert_eq!(value(high).to_integer(), high);
            }
        }
    }
}

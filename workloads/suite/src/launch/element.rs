//! Element types of buffers and scalars, and single values of them.

use std::fmt;

use warpwatt_ptx::types::Type;

use super::small::Small;

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
    /// Eight bits: four of exponent, three of fraction, no infinity.
    E4M3,
    /// Eight bits: five of exponent, two of fraction.
    E5M2,
    /// IEEE 754 binary16.
    F16,
    /// The upper half of a binary32.
    BF16,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
}

impl ElementType {
    /// Every type with its name in launch files.
    pub const ALL: [(&'static str, ElementType); 14] = [
        ("i8", Self::I8),
        ("u8", Self::U8),
        ("i16", Self::I16),
        ("u16", Self::U16),
        ("i32", Self::I32),
        ("u32", Self::U32),
        ("i64", Self::I64),
        ("u64", Self::U64),
        ("e4m3", Self::E4M3),
        ("e5m2", Self::E5M2),
        ("f16", Self::F16),
        ("bf16", Self::BF16),
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
            Self::E4M3 | Self::E5M2 => Type::B8,
            Self::BF16 => Type::Bf16,
            Self::F16 => Type::F16,
            Self::F32 => Type::F32,
            Self::F64 => Type::F64,
        }
    }

    /// Bytes of one element.
    pub fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 | Self::E4M3 | Self::E5M2 => 1,
            Self::I16 | Self::U16 | Self::F16 | Self::BF16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// Whether it is a floating-point type.
    pub fn is_float(self) -> bool {
        self.small().is_some() || matches!(self, Self::F32 | Self::F64)
    }

    /// Its format, if it is a floating-point one of 8 or 16 bits.
    fn small(self) -> Option<Small> {
        match self {
            Self::E4M3 => Some(Small::E4M3),
            Self::E5M2 => Some(Small::E5M2),
            Self::F16 => Some(Small::F16),
            Self::BF16 => Some(Small::BF16),
            _ => None,
        }
    }

    /// Smallest and largest integer of the type; `None` for floating point.
    pub fn integer_range(self) -> Option<(i128, i128)> {
        let bits = 8 * self.bytes() as u32;
        match self {
            Self::I8 | Self::I16 | Self::I32 | Self::I64 => {
                Some((-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1))
            }
            Self::U8 | Self::U16 | Self::U32 | Self::U64 => Some((0, (1i128 << bits) - 1)),
            _ => None,
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
        if let Some(small) = self.small() {
            return small.encode(value);
        }
        match self {
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
        if let Some(small) = self.element.small() {
            return small.decode(self.bits);
        }
        match self.element {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_keep_their_sign() {
        for (name, element) in ElementType::ALL {
            assert_eq!(element.name(), name);
            let value = |number| Value {
                element,
                bits: element.bits_of_integer(number),
            };
            assert_eq!(value(96).to_f64(), 96.0);
            if let Some((low, high)) = element.integer_range() {
                assert_eq!(value(low).to_integer(), low);
                assert_eq!(value(high).to_integer(), high);
            }
        }
    }
}

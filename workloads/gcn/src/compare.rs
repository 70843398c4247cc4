//! Vector comparisons: their opcodes are made of a type, a condition and what becomes of the result.

use std::fmt;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Single precision.
    F32,
    /// Double precision.
    F64,
    /// Signed.
    I32,
    /// Signed, 64 bits.
    I64,
    /// Unsigned.
    U32,
    /// Unsigned, 64 bits.
    U64,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compare {
    /// Type of the sources; of the first one, if the class of a number is asked for.
    pub of: Type,
    /// Which comparison: one of sixteen of floating-point numbers, or of eight of integers. Nothing if the class of a number is asked for.
    pub condition: Option<u8>,
    /// Whether the result becomes the execution mask too.
    pub writes_exec: bool,
    /// Whether quiet NaN raise an exception, which changes no result.
    pub signals: bool,
}

const FLOAT: [&str; 16] = [
    "f", "lt", "eq", "le", "gt", "lg", "ge", "o", "u", "nge", "nlg", "ngt", "nle", "neq", "nlt",
    "tru",
];
const INTEGER: [&str; 8] = ["f", "lt", "eq", "le", "gt", "ne", "ge", "t"];

impl Compare {
    /// The comparison of an opcode of eight bits.
    pub fn of(code: u16) -> Option<Self> {
        let writes_exec = code & 0x10 != 0;
        if code < 0x80 {
            return Some(Self {
                of: if code & 0x20 == 0 {
                    Type::F32
                } else {
                    Type::F64
                },
                condition: Some((code & 0xf) as u8),
                writes_exec,
                signals: code & 0x40 != 0,
            });
        }
        let of = match (code >> 5) & 3 {
            0 => Type::I32,
            1 => Type::I64,
            2 => Type::U32,
            _ => Type::U64,
        };
        let (of, condition) = match (code & 0xf, of) {
            (condition @ 0..8, of) => (of, Some(condition as u8)),
            (8, Type::I32) => (Type::F32, None),
            (8, Type::I64) => (Type::F64, None),
            _ => return None,
        };
        (code < 0x100).then_some(Self {
            of,
            condition,
            writes_exec,
            signals: false,
        })
    }

    /// 32-bit registers that the sources take.
    pub fn widths(self) -> [u8; 3] {
        let width = match self.of {
            Type::F32 | Type::I32 | Type::U32 => 1,
            Type::F64 | Type::I64 | Type::U64 => 2,
        };
        [width, if self.condition.is_some() { width } else { 1 }, 0]
    }

    fn is_float(self) -> bool {
        matches!(self.of, Type::F32 | Type::F64)
    }
}

impl fmt::Display for Compare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("v_cmp")?;
        if self.signals {
            f.write_str("s")?;
        }
        if self.writes_exec {
            f.write_str("x")?;
        }
        let condition = match self.condition {
            None => "class",
            Some(condition) if self.is_float() => FLOAT[usize::from(condition)],
            Some(condition) => INTEGER[usize::from(condition)],
        };
        let of = match self.of {
            Type::F32 => "f32",
            Type::F64 => "f64",
            Type::I32 => "i32",
            Type::I64 => "i64",
            Type::U32 => "u32",
            Type::U64 => "u64",
        };
        write!(f, "_{condition}_{of}")
    }
}

//! Instruction descriptors of products in tensor memory (PTX ISA 8.7, tables 42 to 44), and the elements that they name.

use warpwatt_ptx::program::{
    HalfFormat, MatrixElement, SmallFormat, TensorKind, TensorMultiplyAdd,
};

use super::elements::numbers;

/// An element of a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Element(MatrixElement),
    E2m3,
    E3m2,
    E2m1,
}

impl Format {
    /// What the number in a descriptor stands for.
    fn of(kind: TensorKind, number: u32) -> Option<Self> {
        use MatrixElement::{Half, S8, Small, U8};
        Some(match (kind, number) {
            (TensorKind::F16, 0) => Self::Element(Half(HalfFormat::F16)),
            (TensorKind::F16, 1) => Self::Element(Half(HalfFormat::Bf16)),
            (TensorKind::Tf32, 2) => Self::Element(Half(HalfFormat::Tf32)),
            (TensorKind::I8, 0) => Self::Element(U8),
            (TensorKind::I8, 1) => Self::Element(S8),
            (TensorKind::F8f6f4 | TensorKind::Mxf8f6f4, number) => match number {
                0 => Self::Element(Small(SmallFormat::E4m3)),
                1 => Self::Element(Small(SmallFormat::E5m2)),
                3 => Self::E2m3,
                4 => Self::E3m2,
                5 => Self::E2m1,
                _ => return None,
            },
            (TensorKind::Mxf4 | TensorKind::Mxf4nvf4, 1) => Self::E2m1,
            _ => return None,
        })
    }

    /// Bits of an element, if it has fewer than eight.
    pub fn few_bits(self) -> Option<u32> {
        match self {
            Self::Element(_) => None,
            Self::E2m3 | Self::E3m2 => Some(6),
            Self::E2m1 => Some(4),
        }
    }

    /// The numbers of a row; of elements of few bits, one a byte, or two if `packed`.
    pub fn numbers(self, bytes: &[u8], packed: bool, negated: bool) -> Vec<f64> {
        let (exponent, fraction) = match self {
            Self::Element(element) => return numbers(element, bytes, negated),
            Self::E2m3 => (2, 3),
            Self::E3m2 => (3, 2),
            Self::E2m1 => (2, 1),
        };
        let sign = if negated { -1.0 } else { 1.0 };
        let number = |bits: u8| sign * finite(u32::from(bits), exponent, fraction);
        match packed {
            true => {
                let pairs = bytes.iter().flat_map(|byte| [byte & 0xf, byte >> 4]);
                pairs.map(number).collect()
            }
            false => bytes.iter().map(|&bits| number(bits)).collect(),
        }
    }
}

/// A float of few bits that is always finite (OCP Microscaling Formats 1.0, section 5.3).
fn finite(bits: u32, exponent: u32, fraction: u32) -> f64 {
    let bias = (1 << (exponent - 1)) - 1;
    let field = bits >> fraction & ((1 << exponent) - 1);
    let part = f64::from(bits & ((1 << fraction) - 1));
    let whole = f64::from(1 << fraction);
    let (power, significand) = match field {
        0 => (1 - bias, part / whole),
        _ => (field as i32 - bias, 1.0 + part / whole),
    };
    let value = libm::ldexp(significand, power);
    if bits >> (exponent + fraction) & 1 != 0 {
        -value
    } else {
        value
    }
}

/// What an instruction descriptor says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Described {
    pub rows: u32,
    pub columns: u32,
    /// Of A and B.
    pub formats: [Format; 2],
    pub negated: [bool; 2],
    pub transposed: [bool; 2],
    pub sum: MatrixElement,
    pub saturate: bool,
    /// Which bytes of a word the scales of A and B are, and whether they are `e4m3` instead of powers of two.
    pub scale_bytes: [u32; 2],
    pub fine_scales: bool,
}

impl Described {
    pub fn of(how: &TensorMultiplyAdd, word: u32) -> Result<Self, String> {
        let bit = |at: u32| word >> at & 1 != 0;
        let field = |at: u32, bits: u32| word >> at & ((1 << bits) - 1);
        let kind = how.kind;
        if bit(2) {
            return Err("the descriptor says that A is sparse".to_owned());
        }
        if kind.is_packed() && bit(31) {
            return Err("an inner dimension of 96 is of sm_103".to_owned());
        }
        let of_b = if kind.is_packed() { 2 } else { 3 };
        let formats = [field(7, 3), field(10, of_b)].map(|number| Format::of(kind, number));
        let sum = match (kind, field(4, 2)) {
            (kind, _) if kind.is_scaled() => Some(MatrixElement::F32),
            (TensorKind::I8, 2) => Some(MatrixElement::S32),
            (TensorKind::F16 | TensorKind::F8f6f4, 0) => Some(MatrixElement::Half(HalfFormat::F16)),
            (TensorKind::F16 | TensorKind::Tf32 | TensorKind::F8f6f4, 1) => {
                Some(MatrixElement::F32)
            }
            _ => None,
        };
        let ([Some(a), Some(b)], Some(sum)) = (formats, sum) else {
            return Err(format!(
                "the descriptor {word:#x} names no types of {kind:?}"
            ));
        };
        let described = Self {
            rows: field(24, 5) << 4,
            columns: field(17, 6) << 3,
            formats: [a, b],
            negated: [13, 14].map(bit),
            transposed: [15, 16].map(bit),
            sum,
            saturate: kind == TensorKind::I8 && bit(3),
            scale_bytes: [field(29, 2), field(4, 2)],
            fine_scales: kind == TensorKind::Mxf4nvf4 && !bit(23),
        };
        match described.is_known(how) {
            true => Ok(described),
            false => Err(format!(
                "there is no such product with {} rows and {} columns",
                described.rows, described.columns
            )),
        }
    }

    fn is_known(&self, how: &TensorMultiplyAdd) -> bool {
        let rows = match (how.stationary, how.pair, how.kind.is_scaled(), how.shifted) {
            (true, ..) => &[32, 64, 128][..],
            (false, true, _, true) => &[256],
            (false, true, _, false) => &[128, 256],
            (false, false, false, false) => &[64, 128],
            (false, false, ..) => &[128],
        };
        let columns = match (how.stationary, how.pair) {
            (true, _) => matches!(self.columns, 64 | 128 | 256),
            // Each CTA has whole groups of eight.
            (false, true) => self.columns <= 256 && self.columns.is_multiple_of(16),
            (false, false) => self.columns <= 256,
        } && self.columns >= 8;
        rows.contains(&self.rows) && columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_of_few_bits_are_those_of_their_tables() {
        // OCP Microscaling Formats 1.0, tables 2 to 5: largest and smallest numbers.
        assert_eq!(finite(0b0111, 2, 1), 6.0);
        assert_eq!(finite(0b1001, 2, 1), -0.5);
        assert_eq!(finite(0b01_1111, 2, 3), 7.5);
        assert_eq!(finite(0b00_0001, 2, 3), 0.125);
        assert_eq!(finite(0b01_1111, 3, 2), 28.0);
        assert_eq!(finite(0b10_0001, 3, 2), -0.0625);
        let all: Vec<f64> = (0..8).map(|bits| finite(bits, 2, 1)).collect();
        assert_eq!(all, [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]);
    }
}

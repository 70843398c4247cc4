//! Comparison of a buffer with what it must hold.

use super::element::{ElementType, Value};

/// How far an element may be from what it must be: `|got - want| <= absolute + relative * |want|`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    /// In the element's own unit.
    pub absolute: f64,
    /// As a part of the wanted magnitude.
    pub relative: f64,
}

impl Tolerance {
    /// Whether elements must agree in every bit, but the sign of zeros.
    pub fn is_exact(self) -> bool {
        self.absolute == 0.0 && self.relative == 0.0
    }

    /// Whether `got` is near enough to `want`. Without tolerance bits decide, so that a NaN equals itself and poison equals poison; but zeros of either sign are equal.
    pub fn accepts(self, got: Value, want: Value) -> bool {
        if got.bits == want.bits {
            return true;
        }
        if self.is_exact() {
            return got.to_f64() == 0.0 && want.to_f64() == 0.0;
        }
        let (got, want) = (got.to_f64(), want.to_f64());
        if !want.is_finite() {
            return got == want || (got.is_nan() && want.is_nan());
        }
        (got - want).abs() <= self.absolute + self.relative * want.abs()
    }
}

/// An element that is not what it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The argument's name.
    pub buffer: String,
    /// Which element.
    pub index: u64,
    /// What the buffer holds.
    pub got: Value,
    /// What it must hold.
    pub want: Value,
}

/// Compares two buffers of one length; returns the first mismatches, at most `list`, and how many there are in all.
pub fn compare(
    (buffer, element): (&str, ElementType),
    got: &[u8],
    want: &[u8],
    tolerance: Tolerance,
    list: usize,
) -> (Vec<Mismatch>, u64) {
    if got == want {
        return (Vec::new(), 0);
    }
    let mut mismatches = Vec::new();
    let mut total = 0;
    for index in 0..want.len() / element.bytes() {
        let (got, want) = (element.read(got, index), element.read(want, index));
        if tolerance.accepts(got, want) {
            continue;
        }
        total += 1;
        if mismatches.len() < list {
            mismatches.push(Mismatch {
                buffer: buffer.to_owned(),
                index: index as u64,
                got,
                want,
            });
        }
    }
    (mismatches, total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f32_value(number: f32) -> Value {
        Value {
            element: ElementType::F32,
            bits: u64::from(number.to_bits()),
        }
    }

    #[test]
    fn exact_means_bits() {
        let exact = Tolerance::default();
        assert!(exact.accepts(f32_value(f32::NAN), f32_value(f32::NAN)));
        assert!(exact.accepts(f32_value(0.0), f32_value(-0.0)));
        assert!(!exact.accepts(f32_value(1.0), f32_value(1.0 + f32::EPSILON)));
    }

    #[test]
    fn both_tolerances_count() {
        let tolerance = Tolerance {
            absolute: 0.5,
            relative: 0.25,
        };
        assert!(tolerance.accepts(f32_value(10.9), f32_value(8.4)));
        assert!(!tolerance.accepts(f32_value(11.2), f32_value(8.4)));
        assert!(!tolerance.accepts(f32_value(f32::NAN), f32_value(8.4)));
        assert!(tolerance.accepts(f32_value(f32::INFINITY), f32_value(f32::INFINITY)));
        assert!(!tolerance.accepts(f32_value(f32::NEG_INFINITY), f32_value(1.0)));
        assert!(!tolerance.accepts(f32_value(1.0), f32_value(f32::INFINITY)));
    }

    #[test]
    fn all_mismatches_are_counted_and_the_first_are_listed() {
        let want = [0u8; 10];
        let mut got = want;
        got[3] = 1;
        got[7] = 255;
        let (list, total) = compare(("b", ElementType::I8), &got, &want, Tolerance::default(), 1);
        assert_eq!((list.len(), total), (1, 2));
        assert_eq!((list[0].index, list[0].got.to_integer()), (3, 1));
    }
}

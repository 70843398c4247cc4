//! Floating-point formats of 8 and 16 bits.

/// A binary format with a sign.
#[derive(Clone, Copy, Debug)]
pub(super) struct Small {
    /// Bits of the exponent.
    exponent: u32,
    /// Bits of the fraction.
    fraction: u32,
    /// Whether the largest exponent stands for infinities and NaNs; or else only its last code is a NaN, and there are no infinities.
    infinite: bool,
}

impl Small {
    /// IEEE 754 binary16.
    pub const F16: Self = Self::new(5, 10, true);
    /// The upper half of a binary32.
    pub const BF16: Self = Self::new(8, 7, true);
    /// Eight bits, three of fraction (OCP 8-bit Floating Point Specification, revision 1.0, table 1).
    pub const E4M3: Self = Self::new(4, 3, false);
    /// Eight bits, two of fraction.
    pub const E5M2: Self = Self::new(5, 2, true);

    const fn new(exponent: u32, fraction: u32, infinite: bool) -> Self {
        Self {
            exponent,
            fraction,
            infinite,
        }
    }

    /// The exponent of the smallest normal number.
    fn least(self) -> i32 {
        2 - (1 << (self.exponent - 1))
    }

    /// The code with all bits of the exponent set and none of the fraction.
    fn top(self) -> u64 {
        ((1 << self.exponent) - 1) << self.fraction
    }

    fn nan(self) -> u64 {
        match self.infinite {
            true => self.top() | 1 << (self.fraction - 1),
            false => self.top() | ((1 << self.fraction) - 1),
        }
    }

    /// Rounds to nearest, ties to even (IEEE 754-2019, section 4.3.1); what is too large becomes infinite, or a NaN where there is no infinity.
    pub fn encode(self, value: f64) -> u64 {
        let sign = u64::from(value.is_sign_negative()) << (self.exponent + self.fraction);
        let magnitude = value.abs();
        let beyond = if self.infinite {
            self.top()
        } else {
            self.nan()
        };
        if value.is_nan() {
            return sign | self.nan();
        }
        if magnitude.is_infinite() {
            return sign | beyond;
        }
        // The spacing of the format's numbers around `magnitude`.
        let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(self.least());
        let spacing = 2f64.powi(exponent - self.fraction as i32);
        let quanta = (magnitude / spacing).round_ties_even() as u64;
        // A carry out of the fraction adds one to the exponent field, which is right.
        let code = quanta + (((exponent - self.least()) as u64) << self.fraction);
        sign | code.min(beyond)
    }

    /// The exact value.
    pub fn decode(self, bits: u64) -> f64 {
        let sign = match bits >> (self.exponent + self.fraction) & 1 {
            0 => 1.0,
            _ => -1.0,
        };
        let code = bits & ((1 << (self.exponent + self.fraction)) - 1);
        let exponent = (code >> self.fraction) as i32;
        let fraction = (code & ((1 << self.fraction) - 1)) as f64;
        let one = (1u64 << self.fraction) as f64;
        let scale = |exponent: i32| 2f64.powi(exponent - self.fraction as i32);
        if self.infinite && code >= self.top() {
            return if fraction == 0.0 {
                sign * f64::INFINITY
            } else {
                f64::NAN
            };
        }
        if code == self.nan() {
            return f64::NAN;
        }
        sign * match exponent {
            0 => fraction * scale(self.least()),
            _ => (one + fraction) * scale(exponent - 1 + self.least()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_survives_the_way_to_f64_and_back() {
        for format in [Small::F16, Small::BF16, Small::E4M3, Small::E5M2] {
            for bits in 0..1u64 << (1 + format.exponent + format.fraction) {
                let number = format.decode(bits);
                if !number.is_nan() {
                    assert_eq!(
                        format.encode(number),
                        bits,
                        "{format:?} 0x{bits:04x} = {number}"
                    );
                }
            }
            assert!(format.decode(format.encode(f64::NAN)).is_nan());
        }
    }

    #[test]
    fn halves_round_to_even() {
        let half = |value| Small::F16.encode(value);
        assert_eq!(half(2049.0), half(2048.0));
        assert_eq!(half(2051.0), half(2052.0));
        assert_eq!(half(65519.9), 0x7bff);
        assert_eq!(half(65520.0), 0x7c00);
        assert_eq!(half(2f64.powi(-25)), 0);
    }

    /// The extreme values of the OCP specification's table 2, and what lies beyond.
    #[test]
    fn bytes_have_the_published_extremes() {
        assert_eq!(Small::E4M3.decode(0x7e), 448.0);
        assert_eq!(Small::E4M3.decode(0x01), 2f64.powi(-9));
        assert_eq!(Small::E4M3.encode(464.0), 0x7e, "a tie, to even");
        assert_eq!(Small::E4M3.encode(465.0), 0x7f);
        assert_eq!(Small::E4M3.encode(f64::NEG_INFINITY), 0xff);
        assert_eq!(Small::E5M2.decode(0x7b), 57344.0);
        assert_eq!(Small::E5M2.decode(0x01), 2f64.powi(-16));
        assert_eq!(Small::E5M2.encode(1e9), 0x7c);
        assert_eq!(Small::E5M2.decode(0xfc), f64::NEG_INFINITY);
    }

    #[test]
    fn bf16_is_the_upper_half_of_a_single() {
        for value in [1.0f32, -3.140625, 1e-40, 3e38, 0.0] {
            let upper = value.to_bits() >> 16;
            let kept = f32::from_bits(upper << 16);
            assert_eq!(Small::BF16.encode(f64::from(kept)), u64::from(upper));
            assert_eq!(Small::BF16.decode(u64::from(upper)), f64::from(kept));
        }
    }
}

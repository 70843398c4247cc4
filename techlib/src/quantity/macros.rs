//! The macro that makes one quantity.

/// Defines a newtype over `f64` in SI with constructors and readers by unit, arithmetic with itself and with plain numbers, text and serde.
///
/// The units stand from the largest to the smallest; exactly one has the factor 1 and is the SI unit.
macro_rules! quantity {
    (
        $(#[$doc:meta])*
        $name:ident, $what:literal, $example:literal, {
            $($from:ident $as:ident $unit:literal $factor:expr,)+
        }
    ) => {
        $(#[$doc])*
        ///
        #[doc = concat!("Held in SI. As text: `\"", $example, "\"`.")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
        pub struct $name(f64);

        impl $name {
            /// Nothing of it.
            pub const ZERO: Self = Self(0.0);

            const UNITS: &'static [Unit] = &[$(Unit { symbol: $unit, factor: $factor }),+];

            /// From a number in the SI unit.
            pub const fn from_si(value: f64) -> Self {
                Self(value)
            }

            /// The number in the SI unit.
            pub const fn si(self) -> f64 {
                self.0
            }

            $(
                #[doc = concat!("From a number in ", $unit, ".")]
                pub const fn $from(value: f64) -> Self {
                    Self(value * $factor)
                }

                #[doc = concat!("The number in ", $unit, ".")]
                pub const fn $as(self) -> f64 {
                    self.0 / $factor
                }
            )+

            /// The larger of the two.
            pub const fn max(self, other: Self) -> Self {
                Self(self.0.max(other.0))
            }

            /// The smaller of the two.
            pub const fn min(self, other: Self) -> Self {
                Self(self.0.min(other.0))
            }

            /// Neither infinite nor undefined.
            pub const fn is_finite(self) -> bool {
                self.0.is_finite()
            }
        }

        impl std::ops::Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }

        impl std::ops::AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }

        impl std::ops::Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }

        impl std::ops::Mul<f64> for $name {
            type Output = Self;
            fn mul(self, factor: f64) -> Self {
                Self(self.0 * factor)
            }
        }

        impl std::ops::Mul<$name> for f64 {
            type Output = $name;
            fn mul(self, quantity: $name) -> $name {
                $name(self * quantity.0)
            }
        }

        impl std::ops::Div<f64> for $name {
            type Output = Self;
            fn div(self, divisor: f64) -> Self {
                Self(self.0 / divisor)
            }
        }

        impl std::ops::Div for $name {
            type Output = f64;
            fn div(self, other: Self) -> f64 {
                self.0 / other.0
            }
        }

        impl std::iter::Sum for $name {
            fn sum<I: Iterator<Item = Self>>(values: I) -> Self {
                Self(values.map(|value| value.0).sum())
            }
        }

        impl crate::quantity::Figure for $name {
            const UNIT: &'static str = crate::quantity::parse::si_symbol(Self::UNITS);

            fn number(self) -> f64 {
                self.0
            }

            fn readable(self) -> String {
                self.to_string()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                crate::quantity::parse::show(f, self.0, Self::UNITS)
            }
        }

        impl std::str::FromStr for $name {
            type Err = crate::quantity::ParseQuantityError;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                crate::quantity::parse::read(text, $what, $example, Self::UNITS).map(Self)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&crate::quantity::parse::Exact(self.0, Self::UNITS))
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl serde::de::Visitor<'_> for Text {
                    type Value = $name;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str(concat!("text with a unit such as \"", $example, "\""))
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                        text.parse().map_err(E::custom)
                    }
                }
                deserializer.deserialize_str(Text)
            }
        }
    };
}

pub(super) use quantity;

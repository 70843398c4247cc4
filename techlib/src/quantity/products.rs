//! Which products are physics: one line each.

use super::*;

/// `A * B = C` defines both orders of the product and both quotients.
macro_rules! product {
    ($a:ident * $a2:ident = $c:ident, square) => {
        impl std::ops::Mul for $a {
            type Output = $c;
            fn mul(self, other: $a2) -> $c {
                $c::from_si(self.si() * other.si())
            }
        }
        impl std::ops::Div<$a> for $c {
            type Output = $a;
            fn div(self, other: $a) -> $a {
                $a::from_si(self.si() / other.si())
            }
        }
    };
    ($a:ident * $b:ident = $c:ident) => {
        impl std::ops::Mul<$b> for $a {
            type Output = $c;
            fn mul(self, other: $b) -> $c {
                $c::from_si(self.si() * other.si())
            }
        }
        impl std::ops::Mul<$a> for $b {
            type Output = $c;
            fn mul(self, other: $a) -> $c {
                $c::from_si(self.si() * other.si())
            }
        }
        impl std::ops::Div<$a> for $c {
            type Output = $b;
            fn div(self, other: $a) -> $b {
                $b::from_si(self.si() / other.si())
            }
        }
        impl std::ops::Div<$b> for $c {
            type Output = $a;
            fn div(self, other: $b) -> $a {
                $a::from_si(self.si() / other.si())
            }
        }
    };
}

product!(Power * Time = Energy);
product!(Energy * Frequency = Power);
product!(Length * Length = Area, square);
product!(Voltage * Current = Power);
product!(Current * Resistance = Voltage);
product!(Current * Time = Charge);
product!(Charge * Voltage = Energy);
product!(Capacitance * Voltage = Charge);
product!(Resistance * Capacitance = Time);
product!(CapacitancePerLength * Length = Capacitance);
product!(CapacitancePerArea * Length = CapacitancePerLength);
product!(CapacitancePerArea * Area = Capacitance);
product!(ResistancePerLength * Length = Resistance);
product!(Resistance * Length = Resistivity);
product!(ResistancePerLength * Area = Resistivity);
product!(CurrentPerLength * Length = Current);
product!(CurrentPerLength * Resistivity = Voltage);

impl Frequency {
    /// The time of one cycle.
    pub fn period(self) -> Time {
        Time::from_si(1.0 / self.si())
    }
}

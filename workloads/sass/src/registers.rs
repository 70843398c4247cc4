//! Registers as the tracer names them, and how many of them an operand is.

use std::fmt;

use warpwatt_simt::trace::{Register, RegisterKind};

/// A register by its name. Those that always read as zero or true are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Name {
    /// `RZ`, `URZ`, `PT`, `UPT`.
    #[default]
    None,
    /// `R7`: 32 bits a lane.
    Vector(u8),
    /// `UR4`: 32 bits a warp.
    Uniform(u8),
    /// `P0`: a bit a lane.
    Predicate(u8),
    /// `UP0`: a bit a warp.
    UniformPredicate(u8),
}

/// What reads as zero; and as true.
const ZERO: u8 = 255;
const UNIFORM_ZERO: u8 = 63;
const TRUE: u8 = 7;

/// Where uniform registers stand among those that are kept beside the vector registers: predicates come first, each kind behind the other.
const UNIFORM_PREDICATES: u16 = 8;
const UNIFORM: u16 = 16;

impl Name {
    pub fn parse(word: &str) -> Option<Self> {
        let digits = word.find(|c: char| c.is_ascii_digit())?;
        let number: u8 = word[digits..].parse().ok()?;
        Some(match (&word[..digits], number) {
            ("R", ZERO) | ("UR", ZERO | UNIFORM_ZERO) | ("P" | "UP", TRUE) => Self::None,
            ("R", _) => Self::Vector(number),
            ("UR", _) => Self::Uniform(number),
            ("P", 0..TRUE) => Self::Predicate(number),
            ("UP", 0..TRUE) => Self::UniformPredicate(number),
            _ => return None,
        })
    }

    /// It and the `count - 1` registers behind it.
    pub fn registers(self, count: u8) -> impl Iterator<Item = Register> {
        let (kind, first, count) = match self {
            Self::None => (RegisterKind::Word, 0, 0),
            Self::Vector(number) => (RegisterKind::Word, u16::from(number), count),
            Self::Uniform(number) => {
                let first = UNIFORM + u16::from(number);
                (RegisterKind::Predicate, first, count)
            }
            Self::Predicate(number) => (RegisterKind::Predicate, u16::from(number), 1),
            Self::UniformPredicate(number) => {
                let first = UNIFORM_PREDICATES + u16::from(number);
                (RegisterKind::Predicate, first, 1)
            }
        };
        (first..first + u16::from(count)).map(move |number| Register { kind, number })
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("RZ"),
            Self::Vector(number) => write!(f, "R{number}"),
            Self::Uniform(number) => write!(f, "UR{number}"),
            Self::Predicate(number) => write!(f, "P{number}"),
            Self::UniformPredicate(number) => write!(f, "UP{number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!(Name::parse("R12"), Some(Name::Vector(12)));
        assert_eq!(Name::parse("R255"), Some(Name::None));
        assert_eq!(Name::parse("UR4"), Some(Name::Uniform(4)));
        assert_eq!(Name::parse("UR63"), Some(Name::None));
        assert_eq!(Name::parse("P7"), Some(Name::None));
        assert_eq!(Name::parse("UP1"), Some(Name::UniformPredicate(1)));
        for word in ["", "R", "12", "Q3", "R256", "P9", "R1x"] {
            assert_eq!(Name::parse(word), None, "{word}");
        }
    }

    #[test]
    fn kinds_do_not_meet() {
        let numbers = |name: Name| name.registers(2).map(|it| (it.kind, it.number)).collect();
        let all: Vec<Vec<_>> = [
            Name::Vector(254),
            Name::Predicate(6),
            Name::UniformPredicate(6),
            Name::Uniform(62),
            Name::None,
        ]
        .map(numbers)
        .into();
        use RegisterKind::{Predicate, Word};
        let expected = [
            vec![(Word, 254), (Word, 255)],
            vec![(Predicate, 6)],
            vec![(Predicate, 14)],
            vec![(Predicate, 78), (Predicate, 79)],
            vec![],
        ];
        assert_eq!(all, expected);
    }
}

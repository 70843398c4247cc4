//! What protections of stored bits have in common: codes as circuits, and how long registers hold values that are still read.

mod lives;
mod shared;

pub use lives::{Lives, PARTS, WarpRegister, Words, in_file, is_whole};
pub use shared::{attach_fetch, attach_issue};

use warpwatt_circuit::Spec;
use warpwatt_circuit::logic::{Code, LogicBlock, LogicSpec, Side};
use warpwatt_reliability::Outcome;

/// A code of a stored word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// One bit that tells of one error.
    Parity,
    /// Bits that correct one.
    Correcting(Code),
}

impl Guard {
    /// The codes by their names in studies.
    pub const NAMES: [(&'static str, Self); 4] = [
        ("hsiao", Self::Correcting(Code::Hsiao)),
        ("hamming", Self::Correcting(Code::Hamming)),
        ("sec", Self::Correcting(Code::Sec)),
        ("parity", Self::Parity),
    ];

    /// Bits beside a word of `bits` bits.
    pub fn check_bits(self, bits: u64) -> u64 {
        match self {
            Self::Parity => 1,
            Self::Correcting(code) => code.check_bits(bits),
        }
    }

    /// Makes them.
    pub fn generator(self, bits: u64) -> Spec {
        self.circuit(bits, Side::Generator)
    }

    /// Checks a word, and corrects it if the code can.
    pub fn checker(self, bits: u64) -> Spec {
        self.circuit(bits, Side::Checker)
    }

    /// What comes of a single flip.
    pub fn outcome(self) -> Outcome {
        match self {
            Self::Parity => Outcome::Detected,
            Self::Correcting(_) => Outcome::Corrected,
        }
    }

    fn circuit(self, bits: u64, side: Side) -> Spec {
        let block = match (self, side) {
            (Self::Parity, Side::Generator) => LogicBlock::Parity { bits, stages: 1 },
            (Self::Parity, Side::Checker) => LogicBlock::Parity {
                bits: bits + 1,
                stages: 1,
            },
            (Self::Correcting(code), side) => LogicBlock::Secded {
                bits,
                code,
                side,
                stages: 1,
            },
        };
        Spec::Logic(LogicSpec {
            block,
            activity: RANDOM,
        })
    }
}

/// Half of the bits differ from one word to the next.
pub const RANDOM: u8 = 50;

#[cfg(test)]
mod tests {
    use super::*;

    /// The widths of the soft-error paper: 7 bits for an instruction of 64 if one error is all there is, 7 for a register of 32.
    #[test]
    fn words_get_as_many_check_bits_as_their_code_has() {
        let bits = |guard: Guard, word| guard.check_bits(word);
        assert_eq!(bits(Guard::Correcting(Code::Sec), 64), 7);
        assert_eq!(bits(Guard::Correcting(Code::Hsiao), 64), 8);
        assert_eq!(bits(Guard::Correcting(Code::Hsiao), 32), 7);
        assert_eq!(bits(Guard::Parity, 32), 1);
    }
}

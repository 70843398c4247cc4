//! What protections of stored bits have in common: codes as circuits, and how long registers hold values that are still read.

mod lives;
mod shared;

pub use lives::{Lives, PARTS, WarpRegister, Words, in_file, is_whole};
pub use shared::{attach_fetch, attach_issue};

use warpwatt_circuit::Spec;
use warpwatt_circuit::logic::{Code, LogicBlock, LogicSpec, Side};
use warpwatt_gpu::GpuSpec;
use warpwatt_reliability::Outcome;
use warpwatt_structures::Stage;

use crate::Structure;

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
    pub const NAMES: [(&'static str, Self); 5] = [
        ("hsiao", Self::Correcting(Code::Hsiao)),
        ("hamming", Self::Correcting(Code::Hamming)),
        ("sec", Self::Correcting(Code::Sec)),
        ("dected", Self::Correcting(Code::Dected)),
        ("parity", Self::Parity),
    ];

    /// Bits beside a word of `bits` bits.
    pub fn check_bits(self, bits: u64) -> u64 {
        match self {
            Self::Parity => 1,
            Self::Correcting(code) => code.check_bits(bits),
        }
    }

    /// Makes them, a word a cycle.
    pub fn generator(self, bits: u64) -> Spec {
        let stages = stages(bits);
        logic(match self {
            Self::Parity => LogicBlock::Parity { bits, stages },
            Self::Correcting(code) => LogicBlock::Secded {
                bits,
                code,
                side: Side::Generator,
                stages,
            },
        })
    }

    /// Tells of an error, a word a cycle. What is found wrong is dropped in the pipeline, so that the word need not be corrected on its way.
    pub fn detector(self, bits: u64) -> Spec {
        logic(match self {
            Self::Parity => LogicBlock::Parity {
                bits: bits + 1,
                stages: stages(bits),
            },
            // Beside the trees the comparison with the check bits, and one for all of them.
            Self::Correcting(code) => LogicBlock::Secded {
                bits,
                code,
                side: Side::Detector,
                stages: stages(bits) + 1,
            },
        })
    }

    /// Corrects the one word in ages that is wrong; nothing if the code cannot.
    pub fn corrector(self, bits: u64) -> Option<Spec> {
        let Self::Correcting(code) = self else {
            return None;
        };
        Some(logic(LogicBlock::Secded {
            bits,
            code,
            side: Side::Checker,
            stages: 1,
        }))
    }

    /// What comes of a single flip.
    pub fn outcome(self) -> Outcome {
        match self {
            Self::Parity => Outcome::Detected,
            Self::Correcting(_) => Outcome::Corrected,
        }
    }
}

/// Columns of an array whose words get so many bits: an even number. An odd number of columns cannot be multiplexed, so that the array would be folded in
/// another way than the plain one beside it; one is left over instead.
pub fn columns(bits: u64) -> u64 {
    bits.next_multiple_of(2)
}

/// Stages of trees over a word: those of 32 bits are in time in one, of 64 in two.
fn stages(bits: u64) -> u32 {
    if bits > 32 { 2 } else { 1 }
}

/// A block whose inputs are random.
pub fn logic(block: LogicBlock) -> Spec {
    Spec::Logic(LogicSpec {
        block,
        activity: RANDOM,
    })
}

/// Cycles that a correction may take: what is wrong is executed again.
pub const CORRECTION_CYCLES: u32 = 4;

/// A structure beside the pipeline, which takes a word a cycle and delays nothing: it is of the least leaky transistors that are in time.
pub fn beside(gpu: &GpuSpec, structure: Structure) -> Structure {
    within(gpu, structure, 1)
}

/// One that works only when something was wrong.
pub fn seldom(gpu: &GpuSpec, structure: Structure) -> Structure {
    within(gpu, structure, CORRECTION_CYCLES)
}

fn within(gpu: &GpuSpec, structure: Structure, cycles: u32) -> Structure {
    let designed = gpu.chip.clock_mhz;
    let clock_mhz = if designed == 0 {
        gpu.sm.clock_mhz
    } else {
        designed
    };
    Structure {
        stage: Some(Stage {
            cycles,
            clock_mhz,
            depth: 0,
        }),
        ..structure
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
        assert_eq!(bits(Guard::Correcting(Code::Dected), 32), 13);
        assert_eq!(bits(Guard::Correcting(Code::Dected), 64), 15);
    }
}

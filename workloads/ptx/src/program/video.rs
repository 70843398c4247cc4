//! Video instructions: on parts of words (PTX ISA 8.x, sections 9.7.17 and 9.7.18).

use super::Comparison;

/// A SIMD video instruction; the third source is what the sums of all elements are added to, where they are, and else what the
/// elements that are not chosen come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Video {
    /// What is computed.
    pub op: VideoOp,
    /// Elements of a word: 2 or 4.
    pub elements: u8,
    /// Whether the elements of the two operands are signed.
    pub signed: [bool; 2],
    /// Whether the results are.
    pub result_signed: bool,
    /// Results are clamped to their type's range.
    pub saturate: bool,
    /// The result is the third source plus the sum of all elements (`.add`).
    pub accumulate: bool,
    /// For each operand and each element, from the lowest: which element of the two operands, one behind the other, it is.
    pub selected: [[u8; 4]; 2],
    /// The elements that are written, bit by bit.
    pub written: u8,
}

impl Video {
    /// On whole operands.
    pub fn whole(op: VideoOp, elements: u8, signed: bool) -> Self {
        Self {
            op,
            elements,
            signed: [signed; 2],
            result_signed: signed,
            saturate: false,
            accumulate: false,
            selected: Self::straight(elements),
            written: 0xf,
        }
    }

    /// Each operand's own elements, in order.
    pub fn straight(elements: u8) -> [[u8; 4]; 2] {
        [[0, 1, 2, 3], [0, 1, 2, 3].map(|at| at + elements)]
    }
}

/// Functions of [`Video`] and [`ScalarVideo`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum VideoOp {
    Add,
    Sub,
    AbsDiff,
    Average,
    Min,
    Max,
    Set(Comparison),
    /// Shifts by more than 31 shift by 32 or by the lower five bits.
    ShiftLeft {
        wrap: bool,
    },
    ShiftRight {
        wrap: bool,
    },
    /// The third source is added to the product.
    MultiplyAdd(VideoMad),
}

/// A scalar video instruction: sources are a, b and, if it takes part, c.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalarVideo {
    /// What is computed.
    pub op: VideoOp,
    /// Whether a and b are signed.
    pub signed: [bool; 2],
    /// Whether the result is.
    pub result_signed: bool,
    /// The parts of a and b that take part.
    pub parts: [Part; 2],
    /// The result is clamped to its type's range, or to that of the part that is written.
    pub saturate: bool,
    /// What is done with the result and c.
    pub second: Second,
}

/// A part of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Whole,
    /// One of four bytes, from the lowest.
    Byte(u8),
    /// One of two halves.
    Half(u8),
}

/// What a scalar video instruction does with its result and c.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Second {
    /// Nothing.
    None,
    /// Their sum is the result.
    Add,
    /// The smaller one is.
    Min,
    /// The larger one is.
    Max,
    /// The result replaces a part of c.
    Merge(Part),
}

/// What `vmad` does besides multiplying and adding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VideoMad {
    /// Signs of a, b and c are turned.
    pub negative: [bool; 3],
    /// One is added (`.po`).
    pub plus_one: bool,
    /// The sum is shifted right by this much: 0, 7 or 15.
    pub shift: u8,
}

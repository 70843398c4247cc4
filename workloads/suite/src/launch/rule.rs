//! `init` rules: what a buffer holds before the launch, as a pure function of the element's index.

mod parse;
mod text;

pub(crate) use parse::{Reading, read};

use super::element::ElementType;

/// Thirty-two random bits: the upper half of a SplitMix64 output for stream `seed` at position `index`.
pub fn bits(seed: u64, index: u64) -> u32 {
    let mut z = seed
        .wrapping_mul(0xD1B5_4A32_D192_ED03)
        .wrapping_add(index.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    (z >> 32) as u32
}

/// A random number in [0, 1) with 24 bits.
fn unit(seed: u64, index: u64) -> f32 {
    (bits(seed, index) >> 8) as f32 / 16_777_216.0
}

/// What a buffer holds before the launch.
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    /// `zeros()`: every byte zero.
    Zeros,
    /// `poison_bytes(0xCD)`: every byte the same.
    PoisonBytes(u8),
    /// `iota()`: element `i` is `i`.
    Iota,
    /// `range_f32(seed, lo, hi)`: `lo + (hi - lo) * unit` in single precision.
    RangeF32 {
        /// Which random stream.
        seed: u64,
        /// Smallest value.
        low: f32,
        /// Bound above the largest value.
        high: f32,
    },
    /// `bits_u32(seed)`: 32 random bits.
    BitsU32 {
        /// Which random stream.
        seed: u64,
    },
    /// `mod_i32(seed, modulus, offset)`: `bits % modulus + offset`.
    ModI32 {
        /// Which random stream.
        seed: u64,
        /// How many different values.
        modulus: u32,
        /// Smallest value.
        offset: i64,
    },
    /// `running_sum(seed, base, modulus)`: element 0 is 0, and `base + bits % modulus` lies between element `i` and `i + 1`.
    RunningSum {
        /// Which random stream.
        seed: u64,
        /// Smallest difference.
        base: u32,
        /// How many different differences.
        modulus: u32,
    },
    /// `skewed_bytes(seed, choose)`: 32 random bits; where the top bit of stream `choose` is set, only the low half of each byte.
    SkewedBytes {
        /// Which random stream.
        seed: u64,
        /// The stream that chooses.
        choose: u64,
    },
    /// `spike(index, peak, rest)`: one element is `peak`, all others are `rest`.
    Spike {
        /// Which element.
        index: u64,
        /// Its value.
        peak: i64,
        /// Everybody else's value.
        rest: i64,
    },
    /// `border(width, step)`: a matrix of rows of `width` elements whose first row and column are `step` times their distance
    /// from the corner, and all else zero.
    Border {
        /// Elements a row.
        width: u64,
        /// Value a step away from the corner.
        step: i64,
    },
    /// `queens(board, rows, mask)`: one element for each way of placing queens on the first `rows` rows, in the order of
    /// their columns: the columns they take (mask 0), or the diagonals they attack in the next row (1 leftwards, 2 rightwards).
    Queens {
        /// Rows and columns of the board.
        board: u32,
        /// Rows already filled.
        rows: u32,
        /// Which mask: 0, 1 or 2.
        mask: u32,
    },
    /// `reads(seed, text, length, read, errors)`: reads of `read` letters of a text of four letters, which is `mod_i32(text, 4)` with `length`
    /// elements; they begin at random places, and one letter in `errors` is drawn anew.
    Reads {
        /// Which random stream; the two after it are used as well.
        seed: u64,
        /// The text's random stream.
        text: u64,
        /// Letters of the text.
        length: u64,
        /// Letters of a read.
        read: u64,
        /// Mean distance of wrong letters.
        errors: u32,
    },
    /// `suffix_array(text)`: places of that text, as long as the buffer, in the order of the suffixes that begin there.
    SuffixArray {
        /// The text's random stream.
        text: u64,
    },
    /// `suffix_tree(text, length)`: the text's suffix tree from its root, eight numbers a node: four children (0 where there is none), start and
    /// length of the edge that leads to it, two zeros. Zero behind the last node.
    SuffixTree {
        /// The text's random stream.
        text: u64,
        /// Letters of the text.
        length: u64,
    },
}

/// Longest text that is indexed.
const LONGEST_TEXT: u64 = 1 << 20;

impl Rule {
    /// Why this rule cannot fill `count` elements of this type, if so.
    pub(crate) fn objection(&self, element: ElementType, count: u64) -> Option<String> {
        match *self {
            Rule::RangeF32 { .. } if !element.is_float() => Some(format!(
                "`range_f32` fills floating-point buffers, not {}",
                element.name()
            )),
            Rule::ModI32 { modulus: 0, .. } | Rule::RunningSum { modulus: 0, .. } => {
                Some("the modulus must not be zero".to_owned())
            }
            Rule::Border { width: 0, .. } => Some("the width must not be zero".to_owned()),
            Rule::Spike { index, .. } if index >= count => Some(format!(
                "the spike at element {index} lies outside of {count} elements"
            )),
            Rule::Queens { board, rows, mask } => {
                let there = match (board, rows, mask) {
                    (1..=16, 1..=8, 0..=2) if rows <= board => queens(board, rows).len() as u64,
                    _ => return Some("1 to 16 columns, 1 to 8 rows, mask 0, 1 or 2".to_owned()),
                };
                (there != count).then(|| {
                    format!("there are {there} such placements, but the count says {count}")
                })
            }
            Rule::Reads {
                length,
                read,
                errors,
                ..
            } if read == 0 || length < read || errors == 0 => Some(
                "reads have a letter at least and are no longer than the text; errors is not zero"
                    .to_owned(),
            ),
            Rule::SuffixArray { .. } if count > LONGEST_TEXT => {
                Some(format!("at most {LONGEST_TEXT} letters are indexed"))
            }
            Rule::SuffixTree { length, .. }
                if length > LONGEST_TEXT || count < 2 * length * text::NODE as u64 =>
            {
                Some(format!(
                    "a tree takes 16 elements a letter, and at most {LONGEST_TEXT} letters are indexed"
                ))
            }
            _ => None,
        }
    }

    /// The contents of a buffer of `count` elements.
    pub fn fill(&self, element: ElementType, count: u64) -> Vec<u8> {
        let bytes = count as usize * element.bytes();
        match self {
            Rule::Zeros => vec![0; bytes],
            Rule::PoisonBytes(byte) => vec![*byte; bytes],
            Rule::RunningSum {
                seed,
                base,
                modulus,
            } => {
                let step = |i| i128::from(*base) + i128::from(bits(*seed, i) % modulus);
                let sums = (0..count).scan(0i128, |sum, i| {
                    let here = *sum;
                    *sum += step(i);
                    Some(element.bits_of_integer(here))
                });
                collect(element, bytes, sums)
            }
            Rule::Queens { board, rows, mask } => {
                let masks = queens(*board, *rows).into_iter();
                let chosen = masks.map(|masks| u64::from(masks[*mask as usize]));
                collect(element, bytes, chosen)
            }
            Rule::SuffixArray { text } => {
                let places = text::suffix_array(*text, count).into_iter();
                collect(
                    element,
                    bytes,
                    places.map(|place| element.bits_of_integer(i128::from(place))),
                )
            }
            Rule::SuffixTree { text, length } => {
                let nodes = text::suffix_tree(*text, *length).into_iter().flatten();
                let padded = nodes.chain(std::iter::repeat(0)).take(count as usize);
                collect(
                    element,
                    bytes,
                    padded.map(|number| element.bits_of_integer(i128::from(number))),
                )
            }
            _ => collect(element, bytes, (0..count).map(|i| self.element(element, i))),
        }
    }

    /// The bits of element `i`, for the rules in which elements do not depend on each other.
    fn element(&self, element: ElementType, i: u64) -> u64 {
        let integer = |value| element.bits_of_integer(value);
        match *self {
            Rule::RangeF32 { seed, low, high } => {
                element.bits_of_float(f64::from(low + (high - low) * unit(seed, i)))
            }
            Rule::BitsU32 { seed } => integer(i128::from(bits(seed, i))),
            Rule::ModI32 {
                seed,
                modulus,
                offset,
            } => integer(i128::from(bits(seed, i) % modulus) + i128::from(offset)),
            Rule::SkewedBytes { seed, choose } => {
                let skewed = bits(choose, i) >> 31 == 1;
                let mask = if skewed { 0x0f0f_0f0f } else { u32::MAX };
                integer(i128::from(bits(seed, i) & mask))
            }
            Rule::Spike { index, peak, rest } => {
                integer(i128::from(if i == index { peak } else { rest }))
            }
            Rule::Border { width, step } => {
                let (row, column) = (i / width, i % width);
                let on_border = row == 0 || column == 0;
                let distance = if on_border { row + column } else { 0 };
                integer(i128::from(distance) * i128::from(step))
            }
            Rule::Reads {
                seed,
                text,
                length,
                read,
                errors,
            } => {
                let letter = text::read_letter(seed, (text, length), read, errors, i);
                integer(i128::from(letter))
            }
            _ => integer(i128::from(i)), // iota
        }
    }
}

fn collect(element: ElementType, bytes: usize, values: impl Iterator<Item = u64>) -> Vec<u8> {
    let mut buffer = Vec::with_capacity(bytes);
    for value in values {
        element.push(&mut buffer, value);
    }
    buffer
}

/// Columns and diagonals taken by every placement of queens on the first rows of a board.
fn queens(board: u32, rows: u32) -> Vec<[u32; 3]> {
    let full = (1u32 << board) - 1;
    let mut placements = vec![[0; 3]];
    for _ in 0..rows {
        let mut longer = Vec::new();
        for [columns, left, right] in placements {
            for column in 0..board {
                let queen = 1 << column;
                if (columns | left | right) & queen == 0 {
                    longer.push([
                        columns | queen,
                        (left | queen) << 1 & full,
                        (right | queen) >> 1,
                    ]);
                }
            }
        }
        placements = longer;
    }
    placements
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_placement_of_all_rows_is_a_solution() {
        let solutions = [1, 0, 0, 2, 10, 4, 40, 92]; // OEIS A000170
        for (board, solutions) in (1..).zip(solutions) {
            assert_eq!(queens(board, board).len(), solutions, "{board} queens");
        }
    }

    #[test]
    fn running_sums_start_at_zero_and_never_fall_behind_their_base() {
        let rule = Rule::RunningSum {
            seed: 28,
            base: 4,
            modulus: 25,
        };
        let sums = rule.fill(ElementType::I32, 1000);
        let at = |i| ElementType::I32.read(&sums, i).to_integer();
        assert_eq!(at(0), 0);
        assert!((0..999).all(|i| (4..29).contains(&(at(i + 1) - at(i)))));
    }

    #[test]
    fn a_border_counts_from_the_corner() {
        let rule = Rule::Border { width: 3, step: -2 };
        let matrix = rule.fill(ElementType::I8, 6);
        assert_eq!(matrix, [0, 254, 252, 254, 0, 0]);
    }
}

//! What the circuits of a code compute: check bits of a word, and what becomes of a word with errors.

use super::code::{Code, Matrix};

/// The code of words of so many bits, 64 at the most.
#[derive(Clone, Debug)]
pub struct Codec {
    matrix: Matrix,
}

/// A word as the corrector gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// The syndrome is zero.
    Right,
    /// Errors were found, and the word is this without them, as far as the code can tell.
    Corrected(u64),
    /// Errors were found that it cannot correct.
    Wrong,
}

impl Codec {
    /// Words of `bits` bits.
    ///
    /// # Panics
    /// If `bits` is none, or more than 64.
    pub fn new(code: Code, bits: u64) -> Self {
        assert!((1..=64).contains(&bits), "words of {bits} bits");
        Self {
            matrix: Matrix::new(code, bits),
        }
    }

    /// Its check bits: what the generator gives.
    pub fn encode(&self, word: u64) -> u32 {
        let columns = self.matrix.columns.iter().enumerate();
        let ones = columns.filter(|(bit, _)| word >> bit & 1 != 0);
        ones.fold(0, |checks, (_, column)| checks ^ column)
    }

    /// What the corrector makes of a word and the check bits beside it.
    pub fn decode(&self, word: u64, checks: u32) -> Decoded {
        let syndrome = self.encode(word) ^ checks;
        if syndrome == 0 {
            return Decoded::Right;
        }
        if let Some(flips) = self.single(syndrome) {
            return Decoded::Corrected(word ^ flips);
        }
        let two = || {
            let all = self.columns();
            (0..all.len()).find_map(|first| {
                let other = all[first].1 ^ syndrome;
                let second = all[..first].iter().find(|(_, column)| *column == other);
                second.map(|(flips, _)| flips ^ all[first].0)
            })
        };
        let flips = if self.matrix.corrects_two {
            two()
        } else {
            None
        };
        flips.map_or(Decoded::Wrong, |flips| Decoded::Corrected(word ^ flips))
    }

    /// The data bit of a single error with this syndrome; none of them for an error in a check bit.
    fn single(&self, syndrome: u32) -> Option<u64> {
        let mut columns = self.columns().into_iter();
        columns.find_map(|(flips, column)| (column == syndrome).then_some(flips))
    }

    /// Columns of data and check bits, with the data bits that they stand for.
    fn columns(&self) -> Vec<(u64, u32)> {
        let data = self.matrix.columns.iter().enumerate();
        let data = data.map(|(bit, column)| (1 << bit, *column));
        let checks = (0..self.matrix.checks).map(|check| (0, 1 << check));
        data.chain(checks).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORD: u64 = 0x0123_4567_89ab_cdef;
    const CODES: [Code; 4] = [Code::Sec, Code::Hamming, Code::Hsiao, Code::Dected];

    fn words(code: Code, bits: u64) -> (Codec, u64, u32) {
        let codec = Codec::new(code, bits);
        let word = WORD & (u64::MAX >> (64 - bits));
        let checks = codec.encode(word);
        (codec, word, checks)
    }

    #[test]
    fn every_single_error_of_every_code_is_corrected() {
        for code in CODES {
            for bits in [7, 32, 64] {
                let (codec, word, checks) = words(code, bits);
                assert_eq!(codec.decode(word, checks), Decoded::Right);
                for bit in 0..bits {
                    let found = codec.decode(word ^ (1 << bit), checks);
                    assert_eq!(found, Decoded::Corrected(word), "{code:?} {bits} {bit}");
                }
                for check in 0..code.check_bits(bits) {
                    let found = codec.decode(word, checks ^ (1 << check));
                    assert_eq!(found, Decoded::Corrected(word), "{code:?} {bits} {check}");
                }
            }
        }
    }

    /// What two errors are: something else with the plain code of Hamming, known to be wrong with an overall parity, corrected by the code that corrects two.
    #[test]
    fn two_errors_are_what_the_code_says() {
        for code in CODES {
            let (codec, word, checks) = words(code, 32);
            for first in 0..32 {
                for second in 0..first {
                    let found = codec.decode(word ^ (1 << first) ^ (1 << second), checks);
                    match code {
                        Code::Sec => assert_ne!(found, Decoded::Right),
                        Code::Hamming | Code::Hsiao => assert_eq!(found, Decoded::Wrong),
                        Code::Dected => assert_eq!(found, Decoded::Corrected(word)),
                    }
                }
            }
        }
    }
}

//! Parity trees, and generators and checkers of codes.

use super::code::Matrix;
use super::netlist::{Net, Netlist};

/// The parity of a word.
pub(crate) fn parity(bits: u64) -> Netlist {
    let mut n = Netlist::default();
    n.part("exclusive-or tree");
    let bus = n.bus(bits);
    if let Some(parity) = n.xor_tree(&bus) {
        n.output(parity);
    }
    n
}

/// Check bits out of data bits.
pub(crate) fn generator(matrix: &Matrix) -> Netlist {
    let mut n = Netlist::default();
    n.part("check trees");
    let data = n.bus(matrix.columns.len() as u64);
    for check in 0..matrix.checks {
        let bits: Vec<Net> = matrix.row(check).map(|bit| data[bit]).collect();
        if let Some(parity) = n.xor_tree(&bits) {
            n.output(parity);
        }
    }
    n
}

/// Corrected data, then whether one error was found, then, if the code tells, whether two were.
pub(crate) fn checker(matrix: &Matrix) -> Netlist {
    let mut n = Netlist::default();
    n.part("syndrome trees");
    let data = n.bus(matrix.columns.len() as u64);
    let checks = n.bus(u64::from(matrix.checks));
    let syndrome: Vec<Net> = (0..matrix.checks)
        .map(|check| {
            let mut bits: Vec<Net> = matrix.row(check).map(|bit| data[bit]).collect();
            bits.push(checks[check as usize]);
            n.xor_tree(&bits).unwrap_or(checks[check as usize])
        })
        .collect();
    n.part("column decoders");
    let complement: Vec<Net> = syndrome.iter().map(|bit| n.not(*bit)).collect();
    let errors: Vec<Option<Net>> = matrix
        .columns
        .iter()
        .map(|column| {
            let literal = |check: usize| {
                if column >> check & 1 == 1 {
                    syndrome[check]
                } else {
                    complement[check]
                }
            };
            let literals: Vec<Net> = (0..syndrome.len()).map(literal).collect();
            n.and_all(&literals)
        })
        .collect();
    n.part("correction");
    for (bit, error) in data.iter().zip(errors) {
        if let Some(error) = error {
            let corrected = n.xor(*bit, error);
            n.output(corrected);
        }
    }
    flag(&mut n, &syndrome, matrix.detects_two);
    n
}

/// A syndrome that is not zero tells of an error; where every column is odd, an even one of two.
fn flag(n: &mut Netlist, syndrome: &[Net], detects_two: bool) {
    n.part("error flags");
    let Some(any) = n.or_all(syndrome) else {
        return;
    };
    if !detects_two {
        n.output(any);
        return;
    }
    if let Some(odd) = n.xor_tree(syndrome) {
        let even = n.not(odd);
        let double = n.and(any, even);
        n.output(odd);
        n.output(double);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logic::code::Code;

    /// A word with its check bits, from the generator's own gates.
    fn encoded(matrix: &Matrix, data: &[bool]) -> Vec<bool> {
        let mut word = data.to_vec();
        word.extend(generator(matrix).evaluate(data, &[]));
        word
    }

    fn pattern(bits: usize, seed: usize) -> Vec<bool> {
        (0..bits)
            .map(|i| (i * 7 + seed * 13 + i * i * seed) % 5 < 2)
            .collect()
    }

    #[test]
    fn every_single_error_is_corrected_and_every_double_error_is_detected() {
        for code in [Code::Hamming, Code::Hsiao] {
            for bits in [1, 4, 8, 11, 32] {
                let matrix = Matrix::new(code, bits);
                let gates = checker(&matrix);
                let data = pattern(bits as usize, 3);
                let word = encoded(&matrix, &data);
                let clean = gates.evaluate(&word, &[]);
                assert_eq!(clean[..data.len()], data[..], "{code:?} {bits}");
                assert_eq!(clean[data.len()..], [false, false]);
                for first in 0..word.len() {
                    let mut one = word.clone();
                    one[first] = !one[first];
                    let fixed = gates.evaluate(&one, &[]);
                    assert_eq!(
                        fixed[..data.len()],
                        data[..],
                        "{code:?} {bits}: bit {first}"
                    );
                    assert_eq!(fixed[data.len()..], [true, false]);
                    for second in 0..first {
                        let mut two = one.clone();
                        two[second] = !two[second];
                        assert_eq!(
                            gates.evaluate(&two, &[])[data.len()..],
                            [false, true],
                            "{first} {second}"
                        );
                    }
                }
            }
        }
    }

    /// The gates themselves: each bit of the word flipped once.
    #[test]
    fn every_single_error_is_corrected_by_the_gates() {
        for code in [Code::Sec, Code::Hamming, Code::Hsiao] {
            for bits in (1..=96).chain((97..=256).step_by(53)) {
                let matrix = Matrix::new(code, bits);
                let gates = checker(&matrix);
                let data = pattern(bits as usize, bits as usize);
                let word = encoded(&matrix, &data);
                for flipped in 0..word.len() {
                    let mut one = word.clone();
                    one[flipped] = !one[flipped];
                    let fixed = gates.evaluate(&one, &[]);
                    assert_eq!(fixed[..data.len()], data[..], "{code:?} {bits}: {flipped}");
                    assert!(fixed[data.len()], "{code:?} {bits}: {flipped}");
                }
            }
        }
    }

    /// A tree of n inputs has n - 1 exclusive-ors: Hsiao's (39, 32) and (72, 64) take 89 and 200 in the generator, and as many more as check bits in the
    /// checker's syndrome (Hsiao 1970).
    #[test]
    fn trees_have_as_many_exclusive_ors_as_the_matrix_has_ones() {
        for (bits, generated) in [(32, 89), (64, 200)] {
            let matrix = Matrix::new(Code::Hsiao, bits);
            // An exclusive-or is two gates here.
            assert_eq!(generator(&matrix).gates.len(), 2 * generated);
        }
    }

    #[test]
    fn a_parity_tree_of_n_bits_has_n_less_one_exclusive_ors_and_is_right() {
        let tree = parity(32);
        assert_eq!(tree.gates.len(), 2 * 31);
        for seed in 0..8 {
            let word = pattern(32, seed);
            let odd = word.iter().filter(|bit| **bit).count() % 2 == 1;
            assert_eq!(tree.evaluate(&word, &[]), [odd]);
        }
    }
}

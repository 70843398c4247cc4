//! Parity trees, and generators and checkers of codes.

use super::code::Matrix;
use super::netlist::{Net, Netlist};
use super::share::row_parities;

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
    let columns = data.into_iter().zip(matrix.columns.iter().copied());
    for parity in row_parities(&mut n, columns, matrix.checks)
        .into_iter()
        .flatten()
    {
        n.output(parity);
    }
    n
}

/// Corrected data, then whether one error was found, then, if the code tells, whether two were. Words come as they were written but for one in ages: the syndrome is
/// zero in every operation, and what hangs on it stands still.
pub(crate) fn checker(matrix: &Matrix) -> Netlist {
    if matrix.corrects_two {
        return checker_of_two(matrix);
    }
    let mut n = Netlist::default();
    let (data, syndrome) = syndrome(&mut n, matrix);
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

/// Corrected data, then whether one error or two were corrected, then whether there were more. All syndromes of one error and of two are decoded side by side
/// (R. Naseer, J. Draper, "Parallel Double Error Correcting Code Design to Mitigate Multi-Bit Upsets in SRAMs", ESSCIRC 2008).
fn checker_of_two(matrix: &Matrix) -> Netlist {
    let mut n = Netlist::default();
    let (data, syndrome) = syndrome(&mut n, matrix);
    n.part("column decoders");
    let complement: Vec<Net> = syndrome.iter().map(|bit| n.not(*bit)).collect();
    let checks = (0..matrix.checks).map(|check| 1 << check);
    let columns: Vec<u32> = matrix.columns.iter().copied().chain(checks).collect();
    let mut of_bits: Vec<Vec<Net>> = vec![Vec::new(); columns.len()];
    let mut known = Vec::new();
    for (first, column) in columns.iter().enumerate() {
        // The last one stands for the bit alone.
        for (second, other) in columns[..first].iter().chain([&0]).enumerate() {
            let literal = |check: usize| match (column ^ other) >> check & 1 {
                1 => syndrome[check],
                _ => complement[check],
            };
            let literals: Vec<Net> = (0..syndrome.len()).map(literal).collect();
            if let Some(errors) = n.and_all(&literals) {
                of_bits[first].push(errors);
                if second < first {
                    of_bits[second].push(errors);
                }
                known.push(errors);
            }
        }
    }
    n.part("correction");
    for (bit, errors) in data.iter().zip(of_bits) {
        if let Some(error) = n.or_all(&errors) {
            let corrected = n.xor(*bit, error);
            n.output(corrected);
        }
    }
    n.part("error flags");
    if let (Some(any), Some(known)) = (n.or_all(&syndrome), n.or_all(&known)) {
        let unknown = n.not(known);
        let more = n.and(any, unknown);
        n.output(known);
        n.output(more);
    }
    n
}

/// Whether a word has an error: its syndrome alone.
pub(crate) fn detector(matrix: &Matrix) -> Netlist {
    let mut n = Netlist::default();
    let (_, syndrome) = syndrome(&mut n, matrix);
    flag(&mut n, &syndrome, false);
    n
}

/// The data of a word, and its check bits beside those that the data have.
fn syndrome(n: &mut Netlist, matrix: &Matrix) -> (Vec<Net>, Vec<Net>) {
    n.part("syndrome trees");
    let data = n.bus(matrix.columns.len() as u64);
    let checks = n.bus(u64::from(matrix.checks));
    let columns = data.iter().copied().zip(matrix.columns.iter().copied());
    let sums = row_parities(n, columns, matrix.checks);
    let mut syndrome = Vec::with_capacity(checks.len());
    for (sum, check) in sums.into_iter().zip(&checks) {
        let bit = sum.map_or(*check, |sum| n.xor(sum, *check));
        n.stays_low(bit);
        syndrome.push(bit);
    }
    (data, syndrome)
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

    #[test]
    fn two_errors_are_corrected_and_three_are_detected() {
        for bits in [4, 8] {
            let matrix = Matrix::new(Code::Dected, bits);
            let gates = checker(&matrix);
            let data = pattern(bits as usize, 3);
            let word = encoded(&matrix, &data);
            let clean = gates.evaluate(&word, &[]);
            assert_eq!(clean[..data.len()], data[..], "{bits}");
            assert_eq!(clean[data.len()..], [false, false]);
            for first in 0..word.len() {
                for second in 0..=first {
                    let mut wrong = word.clone();
                    wrong[first] = !word[first];
                    wrong[second] = !word[second];
                    let fixed = gates.evaluate(&wrong, &[]);
                    let bad = format!("{bits}: bits {first} and {second}");
                    assert_eq!(fixed[..data.len()], data[..], "{bad}");
                    assert_eq!(fixed[data.len()..], [true, false], "{bad}");
                    for third in 0..second {
                        if second == first {
                            break;
                        }
                        let mut three = wrong.clone();
                        three[third] = !three[third];
                        let flags = &gates.evaluate(&three, &[])[data.len()..];
                        assert_eq!(flags, [false, true], "{bad} and {third}");
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

    /// Trees of their own have as many exclusive-ors as the matrix has ones, less one a row: 89 and 200 for Hsiao's (39, 32) and (72, 64), 198 for Hamming's
    /// (71, 64). A row of 64 bits has half of them: the trees of two rows that share what both have need far fewer.
    #[test]
    fn rows_share_what_they_have_in_common() {
        for (code, bits, alone, shared) in [
            (Code::Hsiao, 32, 89, 71),
            (Code::Hsiao, 64, 200, 145),
            (Code::Sec, 64, 198, 121),
        ] {
            let matrix = Matrix::new(code, bits);
            let ones: usize = (0..matrix.checks)
                .map(|it| matrix.row(it).count() - 1)
                .sum();
            assert_eq!(ones, alone);
            // An exclusive-or is two gates here.
            assert_eq!(
                generator(&matrix).gates.len(),
                2 * shared,
                "{code:?} {bits}"
            );
        }
    }

    #[test]
    fn a_detector_sees_every_single_error_and_nothing_else() {
        for code in [Code::Sec, Code::Hsiao] {
            let matrix = Matrix::new(code, 32);
            let gates = detector(&matrix);
            let word = encoded(&matrix, &pattern(32, 5));
            assert_eq!(gates.evaluate(&word, &[]), [false]);
            for flipped in 0..word.len() {
                let mut one = word.clone();
                one[flipped] = !one[flipped];
                assert_eq!(gates.evaluate(&one, &[]), [true], "{code:?} {flipped}");
            }
        }
    }

    /// What a checker sees without a fault: data that change, check bits that fit them.
    #[test]
    fn without_faults_nothing_behind_the_syndrome_changes() {
        let matrix = Matrix::new(Code::Sec, 64);
        let gates = checker(&matrix);
        let signals = crate::logic::activity::signals(&gates, 0.5);
        let changing = |part: &str| {
            let of_part = gates
                .gates
                .iter()
                .filter(|gate| gates.parts[gate.part] == part);
            let toggles = of_part.map(|gate| signals[gate.output.index()].toggles);
            toggles.sum::<f64>()
        };
        assert_eq!(changing("column decoders"), 0.0);
        assert_eq!(changing("error flags"), 0.0);
        assert!(changing("syndrome trees") > 10.0);
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

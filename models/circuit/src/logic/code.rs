//! Codes that correct one error or two, most of them detecting one more: their actual check matrices.

use serde::{Deserialize, Serialize};

use super::bch;

/// Which code.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// Hamming's code as it is: corrects one error and takes two for one (Hamming, Bell System Technical Journal 29, 1950).
    Sec,
    /// Hamming's code with one more parity over everything (Hamming, Bell System Technical Journal 29, 1950).
    Hamming,
    /// Columns of odd weight with rows of equal weight: fewer and shallower trees (Hsiao, IBM Journal of Research and Development 14(4), 1970).
    #[default]
    Hsiao,
    /// An extended code of Bose, Ray-Chaudhuri and Hocquenghem: corrects two errors and detects three (Information and Control 3(1), 1960).
    Dected,
}

impl Code {
    /// Check bits of a word of `data` bits.
    pub fn check_bits(self, data: u64) -> u64 {
        let least = |from: u64, holds: &dyn Fn(u64) -> bool| {
            let mut checks = from;
            while !holds(checks) {
                checks += 1;
            }
            checks
        };
        match self {
            Self::Sec => least(2, &|checks| 1 << checks > data + checks),
            Self::Hamming => Self::Sec.check_bits(data) + 1,
            Self::Hsiao => least(4, &|checks| 1 << (checks - 1) >= data + checks),
            Self::Dected => bch::check_bits(data),
        }
    }

    /// Whether two errors in a word are corrected.
    pub fn corrects_two(self) -> bool {
        self == Self::Dected
    }

    /// Whether two errors in a word are told from one.
    pub fn detects_two(self) -> bool {
        self != Self::Sec
    }
}

/// A check matrix in systematic form: the check bits' columns are the unit vectors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Matrix {
    /// Check bits.
    pub(crate) checks: u32,
    /// Of each data bit, in which checks it takes part. Every column has an odd number of ones if two errors are detected.
    pub(crate) columns: Vec<u32>,
    /// Whether they are.
    pub(crate) detects_two: bool,
    /// Whether they are corrected.
    pub(crate) corrects_two: bool,
}

impl Matrix {
    pub(crate) fn new(code: Code, data: u64) -> Self {
        let checks = code.check_bits(data) as u32;
        let columns = match code {
            Code::Sec => positions(data).collect(),
            Code::Hamming => hamming(data, checks),
            Code::Hsiao => hsiao(data, checks),
            Code::Dected => bch::columns(data),
        };
        Self {
            checks,
            columns,
            detects_two: code.detects_two(),
            corrects_two: code.corrects_two(),
        }
    }

    /// The data bits of a check.
    #[cfg(test)]
    pub(crate) fn row(&self, check: u32) -> impl Iterator<Item = usize> {
        let columns = self.columns.iter().enumerate();
        columns
            .filter(move |(_, column)| **column >> check & 1 == 1)
            .map(|(bit, _)| bit)
    }
}

/// Positions of data bits in Hamming's code: those that are no powers of two.
fn positions(data: u64) -> impl Iterator<Item = u32> {
    let positions = (3_u32..).filter(|position| !position.is_power_of_two());
    positions.take(data as usize)
}

/// Hamming's positions, and an overall parity that makes every column odd.
fn hamming(data: u64, checks: u32) -> Vec<u32> {
    let columns = positions(data).map(|position| {
        let overall = u32::from(position.count_ones() % 2 == 0);
        position | overall << (checks - 1)
    });
    columns.collect()
}

/// All columns of weight three, five and so on; those of the last weight taken so that the rows stay level.
fn hsiao(data: u64, checks: u32) -> Vec<u32> {
    let data = data as usize;
    let mut columns: Vec<u32> = Vec::with_capacity(data);
    for weight in (3..=checks).step_by(2) {
        let all = (1_u32..1 << checks).filter(|column| column.count_ones() == weight);
        let all: Vec<u32> = all.collect();
        let missing = data - columns.len();
        if all.len() <= missing {
            columns.extend(all);
        } else {
            columns.extend(level(&columns, all, missing, checks));
        }
    }
    columns
}

/// `count` of the columns, so that the rows of all together are as level as can be.
fn level(fixed: &[u32], mut left: Vec<u32>, count: usize, checks: u32) -> Vec<u32> {
    let mut rows = vec![0_i64; checks as usize];
    let weigh = |rows: &[i64], column: u32| -> i64 {
        let ones = rows
            .iter()
            .enumerate()
            .filter(|(row, _)| column >> row & 1 == 1);
        ones.map(|(_, weight)| weight).sum()
    };
    let add = |rows: &mut [i64], column: u32, sign: i64| {
        for (row, weight) in rows.iter_mut().enumerate() {
            *weight += sign * i64::from(column >> row & 1);
        }
    };
    for column in fixed {
        add(&mut rows, *column, 1);
    }
    let mut chosen = Vec::with_capacity(count);
    for _ in 0..count {
        let lightest = (0..left.len())
            .min_by_key(|&i| weigh(&rows, left[i]))
            .unwrap_or(0);
        let column = left.swap_remove(lightest);
        add(&mut rows, column, 1);
        chosen.push(column);
    }
    // Exchange while the sum of squares falls: each exchange lowers it, so that this ends.
    let mut better = true;
    while better {
        better = false;
        for old in &mut chosen {
            add(&mut rows, *old, -1);
            let lightest = (0..left.len()).min_by_key(|&i| weigh(&rows, left[i]));
            if let Some(new) = lightest.filter(|&i| weigh(&rows, left[i]) < weigh(&rows, *old)) {
                std::mem::swap(&mut left[new], old);
                better = true;
            }
            add(&mut rows, *old, 1);
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_bits_are_as_many_as_textbooks_say() {
        for (data, checks) in [
            (4, 4),
            (8, 5),
            (16, 6),
            (32, 7),
            (64, 8),
            (128, 9),
            (256, 10),
        ] {
            for code in [Code::Hamming, Code::Hsiao] {
                assert_eq!(Matrix::new(code, data).checks, checks, "{code:?} {data}");
            }
        }
    }

    #[test]
    fn plain_hamming_codes_have_a_check_bit_less() {
        for (data, checks) in [
            (4, 3),
            (11, 4),
            (26, 5),
            (32, 6),
            (57, 6),
            (64, 7),
            (247, 8),
        ] {
            assert_eq!(Matrix::new(Code::Sec, data).checks, checks, "{data}");
        }
    }

    /// What a linear code does with errors follows from its columns alone: different ones, none of them a check bit's, correct one error; odd ones detect two,
    /// because the sum of two odd columns is even, and not zero.
    #[test]
    fn columns_correct_one_error_and_detect_two_for_all_widths() {
        for code in [Code::Sec, Code::Hamming, Code::Hsiao] {
            for data in 1..=256 {
                let matrix = Matrix::new(code, data);
                let mut columns = matrix.columns.clone();
                assert_eq!(columns.len() as u64, data);
                columns.extend((0..matrix.checks).map(|check| 1 << check));
                assert!(columns.iter().all(|&column| column < 1 << matrix.checks));
                if matrix.detects_two {
                    assert!(columns.iter().all(|column| column.count_ones() % 2 == 1));
                }
                columns.sort_unstable();
                columns.dedup();
                let words = data + u64::from(matrix.checks);
                assert_eq!(columns.len() as u64, words, "{code:?} {data}");
            }
        }
    }

    /// Ones of the whole matrix, the check bits' own among them, and most ones of a row: Hsiao 1970, table 1.
    #[test]
    fn hsiaos_matrices_have_as_few_ones_as_published_and_level_rows() {
        for (data, ones, most) in [(16, 54, 9), (32, 103, 15), (64, 216, 27), (128, 481, 54)] {
            let matrix = Matrix::new(Code::Hsiao, data);
            let rows = (0..matrix.checks).map(|check| matrix.row(check).count() + 1);
            let rows: Vec<usize> = rows.collect();
            assert_eq!(rows.iter().sum::<usize>(), ones, "{data}");
            assert_eq!(rows.iter().copied().max(), Some(most), "{data}");
        }
        for data in 4..=256 {
            let matrix = Matrix::new(Code::Hsiao, data);
            let rows = (0..matrix.checks).map(|check| matrix.row(check).count());
            let (least, most) = rows.fold((usize::MAX, 0), |(least, most), row| {
                (least.min(row), most.max(row))
            });
            assert!(most - least <= 1, "{data}: rows of {least} to {most}");
        }
    }
}

//! Codes that correct one error and detect two: their actual check matrices.

use serde::{Deserialize, Serialize};

/// Which code.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// Hamming's code with one more parity over everything (Hamming, Bell System Technical Journal 29, 1950).
    Hamming,
    /// Columns of odd weight with rows of equal weight: fewer and shallower trees (Hsiao, IBM Journal of Research and Development 14(4), 1970).
    #[default]
    Hsiao,
}

/// A check matrix in systematic form: the check bits' columns are the unit vectors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Matrix {
    /// Check bits.
    pub(crate) checks: u32,
    /// Of each data bit, in which checks it takes part. Every column has an odd number of ones.
    pub(crate) columns: Vec<u32>,
}

impl Matrix {
    pub(crate) fn new(code: Code, data: u64) -> Self {
        match code {
            Code::Hamming => hamming(data),
            Code::Hsiao => hsiao(data),
        }
    }

    /// The data bits of a check.
    pub(crate) fn row(&self, check: u32) -> impl Iterator<Item = usize> {
        let columns = self.columns.iter().enumerate();
        columns
            .filter(move |(_, column)| **column >> check & 1 == 1)
            .map(|(bit, _)| bit)
    }
}

/// Positions that are no powers of two, and an overall parity that makes every column odd.
fn hamming(data: u64) -> Matrix {
    let mut parities = 2;
    while (1_u64 << parities) < data + parities + 1 {
        parities += 1;
    }
    let parities = parities as u32;
    let positions = (3_u32..).filter(|position| !position.is_power_of_two());
    let columns = positions.take(data as usize).map(|position| {
        let overall = u32::from(position.count_ones() % 2 == 0);
        position | overall << parities
    });
    Matrix {
        checks: parities + 1,
        columns: columns.collect(),
    }
}

/// All columns of weight three, five and so on; those of the last weight taken so that the rows stay level.
fn hsiao(data: u64) -> Matrix {
    let mut checks = 4_u32;
    while (1_u64 << (checks - 1)) < data + u64::from(checks) {
        checks += 1;
    }
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
    Matrix { checks, columns }
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
    fn columns_are_odd_and_all_different_and_hsiaos_rows_are_level() {
        for code in [Code::Hamming, Code::Hsiao] {
            for data in [1, 2, 11, 26, 32, 57, 64, 128] {
                let matrix = Matrix::new(code, data);
                let mut columns = matrix.columns.clone();
                assert_eq!(columns.len() as u64, data);
                assert!(
                    columns
                        .iter()
                        .all(|column| column.count_ones() % 2 == 1 && column.count_ones() > 1)
                );
                columns.sort_unstable();
                columns.dedup();
                assert_eq!(columns.len() as u64, data);
            }
        }
        let matrix = Matrix::new(Code::Hsiao, 64);
        let weights: Vec<usize> = (0..8).map(|check| matrix.row(check).count()).collect();
        // Hsiao's (72, 64) code has 26 data bits in every row.
        assert_eq!(weights, [26; 8]);
    }
}

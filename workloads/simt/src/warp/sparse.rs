//! Products with a sparse matrix A: of each four neighbours in a row two are stored (of TF32, one of two; of elements of four bits, two pairs of four), and
//! metadata say which (PTX ISA 8.7, section 9.7.14.6; in which lanes those of eight bits lie: layouts `ELayout` of NVIDIA's CUTLASS 4,
//! `cute/atom/mma_traits_sm90_gmma_sparse.hpp` and `mma_traits_sm120_sparse.hpp`).

use warpwatt_ptx::program::{MatrixElement, Sparse};

use super::matrix::GROUP;

/// Rows of A, of which a lane has metadata of two.
const ROWS: usize = 16;

/// The columns of what is stored of A, row by row, `stored` each, as the metadata in the lanes say: four bits for each group of neighbours. A lane has sixteen
/// bits of a row and of the one eight below it; where elements have eight bits or less, thirty-two of a row, and its neighbour those of the one eight below.
pub(super) fn columns(
    metadata: &[u32; GROUP],
    sparse: Sparse,
    element: MatrixElement,
    stored: usize,
) -> Vec<usize> {
    let width = element.bits();
    let of = |row: usize, at: usize| {
        let group = match width {
            32 => at,
            4 => at / 4,
            _ => at / 2,
        };
        let (lane, shift) = match width {
            4 | 8 => (group / 8 * 2 + row / 8, group % 8 * 4),
            _ => (group / 4, row / 8 * 16 + group % 4 * 4),
        };
        let lane = row % 8 * 4 + usize::from(sparse.lane) + lane;
        let bits = (metadata[lane % GROUP] >> shift) as usize;
        let chosen = |number: usize| bits >> (number % 2 * 2) & 3;
        match width {
            32 => 2 * group + (bits >> 1 & 1),
            4 => 8 * group + 2 * chosen(at / 2) + at % 2,
            _ => 4 * group + chosen(at),
        }
    };
    let rows = (0..ROWS).flat_map(|row| (0..stored).map(move |at| (row, at)));
    rows.map(|(row, at)| of(row, at)).collect()
}

/// D = A B + D; B has `n` columns.
pub(super) fn multiply(columns: &[usize], a: &[f64], b: &[f64], d: &mut [f64], n: usize) {
    let stored = columns.len() / ROWS;
    let rows = a.chunks_exact(stored).zip(columns.chunks_exact(stored));
    for ((values, columns), sums) in rows.zip(d.chunks_exact_mut(n)) {
        let mut products = vec![-0.0; n];
        for (&value, &column) in values.iter().zip(columns) {
            for (sum, &other) in products.iter_mut().zip(&b[column * n..][..n]) {
                *sum += value * other;
            }
        }
        for (sum, product) in sums.iter_mut().zip(products) {
            *sum += product;
        }
    }
}

//! Products with a sparse matrix A: of each four neighbours in a row two are stored (of TF32, one of two), and metadata say which
//! (PTX ISA 8.7, section 9.7.14.6).

use warpwatt_ptx::program::{HalfFormat, MatrixElement, Sparse};

use super::matrix::GROUP;

/// Rows of A, of which a lane has metadata of two.
const ROWS: usize = 16;

/// The columns of what is stored of A, row by row, `stored` each, as the metadata in the lanes say. Each lane has sixteen bits of a row, and of the one eight
/// below it: four bits for each group of neighbours.
pub(super) fn columns(
    metadata: &[u32; GROUP],
    sparse: Sparse,
    element: MatrixElement,
    stored: usize,
) -> Vec<usize> {
    let single = element == MatrixElement::Half(HalfFormat::Tf32);
    let of = |row: usize, at: usize| {
        let neighbours = if single { at } else { at / 2 };
        let lane = row % 8 * 4 + usize::from(sparse.lane) + neighbours / 4;
        let shift = row / 8 * 16 + neighbours % 4 * 4;
        let bits = (metadata[lane % GROUP] >> shift) as usize;
        match single {
            true => 2 * neighbours + (bits >> 1 & 1),
            false => 4 * neighbours + (bits >> (at % 2 * 2) & 3),
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

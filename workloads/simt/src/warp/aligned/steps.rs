//! The loops over all terms of sums, for any machine. Compilers find vectors in them, but not always the best ones.

/// Columns that are summed side by side: each matrix has a multiple of so many.
pub(in crate::warp) const COLUMNS: usize = 8;
/// Terms of a sum that are added without a loop.
pub(in crate::warp) const STEP: usize = 8;

/// Numbers of some columns of some rows of B, or their exponents.
pub(in crate::warp) type Block<T> = [[T; COLUMNS]; STEP];

/// A, B and what their product is added to, with all exponents.
#[derive(Clone, Copy, Debug)]
pub(in crate::warp) struct Terms<'a> {
    /// Row by row.
    pub left: (&'a [[f32; STEP]], &'a [[i32; STEP]]),
    /// Column by column.
    pub right: (&'a [Block<f32>], &'a [Block<i32>]),
    /// Row by row.
    pub before: (&'a [[f32; COLUMNS]], &'a [[i32; COLUMNS]]),
    /// Steps of a sum.
    pub along: usize,
    /// Bits that are kept below the largest power of two, and the least such power.
    pub kept: i32,
    pub least: i32,
}

/// What is added to sums of some columns: a row of A, columns of B, and what was there.
pub(in crate::warp) type Row<'a> = (
    (&'a [[f32; STEP]], &'a [[i32; STEP]]),
    (&'a [Block<f32>], &'a [Block<i32>]),
    (&'a [f32; COLUMNS], &'a [i32; COLUMNS]),
);

impl Terms<'_> {
    /// All sums, row by row.
    #[inline(always)]
    pub fn each(&self, exact: &mut [[f64; COLUMNS]], sum: impl Fn(Row<'_>) -> [f64; COLUMNS]) {
        let Self { along, .. } = *self;
        let across = self.right.0.len() / along;
        let rows = self
            .left
            .0
            .chunks_exact(along)
            .zip(self.left.1.chunks_exact(along));
        let before = self.before.0.iter().zip(self.before.1);
        let mut to = exact.iter_mut().zip(before);
        for left in rows {
            let columns = self
                .right
                .0
                .chunks_exact(along)
                .zip(self.right.1.chunks_exact(along));
            for (right, (exact, before)) in columns.zip(to.by_ref().take(across)) {
                *exact = sum((left, right, before));
            }
        }
    }
}

/// How all sums are formed, exactly.
pub(in crate::warp) trait Steps:
    Fn(&Terms<'_>, &mut [[f64; COLUMNS]]) + Copy
{
}

impl<T: Fn(&Terms<'_>, &mut [[f64; COLUMNS]]) + Copy> Steps for T {}

/// On any machine.
pub(in crate::warp) fn plain(terms: &Terms<'_>, exact: &mut [[f64; COLUMNS]]) {
    terms.each(exact, |(left, right, before)| {
        let mut sums = [0.0; COLUMNS];
        for (column, sum) in sums.iter_mut().enumerate() {
            let mut largest = before.1[column].max(terms.least);
            for (left, right) in left.1.as_flattened().iter().zip(right.1.as_flattened()) {
                largest = largest.max(left + right[column]);
            }
            let scale = power(terms.kept - largest);
            let mut added = 0;
            for (left, right) in left.0.as_flattened().iter().zip(right.0.as_flattened()) {
                added += (left * right[column] * scale) as i32;
            }
            let all = f64::from(added) + f64::from((before.0[column] * scale) as i32);
            *sum = all * f64::from(power(largest - terms.kept));
        }
        sums
    });
}

/// Two to the power of an exponent.
fn power(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << 23)
}

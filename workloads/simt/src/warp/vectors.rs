//! Code for the vectors that a machine has beyond those of every machine of its kind, chosen when it runs. The only `unsafe` of the project: one call, since the
//! compiler cannot know that the machine was asked.

use warpwatt_ptx::program::{Matrix, MultiplyAdd};

use super::Warp;
use crate::trace::LaneMask;

impl<const W: usize> Warp<W> {
    /// [`Self::multiply_add_here`] with AVX2 where there is AVX2, which takes 0.58 times the instructions (`cargo bench -p warpwatt-simt`, "matrix products", under
    /// callgrind). Both compute the same bits: neither fuses nor reorders operations.
    #[expect(unsafe_code, reason = "see the module")]
    pub(super) fn multiply_add(&mut self, how: &MultiplyAdd, matrix: &Matrix, executed: LaneMask) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the machine has the instructions that the function is compiled to.
            return unsafe { self.multiply_add_wide(how, matrix, executed) };
        }
        self.multiply_add_here(how, matrix, executed);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn multiply_add_wide(&mut self, how: &MultiplyAdd, matrix: &Matrix, executed: LaneMask) {
        self.multiply_add_here(how, matrix, executed);
    }
}

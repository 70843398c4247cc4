//! Code for the vectors that a machine has beyond those of every machine of its kind, chosen when it runs. The only `unsafe` of the project: one call, since the
//! compiler cannot know that the machine was asked.

#[cfg(target_arch = "x86_64")]
use super::aligned::wide;
use super::aligned::{Steps, plain};

/// What vectors make faster: products of matrices.
pub(super) trait Work {
    type Result;
    /// Inlined with all that it calls, to be compiled for the machine of its caller.
    fn done(self, steps: impl Steps) -> Self::Result;
}

/// The result of work, with AVX2 where there is AVX2. The bits are the same without: neither fuses nor reorders operations on floats.
#[cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "see the module"))]
pub(super) fn done<T: Work>(work: T) -> T::Result {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has the instructions that the function is compiled to.
        return unsafe { done_wide(work) };
    }
    work.done(plain)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn done_wide<T: Work>(work: T) -> T::Result {
    // What is compiled to these vectors can be called here without `unsafe`, but not by what is compiled to any.
    work.done(|terms, exact| wide::exact(terms, exact))
}

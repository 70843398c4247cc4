//! Timing a part of a run: more of it until it is sure enough.

use warpwatt_gpu::{Sampling, Way};
use warpwatt_pricing::uncertainty::half_width;

/// How sure a sampled run is to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// Half the 95 % interval of its cycles that comes of what was left out, relative; above zero.
    pub error: f64,
    /// What may be left out.
    pub way: Way,
}

/// Batches of the first try, and most of a try; beyond that a run is timed whole.
const FIRST: u32 = 30;
const MOST: u32 = 240;

impl Goal {
    /// What `time` makes with more and more batches, until the standard deviation that `sigma` finds is small enough, or there is none; else of the whole.
    ///
    /// # Errors
    /// As `time`.
    pub fn meet<T, E>(
        self,
        mut time: impl FnMut(Option<Sampling>) -> Result<T, E>,
        sigma: impl Fn(&T) -> Option<f64>,
    ) -> Result<T, E> {
        let mut batches = FIRST;
        while batches <= MOST {
            let way = self.way;
            let timed = time(Some(Sampling { batches, way }))?;
            if sigma(&timed).is_none_or(|sigma| half_width(sigma) <= self.error) {
                return Ok(timed);
            }
            batches *= 2;
        }
        time(None)
    }
}

//! How much of a kernel is timed where only a part is: what is enough on the GPU without techniques, so that all configurations leave out the same.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use warpwatt_gpu::Sampling;

/// That of a kernel by the number of the GPU, found once each; nothing if all of it is timed.
#[derive(Default)]
pub(crate) struct Guides(Mutex<BTreeMap<usize, Found>>);

type Found = Arc<OnceLock<Option<Sampling>>>;

impl Guides {
    /// That of a GPU, which `find` finds.
    pub fn of(&self, gpu: usize, find: impl FnOnce() -> Option<Sampling>) -> Option<Sampling> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = Arc::clone(all.entry(gpu).or_default());
        drop(all);
        *found.get_or_init(find)
    }
}

#[cfg(test)]
mod tests {
    use warpwatt_gpu::Way;

    use super::*;

    #[test]
    fn each_is_found_once() {
        let sampling = |batches| Sampling {
            batches,
            way: Way::Ctas,
        };
        let guides = Guides::default();
        for (gpu, found) in [(0, None), (1, Some(sampling(30)))] {
            assert_eq!(guides.of(gpu, || found), found);
            assert_eq!(guides.of(gpu, || panic!("it is known")), found);
        }
    }
}

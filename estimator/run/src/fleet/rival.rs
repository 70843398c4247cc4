//! Who among the other workers is silent.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use super::queue::Queue;

/// What was last seen of other workers, and since when that is so.
#[derive(Debug)]
pub struct Rivals {
    lease: Duration,
    seen: BTreeMap<String, (Option<Vec<u8>>, Instant)>,
}

impl Rivals {
    /// Nobody has been seen yet; who shows nothing new for so long is silent.
    pub fn new(lease: Duration) -> Self {
        Self {
            lease,
            seen: BTreeMap::new(),
        }
    }

    /// Looks at a worker; says whether it has shown nothing new for as long as a lease. A file that cannot be read is as one that does not change.
    #[expect(
        clippy::disallowed_methods,
        reason = "who waits must know for how long"
    )]
    pub fn is_silent(&mut self, queue: &Queue, worker: &str) -> bool {
        let now = Instant::now();
        let shown = fs::read(queue.path("workers", worker)).ok();
        match self.seen.get(worker) {
            Some((known, since)) if *known == shown => now.duration_since(*since) >= self.lease,
            _ => {
                self.seen.insert(worker.to_owned(), (shown, now));
                false
            }
        }
    }
}

//! Cases side by side.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::attack::{Setting, Tally};

/// What came of a case: what was wrong, and its seconds of CPU and bytes of memory.
pub type Verdict = (Option<String>, (f64, u64));

/// Does the cases 0 to `count`, or the one that was asked for.
pub fn each(setting: &Setting, count: u64, case: impl Fn(u64) -> Verdict + Sync) -> Tally {
    if let Some(only) = setting.only {
        let mut tally = Tally::default();
        let (wrong, cost) = case(only);
        tally.count(only, wrong, cost);
        return tally;
    }
    let next = AtomicU64::new(0);
    let total = Mutex::new(Tally::default());
    std::thread::scope(|scope| {
        for _ in 0..setting.jobs.max(1) {
            scope.spawn(|| {
                let mut mine = Tally::default();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        break;
                    }
                    let (wrong, cost) = case(number);
                    mine.count(number, wrong, cost);
                }
                total
                    .lock()
                    .unwrap_or_else(|poisoned| poisoned.into_inner())
                    .add(mine);
            });
        }
    });
    total
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

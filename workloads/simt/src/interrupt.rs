//! Somebody who waits for an execution may want it to end.

use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that, once it is set, ends an execution soon: within a millisecond or so.
#[derive(Clone, Copy, Debug)]
pub struct Interrupt(pub &'static AtomicBool);

impl Interrupt {
    /// Whether it is set.
    pub fn is_set(self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The same flag, not one that happens to say the same.
impl PartialEq for Interrupt {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Interrupt {}

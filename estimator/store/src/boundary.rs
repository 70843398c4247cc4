//! Where the database crate ends: a panic in it is a finding about the file.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    /// Whether a panic of this thread would be caught here.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread is about a damaged store, and will be reported as that: a panic hook has nothing to say of it.
pub fn panic_is_a_finding() -> bool {
    INSIDE.get()
}

/// The database crate panicked.
#[derive(Debug)]
pub(super) struct Panicked;

/// Does `work` in the database crate.
///
/// The crate takes the pages of a file for its own and asserts what they say: a page that was damaged on disk is a panic in its decoders, where other
/// damage is an error. Both are the same to a user. It is safe to go on since nothing goes on: who calls this gives up the database that a panic came out
/// of, and no value of this crate is changed inside.
pub(super) fn inside<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    let outer = INSIDE.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    INSIDE.set(outer);
    done.map_err(|_| Panicked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_finding_only_inside() {
        assert!(!panic_is_a_finding());
        assert!(inside(panic_is_a_finding).unwrap());
        assert!(inside(|| panic!("a page is not what it was")).is_err());
        assert!(!panic_is_a_finding());
    }
}

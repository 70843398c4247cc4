//! What of the register files is in use, window by window: figures 2.1 and 3.4 of H. Jeon's work.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Windows that are kept at the most.
pub const MOST_WINDOWS: u64 = 1 << 16;

/// The register files of a run, as its management sees them.
#[derive(Clone, Debug)]
pub struct RegistersOverTime {
    window: u64,
    rows: Rc<RefCell<Vec<RegisterWindow>>>,
    /// Registers of a subarray.
    subarray: Rc<Cell<u32>>,
    full: Rc<Cell<bool>>,
}

/// Sums over the cycles of a window and over all SMs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegisterWindow {
    /// Registers that hold a value.
    pub held: u64,
    /// Registers that resident CTAs asked for.
    pub reserved: u64,
    /// Subarrays with a register that holds a value.
    pub powered: u64,
}

impl RegistersOverTime {
    /// With windows of so many cycles; at least one.
    pub fn new(window: u64) -> Self {
        Self {
            window: window.max(1),
            rows: Rc::default(),
            subarray: Rc::default(),
            full: Rc::default(),
        }
    }

    /// Registers of a subarray.
    pub fn subarray(&self) -> u32 {
        self.subarray.get()
    }

    /// The windows up to the last in which something was held; nothing if they were too many.
    pub fn finish(self) -> Option<Vec<RegisterWindow>> {
        (!self.full.get()).then(|| self.rows.take())
    }

    /// A subarray has so many registers.
    pub(crate) fn divided(&self, subarray: u32) {
        self.subarray.set(subarray);
    }

    /// From cycle `from` to `to` nothing changes; `add` is told of each window how many of its cycles these are.
    pub(crate) fn pass(&self, from: u64, to: u64, add: impl Fn(&mut RegisterWindow, u64)) {
        let mut from = from;
        let mut rows = self.rows.borrow_mut();
        while from < to {
            let at = from / self.window;
            if at >= MOST_WINDOWS {
                self.full.set(true);
                return;
            }
            let end = ((at + 1) * self.window).min(to);
            let at = at as usize;
            if rows.len() <= at {
                rows.resize(at + 1, RegisterWindow::default());
            }
            add(&mut rows[at], end - from);
            from = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_parted_at_the_ends_of_windows() {
        let log = RegistersOverTime::new(10);
        log.pass(5, 27, |row, cycles| row.held += 3 * cycles);
        log.pass(20, 21, |row, cycles| row.powered += cycles);
        let held: Vec<u64> = log.rows.borrow().iter().map(|row| row.held).collect();
        assert_eq!(held, [15, 30, 21]);
        assert_eq!(log.finish().unwrap()[2].powered, 1);
    }

    #[test]
    fn too_many_windows_are_none() {
        let log = RegistersOverTime::new(1);
        log.pass(MOST_WINDOWS - 1, MOST_WINDOWS + 1, |row, cycles| {
            row.held += cycles;
        });
        assert_eq!(log.finish(), None);
    }
}

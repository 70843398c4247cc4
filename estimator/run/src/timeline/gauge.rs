//! Values by interval: what was counted from one boundary to the next.

use std::io::Write;

use super::events::Events;

/// A value over time; what does not change is not written again.
#[derive(Debug)]
pub struct Gauge {
    pid: u32,
    name: &'static str,
    shown: Option<String>,
}

impl Gauge {
    /// Nothing shown yet.
    pub fn new(pid: u32, name: &'static str) -> Self {
        Self {
            pid,
            name,
            shown: None,
        }
    }

    /// From cycle `at` on it is `part / whole`; it stays as it is if there is no whole.
    pub fn show<W: Write>(&mut self, at: u64, (part, whole): (u64, u64), events: &mut Events<W>) {
        if whole == 0 {
            return;
        }
        let value = format!("{:.4}", part as f64 / whole as f64);
        if self.shown.as_ref() != Some(&value) {
            events.counter(self.pid, at, self.name, &value);
            self.shown = Some(value);
        }
    }
}

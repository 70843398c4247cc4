//! Live registers over time, and how much of the subarrays that have power they fill.

use std::ops::Range;

use warpwatt_gpu::trace::KernelTrace;
use warpwatt_gpu::{Control, GpuSpec, Hooks, simulate_under};
use warpwatt_techniques::{MOST_WINDOWS, RegisterWindow, RegistersOverTime, Stack};

use crate::diag::Diag;
use crate::execute::untimed;

/// Registers of a run over time.
#[derive(Clone, Debug)]
pub struct Live {
    /// Cycles of a window.
    pub window: u64,
    /// Registers of a subarray.
    subarray: u64,
    /// A row a window.
    pub rows: Vec<RegisterWindow>,
}

/// Whether a stack of techniques manages registers.
pub fn manages(stack: &Stack, spec: &GpuSpec) -> bool {
    stack.attach_over_time(spec, &mut Hooks::default(), &RegistersOverTime::new(1))
}

impl Live {
    /// Those of a run of `traces` under techniques that [manage](manages) registers, on the GPU that these have reshaped; it is timed for that.
    ///
    /// # Errors
    /// It cannot be timed, or takes too many windows.
    pub fn of(
        stack: &Stack,
        (spec, traces): (&GpuSpec, &[KernelTrace]),
        window: u64,
        control: Control<'_>,
    ) -> Result<Self, Diag> {
        let (log, mut hooks) = (RegistersOverTime::new(window), Hooks::default());
        stack.attach_over_time(spec, &mut hooks, &log);
        let timed = simulate_under(spec, traces, hooks, control);
        timed.map_err(|error| untimed("kernel::timing", &error))?;
        let subarray = u64::from(log.subarray());
        let rows = log.finish().ok_or_else(|| {
            let message = format!("the run has more than {MOST_WINDOWS} windows of registers");
            Diag::error("kernel::live", message).help("choose a larger `--live-window`")
        })?;
        Ok(Self {
            window,
            subarray,
            rows,
        })
    }

    /// Live registers by those reserved, over all of `rows` together; nothing where none are.
    pub fn of_reserved(&self, rows: Range<usize>) -> Option<f64> {
        let sum = self.sum(rows);
        share(sum.held, sum.reserved)
    }

    /// Live registers by all of subarrays that have power, likewise.
    pub fn of_powered(&self, rows: Range<usize>) -> Option<f64> {
        let sum = self.sum(rows);
        share(sum.held, sum.powered * self.subarray)
    }

    fn sum(&self, rows: Range<usize>) -> RegisterWindow {
        let mut sum = RegisterWindow::default();
        for row in &self.rows[rows] {
            sum.held += row.held;
            sum.reserved += row.reserved;
            sum.powered += row.powered;
        }
        sum
    }

    /// The windows as `count` rows of about equal length, or as they are where they are fewer.
    pub fn columns(&self, count: usize) -> impl Iterator<Item = Range<usize>> {
        let (count, all) = (count.min(self.rows.len()), self.rows.len());
        (0..count).map(move |column| column * all / count..(column + 1) * all / count)
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_sums_and_columns_cover_all_windows() {
        let row = |held, reserved, powered| RegisterWindow {
            held,
            reserved,
            powered,
        };
        let live = Live {
            window: 10,
            subarray: 8,
            rows: vec![row(10, 20, 2), row(0, 60, 0), row(0, 0, 0)],
        };
        // (10 + 0) of (20 + 60) reserved, and of 2 x 8 with power: not the means of 50 and 0 %.
        assert_eq!(live.of_reserved(0..3), Some(0.125));
        assert_eq!(live.of_powered(0..3), Some(0.625));
        assert_eq!(
            (live.of_reserved(2..3), live.of_powered(1..2)),
            (None, None)
        );
        assert_eq!(live.columns(2).collect::<Vec<_>>(), [0..1, 1..3]);
        assert_eq!(live.columns(9).count(), 3);
    }
}

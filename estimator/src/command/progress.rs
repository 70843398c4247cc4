//! What a user sees while a study runs: a bar on a terminal, lines elsewhere. Always on standard error.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::console::err;
use crate::run::drive::News;
use crate::run::plan::Plan;

/// The display.
pub struct Progress<'p> {
    plan: &'p Plan,
    bar: Option<ProgressBar>,
    lines: bool,
    executed: usize,
    executions: usize,
}

impl<'p> Progress<'p> {
    /// A display of `points` points to do and `executions` kernels to execute.
    pub fn new(plan: &'p Plan, points: usize, executions: usize, quiet: bool) -> Progress<'p> {
        let terminal = io::stderr().is_terminal();
        let bar = (!quiet && terminal && points > 0).then(|| bar(points));
        Progress {
            plan,
            bar,
            lines: !quiet && !terminal,
            executed: 0,
            executions,
        }
    }

    /// Shows news.
    pub fn tell(&mut self, news: News) {
        match news {
            News::Executed { kernel, kept } => {
                self.executed += 1;
                let name = &self.plan.axes.kernels[self.plan.executions[kernel].kernel]
                    .loaded
                    .name;
                let done = if kept { "kept traces of" } else { "executed" };
                let text = format!(
                    "{done} {} ({}), kernel {} of {}",
                    name.name, name.case, self.executed, self.executions
                );
                match &self.bar {
                    Some(bar) => bar.set_message(text),
                    None if self.lines => err(&format!("{text}\n")),
                    None => (),
                }
            }
            News::Finished { points } => {
                if let Some(bar) = &self.bar {
                    bar.inc(points as u64);
                }
            }
        }
    }

    /// Removes the bar.
    pub fn end(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(points: usize) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(points as u64), ProgressDrawTarget::stderr());
    let style =
        ProgressStyle::with_template("{elapsed_precise} [{bar:30}] {pos}/{len} points  {msg}");
    bar.set_style(
        style
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("=> "),
    );
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

//! What a user sees while a study runs: a bar on a terminal, lines elsewhere. Always on standard error.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::console::{err, visible};
use crate::run::drive::News;
use crate::run::plan::Plan;

/// The display.
pub struct Progress<'p> {
    plan: &'p Plan,
    bar: Option<ProgressBar>,
    lines: bool,
    executed: usize,
    executions: usize,
    finished: usize,
    points: usize,
    since: Instant,
}

/// From so many points on, lines tell of every tenth of them.
const MANY: usize = 1000;

impl<'p> Progress<'p> {
    /// A display of `points` points to do and `executions` kernels to execute.
    #[expect(clippy::disallowed_methods, reason = "a display may know the time")]
    pub fn new(plan: &'p Plan, points: usize, executions: usize, quiet: bool) -> Progress<'p> {
        let terminal = io::stderr().is_terminal();
        let bar = (!quiet && terminal && points > 0).then(|| bar(points));
        Progress {
            plan,
            bar,
            lines: !quiet && !terminal,
            executed: 0,
            executions,
            finished: 0,
            points,
            since: Instant::now(),
        }
    }

    /// Shows news.
    pub fn tell(&mut self, news: News) {
        match news {
            News::Executed { kernel, kept } => {
                self.executed += 1;
                let kernel = self.plan.executions[kernel].kernel;
                let subject = &self.plan.axes.kernels[kernel].subject;
                let name = subject.name();
                let done = match (subject.counted(), kept) {
                    (Some(_), _) => "read the counts of",
                    (None, true) => "kept traces of",
                    (None, false) => "executed",
                };
                let text = format!(
                    "{done} {} ({}), kernel {} of {}",
                    name.name, name.case, self.executed, self.executions
                );
                match &self.bar {
                    Some(bar) => bar.set_message(visible(&text).into_owned()),
                    None if self.lines => err(&format!("{text}\n")),
                    None => (),
                }
            }
            News::Finished { points } => {
                self.finished += points;
                match &self.bar {
                    Some(bar) => bar.inc(points as u64),
                    None if self.lines => self.tell_tenth(points),
                    None => (),
                }
            }
        }
    }

    /// A line for every tenth of many points, with rate and time left.
    fn tell_tenth(&self, points: usize) {
        let tenths = |finished: usize| 10 * finished / self.points.max(1);
        if self.points < MANY || tenths(self.finished) == tenths(self.finished - points) {
            return;
        }
        let elapsed = self.since.elapsed().as_secs_f64().max(1e-3);
        let rate = self.finished as f64 / elapsed;
        err(&format!(
            "{} of {} points, {rate:.0} a second, {:.0} s left\n",
            self.finished,
            self.points,
            self.points.saturating_sub(self.finished) as f64 / rate
        ));
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
    let style = ProgressStyle::with_template(
        "{elapsed_precise} [{bar:30}] {pos}/{len} points, {per_sec}, {eta} left  {msg}",
    );
    bar.set_style(
        style
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("=> "),
    );
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

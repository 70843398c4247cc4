//! A row of slices that follow each other without gaps. Stretches that are too short to be seen are put together; what each was spent on stays known.

use std::fmt::Write as _;
use std::io::Write;

use super::Extent;
use super::events::{Events, Row};

/// One row.
#[derive(Debug)]
pub struct Track {
    row: Row,
    /// What goes on, and since when.
    now: Option<Stretch>,
    /// The stretch before it, which one of the same kind may continue.
    last: Option<Stretch>,
    /// Short stretches that are one slice.
    mixture: Vec<Stretch>,
}

/// A stretch of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    kind: &'static str,
    from: u64,
    to: u64,
}

impl Stretch {
    fn cycles(&self) -> u64 {
        self.to - self.from
    }
}

impl Track {
    /// An empty row.
    pub fn new(row: Row) -> Self {
        Self {
            row,
            now: None,
            last: None,
            mixture: Vec::new(),
        }
    }

    /// From cycle `at` on, `kind` goes on.
    pub fn switch<W: Write>(
        &mut self,
        at: u64,
        kind: &'static str,
        extent: &Extent,
        events: &mut Events<W>,
    ) {
        match &mut self.now {
            Some(now) if now.kind == kind => {}
            Some(now) if at <= now.from => now.kind = kind,
            _ => {
                self.stop(at, extent, events);
                self.now = Some(Stretch {
                    kind,
                    from: at,
                    to: at,
                });
            }
        }
    }

    /// What goes on ends before cycle `at`.
    fn stop<W: Write>(&mut self, at: u64, extent: &Extent, events: &mut Events<W>) {
        let Some(now) = self.now.take() else { return };
        let (from, to) = extent.clip(now.from, at);
        if from >= to {
            return;
        }
        match &mut self.last {
            Some(last) if last.kind == now.kind && last.to == from => last.to = to,
            _ => {
                self.settle(extent, events);
                self.last = Some(Stretch {
                    kind: now.kind,
                    from,
                    to,
                });
            }
        }
    }

    /// Nothing continues the last stretch: it is long enough for a slice, or goes to its neighbours.
    fn settle<W: Write>(&mut self, extent: &Extent, events: &mut Events<W>) {
        let Some(last) = self.last.take() else { return };
        let interval = |stretch: &Stretch| stretch.from / extent.interval();
        let long = last.cycles() >= extent.detail;
        if long
            || self
                .mixture
                .first()
                .is_some_and(|first| interval(first) != interval(&last))
        {
            self.flush(events);
        }
        self.mixture.push(last);
        if long {
            self.flush(events);
        }
    }

    /// Writes the slice of what was put together, under the name of what most of it went into.
    fn flush<W: Write>(&mut self, events: &mut Events<W>) {
        let (Some(first), Some(last)) = (self.mixture.first(), self.mixture.last()) else {
            return;
        };
        let span = (first.from, last.to);
        let mut parts: Vec<(&str, u64)> = Vec::new();
        for stretch in &self.mixture {
            match parts.iter_mut().find(|(kind, _)| *kind == stretch.kind) {
                Some((_, cycles)) => *cycles += stretch.cycles(),
                None => parts.push((stretch.kind, stretch.cycles())),
            }
        }
        parts.sort_by_key(|&(kind, cycles)| (std::cmp::Reverse(cycles), kind));
        let mut args = String::new();
        for (kind, cycles) in &parts {
            let comma = if args.is_empty() { "" } else { "," };
            let _ = write!(args, "{comma}\"{kind}\":{cycles}");
        }
        events.slice(self.row, span, parts[0].0, args);
        self.mixture.clear();
    }

    /// Ends the row before cycle `at`.
    pub fn close<W: Write>(&mut self, at: u64, extent: &Extent, events: &mut Events<W>) {
        self.stop(at, extent, events);
        // Cycle `at` itself may have been begun.
        self.last = self.last.take().filter(|last| last.from < at);
        if let Some(last) = &mut self.last {
            last.to = last.to.min(at);
        }
        self.settle(extent, events);
        self.flush(events);
    }
}

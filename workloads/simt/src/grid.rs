//! The CTAs of a launch: one after the other, and side by side where one polls what another has to write.
//!
//! A CTA none of whose warps can go on before memory changes steps aside, and the next of the grid begins. When a CTA has come to its end, or none is
//! left to begin, those that stepped aside look at memory again, if it was changed meanwhile. Traces come out in the order of the grid all the same.

use std::collections::VecDeque;
use std::ops::Range;

use warpwatt_ptx::Entry;

use crate::cta::{Cta, CtaFault, Ground, Progress};
use crate::error::Cause;
use crate::trace::StoreError;

/// CTAs that may be under way at once: as many as the largest GPUs hold (132 SMs with 32 each).
const RESIDENT: usize = 132 * 32;

/// A CTA that was begun and not taken out yet.
struct Begun<const W: usize> {
    number: usize,
    cta: Cta<W>,
    /// How often memory had been changed when it stepped aside; `None` once it has come to its end.
    polls: Option<u64>,
}

/// What the grid asks of the launch.
pub(crate) trait Launched<const W: usize> {
    /// A CTA to run on.
    fn fresh(&self) -> Cta<W>;
    /// Where the CTA of a number stands.
    fn place(&self, number: usize) -> [u32; 3];
    /// A CTA has come to its end, and all before it.
    ///
    /// # Errors
    /// What was recorded of it cannot be kept.
    fn done(&mut self, cta: &Cta<W>) -> Result<(), StoreError>;
}

/// The CTAs under way.
pub(crate) struct Grid<const W: usize> {
    begun: VecDeque<Begun<W>>,
    idle: Vec<Cta<W>>,
    next: usize,
    count: usize,
    /// Whether CTAs may be under way side by side.
    together: bool,
    /// The CTA that ran last.
    last: usize,
}

/// A fault and the CTA it happened in.
pub(crate) struct GridFault {
    pub number: usize,
    pub fault: CtaFault,
}

/// Why a grid does not come to its end.
pub(crate) enum Stop {
    /// A CTA cannot go on.
    Fault(GridFault),
    /// What was recorded cannot be kept.
    Store(StoreError),
}

impl From<GridFault> for Stop {
    fn from(fault: GridFault) -> Self {
        Self::Fault(fault)
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl<const W: usize> Grid<W> {
    /// The CTAs of a grid by number, the first of which runs on `cta`; `together` says whether they may be under way side by side.
    pub fn new(ctas: Range<usize>, cta: Cta<W>, together: bool) -> Self {
        Self {
            begun: VecDeque::new(),
            idle: vec![cta],
            next: ctas.start,
            count: ctas.end,
            together,
            last: 0,
        }
    }

    /// CTAs that were not begun.
    pub fn left(&self) -> Range<usize> {
        self.next..self.count
    }

    /// Leaves out the next CTAs, which were run elsewhere.
    pub fn skip(&mut self, ctas: usize) {
        self.next += ctas;
    }

    /// Runs all of them, or until none is under way and `enough` says so.
    pub fn run(
        &mut self,
        launched: &mut impl Launched<W>,
        ground: &mut Ground<'_>,
        enough: impl Fn(&Ground<'_>) -> bool,
    ) -> Result<(), Stop> {
        let mut ended = false;
        loop {
            if self.begun.is_empty() && enough(ground) {
                return Ok(());
            }
            let again = self.next_to_look(ground.changes);
            let begins = self.next < self.count && self.begun.len() < RESIDENT;
            let progress = match again {
                Some(at) if ended || !begins => self.look_again(at, ground)?,
                _ if begins && (self.together || self.begun.is_empty()) => {
                    self.begin(launched, ground)?
                }
                _ if begins => return Err(self.stops(ground.entry, Cause::Together).into()),
                _ if self.begun.is_empty() => return Ok(()),
                _ => return Err(self.hang(ground.entry).into()),
            };
            // One that ended lets the others look, each once, before further ones begin.
            ended = progress == Progress::Done || ended && again.is_some();
            self.take_out(launched)?;
        }
    }

    /// What was looked for in all CTAs, which went one after the other.
    pub fn into_cta(mut self) -> Option<Cta<W>> {
        self.idle.pop()
    }

    /// The next CTA, in turns, that polls and before which memory was changed.
    fn next_to_look(&self, changes: u64) -> Option<usize> {
        let looks = |begun: &Begun<W>| begun.polls.is_some_and(|seen| seen != changes);
        let later = |begun: &Begun<W>| begun.number > self.last && looks(begun);
        let later = self.begun.iter().position(later);
        later.or_else(|| self.begun.iter().position(looks))
    }

    fn begin(
        &mut self,
        launched: &impl Launched<W>,
        ground: &mut Ground<'_>,
    ) -> Result<Progress, GridFault> {
        let number = self.next;
        self.next += 1;
        self.last = number;
        let mut cta = self.idle.pop().unwrap_or_else(|| launched.fresh());
        let progress = cta.run(launched.place(number), ground);
        let progress = progress.map_err(|fault| GridFault { number, fault })?;
        let polls = polls(progress, ground);
        self.begun.push_back(Begun { number, cta, polls });
        Ok(progress)
    }

    fn look_again(&mut self, at: usize, ground: &mut Ground<'_>) -> Result<Progress, GridFault> {
        let Begun { number, cta, polls } = &mut self.begun[at];
        let number = *number;
        self.last = number;
        let progress = cta.go_on(ground);
        let progress = progress.map_err(|fault| GridFault { number, fault })?;
        *polls = self::polls(progress, ground);
        Ok(progress)
    }

    /// Those that have come to their end, from the first on.
    fn take_out(&mut self, launched: &mut impl Launched<W>) -> Result<(), StoreError> {
        let over = |first: &Begun<W>| first.polls.is_none();
        while self.begun.front().is_some_and(over)
            && let Some(first) = self.begun.pop_front()
        {
            launched.done(&first.cta)?;
            self.idle.push(first.cta);
        }
        Ok(())
    }

    /// Nobody changes what the CTAs under way poll.
    fn hang(&mut self, entry: &Entry) -> GridFault {
        let mut waiting = Vec::new();
        for begun in self.begun.iter_mut().filter(|begun| begun.polls.is_some()) {
            waiting.extend(begun.cta.waits(entry));
        }
        self.stops(entry, Cause::Hang { waiting })
    }

    /// A fault of the first CTA that polls, where it does.
    fn stops(&mut self, entry: &Entry, cause: Cause) -> GridFault {
        let first = self.begun.iter_mut().find(|begun| begun.polls.is_some());
        let Some(first) = first else {
            unreachable!("a grid without CTAs under way has ended")
        };
        let mut fault = first.cta.hang(entry);
        fault.fault.cause = cause;
        let number = first.number;
        GridFault { number, fault }
    }
}

fn polls(progress: Progress, ground: &Ground<'_>) -> Option<u64> {
    (progress == Progress::Polls).then_some(ground.changes)
}

//! A warp slot: where its trace stands, its instruction buffer, its scoreboard entry.

use warpwatt_simt::trace::{Step, WarpCursor};

use super::scoreboard::Entry;
use crate::engine::NEVER;
use crate::program::{Port, Program};

/// Most instruction-buffer entries of a warp.
const MOST: usize = 7;
/// Places of a ring for them and one more: a power of two, so that the next one is found without a comparison.
const RING: usize = 8;

/// What the issue stage knows of a warp's oldest buffered instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Head {
    /// There is none yet, or the warp waits at a barrier.
    #[default]
    Absent,
    /// It waits for the scoreboard.
    Blocked,
    /// It can go to the port.
    Ready(Port),
}

/// A warp slot of an SM. What every instruction looks at lies in one line of the processor's cache, together with the head of the scoreboard's entry.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Warp {
    first: u8,
    /// One less than the places of the ring that are used: few, so that they stay in the processor's cache.
    last: u8,
    /// Entries reserved, from the fetch on.
    pub held: u8,
    /// Entries whose instruction is decoded.
    pub delivered: u8,
    /// A branch was fetched and is not resolved.
    pub branch: bool,
    /// Instructions in the buffer that lie behind a taken branch.
    pub wrong: u8,
    /// They are decoded.
    pub wrong_delivered: bool,
    /// Metadata instructions that are fetched before `next`.
    pub due: u8,
    /// A fetch that brings nothing else is under way.
    pub bare: bool,
    pub head: Head,
    pub cta: u8,
    /// The last instruction has left the pipeline; results may be missing.
    pub drained: bool,
    /// The instruction that a fetch which knows no branch brings next.
    pub fetch_at: u32,
    /// When a branch that was issued is resolved; never if there is none.
    pub resolves: u64,
    pub entry: Entry,
    cursor: Option<WarpCursor>,
    /// When it was placed.
    pub placed: u64,
    /// When it issued last, where that matters.
    pub issued_at: Option<u64>,
    /// From `first` on, around the end: what is in the buffer, and then what is fetched next; nothing there when everything has been fetched.
    steps: [Waiting; RING],
}

/// A step in a line of its own.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
struct Waiting(Option<Step>);

impl Warp {
    /// A slot with a buffer of so many entries.
    pub fn new(buffer_entries: u32) -> Self {
        Self {
            last: (buffer_entries + 1).next_power_of_two() as u8 - 1,
            ..Self::default()
        }
    }

    /// Starts a trace in this slot, whose last warp has retired. Of the ring only the first place is read before it is written.
    pub fn place(&mut self, mut cursor: WarpCursor, cta: u8, now: u64) {
        debug_assert!(self.entry.is_clear(now));
        (self.first, self.held, self.delivered) = (0, 0, 0);
        (self.branch, self.bare, self.drained) = (false, false, false);
        self.forget_wrong();
        self.head = Head::Absent;
        self.cta = cta;
        self.placed = now;
        self.issued_at = None;
        self.resolves = NEVER;
        self.steps[0].0 = cursor.next();
        self.fetch_at = self.next().map_or(0, |step| step.inst);
        self.cursor = Some(cursor);
    }

    /// The place of the `number`th step from the oldest on.
    #[inline]
    fn at(&self, number: u8) -> usize {
        debug_assert!(usize::from(number) <= MOST);
        usize::from((self.first + number) & self.last) % RING
    }

    /// What is fetched next; `None` when everything has been fetched.
    #[inline]
    pub fn next(&self) -> Option<&Step> {
        self.steps[self.at(self.held)].0.as_ref()
    }

    /// Reserves a buffer entry for the next instruction, if there is one.
    #[inline]
    pub fn fetch(&mut self) {
        self.held += 1;
        let behind = self.at(self.held);
        self.steps[behind].0 = self.cursor.as_mut().and_then(Iterator::next);
    }

    /// Bytes of its trace that have not been looked at.
    pub fn left(&self) -> usize {
        self.cursor.as_ref().map_or(0, WarpCursor::left)
    }

    /// Leaves out what would be fetched next, unless it is the last instruction.
    pub fn leave_out(&mut self) -> Option<Step> {
        let next = self.at(self.held);
        let behind = self.cursor.as_mut()?.next()?;
        self.steps[next].0.replace(behind)
    }

    /// Goes on in another trace in place of the last instruction, which is not fetched yet.
    pub fn continue_in(&mut self, mut cursor: WarpCursor) {
        let next = self.at(self.held);
        self.steps[next].0 = cursor.next();
        self.cursor = Some(cursor);
    }

    /// What is fetched next is another instruction than before.
    pub fn redirect(&mut self, program: &Program) {
        self.fetch_at = self.next().map_or(0, |step| step.inst);
        self.due = self.metadata(program);
    }

    /// Metadata instructions in front of the next instruction.
    #[inline]
    pub fn metadata(&self, program: &Program) -> u8 {
        self.next().map_or(0, |next| program.metadata(next.inst))
    }

    /// What was fetched first, or all that was fetched, is decoded; how many instructions that is, wrong ones included.
    #[inline]
    pub fn deliver(&mut self, all: bool) -> u8 {
        if self.bare && self.held == self.delivered {
            self.bare = false;
            0
        } else if all {
            self.delivered = self.held;
            self.wrong_delivered = self.wrong > 0;
            self.held + self.wrong
        } else if self.wrong > 0 && self.delivered == self.held {
            self.wrong_delivered = true;
            self.wrong
        } else {
            self.delivered += 1;
            1
        }
    }

    /// What lies behind a taken branch is thrown away.
    pub fn forget_wrong(&mut self) {
        self.wrong = 0;
        self.wrong_delivered = false;
    }

    /// The oldest instruction, if it is decoded.
    #[inline]
    pub fn oldest(&self) -> Option<&Step> {
        if self.delivered == 0 {
            None
        } else {
            self.steps[self.at(0)].0.as_ref()
        }
    }

    /// The `number`th instruction in the buffer, the oldest being the first.
    pub fn buffered(&self, number: u8) -> Option<&Step> {
        self.steps[self.at(number)].0.as_ref()
    }

    /// The instruction that issues next, decoded or not, fetched or not: what is fetched next stands right behind what was fetched.
    pub fn coming(&self) -> Option<&Step> {
        self.steps[usize::from(self.first)].0.as_ref()
    }

    /// Takes the oldest instruction out of the buffer.
    #[inline]
    pub fn issue(&mut self) -> Option<Step> {
        let oldest = self.at(0);
        let step = self.steps[oldest].0.take();
        self.first = self.at(1) as u8;
        self.held -= 1;
        self.delivered -= 1;
        step
    }

    /// Whether everything has been issued.
    #[inline]
    pub fn exhausted(&self) -> bool {
        self.held == 0 && self.next().is_none()
    }
}

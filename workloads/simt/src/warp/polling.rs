//! Loops that cannot end by themselves.
//!
//! A loop that comes to the same place with the same lanes, the same registers and nothing written in between does so for ever, unless somebody
//! else changes memory. Registers are compared rarely (at the 64th turn without a change of memory, the 256th, the 1024th and so on; at the first
//! once lanes have polled), so that other loops pay nothing that could be measured. The repeated turns are taken out of the trace: how often a
//! loop polls is a matter of time, which functional execution has not.

use super::Warp;
use crate::registers::Registers;
use crate::stack::SimtStack;
use crate::trace::record::Mark;
use crate::trace::{Counts, LaneMask};

/// Turns after which registers are kept for comparison.
const FIRST: u64 = 64;

/// How many later turns are compared with them.
const COMPARED: u64 = 8;

/// After how many turns without a change of memory a loop that looks at the clock, sleeps or tries for a lock lets other lanes go first: its registers may never be
/// the same, if it counts its turns.
const PATIENCE: u64 = 1024;

/// After how many turns any other loop does: it may look at a flag and count.
const LONG_PATIENCE: u64 = 1 << 16;

/// The turns of the loops that the running lanes are in, since memory was last changed by the warp.
#[derive(Clone, Debug, Default)]
pub(super) struct Loops<const W: usize> {
    turns: u64,
    /// The turn at which registers are kept next.
    next: u64,
    changes: u64,
    /// The lanes have polled before.
    polled: bool,
    /// The lanes have looked at the clock or slept, or an atomic of theirs has changed nothing.
    pub attentive: bool,
    /// The first of the turns that the lanes have made one after the other at one place.
    first: Option<Turn>,
    kept: Option<Box<Kept<W>>>,
    spare: Option<Box<Kept<W>>>,
}

/// The end of a turn.
#[derive(Clone, Debug)]
struct Turn {
    at: u32,
    lanes: LaneMask,
    mark: Mark,
    counts: Counts,
}

/// What a turn began with.
#[derive(Clone, Debug)]
struct Kept<const W: usize> {
    number: u64,
    turn: Turn,
    stack: SimtStack,
    registers: Registers<W>,
}

impl<const W: usize> Loops<W> {
    /// Other lanes run; those that have polled before are looked at from their first turn on.
    pub fn begin(&mut self, polled: bool, changes: u64) {
        self.polled = polled;
        self.attentive = false;
        self.restart(changes);
    }

    fn restart(&mut self, changes: u64) {
        self.changes = changes;
        self.turns = 0;
        self.next = if self.polled { 1 } else { FIRST };
        self.first = None;
        self.forget();
    }

    fn forget(&mut self) {
        if let Some(kept) = self.kept.take() {
            self.spare = Some(kept);
        }
    }
}

impl<const W: usize> Warp<W> {
    /// The warp has its turn; `changed` says whether others have changed memory since it last ran.
    pub fn look_again(&mut self, changed: bool) {
        self.wake();
        if changed {
            self.loops.forget();
            if self.loops.turns >= FIRST {
                self.loops.next = self.loops.turns + 1;
            }
        }
    }

    /// The running lanes have gone back to an earlier instruction, all together, from `at`; whether they poll. If so what they did meanwhile is forgotten.
    pub(super) fn turns(&mut self, at: u32, lanes: LaneMask) -> bool {
        if self.loops.changes != self.changes {
            self.loops.restart(self.changes);
        }
        self.loops.turns += 1;
        let here = |turn: &Turn| (turn.at, turn.lanes) == (at, lanes);
        if !self.loops.first.as_ref().is_some_and(here) {
            self.loops.first = Some(self.turn(at, lanes));
        }
        if self.loops.turns == self.loops.next {
            self.keep(at, lanes);
            return false;
        }
        let same = |kept: &Kept<W>| {
            self.loops.turns <= kept.number + COMPARED
                && here(&kept.turn)
                && kept.stack == self.stack
                && kept.registers == self.registers
        };
        if self.loops.kept.as_deref().is_some_and(same) {
            self.drop_turns();
            return true;
        }
        let patience = match self.loops.attentive {
            true => PATIENCE,
            false => LONG_PATIENCE,
        };
        if self.loops.turns.is_multiple_of(patience) {
            self.let_others(lanes);
        }
        false
    }

    fn turn(&self, at: u32, lanes: LaneMask) -> Turn {
        Turn {
            at,
            lanes,
            mark: self.recorder.mark(),
            counts: self.counts,
        }
    }

    /// Forgets all turns but the first.
    fn drop_turns(&mut self) {
        if let Some(first) = self.loops.first.take() {
            self.dropped += self.counts.warp_instructions - first.counts.warp_instructions;
            self.recorder.rewind(&first.mark);
            self.counts = first.counts;
        }
        self.loops.begin(true, self.changes);
    }

    #[cold]
    fn keep(&mut self, at: u32, lanes: LaneMask) {
        let number = self.loops.turns;
        let turn = self.turn(at, lanes);
        self.loops.next = number.saturating_mul(4).max(FIRST);
        self.loops.forget();
        let kept = match self.loops.spare.take() {
            Some(mut kept) => {
                kept.registers.clone_from(&self.registers);
                (kept.number, kept.turn, kept.stack) = (number, turn, self.stack.clone());
                kept
            }
            None => Box::new(Kept {
                number,
                turn,
                stack: self.stack.clone(),
                registers: self.registers.clone(),
            }),
        };
        self.loops.kept = Some(kept);
    }
}

//! Lanes of a warp that run apart from each other.
//!
//! Lanes of a warp follow the [stack](crate::stack) as long as each path can go on by itself. A path that waits for lanes of another one (at a
//! collective, at a barrier), or that polls memory which another one has to change, steps aside as a split of its own (Meng, Tarjan, Skadron,
//! "Dynamic Warp Subdivision for Integrated Branch and Memory Divergence Tolerance", ISCA 2010), so that the others go on, past the place where
//! they would have met it if need be. Splits that run at one place with the same meeting points ahead are one again. The split that is deepest in
//! the control flow goes first, since the others wait for it where they are to meet; of several the one at the lowest instruction.

use warpwatt_ptx::Entry;
use warpwatt_ptx::program::{Barrier, Op, TensorMemoryOp};

use super::call::Frame;
use super::collective::{Part, meets_with};
use super::{Step, Stop, Warp, WarpFault, fault};
use crate::barrier::passes;
use crate::error::{Cause, Reason, Waiting};
use crate::stack::SimtStack;
use crate::trace::LaneMask;

/// A part of a warp's lanes that does not run at the moment.
#[derive(Clone, Debug)]
pub(super) struct Split {
    stack: SimtStack,
    frames: Vec<Frame>,
    state: State,
    /// It has polled before.
    polled: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It can go on.
    Ready,
    /// It waits for other lanes at the instruction that is next.
    Waits,
    /// Its loop does the same again and again until somebody changes memory.
    Polls,
    /// It has looked at the clock or slept many times, and lets the others go first.
    Yields,
}

impl Split {
    /// Where it is, and its lanes there.
    fn place(&mut self) -> Option<(u32, LaneMask)> {
        self.stack.top().map(|path| (path.next, path.lanes))
    }
}

impl<const W: usize> Warp<W> {
    /// Lanes that have not exited.
    pub fn live(&self) -> LaneMask {
        let parked = self.parked.iter().map(|split| split.stack.live());
        parked.fold(self.stack.live(), |live, lanes| live | lanes)
    }

    /// The executing lanes wait at the instruction, which they have not executed; those that a guard keeps from it go past it.
    pub(super) fn step_aside(&mut self, step: Step) {
        let Step {
            at,
            active,
            executed,
        } = step;
        self.counts.warp_instructions -= 1;
        self.counts.thread_instructions -= u64::from(active.count_ones());
        self.counts.predicated_off -= u64::from((active & !executed).count_ones());
        self.stack.go(at);
        if executed != active {
            let paths = [(at, executed), (at + 1, active & !executed)];
            self.stack.split(&paths, at + 1);
        }
        self.park(executed, State::Waits);
        self.met = true;
    }

    /// The running lanes poll: nothing that they do changes before somebody else changes memory.
    pub(super) fn poll(&mut self, lanes: LaneMask) {
        self.park(lanes, State::Polls);
        self.met = true;
        self.polled_at = self.changes;
    }

    /// The running lanes let the others go first, if there are others.
    pub(super) fn let_others(&mut self, lanes: LaneMask) {
        if self.live() != lanes {
            self.park(lanes, State::Yields);
        }
    }

    fn park(&mut self, lanes: LaneMask, state: State) {
        let split = Split {
            stack: self.stack.take(lanes),
            frames: self.frames.clone(),
            state,
            polled: state == State::Polls,
        };
        self.parked.push(split);
    }

    /// Lanes that poll look again: memory may have changed.
    pub(super) fn wake(&mut self) {
        self.ready(State::Polls);
        self.polled_at = u64::MAX;
    }

    /// Splits in a state can go on; whether there were any.
    fn ready(&mut self, state: State) -> bool {
        let mut found = false;
        for split in self.parked.iter_mut().filter(|split| split.state == state) {
            split.state = State::Ready;
            found = true;
        }
        found
    }

    /// Chooses the split that runs next, after those that wait for each other have met; what stops the warp, if it does.
    pub(super) fn arrange(&mut self, entry: &Entry) -> Result<Option<Stop>, Box<WarpFault>> {
        if self.changes > self.polled_at {
            self.wake();
        }
        if std::mem::take(&mut self.met) {
            while self.meet(entry)? {}
            if let Some(stop) = self.meet_at_barrier(entry)? {
                return Ok(Some(stop));
            }
        }
        self.merge();
        let runs = self.stack.top().is_some();
        let height = if runs { self.stack.height() } else { 0 };
        match self.first_ready() {
            Some((best, tall, next)) if self.goes_before(height, tall, next) => {
                self.switch_to(best, runs);
                Ok(None)
            }
            None if !runs && !self.parked.is_empty() => {
                if self.ready(State::Yields) {
                    // One of them runs now.
                    return self.arrange(entry);
                }
                let polls = |split: &Split| split.state == State::Polls;
                if self.parked.iter().any(polls) {
                    return Ok(Some(Stop::Polls));
                }
                Err(self.stuck(entry))
            }
            _ => Ok(None),
        }
    }

    /// Whether a split of this height goes before the running one: if that is lower, or if polling lanes are to see what each one changes.
    fn goes_before(&mut self, height: usize, other: usize, next: u32) -> bool {
        let own = self.stack.top().map(|path| path.next);
        other > height || other == height && self.gathers && own.is_some_and(|own| next < own)
    }

    /// The split that can go on and goes first: its number, its height and where it is.
    fn first_ready(&mut self) -> Option<(usize, usize, u32)> {
        let mut best = None;
        for (at, split) in self.parked.iter_mut().enumerate() {
            let Some((next, _)) = split.place().filter(|_| split.state == State::Ready) else {
                continue;
            };
            let height = split.stack.height();
            let first =
                best.is_none_or(|(_, tall, low)| height > tall || height == tall && next < low);
            if first {
                best = Some((at, height, next));
            }
        }
        best
    }

    fn switch_to(&mut self, at: usize, keep: bool) {
        let Split {
            stack,
            frames,
            polled,
            ..
        } = self.parked.swap_remove(at);
        let stack = std::mem::replace(&mut self.stack, stack);
        let frames = std::mem::replace(&mut self.frames, frames);
        if keep {
            self.parked.push(Split {
                stack,
                frames,
                state: State::Ready,
                polled: false,
            });
        }
        self.loops.begin(polled, self.changes);
    }

    /// Splits at one place with the same meeting points ahead become one.
    fn merge(&mut self) {
        let mut at = 0;
        while at < self.parked.len() {
            let mut split = self.parked.swap_remove(at);
            if split.place().is_none() {
                continue;
            }
            if split.state != State::Ready || !self.join(&split) {
                self.parked.push(split);
                let last = self.parked.len() - 1;
                self.parked.swap(at, last);
                at += 1;
            }
        }
    }

    /// Joins a split to the running one, or to another that is ready; whether there was one.
    fn join(&mut self, split: &Split) -> bool {
        let alike = |stack: &mut SimtStack| stack.top().is_some() && stack.is_like(&split.stack);
        if alike(&mut self.stack) {
            self.stack.join(&split.stack);
            return true;
        }
        for other in &mut self.parked {
            if other.state == State::Ready && alike(&mut other.stack) {
                other.stack.join(&split.stack);
                return true;
            }
        }
        false
    }

    /// Executes one collective whose lanes have all come, on whatever paths; whether there was one.
    fn meet(&mut self, entry: &Entry) -> Result<bool, Box<WarpFault>> {
        let Some((named, at)) = self.complete(entry) else {
            return Ok(false);
        };
        let mut parts = Vec::new();
        for number in 0..self.parked.len() {
            let Some((next, lanes)) = self.waits_at(number) else {
                continue;
            };
            let inst = &entry.code[next as usize];
            let own = self.naming(inst, lanes, named);
            if own == 0 || !meets_with(&inst.op, &entry.code[at as usize].op) {
                continue;
            }
            parts.push(Part { inst, lanes: own });
            self.goes_on(number, lanes, own, next + 1);
            let step = Step {
                at: next,
                active: own,
                executed: own,
            };
            self.counts.warp_instructions += 1;
            self.counts.thread_instructions += u64::from(own.count_ones());
            self.note(step);
        }
        self.together(&parts);
        Ok(true)
    }

    /// Of the lanes of a split that waits some go on at `next`, the others stay.
    fn goes_on(&mut self, number: usize, all: LaneMask, own: LaneMask, next: u32) {
        let frames = self.parked[number].frames.clone();
        let mut stack = self.parked[number].stack.take(own);
        stack.go(next);
        let split = Split {
            stack,
            frames,
            state: State::Ready,
            polled: false,
        };
        if own == all {
            self.parked[number] = split;
        } else {
            self.parked.push(split);
        }
    }

    /// Where a split waits, and its lanes.
    fn waits_at(&mut self, number: usize) -> Option<(u32, LaneMask)> {
        let split = &mut self.parked[number];
        split.place().filter(|_| split.state == State::Waits)
    }

    /// The mask of a collective all whose lanes wait at it, and one of the instructions.
    fn complete(&mut self, entry: &Entry) -> Option<(LaneMask, u32)> {
        let live = self.live();
        for number in 0..self.parked.len() {
            let Some((at, lanes)) = self.waits_at(number) else {
                continue;
            };
            let inst = &entry.code[at as usize];
            let mut left = lanes;
            while let Some(named) = self.names(inst, left) {
                left &= !self.naming(inst, left, named);
                if named & live & !self.gathered_at(entry, at, named) == 0 {
                    return Some((named, at));
                }
            }
        }
        None
    }

    /// The lanes that wait at collectives like that at `at` and name the same lanes.
    fn gathered_at(&mut self, entry: &Entry, at: u32, named: LaneMask) -> LaneMask {
        let mut there = 0;
        for number in 0..self.parked.len() {
            if let Some((next, lanes)) = self.waits_at(number) {
                let inst = &entry.code[next as usize];
                if meets_with(&inst.op, &entry.code[at as usize].op) {
                    there |= self.naming(inst, lanes, named);
                }
            }
        }
        there
    }

    /// Once every live lane waits at a barrier of the CTA, the warp does.
    fn meet_at_barrier(&mut self, entry: &Entry) -> Result<Option<Stop>, Box<WarpFault>> {
        let mut parts = Vec::new();
        if self.stack.top().is_some() {
            return Ok(None);
        }
        for number in 0..self.parked.len() {
            let place = self.waits_at(number);
            let Some((at, lanes)) =
                place.filter(|(at, _)| matches!(entry.code[*at as usize].op, Op::Barrier(_)))
            else {
                return Ok(None);
            };
            parts.push((at, lanes));
        }
        let Some(&(first, _)) = parts.first() else {
            return Ok(None);
        };
        let op = |at: u32| &entry.code[at as usize].op;
        let alike = |at: u32| op(at) == op(first) && is_unaligned(op(at));
        if parts.iter().any(|&(at, _)| at != first && !alike(at)) {
            return Err(self.stuck(entry));
        }
        for (number, &(at, lanes)) in parts.iter().enumerate() {
            self.goes_on(number, lanes, lanes, at + 1);
        }
        let lanes = parts.iter().fold(0, |all, (_, lanes)| all | lanes);
        self.counts.warp_instructions += 1;
        self.counts.thread_instructions += u64::from(lanes.count_ones());
        let inst = &entry.code[first as usize];
        let stop = self.barrier(entry, &parts);
        stop.map(Some)
            .map_err(|cause| fault(inst, lanes.trailing_zeros() % W as u32, cause))
    }

    /// Lanes exit while others of the warp wait at a barrier: the barrier that they should have waited at, and its lane, if what they did before comes after it.
    pub(super) fn missed(&mut self, entry: &Entry, exit: u32) -> Option<Box<WarpFault>> {
        if exit <= self.begun {
            return None;
        }
        (0..self.parked.len()).find_map(|number| {
            let (at, lanes) = self.waits_at(number)?;
            let inst = &entry.code[at as usize];
            let should = matches!(inst.op, Op::Barrier(_)) && passes(entry, exit - 1, at);
            should.then(|| fault(inst, lanes.trailing_zeros(), Cause::DivergentBarrier))
        })
    }

    /// No lane of the warp can ever go on.
    fn stuck(&mut self, entry: &Entry) -> Box<WarpFault> {
        let waiting = self.waiting(entry);
        let barrier = waiting
            .iter()
            .find(|it| matches!(it.reason, Reason::Barrier));
        let (line, lanes, cause) = match (barrier, waiting.first()) {
            (Some(it), _) => (it.line, it.lanes, Cause::DivergentBarrier),
            (None, Some(it)) => (
                it.line,
                it.lanes,
                Cause::Hang {
                    waiting: waiting.clone(),
                },
            ),
            (None, None) => (
                0,
                1,
                Cause::Hang {
                    waiting: Vec::new(),
                },
            ),
        };
        Box::new(WarpFault {
            line,
            lane: lanes.trailing_zeros(),
            cause,
        })
    }

    /// The lanes that do not run, and why.
    pub fn waiting(&mut self, entry: &Entry) -> Vec<Waiting> {
        let mut found = Vec::new();
        let (cta, warp) = (self.place.cta, self.place.warp);
        if let Some(path) = self.stack.top()
            && let Op::TensorMemory(TensorMemoryOp::Allocate(_)) = entry.code[path.next as usize].op
        {
            found.push(Waiting {
                cta,
                warp,
                lanes: path.lanes,
                line: entry.code[path.next as usize].line,
                reason: Reason::Columns,
            });
        }
        for number in 0..self.parked.len() {
            let state = self.parked[number].state;
            let Some((at, lanes)) = self.parked[number].place() else {
                continue;
            };
            let inst = &entry.code[at as usize];
            let reason = match (state, &inst.op) {
                (State::Waits, Op::Barrier(_)) => Reason::Barrier,
                (State::Waits, _) => Reason::Lanes(self.missing(inst, lanes)),
                _ => Reason::Memory,
            };
            found.push(Waiting {
                cta,
                warp,
                lanes,
                line: inst.line,
                reason,
            });
        }
        found
    }
}

/// Whether lanes of a warp may come to the barrier from different places.
fn is_unaligned(op: &Op) -> bool {
    use Barrier::{ClusterArrive, ClusterWait, Unaligned};
    matches!(op, Op::Barrier(Unaligned | ClusterArrive | ClusterWait))
}

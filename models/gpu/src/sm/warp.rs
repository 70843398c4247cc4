//! A warp slot: where its trace stands, its instruction buffer, its scoreboard entry.

use warpwatt_simt::trace::{LaneMask, Step, WarpCursor};

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

/// In place of an instruction: there is none.
const NONE: u32 = u32::MAX;

/// A warp slot of an SM. What every instruction looks at lies in two lines of the processor's cache, the head of the scoreboard's entry among it.
///
/// Most steps are plain: the next instruction, which all lanes on the path execute, the same as before. Of these nothing is kept but that they are.
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
    /// Metadata instructions that are fetched before the next one.
    pub due: u8,
    /// A fetch that brings nothing else is under way.
    pub bare: bool,
    pub head: Head,
    pub cta: u8,
    /// The last instruction has left the pipeline; results may be missing.
    pub drained: bool,
    /// One bit a place of the ring: whether its step is plain.
    plain: u8,
    /// Plain steps behind the one that is fetched next.
    plain_behind: u8,
    /// The instruction that a fetch which knows no branch brings next.
    pub fetch_at: u32,
    /// The instruction of the first place, and the one that is fetched next.
    oldest: u32,
    next: u32,
    /// The lanes on the path of the step that issued last.
    lanes: LaneMask,
    /// When a branch that was issued is resolved; never if there is none.
    pub resolves: u64,
    /// Instructions that it has issued.
    pub issued: u64,
    pub entry: Entry,
    cursor: Option<WarpCursor>,
    /// When it was placed.
    pub placed: u64,
    /// When it issued last, where that matters.
    pub issued_at: Option<u64>,
    /// From `first` on, around the end: what is in the buffer, and then what is fetched next.
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
            oldest: NONE,
            next: NONE,
            ..Self::default()
        }
    }

    /// Starts a trace in this slot, whose last warp has retired. Of the ring only the first place is read before it is written.
    pub fn place(&mut self, cursor: WarpCursor, cta: u8, now: u64) {
        debug_assert!(self.entry.is_clear(now));
        (self.first, self.held, self.delivered) = (0, 0, 0);
        (self.branch, self.bare, self.drained) = (false, false, false);
        self.forget_wrong();
        self.head = Head::Absent;
        self.cta = cta;
        self.placed = now;
        self.issued_at = None;
        self.resolves = NEVER;
        self.continue_in(cursor);
        self.fetch_at = self.next().unwrap_or(0);
    }

    /// The place of the `number`th step from the oldest on.
    #[inline]
    fn at(&self, number: u8) -> usize {
        debug_assert!(usize::from(number) <= MOST);
        usize::from((self.first + number) & self.last) % RING
    }

    /// The instruction that is fetched next; `None` when everything has been fetched.
    #[inline]
    pub fn next(&self) -> Option<u32> {
        (self.next != NONE).then_some(self.next)
    }

    #[inline]
    fn is_plain(&self, place: usize) -> bool {
        self.plain >> place & 1 != 0
    }

    /// The instruction of the `number`th step from the oldest on, which is behind one of `inst`.
    #[inline]
    fn behind(&self, inst: u32, number: u8) -> u32 {
        let place = self.at(number);
        if number == self.held {
            self.next
        } else if self.is_plain(place) {
            inst + 1
        } else {
            self.steps[place].0.as_ref().map_or(NONE, |step| step.inst)
        }
    }

    /// The step at a place; if it is plain, it is of an instruction and lanes and put where there is room for it.
    #[inline]
    fn step<'s>(
        &'s self,
        place: usize,
        (inst, lanes): (u32, LaneMask),
        of_plain: &'s mut Option<Step>,
    ) -> Option<&'s Step> {
        if self.is_plain(place) {
            Some(of_plain.insert(Step::plain(inst, lanes)))
        } else {
            self.steps[place].0.as_ref()
        }
    }

    /// Takes the step at a place, likewise.
    #[inline]
    fn take(&mut self, place: usize, (inst, lanes): (u32, LaneMask)) -> Option<Step> {
        if self.is_plain(place) {
            Some(Step::plain(inst, lanes))
        } else {
            self.steps[place].0.take()
        }
    }

    /// The step behind all that was read of the trace, and how many plain ones follow it.
    #[inline]
    fn read(&mut self) -> Option<Step> {
        let cursor = self.cursor.as_mut()?;
        let step = cursor.next();
        self.plain_behind = cursor.pass_plain();
        step
    }

    /// A step that is not plain, or is kept as if it were not, is fetched next.
    #[inline]
    fn put(&mut self, place: usize, step: Option<Step>) {
        self.plain &= !(1 << place);
        self.next = step.as_ref().map_or(NONE, |step| step.inst);
        if self.held == 0 {
            self.oldest = self.next;
        }
        self.steps[place].0 = step;
    }

    /// Reserves a buffer entry for the next instruction, if there is one.
    #[inline]
    pub fn fetch(&mut self) {
        self.held += 1;
        let place = self.at(self.held);
        if self.plain_behind > 0 {
            self.plain_behind -= 1;
            self.plain |= 1 << place;
            self.next += 1;
        } else {
            let step = self.read();
            self.put(place, step);
        }
    }

    /// Bytes of its trace that have not been looked at.
    pub fn left(&self) -> usize {
        let unread = self.cursor.as_ref().map_or(0, WarpCursor::left);
        unread + usize::from(self.plain_behind)
    }

    /// Leaves out what would be fetched next, unless it is the last instruction.
    pub fn leave_out(&mut self) -> Option<Step> {
        let lanes = self.cursor.as_ref()?.active();
        let place = self.at(self.held);
        // It is kept: the lanes of what issues before it say nothing of what is behind it.
        let behind = if self.plain_behind > 0 {
            self.plain_behind -= 1;
            Step::plain(self.next + 1, lanes)
        } else {
            self.read()?
        };
        let left_out = self.take(place, (self.next, lanes))?;
        self.put(place, Some(behind));
        Some(left_out)
    }

    /// Leaves out what would be fetched next and plain steps behind it, so many at the most; one of these is fetched next. How many.
    pub fn leave_out_plain(&mut self, most: u32) -> u32 {
        let count = most.min(self.plain_behind.into());
        if count > 0 {
            let lanes = self.cursor.as_ref().map_or(0, WarpCursor::active);
            let behind = Step::plain(self.next + count, lanes);
            self.plain_behind -= count as u8;
            self.put(self.at(self.held), Some(behind));
        }
        count
    }

    /// Goes on in another trace in place of the last instruction, which is not fetched yet.
    pub fn continue_in(&mut self, cursor: WarpCursor) {
        self.cursor = Some(cursor);
        self.issued = 0;
        let step = self.read();
        self.put(self.at(self.held), step);
    }

    /// What is fetched next is another instruction than before.
    pub fn redirect(&mut self, program: &Program) {
        self.fetch_at = self.next().unwrap_or(0);
        self.due = self.metadata(program);
    }

    /// Metadata instructions in front of the next instruction.
    #[inline]
    pub fn metadata(&self, program: &Program) -> u8 {
        self.next().map_or(0, |next| program.metadata(next))
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
    pub fn oldest(&self) -> Option<u32> {
        (self.delivered > 0).then_some(self.oldest)
    }

    /// The step of the oldest instruction, if it is decoded; `of_plain` is room for one that is not kept.
    #[inline]
    pub fn oldest_step<'s>(&'s self, of_plain: &'s mut Option<Step>) -> Option<&'s Step> {
        let inst = self.oldest()?;
        self.step(self.at(0), (inst, self.lanes), of_plain)
    }

    /// The step that is fetched next, likewise.
    pub fn next_step<'s>(&'s self, of_plain: &'s mut Option<Step>) -> Option<&'s Step> {
        let (inst, lanes) = (self.next()?, self.cursor.as_ref()?.active());
        self.step(self.at(self.held), (inst, lanes), of_plain)
    }

    /// The instruction of the `number`th step in the buffer, the oldest being the first.
    pub fn buffered(&self, number: u8) -> u32 {
        (1..=number).fold(self.oldest, |inst, number| self.behind(inst, number))
    }

    /// The instruction that issues next, decoded or not, fetched or not: what is fetched next stands right behind what was fetched.
    pub fn coming(&self) -> Option<u32> {
        (self.oldest != NONE).then_some(self.oldest)
    }

    /// Takes the oldest instruction out of the buffer.
    #[inline]
    pub fn issue(&mut self) -> Option<Step> {
        let step = self.take(self.at(0), (self.oldest, self.lanes))?;
        self.lanes = step.active;
        self.issued += 1;
        self.first = self.at(1) as u8;
        self.held -= 1;
        self.delivered -= 1;
        self.oldest = self.behind(step.inst, 0);
        Some(step)
    }

    /// Whether everything has been issued.
    #[inline]
    pub fn exhausted(&self) -> bool {
        self.held == 0 && self.next().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use warpwatt_simt::trace::{KernelTrace, LaunchShape, StaticInst, Unit, WarpRecorder};

    /// The trace of a warp: instructions in a row by their lanes, and some that access memory.
    fn trace(runs: &[(u32, u64, u32, bool)]) -> KernelTrace {
        let mut recorder = WarpRecorder::default();
        for &(first, active, count, accesses) in runs {
            for inst in first..first + count {
                if accesses && inst % 3 == 0 {
                    let addresses: Vec<u64> = (0..64).map(|lane| lane * lane * 4).collect();
                    recorder.access(inst, active, active & !1, &addresses);
                } else {
                    recorder.step(inst, active, active);
                }
            }
        }
        let code = vec![StaticInst::bare(Unit::Int); 64];
        let launch = LaunchShape {
            grid: [1, 1, 1],
            block: [32, 1, 1],
            warp_width: 32,
            shared_bytes: 0,
            registers: 8,
        };
        let mut trace = KernelTrace::new("any", code.into(), launch);
        trace.push_warp(&recorder).unwrap();
        trace
    }

    proptest! {
        /// However full the buffer is, instructions issue as they stand in the trace, and what is told of those that have not is true; what was left out is gone.
        #[test]
        fn a_warp_issues_its_trace(
            runs in prop::collection::vec((0u32..40, 1u64..8, 1u32..20, any::<bool>()), 1..12),
            entries in 1u32..8,
            moves in prop::collection::vec(0u8..9, 1..400),
        ) {
            let trace = trace(&runs);
            let mut expected: Vec<Step> = trace.warp_held(0, 0).collect();
            let mut warp = Warp::new(entries);
            warp.place(trace.warp_held(0, 0), 0, 0);
            let mut issued = 0;
            for step in moves.iter().copied().chain([0, 4, 5].repeat(expected.len())) {
                let fetched = issued + usize::from(warp.held);
                prop_assert_eq!(warp.next(), expected.get(fetched).map(|step| step.inst));
                let mut of_plain = None;
                prop_assert_eq!(warp.next_step(&mut of_plain), expected.get(fetched));
                prop_assert_eq!(warp.coming(), expected.get(issued).map(|step| step.inst));
                for number in 0..warp.held {
                    let inst = expected[issued + usize::from(number)].inst;
                    prop_assert_eq!(warp.buffered(number), inst);
                }
                match step {
                    0..4 if u32::from(warp.held) < entries && warp.next().is_some() => warp.fetch(),
                    4 if warp.delivered < warp.held => warp.delivered += 1,
                    5 | 6 if warp.delivered > 0 => {
                        let mut of_plain = None;
                        let oldest = warp.oldest_step(&mut of_plain).cloned();
                        prop_assert_eq!(warp.oldest(), oldest.as_ref().map(|step| step.inst));
                        let step = warp.issue();
                        prop_assert_eq!(step.as_ref(), Some(&expected[issued]));
                        prop_assert_eq!(oldest, step);
                        issued += 1;
                    }
                    7 if fetched + 1 < expected.len() => {
                        prop_assert_eq!(warp.leave_out(), Some(expected.remove(fetched)));
                    }
                    7 => prop_assert_eq!(warp.leave_out(), None),
                    8 if fetched < expected.len() => {
                        let left_out = warp.leave_out_plain(3) as usize;
                        let is_plain = |step: &Step| step.addresses.is_none();
                        prop_assert!(expected[fetched + 1..][..left_out].iter().all(is_plain));
                        expected.drain(fetched..fetched + left_out);
                    }
                    _ => {}
                }
            }
            prop_assert_eq!(issued, expected.len());
            prop_assert!(warp.exhausted());
            prop_assert_eq!((warp.issued, warp.left()), (issued as u64, 0));
        }
    }
}

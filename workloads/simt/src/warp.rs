//! One warp: its lanes' state and the execution of its instructions.

mod access;
mod call;
mod exchange;
mod matrix;
mod texture;

use warpwatt_ptx::Entry;
use warpwatt_ptx::program::{
    Barrier, BoolOp, Carry, Compare, Convert, HalfCompare, Inst, Op, PredicateOp, Reduction, Slot,
    SlotKind,
};

use crate::error::Cause;
use crate::lanes;
use crate::memory::Memories;
use crate::registers::{Place, Registers, full};
use crate::stack::SimtStack;
use crate::trace::{Counts, LaneMask, WarpRecorder};

/// Why a warp stopped running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// All its lanes exited.
    Exit,
    /// It waits at a barrier.
    Barrier {
        id: u32,
        /// Threads that must arrive; `None` for all of the CTA.
        threads: Option<u32>,
        /// Its threads' votes, for a barrier that counts them.
        ballot: Ballot,
    },
    /// It announced itself at a barrier and can go on.
    Arrive { id: u32, threads: u32 },
    /// Its slice is used up.
    Slice,
}

/// In how many threads a predicate holds, and of how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ballot {
    pub yes: u32,
    pub of: u32,
}

/// What a warp that waits wants to know, and where it wants the answer.
#[derive(Clone, Copy, Debug)]
struct Asked {
    reduction: Reduction,
    slot: Slot,
    lanes: LaneMask,
}

/// A fault, before the launch adds where it happened.
pub(crate) struct WarpFault {
    pub line: u32,
    pub lane: u32,
    pub cause: Cause,
}

#[derive(Clone, Debug)]
pub(crate) struct Warp<const W: usize> {
    pub place: Place,
    registers: Registers<W>,
    stack: SimtStack,
    pub recorder: WarpRecorder,
    pub counts: Counts,
    asked: Option<Asked>,
    /// Open calls, the outermost first.
    frames: Vec<call::Frame<W>>,
    record: bool,
}

/// An instruction about to be executed.
#[derive(Clone, Copy, Debug)]
struct Step {
    at: u32,
    active: LaneMask,
    executed: LaneMask,
}

/// What an instruction does to the flow of control.
enum Flow {
    Next,
    Moved,
    Stop(Stop),
}

impl<const W: usize> Warp<W> {
    pub fn new(entry: &Entry, place: Place, record: bool) -> Self {
        Self {
            place,
            registers: Registers::new(entry),
            stack: SimtStack::default(),
            recorder: WarpRecorder::default(),
            counts: Counts::default(),
            asked: None,
            frames: Vec::new(),
            record,
        }
    }

    /// Begins the kernel at `place`.
    pub fn start(&mut self, entry: &Entry, place: Place) {
        self.place = place;
        self.registers.start(entry, &place);
        let threads = place.block.iter().product::<u32>() - place.warp * W as u32;
        let lanes = if threads >= W as u32 {
            full::<W>()
        } else {
            (1 << threads) - 1
        };
        self.stack.start(lanes);
        self.recorder.clear();
        self.asked = None;
        self.frames.clear();
        self.counts = Counts::default();
    }

    /// The line of the next instruction.
    pub fn line(&mut self, entry: &Entry) -> u32 {
        self.stack
            .top()
            .map_or(0, |(at, _)| entry.code[at as usize].line)
    }

    /// Runs until the warp stops, or `slice` instructions were executed.
    pub fn run(
        &mut self,
        entry: &Entry,
        memories: &mut Memories<'_>,
        slice: u64,
    ) -> Result<Stop, WarpFault> {
        let end = self.counts.warp_instructions + slice;
        while self.counts.warp_instructions < end {
            let Some((at, active)) = self.stack.top() else {
                return Ok(Stop::Exit);
            };
            self.frames.truncate(self.stack.depth());
            let inst = &entry.code[at as usize];
            let executed = self.guarded(inst, active);
            self.count(active, executed);
            let step = Step {
                at,
                active,
                executed,
            };
            match self.execute(entry, step, memories)? {
                Flow::Next => self.stack.go(at + 1),
                Flow::Moved => {}
                Flow::Stop(stop) => {
                    self.stack.go(at + 1);
                    return Ok(stop);
                }
            }
        }
        Ok(Stop::Slice)
    }

    #[inline]
    fn guarded(&self, inst: &Inst, active: LaneMask) -> LaneMask {
        match inst.guard {
            None => active,
            Some(guard) => {
                let predicate = self.registers.predicate(guard.predicate);
                active & if guard.negated { !predicate } else { predicate }
            }
        }
    }

    #[inline]
    fn count(&mut self, active: LaneMask, executed: LaneMask) {
        self.counts.warp_instructions += 1;
        self.counts.thread_instructions += u64::from(active.count_ones());
        self.counts.predicated_off += u64::from((active & !executed).count_ones());
    }

    #[inline]
    fn execute(
        &mut self,
        entry: &Entry,
        step: Step,
        memories: &mut Memories<'_>,
    ) -> Result<Flow, WarpFault> {
        let Step {
            at,
            active,
            executed,
        } = step;
        let inst = &entry.code[at as usize];
        let fault = |lane: u32, cause: Cause| WarpFault {
            line: inst.line,
            lane,
            cause,
        };
        if matches!(
            inst.op,
            Op::Load(_) | Op::Store(_) | Op::Atomic(_) | Op::Texture(_)
        ) {
            let done = match &inst.op {
                Op::Texture(sample) => self.texture(sample, inst, executed, memories.device),
                _ => self.access(inst, executed, memories),
            };
            let addresses = done.map_err(|bad| fault(bad.lane, bad.cause))?;
            if self.record {
                self.recorder.access(at, active, executed, &addresses);
            }
            return Ok(Flow::Next);
        }
        if let Op::Matrix(matrix) = &inst.op {
            let done = self.matrix(matrix, inst, executed, memories);
            let addresses = done.map_err(|bad| fault(bad.lane, bad.cause))?;
            if self.record {
                match addresses {
                    Some(addresses) => self.recorder.access(at, active, executed, &addresses),
                    None => self.recorder.step(at, active, executed),
                }
            }
            return Ok(Flow::Next);
        }
        if self.record {
            self.recorder.step(at, active, executed);
        }
        let first = executed.trailing_zeros() % W as u32;
        match &inst.op {
            Op::Branch { .. } | Op::BranchIndexed { .. } | Op::Exit | Op::Trap | Op::Barrier(_) => {
                self.transfer(inst, at, active, executed)
                    .map_err(|cause| fault(first, cause))
            }
            Op::Call(call) => {
                let called = self.call(entry, call, step, memories.local);
                called.map_err(|cause| fault(first, cause))?;
                Ok(Flow::Moved)
            }
            Op::Return => {
                self.ret(entry, step, memories.local);
                Ok(Flow::Moved)
            }
            _ => {
                if executed != 0 {
                    self.compute(inst, active, executed);
                }
                Ok(Flow::Next)
            }
        }
    }

    fn transfer(
        &mut self,
        inst: &Inst,
        at: u32,
        active: LaneMask,
        executed: LaneMask,
    ) -> Result<Flow, Cause> {
        match &inst.op {
            Op::Branch { target, reconverge } => {
                let stay = active & !executed;
                if stay == 0 {
                    self.stack.go(*target);
                } else if executed == 0 {
                    self.stack.go(at + 1);
                } else {
                    self.stack
                        .split(&[(at + 1, stay), (*target, executed)], *reconverge);
                }
                Ok(Flow::Moved)
            }
            Op::BranchIndexed {
                targets,
                reconverge,
            } => {
                self.indexed(inst, at, active, executed, (targets, *reconverge))?;
                Ok(Flow::Moved)
            }
            Op::Exit => {
                self.stack.go(at + 1);
                self.stack.exit(executed);
                Ok(Flow::Moved)
            }
            Op::Barrier(barrier) if executed != 0 => self.barrier(*barrier, inst, active, executed),
            Op::Trap if executed != 0 => Err(Cause::Trap),
            _ => Ok(Flow::Next),
        }
    }

    fn indexed(
        &mut self,
        inst: &Inst,
        at: u32,
        active: LaneMask,
        executed: LaneMask,
        (targets, reconverge): (&[u32], u32),
    ) -> Result<(), Cause> {
        let index = *self.registers.word(inst.src[0]);
        let mut paths = vec![(at + 1, active & !executed)];
        let mut chosen = vec![0; targets.len()];
        for lane in crate::trace::lanes(executed) {
            let index = index[lane as usize];
            let place = chosen
                .get_mut(index as usize)
                .ok_or(Cause::BranchIndex(index))?;
            *place |= 1 << lane;
        }
        paths.extend(targets.iter().copied().zip(chosen));
        self.stack.split(&paths, reconverge);
        Ok(())
    }

    fn barrier(
        &mut self,
        barrier: Barrier,
        inst: &Inst,
        active: LaneMask,
        executed: LaneMask,
    ) -> Result<Flow, Cause> {
        if active != self.stack.live() || executed != active {
            return Err(Cause::DivergentBarrier);
        }
        let lane = executed.trailing_zeros() as usize;
        let value = |slot: &Slot| self.registers.word(*slot)[lane];
        let numbers = match barrier {
            Barrier::Reduce { .. } => &inst.src.as_slice()[1..],
            _ => inst.src.as_slice(),
        };
        let id = numbers.first().map_or(0, value);
        let threads = numbers.get(1).map(value);
        let mut ballot = Ballot::default();
        match (barrier, threads) {
            (Barrier::Arrive, Some(threads)) => {
                return Ok(Flow::Stop(Stop::Arrive { id, threads }));
            }
            (Barrier::Reduce { reduction, negated }, _) => {
                let predicate = self.registers.predicate(inst.src[0]);
                let yes = executed & if negated { !predicate } else { predicate };
                ballot.yes = yes.count_ones();
                ballot.of = executed.count_ones();
                self.asked = Some(Asked {
                    reduction,
                    slot: inst.dst[0],
                    lanes: executed,
                });
            }
            _ => {}
        }
        Ok(Flow::Stop(Stop::Barrier {
            id,
            threads,
            ballot,
        }))
    }

    /// The barrier opened: the answer to what the warp asked there, if it did.
    pub fn opened(&mut self, ballot: Ballot) {
        let Some(asked) = self.asked.take() else {
            return;
        };
        let holds = match asked.reduction {
            Reduction::Popc => {
                let count = [ballot.yes; W];
                return self.registers.set_word(asked.slot, asked.lanes, &count);
            }
            Reduction::And => ballot.yes == ballot.of,
            Reduction::Or => ballot.yes > 0,
        };
        let value = if holds { LaneMask::MAX } else { 0 };
        self.registers.set_predicate(asked.slot, asked.lanes, value);
    }

    /// Everything that only changes registers.
    fn compute(&mut self, inst: &Inst, active: LaneMask, executed: LaneMask) {
        let src = &inst.src;
        let r = &mut self.registers;
        match &inst.op {
            Op::Word1(op) => {
                let value = lanes::word1(*op, r.word(src[0]));
                r.set_word(inst.dst[0], executed, &value);
            }
            Op::Word2(op) => {
                let value = lanes::word2(*op, r.word(src[0]), r.word(src[1]));
                r.set_word(inst.dst[0], executed, &value);
            }
            Op::Word3(op) => {
                let value = lanes::word3(*op, r.word(src[0]), r.word(src[1]), r.word(src[2]));
                r.set_word(inst.dst[0], executed, &value);
            }
            Op::Double1(op) => {
                let value = lanes::double1(*op, r.double(src[0]));
                r.set_double(inst.dst[0], executed, &value);
            }
            Op::Double2(op) => {
                let value = lanes::double2(*op, r.double(src[0]), r.double(src[1]));
                r.set_double(inst.dst[0], executed, &value);
            }
            Op::Double3(op) => {
                let value =
                    lanes::double3(*op, r.double(src[0]), r.double(src[1]), r.double(src[2]));
                r.set_double(inst.dst[0], executed, &value);
            }
            Op::DoubleShift(op) => {
                let value = lanes::double_shift(*op, r.double(src[0]), r.word(src[1]));
                r.set_double(inst.dst[0], executed, &value);
            }
            Op::Convert(how) => self.convert(how, inst, executed),
            Op::SetPredicate(compare) => self.set_predicate(compare, inst, executed),
            Op::SelectWord { negated } => {
                let choose = r.predicate(src[2]) ^ if *negated { LaneMask::MAX } else { 0 };
                let mut value = *r.word(src[1]);
                let first = r.word(src[0]);
                for lane in 0..W {
                    if choose >> lane & 1 == 1 {
                        value[lane] = first[lane];
                    }
                }
                r.set_word(inst.dst[0], executed, &value);
            }
            _ => self.compute_rarely(inst, active, executed),
        }
    }

    fn compute_rarely(&mut self, inst: &Inst, active: LaneMask, executed: LaneMask) {
        match &inst.op {
            Op::Predicate { op, negated } => self.predicate_logic(*op, *negated, inst, executed),
            Op::Set { compare, float } => {
                let holds = self.compare(compare, inst);
                let one = if *float { 1.0f32.to_bits() } else { u32::MAX };
                let value =
                    std::array::from_fn(|lane| if holds >> lane & 1 == 1 { one } else { 0 });
                self.registers.set_word(inst.dst[0], executed, &value);
            }
            Op::TestFloat(test) => {
                let slot = inst.src[0];
                let holds = match slot.kind {
                    SlotKind::Double => lanes::test_double(*test, self.registers.double(slot)),
                    _ => lanes::test_word(*test, self.registers.word(slot)),
                };
                self.registers.set_predicate(inst.dst[0], executed, holds);
            }
            Op::Shuffle(_)
            | Op::Vote { .. }
            | Op::MatchAny
            | Op::MatchAll
            | Op::Redux(_)
            | Op::Elect
            | Op::ActiveMask
            | Op::Clock
            | Op::IsSpace(_) => self.exchange(inst, active, executed),
            _ => self.compute_mixed(inst, executed),
        }
    }

    /// Operations whose operands differ in width.
    fn compute_mixed(&mut self, inst: &Inst, executed: LaneMask) {
        let (src, dst) = (&inst.src, &inst.dst);
        let r = &mut self.registers;
        let sign = |word: u32, signed: bool| {
            if signed {
                word as i32 as u64
            } else {
                u64::from(word)
            }
        };
        match &inst.op {
            Op::Half(_) | Op::Narrow(_) | Op::Video(_) => self.compute_elements(inst, executed),
            Op::HalfCompare(compare) => self.compare_halves(compare, inst, executed),
            Op::Word4(op) => {
                let [a, b, c, d] = [0, 1, 2, 3].map(|at| r.word(src[at]));
                let value = lanes::word4(*op, a, b, c, d);
                r.set_word(dst[0], executed, &value);
            }
            Op::Short { signed, op } => {
                let operands: Vec<_> = src.as_slice().iter().map(|&slot| r.word(slot)).collect();
                let value = lanes::short(*op, *signed, &operands);
                r.set_word(dst[0], executed, &value);
            }
            Op::MulWide { signed } => {
                let value = lanes::map2(r.word(src[0]), r.word(src[1]), |a, b| {
                    sign(a, *signed).wrapping_mul(sign(b, *signed))
                });
                r.set_double(dst[0], executed, &value);
            }
            Op::MadWide { signed } => {
                let value = lanes::map3(
                    r.word(src[0]),
                    r.word(src[1]),
                    r.double(src[2]),
                    |a, b, c| {
                        sign(a, *signed)
                            .wrapping_mul(sign(b, *signed))
                            .wrapping_add(c)
                    },
                );
                r.set_double(dst[0], executed, &value);
            }
            Op::ShortMulWide { signed } => {
                let value = lanes::map2(r.word(src[0]), r.word(src[1]), |a, b| {
                    short(a, *signed).wrapping_mul(short(b, *signed))
                });
                r.set_word(dst[0], executed, &value);
            }
            Op::ShortMadWide { signed } => {
                let value =
                    lanes::map3(r.word(src[0]), r.word(src[1]), r.word(src[2]), |a, b, c| {
                        short(a, *signed)
                            .wrapping_mul(short(b, *signed))
                            .wrapping_add(c)
                    });
                r.set_word(dst[0], executed, &value);
            }
            Op::DoubleToWord(op) => {
                let value = lanes::double_to_word(*op, r.double(src[0]));
                r.set_word(dst[0], executed, &value);
            }
            Op::DoubleExtract { signed } => {
                let value =
                    lanes::extract(*signed, r.double(src[0]), r.word(src[1]), r.word(src[2]));
                r.set_double(dst[0], executed, &value);
            }
            Op::DoubleInsert => {
                let value = lanes::insert(
                    r.double(src[0]),
                    r.double(src[1]),
                    r.word(src[2]),
                    r.word(src[3]),
                );
                r.set_double(dst[0], executed, &value);
            }
            Op::Carry(how) => self.carry(*how, inst, executed),
            _ => self.compute_moves(inst, executed),
        }
    }

    fn carry(&mut self, how: Carry, inst: &Inst, executed: LaneMask) {
        let sources = inst.src.as_slice();
        let operand = |at: usize| match sources.get(at) {
            Some(slot) if slot.kind != SlotKind::Predicate => self.registers.extended(*slot),
            _ => [0; W],
        };
        let operands = [operand(0), operand(1), operand(2)];
        let carried = match sources.last() {
            Some(slot) if how.comes_in => self.registers.predicate(*slot),
            _ => 0,
        };
        let (values, out) = lanes::carry(how, operands.each_ref(), carried);
        self.registers.set_extended(inst.dst[0], executed, &values);
        if how.goes_out {
            self.registers.set_predicate(inst.dst[1], executed, out);
        }
    }

    /// Packing, unpacking and selections between doubles.
    fn compute_moves(&mut self, inst: &Inst, executed: LaneMask) {
        let (src, dst) = (&inst.src, &inst.dst);
        let r = &mut self.registers;
        match &inst.op {
            Op::Pack => {
                let value = lanes::map2(r.word(src[0]), r.word(src[1]), |low, high| {
                    u64::from(high) << 32 | u64::from(low)
                });
                r.set_double(dst[0], executed, &value);
            }
            Op::Unpack => {
                let whole = *r.double(src[0]);
                r.set_word(dst[0], executed, &whole.map(|whole| whole as u32));
                r.set_word(dst[1], executed, &whole.map(|whole| (whole >> 32) as u32));
            }
            Op::ShortPack => {
                let value = lanes::map2(r.word(src[0]), r.word(src[1]), |low, high| {
                    high << 16 | low & 0xffff
                });
                r.set_word(dst[0], executed, &value);
            }
            Op::ShortUnpack => {
                let whole = *r.word(src[0]);
                r.set_word(dst[0], executed, &whole.map(|whole| whole & 0xffff));
                r.set_word(dst[1], executed, &whole.map(|whole| whole >> 16));
            }
            Op::SelectDouble { negated } => {
                let choose = r.predicate(src[2]) ^ if *negated { LaneMask::MAX } else { 0 };
                let (a, b) = (r.double(src[0]), r.double(src[1]));
                let value: [u64; W] = std::array::from_fn(|lane| {
                    if choose >> lane & 1 == 1 {
                        a[lane]
                    } else {
                        b[lane]
                    }
                });
                r.set_double(dst[0], executed, &value);
            }
            Op::SelectBySign { double, float } => {
                let first = r.word(src[2]).map(|sign| {
                    if *float {
                        f32::from_bits(sign) >= 0.0
                    } else {
                        sign as i32 >= 0
                    }
                });
                if *double {
                    let (a, b) = (r.double(src[0]), r.double(src[1]));
                    let value: [u64; W] =
                        std::array::from_fn(|at| if first[at] { a[at] } else { b[at] });
                    r.set_double(dst[0], executed, &value);
                } else {
                    let (a, b) = (r.word(src[0]), r.word(src[1]));
                    let value: [u32; W] =
                        std::array::from_fn(|at| if first[at] { a[at] } else { b[at] });
                    r.set_word(dst[0], executed, &value);
                }
            }
            Op::FrameAddress(offset) => {
                let address = [self.frame_base() + offset; W];
                self.registers.set_extended(dst[0], executed, &address);
            }
            Op::Nothing { .. } => {}
            other => unreachable!("{other:?} is handled by its own family"),
        }
    }

    /// Operations on parts of words.
    fn compute_elements(&mut self, inst: &Inst, executed: LaneMask) {
        let r = &self.registers;
        let sources = inst.src.as_slice().iter();
        let sources: Vec<_> = sources.map(|&slot| r.word(slot)).collect();
        let value = match &inst.op {
            Op::Half(how) => lanes::half(how, &sources),
            Op::Narrow(how) => lanes::narrow(how, &sources),
            Op::Video(how) => lanes::video(how, &sources),
            other => unreachable!("{other:?} is handled by its own family"),
        };
        self.registers.set_word(inst.dst[0], executed, &value);
    }

    fn set_predicate(&mut self, compare: &Compare, inst: &Inst, executed: LaneMask) {
        let holds = self.compare(compare, inst);
        let (first, second) = (
            self.combined(holds, compare.combine, inst),
            self.combined(!holds, compare.combine, inst),
        );
        self.registers.set_predicate(inst.dst[0], executed, first);
        if let Some(&complement) = inst.dst.as_slice().get(1) {
            self.registers.set_predicate(complement, executed, second);
        }
    }

    /// A comparison's result, combined with the third source if that is asked for.
    fn combined(&self, holds: LaneMask, combine: Option<(BoolOp, bool)>, inst: &Inst) -> LaneMask {
        let Some((op, negated)) = combine else {
            return holds;
        };
        let other = self.registers.predicate(inst.src[2]) ^ if negated { LaneMask::MAX } else { 0 };
        match op {
            BoolOp::And => holds & other,
            BoolOp::Or => holds | other,
            BoolOp::Xor => holds ^ other,
        }
    }

    fn compare_halves(&mut self, compare: &HalfCompare, inst: &Inst, executed: LaneMask) {
        let (a, b) = (
            self.registers.word(inst.src[0]),
            self.registers.word(inst.src[1]),
        );
        let holds = lanes::compare_halves(compare, a, b);
        for (&slot, holds) in inst.dst.as_slice().iter().zip(holds) {
            let holds = self.combined(holds, compare.combine, inst);
            self.registers.set_predicate(slot, executed, holds);
        }
    }

    fn compare(&self, compare: &Compare, inst: &Inst) -> LaneMask {
        let (a, b) = (inst.src[0], inst.src[1]);
        match a.kind {
            SlotKind::Double => {
                lanes::compare_double(compare, self.registers.double(a), self.registers.double(b))
            }
            _ => lanes::compare_word(compare, self.registers.word(a), self.registers.word(b)),
        }
    }

    fn predicate_logic(&mut self, op: PredicateOp, negated: u8, inst: &Inst, executed: LaneMask) {
        let source = |at: usize| {
            let value = self.registers.predicate(inst.src[at]);
            value
                ^ if negated >> at & 1 == 1 {
                    LaneMask::MAX
                } else {
                    0
                }
        };
        let value = match op {
            PredicateOp::Copy => source(0),
            PredicateOp::Not => !source(0),
            PredicateOp::And => source(0) & source(1),
            PredicateOp::Or => source(0) | source(1),
            PredicateOp::Xor => source(0) ^ source(1),
            PredicateOp::Literal(true) => LaneMask::MAX,
            PredicateOp::Literal(false) => 0,
        };
        self.registers.set_predicate(inst.dst[0], executed, value);
    }

    fn convert(&mut self, how: &Convert, inst: &Inst, executed: LaneMask) {
        let value = lanes::convert(how, &self.registers.extended(inst.src[0]));
        self.registers.set_extended(inst.dst[0], executed, &value);
    }
}

fn short(word: u32, signed: bool) -> u32 {
    if signed {
        i32::from(word as i16) as u32
    } else {
        word & 0xffff
    }
}

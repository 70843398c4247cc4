//! One warp: its lanes' state and the execution of its instructions.

mod access;
mod aligned;
mod asynchronous;
mod call;
mod collective;
mod compute;
mod elements;
mod exchange;
mod floats;
mod matrix;
mod multiply;
mod packed;
mod places;
mod polling;
mod race_watch;
mod runtime;
mod set_and_pack;
mod shared_matrix;
mod sparse;
mod splits;
mod surface;
mod tensor;
mod tensor_access;
mod tensor_descriptor;
mod tensor_memory;
mod tensor_product;
mod texture;
mod vectors;
mod warpgroup;

use std::sync::Arc;

use warpwatt_ptx::Entry;
use warpwatt_ptx::program::{
    Barrier, CLUSTER_BARRIER, GroupStep, Groups, Inst, MbarrierOp, Op, Pending, Reduction, Slot,
    WARPGROUP,
};
use warpwatt_ptx::types::Space;

pub(crate) use self::collective::mask;
use self::multiply::Multiplier;
use self::polling::Loops;
use self::splits::Split;
use crate::barrier::{BARRIERS, WARPGROUP_BARRIERS};
use crate::error::Cause;
use crate::execute::Options;
use crate::lane_watch::Destinations;
use crate::memory::{BadAccess, Memories};
use crate::registers::{Place, Registers, full};
use crate::stack::{Path, SimtStack};
use crate::trace::{BarrierUse, Beyond, Counts, LaneMask, Register, WarpRecorder};

/// Why a warp stopped running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// All its lanes exited.
    Exit,
    /// It waits at a barrier.
    Barrier(Wait),
    /// It announced itself at a barrier and can go on.
    Arrive { id: u32, threads: u32 },
    /// Its slice is used up.
    Slice,
    /// None of its lanes can go on before somebody else changes memory.
    Polls,
}

/// In how many threads a predicate holds, and of how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ballot {
    pub yes: u32,
    pub of: u32,
}

/// A wait at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wait {
    /// The barrier.
    pub id: u32,
    /// Threads that must arrive; `None` for all of the CTA.
    pub threads: Option<u32>,
    /// Its threads' votes, if the barrier counts them.
    pub ballot: Option<Ballot>,
    /// The instruction that waits.
    pub at: u32,
    /// Line in the PTX file.
    pub line: u32,
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
    /// Where the path that runs was taken up.
    begun: u32,
    /// Where the last lanes exited, and where the path that led there was taken up.
    pub exit: Option<[u32; 2]>,
    /// Open calls, the outermost first.
    frames: Vec<call::Frame>,
    /// Lanes that run apart from those on the stack.
    parked: Vec<Split>,
    /// Lanes have come to where others may wait for them, or have exited.
    met: bool,
    /// How often the warp has changed memory.
    pub changes: u64,
    /// How often when lanes began to poll, if any do.
    polled_at: u64,
    /// Lanes have polled: the others go on together where they can, each after its change of memory.
    gathers: bool,
    loops: Loops<W>,
    multiplier: Multiplier,
    /// Instructions that were executed and taken out of the counts: turns of loops that poll.
    dropped: u64,
    record: bool,
    /// Whether what the PTX ISA leaves undefined is done as on a GPU.
    as_gpu: bool,
    /// It has come by a barrier and is to let others go on at its first load from global memory.
    yields: bool,
    /// What the record of the asynchronous instruction at hand tells.
    beyond: Option<Beyond>,
    /// Of which instructions the operands' values are recorded, if of any.
    valued: Option<Arc<[bool]>>,
}

/// Whether it loads from global memory.
fn is_slow(op: &Op) -> bool {
    matches!(op, Op::Load(access) if matches!(access.space, Space::Global | Space::Generic))
}

/// How a path goes on.
enum Next {
    /// With the next instruction.
    Instruction,
    /// Wherever the stack says.
    Elsewhere,
    /// When the warp has its turn again.
    Stop(Stop),
}

/// An instruction about to be executed.
#[derive(Clone, Copy, Debug)]
struct Step {
    at: u32,
    active: LaneMask,
    executed: LaneMask,
}

impl<const W: usize> Warp<W> {
    pub fn new(
        entry: &Entry,
        place: Place,
        options: &Options,
        valued: Option<Arc<[bool]>>,
    ) -> Self {
        Self {
            place,
            registers: Registers::new(entry, &place),
            stack: SimtStack::default(),
            recorder: WarpRecorder::default(),
            counts: Counts::default(),
            asked: None,
            begun: 0,
            exit: None,
            frames: Vec::new(),
            parked: Vec::new(),
            met: false,
            changes: 0,
            polled_at: u64::MAX,
            gathers: false,
            loops: Loops::default(),
            multiplier: Multiplier::default(),
            dropped: 0,
            record: options.record,
            as_gpu: options.as_gpu,
            yields: false,
            beyond: None,
            valued,
        }
    }

    /// Begins the kernel in the CTA `cta`.
    pub fn start(&mut self, entry: &Entry, cta: [u32; 3]) {
        self.place.cta = cta;
        let place = &self.place;
        self.registers.start(entry, place);
        let threads = place.block.iter().product::<u32>() - place.warp * W as u32;
        let lanes = if threads >= W as u32 {
            full::<W>()
        } else {
            (1 << threads) - 1
        };
        self.stack.start(lanes);
        self.recorder.clear();
        self.asked = None;
        self.exit = None;
        self.frames.clear();
        self.parked.clear();
        self.polled_at = u64::MAX;
        self.gathers = false;
        self.loops.begin(false, self.changes);
        self.dropped = 0;
        self.yields = false;
        self.counts = Counts::default();
    }

    /// The line of the next instruction.
    pub fn line(&mut self, entry: &Entry) -> u32 {
        self.stack
            .top()
            .map_or(0, |path| entry.code[path.next as usize].line)
    }

    /// Flips a bit of what a lane holds in a register.
    pub fn flip(&mut self, register: Register, lane: u32, bit: u32) {
        self.registers.flip(register, lane, bit);
    }

    /// Makes room for the slots of a program that has the same registers and other literals.
    pub fn fit(&mut self, entry: &Entry) {
        self.registers.fit(entry, &self.place);
    }

    /// Whether the next instruction lies behind the program, and behind which line.
    pub fn beyond(&mut self, entry: &Entry) -> Option<u32> {
        let next = self.stack.top()?.next as usize;
        let last = entry.code.last()?;
        (next >= entry.code.len()).then_some(last.line)
    }

    /// Runs until the warp stops, or `slice` instructions were executed.
    pub fn run(
        &mut self,
        entry: &Entry,
        memories: &mut Memories<'_>,
        slice: u64,
    ) -> Result<Stop, Box<WarpFault>> {
        let end = self.executed().saturating_add(slice);
        while self.executed() < end {
            if !self.parked.is_empty()
                && let Some(stop) = self.arrange(entry)?
            {
                return Ok(stop);
            }
            let Some(path) = self.stack.top() else {
                return Ok(Stop::Exit);
            };
            self.frames.truncate(self.stack.depth());
            if let Some(stop) = self.follow(entry, path, memories, end - self.dropped)? {
                return Ok(stop);
            }
        }
        Ok(Stop::Slice)
    }

    /// Instructions executed, those included that no count tells of.
    pub fn executed(&self) -> u64 {
        self.counts.warp_instructions + self.dropped
    }

    /// Follows a path until it meets another, the flow of control changes or `end` instructions were executed.
    fn follow(
        &mut self,
        entry: &Entry,
        path: Path,
        memories: &mut Memories<'_>,
        end: u64,
    ) -> Result<Option<Stop>, Box<WarpFault>> {
        let active = path.lanes;
        let threads = u64::from(active.count_ones());
        let mut at = path.next;
        self.begun = at;
        while at != path.meets && self.counts.warp_instructions < end {
            let inst = &entry.code[at as usize];
            let executed = self.guarded(inst, active);
            self.counts.warp_instructions += 1;
            self.counts.thread_instructions += threads;
            if executed != active {
                self.counts.predicated_off += u64::from((active & !executed).count_ones());
            }
            let step = Step {
                at,
                active,
                executed,
            };
            match &inst.op {
                Op::Load(_)
                | Op::Store(_)
                | Op::Atomic(_)
                | Op::Texture(_)
                | Op::Surface(_)
                | Op::ImageQuery(_)
                | Op::CopyAsync(_)
                | Op::BulkReduce(_)
                | Op::ReplaceTensorMap(_)
                | Op::Runtime(_)
                | Op::Matrix(_) => {
                    let done = self.reach(inst, step, memories);
                    done.map_err(|bad| fault(inst, bad.lane, bad.cause))?;
                    if self.changes > self.polled_at {
                        self.gathers = true;
                        self.stack.go(at + 1);
                        return Ok(None);
                    }
                    if self.yields && is_slow(&inst.op) {
                        self.yields = false;
                        self.stack.go(at + 1);
                        return Ok(Some(Stop::Slice));
                    }
                }
                Op::Branch { .. }
                | Op::BranchIndexed { .. }
                | Op::Call(_)
                | Op::Return
                | Op::Exit
                | Op::Trap
                | Op::Barrier(_) => return self.leave(entry, step, memories),
                Op::Mbarrier(_)
                | Op::Yield
                | Op::Nothing { fence: true }
                | Op::Shuffle(_)
                | Op::Vote { .. }
                | Op::MatchAny
                | Op::MatchAll
                | Op::Redux(_)
                | Op::Elect
                | Op::WarpBarrier
                | Op::TensorMemory(_)
                | Op::Groups(Groups {
                    of: Pending::Products,
                    step: GroupStep::Wait(_),
                }) => match self.meet_others(inst, step, memories)? {
                    Next::Instruction => {}
                    Next::Elsewhere => return Ok(None),
                    Next::Stop(stop) => return Ok(Some(stop)),
                },
                _ => {
                    self.note_computed(inst, step);
                    if executed != 0 {
                        self.compute(inst, executed);
                        self.show(inst, executed, memories);
                    }
                }
            }
            at += 1;
        }
        self.stack.go(at);
        Ok(None)
    }

    /// It waits at a barrier. Behind it, warps of a GPU wait for memory next, all at about the same time.
    pub fn waits_at_barrier(&mut self) {
        self.yields = self.as_gpu;
    }

    /// Executes an instruction that may change the flow of control.
    fn leave(
        &mut self,
        entry: &Entry,
        step: Step,
        memories: &mut Memories<'_>,
    ) -> Result<Option<Stop>, Box<WarpFault>> {
        let inst = &entry.code[step.at as usize];
        // A barrier is recorded when its number is known.
        if step.executed == 0 || !matches!(inst.op, Op::Barrier(_)) {
            self.note(step);
        }
        if matches!(inst.op, Op::Exit)
            && step.executed != 0
            && !self.parked.is_empty()
            && let Some(missed) = self.missed(entry, step.at)
        {
            return Err(missed);
        }
        let first = step.executed.trailing_zeros() % W as u32;
        self.transfer(entry, step, memories)
            .map_err(|cause| fault(inst, first, cause))
    }

    /// Executes an instruction at which lanes or warps may have to wait for others, or that orders memory.
    fn meet_others(
        &mut self,
        inst: &Inst,
        step: Step,
        memories: &mut Memories<'_>,
    ) -> Result<Next, Box<WarpFault>> {
        let faulty = |bad: BadAccess| fault(inst, bad.lane, bad.cause);
        match &inst.op {
            Op::Mbarrier(_) | Op::Yield => {
                let waits = self.wait(inst, step, memories);
                if let (Some(watch), Op::Mbarrier(_)) = (&mut memories.watch, &inst.op) {
                    watch.mbarrier(self.place.warp);
                }
                if waits.map_err(faulty)? {
                    self.stack.go(step.at + 1);
                    return Ok(Next::Stop(Stop::Slice));
                }
            }
            _ if step.executed == 0 => self.note(step),
            Op::TensorMemory(how) => {
                let done = self.in_tensor_memory(how, inst, step, memories);
                if !done.map_err(faulty)? {
                    self.take_back(step);
                    return Ok(Next::Stop(Stop::Polls));
                }
            }
            Op::Groups(_) => {
                self.note(step);
                self.stack.go(step.at + 1);
                return Ok(Next::Stop(self.meet_warpgroup(inst, step.at)));
            }
            Op::Nothing { .. } => {
                self.note(step);
                if let Some(watch) = &mut memories.watch {
                    watch.fence(self.place.warp);
                }
            }
            _ => {
                if !self.collective(inst, step).map_err(faulty)? {
                    self.step_aside(step);
                    return Ok(Next::Elsewhere);
                }
                self.show(inst, step.executed, memories);
            }
        }
        Ok(Next::Instruction)
    }

    /// Shows what lanes have computed to who wants to see it.
    #[inline]
    fn show(&mut self, inst: &Inst, executed: LaneMask, memories: &mut Memories<'_>) {
        if let Some(watch) = &mut memories.lanes {
            let registers = &mut self.registers;
            watch.computed(executed, &mut Destinations { registers, inst });
        }
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

    /// Records an instruction that accesses no memory.
    #[inline]
    fn note(&mut self, step: Step) {
        if self.record {
            self.recorder.step(step.at, step.active, step.executed);
        }
    }

    /// Records a computation, with a digest of its operands if they are the same in all lanes of a whole warp and are asked for.
    #[inline]
    fn note_computed(&mut self, inst: &Inst, step: Step) {
        let asked = |valued: &Arc<[bool]>| valued[step.at as usize];
        if step.executed == full::<W>() && self.valued.as_ref().is_some_and(asked) {
            let values = self.registers.common(inst.reads());
            self.recorder
                .computed(step.at, step.active, step.executed, values);
        } else {
            self.note(step);
        }
    }

    /// Executes and records an instruction that may access memory.
    fn reach(
        &mut self,
        inst: &Inst,
        step: Step,
        memories: &mut Memories<'_>,
    ) -> Result<(), BadAccess> {
        let executed = step.executed;
        let reads = matches!(inst.op, Op::Load(_) | Op::Texture(_) | Op::ImageQuery(_));
        // An atomic may leave everything as it is.
        self.changes += u64::from(executed != 0 && !reads && !matches!(inst.op, Op::Atomic(_)));
        let addresses = match &inst.op {
            Op::Texture(sample) => Some(self.texture(sample, inst, executed, memories.device)?),
            Op::CopyAsync(how) => Some(self.copy_async(how, inst, executed, memories)?),
            Op::BulkReduce(how) => Some(self.bulk_reduce(how, inst, executed, memories)?),
            Op::ReplaceTensorMap(how) => {
                Some(self.replace_tensor_map(how, inst, executed, memories)?)
            }
            Op::Runtime(how) => {
                self.runtime(*how, inst, executed, memories)?;
                None
            }
            Op::Surface(how) => Some(self.surface(how, inst, executed, memories.device)?),
            Op::ImageQuery(fact) => {
                self.image_query(*fact, inst, executed, memories.device)?;
                None
            }
            Op::Matrix(matrix) => self.matrix(matrix, inst, executed, memories)?,
            _ => return self.access(inst, step, memories),
        };
        match addresses {
            Some(addresses) => self.note_access(step, &addresses),
            None => self.note(step),
        }
        Ok(())
    }

    /// Records an instruction that accesses memory, or goes on on its own.
    fn note_access(&mut self, step: Step, addresses: &[u64; W]) {
        let Step {
            at,
            active,
            executed,
        } = step;
        let beyond = self.beyond.take();
        if !self.record {
            return;
        }
        match beyond {
            Some(beyond) if executed != 0 => {
                let first = addresses[executed.trailing_zeros() as usize];
                self.recorder
                    .asynchronous(at, active, executed, first, &beyond);
            }
            _ => self.recorder.access(at, active, executed, addresses),
        }
    }

    /// Executes an instruction after which other warps may have to have their turn; whether they do.
    fn wait(
        &mut self,
        inst: &Inst,
        step: Step,
        memories: &mut Memories<'_>,
    ) -> Result<bool, BadAccess> {
        let Op::Mbarrier(how) = &inst.op else {
            self.note(step);
            self.loops.attentive = true;
            return Ok(step.executed != 0);
        };
        self.changes += u64::from(!matches!(how.op, MbarrierOp::Test { .. }));
        let (addresses, waits) = self.memory_barrier(how, inst, step.executed, memories)?;
        self.note_access(step, &addresses);
        Ok(waits)
    }

    /// Executes an instruction that may change the flow of control; what stops the warp, if it does.
    fn transfer(
        &mut self,
        entry: &Entry,
        step: Step,
        memories: &mut Memories<'_>,
    ) -> Result<Option<Stop>, Cause> {
        let Step {
            at,
            active,
            executed,
        } = step;
        let inst = &entry.code[at as usize];
        match &inst.op {
            Op::Branch { target, reconverge } => {
                let stay = active & !executed;
                if stay == 0 {
                    self.stack.go(*target);
                    if *target <= at && self.turns(at, active) {
                        self.poll(active);
                    }
                } else if executed == 0 {
                    self.stack.go(at + 1);
                } else {
                    self.stack
                        .split(&[(at + 1, stay), (*target, executed)], *reconverge);
                }
            }
            Op::BranchIndexed {
                targets,
                reconverge,
            } => {
                self.indexed(inst, step, targets, *reconverge)?;
            }
            Op::Call(call) => {
                self.call(entry, call, step, memories.local)?;
            }
            Op::Return => {
                self.ret(entry, step, memories.local);
            }
            Op::Exit => {
                self.stack.go(at + 1);
                self.stack.exit(executed);
                self.exit = Some([self.begun, at]);
                self.met = true;
            }
            Op::Barrier(_) if executed != 0 => {
                if executed != active || active != self.live() {
                    self.step_aside(step);
                    return Ok(None);
                }
                self.stack.go(at + 1);
                return self.barrier(entry, &[(at, executed)]).map(Some);
            }
            Op::Trap if executed != 0 => return Err(Cause::Trap),
            _ => self.stack.go(at + 1),
        }
        Ok(None)
    }

    fn indexed(
        &mut self,
        inst: &Inst,
        step: Step,
        targets: &[u32],
        reconverge: u32,
    ) -> Result<(), Cause> {
        let Step {
            at,
            active,
            executed,
        } = step;
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

    /// All lanes of the warp come to a barrier, from one place or several.
    fn barrier(&mut self, entry: &Entry, parts: &[(u32, LaneMask)]) -> Result<Stop, Cause> {
        let (at, first) = parts[0];
        let executed = parts.iter().fold(0, |all, (_, lanes)| all | lanes);
        let inst = &entry.code[at as usize];
        let Op::Barrier(barrier) = inst.op else {
            unreachable!("{:?} is no barrier", inst.op)
        };
        let lane = first.trailing_zeros() as usize;
        let value = |slot: &Slot| self.registers.word(*slot)[lane];
        let numbers = match barrier {
            Barrier::Reduce { .. } => &inst.src.as_slice()[1..],
            _ => inst.src.as_slice(),
        };
        let id = numbers.first().map_or(0, value);
        let threads = numbers.get(1).map(value);
        if id >= BARRIERS && id != CLUSTER_BARRIER {
            return Err(Cause::BarrierNumber(id));
        }
        if self.record {
            self.record_barrier(barrier, at, executed, (id, threads));
        }
        let mut ballot = None;
        match (barrier, threads) {
            (Barrier::Arrive, Some(threads)) => return Ok(Stop::Arrive { id, threads }),
            (Barrier::ClusterArrive, _) => return Ok(Stop::Arrive { id, threads: 0 }),
            (Barrier::Reduce { reduction, negated }, _) => {
                let predicate = self.registers.predicate(inst.src[0]);
                let yes = executed & if negated { !predicate } else { predicate };
                ballot = Some(Ballot {
                    yes: yes.count_ones(),
                    of: executed.count_ones(),
                });
                self.asked = Some(Asked {
                    reduction,
                    slot: inst.dst[0],
                    lanes: executed,
                });
            }
            _ => {}
        }
        Ok(Stop::Barrier(Wait {
            id,
            threads,
            ballot,
            at,
            line: inst.line,
        }))
    }

    fn record_barrier(
        &mut self,
        barrier: Barrier,
        at: u32,
        executed: LaneMask,
        (id, threads): (u32, Option<u32>),
    ) {
        if barrier == Barrier::ClusterArrive {
            return self.recorder.step(at, executed, executed);
        }
        let which = BarrierUse {
            // That of a cluster has the number that is left.
            number: id as u8,
            threads,
            waits: barrier != Barrier::Arrive,
        };
        self.recorder.barrier(at, executed, which);
    }

    /// The four warps of a warpgroup meet where they wait for their products: each has read its part of what others may write over behind it.
    fn meet_warpgroup(&self, inst: &Inst, at: u32) -> Stop {
        let threads = WARPGROUP * 32;
        let group = self.place.warp * W as u32 / threads;
        Stop::Barrier(Wait {
            id: WARPGROUP_BARRIERS + group,
            threads: Some(threads),
            ballot: None,
            at,
            line: inst.line,
        })
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
}

#[cold]
fn fault(inst: &Inst, lane: u32, cause: Cause) -> Box<WarpFault> {
    Box::new(WarpFault {
        line: inst.line,
        lane,
        cause,
    })
}

//! What a trace shows of its kernel: mix, divergence, uniform operands, memory, lives of values.
//!
//! A trace holds no values, so operands are called uniform where that follows from where their values come from ([`Operands`]).

mod footprint;
mod lives;
mod uniform;

pub use footprint::{Footprint, LINE, SECTOR, Spaces};
pub use lives::{Lives, bucket_range};
pub use uniform::Operands;

use std::collections::BTreeMap;

use super::{
    Flow, KernelTrace, LaneMask, Register, RegisterKind, StaticInst, Step, StoreError, Unit,
};
use lives::LiveValues;
use rustc_hash::FxHashMap;
use uniform::UniformLanes;

/// What some launches did, from their traces.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// Instructions issued for warps.
    pub warp_instructions: u64,
    /// Instructions times active lanes.
    pub thread_instructions: u64,
    /// Of these, switched off by a guard predicate.
    pub predicated_off: u64,
    /// Warp instructions of each class, in the order in which the classes are declared; classes that there are none of are left out.
    pub mix: BTreeMap<Unit, u64>,
    /// Warp instructions by number of active lanes: element `n` counts those with `n`.
    pub active_lanes: Vec<u64>,
    /// Warp instructions by number of lanes that execute: active ones whose guard holds.
    pub executing_lanes: Vec<u64>,
    /// Register operands, and how many are known to be uniform.
    pub operands: Operands,
    /// Accesses by state space.
    pub memory: Spaces,
    /// How long values live in vector registers.
    pub registers: Lives,
    /// How long values live in predicate registers.
    pub predicates: Lives,
    /// Branches.
    pub branches: Branches,
}

/// Branches that warps executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Branches {
    /// All.
    pub all: u64,
    /// Those that depend on a register: guarded or indexed.
    pub conditional: u64,
    /// Those after which the warp goes on with a part of its lanes only.
    pub divergent: u64,
}

impl Statistics {
    /// The statistics of launches whose memory is the same: addresses that two of them access count once.
    ///
    /// # Errors
    /// Records cannot be read where they are kept.
    pub fn of<'t>(traces: impl IntoIterator<Item = &'t KernelTrace>) -> Result<Self, StoreError> {
        let mut statistics = Self::default();
        for trace in traces {
            statistics.add(trace)?;
        }
        Ok(statistics)
    }

    fn add(&mut self, trace: &KernelTrace) -> Result<(), StoreError> {
        let lanes = trace.launch.warp_width as usize + 1;
        for histogram in [&mut self.active_lanes, &mut self.executing_lanes] {
            histogram.resize(histogram.len().max(lanes), 0);
        }
        let code = Code::new(&trace.code);
        for warp in 0..trace.warps.len() {
            let mut state = WarpState::new(&code);
            for step in trace.cursor(warp)? {
                self.step(&step, &trace.code[step.inst as usize], &code, &mut state);
            }
            state.lives.end(&code.kinds, self);
        }
        Ok(())
    }

    fn step(&mut self, step: &Step, inst: &StaticInst, code: &Code, state: &mut WarpState) {
        self.count(step, inst);
        self.follow(step, inst, state);
        if let (Some(op), Some(addresses)) = (inst.memory, &step.addresses) {
            self.memory.access(op, addresses, step.executed);
        }
        let (sources, destinations) = code.operands(step.inst);
        state
            .uniform
            .step(step, inst, (sources, destinations), &mut self.operands);
        state
            .lives
            .step(step, (sources, destinations), &code.kinds, self);
    }

    fn count(&mut self, step: &Step, inst: &StaticInst) {
        let (active, executed) = (step.active.count_ones(), step.executed.count_ones());
        self.warp_instructions += 1;
        self.thread_instructions += u64::from(active);
        self.predicated_off += u64::from(active - executed);
        *self.mix.entry(inst.unit).or_default() += 1;
        self.active_lanes[active as usize] += 1;
        self.executing_lanes[executed as usize] += 1;
    }

    /// A branch diverged if the next instruction has only some of its lanes.
    fn follow(&mut self, step: &Step, inst: &StaticInst, state: &mut WarpState) {
        if let Some(before) = state.branched.take() {
            let part = step.active & !before == 0 && step.active != before;
            self.branches.divergent += u64::from(part);
        }
        if inst.flow == Some(Flow::Branch) {
            self.branches.all += 1;
            self.branches.conditional += u64::from(!inst.sources.is_empty());
            state.branched = Some(step.active);
        }
    }

    /// The lives of values in registers of a kind.
    fn lives(&mut self, kind: RegisterKind) -> &mut Lives {
        match kind {
            RegisterKind::Predicate => &mut self.predicates,
            RegisterKind::Word | RegisterKind::Double => &mut self.registers,
        }
    }

    /// Active lanes of an instruction, on the average; zero if there is none.
    pub fn mean_active_lanes(&self) -> f64 {
        share(self.thread_instructions, self.warp_instructions)
    }
}

/// `part / whole`, or zero if there is no whole.
pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// Code whose registers are numbered from zero.
struct Code {
    /// For each instruction, its sources and its destinations.
    operands: Vec<[Vec<u32>; 2]>,
    kinds: Vec<RegisterKind>,
}

impl Code {
    fn new(code: &[StaticInst]) -> Self {
        let mut numbers: FxHashMap<Register, u32> = FxHashMap::default();
        let mut kinds = Vec::new();
        let mut number = |register: &Register| {
            *numbers.entry(*register).or_insert_with(|| {
                kinds.push(register.kind);
                kinds.len() as u32 - 1
            })
        };
        let operands = code.iter().map(|inst| {
            [&inst.sources, &inst.destinations].map(|list| list.iter().map(&mut number).collect())
        });
        let operands = operands.collect();
        Self { operands, kinds }
    }

    fn operands(&self, inst: u32) -> (&[u32], &[u32]) {
        let [sources, destinations] = &self.operands[inst as usize];
        (sources, destinations)
    }
}

/// What is followed along one warp.
struct WarpState {
    uniform: UniformLanes,
    lives: LiveValues,
    /// The active lanes of the branch that was just executed.
    branched: Option<LaneMask>,
}

impl WarpState {
    fn new(code: &Code) -> Self {
        Self {
            uniform: UniformLanes::new(code.kinds.len()),
            lives: LiveValues::new(code.kinds.len()),
            branched: None,
        }
    }
}

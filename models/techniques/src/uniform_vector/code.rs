//! The operands of a kernel's instructions as the detection sees them.

use warpwatt_gpu::trace::{Addresses, KernelTrace, LaneMask, StaticInst, Step, Unit};
use warpwatt_gpu::trace::{Flow, MemoryOp, MemoryOpKind, Register, RegisterKind, Results, Space};

/// A kernel's static instructions.
#[derive(Clone, Debug, Default)]
pub(super) struct Code {
    pub insts: Vec<Operands>,
    /// Words and predicates of a thread, numbered together: what has a token.
    pub names: usize,
    /// The first name of a predicate.
    pub predicates: u32,
    /// A warp with all its lanes.
    pub all_lanes: LaneMask,
}

/// One instruction.
#[derive(Clone, Debug)]
pub(super) struct Operands {
    /// Words and predicates read.
    pub sources: Vec<u32>,
    /// How many of the sources are words; these come first.
    pub source_words: usize,
    /// Words and predicates written, likewise.
    pub destinations: Vec<u32>,
    pub destination_words: usize,
    /// Whether a word of the destinations is half of a register of 64 bits.
    pub destination_halves: Vec<bool>,
    /// Registers of any width, predicates among them.
    pub source_registers: usize,
    pub destination_registers: usize,
    pub kind: Kind,
    /// Its lanes may get different results from equal sources.
    pub per_lane: bool,
    /// Functions that were running already get their registers back.
    pub returns: bool,
    memory: Option<MemoryOp>,
}

/// What a uniform instruction saves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Work of the lanes' units.
    Computation,
    /// Loads, stores, atomics.
    Memory,
    /// Branches and the like, which are executed once a warp anyway; fences.
    Control,
    /// Barriers, which have no operands to share.
    Barrier,
}

impl Code {
    pub fn new(trace: &KernelTrace) -> Self {
        let all = trace
            .code
            .iter()
            .flat_map(|inst| [&inst.sources, &inst.destinations]);
        let words = all.flatten().flat_map(|register| words(*register)).max();
        let predicates = words.map_or(0, |word| word + 1);
        let insts: Vec<Operands> = trace
            .code
            .iter()
            .map(|inst| Operands::new(inst, predicates))
            .collect();
        let names = insts
            .iter()
            .flat_map(|inst| inst.sources.iter().chain(&inst.destinations))
            .max();
        Self {
            names: names.map_or(0, |name| *name as usize + 1),
            insts,
            predicates,
            all_lanes: LaneMask::MAX >> (LaneMask::BITS - trace.launch.warp_width),
        }
    }
}

impl Operands {
    fn new(inst: &StaticInst, predicates: u32) -> Self {
        let (sources, source_words) = names(&inst.sources, predicates);
        let (destinations, destination_words) = names(&inst.destinations, predicates);
        Self {
            sources,
            source_words,
            destinations,
            destination_words,
            destination_halves: halves(&inst.destinations),
            source_registers: inst.sources.len(),
            destination_registers: inst.destinations.len(),
            kind: kind(inst),
            per_lane: inst.results == Results::PerLane,
            returns: inst.flow == Some(Flow::Return),
            memory: inst.memory,
        }
    }

    /// Whether all lanes get one value over the broadcast path.
    pub fn is_broadcast(&self, step: &Step) -> bool {
        let Some(Addresses::Affine { base, stride: 0 }) = step.addresses else {
            return false;
        };
        self.memory.is_some_and(|op| {
            let space = match op.space {
                Space::Generic => Space::of(base),
                space => space,
            };
            matches!(op.kind, MemoryOpKind::Load | MemoryOpKind::Texture)
                && space != Space::Local
                && !self.per_lane
        })
    }
}

fn kind(inst: &StaticInst) -> Kind {
    match inst.unit {
        Unit::Int | Unit::Scalar | Unit::Fp32 | Unit::Fp64 | Unit::Sfu => Kind::Computation,
        Unit::Memory | Unit::Matrix => Kind::Memory,
        Unit::Control | Unit::Fence => Kind::Control,
        Unit::Barrier => Kind::Barrier,
    }
}

/// Words first, in the order of the registers, then predicates.
fn names(registers: &[Register], predicates: u32) -> (Vec<u32>, usize) {
    let mut names: Vec<u32> = registers
        .iter()
        .flat_map(|register| words(*register))
        .collect();
    let words = names.len();
    let of_kind = |register: &&Register| register.kind == RegisterKind::Predicate;
    let found = registers.iter().filter(of_kind);
    names.extend(found.map(|register| predicates + u32::from(register.number)));
    (names, words)
}

/// For each word of the registers whether it is one of two.
fn halves(registers: &[Register]) -> Vec<bool> {
    let each = registers
        .iter()
        .flat_map(|register| words(*register).map(|_| register.kind == RegisterKind::Double));
    each.collect()
}

/// A double lies in two words.
fn words(register: Register) -> impl Iterator<Item = u32> {
    let count = register.kind.words();
    let first = u32::from(register.number) * count;
    first..first + count
}

//! A kernel's static instructions, prepared for the pass.

use warpwatt_simt::trace::{
    Flow, KernelTrace, MemoryOp, MemoryOpKind, Need, Register, RegisterKind, Role, Space,
    StaticInst, Unit,
};

/// Where a register's bits lie among a warp's words: doubles take two words, predicates one of a bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub word: u32,
    pub words: u32,
    /// Whether it lies in the vector register file.
    pub vector: bool,
}

/// What an instruction is to the pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It computes its results and nothing else.
    Compute,
    Load,
    Store,
    /// It is always needed: control, barriers, atomics, and what accesses memory in ways that a step does not tell.
    Root,
    /// It has no effect on results: fences, hints.
    Neutral,
}

/// A static instruction.
#[derive(Clone, Debug)]
pub(crate) struct Inst {
    pub kind: Kind,
    pub memory: Option<MemoryOp>,
    pub results: Vec<Place>,
    pub sources: Vec<(Place, Need)>,
    /// It enters or leaves a function, where registers may be kept aside.
    pub keeps: bool,
    /// It may access more of memory than its addresses.
    pub opaque: bool,
    pub barrier: bool,
    /// It decides where control goes, whether or not a lane takes it.
    pub control: bool,
    /// It has a guard that decides about results only.
    pub guarded: bool,
    /// It may write what outlives the launch.
    pub output: bool,
    pub calls: bool,
}

/// The code of a launch.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    pub insts: Vec<Inst>,
    /// Words of a warp's registers, predicates among them, and how many of them are in the vector register file.
    pub words: usize,
    pub vector_words: usize,
    /// Something writes what outlives the launch.
    pub has_output: bool,
    /// Addresses do not tell all accesses.
    pub opaque: bool,
    /// Frames of functions lie in local memory, and calls copy from one to another.
    pub calls: bool,
}

impl Code {
    pub fn new(trace: &KernelTrace) -> Self {
        let all = || {
            let registers =
                |inst: &'_ StaticInst| [inst.sources.clone(), inst.destinations.clone()].concat();
            trace.code.iter().flat_map(registers)
        };
        let count = |register: Register| match register.kind {
            RegisterKind::Predicate => 0,
            kind => (usize::from(register.number) + 1) * kind.words() as usize,
        };
        let vector_words = all().map(count).max().unwrap_or(0);
        let predicates = all().filter(|it| it.kind == RegisterKind::Predicate);
        let predicates = predicates.map(|it| usize::from(it.number) + 1).max();
        let insts: Vec<Inst> = trace
            .code
            .iter()
            .map(|inst| prepare(inst, vector_words))
            .collect();
        Self {
            has_output: insts.iter().any(|inst| inst.output),
            opaque: insts.iter().any(|inst| inst.opaque),
            calls: insts.iter().any(|inst| inst.calls),
            insts,
            words: vector_words + predicates.unwrap_or(0),
            vector_words,
        }
    }
}

fn prepare(inst: &StaticInst, vector_words: usize) -> Inst {
    let place = |register: &Register| match register.kind {
        RegisterKind::Predicate => Place {
            word: vector_words as u32 + u32::from(register.number),
            words: 1,
            vector: false,
        },
        kind => Place {
            word: u32::from(register.number) * kind.words(),
            words: kind.words(),
            vector: true,
        },
    };
    let needs = |at: usize| inst.needs.sources.get(at).copied().unwrap_or(Need::ALL);
    let sources = inst.sources.iter().enumerate();
    let writes = inst.memory.filter(|op| {
        matches!(op.kind, MemoryOpKind::Store | MemoryOpKind::Atomic)
            && matches!(op.space, Space::Global | Space::Generic)
    });
    Inst {
        kind: kind(inst),
        memory: inst.memory,
        results: inst.destinations.iter().map(place).collect(),
        sources: sources.map(|(at, it)| (place(it), needs(at))).collect(),
        keeps: matches!(inst.flow, Some(Flow::Call | Flow::Return)),
        opaque: inst.needs.opaque,
        barrier: inst.unit == Unit::Barrier,
        control: inst.flow.is_some(),
        guarded: inst.needs.sources.iter().any(|it| it.role == Role::Guard),
        output: writes.is_some() || is_opaque_root(inst),
        calls: inst.flow == Some(Flow::Call),
    }
}

/// A texture access reads and does nothing else; whatever else is opaque may write.
fn is_opaque_root(inst: &StaticInst) -> bool {
    let reads = inst
        .memory
        .is_some_and(|op| op.kind == MemoryOpKind::Texture);
    inst.needs.opaque && !reads
}

fn kind(inst: &StaticInst) -> Kind {
    if inst.flow.is_some() || inst.unit == Unit::Barrier || is_opaque_root(inst) {
        return Kind::Root;
    }
    match inst.memory.map(|op| op.kind) {
        Some(MemoryOpKind::Atomic) => Kind::Root,
        Some(MemoryOpKind::Load | MemoryOpKind::Texture) => Kind::Load,
        Some(MemoryOpKind::Store) => Kind::Store,
        None if inst.destinations.is_empty() => Kind::Neutral,
        None => Kind::Compute,
    }
}

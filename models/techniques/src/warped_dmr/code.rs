//! What the verification needs to know of static instructions.

use warpwatt_gpu::trace::{Flow, KernelTrace, Register, RegisterKind, StaticInst, Unit};

/// What an instruction's lanes do, as coverage is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Work of the arithmetic units.
    Computation,
    /// Addresses of loads, stores and atomics: data are protected otherwise (section 4.1).
    Address,
    /// Branches, calls and returns.
    Branch,
}

impl Kind {
    /// All of them, with their names in counters.
    pub const ALL: [(Self, &'static str); 3] = [
        (Self::Computation, "computation"),
        (Self::Address, "address"),
        (Self::Branch, "branch"),
    ];
}

/// An instruction.
#[derive(Clone, Debug)]
pub(super) struct Inst {
    /// `None`: barriers, fences and exits, of which there is nothing to verify.
    pub kind: Option<Kind>,
    sources: Vec<Key>,
    destinations: Vec<Key>,
    /// 32-bit words that it reads.
    pub source_words: usize,
    /// Whether an entry of the queue has no room for its operands: three words and a result.
    pub wide: bool,
}

/// A 32-bit register or a predicate.
type Key = (bool, u16);

impl Inst {
    /// Whether it reads what `other`, of the same warp, writes.
    pub fn wants(&self, other: &Self) -> bool {
        let mut results = other.destinations.iter();
        results.any(|result| self.sources.contains(result))
    }

    fn new(inst: &StaticInst) -> Self {
        let words =
            |registers: &[Register]| -> u32 { registers.iter().map(|it| it.kind.words()).sum() };
        Self {
            kind: kind(inst),
            sources: inst.sources.iter().flat_map(|&it| keys(it)).collect(),
            destinations: inst.destinations.iter().flat_map(|&it| keys(it)).collect(),
            source_words: words(&inst.sources) as usize,
            wide: words(&inst.sources) > 3 || words(&inst.destinations) > 1,
        }
    }
}

/// The instructions of a launch.
pub(super) fn instructions(trace: &KernelTrace) -> Vec<Inst> {
    trace.code.iter().map(Inst::new).collect()
}

fn kind(inst: &StaticInst) -> Option<Kind> {
    match inst.unit {
        Unit::Int | Unit::Scalar | Unit::Fp32 | Unit::Fp64 | Unit::Sfu | Unit::Matrix => {
            Some(Kind::Computation)
        }
        Unit::Memory => Some(Kind::Address),
        Unit::Control if inst.flow != Some(Flow::Exit) => Some(Kind::Branch),
        Unit::Control | Unit::Fence | Unit::Barrier => None,
    }
}

/// A double lies in two words.
fn keys(register: Register) -> impl Iterator<Item = Key> {
    let predicate = register.kind == RegisterKind::Predicate;
    let count = register.kind.words().max(1) as u16;
    let first = register.number * count;
    (first..first + count).map(move |number| (predicate, number))
}

//! Which words of the register file an instruction reads and writes, in the order of its facts.

use warpwatt_simt::trace::{KernelTrace, MemoryOpKind, Register, Split};

/// What a probe needs of a static instruction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words {
    pub read: Vec<u16>,
    pub written: Vec<u16>,
    pub has_results: bool,
    pub stores: bool,
    /// It reads shared memory, if it accesses it, and it writes it.
    pub loads: bool,
    pub writes_memory: bool,
    pub bytes: u8,
    pub generic: bool,
    pub split: Option<Split>,
}

pub(crate) fn of(trace: &KernelTrace) -> Vec<Words> {
    let code = trace.code.iter();
    code.map(|inst| {
        let kind = inst.memory.map(|op| op.kind);
        let atomic = kind == Some(MemoryOpKind::Atomic);
        let stores = kind == Some(MemoryOpKind::Store);
        Words {
            read: words(&inst.sources),
            written: words(&inst.destinations),
            has_results: !inst.destinations.is_empty(),
            stores,
            loads: kind == Some(MemoryOpKind::Load) || atomic,
            writes_memory: stores || atomic,
            bytes: inst.memory.map_or(0, |op| op.bytes),
            generic: inst
                .memory
                .is_some_and(|op| op.space == warpwatt_simt::trace::Space::Generic),
            split: inst.split,
        }
    })
    .collect()
}

/// A double is two words, a predicate none.
fn words(registers: &[Register]) -> Vec<u16> {
    let of = |register: &Register| {
        let words = register.kind.words() as u16;
        let first = register.number * words;
        first..first + words
    };
    registers.iter().flat_map(of).collect()
}

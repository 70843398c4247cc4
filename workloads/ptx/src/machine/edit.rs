//! Changing an entry's code.

use crate::cfg::retarget;
use crate::program::{Entry, Inst, Slot, SlotKind, Source};

/// Builds the code anew: `each` puts what an instruction becomes behind what is there. Branches follow.
pub(super) fn rebuild(entry: &mut Entry, mut each: impl FnMut(&mut Vec<Inst>, usize, Inst)) {
    let old = std::mem::take(&mut entry.code);
    let mut moved = Vec::with_capacity(old.len() + 1);
    let mut code = Vec::with_capacity(old.len());
    for (at, inst) in old.into_iter().enumerate() {
        moved.push(code.len() as u32);
        each(&mut code, at, inst);
    }
    moved.push(code.len() as u32);
    retarget(&mut code, &moved);
    entry.code = code;
}

/// Leaves out instructions.
pub(super) fn remove(entry: &mut Entry, gone: &[bool]) {
    rebuild(entry, |code, at, inst| {
        if !gone[at] {
            code.push(inst);
        }
    });
}

/// A register that nobody has.
pub(super) fn fresh(entry: &mut Entry, kind: SlotKind) -> Slot {
    let number = match kind {
        SlotKind::Double => {
            entry.doubles.push(Source::Register);
            entry.doubles.len() - 1
        }
        _ => {
            entry.words.push(Source::Register);
            entry.words.len() - 1
        }
    };
    Slot {
        kind,
        number: number as u16,
    }
}

/// The slot of a preset word.
pub(super) fn word(entry: &mut Entry, source: Source<u32>) -> Slot {
    let found = entry.words.iter().position(|known| *known == source);
    let number = found.unwrap_or_else(|| {
        entry.words.push(source);
        entry.words.len() - 1
    });
    Slot {
        kind: SlotKind::Word,
        number: number as u16,
    }
}

/// The slot of a preset double.
pub(super) fn double(entry: &mut Entry, source: Source<u64>) -> Slot {
    let found = entry.doubles.iter().position(|known| *known == source);
    let number = found.unwrap_or_else(|| {
        entry.doubles.push(source);
        entry.doubles.len() - 1
    });
    Slot {
        kind: SlotKind::Double,
        number: number as u16,
    }
}

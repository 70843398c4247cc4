//! Parameters as operands: instructions of Volta and later read the constant bank in which they lie (CUDA Binary Utilities, `c[0x0][0x160]`).

use super::edit::{double, word};
use crate::program::{Entry, Long1, Op, SlotKind, Source, Special, Word1};
use crate::types::Space;

/// Loads of whole parameters become moves of what a warp has from the start.
pub(super) fn run(entry: &mut Entry) {
    for at in 0..entry.code.len() {
        let inst = &entry.code[at];
        let Op::Load(access) = inst.op else { continue };
        let base = inst.src[0];
        let is_plain = access.space == Space::Param && access.count == 1 && !access.framed;
        let base = match base.kind {
            SlotKind::Double => entry.doubles[base.index()],
            _ => continue,
        };
        let (Source::Literal(base), true) = (base, is_plain) else {
            continue;
        };
        let Ok(offset) = u32::try_from(base.wrapping_add(access.offset as u64)) else {
            continue;
        };
        if u64::from(offset) + u64::from(access.bytes()) > u64::from(entry.param_bytes()) {
            continue;
        }
        let special = Special::Param(offset);
        let (op, from) = match (inst.dst[0].kind, access.element.bytes()) {
            (SlotKind::Word, 4) => (
                Op::Word1(Word1::Copy),
                word(entry, Source::Special(special)),
            ),
            (SlotKind::Double, 8) => (
                Op::Long1(Long1::Copy),
                double(entry, Source::Special(special)),
            ),
            _ => continue,
        };
        let inst = &mut entry.code[at];
        inst.op = op;
        inst.src = from.into();
    }
}

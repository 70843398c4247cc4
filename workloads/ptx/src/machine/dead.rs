//! Instructions whose results nobody reads.

use super::edit::remove;
use super::values::Values;
use crate::program::{Entry, Op};
use crate::types::Space;

/// Until there are none.
pub(super) fn run(entry: &mut Entry) {
    loop {
        let values = Values::of(entry);
        let gone: Vec<bool> = entry
            .code
            .iter()
            .map(|inst| {
                let mut writes = inst.writes().peekable();
                let plain = inst.op.traits().is_pure() || matches!(inst.op, Op::Load(access) if matches!(access.space, Space::Const | Space::Param));
                plain && writes.peek().is_some() && writes.all(|slot| values.uses(slot) == 0)
            })
            .collect();
        if !gone.contains(&true) {
            return;
        }
        remove(entry, &gone);
    }
}

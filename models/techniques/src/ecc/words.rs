//! How many words are encoded and checked.

use std::collections::BTreeSet;

use warpwatt_activity::Activity;
use warpwatt_gpu::trace::{KernelTrace, MemoryOp, MemoryOpKind, Space, Step};
use warpwatt_gpu::{FetchObserver, IssueEvent, IssueHook, IssuePlan};

const GENERATED: &str = "ecc.generator.read";
const CHECKED: &str = "ecc.checker.read";

/// Those of a structure whose accesses the GPU counts.
#[derive(Clone, Debug)]
pub(super) struct Words {
    reads: String,
    writes: String,
    /// Words of an access.
    words: u64,
}

impl Words {
    pub fn of([reads, writes]: [String; 2], words: u32) -> Self {
        Self {
            reads,
            writes,
            words: u64::from(words),
        }
    }
}

impl FetchObserver for Words {
    fn report(&self, activity: &mut Activity) {
        let (reads, writes) = (activity.get(&self.reads), activity.get(&self.writes));
        activity.add(CHECKED, self.words * reads);
        activity.add(GENERATED, self.words * writes);
    }
}

/// Those of shared memory: lanes that access one word share it. A part of a word is written by reading it whole.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedWords {
    ops: Vec<Option<MemoryOp>>,
    touched: BTreeSet<u64>,
    checked: u64,
    generated: u64,
}

impl IssueHook for SharedWords {
    fn begin(&mut self, trace: &KernelTrace) {
        self.ops = trace.code.iter().map(|inst| inst.memory).collect();
    }

    fn issued(&mut self, event: &IssueEvent<'_>, _: &mut IssuePlan) {
        let Some(op) = self.ops[event.step.inst as usize] else {
            return;
        };
        let words = self.words(&op, event.step);
        let loads = op.kind != MemoryOpKind::Store || op.bytes < 4;
        self.checked += if loads { words } else { 0 };
        let stores = matches!(op.kind, MemoryOpKind::Store | MemoryOpKind::Atomic);
        self.generated += if stores { words } else { 0 };
    }

    fn report(&self, activity: &mut Activity) {
        activity.add(CHECKED, self.checked);
        activity.add(GENERATED, self.generated);
    }
}

impl SharedWords {
    /// Words of shared memory that an access touches.
    fn words(&mut self, op: &MemoryOp, step: &Step) -> u64 {
        let shared = op.space == Space::Shared;
        let Some(addresses) = step
            .addresses
            .as_ref()
            .filter(|_| shared || op.space == Space::Generic)
        else {
            return 0;
        };
        self.touched.clear();
        let bytes = u64::from(op.bytes).max(1);
        addresses.for_each(step.executed, |_, address| {
            if shared || Space::of(address) == Space::Shared {
                self.touched
                    .extend(address / 4..(address + bytes).div_ceil(4));
            }
        });
        self.touched.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpwatt_gpu::trace::Addresses;

    #[test]
    fn lanes_that_access_one_word_share_it() {
        let op = |bytes| MemoryOp::new(Space::Shared, MemoryOpKind::Load, bytes);
        let words = |stride, bytes| {
            let step = Step {
                inst: 0,
                active: 0xffff_ffff,
                executed: 0xffff_ffff,
                addresses: Some(Addresses::Affine { base: 64, stride }),
                values: None,
            };
            SharedWords::default().words(&op(bytes), &step)
        };
        assert_eq!(words(0, 4), 1);
        assert_eq!(words(4, 4), 32);
        assert_eq!(words(8, 8), 64);
        assert_eq!(words(1, 1), 8);
    }
}

//! Which instructions a compiler knows to be the same in all lanes of a warp.
//!
//! B. Coutinho, D. Sampaio, F. Pereira, W. Meira, "Divergence Analysis and Optimizations", PACT 2011: a value diverges if it is computed from one that does
//! (data dependence), or if it is written where only a part of the lanes may be, between a branch that diverges and the place where its paths meet (sync
//! dependence). Here the analysis follows the paths of the allocated program, so that a register may hold a uniform value now and a divergent one later.
//! Lanes that leave the kernel early end nothing: those that stay go on together.

use crate::cfg::Blocks;
use crate::program::{Entry, Inst, Op, Slot, SlotKind};

/// What the lanes' results of an instruction depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// On the sources and nothing else.
    Sources,
    /// On nothing that differs between lanes.
    Same,
    /// On the lane.
    Own,
}

/// For each instruction, whether all lanes of a warp execute it together and with the same operands in every execution. What its results depend on is for
/// `lanes` to say. Of device functions and behind their calls nothing is known.
pub fn uniform(entry: &Entry, lanes: impl Fn(&Inst) -> Lanes) -> Vec<bool> {
    let mut analysis = Analysis::new(entry, lanes);
    while analysis.pass() {}
    analysis.uniform
}

struct Analysis<'e, F> {
    entry: &'e Entry,
    lanes: F,
    blocks: Blocks,
    /// Divergent registers at the beginning of each block; `None` before it is reached.
    before: Vec<Option<Vec<bool>>>,
    /// Blocks that a part of a warp's lanes may be in.
    partial: Vec<bool>,
    uniform: Vec<bool>,
}

impl<'e, F: Fn(&Inst) -> Lanes> Analysis<'e, F> {
    fn new(entry: &'e Entry, lanes: F) -> Self {
        let blocks = Blocks::of(&entry.code);
        let count = blocks.starts.len();
        let registers = entry.words.len() + entry.doubles.len() + usize::from(entry.predicates);
        let mut before = vec![None; count];
        if let Some(first) = before.first_mut() {
            *first = Some(vec![false; registers]);
        }
        Self {
            entry,
            lanes,
            before,
            partial: vec![false; count],
            uniform: vec![false; entry.code.len()],
            blocks,
        }
    }

    /// Goes through all blocks once; whether anything was learned.
    fn pass(&mut self) -> bool {
        let mut learned = false;
        for block in 0..self.blocks.starts.len() {
            let Some(mut divergent) = self.before[block].clone() else {
                continue;
            };
            for at in self.blocks.range(block, self.entry.code.len()) {
                let inst = &self.entry.code[at];
                let uniform = self.step(inst, block, &mut divergent);
                self.uniform[at] = uniform;
                if !uniform {
                    learned |= self.part(inst, block);
                }
            }
            for place in 0..self.blocks.successors[block].len() {
                let next = self.blocks.successors[block][place] as usize;
                learned |= self.join(next, &divergent);
            }
        }
        learned
    }

    /// Follows an instruction; whether it is uniform.
    fn step(&self, inst: &Inst, block: usize, divergent: &mut [bool]) -> bool {
        let lanes = (self.lanes)(inst);
        let differs = |slot: Slot| divergent[self.number(slot)];
        let guard = inst.guard.is_some_and(|guard| differs(guard.predicate));
        let together = !self.partial[block] && !guard;
        let same = together && lanes != Lanes::Own && !inst.reads().any(differs);
        let result = !together
            || match lanes {
                Lanes::Same => false,
                Lanes::Own => true,
                Lanes::Sources => !same,
            };
        for slot in inst.writes() {
            let written = &mut divergent[self.number(slot)];
            // A guard that holds in no lane leaves the register as it is.
            *written = result || inst.guard.is_some() && *written;
        }
        if matches!(inst.op, Op::Call(_)) {
            divergent.fill(true);
        }
        same
    }

    /// Where the lanes part at a branch, everything up to where they meet is reached by a part of them.
    fn part(&mut self, inst: &Inst, block: usize) -> bool {
        let (Op::Branch { reconverge, .. } | Op::BranchIndexed { reconverge, .. }) = inst.op else {
            return false;
        };
        // A branch that nothing guards takes all lanes along that are there.
        if inst.guard.is_none() && matches!(inst.op, Op::Branch { .. }) {
            return false;
        }
        let meet = self.blocks.starts.binary_search(&reconverge).ok();
        let mut open = self.following(block);
        let mut learned = false;
        let mut seen = vec![false; self.partial.len()];
        while let Some(next) = open.pop() {
            if Some(next) == meet || std::mem::replace(&mut seen[next], true) {
                continue;
            }
            learned |= !std::mem::replace(&mut self.partial[next], true);
            open.extend(self.following(next));
        }
        learned
    }

    /// Blocks that a block may continue in, the exit apart.
    fn following(&self, block: usize) -> Vec<usize> {
        let next = self.blocks.successors[block].iter();
        next.map(|&next| next as usize)
            .filter(|&next| next < self.partial.len())
            .collect()
    }

    /// What diverges on one way into a block diverges in it.
    fn join(&mut self, block: usize, divergent: &[bool]) -> bool {
        let Some(before) = self.before.get_mut(block) else {
            return false;
        };
        let Some(known) = before else {
            *before = Some(divergent.to_vec());
            return true;
        };
        let mut learned = false;
        for (known, &divergent) in known.iter_mut().zip(divergent) {
            learned |= divergent && !*known;
            *known |= divergent;
        }
        learned
    }

    fn number(&self, slot: Slot) -> usize {
        let (words, doubles) = (self.entry.words.len(), self.entry.doubles.len());
        slot.index()
            + match slot.kind {
                SlotKind::Word => 0,
                SlotKind::Double => words,
                SlotKind::Predicate => words + doubles,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Source, Special};

    fn of(body: &str) -> Vec<(u32, bool)> {
        let text = format!(
            ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n.reg .pred %p<4>;\n.reg .b32 %r<9>;\n{body}\nret;\n}}\n"
        );
        let module = crate::load(&text).unwrap();
        let entry = &module.entries[0];
        let lanes = |inst: &Inst| {
            let tid = |slot: Slot| {
                slot.kind == SlotKind::Word
                    && entry.words[slot.index()] == Source::Special(Special::Tid(0))
            };
            if inst.reads().any(tid) {
                Lanes::Own
            } else {
                Lanes::Sources
            }
        };
        let found = uniform(entry, lanes);
        entry
            .code
            .iter()
            .zip(found)
            .map(|(inst, uniform)| (inst.line, uniform))
            .collect()
    }

    fn at(found: &[(u32, bool)], line: u32) -> bool {
        found
            .iter()
            .filter(|(at, _)| *at == line)
            .all(|(_, uniform)| *uniform)
    }

    #[test]
    fn what_follows_from_the_thread_diverges_and_the_rest_does_not() {
        let found = of(
            "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\nadd.u32 %r3, %r1, 4;\nadd.u32 %r4, %r2, %r3;\nst.shared.u32 [%r4], %r3;",
        );
        let uniform: Vec<bool> = (8..13).map(|line| at(&found, line)).collect();
        assert_eq!(uniform, [true, false, true, false, false]);
    }

    /// The paper's example: what stands under an `if` on the thread is not known to be uniform, and neither is what it wrote afterwards.
    #[test]
    fn a_value_written_by_a_part_of_the_lanes_diverges_where_they_meet() {
        let found = of(
            "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\nsetp.gt.u32 %p1, %r2, 7;\n@%p1 bra OUT;\nadd.u32 %r1, %r1, 1;\nOUT:\nadd.u32 %r3, %r1, 2;\nmov.u32 %r5, %ctaid.x;\nst.shared.u32 [%r3], %r5;",
        );
        assert!(at(&found, 8) && at(&found, 15));
        for line in [9, 10, 11, 12, 14, 16] {
            assert!(!at(&found, line), "line {line}: {found:?}");
        }
    }

    #[test]
    fn a_loop_with_a_uniform_bound_stays_uniform() {
        let found = of(
            "mov.u32 %r1, 0;\nTOP:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 9;\n@%p1 bra TOP;\nst.shared.u32 [%r1], %r1;",
        );
        for line in [8, 10, 11, 12, 13] {
            assert!(at(&found, line), "line {line}: {found:?}");
        }
    }

    #[test]
    fn a_loop_that_lanes_leave_one_by_one_is_no_place_for_scalars() {
        let found = of(
            "mov.u32 %r1, 0;\nmov.u32 %r2, %tid.x;\nTOP:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, %r2;\n@%p1 bra TOP;\nst.shared.u32 [%r1], %r1;",
        );
        assert!(at(&found, 8));
        for line in [11, 12, 13, 14] {
            assert!(!at(&found, line), "line {line}: {found:?}");
        }
    }
}

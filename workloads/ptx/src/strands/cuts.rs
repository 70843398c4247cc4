//! Where strands begin.

use crate::cfg::Blocks;
use crate::lifetime::flow::{between, meeting};
use crate::lifetime::{Words, main_end, words};
use crate::program::{Entry, Inst, Op};

/// For each instruction, whether a strand begins with it.
pub(super) fn cuts(entry: &Entry, blocks: &Blocks, is_long: impl Fn(&Inst) -> bool) -> Vec<bool> {
    let mut cuts = Cuts {
        entry,
        blocks,
        predecessors: predecessors(blocks),
        before: fixed(entry, blocks),
    };
    // Each step only adds; what one adds may be a reason for the others.
    while cuts.wait(&is_long) | cuts.join() | cuts.part() {}
    cuts.before
}

struct Cuts<'e> {
    entry: &'e Entry,
    blocks: &'e Blocks,
    predecessors: Vec<Vec<usize>>,
    before: Vec<bool>,
}

/// Blocks that each block may follow.
pub(super) fn predecessors(blocks: &Blocks) -> Vec<Vec<usize>> {
    let mut predecessors = vec![Vec::new(); blocks.starts.len()];
    for (block, successors) in blocks.successors.iter().enumerate() {
        for &next in successors {
            if let Some(of) = predecessors.get_mut(next as usize) {
                of.push(block);
            }
        }
    }
    predecessors
}

/// The ends of strands that no data decide: backward branches and where they lead to, barriers, fences, calls, functions.
fn fixed(entry: &Entry, blocks: &Blocks) -> Vec<bool> {
    let count = entry.code.len();
    let mut before = vec![false; count + 1];
    before[0] = true;
    before[main_end(entry)] = true;
    for function in &entry.functions {
        before[function.start as usize] = true;
    }
    for (at, inst) in entry.code.iter().enumerate() {
        match inst.op {
            Op::Barrier(_) | Op::Call(_) => before[at + 1] = true,
            Op::Nothing { fence: true } => before[at] = true,
            _ => {}
        }
    }
    for (block, successors) in blocks.successors.iter().enumerate() {
        if successors.iter().any(|&next| next as usize <= block) {
            for &next in successors {
                let start = blocks.starts.get(next as usize);
                before[start.map_or(count, |&start| start as usize)] = true;
            }
        }
    }
    before.truncate(count);
    before
}

impl Cuts<'_> {
    /// A strand ends before an instruction that depends on a long-latency one of the same strand: that reads its result, or writes to the same register.
    /// Backward branches end strands, so that one pass in the order of the code sees every path.
    fn wait(&mut self, is_long: impl Fn(&Inst) -> bool) -> bool {
        let mut changed = false;
        let mut pending = vec![Words::default(); self.blocks.starts.len()];
        for block in 0..self.blocks.starts.len() {
            let mut now = Words::default();
            for &from in &self.predecessors[block] {
                now.add(&pending[from]);
            }
            for at in self.blocks.range(block, self.entry.code.len()) {
                let inst = &self.entry.code[at];
                let mut registers = inst.reads().chain(inst.writes());
                let depends =
                    registers.any(|slot| words(self.entry, slot).any(|word| now.has(word)));
                if depends && !self.before[at] {
                    self.before[at] = true;
                    changed = true;
                }
                if self.before[at] {
                    now = Words::default();
                }
                if is_long(inst) {
                    inst.writes()
                        .for_each(|slot| now.insert_all(words(self.entry, slot)));
                }
            }
            pending[block] = now;
        }
        changed
    }

    /// Where paths meet that are in different strands another one begins.
    fn join(&mut self) -> bool {
        let mut changed = false;
        let mut last: Vec<usize> = Vec::with_capacity(self.blocks.starts.len());
        for block in 0..self.blocks.starts.len() {
            let range = self.blocks.range(block, self.entry.code.len());
            let mut strands = self.predecessors[block].iter().map(|&from| last.get(from));
            let first = strands.next().flatten().copied();
            let one = first.filter(|first| strands.all(|other| other == Some(first)));
            if one.is_none() && !self.before[range.start] {
                self.before[range.start] = true;
                changed = true;
            }
            let begun = range.clone().rev().find(|&at| self.before[at]);
            last.push(begun.or(one).unwrap_or(range.start));
        }
        changed
    }

    /// A branch at which lanes may part ends the strand if one ends before its sides meet.
    fn part(&mut self) -> bool {
        let mut changed = false;
        for block in 0..self.blocks.starts.len() {
            let Some(meets) = meeting(self.entry, self.blocks, block) else {
                continue;
            };
            let length = self.entry.code.len();
            let mut inside = between(self.blocks, block, meets).into_iter();
            if !inside.any(|inner| self.blocks.range(inner, length).any(|at| self.before[at])) {
                continue;
            }
            for &place in self.blocks.successors[block].iter().chain([&meets]) {
                if let Some(&start) = self.blocks.starts.get(place as usize)
                    && !self.before[start as usize]
                {
                    self.before[start as usize] = true;
                    changed = true;
                }
            }
        }
        changed
    }
}

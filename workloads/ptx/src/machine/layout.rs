//! Order of blocks: what a branch leads to without a condition follows it (K. Pettis, R. Hansen, "Profile Guided Code Positioning", 1990, with the depth of loops for
//! frequencies), so that the branch goes, loops are entered at their test, and what is skipped stands where it can be guarded.

use crate::cfg::{Blocks, NO_RECONVERGENCE, retarget};
use crate::program::{Entry, Guard, Inst, Op, Operands};

/// Most branches that are followed to where they all lead.
const HOPS: usize = 16;

pub(super) fn run(entry: &mut Entry) {
    thread(&mut entry.code);
    let layout = Layout::of(&entry.code);
    // Nothing is known to stand behind code that runs past its end.
    if layout.ends.iter().any(|end| end.leaves(layout.ends.len())) {
        return;
    }
    let order = layout.order();
    entry.code = layout.emitted(&entry.code, &order);
}

/// Branches to branches lead to where those lead.
fn thread(code: &mut [Inst]) {
    for at in 0..code.len() {
        let Op::Branch { mut target, .. } = code[at].op else {
            continue;
        };
        for _ in 0..HOPS {
            match code.get(target as usize) {
                Some(Inst {
                    op: Op::Branch { target: next, .. },
                    guard: None,
                    ..
                }) => target = *next,
                _ => break,
            }
        }
        if let Op::Branch { target: led, .. } = &mut code[at].op {
            *led = target;
        }
    }
}

/// How a block ends.
#[derive(Clone, Copy)]
enum End {
    /// With a branch that is always taken.
    Jumps(usize),
    /// In the next block.
    Falls(usize),
    /// With a branch that some take, or else in the next block.
    Forks { taken: usize, falls: usize },
    /// Not in a block that may stand behind it.
    Stops,
}

impl End {
    fn leaves(self, blocks: usize) -> bool {
        match self {
            Self::Jumps(to) | Self::Falls(to) => to >= blocks,
            Self::Forks { taken, falls } => taken >= blocks || falls >= blocks,
            Self::Stops => false,
        }
    }
}

struct Layout {
    blocks: Blocks,
    ends: Vec<End>,
    length: usize,
}

impl Layout {
    fn of(code: &[Inst]) -> Self {
        let blocks = Blocks::of(code);
        let block_of = |at: u32| match at as usize >= code.len() {
            true => blocks.starts.len(),
            false => blocks.starts.partition_point(|&start| start <= at) - 1,
        };
        let ends = (0..blocks.starts.len()).map(|block| {
            let range = blocks.range(block, code.len());
            let last = &code[range.end - 1];
            match (&last.op, last.guard) {
                (Op::Branch { target, .. }, None) => End::Jumps(block_of(*target)),
                (Op::Branch { target, .. }, Some(_)) => End::Forks {
                    taken: block_of(*target),
                    falls: block + 1,
                },
                (Op::Exit | Op::Return | Op::Trap | Op::BranchIndexed { .. }, None) => End::Stops,
                _ => End::Falls(block + 1),
            }
        });
        let ends = ends.collect();
        Self {
            blocks,
            ends,
            length: code.len(),
        }
    }

    /// Of each block, in how many loops it is: branches back that go around it.
    fn depths(&self) -> Vec<u32> {
        let mut depths = vec![0; self.ends.len()];
        for (block, next) in self.blocks.successors.iter().enumerate() {
            let back = next.iter().map(|&next| next as usize);
            for head in back.filter(|&next| next <= block) {
                for depth in &mut depths[head..=block] {
                    *depth += 1;
                }
            }
        }
        depths
    }

    /// The blocks that are reached, in the order in which they stand best.
    fn order(&self) -> Vec<usize> {
        let depths = self.depths();
        let mut single: Vec<(usize, usize)> = Vec::new();
        let mut forks: Vec<(usize, usize)> = Vec::new();
        for (block, end) in self.ends.iter().enumerate() {
            match *end {
                End::Jumps(to) | End::Falls(to) => single.push((block, to)),
                End::Forks { taken, falls } => forks.extend([(block, falls), (block, taken)]),
                End::Stops => {}
            }
        }
        single.sort_by_key(|&(block, _)| std::cmp::Reverse(depths[block]));
        forks.sort_by_key(|&(block, _)| std::cmp::Reverse(depths[block]));
        let mut chains = Chains::new(self.ends.len());
        let reached = self.reached();
        for (from, to) in single.into_iter().chain(forks) {
            if reached[from] {
                chains.join(from, to);
            }
        }
        chains.order(&reached)
    }

    fn reached(&self) -> Vec<bool> {
        let mut reached = vec![false; self.ends.len()];
        let mut open = vec![0];
        while let Some(block) = open.pop() {
            if block < reached.len() && !std::mem::replace(&mut reached[block], true) {
                open.extend(
                    self.blocks.successors[block]
                        .iter()
                        .map(|&next| next as usize),
                );
            }
        }
        reached
    }

    fn emitted(&self, code: &[Inst], order: &[usize]) -> Vec<Inst> {
        let mut made: Vec<Inst> = Vec::with_capacity(code.len());
        let mut moved = vec![NO_RECONVERGENCE; self.length + 1];
        for (place, &block) in order.iter().enumerate() {
            let range = self.blocks.range(block, code.len());
            moved[range.start] = made.len() as u32;
            let next = order.get(place + 1).copied();
            made.extend_from_slice(&code[range]);
            self.end(block, next, &mut made);
        }
        moved[self.length] = made.len() as u32;
        retarget(&mut made, &moved);
        made
    }

    /// Puts the end of a block right for the one that stands behind it.
    fn end(&self, block: usize, next: Option<usize>, made: &mut Vec<Inst>) {
        let jump = |to: usize, line: u32| Inst {
            op: Op::Branch {
                target: self.blocks.starts[to],
                reconverge: NO_RECONVERGENCE,
            },
            guard: None,
            dst: Operands::default(),
            src: Operands::default(),
            line,
        };
        let Some(last) = made.last_mut() else { return };
        let line = last.line;
        match self.ends[block] {
            End::Jumps(to) if next == Some(to) => {
                made.pop();
            }
            End::Falls(to) if next != Some(to) => made.push(jump(to, line)),
            End::Forks { taken, falls } if next == Some(taken) && taken != falls => {
                last.op = jump(falls, line).op;
                last.guard = last.guard.map(|guard| Guard {
                    negated: !guard.negated,
                    ..guard
                });
            }
            End::Forks { falls, .. } if next != Some(falls) => made.push(jump(falls, line)),
            _ => {}
        }
    }
}

/// Blocks that stand behind each other.
struct Chains {
    next: Vec<Option<usize>>,
    has_before: Vec<bool>,
    /// A block nearer to the head of its chain, or itself.
    head: Vec<usize>,
}

impl Chains {
    fn new(blocks: usize) -> Self {
        let mut has_before = vec![false; blocks];
        // Programs begin with their first block.
        if let Some(first) = has_before.first_mut() {
            *first = true;
        }
        Self {
            next: vec![None; blocks],
            has_before,
            head: (0..blocks).collect(),
        }
    }

    fn head(&self, mut block: usize) -> usize {
        while self.head[block] != block {
            block = self.head[block];
        }
        block
    }

    /// Puts a block behind another if both are free for that.
    fn join(&mut self, from: usize, to: usize) {
        let head = self.head(from);
        if self.next[from].is_none() && !self.has_before[to] && head != to {
            self.next[from] = Some(to);
            self.has_before[to] = true;
            self.head[to] = head;
        }
    }

    /// Chain by chain, in the order of their first blocks.
    fn order(&self, reached: &[bool]) -> Vec<usize> {
        let mut order = Vec::new();
        for (block, &is_reached) in reached.iter().enumerate() {
            if is_reached && self.head[block] == block {
                let mut at = Some(block);
                while let Some(block) = at {
                    order.push(block);
                    at = self.next[block];
                }
            }
        }
        order
    }
}

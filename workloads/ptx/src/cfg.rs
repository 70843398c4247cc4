//! Control flow: where divergent paths meet again.

use crate::program::{Inst, Op};

/// The paths of a branch meet only at the end of the program.
pub const NO_RECONVERGENCE: u32 = u32::MAX;

/// Basic blocks of a program.
#[derive(Clone, Debug)]
pub struct Blocks {
    /// Index of each block's first instruction, ascending.
    pub starts: Vec<u32>,
    /// Blocks that each block may continue in. The exit is block `starts.len()`.
    pub successors: Vec<Vec<u32>>,
}

impl Blocks {
    /// Cuts `code` at branches and their targets.
    pub fn of(code: &[Inst]) -> Self {
        let length = code.len() as u32;
        let mut leaders = vec![false; code.len() + 1];
        leaders[0] = true;
        for (at, inst) in code.iter().enumerate() {
            for &target in jump_targets(&inst.op) {
                leaders[target as usize] = true;
            }
            if ends_block(inst) {
                leaders[at + 1] = true;
            }
        }
        let starts: Vec<u32> = (0..length).filter(|&at| leaders[at as usize]).collect();
        let exit = starts.len() as u32;
        let block_of = |at: u32| {
            if at >= length {
                exit
            } else {
                starts.partition_point(|&start| start <= at) as u32 - 1
            }
        };
        let ends = starts.iter().skip(1).copied().chain([length]);
        let successors = ends
            .map(|end| successors(&code[end as usize - 1], end, exit, &block_of))
            .collect();
        Self { starts, successors }
    }

    /// Instructions of a block of a program of so many.
    pub fn range(&self, block: usize, length: usize) -> std::ops::Range<usize> {
        let end = self.starts.get(block + 1).map_or(length, |&at| at as usize);
        self.starts[block] as usize..end
    }

    /// Immediate post-dominator of each block; the exit's index where there is none nearer.
    ///
    /// Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm" (2001), run on the reversed graph. Blocks that cannot
    /// reach the exit (endless loops) have none.
    pub fn post_dominators(&self) -> Vec<Option<u32>> {
        let exit = self.starts.len();
        let order = self.reverse_post_order();
        let mut rank = vec![usize::MAX; exit + 1];
        for (at, &block) in order.iter().enumerate() {
            rank[block as usize] = at;
        }
        let mut immediate: Vec<Option<u32>> = vec![None; exit + 1];
        immediate[exit] = Some(exit as u32);
        let mut changed = true;
        while changed {
            changed = false;
            for &block in order.iter().skip(1) {
                let known = self.successors[block as usize]
                    .iter()
                    .filter(|&&next| immediate[next as usize].is_some());
                let meet = known
                    .copied()
                    .reduce(|a, b| intersect(&immediate, &rank, a, b));
                if meet.is_some() && meet != immediate[block as usize] {
                    immediate[block as usize] = meet;
                    changed = true;
                }
            }
        }
        immediate.truncate(exit);
        immediate
    }

    /// Blocks from the exit backwards, each after all that follow it (loops aside).
    fn reverse_post_order(&self) -> Vec<u32> {
        let exit = self.starts.len();
        let mut predecessors = vec![Vec::new(); exit + 1];
        for (block, successors) in self.successors.iter().enumerate() {
            for &next in successors {
                predecessors[next as usize].push(block as u32);
            }
        }
        let mut seen = vec![false; exit + 1];
        let mut order = Vec::with_capacity(exit + 1);
        let mut stack = vec![(exit as u32, 0)];
        seen[exit] = true;
        while let Some((block, child)) = stack.pop() {
            match predecessors[block as usize].get(child) {
                Some(&next) => {
                    stack.push((block, child + 1));
                    if !seen[next as usize] {
                        seen[next as usize] = true;
                        stack.push((next, 0));
                    }
                }
                None => order.push(block),
            }
        }
        order.reverse();
        order
    }
}

fn intersect(immediate: &[Option<u32>], rank: &[usize], mut a: u32, mut b: u32) -> u32 {
    let up = |block: u32| immediate[block as usize].expect("ranked blocks on this path are known");
    while a != b {
        while rank[a as usize] > rank[b as usize] {
            a = up(a);
        }
        while rank[b as usize] > rank[a as usize] {
            b = up(b);
        }
    }
    a
}

fn jump_targets(op: &Op) -> &[u32] {
    match op {
        Op::Branch { target, .. } => std::slice::from_ref(target),
        Op::BranchIndexed { targets, .. } => targets,
        _ => &[],
    }
}

fn ends_block(inst: &Inst) -> bool {
    matches!(
        inst.op,
        Op::Branch { .. } | Op::BranchIndexed { .. } | Op::Exit | Op::Return | Op::Trap
    )
}

fn successors(last: &Inst, end: u32, exit: u32, block_of: &impl Fn(u32) -> u32) -> Vec<u32> {
    let mut next: Vec<u32> = jump_targets(&last.op)
        .iter()
        .map(|&at| block_of(at))
        .collect();
    if matches!(last.op, Op::Exit | Op::Return | Op::Trap) {
        next.push(exit);
    }
    let falls_through = !ends_block(last) || last.guard.is_some();
    if falls_through {
        next.push(block_of(end));
    }
    next.sort_unstable();
    next.dedup();
    next
}

/// Writes into every branch where its paths meet again.
pub fn set_reconvergence(code: &mut [Inst]) {
    let blocks = Blocks::of(code);
    let immediate = blocks.post_dominators();
    let ends: Vec<u32> = blocks
        .starts
        .iter()
        .skip(1)
        .copied()
        .chain([code.len() as u32])
        .collect();
    for (block, end) in ends.into_iter().enumerate() {
        let meet = immediate[block]
            .and_then(|meet| blocks.starts.get(meet as usize).copied())
            .unwrap_or(NO_RECONVERGENCE);
        match &mut code[end as usize - 1].op {
            Op::Branch { reconverge, .. } | Op::BranchIndexed { reconverge, .. } => {
                *reconverge = meet;
            }
            _ => {}
        }
    }
}

/// Branches lead to where their targets, with what belongs before them, are now.
pub(crate) fn retarget(code: &mut [Inst], moved: &[u32]) {
    let follow = |target: &mut u32| {
        if let Some(&now) = moved.get(*target as usize) {
            *target = now;
        }
    };
    for inst in code {
        match &mut inst.op {
            Op::Branch { target, reconverge } => {
                follow(target);
                follow(reconverge);
            }
            Op::BranchIndexed {
                targets,
                reconverge,
            } => {
                targets.iter_mut().for_each(follow);
                follow(reconverge);
            }
            _ => {}
        }
    }
}

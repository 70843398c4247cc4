//! The SIMT stack: which lanes run where, and where they meet again.
//!
//! Post-dominator reconvergence as in Fung et al., "Dynamic Warp Formation and Scheduling for Efficient GPU Control Flow"
//! (MICRO 2007), section 2: a divergent branch leaves its meeting point on the stack and runs its sides one after the other.

use crate::trace::LaneMask;

/// A path: where it runs, where it ends, which lanes follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    pub next: u32,
    pub meets: u32,
    pub lanes: LaneMask,
    /// Calls that were open when it began.
    depth: u16,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SimtStack {
    paths: Vec<Path>,
}

/// A path without a meeting point.
const NOWHERE: u32 = u32::MAX;

impl SimtStack {
    /// All `lanes` at the first instruction.
    pub fn start(&mut self, lanes: LaneMask) {
        self.paths.clear();
        self.paths.push(Path {
            next: 0,
            meets: NOWHERE,
            lanes,
            depth: 0,
        });
    }

    /// Lanes that have not exited.
    pub fn live(&self) -> LaneMask {
        self.paths.iter().fold(0, |lanes, path| lanes | path.lanes)
    }

    /// The running path. `None` when all lanes have exited.
    #[inline]
    pub fn top(&mut self) -> Option<Path> {
        while let Some(path) = self.paths.last() {
            if path.lanes != 0 && path.next != path.meets {
                return Some(*path);
            }
            self.paths.pop();
        }
        None
    }

    /// The running path goes on at `next`.
    #[inline]
    pub fn go(&mut self, next: u32) {
        if let Some(path) = self.paths.last_mut() {
            path.next = next;
        }
    }

    /// The running path splits: some lanes continue at each of the targets and all meet at `meets`. The first target runs first.
    pub fn split(&mut self, targets: &[(u32, LaneMask)], meets: u32) {
        let depth = self.depth() as u16;
        let parts = targets.iter().filter(|(_, lanes)| *lanes != 0);
        if let [(target, _)] = parts.clone().collect::<Vec<_>>()[..] {
            return self.go(*target);
        }
        // A path that would wait where the one below it already waits is done; so is one whose sides never meet.
        let ends = self.paths.last().is_some_and(|path| path.meets == meets);
        if meets == NOWHERE || ends {
            self.paths.pop();
        } else {
            self.go(meets);
        }
        for &(next, lanes) in parts.rev().filter(|(next, _)| *next != meets) {
            self.paths.push(Path {
                next,
                meets,
                lanes,
                depth,
            });
        }
    }

    /// How many calls are open on the running path.
    #[inline]
    pub fn depth(&self) -> usize {
        self.paths.last().map_or(0, |path| usize::from(path.depth))
    }

    /// `lanes` continue in a function at `target`; the running path goes on at `back` once they have returned.
    pub fn call(&mut self, target: u32, back: u32, lanes: LaneMask) {
        let depth = self.depth() as u16 + 1;
        self.go(back);
        self.paths.push(Path {
            next: target,
            meets: NOWHERE,
            lanes,
            depth,
        });
    }

    /// `lanes` leave the function that is running.
    pub fn ret(&mut self, lanes: LaneMask) {
        let depth = self.depth();
        for path in self.paths.iter_mut().rev() {
            if usize::from(path.depth) < depth {
                return;
            }
            path.lanes &= !lanes;
        }
    }

    /// Takes `lanes` out: where they run, and every meeting point that lies ahead of them.
    pub fn take(&mut self, lanes: LaneMask) -> Self {
        let own = |path: &Path| Path {
            lanes: path.lanes & lanes,
            ..*path
        };
        let taken = self.paths.iter().map(own).filter(|path| path.lanes != 0);
        let paths = taken.collect();
        self.exit(lanes);
        Self { paths }
    }

    /// How many paths lie on it.
    pub fn height(&self) -> usize {
        self.paths.len()
    }

    /// Whether the lanes of both run at one place and have the same meeting points ahead of them.
    pub fn is_like(&self, other: &Self) -> bool {
        let alike = |(own, other): (&Path, &Path)| {
            (own.next, own.meets, own.depth) == (other.next, other.meets, other.depth)
        };
        self.paths.len() == other.paths.len() && self.paths.iter().zip(&other.paths).all(alike)
    }

    /// The lanes of one that [is like](Self::is_like) it run along.
    pub fn join(&mut self, other: &Self) {
        for (own, other) in self.paths.iter_mut().zip(&other.paths) {
            own.lanes |= other.lanes;
        }
    }

    /// `lanes` are done.
    pub fn exit(&mut self, lanes: LaneMask) {
        for path in &mut self.paths {
            path.lanes &= !lanes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The running path's next instruction and lanes.
    fn running(stack: &mut SimtStack) -> Option<(u32, LaneMask)> {
        stack.top().map(|path| (path.next, path.lanes))
    }

    #[test]
    fn both_sides_run_and_meet() {
        let mut stack = SimtStack::default();
        stack.start(0b1111);
        stack.split(&[(1, 0b0011), (5, 0b1100)], 9);
        assert_eq!(running(&mut stack), Some((1, 0b0011)));
        stack.go(9);
        assert_eq!(running(&mut stack), Some((5, 0b1100)));
        stack.go(9);
        assert_eq!(running(&mut stack), Some((9, 0b1111)));
    }

    #[test]
    fn a_uniform_branch_leaves_no_path_behind() {
        let mut stack = SimtStack::default();
        stack.start(0b11);
        for _ in 0..1000 {
            stack.split(&[(1, 0), (0, 0b11)], 9);
        }
        assert_eq!(stack.paths.len(), 1);
    }

    #[test]
    fn lanes_that_leave_a_loop_wait_at_its_end() {
        let mut stack = SimtStack::default();
        stack.start(0b11);
        stack.split(&[(4, 0b01), (2, 0b10)], 4);
        assert_eq!(running(&mut stack), Some((2, 0b10)));
        stack.exit(0b10);
        assert_eq!(running(&mut stack), Some((4, 0b01)));
        assert_eq!(stack.live(), 0b01);
        stack.exit(0b01);
        assert_eq!(running(&mut stack), None);
    }

    #[test]
    fn lanes_return_one_by_one_and_the_caller_waits_for_all() {
        let mut stack = SimtStack::default();
        stack.start(0b111);
        stack.call(20, 1, 0b011);
        assert_eq!((running(&mut stack), stack.depth()), (Some((20, 0b011)), 1));
        stack.split(&[(21, 0b001), (25, 0b010)], NOWHERE);
        stack.ret(0b001);
        assert_eq!((running(&mut stack), stack.depth()), (Some((25, 0b010)), 1));
        stack.ret(0b010);
        assert_eq!((running(&mut stack), stack.depth()), (Some((1, 0b111)), 0));
    }

    #[test]
    fn a_divergent_loop_does_not_grow_the_stack() {
        let mut stack = SimtStack::default();
        stack.start(u64::MAX);
        let mut lanes = u64::MAX;
        for lane in 0..63 {
            let leaves = 1 << lane;
            stack.split(&[(0, lanes & !leaves), (9, leaves)], 9);
            lanes &= !leaves;
            assert_eq!(running(&mut stack), Some((0, lanes)));
            assert!(stack.paths.len() <= 3, "{}", stack.paths.len());
        }
    }
}

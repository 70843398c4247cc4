//! The reconvergence stack of a warp, followed along its trace.
//!
//! Post-dominator reconvergence as in Fung et al. (MICRO 2007), section 2: a divergent branch leaves its meeting point on the stack, with its sides above it.

use warpwatt_simt::trace::{Flow, LaneMask, Split, Step};

#[derive(Clone, Copy, Debug)]
struct Path {
    meets: u32,
    lanes: LaneMask,
}

/// The paths of a warp, the running one last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stack {
    paths: Vec<Path>,
}

const NOWHERE: u32 = u32::MAX;

impl Stack {
    /// Stands before an instruction; gives how many entries are in use.
    pub fn at(&mut self, step: &Step) -> usize {
        if self.paths.is_empty() {
            self.push(NOWHERE, step.active);
        }
        // Paths that have come to their meeting point, or whose lanes are gone, are over.
        while let Some(path) = self.paths.last() {
            let over = path.lanes & step.active == 0 || path.meets == step.inst;
            if !over || self.paths.len() == 1 {
                break;
            }
            self.paths.pop();
        }
        self.paths.len()
    }

    fn push(&mut self, meets: u32, lanes: LaneMask) {
        self.paths.push(Path { meets, lanes });
    }

    /// What the instruction leaves; gives how many entries are in use.
    pub fn behind(&mut self, step: &Step, split: Option<Split>, flow: Option<Flow>) -> usize {
        let (taken, on) = (step.executed, step.active & !step.executed);
        match (split, flow) {
            (Some(split), _) if taken != 0 && on != 0 => {
                let ends = self
                    .paths
                    .last()
                    .is_some_and(|path| path.meets == split.meets);
                // A path that would wait where the one below it already waits is done; so is one whose sides never meet.
                if split.meets == NOWHERE || (ends && self.paths.len() > 1) {
                    self.paths.pop();
                }
                // The side that goes on without a jump runs first.
                for (next, lanes) in [(split.target, taken), (step.inst + 1, on)] {
                    if next != split.meets {
                        self.push(split.meets, lanes);
                    }
                }
            }
            (_, Some(Flow::Call)) => self.push(NOWHERE, step.executed),
            (_, Some(Flow::Exit)) => {
                for path in &mut self.paths {
                    path.lanes &= !step.executed;
                }
            }
            _ => {}
        }
        self.paths.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(inst: u32, active: LaneMask, executed: LaneMask) -> Step {
        Step {
            inst,
            active,
            executed,
            addresses: None,
            values: None,
        }
    }

    /// A branch at 0 to 3 and on to 1, whose sides meet at 5.
    #[test]
    fn both_sides_lie_above_their_meeting_point() {
        let split = Some(Split {
            target: 3,
            meets: 5,
        });
        let mut stack = Stack::default();
        assert_eq!(stack.at(&step(0, 0b1111, 0b0011)), 1);
        assert_eq!(
            stack.behind(&step(0, 0b1111, 0b0011), split, Some(Flow::Branch)),
            3
        );
        assert_eq!(stack.at(&step(1, 0b1100, 0b1100)), 3);
        assert_eq!(stack.at(&step(3, 0b0011, 0b0011)), 2);
        assert_eq!(stack.at(&step(5, 0b1111, 0b1111)), 1);
    }

    #[test]
    fn a_side_without_instructions_takes_no_entry() {
        let split = Some(Split {
            target: 5,
            meets: 5,
        });
        let mut stack = Stack::default();
        stack.at(&step(0, 0b11, 0b01));
        assert_eq!(
            stack.behind(&step(0, 0b11, 0b01), split, Some(Flow::Branch)),
            2
        );
        assert_eq!(stack.at(&step(5, 0b11, 0b11)), 1);
    }

    #[test]
    fn a_uniform_branch_takes_no_entry() {
        let split = Some(Split {
            target: 3,
            meets: 5,
        });
        let mut stack = Stack::default();
        stack.at(&step(0, 0b11, 0b11));
        assert_eq!(
            stack.behind(&step(0, 0b11, 0b11), split, Some(Flow::Branch)),
            1
        );
    }
}

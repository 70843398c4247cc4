//! Where a part of the GPU stands in the launches of a run, and where it puts what it finds.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::{LaunchAvf, Shape};
use crate::{Closed, Liveness, Structure};

/// What all parts of the GPU have found together, launch by launch.
pub(super) type Gathered = Rc<RefCell<Vec<LaunchAvf>>>;

/// The launches of a run, as one part of the GPU goes through them.
#[derive(Clone)]
pub(super) struct Launches {
    pub shape: Shape,
    needs: Rc<[Arc<Liveness>]>,
    gathered: Gathered,
    /// Launches that have begun, the last of them going on.
    begun: usize,
    start: u64,
    kernel: String,
}

impl Launches {
    /// None has begun yet; `needs` are those of each.
    pub fn new(shape: Shape, needs: Rc<[Arc<Liveness>]>, gathered: Gathered) -> Self {
        Self {
            shape,
            needs,
            gathered,
            begun: 0,
            start: 0,
            kernel: String::new(),
        }
    }

    /// A launch of a kernel begins.
    pub fn begin(&mut self, cycle: u64, kernel: &str) {
        self.begun += 1;
        self.start = cycle;
        kernel.clone_into(&mut self.kernel);
    }

    /// What the launch at hand needs; a run that goes through all launches again needs the same again.
    pub fn needs(&self) -> Arc<Liveness> {
        self.needs[(self.begun - 1) % self.needs.len()].clone()
    }

    /// Adds this part's share of the launch at hand to those of the others.
    pub fn gather(&mut self, end: u64, closed: Closed) {
        let mut gathered = self.gathered.borrow_mut();
        if gathered.len() < self.begun {
            let cycles = end - self.start;
            let mut launch = LaunchAvf {
                kernel: std::mem::take(&mut self.kernel),
                cycles,
                structures: Default::default(),
                over_time: Default::default(),
            };
            for structure in Structure::ALL {
                let bits = u128::from(self.shape.bits(structure));
                launch.structures[structure as usize].total = bits * u128::from(cycles);
            }
            gathered.push(launch);
        }
        let launch = &mut gathered[self.begun - 1];
        for (sum, more) in launch.structures.iter_mut().zip(closed.structures) {
            *sum += more;
        }
        launch.over_time.add(closed.over_time);
        for late in closed.late {
            let launch = &mut gathered[late.launch];
            launch.structures[late.residency.structure as usize] += late.more;
            launch.over_time.add_residency(&late.residency);
        }
    }
}

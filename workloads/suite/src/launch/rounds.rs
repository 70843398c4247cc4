//! The rounds of a case's loops, without running anything.

use std::ops::Range;

use super::form::Variables;
use super::{Action, Case, Form, KernelLaunch, Repeat, Step};

/// Launches, copies and rounds that the loops of a file may have together.
pub(super) const MOST_ROUNDS: u32 = 1 << 18;

/// Why the rounds could not all be gone through.
pub(super) enum Stopped {
    /// There are too many.
    TooMany,
    /// A bound of a loop has no value.
    Bound(Range<usize>, String),
}

/// Goes through what steps do, in order. A loop with a condition is gone through once, or if it has a variable up to its end.
struct Walk<'c, 'f> {
    names: Vec<&'c str>,
    values: Vec<i64>,
    left: &'f mut u32,
    done: &'f mut dyn FnMut(&'c Action, Variables<'_>),
}

/// Tells `done` of everything that `steps` do, and takes it from what is `left`.
pub(super) fn visit<'c>(
    steps: &'c [Step],
    left: &mut u32,
    done: &mut dyn FnMut(&'c Action, Variables<'_>),
) -> Result<(), Stopped> {
    let mut walk = Walk {
        names: Vec::new(),
        values: Vec::new(),
        left,
        done,
    };
    steps.iter().try_for_each(|step| walk.step(step))
}

impl<'c> Walk<'c, '_> {
    fn step(&mut self, step: &'c Step) -> Result<(), Stopped> {
        let once = matches!(&step.repeat, Repeat::While { variable: None, .. });
        for round in 0.. {
            let around = Variables::new(&self.names, &self.values);
            let value = step.repeat.value(round, around);
            let value = value.map_err(|message| Stopped::Bound(step.repeat.span(), message))?;
            let Some(value) = value.filter(|_| !once || round == 0) else {
                break;
            };
            self.spend()?;
            let variable = step.repeat.variable();
            if let Some(variable) = variable {
                self.names.push(variable);
                self.values.push(value);
            }
            step.body
                .iter()
                .try_for_each(|action| self.action(action))?;
            if variable.is_some() {
                self.names.pop();
                self.values.pop();
            }
        }
        Ok(())
    }

    fn action(&mut self, action: &'c Action) -> Result<(), Stopped> {
        if let Action::Step(step) = action {
            return self.step(step);
        }
        self.spend()?;
        (self.done)(action, Variables::new(&self.names, &self.values));
        Ok(())
    }

    fn spend(&mut self) -> Result<(), Stopped> {
        *self.left = self.left.checked_sub(1).ok_or(Stopped::TooMany)?;
        Ok(())
    }
}

impl Repeat {
    /// Where a bound stands that follows other loops.
    fn span(&self) -> Range<usize> {
        match self {
            Repeat::Count { from, to, .. } => match from {
                Form::Varying(_) => from.span(),
                Form::Constant(_) => to.span(),
            },
            _ => 0..0,
        }
    }
}

impl Case {
    /// Its launches in the order in which they are made, each with its grid, its block and the bytes of its dynamic shared memory; a loop that runs on a condition is gone through once.
    pub fn for_each_launch<'c>(
        &'c self,
        mut done: impl FnMut(&'c KernelLaunch, [u32; 3], [u32; 3], u32),
    ) {
        let mut left = u32::MAX;
        let mut launched = |action: &'c Action, variables: Variables<'_>| {
            if let Action::Launch(launch) = action {
                let grid = extents(&launch.grid, variables);
                let shared = launch.dynamic_shared.integer(variables).unwrap_or(0) as u32;
                done(launch, grid, extents(&launch.block, variables), shared);
            }
        };
        // All bounds have values, or else the file would have been refused.
        let _ = visit(&self.steps, &mut left, &mut launched);
    }
}

/// Extents in a round; what has no value was refused when the file was read.
pub(crate) fn extents(shape: &[Form; 3], variables: Variables<'_>) -> [u32; 3] {
    shape
        .each_ref()
        .map(|extent| extent.integer(variables).unwrap_or(0) as u32)
}

//! A case's steps as one list, so that how far a host is can be said in a few numbers.

use crate::launch::{Action, Case, Copying, KernelLaunch, Repeat, Set, Step};

/// Loops in each other, one more than a launch file may have.
pub(super) const DEEPEST: usize = 9;

/// What a host does, in order.
#[derive(Clone, Debug)]
pub(super) struct Plan<'c> {
    pub(super) acts: Vec<Placed<'c>>,
    /// The variables around each act, without repetition.
    scopes: Vec<Vec<&'c str>>,
}

/// One thing that a host does, and what is around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<'c> {
    pub(super) what: Act<'c>,
    scope: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Act<'c> {
    /// Asks for a round; the loop's end is before `behind`.
    Enter {
        repeat: &'c Repeat,
        behind: usize,
    },
    /// Goes on with the next round.
    Again {
        begin: usize,
    },
    Launch(&'c KernelLaunch),
    Set(&'c Set),
    Copy(&'c Copying),
}

impl<'c> Plan<'c> {
    pub(super) fn of(case: &'c Case) -> Self {
        let mut plan = Self {
            acts: Vec::new(),
            scopes: vec![Vec::new()],
        };
        for step in &case.steps {
            plan.step(step, 0);
        }
        plan
    }

    /// The variables around an act, the outermost first; a loop without a variable has an empty name.
    pub(super) fn names(&self, act: &Placed<'c>) -> &[&'c str] {
        &self.scopes[act.scope]
    }

    fn step(&mut self, step: &'c Step, scope: usize) {
        if step.repeat == Repeat::Once {
            step.body
                .iter()
                .for_each(|action| self.action(action, scope));
            return;
        }
        let begin = self.acts.len();
        let repeat = &step.repeat;
        let enter = |behind| Act::Enter { repeat, behind };
        self.push(enter(0), scope);
        let mut inside = self.scopes[scope].clone();
        inside.push(repeat.variable().unwrap_or(""));
        self.scopes.push(inside);
        let within = self.scopes.len() - 1;
        step.body
            .iter()
            .for_each(|action| self.action(action, within));
        self.push(Act::Again { begin }, scope);
        self.acts[begin].what = enter(self.acts.len());
    }

    fn action(&mut self, action: &'c Action, scope: usize) {
        match action {
            Action::Launch(launch) => self.push(Act::Launch(launch), scope),
            Action::Set(set) => self.push(Act::Set(set), scope),
            Action::Copy(copy) => self.push(Act::Copy(copy), scope),
            Action::Step(step) => self.step(step, scope),
        }
    }

    fn push(&mut self, what: Act<'c>, scope: usize) {
        self.acts.push(Placed { what, scope });
    }
}

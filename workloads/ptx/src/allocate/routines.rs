//! The entry and its device functions as a call graph.

use std::ops::Range;

use crate::program::{Call, Entry, Op, Target};

/// A call and the routines that it may reach.
#[derive(Debug)]
pub(super) struct Site {
    /// The instruction.
    pub at: usize,
    pub callees: Vec<usize>,
    /// A callee may come back to this routine, so that no register survives the call.
    pub recursive: bool,
}

/// The entry, or a device function.
#[derive(Debug)]
pub(super) struct Routine {
    pub code: Range<usize>,
    pub calls: Vec<Site>,
}

/// Routines of an entry: the device functions in their order, then the entry itself.
#[derive(Debug)]
pub(super) struct Routines {
    pub all: Vec<Routine>,
    /// Indices, callees before their callers (recursion aside).
    pub order: Vec<usize>,
    /// Which routines calls from each may reach.
    reached: Vec<Vec<bool>>,
}

impl Routines {
    pub fn of(entry: &Entry) -> Self {
        let starts: Vec<usize> = entry.functions.iter().map(|f| f.start as usize).collect();
        let end = |at: usize| starts.get(at).copied().unwrap_or(entry.code.len());
        let ranges = (0..starts.len()).map(|at| starts[at]..end(at + 1));
        let routine = |code: Range<usize>| {
            let calls = code.clone().filter_map(|at| match &entry.code[at].op {
                Op::Call(call) => Some(Site {
                    at,
                    callees: callees(call),
                    recursive: false,
                }),
                _ => None,
            });
            let calls = calls.collect();
            Routine { code, calls }
        };
        let mut all: Vec<Routine> = ranges.map(routine).collect();
        all.push(routine(0..end(0)));
        let reached: Vec<Vec<bool>> = (0..all.len()).map(|from| reach(&all, from)).collect();
        for (at, routine) in all.iter_mut().enumerate() {
            for site in &mut routine.calls {
                site.recursive = site.callees.iter().any(|&to| to == at || reached[to][at]);
            }
        }
        // With itself, a caller reaches more routines than what it calls; members of a cycle reach equally many.
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by_key(|&at| {
            let others = reached[at].iter().enumerate();
            others.filter(|&(to, &yes)| yes && to != at).count()
        });
        Self {
            all,
            order,
            reached,
        }
    }

    /// The routines that may run during a call.
    pub fn during<'r>(&'r self, site: &'r Site) -> impl Iterator<Item = usize> + 'r {
        (0..self.all.len()).filter(|&at| {
            let reaches = |&to: &usize| to == at || self.reached[to][at];
            site.callees.iter().any(reaches)
        })
    }

    /// The routine in which an instruction stands.
    pub fn holding(&self, at: usize) -> usize {
        let entry = self.all.len() - 1;
        let functions = &self.all[..entry];
        functions
            .partition_point(|routine| routine.code.start <= at)
            .checked_sub(1)
            .unwrap_or(entry)
    }
}

fn callees(call: &Call) -> Vec<usize> {
    match &call.target {
        Target::Function(function) => vec![*function as usize],
        Target::Address(functions) => functions.iter().map(|&(_, at)| at as usize).collect(),
    }
}

/// Which routines calls from `from` may reach.
fn reach(all: &[Routine], from: usize) -> Vec<bool> {
    let mut reached = vec![false; all.len()];
    let mut left = vec![from];
    while let Some(at) = left.pop() {
        for &callee in all[at].calls.iter().flat_map(|site| &site.callees) {
            if !reached[callee] {
                reached[callee] = true;
                left.push(callee);
            }
        }
    }
    reached
}

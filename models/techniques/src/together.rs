//! Configurations that decide alike, in one run.
//!
//! A run goes as what is attached decides. Hooks of several configurations can therefore follow one run, in which the first of them decides: as long as another
//! would have decided the same each time, it is told what it would be told in a run of its own, and counts the same. Every decision is compared, so that who
//! decides otherwise is found out and has a run of its own. [`Technique::decides`](crate::Technique::decides) says for whom it is worth trying.

mod follow;
mod own;
mod tree;

use std::cell::Cell;
use std::rc::Rc;

use warpwatt_activity::Activity;
use warpwatt_gpu::trace::KernelTrace;
use warpwatt_gpu::{
    FetchEvent, FetchObserver, GpuSpec, Hooks, IssueFactory, MetadataFactory, ObserverFactory, Run,
};

use crate::Stack;
use follow::Followed;
use tree::Tree;

/// Configurations that are attached to one run.
#[derive(Debug)]
pub struct Together {
    kept: Rc<Kept>,
    stacks: usize,
}

/// What is known of each configuration, by its place.
#[derive(Debug)]
struct Kept {
    /// It has decided otherwise than the first.
    apart: Vec<Cell<bool>>,
    /// How often that has happened.
    changes: Cell<u32>,
}

impl Kept {
    fn is_apart(&self, place: usize) -> bool {
        self.apart[place].get()
    }

    fn part(&self, place: usize) {
        if !self.apart[place].replace(true) {
            self.changes.set(self.changes.get() + 1);
        }
    }
}

impl Together {
    /// Attaches `stacks`, the first of which decides. All are of one GPU, which they leave as it is.
    pub fn attach(stacks: &[&Stack], gpu: &GpuSpec, hooks: &mut Hooks) -> Self {
        let kept = Rc::new(Kept {
            apart: vec![Cell::new(false); stacks.len()],
            changes: Cell::new(0),
        });
        let mut tree: Tree<IssueFactory> = Tree::default();
        let mut watchers: Tree<ObserverFactory> = Tree::default();
        let mut metadata = Vec::new();
        for (place, stack) in stacks.iter().enumerate() {
            let mut own = Hooks::default();
            let names = stack.attach_named(gpu, &mut own);
            let (issue, fetch) = names.split_at(own.issue.len());
            tree.grow(place, own.issue.drain(..).zip(issue));
            watchers.grow(place, own.fetch_observers.drain(..).zip(fetch));
            metadata.push(own.metadata.take());
            hooks.conditions.append(&mut own.conditions);
            if place == 0 {
                hooks.fetch_filter = own.fetch_filter;
                hooks.twice = own.twice;
                hooks.dispatcher = own.dispatcher;
                hooks.rewrites = own.rewrites;
            } else if !decides_elsewhere_alike(&own, hooks) {
                kept.part(place);
            }
        }
        for watcher in watchers.nodes {
            let (make, places) = (watcher.make, watcher.places);
            hooks.fetch_observers.push(Box::new(move |sm| {
                Box::new(Watching {
                    watcher: make(sm),
                    places: places.clone(),
                })
            }));
        }
        hooks.metadata = compared(metadata, Rc::clone(&kept));
        if !tree.nodes.is_empty() {
            let (tree, kept) = (Rc::new(tree), Rc::clone(&kept));
            hooks.issue.push(Box::new(move |sm| {
                Box::new(Followed::new(&tree, &kept, sm))
            }));
        }
        Self {
            kept,
            stacks: stacks.len(),
        }
    }

    /// How many hooks and watchers `stacks` have in one run.
    pub fn hooks(stacks: &[&Stack], gpu: &GpuSpec) -> usize {
        let mut hooks: Tree<()> = Tree::default();
        let mut watchers: Tree<()> = Tree::default();
        for (place, stack) in stacks.iter().enumerate() {
            let mut own = Hooks::default();
            let names = stack.attach_named(gpu, &mut own);
            let (issue, fetch) = names.split_at(own.issue.len());
            hooks.grow(place, issue.iter().map(|name| ((), name)));
            watchers.grow(place, fetch.iter().map(|name| ((), name)));
        }
        hooks.nodes.len() + watchers.nodes.len()
    }

    /// What each configuration counts in the run: what a run of its own would. `None` for those that decide otherwise than the first.
    pub fn runs(&self, run: &Run) -> Vec<Option<Run>> {
        let places = 0..self.stacks;
        places
            .map(|place| (!self.kept.is_apart(place)).then(|| own::run(run, place)))
            .collect()
    }
}

/// Whether what decides without being asked about single instructions is there in both or in neither; what equal texts of
/// [`Technique::decides`](crate::Technique::decides) promise is more.
fn decides_elsewhere_alike(own: &Hooks, first: &Hooks) -> bool {
    own.fetch_filter.is_some() == first.fetch_filter.is_some()
        && own.dispatcher.is_some() == first.dispatcher.is_some()
        && own.twice == first.twice
        && own.rewrites.len() == first.rewrites.len()
        && own.storage.is_empty()
        && own.shared.is_empty()
}

/// The metadata that the first puts into the code; who puts in others decides otherwise.
fn compared(all: Vec<Option<MetadataFactory>>, kept: Rc<Kept>) -> Option<MetadataFactory> {
    let mut all = all.into_iter();
    let first = all.next()?;
    let others: Vec<Option<MetadataFactory>> = all.collect();
    for (other, place) in others.iter().zip(1..) {
        if other.is_some() != first.is_some() {
            kept.part(place);
        }
    }
    let first = first?;
    Some(Box::new(move |trace: &KernelTrace| {
        let metadata = first(trace);
        for (other, place) in others.iter().zip(1..) {
            let alike = || other.as_ref().is_some_and(|of| of(trace) == metadata);
            if !kept.is_apart(place) && !alike() {
                kept.part(place);
            }
        }
        metadata
    }))
}

/// A watcher of the front end that counts for some of the configurations.
struct Watching {
    watcher: Box<dyn FetchObserver>,
    places: Vec<usize>,
}

impl FetchObserver for Watching {
    fn fetched(&mut self, event: FetchEvent) {
        self.watcher.fetched(event);
    }

    fn delivered(&mut self, event: FetchEvent) {
        self.watcher.delivered(event);
    }

    fn buffered(&mut self, event: FetchEvent) {
        self.watcher.buffered(event);
    }

    fn issued(&mut self, event: FetchEvent) {
        self.watcher.issued(event);
    }

    fn retired(&mut self, warp: u8) {
        self.watcher.retired(warp);
    }

    fn report(&self, gpu: &mut Activity) {
        let report = |activity: &mut Activity| self.watcher.report(activity);
        own::report(&self.places, gpu, report);
    }
}

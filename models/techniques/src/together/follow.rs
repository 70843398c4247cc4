//! The hooks of several configurations in one SM.

use std::rc::Rc;

use warpwatt_activity::Activity;
use warpwatt_gpu::trace::KernelTrace;
use warpwatt_gpu::{
    IssueEvent, IssueFactory, IssueHook, IssuePlan, PlaceEvent, Reexecutor, SharedUse, Throttle,
};

use super::tree::Tree;
use super::{Kept, own};

/// A hook, and what it has decided.
struct Node {
    hook: Box<dyn IssueHook>,
    before: Option<usize>,
    watches: bool,
    /// Who counts with it.
    places: Vec<usize>,
    /// Somebody still does.
    lives: bool,
    plan: IssuePlan,
}

/// Follows an SM for several configurations, and decides as the first.
pub(super) struct Followed {
    nodes: Vec<Node>,
    /// By configuration: the last hook that decides, if it has one.
    leaves: Vec<Option<usize>>,
    /// What else the first decides: what is held back, and what is executed again.
    throttle: Option<usize>,
    reexecutor: Option<usize>,
    kept: Rc<Kept>,
    /// Changes of `kept` that are seen to.
    seen: u32,
}

impl Followed {
    pub fn new(tree: &Tree<IssueFactory>, kept: &Rc<Kept>, sm: u32) -> Self {
        let nodes = tree.nodes.iter().map(|node| Node {
            hook: (node.make)(sm),
            before: node.before,
            watches: node.watches,
            places: node.places.clone(),
            lives: true,
            plan: IssuePlan::plain(0),
        });
        let mut followed = Self {
            nodes: nodes.collect(),
            leaves: tree.leaves.clone(),
            throttle: None,
            reexecutor: None,
            kept: Rc::clone(kept),
            seen: 0,
        };
        for node in 0..followed.nodes.len() {
            followed.ask(node);
        }
        followed.see();
        followed
    }

    /// Whether a hook decides more than plans. Only who has it in common with the first can be compared with that.
    fn ask(&mut self, number: usize) {
        let node = &mut self.nodes[number];
        let holds = node.hook.throttle().is_some();
        let repeats = node.hook.reexecutor().is_some();
        if !holds && !repeats {
            return;
        }
        if node.places.contains(&0) {
            self.throttle = self.throttle.or(holds.then_some(number));
            self.reexecutor = self.reexecutor.or(repeats.then_some(number));
            let all = 0..self.leaves.len();
            all.filter(|place| !node.places.contains(place))
                .for_each(|place| self.kept.part(place));
        } else {
            node.places.iter().for_each(|place| self.kept.part(*place));
        }
    }

    /// Hooks that count for nobody any more are not called.
    fn see(&mut self) {
        let changes = self.kept.changes.get();
        if changes == self.seen {
            return;
        }
        self.seen = changes;
        for node in &mut self.nodes {
            let mut places = node.places.iter();
            node.lives = places.any(|place| !self.kept.is_apart(*place));
        }
    }

    fn living(&mut self) -> impl Iterator<Item = &mut dyn IssueHook> {
        self.see();
        let nodes = self.nodes.iter_mut().filter(|node| node.lives);
        nodes.map(|node| &mut *node.hook as &mut dyn IssueHook)
    }

    /// What the configuration at `place` has decided.
    fn decided(&self, place: usize, plain: IssuePlan) -> IssuePlan {
        self.leaves[place].map_or(plain, |leaf| self.nodes[leaf].plan)
    }
}

impl IssueHook for Followed {
    fn begin(&mut self, trace: &KernelTrace) {
        self.living().for_each(|hook| hook.begin(trace));
    }

    fn placed(&mut self, event: PlaceEvent) {
        self.living().for_each(|hook| hook.placed(event));
    }

    fn issued(&mut self, event: &IssueEvent<'_>, plan: &mut IssuePlan) {
        self.see();
        let plain = *plan;
        for number in 0..self.nodes.len() {
            if !self.nodes[number].lives {
                continue;
            }
            let before = self.nodes[number].before;
            let before = before.map_or(plain, |before| self.nodes[before].plan);
            let node = &mut self.nodes[number];
            node.plan = before;
            node.hook.issued(event, &mut node.plan);
            if node.watches && node.plan != before {
                node.places.iter().for_each(|place| self.kept.part(*place));
            }
        }
        *plan = self.decided(0, plain);
        for place in 1..self.leaves.len() {
            if !self.kept.is_apart(place) && self.decided(place, plain) != *plan {
                self.kept.part(place);
            }
        }
    }

    fn collected(&mut self, warp: u8, cycle: u64) {
        self.living().for_each(|hook| hook.collected(warp, cycle));
    }

    fn shared_taken(&mut self, taken: &SharedUse<'_>) {
        self.living().for_each(|hook| hook.shared_taken(taken));
    }

    fn loaded(&mut self, cycle: u64, warp: u8) {
        self.living().for_each(|hook| hook.loaded(cycle, warp));
    }

    fn retired(&mut self, cycle: u64, warp: u8) {
        self.living().for_each(|hook| hook.retired(cycle, warp));
    }

    fn throttle(&mut self) -> Option<&mut dyn Throttle> {
        self.nodes[self.throttle?].hook.throttle()
    }

    fn reexecutor(&mut self) -> Option<&mut dyn Reexecutor> {
        self.nodes[self.reexecutor?].hook.reexecutor()
    }

    fn up_to(&mut self, cycle: u64) {
        self.living().for_each(|hook| hook.up_to(cycle));
    }

    fn report(&self, gpu: &mut Activity) {
        for node in self.nodes.iter().filter(|node| node.lives) {
            own::report(&node.places, gpu, |activity| node.hook.report(activity));
        }
    }

    fn report_levels(&self, gpu: &mut Activity) {
        for node in self.nodes.iter().filter(|node| node.lives) {
            own::report(&node.places, gpu, |activity| {
                node.hook.report_levels(activity);
            });
        }
    }
}

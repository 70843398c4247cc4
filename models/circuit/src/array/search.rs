//! The search over organisations (CACTI 5.1 TR, section 4; CACTI 7, Ucache.cc). CACTI evaluates them all; here the one with the least bound is looked at
//! next, until no bound is below the best that has been evaluated.

use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use warpwatt_techlib::quantity::{Energy, Time};

use super::bound::{Bounds, Node, ROUNDING, Step};
use super::choice::{DELAY, ENERGY, FILTER, Figures, Goal, LEAKAGE, SAME, values};
use super::{Array, Face, Limits, Need, Split};
use crate::process::Process;
use crate::{Objective, Settings};

/// A figure may be this many times the least one: limits from here on are looked at only when a choice might exceed them.
const WIDE: f64 = 11.0;
/// No limit.
const ANY: Five = [f64::INFINITY; 5];

/// Bounds up to the best are looked at: those that may be equal to it count, too.
const EQUAL: f64 = 1.0;
/// A value is wanted, whoever has it: what is better by no more than what counts as the same is left alone.
const CLOSE: f64 = ROUNDING - 3.0 * SAME;

/// One number for each figure, in the order of [`Figures::values`].
type Five = [f64; 5];

/// The best organisation of a plain memory.
pub(crate) fn best(process: &Process, settings: &Settings, need: &Need) -> Option<(Array, Limits)> {
    search(process, need, Goal::of_whole(settings), Figures::of)
}

/// The best organisation of tags.
pub(crate) fn best_tags(
    process: &Process,
    settings: &Settings,
    need: &Need,
) -> Option<(Array, Limits)> {
    search(process, need, Goal::of_tags(settings), Figures::of)
}

/// The best organisation of the data side of a cache whose tags are chosen; `whole` gives the figures of both together, none of which may fall when one of
/// the data rises.
pub(crate) fn best_data(
    process: &Process,
    settings: &Settings,
    need: &Need,
    whole: impl Fn(&Face) -> Figures,
) -> Option<(Array, Limits)> {
    search(process, need, Goal::of_whole(settings), whole)
}

/// Among the organisations that CACTI would consider; if there are none, among those of any size.
fn search(
    process: &Process,
    need: &Need,
    goal: Goal,
    whole: impl Fn(&Face) -> Figures,
) -> Option<(Array, Limits)> {
    [Limits::Strict, Limits::Relaxed]
        .into_iter()
        .find_map(|limits| {
            let mut search = Search::new(process, need, goal, limits, &whole);
            let entry = search.run()?;
            Some((search.array(&entry)?, limits))
        })
}

pub(super) struct Search<'a, W> {
    goal: Goal,
    limits: Limits,
    whole: &'a W,
    /// One for each wire between mats and number of slices.
    pub(super) bounds: Vec<Bounds<'a>>,
    /// Families, and behind them members of those that were broken up.
    pub(super) nodes: Vec<Node>,
    families: usize,
    entries: Vec<Entry>,
    /// Whether leakage is evaluated, which is left out where nothing depends on it.
    pub(super) leaks: bool,
    /// The organisation that CACTI's loop steps over.
    skipped: Option<(Split, usize)>,
    /// The fastest array and the one that takes least energy of those that have been evaluated.
    delay: Time,
    energy: Energy,
}

/// An organisation that has been evaluated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) split: Split,
    /// Which of the wires between mats, and of the numbers of slices.
    pub(super) wire: usize,
    pub(super) whole: Figures,
    /// Of the array alone.
    delay: Time,
    energy: Energy,
}

impl Entry {
    /// By the place in CACTI's list.
    fn order(&self, other: &Self) -> Ordering {
        let wires = self.wire.cmp(&other.wire);
        self.split.order(&other.split).then(wires)
    }
}

fn within(figures: &Five, limits: &Five) -> bool {
    (0..figures.len()).all(|i| figures[i] <= limits[i])
}

impl<'a, W: Fn(&Face) -> Figures> Search<'a, W> {
    pub(super) fn new(
        process: &'a Process,
        need: &'a Need,
        goal: Goal,
        limits: Limits,
        whole: &'a W,
    ) -> Self {
        let offers = process.repeaters.offers.iter();
        let ways = offers.flat_map(|(kind, channel)| {
            let slices = need.slices(goal.slices, channel);
            slices.map(move |slices| (*kind, slices))
        });
        let alone = process.repeaters.offers.len() == 1;
        let bounds = ways.enumerate().map(|(wire, (kind, slices))| {
            let process = match alone {
                true => Cow::Borrowed(process),
                false => Cow::Owned(process.with_wires(kind)),
            };
            Bounds::new(process, wire, slices, need, limits)
        });
        let mut bounds: Vec<Bounds> = bounds.collect();
        let families = bounds.iter_mut().flat_map(|b| b.families(whole));
        let nodes: Vec<Node> = families.collect();
        let limited = values(&goal.limits)[LEAKAGE] < WIDE;
        Self {
            leaks: goal.objective == Objective::Weighted && (goal.weights.leakage > 0.0 || limited),
            goal,
            limits,
            whole,
            bounds,
            families: nodes.len(),
            nodes,
            entries: Vec::new(),
            skipped: None,
            delay: Time::from_si(f64::INFINITY),
            energy: Energy::from_si(f64::INFINITY),
        }
    }

    pub(super) fn run(&mut self) -> Option<Entry> {
        match self.goal.objective {
            Objective::EnergyDelay => self.product(&|f| f.delay.si() * f.energy.si()),
            Objective::EnergyDelaySquared => {
                self.product(&|f| f.delay.si() * f.delay.si() * f.energy.si())
            }
            Objective::Weighted => self.weighted(),
        }
    }

    /// The least product, among those within the first limits.
    fn product(&mut self, price: &dyn Fn(&Figures) -> f64) -> Option<Entry> {
        let limits = self.first_limits()?;
        self.find(price, &limits, EQUAL)
    }

    /// The limits that come before all others.
    fn first_limits(&mut self) -> Option<Five> {
        let ratios = values(&self.goal.limits);
        let mut limits = ANY;
        for &i in self.goal.first {
            if ratios[i] < WIDE {
                limits[i] = self.least(i, &limits)? * ratios[i] * (1.0 + SAME);
            }
        }
        Some(limits)
    }

    /// The least weighted sum of figures over their least values, among those within the limits.
    fn weighted(&mut self) -> Option<Entry> {
        let (weights, ratios) = (values(&self.goal.weights), values(&self.goal.limits));
        let several = weights.iter().filter(|&&weight| weight > 0.0).count() > 1;
        let first = self.first_limits()?;
        let (mut factors, mut limits) = (weights, first);
        for i in 0..weights.len() {
            let weighed = several && weights[i] > 0.0;
            if weighed || ratios[i] < WIDE {
                let least = self.least(i, &first)?;
                if first[i] == f64::INFINITY {
                    limits[i] = least * ratios[i] * (1.0 + SAME);
                }
                if weighed {
                    factors[i] = weights[i] / least;
                }
            }
        }
        // A peculiarity of the tool's loop, which has no meaning where the tool has no organisation: it might skip the only one that works.
        if self.goal.skips_second && self.limits == Limits::Strict {
            self.skipped = self.second();
        }
        let price = |figures: &Figures| -> f64 {
            let figures = figures.values();
            (0..figures.len()).map(|i| factors[i] * figures[i]).sum()
        };
        loop {
            let best = self.find(&price, &limits, EQUAL)?;
            // Beyond the sizes of the tool, where words of megabits spread figures over ten decades, a wide limit is none.
            if self.limits == Limits::Relaxed {
                return Some(best);
            }
            let Some(i) = self.exceeds(&best, &limits) else {
                return Some(best);
            };
            let skipped = self.skipped.take();
            limits[i] = self.least(i, &first)? * ratios[i] * (1.0 + SAME);
            self.skipped = skipped;
        }
    }

    /// Least value of a figure, among the arrays within limits that the filter lets pass.
    fn least(&mut self, i: usize, limits: &Five) -> Option<f64> {
        if i == LEAKAGE && !self.leaks {
            self.leaks = true;
            self.entries.clear();
            let bounds = self.bounds.iter_mut();
            self.nodes = bounds.flat_map(|b| b.families(self.whole)).collect();
        }
        let best = self.find(&|figures| figures.values()[i], limits, CLOSE)?;
        Some(best.whole.values()[i])
    }

    /// A figure without a limit that may be beyond what it is allowed.
    fn exceeds(&mut self, best: &Entry, limits: &Five) -> Option<usize> {
        let mut figures = best.whole.values();
        if !self.leaks {
            let face = self.array(best)?.face();
            figures[LEAKAGE] = (self.whole)(&face).leakage.si();
        }
        let ratios = values(&self.goal.limits);
        (0..figures.len()).find(|&i| {
            let families = self.nodes[..self.families].iter();
            let bounds = families.map(|node| node.least.whole.values()[i]);
            let least = bounds.fold(f64::INFINITY, f64::min);
            limits[i] == f64::INFINITY && figures[i] > least * ratios[i]
        })
    }

    /// The second organisation of CACTI's list that the filter lets pass.
    fn second(&mut self) -> Option<(Split, usize)> {
        // The closer to the least, the more of the list is known to be dropped without a look at it.
        for i in [DELAY, ENERGY] {
            self.descend(&|figures| figures.values()[i], &ANY, CLOSE);
        }
        let mut families = self.families();
        families.sort_by(|&(a, _), &(b, _)| a.order(&b));
        let mut passed = 0;
        for heads in families.chunk_by(|(a, _), (b, _)| a == b) {
            for (split, wire) in self.hopeful(heads.iter().map(|&(_, i)| i)) {
                let passes = self
                    .evaluated(split, wire)
                    .is_some_and(|entry| self.passes(&entry) && self.confirmed(&entry));
                passed += u32::from(passes);
                if passed == 2 {
                    return Some((split, wire));
                }
            }
        }
        None
    }

    /// All families, each with what it has in common with those of other degrees and wires.
    fn families(&self) -> Vec<(Split, usize)> {
        let families = self.nodes[..self.families].iter().enumerate();
        let head = |split: Split| Split {
            ndcm: 1,
            ndsam1: 1,
            ndsam2: 1,
            ..split
        };
        families.map(|(i, node)| (head(node.split), i)).collect()
    }

    /// Members of families, in the order of the list, but for families none of whose members may pass the filter.
    fn hopeful(&mut self, families: impl Iterator<Item = usize>) -> Vec<(Split, usize)> {
        let mut found = Vec::new();
        for i in families {
            while self.may_pass(i) && matches!(self.nodes[i].step, Step::Geometry | Step::Rows) {
                self.tighten(i);
            }
            if self.may_pass(i) {
                let node = &self.nodes[i];
                let members = node.members(&self.bounds[node.wire].need);
                found.extend(members.map(|split| (split, node.wire)));
            }
        }
        found.sort_by(|(a, first), (b, second)| a.order(b).then(first.cmp(second)));
        found
    }

    /// Whether the filter may let any of a node pass.
    fn may_pass(&self, i: usize) -> bool {
        let least = &self.nodes[i].least;
        self.goal.tags || least.delay <= self.delay * FILTER || least.energy <= self.energy * FILTER
    }

    /// The organisation of the least price within the limits.
    fn find(&mut self, price: &dyn Fn(&Figures) -> f64, limits: &Five, open: f64) -> Option<Entry> {
        loop {
            let best = self.descend(price, limits, open)?;
            if self.confirmed(&best) {
                return Some(best);
            }
        }
    }

    /// Looks at what has the least bound until none is below `open` times the best.
    fn descend(
        &mut self,
        price: &dyn Fn(&Figures) -> f64,
        limits: &Five,
        open: f64,
    ) -> Option<Entry> {
        let lowest = |best: Option<Entry>| best.map_or(f64::INFINITY, |best| price(&best.whole));
        let mut best = lowest(self.pick(price, limits));
        let mut queue = BinaryHeap::new();
        let push = |search: &Self, queue: &mut BinaryHeap<_>, best: f64, i: usize| {
            let node = &search.nodes[i];
            let bound = price(&node.least.whole);
            let promising = node.step != Step::Done && bound <= best * open && search.may_pass(i);
            if promising && within(&node.least.whole.values(), limits) {
                // Bounds are not negative, so that their bits are ordered as they are.
                queue.push(Reverse((bound.to_bits(), i)));
            }
        };
        for i in 0..self.nodes.len() {
            push(self, &mut queue, best, i);
        }
        while let Some(Reverse((bound, i))) = queue.pop() {
            if f64::from_bits(bound) > best * open {
                break;
            }
            if !self.may_pass(i) {
                continue;
            }
            if self.nodes[i].step == Step::Selects {
                if let Some(entry) = self.evaluate(i) {
                    let cost = price(&entry.whole);
                    if cost < best && self.eligible(&entry, limits) {
                        best = cost;
                    }
                }
                continue;
            }
            let known = self.nodes.len();
            self.tighten(i);
            for j in std::iter::once(i).chain(known..self.nodes.len()) {
                push(self, &mut queue, best, j);
            }
        }
        let last = self.pick(price, limits);
        if lowest(last) <= best * (1.0 + 2.0 * SAME) {
            return last;
        }
        // What was the best has been filtered out by an array that was evaluated after it.
        self.descend(price, limits, open)
    }

    pub(super) fn tighten(&mut self, i: usize) {
        let wire = self.nodes[i].wire;
        self.bounds[wire].tighten(i, &mut self.nodes, self.leaks, self.whole);
    }

    /// Whether the filter that drops arrays lets this one pass, for all that has not been evaluated. If not, what drops it has been evaluated now.
    fn confirmed(&mut self, best: &Entry) -> bool {
        if self.goal.tags {
            return true;
        }
        let (delay, energy) = (best.delay / FILTER, best.energy / FILTER);
        let faster = self.exists(
            delay.si(),
            |node| node.least.delay.si(),
            |seen| seen.delay.si(),
        );
        !faster
            || !self.exists(
                energy.si(),
                |node| node.least.energy.si(),
                |seen| seen.energy.si(),
            )
    }

    /// Whether there is an array below `limit` in what `bound` tells of nodes and `least` of what has been evaluated; if so it has been evaluated now.
    fn exists(
        &mut self,
        limit: f64,
        bound: impl Fn(&Node) -> f64,
        least: impl Fn(&Self) -> f64,
    ) -> bool {
        let mut queue = BinaryHeap::new();
        let push = |queue: &mut BinaryHeap<_>, i: usize, node: &Node| {
            if node.step != Step::Done && bound(node) < limit {
                queue.push(Reverse((bound(node).to_bits(), i)));
            }
        };
        if least(self) >= limit {
            for (i, node) in self.nodes.iter().enumerate() {
                push(&mut queue, i, node);
            }
        }
        while least(self) >= limit {
            let Some(Reverse((_, i))) = queue.pop() else {
                return false;
            };
            if self.nodes[i].step == Step::Selects {
                self.evaluate(i);
                continue;
            }
            let known = self.nodes.len();
            self.tighten(i);
            for j in std::iter::once(i).chain(known..self.nodes.len()) {
                push(&mut queue, j, &self.nodes[j]);
            }
        }
        true
    }

    pub(super) fn evaluate(&mut self, i: usize) -> Option<Entry> {
        self.nodes[i].step = Step::Done;
        let node = self.nodes[i];
        self.evaluated(node.split, node.wire)
    }

    fn evaluated(&mut self, split: Split, wire: usize) -> Option<Entry> {
        let face = self.bounds[wire].face(split, self.leaks)?;
        let entry = Entry {
            split,
            wire,
            whole: (self.whole)(&face),
            delay: face.access_time,
            energy: face.read,
        };
        self.delay = self.delay.min(entry.delay);
        self.energy = self.energy.min(entry.energy);
        self.entries.push(entry);
        Some(entry)
    }

    /// Whether an array passes the filter, for all that has been evaluated.
    fn passes(&self, entry: &Entry) -> bool {
        self.goal.tags || entry.delay <= self.delay * FILTER || entry.energy <= self.energy * FILTER
    }

    fn eligible(&self, entry: &Entry, limits: &Five) -> bool {
        self.passes(entry)
            && within(&entry.whole.values(), limits)
            && self.skipped != Some((entry.split, entry.wire))
    }

    /// The best seen that meets the limits. Of equals CACTI takes the first of its list, but the last for tags.
    fn pick(&self, price: &dyn Fn(&Figures) -> f64, limits: &Five) -> Option<Entry> {
        let eligible = |entry: &&Entry| self.eligible(entry, limits);
        let all = || self.entries.iter().filter(eligible);
        let least = all()
            .map(|entry| price(&entry.whole))
            .fold(f64::INFINITY, f64::min);
        let equals = all().filter(|entry| price(&entry.whole) <= least * (1.0 + SAME));
        if self.goal.tags {
            equals.max_by(|a, b| a.order(b)).copied()
        } else {
            equals.min_by(|a, b| a.order(b)).copied()
        }
    }

    /// The whole model of one organisation.
    fn array(&mut self, entry: &Entry) -> Option<Array> {
        let bounds = &mut self.bounds[entry.wire];
        let shape = bounds.shape(entry.split)?;
        let (p, need) = (&*bounds.process, &bounds.need);
        let slice = Array::new(p, need, shape, &mut bounds.shared);
        Some(slice.with(p, bounds.slices, need))
    }
}

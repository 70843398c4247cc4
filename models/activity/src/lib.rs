//! Counter names and the integer container that crosses from simulated time to physics.
//!
//! The GPU model counts events; the circuit models price them; [`Activity`] is the only thing that passes between the two.
//! A counter is named `structure.action` (`icache.data.read`, `filter_cache.tag.write`) when it can be priced: everything
//! before the last dot names the structure, the last word names the action. A name without a dot (`cycles`,
//! `warp_instructions`) is a plain statistic that no price applies to. Counts that belong to the equal parts of something, such as the accesses of each
//! physical register, are a list under one name; no price applies to them either.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::{AddAssign, Bound};

use serde::{Deserialize, Serialize};

/// Counts by name, in the order of the names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Activity {
    counts: BTreeMap<Cow<'static, str>, u64>,
    /// Not among the counters that are written out: whoever wants one shows it in a form of its own.
    #[serde(skip)]
    lists: BTreeMap<Cow<'static, str>, Vec<u64>>,
}

/// A counter name taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// The structure that the event happens to: `icache.data`.
    pub structure: &'a str,
    /// What happens to it: `read`.
    pub action: &'a str,
}

impl Activity {
    /// An empty container.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counters whose names are part of the program, and none twice: takes no memory for them, and least time if they come in their order.
    pub fn of_known(counts: impl IntoIterator<Item = (&'static str, u64)>) -> Self {
        let counts = counts.into_iter();
        Self {
            counts: counts
                .map(|(name, count)| (Cow::Borrowed(name), count))
                .collect(),
            lists: BTreeMap::new(),
        }
    }

    /// Adds `count` to the counter `name`, which exists from then on even if `count` is zero.
    pub fn add(&mut self, name: &str, count: u64) {
        match self.counts.get_mut(name) {
            Some(total) => *total += count,
            None => {
                self.counts.insert(Cow::Owned(name.to_owned()), count);
            }
        }
    }

    /// The count of `name`; zero if nothing was ever counted under it.
    pub fn get(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or(0)
    }

    /// Adds `counts` to the list `name`, place by place.
    pub fn add_list(&mut self, name: impl Into<Cow<'static, str>>, counts: &[u64]) {
        let list = self.lists.entry(name.into()).or_default();
        list.resize(list.len().max(counts.len()), 0);
        for (total, count) in list.iter_mut().zip(counts) {
            *total += count;
        }
    }

    /// What was counted since it was as `before`; nothing where it is less, as a count that follows from others may be.
    pub fn since(&self, before: &Activity) -> Activity {
        let more = self.counts.iter().filter_map(|(name, &count)| {
            let known = before.counts.get(name);
            let more = count.saturating_sub(known.copied().unwrap_or(0));
            (known.is_none() || more > 0).then(|| (name.clone(), more))
        });
        let mut since = Activity {
            counts: more.collect(),
            lists: BTreeMap::new(),
        };
        for (name, counts) in &self.lists {
            let known = before.list(name);
            let more = counts.iter().zip(known.iter().chain(std::iter::repeat(&0)));
            let more = more.map(|(count, known)| count.saturating_sub(*known));
            let more: Vec<u64> = more.collect();
            if !before.lists.contains_key(name) || more.iter().any(|&count| count > 0) {
                since.add_list(name.clone(), &more);
            }
        }
        since
    }

    /// Forgets a counter.
    pub fn remove(&mut self, name: &str) {
        self.counts.remove(name);
    }

    /// Each count `factor` times, to the nearest whole one.
    #[must_use]
    pub fn times(&self, factor: f64) -> Activity {
        let scaled = |&count: &u64| (count as f64 * factor).round() as u64;
        let (counts, lists) = (self.counts.iter(), self.lists.iter());
        Activity {
            counts: counts
                .map(|(name, count)| (name.clone(), scaled(count)))
                .collect(),
            lists: lists
                .map(|(name, counts)| (name.clone(), counts.iter().map(scaled).collect()))
                .collect(),
        }
    }

    /// The list `name`; empty if there is none.
    pub fn list(&self, name: &str) -> &[u64] {
        self.lists.get(name).map_or(&[], Vec::as_slice)
    }

    /// What has names for which `named` gives others, under these.
    #[must_use]
    pub fn renamed<'a>(&'a self, named: impl Fn(&'a str) -> Option<String>) -> Activity {
        let counts = self.counts.iter();
        let counts = counts.filter_map(|(name, &count)| Some((Cow::Owned(named(name)?), count)));
        let lists = self.lists.iter();
        let lists = lists.filter_map(|(name, list)| Some((Cow::Owned(named(name)?), list.clone())));
        Activity {
            counts: counts.collect(),
            lists: lists.collect(),
        }
    }

    /// What has names from `first` on.
    #[must_use]
    pub fn from(&self, first: &str) -> Activity {
        let from: (Bound<&str>, Bound<&str>) = (Bound::Included(first), Bound::Unbounded);
        let (counts, lists) = (
            self.counts.range::<str, _>(from),
            self.lists.range::<str, _>(from),
        );
        Activity {
            counts: counts.map(|(name, count)| (name.clone(), *count)).collect(),
            lists: lists
                .map(|(name, list)| (name.clone(), list.clone()))
                .collect(),
        }
    }

    /// What has names that begin with `prefix`, under the rest of them.
    #[must_use]
    pub fn under(&self, prefix: &str) -> Activity {
        let from: (Bound<&str>, Bound<&str>) = (Bound::Included(prefix), Bound::Unbounded);
        let rest = |name: &str| Some(Cow::Owned(name.strip_prefix(prefix)?.to_owned()));
        let counts = self.counts.range::<str, _>(from);
        let lists = self.lists.range::<str, _>(from);
        Activity {
            counts: counts
                .map_while(|(name, count)| Some((rest(name)?, *count)))
                .collect(),
            lists: lists
                .map_while(|(name, list)| Some((rest(name)?, list.clone())))
                .collect(),
        }
    }

    /// Every counter with its count, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.counts
            .iter()
            .map(|(name, &count)| (name.as_ref(), count))
    }

    /// Actions that happen to the structure of this name, with their counts, by name.
    pub fn events_of(&self, structure: &str) -> impl Iterator<Item = (&str, u64)> {
        let first = format!("{structure}.");
        let from: (Bound<&str>, Bound<&str>) = (Bound::Included(&first), Bound::Unbounded);
        let range = self.counts.range::<str, _>(from);
        let own = range.map_while(move |(name, count)| Some((name.strip_prefix(&first)?, *count)));
        own.filter(|(action, _)| !action.contains('.'))
    }

    /// Every counter that happens to a structure, with its count.
    pub fn events(&self) -> impl Iterator<Item = (Event<'_>, u64)> {
        self.iter()
            .filter_map(|(name, count)| Some((Event::of(name)?, count)))
    }
}

impl AddAssign<&Activity> for Activity {
    fn add_assign(&mut self, other: &Activity) {
        // Both are in the order of the names, and mostly have the same.
        let mut own = self.counts.iter_mut().peekable();
        let mut new = Vec::new();
        for (name, &count) in &other.counts {
            while own.next_if(|(known, _)| *known < name).is_some() {}
            match own.next_if(|(known, _)| *known == name) {
                Some((_, total)) => *total += count,
                None => new.push((name.clone(), count)),
            }
        }
        self.counts.extend(new);
        for (name, counts) in &other.lists {
            self.add_list(name.clone(), counts);
        }
    }
}

impl<'a> FromIterator<(&'a str, u64)> for Activity {
    fn from_iter<I: IntoIterator<Item = (&'a str, u64)>>(counts: I) -> Self {
        let mut activity = Self::new();
        for (name, count) in counts {
            activity.add(name, count);
        }
        activity
    }
}

impl<'a> Event<'a> {
    /// Takes a counter name apart; `None` for a plain statistic.
    pub fn of(name: &'a str) -> Option<Self> {
        let (structure, action) = name.rsplit_once('.')?;
        Some(Self { structure, action })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_splits_at_its_last_dot() {
        let event = Event::of("icache.data.read").unwrap();
        assert_eq!((event.structure, event.action), ("icache.data", "read"));
        assert_eq!(Event::of("cycles"), None);
    }

    #[test]
    fn events_of_a_structure_are_not_those_of_its_parts() {
        let counts = [
            ("l2.read", 1),
            ("l2.tag.read", 2),
            ("l2.write", 3),
            ("l20.read", 4),
        ];
        let activity: Activity = counts.into_iter().collect();
        let of = |name| activity.events_of(name).collect::<Vec<_>>();
        assert_eq!(of("l2"), [("read", 1), ("write", 3)]);
        assert_eq!(of("l2.tag"), [("read", 2)]);
        assert_eq!(of("l"), []);
    }

    #[test]
    fn names_are_found_by_how_they_begin() {
        let counts = [("a", 1), ("b.read", 2), ("b.tag.read", 3), ("c", 4)];
        let mut activity: Activity = counts.into_iter().collect();
        activity.add_list("b.ways", &[5, 6]);
        let under = activity.under("b.");
        assert!(under.iter().eq([("read", 2), ("tag.read", 3)]));
        assert_eq!(under.list("ways"), [5, 6]);
        let from = activity.from("b.s");
        assert!(from.iter().eq([("b.tag.read", 3), ("c", 4)]));
        assert_eq!(from.list("b.ways"), [5, 6]);
        assert_eq!(activity.under("d"), Activity::new());
    }

    #[test]
    fn lists_are_added_place_by_place() {
        let mut total = Activity::new();
        total.add_list("registers", &[1, 2]);
        let mut other = Activity::new();
        other.add_list("registers", &[10, 0, 5]);
        total += &other;
        assert_eq!(total.list("registers"), [11, 2, 5]);
        assert_eq!(total.list("never_counted"), [0; 0]);
        assert_eq!(total.iter().count(), 0, "they are no counters");
    }

    #[test]
    fn adding_two_containers_adds_each_counter() {
        let mut total: Activity = [("cycles", 3), ("icache.data.read", 1)]
            .into_iter()
            .collect();
        let other: Activity = [("icache.data.read", 2), ("icache.misses", 5)]
            .into_iter()
            .collect();
        total += &other;
        assert_eq!(total.get("icache.data.read"), 3);
        assert_eq!(total.get("cycles"), 3);
        assert_eq!(total.get("icache.misses"), 5);
        assert_eq!(total.get("never_counted"), 0);
        assert_eq!(total.events().count(), 2);
    }

    #[test]
    fn what_was_counted_since_makes_up_for_it() {
        let before: Activity = [("cycles", 3), ("a.read", 1)].into_iter().collect();
        let mut after = before.clone();
        after.add("a.read", 4);
        after.add("a.write", 0);
        after.add_list("registers", &[1, 2]);
        let since = after.since(&before);
        assert_eq!(
            since.iter().collect::<Vec<_>>(),
            [("a.read", 4), ("a.write", 0)]
        );
        let mut again = before;
        again += &since;
        assert_eq!(again, after);
    }

    #[test]
    fn counters_with_known_names_are_like_others() {
        let known = Activity::of_known([("cycles", 3), ("a.read", 1)]);
        let others: Activity = [("a.read", 1), ("cycles", 3)].into_iter().collect();
        assert_eq!(known, others);
    }
}

//! What pricing a run once shows of pricing it again: at another supply or temperature its structures are called the same, and its counts leave the same unpriced.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use warpwatt_activity::Activity;

use super::super::{CostEntry, CostTable};
use crate::outcome::{Actions, Note, PricedStructure};

/// What was found when a run was priced for the first time; clones share it. It changes no outcome, so that all are equal.
#[derive(Clone, Debug, Default)]
pub struct Before(Arc<OnceLock<Known>>);

impl PartialEq for Before {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// What was found.
#[derive(Debug)]
pub(super) struct Known {
    /// What was counted.
    pub activity: Arc<Activity>,
    /// What was priced.
    pub structures: Vec<KnownStructure>,
    /// Counters that structures of other names are charged for.
    pub charged: Arc<BTreeSet<String>>,
    /// What the figures leave out.
    pub scope: Vec<Note>,
}

/// A structure that was priced.
#[derive(Debug)]
pub(super) struct KnownStructure {
    /// Its price.
    pub structure: PricedStructure,
    /// What it was priced by.
    pub entry: CostEntry,
}

impl KnownStructure {
    /// Of a structure and the entry that it was priced by.
    pub(super) fn of((structure, (_, entry)): (&PricedStructure, (&str, &CostEntry))) -> Self {
        Self {
            structure: structure.clone(),
            entry: entry.clone(),
        }
    }

    /// What was counted of it, if by this entry it is counted alike.
    pub(super) fn counts(&self, entry: &CostEntry) -> Option<&Actions> {
        let alike = Arc::ptr_eq(&self.entry.charges, &entry.charges)
            && self.entry.leakage_only == entry.leakage_only;
        alike.then_some(&self.structure.actions)
    }

    /// The entry's group.
    pub(super) fn group(&self, entry: &CostEntry) -> Arc<str> {
        match std::ptr::eq(self.entry.group, entry.group) {
            true => Arc::clone(&self.structure.group),
            false => text(Some(&self.structure.group), entry.group),
        }
    }

    /// Its flavours in words, if they are these.
    pub(super) fn flavour(&self, entry: &CostEntry) -> Option<Arc<str>> {
        let alike = self.entry.flavours == entry.flavours;
        self.structure.flavour.clone().filter(|_| alike)
    }

    /// Its organisation in words, if it is this.
    pub(super) fn organisation(&self, entry: &CostEntry) -> Option<Arc<str>> {
        let alike = self.entry.cost.organisation == entry.cost.organisation;
        self.structure.organisation.clone().filter(|_| alike)
    }
}

impl Before {
    /// What was found, if it was of these counts and of structures of the same names.
    pub(super) fn get(&self, activity: &Arc<Activity>, table: &CostTable) -> Option<&Known> {
        let known = self.0.get()?;
        let names = known.structures.iter().map(|it| &*it.structure.name);
        let same = names.eq(table.iter().map(|(name, _)| name));
        (same && Arc::ptr_eq(&known.activity, activity)).then_some(known)
    }

    /// Remembers what was found, if nothing was.
    pub(super) fn keep(&self, known: impl FnOnce() -> Known) {
        self.0.get_or_init(known);
    }
}

/// The text that was there before, if it is the same.
pub(super) fn text(before: Option<&Arc<str>>, text: &str) -> Arc<str> {
    match before {
        Some(before) if **before == *text => Arc::clone(before),
        _ => text.into(),
    }
}

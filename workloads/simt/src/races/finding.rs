//! Races as they are told.

use std::collections::BTreeMap;
use std::fmt;

use warpwatt_ptx::types::Space;

use super::shadow::Access;

/// Between whom a race is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RaceKind {
    /// Warps of one CTA, in shared memory.
    Shared,
    /// Warps of one CTA, in global memory.
    Global,
    /// CTAs of one launch.
    Ctas,
    /// Lanes of one store, which put different values in one place.
    Lanes,
}

impl RaceKind {
    /// One word for it.
    pub fn name(self) -> &'static str {
        match self {
            RaceKind::Shared => "shared",
            RaceKind::Global => "global",
            RaceKind::Ctas => "ctas",
            RaceKind::Lanes => "lanes",
        }
    }
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the words say it")]
pub enum AccessKind {
    Read,
    Write,
    Atomic,
}

impl AccessKind {
    /// One word for it.
    pub fn name(self) -> &'static str {
        match self {
            AccessKind::Read => "load",
            AccessKind::Write => "store",
            AccessKind::Atomic => "atomic",
        }
    }
}

/// One of the two accesses of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Party {
    /// Line in the PTX file.
    pub line: u32,
    /// What it does.
    pub access: AccessKind,
    /// The CTA.
    pub cta: [u32; 3],
    /// The warp in its CTA.
    pub warp: u32,
}

impl Party {
    fn of(access: &Access, [width, height, _]: [u32; 3]) -> Self {
        let cta = access.cta;
        Self {
            line: access.line,
            access: access.kind,
            cta: [cta % width, cta / width % height, cta / (width * height)],
            warp: access.warp,
        }
    }
}

impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.cta;
        write!(
            f,
            "{} at PTX line {} (CTA ({x}, {y}, {z}), warp {})",
            self.access.name(),
            self.line,
            self.warp
        )
    }
}

/// Two instructions whose accesses race, with the first such pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// Between whom.
    pub kind: RaceKind,
    /// The word's address, in shared or in global memory.
    pub address: u64,
    /// What lies there.
    pub place: String,
    /// The access that was executed first, here; nothing says that it always is.
    pub first: Party,
    /// The other.
    pub second: Party,
    /// The store left what was there: as long as that is so, the order does not matter.
    pub same_value: bool,
    /// How many pairs of accesses.
    pub count: u64,
}

impl Race {
    /// Whether results may depend on it. Lanes of a store are in no order either, but one of them wins in any case.
    pub fn matters(&self) -> bool {
        !self.same_value && self.kind != RaceKind::Lanes
    }
}

impl fmt::Display for Race {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let between = match self.kind {
            RaceKind::Lanes => {
                return write!(
                    f,
                    "lanes of one {} put different values in {}, {} times",
                    self.first, self.place, self.count
                );
            }
            RaceKind::Shared | RaceKind::Global => "warps of a CTA with no barrier between them",
            RaceKind::Ctas => "CTAs, which are in no order",
        };
        let value = if self.same_value {
            ", the value that was there"
        } else {
            ""
        };
        write!(
            f,
            "race of {between}: {} and {} in {}{value}, {} times",
            self.first, self.second, self.place, self.count
        )
    }
}

/// What identifies a race: kind, lines and what is done there, whether the value is the same.
type Key = (RaceKind, [(u32, AccessKind); 2], bool);

#[derive(Debug, Default)]
pub(super) struct Findings(BTreeMap<Key, Race>);

impl Findings {
    /// Counts a race.
    pub fn race(
        &mut self,
        space: Space,
        address: u64,
        parties: [&Access; 2],
        grid: [u32; 3],
        place: impl FnOnce() -> String,
    ) {
        let [first, second] = parties;
        let kind = match space {
            Space::Shared => RaceKind::Shared,
            _ if first.cta == second.cta => RaceKind::Global,
            _ => RaceKind::Ctas,
        };
        // The later store decides, or else the earlier one.
        let store = if second.kind == super::AccessKind::Read {
            first
        } else {
            second
        };
        let same_value = !store.changed;
        let key = (
            kind,
            parties.map(|party| (party.line, party.kind)),
            same_value,
        );
        let race = self.0.entry(key).or_insert_with(|| Race {
            kind,
            address,
            place: match space {
                Space::Shared => format!("shared memory at {address:#x}"),
                _ => place(),
            },
            first: Party::of(first, grid),
            second: Party::of(second, grid),
            same_value,
            count: 0,
        });
        race.count += 1;
    }

    /// Counts a store whose lanes differ.
    pub fn lanes(
        &mut self,
        space: Space,
        address: u64,
        access: &Access,
        grid: [u32; 3],
        place: impl FnOnce() -> String,
    ) {
        let at = (access.line, access.kind);
        let race = self.0.entry((RaceKind::Lanes, [at, at], false));
        let race = race.or_insert_with(|| Race {
            kind: RaceKind::Lanes,
            address,
            place: match space {
                Space::Shared => format!("shared memory at {address:#x}"),
                _ => place(),
            },
            first: Party::of(access, grid),
            second: Party::of(access, grid),
            same_value: false,
            count: 0,
        });
        race.count += 1;
    }

    pub fn races(self) -> Vec<Race> {
        self.0.into_values().collect()
    }
}

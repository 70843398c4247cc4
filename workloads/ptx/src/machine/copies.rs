//! Moves that the machine does not need: their sources are read in their place, or their results are made where they are wanted.

use rustc_hash::{FxHashMap, FxHashSet};

use super::edit::remove;
use super::values::Values;
use crate::allocate::{Class, Liveness, Numbering, Role, replace};
use crate::cfg::Blocks;
use crate::program::{Entry, Inst, Long1, Op, Slot, SlotKind, Source, Special, Word1};

/// Readers first, then registers.
pub(super) fn run(entry: &mut Entry) {
    forwards(entry);
    super::dead::run(entry);
    join(entry);
}

/// Readers of a copy read what it copies.
fn forwards(entry: &mut Entry) {
    let sources = sources(&Values::of(entry));
    for inst in &mut entry.code {
        replace(inst, |slot, role| match role {
            Role::Write => slot,
            Role::Read | Role::Guard => followed(&sources, slot),
        });
    }
}

fn followed(sources: &FxHashMap<Slot, Slot>, mut slot: Slot) -> Slot {
    // A chain ends: each copy stands behind what it copies.
    while let Some(&next) = sources.get(&slot) {
        slot = next;
    }
    slot
}

/// Of each copy that can be left out, what it copies.
fn sources(values: &Values<'_>) -> FxHashMap<Slot, Slot> {
    let mut sources = FxHashMap::default();
    for (at, inst) in values.entry.code.iter().enumerate() {
        let Some((to, from)) = copy(inst) else {
            continue;
        };
        let stays = values.definition(from).is_some() || is_operand(values.entry, from);
        if stays && values.definition(to) == Some(at) {
            sources.insert(to, from);
        }
    }
    sources
}

/// Destination and source of a copy.
fn copy(inst: &Inst) -> Option<(Slot, Slot)> {
    let is_copy = matches!(inst.op, Op::Word1(Word1::Copy) | Op::Long1(Long1::Copy));
    let (to, from) = is_copy.then(|| (inst.dst[0], inst.src[0]))?;
    (to.kind == from.kind).then_some((to, from))
}

/// Literals and what lies in the constant bank are operands; what differs between threads, CTAs and warps is fetched by an instruction (`S2R`).
fn is_operand(entry: &Entry, slot: Slot) -> bool {
    let known = |special: Special| match special {
        Special::Ntid(_)
        | Special::Nctaid(_)
        | Special::NclusterId(_)
        | Special::ClusterNctaid(_)
        | Special::ClusterSize
        | Special::ExplicitCluster
        | Special::Number(_)
        | Special::Param(_)
        | Special::DynamicShared
        | Special::TotalShared
        | Special::NwarpId
        | Special::WarpSize => true,
        Special::Tid(_)
        | Special::Ctaid(_)
        | Special::ClusterId(_)
        | Special::ClusterCtaid(_)
        | Special::ClusterRank
        | Special::LaneId
        | Special::WarpId
        | Special::SmId
        | Special::NsmId
        | Special::GridId
        | Special::LaneMask(_) => false,
    };
    match slot.kind {
        SlotKind::Word => match entry.words[slot.index()] {
            Source::Literal(_) => true,
            Source::Special(special) => known(special),
            Source::Register => false,
        },
        SlotKind::Double => match entry.doubles[slot.index()] {
            Source::Literal(_) => true,
            Source::Special(special) => known(special),
            Source::Register => false,
        },
        SlotKind::Predicate => false,
    }
}

/// Two registers of which one is copied to the other are one where their lives do not cross (G. Chaitin et al., "Register allocation via coloring", 1981):
/// what a loop carries is made in its place.
fn join(entry: &mut Entry) {
    loop {
        let joined = joined(entry);
        if joined.is_empty() {
            return;
        }
        for inst in &mut entry.code {
            replace(inst, |slot, _| joined.get(&slot).copied().unwrap_or(slot));
        }
        let gone: Vec<bool> = entry
            .code
            .iter()
            .map(|inst| copy(inst).is_some_and(|(to, from)| to == from))
            .collect();
        remove(entry, &gone);
    }
}

/// Registers and those that they become, none of them twice.
fn joined(entry: &Entry) -> FxHashMap<Slot, Slot> {
    let lives = Lives::of(entry);
    let mut joined = FxHashMap::default();
    let mut touched: FxHashSet<Slot> = FxHashSet::default();
    for inst in &entry.code {
        let Some((to, from)) = copy(inst).filter(|_| inst.guard.is_none()) else {
            continue;
        };
        if to == from || touched.contains(&to) || touched.contains(&from) {
            continue;
        }
        if lives.is_register(to) && lives.is_register(from) && !lives.cross(to, from) {
            touched.extend([to, from]);
            joined.insert(from, to);
        }
    }
    joined
}

/// Where registers are live.
struct Lives<'e> {
    entry: &'e Entry,
    blocks: Blocks,
    liveness: Liveness,
    /// Of each register by its number, the place in the sets.
    places: FxHashMap<u32, usize>,
    writes: FxHashMap<Slot, Vec<usize>>,
}

impl<'e> Lives<'e> {
    fn of(entry: &'e Entry) -> Self {
        let blocks = Blocks::of(&entry.code);
        let numbering = Numbering::of(entry, Class::General);
        let liveness = Liveness::of(entry, &blocks, numbering);
        let numbers = liveness.globals.iter().enumerate();
        let places = numbers.map(|(place, &number)| (number, place)).collect();
        let mut writes: FxHashMap<Slot, Vec<usize>> = FxHashMap::default();
        for (at, inst) in entry.code.iter().enumerate() {
            for slot in inst.writes() {
                writes.entry(slot).or_default().push(at);
            }
        }
        Self {
            entry,
            blocks,
            liveness,
            places,
            writes,
        }
    }

    fn is_register(&self, slot: Slot) -> bool {
        Numbering::of(self.entry, Class::General)
            .register(slot)
            .is_some()
    }

    /// Whether one is written while the other is still to be read, but for copies between them.
    fn cross(&self, a: Slot, b: Slot) -> bool {
        [(a, b), (b, a)].into_iter().any(|(written, other)| {
            let places = self.writes.get(&written);
            places.into_iter().flatten().any(|&at| {
                let same = copy(&self.entry.code[at]) == Some((written, other));
                !same && self.is_live_behind(other, at)
            })
        })
    }

    fn is_live_behind(&self, slot: Slot, at: usize) -> bool {
        let block = self
            .blocks
            .starts
            .partition_point(|&start| start as usize <= at)
            - 1;
        let end = self.blocks.range(block, self.entry.code.len()).end;
        for inst in &self.entry.code[at + 1..end] {
            if inst.reads().any(|read| read == slot) {
                return true;
            }
            if inst.guard.is_none() && inst.writes().any(|written| written == slot) {
                return false;
            }
        }
        let number = Numbering::of(self.entry, Class::General).register(slot);
        let place = number.and_then(|number| self.places.get(&(number as u32)));
        place
            .is_some_and(|place| self.liveness.live_out[block][place / 64] & 1 << (place % 64) != 0)
    }
}

//! Neighbouring loads from shared memory become one of 64 or 128 bits, from constant memory one of 64 bits, where their address is surely a multiple of that.

use super::edit::remove;
use super::values::Values;
use crate::program::{Access, Entry, Inst, Op, Operands, Slot};
use crate::types::Space;

/// Most instructions between the first and the last of what is joined.
const WINDOW: usize = 256;

/// Fours first, then pairs, until none are left.
pub(super) fn run(entry: &mut Entry) {
    for count in [4u8, 2] {
        loop {
            let found = groups(&Values::of(entry), count);
            if found.is_empty() {
                break;
            }
            join(entry, &found, count);
        }
    }
}

/// The loads that become one, in the order of their addresses; and where it will stand.
struct Group {
    places: Vec<usize>,
    at: usize,
}

fn join(entry: &mut Entry, groups: &[Group], count: u8) {
    let mut gone = vec![false; entry.code.len()];
    for group in groups {
        let dst = group.places.iter().map(|&at| entry.code[at].dst[0]);
        let dst: Operands<4> = dst.collect();
        let lowest = entry.code[group.places[0]].op.clone();
        let first = &mut entry.code[group.at];
        first.dst = dst;
        first.op = match lowest {
            Op::Load(access) => Op::Load(Access { count, ..access }),
            other => other,
        };
        for &at in group.places.iter().filter(|&&at| at != group.at) {
            gone[at] = true;
        }
    }
    remove(entry, &gone);
}

/// A single element of 32 bits, of which so many may become one access.
fn single(inst: &Inst, count: u8) -> Option<(Access, Slot)> {
    let Op::Load(access) = inst.op else {
        return None;
    };
    let wide = match access.space {
        Space::Shared => true,
        Space::Const => count == 2,
        _ => false,
    };
    let one = access.count == 1 && access.element.bytes() == 4;
    let fits = wide && one && inst.guard.is_none() && !access.framed;
    fits.then_some((access, inst.src[0]))
}

/// Groups that share no load: each leaves the others as they are, since nothing between its loads touches what they write.
fn groups(values: &Values<'_>, count: u8) -> Vec<Group> {
    let mut taken = vec![false; values.entry.code.len()];
    let mut found = Vec::new();
    for at in 0..taken.len() {
        let free = |group: &Group| group.places.iter().all(|&place| !taken[place]);
        if let Some(group) = group(values, at, count).filter(free) {
            for &place in &group.places {
                taken[place] = true;
            }
            found.push(group);
        }
    }
    found
}

/// The group of which the load at `at` is the first.
fn group(values: &Values<'_>, at: usize, count: u8) -> Option<Group> {
    let code = &values.entry.code;
    let (access, base) = single(&code[at], count)?;
    let size = 4 * i64::from(count);
    let start = access.offset.div_euclid(size) * size;
    if values.zeros(base) < size.trailing_zeros() {
        return None;
    }
    let places: Vec<usize> = (0..i64::from(count))
        .map(|number| sibling(values, (at, count), base, (access, start + 4 * number)))
        .collect::<Option<_>>()?;
    apart(code, &places).then_some(Group { places, at })
}

/// The load of an offset behind `at` that could as well stand there.
fn sibling(
    values: &Values<'_>,
    (at, count): (usize, u8),
    base: Slot,
    (like, offset): (Access, i64),
) -> Option<usize> {
    let code = &values.entry.code;
    if like.offset == offset {
        return Some(at);
    }
    for later in at + 1..code.len().min(at + WINDOW) {
        if !values.together(at, later) || orders_memory(&code[later]) {
            return None;
        }
        let found = single(&code[later], count);
        let same = found.is_some_and(|(access, other)| {
            let alike = access.space == like.space && access.element == like.element;
            other == base && access.offset == offset && alike
        });
        if same {
            let target = code[later].dst[0];
            let untouched = code[at..later].iter().all(|inst| !touches(inst, target));
            return (untouched && target != base).then_some(later);
        }
        if code[later].writes().any(|slot| slot == base) {
            return None;
        }
    }
    None
}

/// Their results are different registers.
fn apart(code: &[Inst], places: &[usize]) -> bool {
    let mut targets: Vec<Slot> = places.iter().map(|&at| code[at].dst[0]).collect();
    targets.sort_unstable();
    targets.dedup();
    targets.len() == places.len()
}

fn touches(inst: &Inst, slot: Slot) -> bool {
    let guard = inst.guard.map(|guard| guard.predicate);
    inst.reads()
        .chain(inst.writes())
        .chain(guard)
        .any(|other| other == slot)
}

/// Whether a load may not be moved over it.
fn orders_memory(inst: &Inst) -> bool {
    match inst.op {
        Op::Load(_) => false,
        Op::Store(access) => matches!(access.space, Space::Shared | Space::Generic),
        _ => !inst.op.traits().is_pure(),
    }
}

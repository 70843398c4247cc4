//! Register allocation: from the virtual registers of PTX to those that a thread has.
//!
//! Values ([`webs`](webs)) get registers by first fit over the exact places where they are live, gaps included. Where more are needed than
//! there are, values leave their registers, one after the other, for local memory; loads and stores are inserted, and the
//! program that is executed and timed is the one with them. Predicates have registers of their own and are kept in 32-bit ones
//! where those do not suffice.

mod colour;
mod liveness;
mod operands;
mod pieces;
mod plan;
mod rewrite;
mod routines;
#[cfg(test)]
mod tests;
mod webs;

use crate::program::{Allocation, Entry};
use colour::Colouring;
use pieces::Home;
use plan::{Analysis, Cuts, Plan};
use rewrite::Rewriter;

pub(crate) use liveness::{Liveness, members};
pub(crate) use operands::{Numbering, Role, replace};
pub(crate) use plan::Class;

/// Registers that a thread may have, on every GPU since compute capability 3.5 (CUDA C Programming Guide, "Technical Specifications
/// per Compute Capability").
pub const MAX_REGISTERS: u32 = 255;

/// Predicate registers of a thread: P0 to P6; the eighth is always true (CUDA Binary Utilities, "Instruction Set Reference").
pub const PREDICATE_REGISTERS: u32 = 7;

/// An entry cannot keep a limit of registers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{entry}` needs at least {minimum} registers, not {limit}")]
pub struct TooFewRegisters {
    /// The entry.
    pub entry: String,
    /// The limit.
    pub limit: u32,
    /// The lowest limit that it can keep.
    pub minimum: u32,
}

impl Entry {
    /// The same entry on at most `limit` registers a thread: more values go to local memory.
    ///
    /// # Errors
    /// The limit is too low for some instruction's operands.
    pub fn with_registers(&self, limit: u32) -> Result<Entry, TooFewRegisters> {
        allocate(self, limit)
    }

    /// The lowest limit that [`with_registers`](Self::with_registers) can keep.
    pub fn least_registers(&self) -> u32 {
        least_registers(self)
    }

    /// The lowest limit that needs no stores of values; making them anew is allowed.
    pub fn least_registers_without_spills(&self) -> u32 {
        least_without_spills(self)
    }
}

/// The entry on at most `limit` registers a thread. It may itself be the result of an allocation: what has a register then is given
/// one anew.
fn allocate(entry: &Entry, limit: u32) -> Result<Entry, TooFewRegisters> {
    let (entry, moves) = predicates(entry);
    let analysis = Analysis::of(&entry, Class::General);
    let mut plan = Plan::new(&analysis);
    let (live, live_in_pairs) = (plan.least(), plan.in_pairs());
    let Some((cuts, colouring)) = within(&mut plan, limit) else {
        return Err(TooFewRegisters {
            entry: entry.name.clone(),
            limit,
            minimum: minimum(&analysis),
        });
    };
    let (mut allocated, mut spills) = Rewriter::new(&plan, &cuts, &colouring).run();
    spills.predicate_moves = moves;
    allocated.registers = colouring.used;
    allocated.allocation = Allocation {
        live,
        live_in_pairs,
        limit,
        spills,
    };
    Ok(allocated)
}

/// The lowest limit that an entry can keep.
fn least_registers(entry: &Entry) -> u32 {
    minimum(&Analysis::of(&predicates(entry).0, Class::General))
}

/// The lowest limit that an entry can keep without storing a value; making values anew is allowed.
fn least_without_spills(entry: &Entry) -> u32 {
    let entry = predicates(entry).0;
    let analysis = Analysis::of(&entry, Class::General);
    let mut plan = Plan::new(&analysis);
    let mut best = entry.registers;
    loop {
        if plan.homes.contains(&Home::Elsewhere) {
            return best;
        }
        let colouring = plan.colour(&plan.cuts(), best);
        best = colouring.map_or(best, |colouring| colouring.used);
        if !plan.spill() {
            return best;
        }
    }
}

/// The entry on its predicate registers, and how many moves to and from 32-bit registers that takes.
fn predicates(entry: &Entry) -> (Entry, u32) {
    let analysis = Analysis::of(entry, Class::Predicate);
    let mut plan = Plan::new(&analysis);
    // Slots are numbered in 16 bits; a program with so many names keeps what predicates it needs.
    let numbered = entry.words.len() + usize::from(entry.predicates);
    let limit = match u16::try_from(numbered) {
        Ok(_) => PREDICATE_REGISTERS,
        Err(_) => u32::from(u16::MAX),
    };
    let (cuts, colouring) = within(&mut plan, limit).unwrap_or_else(|| {
        let cuts = plan.cuts();
        let colouring = plan.colour(&cuts, u32::from(u16::MAX));
        (cuts, colouring.unwrap_or_default())
    });
    let (entry, spills) = Rewriter::new(&plan, &cuts, &colouring).run();
    (entry, spills.predicate_moves)
}

/// Takes values out of registers until the others keep the limit; `None` if they never do.
fn within(plan: &mut Plan<'_, '_>, limit: u32) -> Option<(Cuts, Colouring)> {
    loop {
        if plan.least() <= limit {
            let cuts = plan.cuts();
            if let Some(colouring) = plan.colour(&cuts, limit) {
                return Some((cuts, colouring));
            }
        }
        if !plan.spill() {
            return None;
        }
    }
}

/// The fewest registers over the whole sequence of spills.
fn minimum(analysis: &Analysis<'_>) -> u32 {
    let mut plan = Plan::new(analysis);
    let mut best = u32::from(u16::MAX);
    loop {
        if plan.least() < best {
            let colouring = plan.colour(&plan.cuts(), best - 1);
            best = colouring.map_or(best, |colouring| colouring.used);
        }
        if !plan.spill() {
            return best;
        }
    }
}

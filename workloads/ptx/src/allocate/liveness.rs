//! Which registers are live at the borders of basic blocks.
//!
//! Lanes keep their own values, so that what a thread may still read decides: a path that a divergent warp takes first changes
//! only its own lanes of a register, and what the other path reads stays where it is. A guarded write does not end a register's
//! life, since lanes that skip it keep the old value.

use super::operands::{Numbering, Role, visit};
use crate::cfg::Blocks;
use crate::program::Entry;

/// Sets of registers that live across borders of blocks; all others live within one block.
pub(crate) struct Liveness {
    /// By position in the sets: the register's number.
    pub globals: Vec<u32>,
    /// Registers live at the beginning of each block, one bit a global.
    pub live_in: Vec<Set>,
    /// At its end.
    pub live_out: Vec<Set>,
}

/// One bit a global register.
pub(crate) type Set = Vec<u64>;

/// Positions of the bits that are set.
pub(crate) fn members(set: &Set) -> impl Iterator<Item = usize> + '_ {
    set.iter().enumerate().flat_map(|(word, &bits)| {
        let rest = |bits: &u64| Some(bits & (bits - 1)).filter(|&bits| bits != 0);
        let each = std::iter::successors(Some(bits).filter(|&bits| bits != 0), rest);
        each.map(move |bits| word * 64 + bits.trailing_zeros() as usize)
    })
}

const NONE: u32 = u32::MAX;

impl Liveness {
    pub fn of(entry: &Entry, blocks: &Blocks, numbering: Numbering<'_>) -> Self {
        let mut position = vec![NONE; numbering.len()];
        let globals = globals(entry, blocks, numbering, &mut position);
        let empty = vec![0; globals.len().div_ceil(64)];
        let count = blocks.starts.len();
        let mut reads = vec![empty.clone(); count];
        let mut writes = vec![empty.clone(); count];
        for block in 0..count {
            let (reads, writes) = (&mut reads[block], &mut writes[block]);
            for inst in &entry.code[blocks.range(block, entry.code.len())] {
                visit(inst, |slot, role| {
                    let number = numbering.register(slot);
                    let Some(at) = number.map(|number| position[number] as usize) else {
                        return;
                    };
                    if at == NONE as usize {
                        return;
                    }
                    let bit = 1 << (at % 64);
                    match role {
                        Role::Write if inst.guard.is_some() => {}
                        Role::Write => writes[at / 64] |= bit,
                        _ => reads[at / 64] |= bit & !writes[at / 64],
                    }
                });
            }
        }
        let (live_in, live_out) = solve(blocks, reads, &writes, &empty);
        Self {
            globals,
            live_in,
            live_out,
        }
    }
}

/// Registers that some block reads before it writes them.
fn globals(
    entry: &Entry,
    blocks: &Blocks,
    numbering: Numbering<'_>,
    position: &mut [u32],
) -> Vec<u32> {
    let mut globals = Vec::new();
    let mut written = vec![NONE; position.len()];
    for block in 0..blocks.starts.len() {
        for inst in &entry.code[blocks.range(block, entry.code.len())] {
            visit(inst, |slot, role| {
                let Some(number) = numbering.register(slot) else {
                    return;
                };
                if role == Role::Write {
                    if inst.guard.is_none() {
                        written[number] = block as u32;
                    }
                } else if written[number] != block as u32 && position[number] == NONE {
                    position[number] = globals.len() as u32;
                    globals.push(number as u32);
                }
            });
        }
    }
    globals
}

/// Backward data flow to its fixed point: live in = read first, or live out and not written.
fn solve(blocks: &Blocks, reads: Vec<Set>, writes: &[Set], empty: &Set) -> (Vec<Set>, Vec<Set>) {
    let count = blocks.starts.len();
    let mut live_in = reads;
    let mut live_out = vec![empty.clone(); count];
    let mut changed = true;
    while changed {
        changed = false;
        for block in (0..count).rev() {
            for &next in &blocks.successors[block] {
                if let Some(next) = live_in.get(next as usize) {
                    for (out, bits) in live_out[block].iter_mut().zip(next) {
                        *out |= bits;
                    }
                }
            }
            let flows = live_out[block].iter().zip(&writes[block]);
            for (bits, (out, write)) in live_in[block].iter_mut().zip(flows) {
                let all = *bits | out & !write;
                changed |= all != *bits;
                *bits = all;
            }
        }
    }
    (live_in, live_out)
}

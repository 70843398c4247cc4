//! Liveness at the borders of basic blocks, and what waiting lanes need.

use super::{Words, splits, words};
use crate::cfg::{Blocks, NO_RECONVERGENCE};
use crate::program::{Entry, Op};

/// What is known of each block.
pub(super) struct Flow {
    /// Registers that a thread may read from the beginning of the block on before it writes them.
    pub live_in: Vec<Words>,
    /// The same at its end.
    pub live_out: Vec<Words>,
    /// Registers that lanes need which may wait elsewhere while the block runs.
    pub waited_for: Vec<Words>,
}

impl Flow {
    pub fn of(entry: &Entry, blocks: &Blocks) -> Self {
        let (live_in, live_out) = liveness(entry, blocks);
        let waited_for = waited_for(entry, blocks, &live_in);
        Self {
            live_in,
            live_out,
            waited_for,
        }
    }
}

/// Backward data flow to its fixed point; a guarded write does not end a life, since lanes that skip it keep the old value.
pub(crate) fn liveness(entry: &Entry, blocks: &Blocks) -> (Vec<Words>, Vec<Words>) {
    let count = blocks.starts.len();
    let mut live_in = vec![Words::default(); count];
    let mut live_out = vec![Words::default(); count];
    let mut writes = vec![Words::default(); count];
    for block in 0..count {
        let (reads, writes) = (&mut live_in[block], &mut writes[block]);
        for inst in &entry.code[blocks.range(block, entry.code.len())] {
            for slot in inst.reads() {
                reads.insert_all(words(entry, slot).filter(|&word| !writes.has(word)));
            }
            if inst.guard.is_none() {
                inst.writes()
                    .for_each(|slot| writes.insert_all(words(entry, slot)));
            }
        }
    }
    let mut changed = true;
    while changed {
        changed = false;
        for block in (0..count).rev() {
            for &next in &blocks.successors[block] {
                if let Some(next) = live_in.get(next as usize) {
                    live_out[block].add(next);
                }
            }
            let mut through = live_out[block].clone();
            through.remove(&writes[block]);
            changed |= live_in[block].add(&through);
        }
    }
    (live_in, live_out)
}

/// For every branch that may split a warp: while a block between it and its meeting point runs, other lanes may wait at its targets or
/// where they meet.
fn waited_for(entry: &Entry, blocks: &Blocks, live_in: &[Words]) -> Vec<Words> {
    let count = blocks.starts.len();
    let mut waited_for = vec![Words::default(); count];
    for block in 0..count {
        let Some(meets) = meeting(entry, blocks, block) else {
            continue;
        };
        let places = blocks.successors[block].iter().chain([&meets]);
        let mut needed = Words::default();
        for &place in places {
            if let Some(live) = live_in.get(place as usize) {
                needed.add(live);
            }
        }
        for between in between(blocks, block, meets) {
            waited_for[between].add(&needed);
        }
    }
    waited_for
}

/// The block where the sides of the branch at the end of `block` meet, the exit's index if there is none; nothing if lanes cannot part there.
pub(crate) fn meeting(entry: &Entry, blocks: &Blocks, block: usize) -> Option<u32> {
    let last = &entry.code[blocks.range(block, entry.code.len()).end - 1];
    if !splits(last) {
        return None;
    }
    Some(match last.op {
        Op::Branch { reconverge, .. } | Op::BranchIndexed { reconverge, .. }
            if reconverge != NO_RECONVERGENCE =>
        {
            blocks.starts.partition_point(|&start| start < reconverge) as u32
        }
        _ => blocks.starts.len() as u32,
    })
}

/// Blocks that a warp may run after the branch at the end of `from` before its paths meet.
pub(crate) fn between(blocks: &Blocks, from: usize, meets: u32) -> Vec<usize> {
    let count = blocks.starts.len();
    let mut seen = vec![false; count];
    let mut found = Vec::new();
    let mut open: Vec<u32> = blocks.successors[from].clone();
    while let Some(block) = open.pop() {
        let at = block as usize;
        if at < count && block != meets && !seen[at] {
            seen[at] = true;
            found.push(at);
            open.extend(&blocks.successors[at]);
        }
    }
    found
}

//! Where registers of a warp can be released: after the last read of a value, or where divergent paths have met again.
//!
//! The analysis of H. Jeon, "Resource Underutilization Exploitation for Power Efficient and Reliable Throughput Processor", USC 2015,
//! section 2.5. A value that lives and dies within a basic block, or within one round of a loop, is released by its last reader
//! (figure 2.6 a, e). What other lanes of the warp may still read, because they wait for their turn on another side of a branch or for
//! another round of a loop, is released only where all paths have met (b, c, d).
//!
//! What makes that safe: lanes that do not run wait at the targets of a branch that split the warp, or where its sides meet. As long
//! as a side runs, nothing that is live at one of these places is released, whatever the side itself does to it.

pub(crate) mod flow;
mod sets;
#[cfg(test)]
pub(crate) mod tests;

use crate::cfg::Blocks;
use crate::program::{Entry, Inst, Op, Slot, SlotKind, Source};
use flow::Flow;
pub(crate) use sets::Words;

/// Register operands of an instruction that release flags exist for: the first three (section 2.5.2).
pub const FLAGGED_OPERANDS: usize = 3;

/// Basic blocks beyond which nothing is released: the analysis looks at every branch with every block between it and its meeting point.
pub(crate) const MOST_BLOCKS: usize = 10_000;

/// What is released at an instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Release {
    /// Whether a basic block begins here.
    pub leader: bool,
    /// Operands that are dead once the instruction has read them, among its first [`FLAGGED_OPERANDS`]: its flags in a `pir`.
    pub operands: Vec<Slot>,
    /// 32-bit registers that are dead before the instruction: the contents of a `pbr`. Only where paths meet.
    pub meeting: Vec<u16>,
}

/// What is released at each instruction of an entry, one element an instruction.
///
/// Device functions release nothing, and registers that they use are never released: a function does not know what its callers keep.
pub fn releases(entry: &Entry) -> Vec<Release> {
    let mut releases = vec![Release::default(); entry.code.len()];
    if entry.code.is_empty() {
        return releases;
    }
    let blocks = Blocks::of(&entry.code);
    for &start in &blocks.starts {
        releases[start as usize].leader = true;
    }
    if blocks.starts.len() > MOST_BLOCKS {
        return releases;
    }
    let flow = Flow::of(entry, &blocks);
    let main = main_end(entry);
    let shared = touched(entry, main..entry.code.len());
    for block in 0..blocks.starts.len() {
        let range = blocks.range(block, entry.code.len());
        if range.start < main {
            let kept = flow.waited_for[block].with(&shared);
            last_reads(entry, range, &flow.live_out[block], &kept, &mut releases);
        }
    }
    meetings(entry, &blocks, (&flow, &shared, main), &mut releases);
    releases
}

/// Marks the operands that die in a block, walking it backwards.
fn last_reads(
    entry: &Entry,
    range: std::ops::Range<usize>,
    live_out: &Words,
    kept: &Words,
    releases: &mut [Release],
) {
    let mut live = live_out.clone();
    for at in range.rev() {
        let inst = &entry.code[at];
        let mut written = Words::default();
        inst.writes()
            .for_each(|slot| written.insert_all(words(entry, slot)));
        let dies = |slot: &Slot| {
            let mut all = words(entry, *slot);
            all.all(|word| !live.has(word) && !kept.has(word) && !written.has(word))
        };
        releases[at].operands = operands(entry, inst).into_iter().filter(dies).collect();
        if inst.guard.is_none() {
            live.remove(&written);
        }
        inst.reads()
            .for_each(|slot| live.insert_all(words(entry, slot)));
    }
}

/// The first register operands of an instruction, each once.
fn operands(entry: &Entry, inst: &Inst) -> Vec<Slot> {
    let mut found: Vec<Slot> = Vec::with_capacity(FLAGGED_OPERANDS);
    for slot in inst.reads() {
        let is_register = words(entry, slot).next().is_some();
        if is_register && !found.contains(&slot) && found.len() < FLAGGED_OPERANDS {
            found.push(slot);
        }
    }
    found
}

/// Where paths meet, releases what may have been written on the way and nobody needs any more.
fn meetings(
    entry: &Entry,
    blocks: &Blocks,
    (flow, shared, main): (&Flow, &Words, usize),
    releases: &mut [Release],
) {
    let mut meets = vec![false; entry.code.len()];
    for inst in &entry.code[..main] {
        if let Op::Branch { reconverge, .. } | Op::BranchIndexed { reconverge, .. } = inst.op
            && (reconverge as usize) < main
            && splits(inst)
        {
            meets[reconverge as usize] = true;
        }
    }
    let held = |block: usize| {
        flow.live_in[block]
            .with(&flow.waited_for[block])
            .with(shared)
    };
    let count = blocks.starts.len();
    let mut mapped = vec![Words::default(); count];
    let mut changed = true;
    while changed {
        changed = false;
        for block in 0..count {
            let range = blocks.range(block, entry.code.len());
            let mut now = mapped[block].clone();
            if meets[range.start] {
                now.keep(&held(block));
            }
            for at in range {
                for slot in &releases[at].operands {
                    words(entry, *slot).for_each(|word| now.take(word));
                }
                entry.code[at]
                    .writes()
                    .for_each(|slot| now.insert_all(words(entry, slot)));
            }
            for &next in &blocks.successors[block] {
                if let Some(next) = mapped.get_mut(next as usize) {
                    changed |= next.add(&now);
                }
            }
        }
    }
    for (block, mapped) in mapped.iter().enumerate() {
        let start = blocks.starts[block] as usize;
        if meets[start] {
            let held = held(block);
            let dead = mapped.iter().filter(|word| !held.has(*word));
            releases[start].meeting = dead.collect();
        }
    }
}

/// Where an entry's own code ends and that of device functions begins.
pub(crate) fn main_end(entry: &Entry) -> usize {
    let starts = entry.functions.iter().map(|it| it.start as usize);
    starts.min().unwrap_or(entry.code.len())
}

/// Whether lanes may leave an instruction in different directions.
fn splits(inst: &Inst) -> bool {
    match inst.op {
        Op::Branch { .. } => inst.guard.is_some(),
        Op::BranchIndexed { .. } => true,
        _ => false,
    }
}

/// The registers that some code reads or writes.
pub(crate) fn touched(entry: &Entry, code: std::ops::Range<usize>) -> Words {
    let mut touched = Words::default();
    for inst in &entry.code[code] {
        for slot in inst.reads().chain(inst.writes()) {
            touched.insert_all(words(entry, slot));
        }
    }
    touched
}

/// The 32-bit registers of a slot; literals, special registers and predicates have none.
pub(crate) fn words(entry: &Entry, slot: Slot) -> std::ops::Range<u16> {
    match slot.kind {
        SlotKind::Word if entry.words[slot.index()] == Source::Register => {
            slot.number..slot.number + 1
        }
        SlotKind::Double if entry.doubles[slot.index()] == Source::Register => {
            2 * slot.number..2 * slot.number + 2
        }
        _ => 0..0,
    }
}

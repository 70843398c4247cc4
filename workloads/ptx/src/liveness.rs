//! Which registers are live where, and how many at once.

use crate::cfg::Blocks;
use crate::program::{Entry, Inst, Slot, SlotKind, Source};

/// 32-bit registers live at once at the most, over all program points: what an ideal allocator needs. A guarded write does not
/// end a register's life, since lanes that skip it keep the old value.
pub fn max_live_words(entry: &Entry) -> u32 {
    if entry.code.is_empty() {
        return 0;
    }
    let registers = Registers::of(entry);
    let blocks = Blocks::of(&entry.code);
    let live_out = live_out(entry, &registers, &blocks);
    let mut most = 0;
    for (block, mut live) in live_out.into_iter().enumerate() {
        for at in blocks.range(block, entry.code.len()).rev() {
            step_back(&entry.code[at], &registers, &mut live);
            most = most.max(registers.words(&live));
        }
    }
    most
}

/// Numbers the vector registers of an entry: literals, special registers and predicates take none.
struct Registers {
    word_is_register: Vec<bool>,
    double_is_register: Vec<bool>,
}

type Live = Vec<u64>;

impl Registers {
    fn of(entry: &Entry) -> Self {
        Self {
            word_is_register: entry.words.iter().map(|s| *s == Source::Register).collect(),
            double_is_register: entry
                .doubles
                .iter()
                .map(|s| *s == Source::Register)
                .collect(),
        }
    }

    fn bit(&self, slot: Slot) -> Option<usize> {
        match slot.kind {
            SlotKind::Word => self.word_is_register[slot.index()].then_some(slot.index()),
            SlotKind::Double => self.double_is_register[slot.index()]
                .then_some(self.word_is_register.len() + slot.index()),
            SlotKind::Predicate => None,
        }
    }

    fn empty(&self) -> Live {
        let bits = self.word_is_register.len() + self.double_is_register.len();
        vec![0; bits.div_ceil(64)]
    }

    fn words(&self, live: &Live) -> u32 {
        let all: u32 = live.iter().map(|bits| bits.count_ones()).sum();
        let single = self.word_is_register.len();
        let whole: u32 = live[..single / 64]
            .iter()
            .map(|bits| bits.count_ones())
            .sum();
        let partial = match live.get(single / 64) {
            Some(bits) => (bits & ((1 << (single % 64)) - 1)).count_ones(),
            None => 0,
        };
        2 * all - whole - partial
    }
}

impl Blocks {
    /// Instructions of a block.
    fn range(&self, block: usize, length: usize) -> std::ops::Range<usize> {
        let end = self.starts.get(block + 1).map_or(length, |&at| at as usize);
        self.starts[block] as usize..end
    }
}

fn step_back(inst: &Inst, registers: &Registers, live: &mut Live) {
    if inst.guard.is_none() {
        for bit in inst.writes().filter_map(|slot| registers.bit(slot)) {
            live[bit / 64] &= !(1 << (bit % 64));
        }
    }
    for bit in inst.reads().filter_map(|slot| registers.bit(slot)) {
        live[bit / 64] |= 1 << (bit % 64);
    }
}

fn live_out(entry: &Entry, registers: &Registers, blocks: &Blocks) -> Vec<Live> {
    let count = blocks.starts.len();
    let mut live_in = vec![registers.empty(); count];
    let mut live_out = vec![registers.empty(); count];
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
            let mut live = live_out[block].clone();
            for at in blocks.range(block, entry.code.len()).rev() {
                step_back(&entry.code[at], registers, &mut live);
            }
            if live != live_in[block] {
                live_in[block] = live;
                changed = true;
            }
        }
    }
    live_out
}

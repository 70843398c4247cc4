//! How many registers an order of instructions takes.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::allocate::{Class, Liveness, Numbering, members};
use crate::program::{Entry, Inst, Slot};

/// Registers that hold what is still read at a place of the program.
#[derive(Clone)]
pub(super) struct Live<'e> {
    numbering: Numbering<'e>,
    /// Numbers below this are words, others doubles.
    words: usize,
    numbers: FxHashSet<usize>,
    /// How many registers of 32 bits they are.
    pub registers: i64,
}

impl<'e> Live<'e> {
    /// At the end of a block.
    pub fn at_end(entry: &'e Entry, liveness: &Liveness, block: usize) -> Self {
        let globals = members(&liveness.live_out[block]).map(|at| liveness.globals[at] as usize);
        let mut live = Self {
            numbering: Numbering::of(entry, Class::General),
            words: entry.words.len(),
            numbers: globals.collect(),
            registers: 0,
        };
        live.registers = live.numbers.iter().map(|&number| live.width(number)).sum();
        live
    }

    /// From behind an instruction to before it.
    pub fn step_back(&mut self, inst: &Inst) {
        let numbering = self.numbering;
        let number = |slot| numbering.register(slot);
        if inst.guard.is_none() {
            for number in inst.writes().filter_map(number) {
                if self.numbers.remove(&number) {
                    self.registers -= self.width(number);
                }
            }
        }
        for number in inst.reads().filter_map(number) {
            if self.numbers.insert(number) {
                self.registers += self.width(number);
            }
        }
    }

    fn number(&self, slot: Slot) -> Option<usize> {
        self.numbering.register(slot)
    }

    fn holds(&self, slot: Slot) -> bool {
        self.number(slot)
            .is_some_and(|number| self.numbers.contains(&number))
    }

    /// Registers of 32 bits that a register by its number takes.
    fn width(&self, number: usize) -> i64 {
        if number < self.words { 1 } else { 2 }
    }

    /// Those that a slot takes: literals and the like none.
    fn size(&self, slot: Slot) -> i64 {
        self.number(slot).map_or(0, |number| self.width(number))
    }
}

/// Accesses to a register that are still to come.
#[derive(Clone, Copy, Default)]
struct Left {
    reads: u32,
    writes: u32,
}

/// Registers that are taken while the instructions of a stretch are put in order.
#[derive(Clone)]
pub(super) struct Pressure<'l> {
    /// What is still read behind the stretch.
    behind: &'l Live<'l>,
    left: FxHashMap<Slot, Left>,
    /// Registers that hold something.
    taken: FxHashSet<Slot>,
    pub now: i64,
}

impl<'l> Pressure<'l> {
    /// Of a stretch, before which so many registers hold something.
    pub fn of(body: &[Inst], before: i64, behind: &'l Live<'l>) -> Self {
        let mut left: FxHashMap<Slot, Left> = FxHashMap::default();
        let mut taken = FxHashSet::default();
        for inst in body {
            for slot in inst.reads() {
                let left = left.entry(slot).or_default();
                left.reads += 1;
                if left.writes == 0 {
                    taken.insert(slot);
                }
            }
            for slot in inst.writes() {
                left.entry(slot).or_default().writes += 1;
            }
        }
        Self {
            behind,
            left,
            taken,
            now: before,
        }
    }

    /// What an instruction adds: results that lie where nothing is, less what nobody reads behind it.
    pub fn change(&self, inst: &Inst) -> i64 {
        let size = |slot| self.behind.size(slot);
        let added = inst.writes().filter(|slot| !self.taken.contains(slot));
        added.map(size).sum::<i64>() - self.ended(inst).map(size).sum::<i64>()
    }

    /// What an instruction reads last, and does not write again.
    fn ended<'a>(&'a self, inst: &'a Inst) -> impl Iterator<Item = Slot> + 'a {
        inst.reads().filter(|&slot| {
            let left = self.left.get(&slot).copied().unwrap_or_default();
            let last = left.reads == 1 && (left.writes > 0 || !self.behind.holds(slot));
            last && inst.writes().all(|written| written != slot)
        })
    }

    /// The instruction comes next.
    pub fn issue(&mut self, inst: &Inst) {
        self.now += self.change(inst);
        let ended: Vec<Slot> = self.ended(inst).collect();
        for slot in ended {
            self.taken.remove(&slot);
        }
        self.taken.extend(inst.writes());
        for slot in inst.reads() {
            self.left.entry(slot).or_default().reads -= 1;
        }
        for slot in inst.writes() {
            self.left.entry(slot).or_default().writes -= 1;
        }
    }

    /// The most of the stretch's own order.
    pub fn most_in_order(&self, body: &[Inst]) -> i64 {
        let mut copy = self.clone();
        let each = body.iter().map(|inst| {
            copy.issue(inst);
            copy.now
        });
        each.max().unwrap_or(0)
    }
}

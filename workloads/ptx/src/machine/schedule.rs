//! Order within a block: what others wait for longest goes first, so that loads stand far before what reads them (P. Gibbons, S. Muchnick, "Efficient Instruction
//! Scheduling for a Pipelined Architecture", 1986).

use rustc_hash::FxHashMap;

use crate::cfg::Blocks;
use crate::program::{Entry, Inst, Op, Slot, SlotKind, Source};
use crate::traits::{LatencyClass, MemoryOpKind, Unit};
use crate::types::Space;

/// Registers that values made early may take beyond what the block needs in its own order. Assumed: what four loads of 128 bits fill.
const ROOM: i64 = 16;

/// Longest block that is ordered: the search looks at all instructions that could come next.
const LONGEST: usize = 4096;

/// Reorders every stretch of a block that nothing divides.
pub(super) fn run(entry: &mut Entry) {
    let blocks = Blocks::of(&entry.code);
    let registers = Registers::of(entry);
    let mut code = Vec::with_capacity(entry.code.len());
    for block in 0..blocks.starts.len() {
        let range = blocks.range(block, entry.code.len());
        for stretch in entry.code[range].split_inclusive(divides) {
            let (body, end) = match stretch.split_last() {
                Some((last, body)) if divides(last) => (body, Some(last)),
                _ => (stretch, None),
            };
            match body.len() {
                3..=LONGEST => code.extend(
                    ordered(body, &registers)
                        .into_iter()
                        .map(|at| body[at].clone()),
                ),
                _ => code.extend_from_slice(body),
            }
            code.extend(end.cloned());
        }
    }
    entry.code = code;
}

/// Whether nothing may move over an instruction.
fn divides(inst: &Inst) -> bool {
    !(inst.op.traits().is_pure() || matches!(inst.op, Op::Load(_) | Op::Store(_)))
}

/// Which slots are registers.
struct Registers {
    words: Vec<bool>,
    doubles: Vec<bool>,
}

impl Registers {
    fn of(entry: &Entry) -> Self {
        Self {
            words: entry
                .words
                .iter()
                .map(|source| *source == Source::Register)
                .collect(),
            doubles: entry
                .doubles
                .iter()
                .map(|source| *source == Source::Register)
                .collect(),
        }
    }

    /// How many registers of 32 bits a slot takes.
    fn size(&self, slot: Slot) -> i64 {
        match slot.kind {
            SlotKind::Word => i64::from(self.words[slot.index()]),
            SlotKind::Double => 2 * i64::from(self.doubles[slot.index()]),
            SlotKind::Predicate => 0,
        }
    }
}

/// Cycles until an instruction's results can be read: those of Volta's (Z. Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018), of a
/// load from global memory a hit in the first level.
fn latency(inst: &Inst) -> u64 {
    let traits = inst.op.traits();
    match (traits.memory, traits.unit, traits.latency) {
        (Some(memory), _, _) if memory.kind == MemoryOpKind::Store => 1,
        (Some(memory), _, _) if memory.space == Space::Shared => 19,
        (Some(_), _, _) => 28,
        (None, Unit::Sfu, _) | (None, _, LatencyClass::Special | LatencyClass::Div) => 18,
        (None, Unit::Fp64, _) => 8,
        (None, _, LatencyClass::Mad | LatencyClass::Mul) => 5,
        _ => 4,
    }
}

/// What waits for what.
struct Graph {
    /// Of each instruction, those that must come later, and after how many cycles.
    later: Vec<Vec<(usize, u64)>>,
    /// How many must come before it.
    before: Vec<usize>,
    /// Cycles from its issue to the end of all that waits for it.
    height: Vec<u64>,
}

impl Graph {
    fn of(body: &[Inst]) -> Self {
        let mut graph = Self {
            later: vec![Vec::new(); body.len()],
            before: vec![0; body.len()],
            height: vec![0; body.len()],
        };
        let mut written: FxHashMap<Slot, usize> = FxHashMap::default();
        let mut readers: FxHashMap<Slot, Vec<usize>> = FxHashMap::default();
        let mut accesses: Vec<usize> = Vec::new();
        for (at, inst) in body.iter().enumerate() {
            let guard = inst.guard.map(|guard| guard.predicate);
            // What a guarded instruction leaves of a register, it reads.
            let kept = inst.writes().filter(|_| inst.guard.is_some());
            for slot in inst.reads().chain(guard).chain(kept) {
                if let Some(&from) = written.get(&slot) {
                    graph.arrow(from, at, latency(&body[from]));
                }
                readers.entry(slot).or_default().push(at);
            }
            for slot in inst.writes() {
                for from in readers.remove(&slot).into_iter().flatten() {
                    graph.arrow(from, at, 0);
                }
                if let Some(from) = written.insert(slot, at) {
                    graph.arrow(from, at, 1);
                }
            }
            if inst.op.traits().memory.is_some() {
                for &from in &accesses {
                    if meet(&body[from].op, &inst.op) {
                        graph.arrow(from, at, 1);
                    }
                }
                accesses.push(at);
            }
        }
        for at in (0..body.len()).rev() {
            let later = graph.later[at].iter();
            let longest = later
                .map(|&(next, cycles)| graph.height[next] + cycles.max(1))
                .max();
            graph.height[at] = longest.unwrap_or_else(|| latency(&body[at]));
        }
        graph
    }

    fn arrow(&mut self, from: usize, to: usize, cycles: u64) {
        if from != to {
            self.later[from].push((to, cycles));
            self.before[to] += 1;
        }
    }
}

/// Whether two accesses must keep their order: one of them stores, and they may reach the same place.
fn meet(a: &Op, b: &Op) -> bool {
    let (a, b) = match (a, b) {
        (Op::Load(_), Op::Load(_)) => return false,
        (Op::Load(a) | Op::Store(a), Op::Load(b) | Op::Store(b)) => (a.space, b.space),
        _ => return true,
    };
    a == b || a == Space::Generic || b == Space::Generic
}

/// A new order of the instructions of a stretch.
fn ordered(body: &[Inst], registers: &Registers) -> Vec<usize> {
    let graph = Graph::of(body);
    let mut pressure = Pressure::of(body, registers);
    let room = pressure.most_in_order(body) + ROOM;
    let mut before = graph.before.clone();
    let mut earliest = vec![0u64; body.len()];
    let mut ready: Vec<usize> = (0..body.len()).filter(|&at| before[at] == 0).collect();
    let mut order = Vec::with_capacity(body.len());
    let mut now = 0u64;
    while !ready.is_empty() {
        // What fits; of that what can go first, and of that what most waits for. If nothing fits, as the program has it.
        let full = |at: usize| pressure.now + pressure.change(body, at) > room;
        let rank = |at: usize| match full(at) {
            true => (true, 0, 0, at),
            false => (
                false,
                earliest[at].saturating_sub(now),
                u64::MAX - graph.height[at],
                at,
            ),
        };
        let best = (0..ready.len()).min_by_key(|&place| rank(ready[place]));
        let at = ready.swap_remove(best.unwrap_or(0));
        pressure.issue(body, at);
        let issued: u64 = earliest[at].max(now);
        now = issued + 1;
        order.push(at);
        for &(next, cycles) in &graph.later[at] {
            earliest[next] = earliest[next].max(issued + cycles);
            before[next] -= 1;
            if before[next] == 0 {
                ready.push(next);
            }
        }
    }
    order
}

/// Registers that hold what is still read, as far as the stretch tells: what it does not read again stays.
struct Pressure<'r> {
    registers: &'r Registers,
    /// Reads of each value that are still to come, and whether anything else is written over it later.
    left: FxHashMap<Slot, i64>,
    now: i64,
}

impl<'r> Pressure<'r> {
    fn of(body: &[Inst], registers: &'r Registers) -> Self {
        let mut left: FxHashMap<Slot, i64> = FxHashMap::default();
        for inst in body {
            for slot in inst.reads() {
                *left.entry(slot).or_default() += 1;
            }
        }
        Self {
            registers,
            left,
            now: 0,
        }
    }

    /// What an instruction adds: its results, less what nobody reads behind it.
    fn change(&self, body: &[Inst], at: usize) -> i64 {
        let inst = &body[at];
        let added: i64 = inst.writes().map(|slot| self.registers.size(slot)).sum();
        let ended = inst.reads().filter(|slot| self.left.get(slot) == Some(&1));
        added - ended.map(|slot| self.registers.size(slot)).sum::<i64>()
    }

    fn issue(&mut self, body: &[Inst], at: usize) {
        self.now += self.change(body, at);
        for slot in body[at].reads() {
            if let Some(left) = self.left.get_mut(&slot) {
                *left -= 1;
            }
        }
    }

    /// The most of the stretch's own order.
    fn most_in_order(&self, body: &[Inst]) -> i64 {
        let mut copy = Self {
            registers: self.registers,
            left: self.left.clone(),
            now: 0,
        };
        (0..body.len())
            .map(|at| {
                copy.issue(body, at);
                copy.now
            })
            .max()
            .unwrap_or(0)
    }
}

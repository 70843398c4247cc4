//! Order within a block: what others wait for longest goes first, so that loads stand far before what reads them (P. Gibbons, S. Muchnick, "Efficient Instruction
//! Scheduling for a Pipelined Architecture", 1986).

use rustc_hash::FxHashMap;

use super::pressure::{Live, Pressure};
use crate::allocate::{Class, Liveness, Numbering};
use crate::cfg::Blocks;
use crate::program::{Entry, Inst, MatrixOp, Op, Slot};
use crate::traits::{Effect, LatencyClass, MemoryOpKind, Unit};
use crate::types::Space;

/// Registers that values made early may take beyond what the block needs in its own order. Assumed: what four loads of 128 bits fill.
const ROOM: i64 = 16;

/// Registers that an order does not go beyond where another can do with them, so that no value leaves its register. Assumed: alignment in pairs takes some of the 255.
const CEILING: i64 = 240;

/// Longest block that is ordered: the search looks at all instructions that could come next.
const LONGEST: usize = 4096;

/// Reorders every stretch of a block that nothing divides.
pub(super) fn run(entry: &mut Entry) {
    let blocks = Blocks::of(&entry.code);
    let liveness = Liveness::of(entry, &blocks, Numbering::of(entry, Class::General));
    let mut order: Vec<usize> = (0..entry.code.len()).collect();
    for block in 0..blocks.starts.len() {
        let mut live = Live::at_end(entry, &liveness, block);
        let range = blocks.range(block, entry.code.len());
        let mut end = range.end;
        while end > range.start {
            let last = end - usize::from(divides(&entry.code[end - 1]));
            let body = entry.code[range.start..last].iter().rposition(divides);
            let start = body.map_or(range.start, |at| range.start + at + 1);
            entry.code[last..end]
                .iter()
                .for_each(|inst| live.step_back(inst));
            let behind = live.clone();
            let body = &entry.code[start..last];
            body.iter().rev().for_each(|inst| live.step_back(inst));
            if (3..=LONGEST).contains(&body.len()) {
                let ordered = ordered(body, Pressure::of(body, live.registers, &behind));
                for (place, at) in ordered.into_iter().enumerate() {
                    order[start + place] = start + at;
                }
            }
            end = start;
        }
    }
    entry.code = order.into_iter().map(|at| entry.code[at].clone()).collect();
}

/// Whether nothing may move over an instruction. What lanes exchange they hand over in registers, which is no order of memory (PTX ISA 8.7, section 9.7.9.6).
fn divides(inst: &Inst) -> bool {
    let moves = matches!(inst.op.traits().effect, Effect::Pure | Effect::Exchanges);
    !(moves || matches!(inst.op, Op::Load(_) | Op::Store(_)) || loads_rows(&inst.op))
}

/// `ldmatrix`.
fn loads_rows(op: &Op) -> bool {
    matches!(op, Op::Matrix(matrix) if matches!(matrix.op, MatrixOp::LoadRows { .. }))
}

/// Cycles until an instruction's results can be read: those of Volta's (Z. Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018), of a
/// load from global memory a hit in the first level; of a matrix product A100's (W. Sun et al., "Dissecting Tensor Cores via Microbenchmarks", 2022). The last and that of
/// exchanges are recalled.
fn latency(inst: &Inst) -> u64 {
    let traits = inst.op.traits();
    match (traits.memory, traits.unit, traits.latency) {
        (Some(memory), _, _) if memory.kind == MemoryOpKind::Store => 1,
        (Some(memory), _, _) if memory.space == Space::Shared => 19,
        (Some(_), _, _) => 28,
        (None, Unit::Matrix, _) => 33,
        (None, _, LatencyClass::Shuffle) => 22,
        (None, Unit::Sfu, _) | (None, _, LatencyClass::Special | LatencyClass::Div) => 18,
        (None, Unit::Fp64, _) => 8,
        (None, _, LatencyClass::Mad | LatencyClass::Mul) => 5,
        _ => 4,
    }
}

/// Cycles for which an instruction takes its unit of a quarter of an SM, where others wait for it: special functions have four lanes there, tensor cores take a
/// product of 16 x 8 x 16 in eight, and of the 128 bytes a cycle that the SM's memory moves a quarter has 32, a byte for each lane.
fn interval(inst: &Inst) -> u64 {
    let traits = inst.op.traits();
    match (traits.unit, traits.memory) {
        (Unit::Sfu | Unit::Matrix, _) => 8,
        (Unit::Memory, Some(_)) if loads_rows(&inst.op) => 4 * inst.writes().count() as u64,
        (Unit::Memory, Some(memory)) if !matches!(memory.space, Space::Const | Space::Param) => {
            memory.bytes.max(4).into()
        }
        _ => 1,
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
        let mut ordered: Vec<(usize, Ordered)> = Vec::new();
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
            if let Some(kind) = kind(&inst.op) {
                for &(from, before) in &ordered {
                    if meet(before, kind) {
                        graph.arrow(from, at, 1);
                    }
                }
                ordered.push((at, kind));
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

/// What must keep its order among its kind.
#[derive(Clone, Copy)]
enum Ordered {
    Load(Space),
    Store(Space),
    /// Lanes meet, maybe with some that come to the same exchange on another path.
    Exchange,
}

/// What of this kind an instruction is. Products of matrices take whole warps.
fn kind(op: &Op) -> Option<Ordered> {
    match op {
        Op::Load(access) => Some(Ordered::Load(access.space)),
        Op::Store(access) => Some(Ordered::Store(access.space)),
        Op::Matrix(_) => loads_rows(op).then_some(Ordered::Load(Space::Shared)),
        _ => (op.traits().effect == Effect::Exchanges).then_some(Ordered::Exchange),
    }
}

/// Whether two of them must keep their order: one stores, and they may reach the same place, or both are exchanges.
fn meet(a: Ordered, b: Ordered) -> bool {
    use Ordered::{Exchange, Load, Store};
    match (a, b) {
        (Exchange, Exchange | Store(_)) | (Store(_), Exchange) => true,
        (Exchange, Load(_)) | (Load(_), Exchange | Load(_)) => false,
        (Store(a), Load(b) | Store(b)) | (Load(a), Store(b)) => {
            a == b || a == Space::Generic || b == Space::Generic
        }
    }
}

/// A new order of the instructions of a stretch.
fn ordered(body: &[Inst], mut pressure: Pressure<'_>) -> Vec<usize> {
    let graph = Graph::of(body);
    let room = (pressure.most_in_order(body) + ROOM).min(CEILING);
    let units: Vec<Unit> = body.iter().map(|inst| inst.op.traits().unit).collect();
    let mut free: FxHashMap<Unit, u64> = FxHashMap::default();
    let mut before = graph.before.clone();
    let mut earliest = vec![0u64; body.len()];
    let mut ready: Vec<usize> = (0..body.len()).filter(|&at| before[at] == 0).collect();
    let mut order = Vec::with_capacity(body.len());
    let mut now = 0u64;
    while !ready.is_empty() {
        // What fits; of that what can go first, and of that what most waits for. If nothing fits, what takes the fewest registers, as the program has it.
        let start = |at: usize| earliest[at].max(free.get(&units[at]).copied().unwrap_or(0));
        let rank = |at: usize| {
            let change = pressure.change(&body[at]);
            if pressure.now + change > room {
                return (true, change, 0, at);
            }
            let wait = start(at).saturating_sub(now) as i64;
            (false, wait, u64::MAX - graph.height[at], at)
        };
        let best = (0..ready.len()).min_by_key(|&place| rank(ready[place]));
        let place = best.unwrap_or(0);
        let issued = start(ready[place]).max(now);
        let at = ready.swap_remove(place);
        pressure.issue(&body[at]);
        free.insert(units[at], issued + interval(&body[at]));
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

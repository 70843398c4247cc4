//! One SM under the eyes of a probe.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use warpwatt_gpu::{CacheEvent, Course, IssueEvent, PlaceEvent, SmCache, StorageObserver};
use warpwatt_simt::trace::{
    Addresses, Flow, KernelTrace, LaneMask, MemoryOp, MemoryOpKind, Space, Step,
};

use super::caches::Contents;
use super::encoding::needed_bits;
use super::registers::{Place, Registers};
use super::shared::SharedWords;
use super::stack::Stack;
use super::words::{self, Words};
use super::{LaunchAvf, Shape};
use crate::ace::for_each_word;
use crate::{Held, Ledger, Liveness, Protection, Residency, Structure, Verdict};

/// What a probe knows of one SM.
pub(super) struct SmProbe {
    shape: Shape,
    launches: Rc<[Arc<Liveness>]>,
    gathered: Rc<RefCell<Vec<LaunchAvf>>>,
    ledger: Ledger,
    /// Launches that have begun, the last of them going on.
    begun: usize,
    start: u64,
    kernel: String,
    code: Vec<Words>,
    flows: Vec<Option<Flow>>,
    registers: u32,
    shared_bytes: u32,
    warps: Vec<Warp>,
    ctas: FxHashMap<u32, SharedWords>,
    caches: [Contents; 3],
}

/// A warp in its slot.
#[derive(Clone, Debug, Default)]
struct Warp {
    /// Its number in the launch, its CTA, and how many instructions it has issued.
    number: usize,
    cta: u32,
    issued: usize,
    placed: u64,
    registers: Registers,
    /// When the instructions in its buffer came there.
    buffer: VecDeque<u64>,
    /// Instructions behind a taken branch, and since when.
    wrong: (u64, u64),
    /// Instructions whose results are on their way.
    pending: Vec<Pending>,
    /// Instructions in collectors: needed bits of their operands, and since when.
    collecting: Vec<(u32, Held)>,
    stack: Stack,
    entries: Held,
}

/// An instruction whose results are on their way: which, the number of its fact, and where they go.
#[derive(Clone, Copy, Debug)]
struct Pending {
    inst: u32,
    fact: u32,
    place: Place,
}

impl SmProbe {
    pub fn new(
        shape: Shape,
        launches: Rc<[Arc<Liveness>]>,
        protections: Vec<Box<dyn Protection>>,
        window: u64,
    ) -> Self {
        let [l1, constant, texture] = shape.sector_bits;
        Self {
            warps: vec![Warp::default(); shape.warps as usize],
            caches: [
                Contents::new(Structure::L1Data, l1),
                Contents::new(Structure::ConstantCache, constant),
                Contents::new(Structure::TextureCache, texture),
            ],
            shape,
            launches,
            gathered: Rc::default(),
            ledger: Ledger::new(0, window, protections),
            begun: 0,
            start: 0,
            kernel: String::new(),
            code: Vec::new(),
            flows: Vec::new(),
            registers: 0,
            shared_bytes: 0,
            ctas: FxHashMap::default(),
        }
    }

    /// Where it puts what it finds.
    pub fn gathering(mut self, gathered: Rc<RefCell<Vec<LaunchAvf>>>) -> Self {
        self.gathered = gathered;
        self
    }

    fn liveness(&self) -> Arc<Liveness> {
        self.launches[(self.begun - 1) % self.launches.len()].clone()
    }

    /// The instruction leaves its buffer.
    fn leaves_buffer(&mut self, event: &IssueEvent<'_>, verdict: Verdict, has_needs: bool) {
        let (warp, inst) = (&mut self.warps[usize::from(event.warp)], event.step.inst);
        let from = warp.buffer.pop_front().unwrap_or(event.cycle);
        let all = self.shape.instruction_bits;
        let stores = self.code[inst as usize].stores;
        self.ledger.ace(Residency {
            structure: Structure::InstructionBuffer,
            warp: event.warp,
            entry: inst,
            bits: needed_bits(verdict, stores, has_needs, all),
            from,
            to: event.cycle,
        });
        let structure = Structure::InstructionBuffer;
        self.ledger
            .occupied(structure, u64::from(all), from, event.cycle);
    }

    /// The stack has so many entries from a cycle on.
    fn stack_has(&mut self, slot: u8, entries: usize, has_needs: bool, at: u64) {
        let bits = entries as u32 * self.shape.stack_entry_bits;
        let warp = &mut self.warps[usize::from(slot)];
        let structure = Structure::SimtStack;
        let before = warp.entries;
        if before.bits == bits {
            return;
        }
        warp.entries = Held { bits, since: at };
        self.ledger
            .occupied(structure, u64::from(before.bits), before.since, at);
        if has_needs {
            self.ledger.ace(Residency {
                structure,
                warp: slot,
                entry: 0,
                bits: before.bits,
                from: before.since,
                to: at,
            });
        }
    }

    /// Adds this SM's share of a launch to those of the others.
    fn gather(&mut self, end: u64) {
        let closed = self.ledger.close(end);
        let mut gathered = self.gathered.borrow_mut();
        if gathered.len() < self.begun {
            let cycles = end - self.start;
            let mut launch = LaunchAvf {
                kernel: std::mem::take(&mut self.kernel),
                cycles,
                structures: Default::default(),
                over_time: Default::default(),
            };
            for structure in Structure::ALL {
                let bits = u128::from(self.shape.bits(structure)) * u128::from(self.shape.sms);
                launch.structures[structure as usize].total = bits * u128::from(cycles);
            }
            gathered.push(launch);
        }
        let launch = &mut gathered[self.begun - 1];
        for (sum, more) in launch.structures.iter_mut().zip(closed.structures) {
            *sum += more;
        }
        launch.over_time.add(closed.over_time);
    }
}

impl StorageObserver for SmProbe {
    fn begin(&mut self, cycle: u64, trace: &KernelTrace) {
        self.begun += 1;
        self.start = cycle;
        self.ledger.start_at(cycle);
        self.kernel.clone_from(&trace.kernel);
        self.code = words::of(trace);
        self.flows = trace.code.iter().map(|inst| inst.flow).collect();
        self.registers = trace.launch.registers;
        self.shared_bytes = trace.launch.shared_bytes;
    }

    fn placed(&mut self, event: PlaceEvent) {
        let liveness = self.liveness();
        let warps = liveness.warps_per_cta();
        let bytes = self.shared_bytes;
        let cta = self.ctas.entry(event.cta);
        let cta = cta.or_insert_with(|| SharedWords::new(bytes, warps as u32, event.cycle));
        let number = event.cta as usize * warps + cta.placed as usize;
        cta.placed += 1;
        let since = event.cycle;
        let needed = liveness.at_start(number);
        self.warps[usize::from(event.warp)] = Warp {
            number,
            cta: event.cta,
            placed: event.cycle,
            registers: Registers::new(event.warp, liveness.words(), needed, since),
            ..Warp::default()
        };
    }

    fn buffered(&mut self, cycle: u64, warp: u8, right: u8, wrong: u8) {
        let warp = &mut self.warps[usize::from(warp)];
        warp.buffer.extend((0..right).map(|_| cycle));
        if wrong > 0 {
            warp.wrong = (u64::from(wrong), cycle);
        }
    }

    fn flushed(&mut self, cycle: u64, warp: u8) {
        let (count, since) = std::mem::take(&mut self.warps[usize::from(warp)].wrong);
        let bits = count * u64::from(self.shape.instruction_bits);
        let structure = Structure::InstructionBuffer;
        self.ledger.occupied(structure, bits, since, cycle);
    }

    fn issued(&mut self, event: &IssueEvent<'_>, course: &Course, read: u64) {
        let liveness = self.liveness();
        let slot = usize::from(event.warp);
        let (number, issued) = (self.warps[slot].number, self.warps[slot].issued);
        self.warps[slot].issued += 1;
        let fact_number = liveness.numbers(number)[issued];
        let fact = liveness.fact(fact_number);
        let has_needs = liveness.has_needs();
        self.leaves_buffer(event, fact.verdict, has_needs);
        let inst = event.step.inst;
        let warp = &mut self.warps[slot];
        let words = &self.code[inst as usize];
        for (&word, (&last, &needed)) in words.read.iter().zip(fact.last.iter().zip(&fact.read)) {
            if last > 0 {
                warp.registers.forget(word, last, read, &mut self.ledger);
            }
            if needed > 0 {
                self.ledger.read(event.warp, u32::from(word), read);
            }
        }
        for (word, &rest) in (0..).zip(&fact.rest) {
            if rest > 0 {
                warp.registers.forget(word, rest, read, &mut self.ledger);
            }
        }
        if words.has_results {
            warp.pending.push(Pending {
                inst,
                fact: fact_number,
                place: Place::of(course, words.written.len()),
            });
        }
        let operands: u32 = fact.read.iter().sum();
        if read > event.cycle {
            let bits = operands.min(self.shape.collector_bits);
            let since = event.cycle;
            warp.collecting.push((inst, Held { bits, since }));
        }
        let before = warp.stack.at(event.step);
        let behind = warp
            .stack
            .behind(event.step, words.split, self.flows[inst as usize]);
        self.stack_has(event.warp, before, has_needs, event.cycle);
        self.stack_has(event.warp, behind, has_needs, event.cycle);
    }

    fn entered(&mut self, cycle: u64, warp: u8, inst: u32) {
        let slot = &mut self.warps[usize::from(warp)];
        let Some(place) = slot.collecting.iter().position(|(it, _)| *it == inst) else {
            return;
        };
        let (_, held) = slot.collecting.remove(place);
        let structure = Structure::OperandCollector;
        self.ledger.ace(Residency {
            structure,
            warp,
            entry: inst,
            bits: held.bits,
            from: held.since,
            to: cycle,
        });
        let all = u64::from(self.shape.collector_bits);
        self.ledger.occupied(structure, all, held.since, cycle);
    }

    fn written(&mut self, cycle: u64, warp: u8, inst: u32) {
        let liveness = self.liveness();
        let warp = &mut self.warps[usize::from(warp)];
        let Some(place) = warp.pending.iter().position(|it| it.inst == inst) else {
            return;
        };
        let Pending { fact, place, .. } = warp.pending.remove(place);
        let written = &self.code[inst as usize].written;
        for (&word, &more) in written.iter().zip(&liveness.fact(fact).written) {
            let ledger = &mut self.ledger;
            warp.registers.write(word, more, place, cycle, ledger);
        }
    }

    fn accesses_shared(
        &mut self,
        cycle: u64,
        warp: u8,
        inst: u32,
        (addresses, executed): (Addresses<'_>, LaneMask),
    ) {
        let liveness = self.liveness();
        let slot = &self.warps[usize::from(warp)];
        let Some(cta) = self.ctas.get_mut(&slot.cta) else {
            return;
        };
        let pending = slot.pending.iter().find(|it| it.inst == inst);
        // What leaves no result is a store, or a reduction, which reads as well.
        let needed = match pending {
            Some(pending) => liveness.fact(pending.fact).lanes,
            None if liveness.has_needs() => LaneMask::MAX,
            None => 0,
        };
        let words = &self.code[inst as usize];
        let op = MemoryOp {
            space: if words.generic {
                Space::Generic
            } else {
                Space::Shared
            },
            kind: MemoryOpKind::Load,
            bytes: words.bytes,
        };
        let step = Step {
            inst,
            active: executed,
            executed,
            addresses: Some(addresses),
            values: None,
        };
        if words.loads {
            for_each_word(op, &step, needed, |_, _, word, _| cta.loads(word, cycle));
        }
        if words.writes_memory {
            let ledger = &mut self.ledger;
            for_each_word(op, &step, LaneMask::MAX, |_, _, word, bytes| {
                cta.stores(word, bytes, cycle, ledger);
            });
        }
    }

    fn cached(&mut self, cycle: u64, cache: SmCache, event: CacheEvent) {
        let liveness = self.liveness();
        let contents = &mut self.caches[cache as usize];
        match event {
            CacheEvent::Evicted { place } => contents.evicted(place, cycle, &mut self.ledger),
            CacheEvent::Filled { place, sectors } => contents.filled(place, sectors, cycle),
            CacheEvent::Read {
                place,
                sectors,
                warp,
                inst,
            } => {
                let pending = &self.warps[usize::from(warp)].pending;
                let found = pending.iter().find(|it| it.inst == inst);
                let needed = found.is_none_or(|it| liveness.fact(it.fact).lanes != 0);
                if needed && liveness.has_needs() {
                    contents.read(place, sectors, cycle);
                }
            }
        }
    }

    fn retired(&mut self, cycle: u64, warp: u8) {
        let has_needs = self.liveness().has_needs();
        self.flushed(cycle, warp);
        self.stack_has(warp, 0, has_needs, cycle);
        let slot = &mut self.warps[usize::from(warp)];
        slot.registers.end(cycle, &mut self.ledger);
        let (placed, number) = (slot.placed, slot.cta);
        let bits = 32 * u64::from(self.registers) * u64::from(self.shape.warp_width);
        let structure = Structure::RegisterFile;
        self.ledger.occupied(structure, bits, placed, cycle);
        let Some(cta) = self.ctas.get_mut(&number) else {
            return;
        };
        cta.left -= 1;
        if cta.left == 0 {
            cta.end(cycle, &mut self.ledger);
            self.ctas.remove(&number);
        }
    }

    fn end(&mut self, cycle: u64) {
        for cache in &mut self.caches {
            cache.clear(cycle, &mut self.ledger);
        }
        self.gather(cycle);
    }
}

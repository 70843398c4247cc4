//! One SM under the eyes of a probe.

use rustc_hash::FxHashMap;
use warpwatt_gpu::{
    CacheEvent, CodeEvent, Fetched, IssueEvent, IssuePlan, PlaceEvent, SmCache, StorageObserver,
};
use warpwatt_simt::trace::{Addresses, Flow, KernelTrace, LaneMask, Step};

use super::added::Added;
use super::caches::Contents;
use super::code::CodeCache;
use super::encoding::{FIELDS, WHOLE, bits_of, needed, widths};
use super::launches::Launches;
use super::registers::{Place, Registers};
use super::shared::SharedWords;
use super::warp::{Pending, Warp};
use super::words::{self, Words};
use crate::{Journal, Ledger, Structure, Verdict};

/// What a probe knows of one SM.
pub(super) struct SmProbe {
    launches: Launches,
    ledger: Ledger,
    code: Vec<Words>,
    flows: Vec<Option<Flow>>,
    registers: u32,
    shared_bytes: u32,
    warps: Vec<Warp>,
    ctas: FxHashMap<u32, SharedWords>,
    caches: [Contents; 3],
    code_cache: CodeCache,
    journal: Journal,
    added: Added,
    /// Values that go to no bank lie in a scalar register file.
    has_scalars: bool,
    /// A filter in front of the I-cache keeps what it read, for whom nobody says.
    filtered: bool,
    widths: [u32; FIELDS],
}

impl SmProbe {
    /// Of an SM with a fetch filter, or without.
    pub fn new(launches: Launches, ledger: Ledger, filtered: bool) -> Self {
        let shape = &launches.shape;
        let [l1, constant, texture] = shape.sector_bits;
        Self {
            warps: vec![Warp::default(); shape.warps as usize],
            caches: [
                Contents::new(Structure::L1Data, l1),
                Contents::new(Structure::ConstantCache, constant),
                Contents::new(Structure::TextureCache, texture),
            ],
            code_cache: CodeCache::new(shape.instruction_bits / 8, shape.code_line_bytes),
            journal: Journal::default(),
            added: Added::default(),
            has_scalars: shape.measures(Structure::ScalarRegisterFile),
            filtered,
            widths: widths(shape.instruction_bits),
            launches,
            ledger,
            code: Vec::new(),
            flows: Vec::new(),
            registers: 0,
            shared_bytes: 0,
            ctas: FxHashMap::default(),
        }
    }

    /// What techniques say of storage that they add.
    pub fn hearing(mut self, journal: Journal) -> Self {
        self.journal = journal;
        self
    }

    /// Goes through what techniques have noted; `reader` is whether the instruction that issues is needed.
    fn hear(&mut self, reader: bool) {
        let notes = self.journal.take();
        if notes.is_empty() {
            return;
        }
        let has_needs = self.launches.needs().has_needs();
        for note in &notes {
            self.added.noted(note, reader, has_needs, &mut self.ledger);
        }
    }

    /// What was fetched last for a warp is read from the I-cache.
    fn read_code(&mut self, cycle: u64, warp: u8) {
        for &(address, fields) in &self.warps[usize::from(warp)].group {
            self.code_cache
                .read(address, fields, cycle, &mut self.ledger);
        }
    }

    /// The entries of a warp's stack from a cycle on.
    fn stack_has(&mut self, slot: u8, entries: usize, has_needs: bool, at: u64) {
        let bits = entries as u32 * self.launches.shape.stack_entry_bits;
        let warp = &mut self.warps[usize::from(slot)];
        warp.stack_has(bits, has_needs, at, &mut self.ledger);
    }
}

impl StorageObserver for SmProbe {
    fn begin(&mut self, cycle: u64, trace: &KernelTrace) {
        self.launches.begin(cycle, &trace.kernel);
        self.ledger.start_at(cycle);
        self.code = words::of(trace);
        self.flows = trace.code.iter().map(|inst| inst.flow).collect();
        self.registers = trace.launch.registers;
        self.shared_bytes = trace.launch.shared_bytes;
    }

    fn placed(&mut self, event: PlaceEvent) {
        let liveness = self.launches.needs();
        let warps = liveness.warps_per_cta();
        let bytes = self.shared_bytes;
        let cta = self.ctas.entry(event.cta);
        let cta = cta.or_insert_with(|| SharedWords::new(bytes, warps as u32, event.cycle));
        let number = event.cta as usize * warps + cta.placed as usize;
        cta.placed += 1;
        let (slot, since) = (event.warp, event.cycle);
        let needed = liveness.at_start(number);
        let registers = Registers::new(slot, liveness.words(), needed, since);
        self.warps[usize::from(slot)] = Warp::new(slot, (number, event.cta), since, registers);
    }

    /// What an instruction that is fetched will need is known from its place in the warp's trace.
    fn fetched(&mut self, cycle: u64, event: Fetched) {
        let liveness = self.launches.needs();
        let has_needs = liveness.has_needs();
        let warp = &mut self.warps[usize::from(event.warp)];
        let numbers = liveness.numbers(warp.number);
        let of = |number: usize, inst: u32| {
            let fact = liveness.fact(numbers[number]);
            needed(fact.verdict, self.code[inst as usize].stores, has_needs)
        };
        // Metadata say which registers are free; and what a filter keeps may be for whoever comes.
        let metadata = if has_needs { WHOLE } else { 0 };
        let all = if self.filtered { metadata } else { 0 };
        let bytes = self.launches.shape.instruction_bits / 8;
        warp.fetches(event, u64::from(bytes), of, [metadata, all]);
        if event.read {
            self.read_code(cycle, event.warp);
        }
    }

    fn code_cached(&mut self, cycle: u64, event: CodeEvent) {
        let ledger = &mut self.ledger;
        match event {
            CodeEvent::Evicted { line } => self.code_cache.evicted(line, cycle, ledger),
            CodeEvent::Filled { line } => self.code_cache.filled(line, cycle),
            CodeEvent::Read { warp } => self.read_code(cycle, warp),
        }
    }

    fn buffered(&mut self, cycle: u64, warp: u8, right: u8, wrong: u8) {
        let warp = &mut self.warps[usize::from(warp)];
        warp.buffer.extend((0..right).map(|_| cycle));
        if wrong > 0 {
            warp.wrong = (u64::from(wrong), cycle);
        }
    }

    fn flushed(&mut self, cycle: u64, warp: u8) {
        let bits = self.launches.shape.instruction_bits;
        self.warps[usize::from(warp)].flush(bits, cycle, &mut self.ledger);
    }

    fn issued(&mut self, event: &IssueEvent<'_>, plan: &IssuePlan, read: u64) {
        let liveness = self.launches.needs();
        let has_needs = liveness.has_needs();
        let inst = event.step.inst;
        let words = &self.code[inst as usize];
        let warp = &mut self.warps[usize::from(event.warp)];
        let number = liveness.numbers(warp.number)[warp.issued];
        warp.issued += 1;
        let fact = liveness.fact(number);
        let fields = needed(fact.verdict, words.stores, has_needs);
        let bits = (
            bits_of(fields, &self.widths),
            self.launches.shape.instruction_bits,
        );
        warp.leaves_buffer(inst, bits, event.cycle, &mut self.ledger);
        let ledger = &mut self.ledger;
        warp.registers.read(&words.read, fact, read, ledger);
        if words.has_results {
            warp.pending.push(Pending {
                inst,
                fact: number,
                place: Place::of(plan, words.written.len(), self.has_scalars),
            });
        }
        if read > event.cycle {
            let operands: u32 = fact.read.iter().sum();
            let bits = operands.min(self.launches.shape.collector_bits);
            warp.collects(inst, bits, event.cycle);
        }
        let before = warp.stack.at(event.step);
        let behind = warp
            .stack
            .behind(event.step, words.split, self.flows[inst as usize]);
        self.stack_has(event.warp, before, has_needs, event.cycle);
        self.stack_has(event.warp, behind, has_needs, event.cycle);
        self.hear(fact.verdict == Verdict::Needed);
    }

    fn entered(&mut self, cycle: u64, warp: u8, inst: u32) {
        let all = self.launches.shape.collector_bits;
        self.warps[usize::from(warp)].leaves_collector(inst, all, cycle, &mut self.ledger);
    }

    fn written(&mut self, cycle: u64, warp: u8, inst: u32) {
        let warp = &mut self.warps[usize::from(warp)];
        let Some(Pending { fact, place, .. }) = warp.arrives(inst) else {
            return;
        };
        let liveness = self.launches.needs();
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
        (addresses, executed): (&Addresses, LaneMask),
    ) {
        let warp = &self.warps[usize::from(warp)];
        let Some(cta) = self.ctas.get_mut(&warp.cta) else {
            return;
        };
        let liveness = self.launches.needs();
        // What leaves no result is a store, or a reduction, which reads as well.
        let needed = match warp.awaits(inst) {
            Some(pending) => liveness.fact(pending.fact).lanes,
            None if liveness.has_needs() => LaneMask::MAX,
            None => 0,
        };
        let words = &self.code[inst as usize];
        let step = Step {
            inst,
            active: executed,
            executed,
            addresses: Some(addresses.clone()),
            values: None,
        };
        cta.accessed(cycle, words, &step, needed, &mut self.ledger);
    }

    fn cached(&mut self, cycle: u64, cache: SmCache, event: CacheEvent) {
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
                let liveness = self.launches.needs();
                let reader = self.warps[usize::from(warp)].awaits(inst);
                let needed = reader.is_none_or(|it| liveness.fact(it.fact).lanes != 0);
                if needed && liveness.has_needs() {
                    contents.read(place, sectors, cycle, &mut self.ledger);
                }
            }
        }
    }

    fn retired(&mut self, cycle: u64, warp: u8) {
        let has_needs = self.launches.needs().has_needs();
        self.hear(false);
        self.flushed(cycle, warp);
        self.stack_has(warp, 0, has_needs, cycle);
        let slot = &mut self.warps[usize::from(warp)];
        slot.registers.end(cycle, &mut self.ledger);
        let (placed, number) = (slot.placed, slot.cta);
        let bits = 32 * u64::from(self.registers) * u64::from(self.launches.shape.warp_width);
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
        self.code_cache.settle(cycle, &mut self.ledger);
        self.hear(false);
        self.added.settle(cycle, &mut self.ledger);
        self.launches.gather(cycle, self.ledger.close(cycle));
    }
}

//! Detection, storage and execution of uniform vectors in one SM.

use warpwatt_activity::Activity;
use warpwatt_gpu::trace::{KernelTrace, Step};
use warpwatt_gpu::{Extent, IssueEvent, IssueHook, IssuePlan, PlaceEvent};
use warpwatt_reliability::{Cover, Outcome, Protection, Residency, Structure as Storage};

use super::code::{Code, Kind, Operands};
use super::copies::Copies;
use super::counts::Counts;
use super::live::{Held, LiveCycles, Lives, Written};
use super::notes::Notes;
use super::reuse::{Found, ReuseBuffer, Use};
use super::{Convert, Design, Mode, UniformVector};

/// What one SM knows.
pub(super) struct Pipeline {
    settings: UniformVector,
    instruction_bytes: u64,
    code: Code,
    warps: Vec<WarpState>,
    /// Scalar registers that are free; `None` if there are always some.
    free: Option<u32>,
    reuse: ReuseBuffer,
    counts: Counts,
    live: LiveCycles,
    /// What was held twice and since when, if somebody follows needed bits.
    copies: Option<Copies>,
    /// Where it notes which registers scalar ones stand for, if somebody follows that.
    notes: Option<Notes>,
}

/// What it knows of a warp.
#[derive(Clone, Debug, Default)]
struct WarpState {
    /// Which words and predicates are uniform vectors.
    tokens: Vec<bool>,
    /// Which words of them are held once, not in every lane.
    once: Vec<bool>,
    lives: Lives,
}

/// What the decode stage finds out.
#[derive(Clone, Copy, Debug)]
struct Decoded {
    /// One lane is enough.
    uniform: bool,
    /// The results are one value for all lanes.
    narrow: bool,
}

/// What becomes of an instruction.
#[derive(Clone, Copy, Debug)]
struct Chosen {
    /// Its result is in the reuse buffer.
    reused: bool,
    /// One lane does it, or none.
    converted: bool,
    /// Its results are one value for all lanes.
    uniform_results: bool,
    /// They are held once.
    held_once: bool,
}

impl Pipeline {
    pub fn new(settings: UniformVector, warps: u32, instruction_bytes: u32) -> Self {
        Self {
            instruction_bytes: u64::from(instruction_bytes),
            code: Code::default(),
            warps: vec![WarpState::default(); warps as usize],
            free: match settings.design {
                Design::Token => None,
                Design::Srf => settings.srf_entries,
            },
            reuse: ReuseBuffer::new(settings.irb_entries, settings.irb_tag_bits),
            counts: Counts::default(),
            live: LiveCycles::default(),
            copies: None,
            notes: None,
            settings,
        }
    }

    /// As it is where somebody follows needed bits.
    pub fn guarding(mut self) -> Self {
        self.copies = Some(Copies::new(self.warps.len()));
        self
    }

    /// As it is where somebody follows what the added storage holds.
    pub fn noting(mut self, notes: Notes) -> Self {
        let entry_bits = self.settings.reuse_entry_bits();
        self.reuse.noting(notes.journal.clone(), entry_bits as u32);
        if self.settings.design == Design::Srf {
            self.notes = Some(notes);
        }
        self
    }

    /// The tokens of the sources, the active mask, and room for the results decide (section 3.1).
    fn decode(&mut self, warp: usize, step: &Step) -> Decoded {
        let inst = &self.code.insts[step.inst as usize];
        let tokens = &self.warps[warp].tokens;
        let token = |name: &&u32| tokens[**name as usize];
        let all = self.code.all_lanes;
        let whole = step.active == all && (step.executed == all || step.executed == 0);
        let uniform = whole && !inst.per_lane && inst.sources.iter().all(|name| token(&name));
        let narrow = step.executed == all && (uniform || inst.is_broadcast(step));
        let fits = !narrow || self.reserve(warp, step.inst);
        self.counts.structural += u64::from(!fits);
        Decoded {
            uniform: uniform && fits,
            narrow: narrow && fits,
        }
    }

    /// Whether an instruction is converted. With `mode = "inter"` only what the reuse buffer has is: what misses it is detected as uniform and executed like any
    /// other, and so is a load from one address (section 5.1).
    fn choose(&mut self, event: &IssueEvent<'_>, decoded: Decoded) -> Chosen {
        let computes = self.code.insts[event.step.inst as usize].kind == Kind::Computation;
        let asks = decoded.uniform && computes && event.step.executed != 0;
        let reused = asks && self.settings.mode != Mode::Intra && self.reuse(event);
        let converts = self.settings.mode != Mode::Inter || reused;
        Chosen {
            reused,
            converted: decoded.uniform && converts,
            uniform_results: decoded.narrow,
            held_once: decoded.narrow && converts,
        }
    }

    /// Takes scalar registers for the results, those that they have already apart; whether there were enough.
    fn reserve(&mut self, warp: usize, inst: u32) -> bool {
        let Some(free) = &mut self.free else {
            return true;
        };
        let tokens = &self.warps[warp].tokens;
        let needed = self.code.insts[inst as usize]
            .destination_words()
            .iter()
            .filter(|word| !tokens[**word as usize])
            .count() as u32;
        let enough = *free >= needed;
        *free -= if enough { needed } else { 0 };
        enough
    }

    /// A scalar register is free again.
    fn release(&mut self, count: u32) {
        if let Some(free) = &mut self.free {
            *free += count;
        }
    }

    /// Sets or clears the tokens of the results; how many copies must be made first, because a part of the lanes is written.
    fn write(&mut self, event: &IssueEvent<'_>, chosen: Chosen) -> u32 {
        let (step, warp) = (event.step, usize::from(event.warp));
        if step.executed == 0 {
            return 0;
        }
        let partial = step.executed != self.code.all_lanes;
        let inst = &self.code.insts[step.inst as usize];
        let state = &mut self.warps[warp];
        let now = chosen.uniform_results;
        let (mut cleared, mut spread, mut by_the_paper) = (0, 0, 0);
        for (place, &name) in inst.destinations.iter().enumerate() {
            let before = std::mem::replace(&mut state.tokens[name as usize], now);
            let once = std::mem::replace(&mut state.once[name as usize], chosen.held_once);
            if place >= inst.destination_words {
                continue;
            }
            cleared += u32::from(before && !now);
            if once && !now {
                spread += 1;
                by_the_paper += u32::from(inst.sources.contains(&name));
            }
            if let Some(notes) = &self.notes
                && before != now
            {
                notes.renamed(event.cycle, warp, name, now);
            }
        }
        if self.settings.reliability {
            let held = match (chosen.held_once, inst.kind) {
                (false, _) => Held::Once,
                (true, Kind::Memory) => Held::TwiceLoaded,
                (true, _) => Held::Twice,
            };
            let words = inst.destination_words().iter();
            for (&word, &half) in words.zip(&inst.destination_halves) {
                let value = Written {
                    cycle: event.cycle,
                    held,
                    half,
                };
                state.lives.write(word, value, &mut self.live);
                if let Some(copies) = &mut self.copies {
                    copies.write(event.warp, word, event.cycle, chosen.held_once);
                }
            }
        }
        let returns = inst.returns;
        self.release(cleared);
        if returns {
            self.forget(warp, event.cycle);
        }
        if !partial {
            return 0;
        }
        self.counts.copies += u64::from(spread);
        self.counts.copies_of_sources += u64::from(by_the_paper);
        let guarded = step.active == self.code.all_lanes;
        self.counts.copies_guarded += if guarded { u64::from(by_the_paper) } else { 0 };
        spread
    }

    /// Nothing is known of a warp's registers any longer.
    fn forget(&mut self, warp: usize, cycle: u64) {
        let predicates_from = self.code.predicates as usize;
        let tokens = &mut self.warps[warp].tokens;
        let mut held = 0;
        let words = (0..).zip(tokens.iter()).take(predicates_from);
        for (word, _) in words.filter(|(_, token)| **token) {
            held += 1;
            if let Some(notes) = &self.notes {
                notes.renamed(cycle, warp, word, false);
            }
        }
        tokens.fill(false);
        self.warps[warp].once.fill(false);
        self.release(held);
    }

    /// Whether the reuse buffer has the result of a uniform computation.
    fn reuse(&mut self, event: &IssueEvent<'_>) -> bool {
        let inst = &self.code.insts[event.step.inst as usize];
        let Some(values) = event.step.values else {
            return false;
        };
        if !self.settings.fits_entry(inst) {
            self.counts.too_wide += 1;
            return false;
        }
        let wanted = Use {
            number: event.pc / self.instruction_bytes,
            values,
            result_bits: (32 * inst.destination_words as u32).max(1),
        };
        match self.reuse.look_up(event.cycle, wanted) {
            Found::Result => true,
            Found::Other | Found::Nothing => {
                let later = if self.settings.irb_early {
                    1
                } else {
                    event.latency
                };
                self.reuse.update(event.cycle + later, wanted);
                false
            }
        }
    }

    /// Where results go to.
    fn store(&mut self, chosen: Chosen, inst: u32, plan: &mut IssuePlan) {
        let inst = &self.code.insts[inst as usize];
        let words = |when: bool| {
            if when {
                inst.destination_words as u32
            } else {
                0
            }
        };
        let results = words(chosen.held_once);
        self.counts.broadcasts += u64::from(plan.copies);
        plan.writes -= results.min(plan.writes);
        match self.settings.design {
            Design::Token => plan.narrow_writes += results,
            Design::Srf => {
                self.counts.srf_mapped += u64::from(words(chosen.uniform_results));
                self.counts.srf_writes += u64::from(results);
            }
        }
        if self.settings.reliability {
            plan.narrow_writes += results;
            self.counts.held_twice += u64::from(results);
        }
    }

    /// Where operands come from. Words that are held once are read there, and sent to all lanes if all of them execute; a converted instruction reads one lane of
    /// the others.
    fn operands(&mut self, warp: usize, chosen: Chosen, inst: u32, plan: &mut IssuePlan) {
        let inst = &self.code.insts[inst as usize];
        let words = &inst.sources[..inst.source_words];
        let once = |word: u32| self.warps[warp].once[word as usize];
        let places = |which: &dyn Fn(u32) -> bool| {
            let words = words.iter().take(64).enumerate();
            words.fold(0, |mask, (place, &word)| {
                mask | u64::from(which(word)) << place
            })
        };
        let held = words.iter().filter(|word| once(**word)).count() as u64;
        let narrow = places(&|word| once(word) || chosen.converted);
        self.counts.broadcasts += if chosen.converted { 0 } else { held };
        self.counts.held_reads += held;
        plan.narrow_reads |= narrow;
        if self.settings.design == Design::Srf {
            plan.reads &= !places(&once);
            self.counts.srf_reads += held;
        }
    }

    /// How many lanes execute.
    fn execute(
        &mut self,
        event: &IssueEvent<'_>,
        decoded: Decoded,
        chosen: Chosen,
        plan: &mut IssuePlan,
    ) {
        let step = event.step;
        let lanes = if self.settings.reliability { 2 } else { 1 };
        let extent = if chosen.reused {
            Extent::Skipped
        } else if chosen.converted {
            Extent::OnePass { lanes }
        } else {
            Extent::Warp
        };
        if self.code.insts[step.inst as usize].kind != Kind::Computation {
            if self.settings.convert == Convert::All {
                plan.extent = extent;
            }
            return;
        }
        self.counts.computed_lanes += u64::from(step.executed.count_ones());
        if !decoded.uniform {
            self.counts.missed += u64::from(step.values.is_some());
        } else if step.executed != 0 {
            self.counts.uniform += 1;
            self.counts.compared += u64::from(chosen.converted && !chosen.reused);
        }
        plan.extent = extent;
    }

    fn live_reads(&mut self, event: &IssueEvent<'_>) {
        if self.settings.reliability && event.step.executed != 0 {
            let inst = &self.code.insts[event.step.inst as usize];
            let lives = &mut self.warps[usize::from(event.warp)].lives;
            for &word in &inst.sources[..inst.source_words] {
                lives.read(word, event.cycle);
            }
        }
    }
}

impl IssueHook for Pipeline {
    fn begin(&mut self, trace: &KernelTrace) {
        self.code = Code::new(trace);
    }

    fn placed(&mut self, event: PlaceEvent) {
        let state = &mut self.warps[usize::from(event.warp)];
        state.tokens.clear();
        state.tokens.resize(self.code.names, false);
        state.once.clear();
        state.once.resize(self.code.names, false);
        if let Some(copies) = &mut self.copies {
            copies.start(event.warp, self.code.predicates as usize);
        }
        if self.settings.reliability {
            state.lives.start(self.code.predicates as usize);
        }
    }

    fn issued(&mut self, event: &IssueEvent<'_>, plan: &mut IssuePlan) {
        let (step, warp) = (event.step, usize::from(event.warp));
        let inst: &Operands = &self.code.insts[step.inst as usize];
        if inst.kind == Kind::Barrier {
            return;
        }
        self.counts.decoded += 1;
        self.counts.table_writes += u64::from(!inst.destinations.is_empty());
        let decoded = self.decode(warp, step);
        self.live_reads(event);
        let chosen = self.choose(event, decoded);
        self.operands(warp, chosen, step.inst, plan);
        plan.copies += self.write(event, chosen);
        self.store(chosen, step.inst, plan);
        self.execute(event, decoded, chosen, plan);
    }

    fn retired(&mut self, cycle: u64, warp: u8) {
        self.forget(usize::from(warp), cycle);
        self.warps[usize::from(warp)].lives.end(&mut self.live);
    }

    fn report(&self, activity: &mut Activity) {
        self.counts.report(&self.settings, activity);
        if self.settings.mode != Mode::Intra {
            self.counts
                .report_reuse(&self.reuse.counts, &self.settings, activity);
        }
        if self.settings.reliability {
            activity.add("uniform_vector_live_cycles", self.live.all);
            let computed = self.live.duplicate;
            let loaded = self.live.duplicate_loaded;
            activity.add("uniform_vector_duplicate_cycles", computed + loaded);
            activity.add("uniform_vector_duplicate_loaded_cycles", loaded);
            let (halves, twice) = (self.live.halves, self.live.duplicate_halves);
            activity.add("uniform_vector_live_half_cycles", halves);
            activity.add("uniform_vector_duplicate_half_cycles", twice);
        }
    }
}

impl Protection for Pipeline {
    fn cover(&mut self, residency: &Residency, covers: &mut Vec<Cover>) {
        let (warp, word) = (residency.warp, residency.entry);
        match residency.structure {
            Storage::RegisterFile | Storage::ScalarRegisterFile => {}
            // What its parity bit says is wrong is computed again.
            Storage::InstructionReuseBuffer => {
                return covers.push(Cover::always(Outcome::Corrected));
            }
            _ => return,
        }
        let copies = self.copies.as_mut();
        if copies.is_some_and(|it| it.twice(warp, word, residency.from)) {
            covers.push(Cover::always(if self.settings.parity {
                Outcome::Corrected
            } else {
                Outcome::Detected
            }));
        }
    }
}

impl UniformVector {
    /// Whether an entry of the reuse buffer has room for an instruction's values: three sources and one result.
    fn fits_entry(&self, inst: &Operands) -> bool {
        let [sources, results] = if self.irb_value_bits == 64 {
            [inst.source_registers, inst.destination_registers]
        } else {
            [inst.sources.len(), inst.destinations.len()]
        };
        sources <= 3 && results <= 1
    }
}

impl Operands {
    fn destination_words(&self) -> &[u32] {
        &self.destinations[..self.destination_words]
    }
}

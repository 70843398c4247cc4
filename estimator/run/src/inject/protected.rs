//! Flips under techniques that correct them: which are found, what is left of the others, and what corrections cost.
//!
//! The kernel is timed with the technique at work, and flips are drawn from that run. It is timed once more with the ledger of needed bits, which asks the
//! technique about every value that somebody needs: what it says of the cycle of a flip is what becomes of it. What is corrected is decoded by the code that the
//! technique has; what nobody finds is executed as without it. Of some that are corrected the run is timed again with the correction in it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use warpwatt_circuit::logic::{Codec, Decoded};
use warpwatt_gpu::{Control, GpuError, GpuSpec, Hooks, Run, simulate_under};
use warpwatt_reliability::inject::{
    Class, Fate, Held, Holder, Random, Recorder, Sites, Tally, Target, Timeline, registers,
};
use warpwatt_reliability::{
    Cover, Journals, Outcome, Probe, Protection, ProtectionFactory, Residency, Structure,
};
use warpwatt_techniques::Stack;
use warpwatt_techniques::recovery::{Recovery, Struck, attach_recovery};

use super::plan::warp_of;
use super::{Draw, Golden, Plan};
use crate::reliability::{WINDOW, needs};

/// Corrections whose run is timed, at the most: they are spread over those that were drawn.
pub const RETIMED: usize = 16;

/// A run with a technique at work.
pub struct Protected<'g> {
    golden: &'g Golden<'g>,
    spec: GpuSpec,
    stack: &'g Stack,
    /// What was counted, without a flip.
    pub run: Run,
    timeline: Timeline,
}

/// What becomes of the flips that were drawn.
pub struct Drawn {
    /// Bits of the structure, and flips.
    pub bits: u64,
    /// Bits times cycles.
    pub population: u128,
    /// Flips whose bit somebody holds and reads, and that the technique finds and cannot correct.
    pub detected: u64,
    /// Of the corrected ones, those that the code took for something else.
    pub miscorrected: u64,
    /// What is left to execute; flips that nobody holds or reads are known.
    pub left: Plan,
    /// Flips that the technique corrects.
    corrected: Vec<Held>,
}

impl Drawn {
    /// How many flips the technique corrects.
    pub fn corrected(&self) -> u64 {
        self.corrected.len() as u64
    }
}

/// What one correction costs.
#[derive(Clone, Debug)]
pub struct Corrected {
    /// Cycles of the run above those without a flip; less than zero if another order of things is faster.
    pub cycles: i64,
    /// What was counted in that run.
    pub run: Run,
}

/// Where a bit lies that somebody asks about: SM, warp slot, and register or static instruction.
type Place = (u32, u8, u32);

/// Cycles that are asked about, by place, and the best that covers say of each.
struct Questions {
    structure: Structure,
    asked: BTreeMap<Place, BTreeMap<u64, Outcome>>,
}

/// Any word of shared memory, at any time: what codes are on is not told apart.
const ANYWHERE: Place = (0, 0, 0);

impl<'g> Protected<'g> {
    /// Times the run with `stack` at work.
    ///
    /// # Errors
    /// It cannot be timed.
    pub fn new(golden: &'g Golden<'g>, spec: &GpuSpec, stack: &'g Stack) -> Result<Self, GpuError> {
        let mut spec = spec.clone();
        stack.reshape(&mut spec);
        let recorder = Recorder::new(&spec);
        let mut hooks = Hooks::default();
        stack.attach(&spec, &mut hooks);
        hooks.storage.extend(recorder.hooks().storage);
        let run = simulate_under(&spec, &golden.traces, hooks, Control::default())?;
        Ok(Self {
            golden,
            timeline: recorder.finish(),
            spec,
            stack,
            run,
        })
    }

    /// How a flip in a structure is corrected, if the technique does that.
    pub fn recovery(&self, target: Target) -> Option<Recovery> {
        self.stack.recovery(&self.spec, target.structure()?)
    }

    /// The GPU as the technique has it.
    pub fn spec(&self) -> &GpuSpec {
        &self.spec
    }

    /// Draws so many flips of a structure and finds out what becomes of each.
    ///
    /// # Errors
    /// The run with the ledger cannot be timed.
    pub fn draw(&self, target: Target, samples: u64, seed: u64) -> Result<Drawn, GpuError> {
        let sites = Sites::new(&self.spec, &self.run, &self.timeline, target);
        let (mut random, population) = (Random::new(seed), sites.population());
        let mut known = Tally::default();
        let mut held = Vec::new();
        for flip in 0..samples {
            match sites.holder(random.site(flip, population)) {
                Some(holder) => held.push(holder),
                None => known.add(Class::Unoccupied, 1),
            }
        }
        held.sort_unstable_by_key(|it| (it.launch, it.cta, warp_of(it), it.cycle));
        let outcomes = match target.structure() {
            Some(structure) => self.outcomes(structure, &held)?,
            None => vec![Outcome::Silent; held.len()],
        };
        let recovery = self.recovery(target);
        let mut draw = Draw::new(self.golden, &self.timeline, &sites);
        let mut drawn = Drawn {
            bits: sites.bits(),
            population,
            detected: 0,
            miscorrected: 0,
            left: Plan::default(),
            corrected: Vec::new(),
        };
        let mut strikes = BTreeMap::new();
        for (held, outcome) in held.iter().zip(outcomes) {
            let strike = match draw.strike(held) {
                Ok(strike) => strike,
                Err(class) => {
                    known.add(class, 1);
                    continue;
                }
            };
            match (outcome, recovery) {
                (Outcome::Silent, _) => *strikes.entry(strike).or_default() += 1,
                (Outcome::Corrected, Some(recovery)) => {
                    drawn.miscorrected += u64::from(!corrects(recovery, held));
                    drawn.corrected.push(*held);
                }
                _ => drawn.detected += 1,
            }
        }
        drawn.left = Plan {
            known,
            strikes: strikes.into_iter().collect(),
        };
        Ok(drawn)
    }

    /// What the technique makes of each flip.
    fn outcomes(&self, structure: Structure, held: &[Held]) -> Result<Vec<Outcome>, GpuError> {
        let mut questions = Questions {
            structure,
            asked: BTreeMap::new(),
        };
        for held in held {
            let cycles = questions.asked.entry(self.place(held)).or_default();
            cycles.insert(held.cycle, Outcome::Silent);
        }
        let questions = Rc::new(RefCell::new(questions));
        let (mut hooks, journals) = (Hooks::default(), Journals::default());
        let probe = Probe::new(&self.spec, needs(&self.golden.traces)?, WINDOW);
        let probe = probe.with_added(&self.stack.storage(&self.spec), &journals);
        let own = self
            .stack
            .attach_protecting(&self.spec, &mut hooks, &journals);
        probe.attach(&mut hooks, listened(own, &questions));
        simulate_under(&self.spec, &self.golden.traces, hooks, Control::default())?;
        let questions = questions.borrow();
        let answer = |held: &Held| {
            let cycles = questions.asked.get(&self.place(held));
            cycles.and_then(|cycles| cycles.get(&held.cycle).copied())
        };
        Ok(held
            .iter()
            .map(|it| answer(it).unwrap_or_default())
            .collect())
    }

    fn place(&self, held: &Held) -> Place {
        let line = &self.timeline.launches[held.launch];
        let of = |warp: usize| &line.warps_of(held.cta)[warp];
        match held.holder {
            Holder::Register { warp, word, .. } => (of(warp).sm, of(warp).slot, word),
            Holder::Instruction { warp, step, .. } => {
                let warp = of(warp);
                (warp.sm, warp.slot, warp.steps[step as usize].inst)
            }
            Holder::Shared { .. } | Holder::Result { .. } => ANYWHERE,
        }
    }

    /// The instruction that would have got the wrong bit.
    fn struck(&self, held: &Held) -> Option<Struck> {
        let line = &self.timeline.launches[held.launch];
        let (warp, step) = match held.holder {
            Holder::Register {
                warp, word, lane, ..
            } => {
                let trace = &self.golden.traces[held.launch];
                let own = &line.warps_of(held.cta)[warp];
                let accesses = registers::Accesses::of(trace, own, (held.cta, warp));
                match accesses.next(word, lane, held.cycle).0 {
                    Fate::Read { step, .. } => (warp, step),
                    Fate::Dead => return None,
                }
            }
            Holder::Instruction { warp, step, .. } => (warp, step),
            Holder::Shared { .. } | Holder::Result { .. } => return None,
        };
        let warp = &line.warps_of(held.cta)[warp];
        Some(Struck {
            sm: warp.sm,
            warp: warp.slot,
            cycle: warp.steps[step as usize].issued,
        })
    }

    /// Times the run with single corrections in it, spread over those that were drawn.
    ///
    /// # Errors
    /// A run cannot be timed.
    pub fn corrections(&self, target: Target, drawn: &Drawn) -> Result<Vec<Corrected>, GpuError> {
        let Some(recovery) = self.recovery(target) else {
            return Ok(Vec::new());
        };
        let stride = drawn.corrected.len().div_ceil(RETIMED).max(1);
        let some = drawn.corrected.iter().step_by(stride);
        let timed = some.filter_map(|held| self.struck(held)).map(|struck| {
            let mut hooks = Hooks::default();
            self.stack.attach(&self.spec, &mut hooks);
            attach_recovery(&self.spec, recovery, struck, &mut hooks);
            let run = simulate_under(&self.spec, &self.golden.traces, hooks, Control::default())?;
            let cycles = run.cycles as i64 - self.run.cycles as i64;
            Ok(Corrected { cycles, run })
        });
        timed.collect()
    }
}

/// Whether the code gives the word as it was. It is linear: what it makes of an error does not depend on the word.
fn corrects(recovery: Recovery, held: &Held) -> bool {
    let (code, bits) = recovery.code;
    let bit = match held.holder {
        Holder::Register { bit, .. } | Holder::Instruction { bit, .. } => u64::from(bit),
        Holder::Shared { bit } => bit,
        Holder::Result { .. } => return false,
    };
    let codec = Codec::new(code, bits);
    codec.decode(1 << (bit % bits), codec.encode(0)) == Decoded::Corrected(0)
}

/// Protections whose answers are listened to.
fn listened(own: ProtectionFactory, questions: &Rc<RefCell<Questions>>) -> ProtectionFactory {
    let questions = Rc::clone(questions);
    Box::new(move |sm| {
        let all = own(sm);
        let listener = Listener {
            sm,
            all,
            questions: Rc::clone(&questions),
            covers: Vec::new(),
        };
        vec![Box::new(listener)]
    })
}

/// All protections of an SM, and what they say of what is asked about.
struct Listener {
    sm: u32,
    all: Vec<Box<dyn Protection>>,
    questions: Rc<RefCell<Questions>>,
    covers: Vec<Cover>,
}

impl Protection for Listener {
    fn cover(&mut self, residency: &Residency, covers: &mut Vec<Cover>) {
        self.covers.clear();
        for one in &mut self.all {
            one.cover(residency, &mut self.covers);
        }
        let mut questions = self.questions.borrow_mut();
        if questions.structure == residency.structure {
            questions.answer(self.sm, residency, &self.covers);
        }
        covers.append(&mut self.covers);
    }

    fn read(&mut self, warp: u8, entry: u32, cycle: u64) {
        for one in &mut self.all {
            one.read(warp, entry, cycle);
        }
    }
}

impl Questions {
    /// Notes what covers say of the cycles that are asked about. A word of which only a part is covered is taken for one that is not.
    fn answer(&mut self, sm: u32, residency: &Residency, covers: &[Cover]) {
        let anywhere = self.structure == Structure::SharedMemory;
        let (place, span) = match anywhere {
            true => (ANYWHERE, 0..u64::MAX),
            false => (
                (sm, residency.warp, residency.entry),
                residency.from..residency.to,
            ),
        };
        let Some(cycles) = self.asked.get_mut(&place) else {
            return;
        };
        for (cycle, best) in cycles.range_mut(span) {
            let whole = covers.iter().filter(|it| it.bits >= residency.bits);
            let then = whole.filter(|it| anywhere || (it.from..it.to).contains(cycle));
            *best = then.map(|it| it.outcome).fold(*best, Outcome::max);
        }
    }
}

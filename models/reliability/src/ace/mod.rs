//! Which instructions and which bits of registers a launch needs: one pass over its trace, from the end to the beginning.
//!
//! **Rules.** From Mukherjee, Weaver, Emer, Reinhardt and Austin, "A Systematic Methodology to Compute the Architectural Vulnerability Factors for a
//! High-Performance Microprocessor" (MICRO 2003): an instruction whose results nothing reads, or only instructions that are dead themselves, is dynamically dead, through
//! registers and through memory; a predicated-off instruction needs nothing but its guard; bits that a logical operation with a literal masks off are not
//! needed. From Biswas et al., "Computing Architectural Vulnerability Factors for Address-Based Structures" (ISCA 2005): a value is needed from its write to
//! its last needed read. What a SIMT machine adds: all of this holds lane by lane, and what inactive lanes hold is followed on.
//!
//! **Where the pass does not know, bits are needed**: addresses of accesses that are needed, and of all stores; guards and operands of branches, calls, barriers and
//! atomics; device memory at the end of the launch; memory that several warps access in an order that the trace does not tell. A launch whose code writes nothing
//! that outlives it needs nothing.

mod code;
mod demand;
mod fact;
mod memory;
mod two_way;
mod warp;

pub use fact::{Fact, Verdict};
pub(crate) use memory::for_each_word;

use rustc_hash::FxHashMap;
use warpwatt_simt::trace::{BarrierUse, KernelTrace, StoreError};

use code::{Code, Inst, Kind};
use memory::{Needed, OwnNeeds, Rewritten, SharedNeeds};
use two_way::TwoWay;
use warp::Warp;

/// What a launch needs: a [`Fact`] for each of its dynamic warp instructions, in the order of the trace.
#[derive(Clone, Debug, Default)]
pub struct Liveness {
    /// Different facts.
    facts: Vec<Fact>,
    /// For each warp instruction, which it is; where each warp begins.
    of: Vec<u32>,
    warps: Vec<usize>,
    warps_per_cta: usize,
    /// For warps that read registers before they write them: bits of each word that are needed from the start.
    starts: FxHashMap<usize, Vec<u32>>,
    vector_words: usize,
    has_needs: bool,
}

impl Liveness {
    /// The facts of a launch. Takes time linear in its warp instructions, and four bytes for each.
    ///
    /// # Errors
    /// The trace cannot be read where it is kept.
    pub fn of(trace: &KernelTrace) -> Result<Self, StoreError> {
        match trace.launch.warp_width {
            64 => Pass::<64>::run(trace),
            _ => Pass::<32>::run(trace),
        }
    }

    /// The facts of warp `warp` of CTA `cta`, one an instruction.
    ///
    /// # Panics
    /// If the launch has no such warp.
    pub fn warp(&self, cta: usize, warp: usize) -> impl ExactSizeIterator<Item = &Fact> {
        let numbers = self.numbers(cta * self.warps_per_cta + warp);
        numbers.iter().map(|&number| &self.facts[number as usize])
    }

    /// Numbers of the facts of the `warp`th warp of the launch; see [`fact`](Self::fact).
    pub fn numbers(&self, warp: usize) -> &[u32] {
        let end = self.warps.get(warp + 1).copied().unwrap_or(self.of.len());
        &self.of[self.warps[warp]..end]
    }

    /// The fact with this number.
    pub fn fact(&self, number: u32) -> &Fact {
        &self.facts[number as usize]
    }

    /// Bits of each register word that the `warp`th warp needs from the start; empty if none.
    pub fn at_start(&self, warp: usize) -> &[u32] {
        self.starts.get(&warp).map_or(&[], Vec::as_slice)
    }

    /// Warps of a CTA.
    pub fn warps_per_cta(&self) -> usize {
        self.warps_per_cta
    }

    /// 32-bit registers of a thread that the code names.
    pub fn words(&self) -> usize {
        self.vector_words
    }

    /// Whether the launch writes anything that outlives it; if not, it needs nothing.
    pub fn has_needs(&self) -> bool {
        self.has_needs
    }

    /// Warp instructions with this verdict.
    pub fn count(&self, verdict: Verdict) -> u64 {
        let of = |number: &&u32| self.facts[**number as usize].verdict == verdict;
        self.of.iter().filter(of).count() as u64
    }
}

/// The pass at work.
struct Pass<'t, const W: usize> {
    trace: &'t KernelTrace,
    code: Code,
    rewritten: Rewritten,
    shared: SharedNeeds,
    numbers: FxHashMap<Fact, u32>,
    found: Liveness,
}

/// A warp of the CTA at hand.
struct Reading<const W: usize> {
    steps: TwoWay,
    state: Warp<W>,
    own: OwnNeeds,
    /// Numbers of facts, from the last instruction on.
    numbers: Vec<u32>,
    /// Barriers passed.
    phases: u32,
}

impl<'t, const W: usize> Pass<'t, W> {
    fn run(trace: &'t KernelTrace) -> Result<Liveness, StoreError> {
        let code = Code::new(trace);
        let mut pass = Self {
            trace,
            found: Liveness {
                warps_per_cta: trace.launch.warps_per_cta(),
                vector_words: code.vector_words,
                has_needs: code.has_output,
                ..Liveness::default()
            },
            code,
            rewritten: Rewritten::default(),
            shared: SharedNeeds::default(),
            numbers: FxHashMap::default(),
        };
        pass.find_rewritten()?;
        for cta in 0..trace.launch.ctas() {
            pass.cta(cta)?;
        }
        Ok(pass.found)
    }

    /// Finds the words of device memory that can be followed.
    fn find_rewritten(&mut self) -> Result<(), StoreError> {
        if self.code.opaque {
            self.rewritten.give_up();
            return Ok(());
        }
        let warps = self.trace.launch.warps_per_cta();
        let all = || {
            (0..self.trace.launch.ctas()).flat_map(|cta| (0..warps).map(move |warp| (cta, warp)))
        };
        for (cta, warp) in all() {
            self.rewritten.next_warp();
            for step in self.trace.warp(cta, warp)? {
                if let Some(op) = self.code.insts[step.inst as usize].memory {
                    self.rewritten.collect(op, &step);
                }
            }
        }
        if self.rewritten.is_empty() {
            return Ok(());
        }
        let mut owners = FxHashMap::default();
        for (cta, warp) in all() {
            for step in self.trace.warp(cta, warp)? {
                if let Some(op) = self.code.insts[step.inst as usize].memory {
                    self.rewritten
                        .own(&mut owners, cta * warps + warp, op, &step);
                }
            }
        }
        self.rewritten.keep_owned(&owners);
        Ok(())
    }

    fn cta(&mut self, cta: usize) -> Result<(), StoreError> {
        let local_always = self.code.calls || self.code.opaque;
        let warps = (0..self.found.warps_per_cta).map(|warp| {
            Ok(Reading {
                steps: TwoWay::new(self.trace.warp(cta, warp)?),
                state: Warp::new(&self.code),
                own: OwnNeeds::new(local_always),
                numbers: Vec::new(),
                phases: 0,
            })
        });
        let mut warps: Vec<Reading<W>> = warps.collect::<Result<_, StoreError>>()?;
        let phases = self.forwards(&mut warps);
        for phase in (0..=phases).rev() {
            for warp in &mut warps {
                self.backwards(warp, phase);
            }
        }
        for warp in warps {
            let start = warp.state.at_start();
            if start.iter().any(|bits| *bits != 0) {
                self.found.starts.insert(self.found.warps.len(), start);
            }
            self.found.warps.push(self.found.of.len());
            self.found.of.extend(warp.numbers.iter().rev());
        }
        Ok(())
    }

    /// Reads all warps from barrier to barrier; gives how many barriers there are.
    fn forwards(&mut self, warps: &mut [Reading<W>]) -> u32 {
        let bytes = self.trace.launch.shared_bytes;
        self.shared.begin(bytes, self.code.opaque);
        let mut phase = 0;
        loop {
            let mut goes_on = false;
            for (number, warp) in warps.iter_mut().enumerate() {
                if warp.phases < phase {
                    continue;
                }
                while let Some(step) = warp.steps.next() {
                    let inst = &self.code.insts[step.inst as usize];
                    if let Some(op) = inst.memory {
                        self.shared.watch(op, &step, number as u32, phase);
                    }
                    if inst.barrier {
                        if step.barrier() != BarrierUse::PLAIN || step.executed == 0 {
                            // It does not part all that comes before from all that comes behind.
                            self.shared.give_up();
                        }
                        warp.phases += 1;
                        goes_on = true;
                        break;
                    }
                }
            }
            if !goes_on {
                return phase;
            }
            phase += 1;
        }
    }

    /// Goes back through a warp to the barrier that a phase begins with.
    fn backwards(&mut self, warp: &mut Reading<W>, phase: u32) {
        if warp.phases < phase {
            return;
        }
        while let Some(step) = warp.steps.next_back() {
            let inst = &self.code.insts[step.inst as usize];
            let number = if self.code.has_output {
                let mut memory = Needed {
                    rewritten: &self.rewritten,
                    shared: &mut self.shared,
                    own: &mut warp.own,
                };
                let fact = warp.state.step(&step, inst, &mut memory);
                intern(&mut self.numbers, &mut self.found.facts, fact)
            } else {
                let fact = needless(inst, step.executed == 0, self.code.vector_words);
                intern(&mut self.numbers, &mut self.found.facts, &fact)
            };
            warp.numbers.push(number);
            if inst.barrier {
                return;
            }
        }
    }
}

/// The number of a fact.
fn intern(numbers: &mut FxHashMap<Fact, u32>, facts: &mut Vec<Fact>, fact: &Fact) -> u32 {
    if let Some(&number) = numbers.get(fact) {
        return number;
    }
    let number = facts.len() as u32;
    facts.push(fact.clone());
    numbers.insert(fact.clone(), number);
    number
}

/// Of an instruction of a launch that needs nothing.
fn needless(inst: &Inst, switched_off: bool, vector_words: usize) -> Fact {
    let words = |places: &mut dyn Iterator<Item = &code::Place>| {
        let vector = places.filter(|place| place.vector);
        vec![0; vector.map(|place| place.words as usize).sum()]
    };
    let read = words(&mut inst.sources.iter().map(|(place, _)| place));
    Fact {
        verdict: match inst.kind {
            Kind::Neutral => Verdict::Neutral,
            _ if switched_off && !inst.control => Verdict::SwitchedOff,
            _ => Verdict::Dead,
        },
        lanes: 0,
        written: words(&mut inst.results.iter()),
        last: read.clone(),
        read,
        rest: vec![0; if inst.keeps { vector_words } else { 0 }],
    }
}

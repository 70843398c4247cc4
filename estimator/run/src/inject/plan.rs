//! From sites to the executions that show what flips there do.

use std::collections::BTreeMap;

use warpwatt_gpu::trace::{KernelTrace, Register};
use warpwatt_reliability::inject::registers::result;
use warpwatt_reliability::inject::{
    Class, Fate, Held, Holder, Random, Sites, Tally, Target, Timeline, registers, shared,
};

use super::Golden;

/// An execution: a flip that stands for all that cannot differ from it. In the order in which CTAs run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Strike {
    /// The launch and the CTA in its grid.
    pub launch: usize,
    /// The CTA.
    pub cta: usize,
    /// What flips.
    pub what: What,
}

/// What flips, in one CTA.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// A bit of a register, before an instruction.
    Register {
        /// The warp in its CTA.
        warp: u32,
        /// Instructions that it has executed then.
        step: u64,
        /// The register.
        register: Register,
        /// The lane.
        lane: u32,
        /// The bit.
        bit: u32,
    },
    /// A bit of the word of an instruction, for the one time that it is executed.
    Instruction {
        /// The warp in its CTA.
        warp: u32,
        /// Instructions that it has executed before.
        step: u64,
        /// The bit.
        bit: u32,
    },
    /// A bit of shared memory.
    Shared {
        /// The bit, counted from the lowest of the first byte.
        bit: u64,
        /// Instructions that each warp has executed then.
        cut: Vec<u64>,
    },
}

/// What is to be executed, and how many flips each execution stands for.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Flips whose outcome is known without.
    pub known: Tally,
    /// Executions, in order.
    pub strikes: Vec<(Strike, u64)>,
}

/// Draws flips and finds out what they hit.
pub struct Draw<'d> {
    golden: &'d Golden<'d>,
    timeline: &'d Timeline,
    sites: &'d Sites<'d>,
    /// What is known of the warp, or the CTA, that was looked at last.
    of_warp: Option<(Key, registers::Accesses)>,
    of_cta: Option<(Key, shared::Accesses)>,
}

/// Launch, CTA, warp.
type Key = (usize, usize, usize);

/// What was found of all sites so far.
#[derive(Default)]
struct SiteCounts {
    known: Tally,
    strikes: BTreeMap<Strike, u64>,
}

impl SiteCounts {
    fn add(&mut self, (launch, cta, _): Key, what: Result<What, Class>, count: u64) {
        if count == 0 {
            return;
        }
        match what {
            Ok(what) => {
                let strike = Strike { launch, cta, what };
                *self.strikes.entry(strike).or_default() += count;
            }
            Err(class) => self.known.add(class, count),
        }
    }
}

impl<'d> Draw<'d> {
    /// Draws from `sites`, of a golden run and its timing.
    pub fn new(golden: &'d Golden<'d>, timeline: &'d Timeline, sites: &'d Sites<'d>) -> Self {
        Self {
            golden,
            timeline,
            sites,
            of_warp: None,
            of_cta: None,
        }
    }

    /// So many sites, drawn with replacement.
    pub fn samples(mut self, samples: u64, seed: u64) -> Plan {
        let mut random = Random::new(seed);
        let population = self.sites.population();
        let mut known = Tally::default();
        let mut held = Vec::new();
        for flip in 0..samples {
            match self.sites.holder(random.site(flip, population)) {
                Some(holder) => held.push(holder),
                None => known.add(Class::Unoccupied, 1),
            }
        }
        // Those of one warp together, so that its accesses are looked at once.
        held.sort_unstable_by_key(|it| (it.launch, it.cta, warp_of(it)));
        let mut strikes = BTreeMap::new();
        for held in held {
            match self.strike(&held) {
                Ok(strike) => *strikes.entry(strike).or_default() += 1,
                Err(class) => known.add(class, 1),
            }
        }
        Plan {
            known,
            strikes: strikes.into_iter().collect(),
        }
    }

    /// Every site, those that cannot differ in one execution: nothing if that takes more than `most` of them.
    pub fn all(mut self, most: usize) -> Option<Plan> {
        let mut counts = SiteCounts::default();
        for (launch, line) in self.timeline.launches.iter().enumerate() {
            for cta in 0..line.ctas.len() {
                match self.sites.target() {
                    Target::SharedMemory => self.all_shared((launch, cta, 0), &mut counts),
                    target => {
                        for warp in 0..line.warps_per_cta {
                            let key = (launch, cta, warp);
                            match target {
                                Target::RegisterFile => self.all_registers(key, &mut counts),
                                Target::InstructionBuffer => {
                                    self.all_instructions(key, &mut counts);
                                }
                                _ => self.all_results(key, &mut counts),
                            }
                        }
                    }
                }
                if counts.strikes.len() > most {
                    return None;
                }
            }
        }
        let held = counts.known.total() + counts.strikes.values().sum::<u64>();
        let population = u64::try_from(self.sites.population()).ok()?;
        counts
            .known
            .add(Class::Unoccupied, population.checked_sub(held)?);
        Some(Plan {
            known: counts.known,
            strikes: counts.strikes.into_iter().collect(),
        })
    }

    fn all_registers(&mut self, key: Key, counts: &mut SiteCounts) {
        let (launch, cta, warp) = key;
        let line = &self.timeline.launches[launch];
        let (from, to) = (line.warps_of(cta)[warp].from, line.warps_of(cta)[warp].to);
        for word in 0..line.registers {
            for lane in 0..self.golden.warp_width {
                for (since, until, (fate, _)) in self.accesses(key).lives(word, lane, from, to) {
                    let cycles = until - since;
                    if fate == Fate::Dead {
                        counts.known.add(Class::Dead, 32 * cycles);
                        continue;
                    }
                    for bit in 0..32 {
                        let what = self.register(key, (word, lane, bit), since);
                        counts.add(key, what, cycles);
                    }
                }
            }
        }
    }

    fn all_shared(&mut self, key: Key, counts: &mut SiteCounts) {
        let (launch, cta, _) = key;
        let line = &self.timeline.launches[launch];
        let (from, to) = (line.ctas[cta].from, line.ctas[cta].to);
        for byte in 0..u64::from(line.shared_bytes) {
            for (since, until, fate) in self.shared_accesses(key).lives(byte, from, to) {
                let cycles = until - since;
                if fate == Fate::Dead {
                    counts.known.add(Class::Dead, 8 * cycles);
                    continue;
                }
                for bit in 8 * byte..8 * byte + 8 {
                    let what = self.shared(key, bit, since);
                    counts.add(key, what, cycles);
                }
            }
        }
    }

    fn all_instructions(&mut self, key: Key, counts: &mut SiteCounts) {
        let (launch, cta, warp) = key;
        let line = &self.timeline.launches[launch].warps_of(cta)[warp];
        for (step, moments) in (0..).zip(&line.steps) {
            for bit in 0..self.sites.entry_bits() {
                let what = What::Instruction {
                    warp: warp as u32,
                    step,
                    bit,
                };
                counts.add(key, Ok(what), moments.issued - moments.delivered);
            }
        }
    }

    fn all_results(&mut self, key: Key, counts: &mut SiteCounts) {
        let (launch, cta, warp) = key;
        let steps = self.timeline.launches[launch].warps_of(cta)[warp]
            .steps
            .len();
        for step in 0..steps as u32 {
            for lane in 0..self.golden.warp_width {
                for bit in 0..64 {
                    let what = self.result(key, step, (lane, bit));
                    if what != Err(Class::Unoccupied) {
                        counts.add(key, what, 1);
                    }
                }
            }
        }
    }

    /// The execution that shows what a flip does, or what it does if that is known.
    pub(super) fn strike(&mut self, held: &Held) -> Result<Strike, Class> {
        let &Held {
            launch,
            cta,
            cycle,
            holder,
        } = held;
        let what = match holder {
            Holder::Register {
                warp,
                word,
                lane,
                bit,
            } => self.register((launch, cta, warp), (word, lane, bit), cycle)?,
            Holder::Shared { bit } => self.shared((launch, cta, 0), bit, cycle)?,
            Holder::Instruction { warp, step, bit } => What::Instruction {
                warp: warp as u32,
                step: u64::from(step),
                bit,
            },
            Holder::Result {
                warp,
                step,
                lane,
                bit,
            } => self.result((launch, cta, warp), step, (lane, bit))?,
        };
        Ok(Strike { launch, cta, what })
    }

    fn register(
        &mut self,
        key: Key,
        (word, lane, bit): (u32, u32, u32),
        cycle: u64,
    ) -> Result<What, Class> {
        let (fate, read) = self.accesses(key).next(word, lane, cycle);
        match (fate, read) {
            (Fate::Read { step, .. }, Some(register)) => {
                // The upper half of a double is the second of its words.
                let words = register.kind.words();
                let half = word - u32::from(register.number) * words;
                Ok(What::Register {
                    warp: key.2 as u32,
                    step: u64::from(step),
                    register,
                    lane,
                    bit: bit + 32 * half,
                })
            }
            _ => Err(Class::Dead),
        }
    }

    fn shared(&mut self, key: Key, bit: u64, cycle: u64) -> Result<What, Class> {
        let (launch, _, _) = key;
        let opaque = self.golden.launches[launch].opaque;
        let accesses = self.shared_accesses(key);
        if opaque {
            let cut = accesses.cut(cycle);
            return Ok(What::Shared { bit, cut });
        }
        match accesses.next(bit / 8, cycle) {
            (Fate::Read { until, .. }, _) => Ok(What::Shared {
                bit,
                cut: accesses.cut(until),
            }),
            (Fate::Dead, _) => Err(Class::Dead),
        }
    }

    /// A flip in a result is one in the register that it goes to, as soon as it is there.
    fn result(&mut self, key: Key, number: u32, (lane, bit): (u32, u32)) -> Result<What, Class> {
        let (launch, cta, warp) = key;
        let trace: &KernelTrace = &self.golden.traces[launch];
        let mut steps = trace.warp_held(cta, warp);
        let step = steps.nth(number as usize).ok_or(Class::Unoccupied)?;
        let result = result(&trace.code[step.inst as usize]);
        let (register, bits) = result.ok_or(Class::Unoccupied)?;
        if bit >= bits || step.executed >> lane & 1 == 0 {
            return Err(Class::Unoccupied);
        }
        if register.kind.words() == 0 {
            return Ok(What::Register {
                warp: warp as u32,
                step: u64::from(number) + 1,
                register,
                lane,
                bit,
            });
        }
        let line = &self.timeline.launches[launch].warps_of(cta)[warp];
        let written = line.steps[number as usize].written;
        let word = u32::from(register.number) * register.kind.words() + bit / 32;
        self.register(key, (word, lane, bit % 32), written)
    }

    fn shared_accesses(&mut self, key: Key) -> &shared::Accesses {
        let (launch, cta, _) = key;
        let of = || {
            let lines = self.timeline.launches[launch].warps_of(cta);
            let trace = &self.golden.traces[launch];
            (key, shared::Accesses::of(trace, lines, cta))
        };
        if self.of_cta.as_ref().is_some_and(|(known, _)| *known != key) {
            self.of_cta = None;
        }
        &self.of_cta.get_or_insert_with(of).1
    }

    fn accesses(&mut self, key: Key) -> &registers::Accesses {
        let (launch, cta, warp) = key;
        let of = || {
            let line = &self.timeline.launches[launch].warps_of(cta)[warp];
            let trace = &self.golden.traces[launch];
            (key, registers::Accesses::of(trace, line, (cta, warp)))
        };
        if self
            .of_warp
            .as_ref()
            .is_some_and(|(known, _)| *known != key)
        {
            self.of_warp = None;
        }
        &self.of_warp.get_or_insert_with(of).1
    }
}

/// The warp in its CTA, for what a warp has.
pub(super) fn warp_of(held: &Held) -> usize {
    match held.holder {
        Holder::Register { warp, .. }
        | Holder::Instruction { warp, .. }
        | Holder::Result { warp, .. } => warp,
        Holder::Shared { .. } => 0,
    }
}

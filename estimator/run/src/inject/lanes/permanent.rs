//! Bits of lanes that always have one value.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use warpwatt_gpu::GpuSpec;
use warpwatt_gpu::trace::{LaneMask, lanes};
use warpwatt_reliability::inject::{Class, Random};
use warpwatt_simt::{DeviceMemory, LaneResults, LaneWatch, Replay};
use warpwatt_suite::RunError;
use warpwatt_techniques::{Compared, LaneCheck, ResultCheck};

use super::{Campaign, Checker, Copied, Placement};
use crate::inject::program::Stopped;
use crate::inject::{Golden, HANG_FACTOR, Unfinished};

/// Lines by which a result leaves a lane.
const LINES: u64 = 32;

/// Memory that all threads may take together, and the images that one holds.
const MEMORY: u64 = 4 << 30;
const IMAGES: u64 = 4;

/// A line of a lane that is stuck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Defect {
    /// The SM.
    pub sm: u32,
    /// The lane, by the thread that it executes.
    pub lane: u32,
    /// The bit.
    pub bit: u32,
}

/// What permanent faults need to know of the GPU: where CTAs are executed, also if everything is executed twice.
pub struct Permanent<'g> {
    golden: &'g Golden<'g>,
    plain: Placement,
    checkers: &'g [Checker],
    /// For checkers of memory.
    copies: Vec<Option<Copied>>,
    sms: u32,
}

impl<'g> Permanent<'g> {
    /// Times the run, and each way of running everything twice.
    ///
    /// # Errors
    /// A run cannot be timed.
    pub fn new(
        golden: &'g Golden<'g>,
        spec: &GpuSpec,
        checkers: &'g [Checker],
    ) -> Result<Self, warpwatt_gpu::GpuError> {
        let copied = |checker: &Checker| match checker.check {
            LaneCheck::Results(_) => Ok(None),
            LaneCheck::Memory(copies) => Placement::twice(golden, spec, copies).map(Some),
        };
        Ok(Self {
            plain: Placement::of(golden, spec)?,
            copies: checkers.iter().map(copied).collect::<Result<_, _>>()?,
            golden,
            checkers,
            sms: spec.sm.count,
        })
    }

    /// How many defects there are.
    pub fn population(&self) -> u64 {
        u64::from(self.sms) * u64::from(self.golden.warp_width) * LINES
    }

    fn defect(&self, number: u64) -> Defect {
        let lanes = u64::from(self.golden.warp_width);
        Defect {
            sm: (number / LINES / lanes) as u32,
            lane: (number / LINES % lanes) as u32,
            bit: (number % LINES) as u32,
        }
    }

    /// What a defect does, and who finds it.
    ///
    /// # Errors
    /// The golden run does not run again as it did: a defect of ours.
    pub fn suffer(&self, defect: Defect, at: bool) -> Result<(Class, Vec<bool>), RunError> {
        let on_sm = self.plain.on(defect.sm);
        let mut faulty = Faulty::new(defect, at, self.checkers);
        let plain = self.golden.with(&on_sm, &mut faulty)?;
        let mut found = Vec::with_capacity(self.checkers.len());
        for (number, copies) in self.copies.iter().enumerate() {
            found.push(match copies {
                None => faulty.found[number],
                Some(copies) => {
                    let [first, second] = copies.each_ref().map(|it| it.on(defect.sm));
                    let run = |ctas: &[(usize, usize)]| match ctas == on_sm {
                        true => Ok(plain.clone()),
                        false => self.golden.with(ctas, &mut Faulty::new(defect, at, &[])),
                    };
                    let ended = run(&first)?;
                    if first == second {
                        ended.stops()
                    } else {
                        ended.differs(&run(&second)?, &self.golden.last)
                    }
                }
            });
        }
        let idle = plain.class == Class::Masked && !faulty.differed;
        Ok((if idle { Class::Unoccupied } else { plain.class }, found))
    }
}

/// How a run with a defect ends.
#[derive(Clone)]
struct End {
    class: Class,
    /// What is in memory then, if it came to its end and that is not as it should be.
    memory: Option<DeviceMemory>,
}

impl End {
    /// It ended by itself, for all to see.
    fn stops(&self) -> bool {
        matches!(self.class, Class::Due | Class::Hang)
    }

    /// Whether somebody who compares it with `other` sees that something is wrong.
    fn differs(&self, other: &Self, golden: &DeviceMemory) -> bool {
        let (one, two) = (&self.memory, &other.memory);
        let memory = |it: &Option<DeviceMemory>, with: &DeviceMemory| {
            let memory = it.as_ref().unwrap_or(golden);
            !memory.differences(with).is_empty()
        };
        let equal = one.is_none() && two.is_none();
        let stops = self.stops() || other.stops();
        stops || !equal && memory(one, two.as_ref().unwrap_or(golden))
    }
}

/// A lane with a stuck line.
struct Faulty<'c> {
    defect: Defect,
    at: bool,
    checks: Vec<Option<&'c dyn ResultCheck>>,
    found: Vec<bool>,
    /// Whether one of its results has ever been wrong.
    differed: bool,
    /// What is compared where these lanes execute: they change seldom.
    compared: (LaneMask, Vec<Compared>),
}

impl<'c> Faulty<'c> {
    fn new(defect: Defect, at: bool, checkers: &'c [Checker]) -> Self {
        let check = |checker: &'c Checker| match &checker.check {
            LaneCheck::Results(check) => Some(&**check),
            LaneCheck::Memory(_) => None,
        };
        Self {
            defect,
            at,
            checks: checkers.iter().map(check).collect(),
            found: vec![false; checkers.len()],
            differed: false,
            compared: (0, vec![Compared::default(); checkers.len()]),
        }
    }

    /// Who compares what, for the techniques.
    fn look(&mut self, executed: LaneMask) {
        if self.compared.0 != executed {
            let lane = self.defect.lane;
            let of = |check: &Option<&dyn ResultCheck>| {
                check.map_or(Compared::default(), |it| it.compared(executed, lane))
            };
            self.compared = (executed, self.checks.iter().map(of).collect());
        }
    }
}

impl LaneWatch for Faulty<'_> {
    fn computed(&mut self, executed: LaneMask, results: &mut dyn LaneResults) {
        self.look(executed);
        let Defect { lane, bit, .. } = self.defect;
        let at = self.at;
        let spoils = |results: &dyn LaneResults, lane: u32| {
            let right = results.get(lane);
            let left = right.stuck(bit, at);
            (left != right).then_some(left)
        };
        let own = executed >> lane & 1 != 0;
        let spoilt = own.then(|| spoils(results, lane)).flatten();
        for (found, compared) in self.found.iter_mut().zip(&self.compared.1) {
            // What the lane computes a second time is as wrong as the first time: `compared.here` finds nothing.
            *found = *found
                || compared.elsewhere && spoilt.is_some()
                || lanes(compared.others).any(|other| spoils(results, other).is_some());
        }
        if let Some(result) = spoilt {
            self.differed = true;
            results.set(lane, result);
        }
    }
}

impl Golden<'_> {
    /// What a CTA may execute before it hangs, if the golden run has it.
    fn limit(&self, launch: usize, cta: usize) -> u64 {
        let launch = self.launches.get(launch);
        let known = launch.filter(|launch| cta < launch.instructions.len());
        known.map_or(u64::MAX, |launch| launch.limit(cta))
    }

    /// The run, with these CTAs (in order) on a faulty lane. What a launch that the golden run does not have has there is as in its last one.
    fn with(&self, faulty: &[(usize, usize)], watch: &mut Faulty<'_>) -> Result<End, RunError> {
        let golden = End {
            class: Class::Masked,
            memory: None,
        };
        let last = self.launches.len().saturating_sub(1);
        let mut left = HANG_FACTOR * self.warp_instructions();
        let Some(&(mut number, _)) = faulty.first() else {
            return Ok(golden);
        };
        let mut memory = self.image(number)?;
        let mut launch = self.launches[number].launch.clone();
        let mut after = self.launches[number].after;
        loop {
            let ended = |class| {
                Ok(End {
                    class,
                    memory: None,
                })
            };
            let replay = Replay::new(self.session.module(), &launch, self.warp_width);
            let Ok(mut replay) = replay else {
                return ended(Class::Due);
            };
            for cta in 0..replay.shape().ctas() {
                let is_faulty = faulty.binary_search(&(number.min(last), cta)).is_ok();
                let limit = left.min(self.limit(number, cta));
                let done = match is_faulty {
                    true => replay.run_watched(cta, &mut memory, watch, limit),
                    false => replay.run(cta, &mut memory, None, limit),
                };
                match done {
                    Ok(executed) => left -= executed,
                    Err(error) => return ended(Stopped::Ptx(error).class()),
                }
            }
            let Ok(next) = self.session.next(after, &mut memory) else {
                return ended(Class::Hang);
            };
            let Some(next) = next else { break };
            (launch, after) = next;
            number += 1;
            if self.is_as_golden(number, &launch, &memory) {
                // Nothing is wrong up to the next launch that has a CTA there.
                let ahead = faulty.iter().find(|(launch, _)| *launch >= number);
                let Some(&(ahead, _)) = ahead else {
                    return Ok(golden);
                };
                if ahead > number {
                    memory = self.image(ahead)?;
                    launch = self.launches[ahead].launch.clone();
                    after = self.launches[ahead].after;
                    number = ahead;
                }
            }
        }
        if memory.differences(&self.last).is_empty() {
            return Ok(golden);
        }
        Ok(End {
            class: self.silent(|| memory.clone()),
            memory: Some(memory),
        })
    }
}

/// Executes so many permanent faults, of lines that are stuck `at` a value, and asks who finds them. `seen` is told of each execution.
///
/// # Errors
/// The golden run does not run again as it did: a defect of ours.
pub fn permanent(
    permanent: &Permanent<'_>,
    at: bool,
    (samples, seed): (u64, u64),
    jobs: usize,
    mut seen: impl FnMut(),
) -> Result<Campaign, Unfinished> {
    let population = permanent.population();
    let mut random = Random::new(seed);
    let mut drawn: BTreeMap<Defect, u64> = BTreeMap::new();
    for fault in 0..samples {
        let site = random.site(fault, u128::from(population)) as u64;
        *drawn.entry(permanent.defect(site)).or_default() += 1;
    }
    let drawn: Vec<(Defect, u64)> = drawn.into_iter().collect();
    let room = (MEMORY / (IMAGES * permanent.golden.last.bytes().max(1))).max(1) as usize;
    let threads = jobs.min(room).min(drawn.len());
    let mut outcomes = vec![(Class::Unoccupied, Vec::new()); drawn.len()];
    let next = AtomicUsize::new(0);
    let (send, receive) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let send = send.clone();
            let (drawn, next) = (&drawn, &next);
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some((defect, _)) = drawn.get(number) else {
                        return;
                    };
                    if send.send((number, permanent.suffer(*defect, at))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(send);
        for (number, outcome) in receive {
            outcomes[number] = outcome.map_err(Unfinished::Run)?;
            seen();
        }
        Ok(())
    })?;
    let mut sum = Campaign::new(population, drawn.len(), permanent.checkers.len());
    for ((_, count), (class, found)) in drawn.iter().zip(outcomes) {
        sum.add(class, *count, found);
    }
    Ok(sum)
}

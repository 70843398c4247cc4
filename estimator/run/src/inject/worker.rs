//! Executes CTAs with flips in them.

use warpwatt_gpu::trace::RegisterKind;
use warpwatt_ptx::encoding::{Flipped, WORD_BITS, flip};
use warpwatt_reliability::inject::Class;
use warpwatt_simt::{DeviceMemory, Flip, Launch, Moment, Upset};
use warpwatt_suite::RunError;

use super::plan::{Strike, What};
use super::program::{Blow, Machine, Stopped};
use super::{Golden, HANG_FACTOR};

/// Goes through the golden run from CTA to CTA and executes those with flips as often as there are flips.
pub struct Worker<'g> {
    golden: &'g Golden<'g>,
    at: Option<At<'g>>,
}

/// Where it stands: at a CTA, with memory before and after it.
pub(super) struct At<'g> {
    pub launch: usize,
    pub cta: usize,
    pub replay: Machine<'g>,
    pub before: DeviceMemory,
    after: DeviceMemory,
    /// Blocks that the CTA changes.
    changed: Vec<u64>,
    /// As `before`, but while a flip runs.
    pub scratch: DeviceMemory,
}

impl<'g> Worker<'g> {
    /// At the beginning.
    pub fn new(golden: &'g Golden<'g>) -> Self {
        Self { golden, at: None }
    }

    /// What a flip does.
    ///
    /// # Errors
    /// The golden run does not run again as it did: a defect.
    pub fn outcome(&mut self, strike: &Strike) -> Result<Class, RunError> {
        let golden = self.golden;
        let at = match self.at.take() {
            Some(at) if (at.launch, at.cta) == (strike.launch, strike.cta) => at,
            at => golden.seek(at, strike.launch, strike.cta)?,
        };
        let at = self.at.insert(at);
        if let Machine::Code(_) = at.replay {
            return Ok(golden.struck(at, &Blow::Code(in_code(&strike.what))));
        }
        let mut struck = |upset| golden.struck(at, &Blow::Ptx(upset));
        Ok(match &strike.what {
            &What::Register {
                warp,
                step,
                register,
                lane,
                bit,
            } => struck(Upset::Warp(Moment {
                warp,
                executed: step,
                what: Flip::Register {
                    register,
                    lane,
                    bit,
                },
            })),
            What::Shared { bit, cut } => struck(Upset::Shared { cut, bit: *bit }),
            &What::Instruction { warp, step, bit } => {
                match golden.instead(strike, (warp, step), bit) {
                    Flipped::Unused => Class::Masked,
                    Flipped::Illegal => Class::Due,
                    Flipped::Changed(program) => struck(Upset::Warp(Moment {
                        warp,
                        executed: step,
                        what: Flip::Instruction(&program),
                    })),
                }
            }
        })
    }
}

impl<'k> Golden<'k> {
    /// At CTA `cta` of `launch`: from where a worker stands, if that is before it in the same launch, or else from the nearest image.
    pub(super) fn seek<'g>(
        &'g self,
        from: Option<At<'g>>,
        launch: usize,
        cta: usize,
    ) -> Result<At<'g>, RunError> {
        let near = from.filter(|at| at.launch == launch && at.cta < cta);
        let (mut replay, mut memory, done) = match near {
            Some(at) => (at.replay, at.after, at.cta + 1),
            None => (self.replay(launch)?, self.image(launch)?, 0),
        };
        for earlier in done..cta {
            self.golden_cta(launch, earlier, &mut replay, &mut memory)?;
        }
        let before = memory.clone();
        self.golden_cta(launch, cta, &mut replay, &mut memory)?;
        Ok(At {
            launch,
            cta,
            replay,
            changed: before.differences(&memory),
            scratch: before.clone(),
            before,
            after: memory,
        })
    }

    fn replay(&self, launch: usize) -> Result<Machine<'_>, RunError> {
        let replay = self.machine(&self.launches[launch].launch);
        replay.map_err(|stopped| stopped.at(launch))
    }

    fn machine(&self, launch: &Launch<'_>) -> Result<Machine<'_>, Stopped> {
        let module = self.session.module();
        self.program.replay(module, launch, self.warp_width)
    }

    /// Memory before a launch.
    pub(super) fn image(&self, launch: usize) -> Result<DeviceMemory, RunError> {
        let kept = |number: &usize| self.launches[*number].before.is_some();
        let nearest = (0..=launch).rfind(kept).unwrap_or(0);
        let image = self.launches[nearest].before.as_ref();
        let mut memory = image.unwrap_or(&self.first).clone();
        for number in nearest..launch {
            let mut replay = self.replay(number)?;
            for cta in 0..replay.ctas() {
                self.golden_cta(number, cta, &mut replay, &mut memory)?;
            }
            // What the host does between them.
            self.session
                .next(self.launches[number].after, &mut memory)?;
        }
        Ok(memory)
    }

    fn golden_cta(
        &self,
        launch: usize,
        cta: usize,
        replay: &mut Machine<'_>,
        memory: &mut DeviceMemory,
    ) -> Result<(), RunError> {
        let limit = self.launches[launch].limit(cta);
        let done = replay.run(cta, memory, None, limit);
        done.map_err(|stopped| stopped.at(launch))?;
        Ok(())
    }

    /// The program in which an instruction of a warp has a bit of its word flipped.
    fn instead(&self, strike: &Strike, (warp, step): (u32, u64), bit: u32) -> Flipped {
        let trace = &self.traces[strike.launch];
        let mut steps = trace.warp_held(strike.cta, warp as usize);
        let step = steps.nth(step as usize);
        let entry = self.session.module().entry(&trace.kernel);
        match (entry, step) {
            (Some(entry), Some(step)) if bit < WORD_BITS => flip(entry, step.inst, bit),
            _ => Flipped::Unused,
        }
    }

    /// The CTA with an upset in it, and what comes of that.
    fn struck(&self, at: &mut At<'_>, blow: &Blow<'_>) -> Class {
        let limit = self.launches[at.launch].limit(at.cta);
        let done = at.replay.run(at.cta, &mut at.scratch, Some(blow), limit);
        if let Err(stopped) = done {
            let spoilt = at.scratch.differences(&at.before);
            at.scratch.restore(&at.before, &spoilt);
            return stopped.class();
        }
        let differ = at.scratch.differences(&at.after);
        let class = if differ.is_empty() {
            Class::Masked
        } else if self.untouched_after(at.launch, at.cta, &differ) {
            self.silent(|| {
                let mut last = self.last.clone();
                last.restore(&at.scratch, &differ);
                last
            })
        } else {
            let class = self.go_on(at);
            at.scratch.clone_from(&at.before);
            return class;
        };
        at.scratch.restore(&at.before, &at.changed);
        at.scratch.restore(&at.before, &differ);
        class
    }

    /// A final memory that differs from the golden one.
    pub(super) fn silent(&self, memory: impl FnOnce() -> DeviceMemory) -> Class {
        if self.has_tolerance && self.session.tolerates(&memory(), &self.last) {
            Class::Tolerated
        } else {
            Class::Sdc
        }
    }

    /// What comes of a memory that differs behind a CTA: everything behind it is executed, until memory is what it was.
    fn go_on(&self, at: &mut At<'_>) -> Class {
        let mut left = HANG_FACTOR * self.warp_instructions();
        let (replay, memory) = (&mut at.replay, &mut at.scratch);
        let rest = at.cta + 1..replay.ctas();
        if let Err(class) = self.rest(replay, memory, rest, &mut left) {
            return class;
        }
        let mut progress = self.launches[at.launch].after;
        for number in at.launch + 1.. {
            let Ok(next) = self.session.next(progress, memory) else {
                return Class::Hang;
            };
            let Some((launch, after)) = next else { break };
            progress = after;
            if self.is_as_golden(number, &launch, memory) {
                return Class::Masked;
            }
            let Ok(mut replay) = self.machine(&launch) else {
                return Class::Due;
            };
            let all = 0..replay.ctas();
            if let Err(class) = self.rest(&mut replay, memory, all, &mut left) {
                return class;
            }
        }
        if memory.differences(&self.last).is_empty() {
            Class::Masked
        } else {
            self.silent(|| memory.clone())
        }
    }

    /// Whether a launch begins as that of the golden run does: then the rest is as it is there, too.
    pub(super) fn is_as_golden(
        &self,
        number: usize,
        launch: &Launch<'_>,
        memory: &DeviceMemory,
    ) -> bool {
        let known = self.launches.get(number).filter(|it| it.launch == *launch);
        let before = known.and_then(|it| it.before.as_ref());
        before.is_some_and(|before| memory.differences(before).is_empty())
    }

    /// Executes CTAs one after the other.
    fn rest(
        &self,
        replay: &mut Machine<'_>,
        memory: &mut DeviceMemory,
        ctas: std::ops::Range<usize>,
        left: &mut u64,
    ) -> Result<(), Class> {
        for cta in ctas {
            let done = replay.run(cta, memory, None, *left);
            *left -= done.map_err(|stopped| stopped.class())?;
        }
        Ok(())
    }
}

/// A flip as machine code has it: scalar registers stand beside the vector ones in traces, as predicates do, and the condition code behind them.
fn in_code(what: &What) -> warpwatt_gcn::Upset<'_> {
    use warpwatt_gcn::{Flip, Upset};
    let wave = |warp: u32, executed: u64, what| Upset::Wave {
        wave: warp as usize,
        executed,
        what,
    };
    match *what {
        What::Register {
            warp,
            step,
            register,
            lane,
            bit,
        } => {
            let number = register.number;
            let flip = match (register.kind, number) {
                (RegisterKind::Predicate, SCC) => Flip::Condition,
                (RegisterKind::Predicate, _) => Flip::Scalar {
                    register: number as u8,
                    bit: bit as u8,
                },
                _ => Flip::Vector {
                    register: number as u8,
                    lane: lane as u8,
                    bit: bit as u8,
                },
            };
            wave(warp, step, flip)
        }
        What::Instruction { warp, step, bit } => wave(warp, step, Flip::Word { bit: bit as u8 }),
        What::Shared { bit, ref cut } => Upset::Share { cut, bit },
    }
}

/// The number of the condition code in traces.
const SCC: u16 = 128;

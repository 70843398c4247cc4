//! What wavefronts do in a window of a run, as its timeline has it.

use warpwatt_gpu::trace::{KernelTrace, Register, RegisterKind, StaticInst, Step, Unit};
use warpwatt_reliability::inject::{LaunchLine, Moments, Timeline, WarpLine};

/// A wavefront of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wave {
    pub launch: usize,
    pub number: usize,
}

/// A dynamic instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct At {
    pub issued: u64,
    pub wave: Wave,
    pub step: usize,
}

/// The timeline with indices over it.
pub struct Lines<'t> {
    timeline: &'t Timeline,
    traces: &'t [KernelTrace],
    slots: usize,
    /// Wavefronts of each slot of each SM, in the order of their placement.
    stays: Vec<Vec<Wave>>,
    /// Instructions of each SM that went to SIMDs, SIMFs, memory, and the scalar unit, by the time of their issue.
    issues: Vec<[Vec<At>; 4]>,
    /// Instructions of each SM by the time they were decoded.
    delivered: Vec<Vec<(u64, At)>>,
}

/// Where an instruction goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    Integer,
    Float,
    Memory,
    Scalar,
}

fn port(inst: &StaticInst) -> Option<Port> {
    match inst.unit {
        Unit::Int => Some(Port::Integer),
        Unit::Fp32 | Unit::Fp64 | Unit::Sfu => Some(Port::Float),
        Unit::Memory => Some(Port::Memory),
        Unit::Scalar | Unit::Control => Some(Port::Scalar),
        _ => None,
    }
}

impl<'t> Lines<'t> {
    pub fn new(
        timeline: &'t Timeline,
        traces: &'t [KernelTrace],
        sms: usize,
        slots: usize,
    ) -> Self {
        let mut lines = Self {
            timeline,
            traces,
            slots,
            stays: vec![Vec::new(); sms * slots],
            issues: vec![Default::default(); sms],
            delivered: vec![Vec::new(); sms],
        };
        for (launch, line) in timeline.launches.iter().enumerate() {
            for (number, warp) in line.warps.iter().enumerate() {
                let wave = Wave { launch, number };
                let sm = warp.sm as usize;
                lines.stays[sm * slots + usize::from(warp.slot)].push(wave);
                for (step, moments) in warp.steps.iter().enumerate() {
                    let at = At {
                        issued: moments.issued,
                        wave,
                        step,
                    };
                    if let Some(port) = port(&traces[launch].code[moments.inst as usize]) {
                        lines.issues[sm][port as usize].push(at);
                    }
                    lines.delivered[sm].push((moments.delivered, at));
                }
            }
        }
        lines
            .issues
            .iter_mut()
            .flatten()
            .for_each(|list| list.sort_unstable());
        lines
            .delivered
            .iter_mut()
            .for_each(|list| list.sort_unstable());
        for list in &mut lines.stays {
            list.sort_by_key(|wave| timeline.launches[wave.launch].warps[wave.number].from);
        }
        lines
    }

    pub fn launch(&self, wave: Wave) -> &'t LaunchLine {
        &self.timeline.launches[wave.launch]
    }

    pub fn line(&self, wave: Wave) -> &'t WarpLine {
        &self.launch(wave).warps[wave.number]
    }

    pub fn trace(&self, wave: Wave) -> &'t KernelTrace {
        &self.traces[wave.launch]
    }

    /// Its work-group, and its number there.
    pub fn place(&self, wave: Wave) -> (usize, usize) {
        let warps = self.launch(wave).warps_per_cta;
        (wave.number / warps, wave.number % warps)
    }

    pub fn inst(&self, at: At) -> &'t StaticInst {
        let moments = self.moments(at);
        &self.trace(at.wave).code[moments.inst as usize]
    }

    pub fn moments(&self, at: At) -> &'t Moments {
        &self.line(at.wave).steps[at.step]
    }

    /// The instruction as it was executed.
    pub fn step(&self, at: At) -> Option<Step> {
        let (cta, warp) = self.place(at.wave);
        self.trace(at.wave).warp_held(cta, warp).nth(at.step)
    }

    /// Who is in a slot.
    pub fn stay(&self, sm: usize, slot: usize, cycle: u64) -> Option<Wave> {
        let stays = self.stays.get(sm * self.slots + slot)?;
        let after = stays.partition_point(|wave| self.line(*wave).from <= cycle);
        let wave = *stays.get(after.checked_sub(1)?)?;
        (cycle < self.line(wave).to).then_some(wave)
    }

    /// Wavefronts that are in a slot at some time of a window, those that are placed in it for `placed`.
    pub fn stays(
        &self,
        (sm, slot): (usize, usize),
        window: (u64, u64),
        placed: bool,
    ) -> impl Iterator<Item = Wave> + '_ {
        let stays = self.stays.get(sm * self.slots + slot);
        stays.into_iter().flatten().copied().filter(move |wave| {
            let line = self.line(*wave);
            let begins = if placed {
                line.from > window.0
            } else {
                line.to > window.0
            };
            begins && line.from <= window.1
        })
    }

    /// A wavefront's instructions from the first that issues behind a cycle on, up to the end of a window.
    pub fn issuing(&self, wave: Wave, (cycle, end): (u64, u64)) -> std::ops::Range<usize> {
        let steps = &self.line(wave).steps;
        let first = steps.partition_point(|step| step.issued <= cycle);
        let last = steps.partition_point(|step| step.issued <= end);
        first..last.max(first)
    }

    /// The instruction that waits for issue in a slot, if there is one.
    pub fn waiting(&self, wave: Wave, cycle: u64) -> Option<At> {
        let steps = &self.line(wave).steps;
        let step = steps.partition_point(|step| step.issued <= cycle);
        let moments = steps
            .get(step)
            .filter(|moments| moments.delivered <= cycle)?;
        Some(At {
            issued: moments.issued,
            wave,
            step,
        })
    }

    /// Instructions of a unit, in the order of their issue.
    pub fn unit(&self, sm: usize, port: Port) -> &[At] {
        &self.issues[sm][port as usize]
    }

    /// The instruction that is decoded in a cycle.
    pub fn decoded(&self, sm: usize, cycle: u64) -> Option<At> {
        let list = &self.delivered[sm];
        let at = list.partition_point(|(delivered, _)| *delivered < cycle);
        list.get(at)
            .filter(|(delivered, _)| *delivered == cycle)
            .map(|(_, at)| *at)
    }

    /// Whether an instruction of the window names a register.
    pub fn names(&self, wave: Wave, range: std::ops::Range<usize>, register: Register) -> bool {
        self.any(wave, range, |inst| {
            inst.sources.contains(&register) || inst.destinations.contains(&register)
        })
    }

    /// Whether an instruction of the window is such a one.
    pub fn any(
        &self,
        wave: Wave,
        mut range: std::ops::Range<usize>,
        is: impl Fn(&StaticInst) -> bool,
    ) -> bool {
        let line = self.line(wave);
        let code = &self.trace(wave).code;
        range.any(|step| is(&code[line.steps[step].inst as usize]))
    }

    /// The instruction under way that has yet to write a register in that lane.
    pub fn writer(
        &self,
        wave: Wave,
        cycle: u64,
        (register, lane): (Register, Option<u32>),
    ) -> Option<At> {
        let steps = &self.line(wave).steps;
        let end = steps.partition_point(|step| step.issued <= cycle);
        let found = (end.saturating_sub(UNDER_WAY)..end).rev().find(|step| {
            let moments = &steps[*step];
            moments.written > cycle
                && self.trace(wave).code[moments.inst as usize]
                    .destinations
                    .contains(&register)
        })?;
        let at = At {
            issued: steps[found].issued,
            wave,
            step: found,
        };
        let writes = |lane: u32| {
            self.step(at)
                .is_some_and(|step| step.executed >> lane & 1 != 0)
        };
        lane.is_none_or(writes).then_some(at)
    }
}

/// More instructions of a wavefront than may be under way.
const UNDER_WAY: usize = 64;

/// A vector register.
pub fn vector(number: u64) -> Register {
    Register {
        kind: RegisterKind::Word,
        number: number as u16,
    }
}

/// A scalar register, as traces have it.
pub fn scalar(number: u64) -> Register {
    Register {
        kind: RegisterKind::Predicate,
        number: number as u16,
    }
}

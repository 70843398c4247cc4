//! A launch as its warps execute it where operations come late: back to the beginning of the region, as often as it takes.
//!
//! Whether an instruction has an error is drawn from its chance, the same draws whenever a launch is run. It is noticed when all that the warp has under way has ended; then the warp goes back, and the
//! region runs again up to where it was.

use std::sync::Arc;

use warpwatt_gpu::trace::{
    Flow, KernelTrace, LaneMask, Register, RegisterKind, StaticInst, Step, StoreError, Unit,
    WarpRecorder,
};

use super::chances::Chances;
use super::regions::{Region, Rule, is_done_once};

/// Errors in one region after which it is taken to have no end.
const MOST_ERRORS: u32 = 1_000;
/// One warp, one thing.
const ONE_LANE: LaneMask = 1;
/// What going back leaves for the wait behind it: none of a program's predicates.
const GONE_BACK: Register = Register {
    kind: RegisterKind::Predicate,
    number: u16::MAX,
};

/// What became of launches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Replayed {
    pub launches: u64,
    /// Instructions of the program.
    pub instructions: u64,
    /// Regions of it.
    pub regions: u64,
    /// Instructions of it that were executed once more.
    pub again: u64,
    pub errors: u64,
    /// What errors are expected of the program's instructions, each executed once.
    pub expected: f64,
}

impl Replayed {
    fn one() -> Self {
        Self {
            launches: 1,
            ..Self::default()
        }
    }

    /// Of these and of those.
    pub fn and(self, others: Self) -> Self {
        Self {
            launches: self.launches + others.launches,
            instructions: self.instructions + others.instructions,
            regions: self.regions + others.regions,
            again: self.again + others.again,
            errors: self.errors + others.errors,
            expected: self.expected + others.expected,
        }
    }
}

/// What a launch without errors is made of.
///
/// # Errors
/// The trace cannot be read where it is kept.
pub(super) fn surveyed(trace: &KernelTrace, rule: Rule) -> Result<Replayed, StoreError> {
    let mut found = Replayed::one();
    for cta in 0..trace.ctas() {
        for warp in 0..trace.launch.warps_per_cta() {
            let mut region = Region::new(rule);
            let mut open = false;
            for step in trace.warp(cta, warp)? {
                found.instructions += 1;
                open = !region.ends_behind(&trace.code[step.inst as usize], &step);
                found.regions += u64::from(!open);
            }
            found.regions += u64::from(open);
        }
    }
    Ok(found)
}

/// The launch with what is executed again; `launch` numbers launches of a run. Behind the program's code are two instructions more, of which the last is how a warp goes
/// back, and the other how it waits for all that it has under way.
///
/// # Errors
/// If a region has no end, because it hardly ever passes without an error.
pub(super) fn replayed(
    trace: &KernelTrace,
    (chances, rule, launch): (&Chances, Rule, u64),
) -> Result<(KernelTrace, Replayed), String> {
    let mut code: Vec<StaticInst> = trace.code.to_vec();
    code.extend([waiting(), going_back()]);
    let mut done = trace.another(Arc::from(code));
    let mut found = Replayed::one();
    let mut recorder = WarpRecorder::default();
    let warps = trace.launch.warps_per_cta();
    for cta in 0..trace.ctas() {
        for warp in 0..warps {
            recorder.clear();
            let number = launch << 40 ^ (cta * warps + warp) as u64;
            let mut replay = Replay {
                code: &trace.code,
                chances,
                dice: Dice(number),
                recorder: &mut recorder,
                found: &mut found,
            };
            let mut steps = Vec::new();
            let mut region = Region::new(rule);
            for step in trace.warp(cta, warp)? {
                let ends = region.ends_behind(&trace.code[step.inst as usize], &step);
                steps.push(step);
                if ends {
                    replay.region(&steps)?;
                    steps.clear();
                }
            }
            replay.region(&steps)?;
            done.push_warp(&recorder)?;
        }
    }
    Ok((done, found))
}

/// One warp's.
struct Replay<'t, 'r> {
    code: &'t [StaticInst],
    chances: &'t Chances,
    dice: Dice,
    recorder: &'r mut WarpRecorder,
    found: &'r mut Replayed,
}

impl Replay<'_, '_> {
    /// A region, until it is through.
    fn region(&mut self, steps: &[Step]) -> Result<(), String> {
        self.found.instructions += steps.len() as u64;
        self.found.regions += u64::from(!steps.is_empty());
        self.found.expected += steps.iter().map(|step| self.chance(step)).sum::<f64>();
        let (mut next, mut furthest, mut errors) = (0, 0, 0);
        while let Some(step) = steps.get(next) {
            let inst = &self.code[step.inst as usize];
            let fails =
                self.dice.uniform() < self.chances.of(inst.unit, step.executed.count_ones());
            if !(fails && is_done_once(inst)) {
                self.recorder.again(step, step.inst);
                self.found.again += u64::from(next < furthest);
                furthest = furthest.max(next + 1);
            }
            next += 1;
            if fails {
                errors += 1;
                if errors > MOST_ERRORS {
                    return Err(format!(
                        "a region of {} instructions has an error each time: it never ends at so low a supply or so short a period",
                        steps.len()
                    ));
                }
                self.go_back();
                next = 0;
            }
        }
        self.found.errors += u64::from(errors);
        Ok(())
    }

    fn chance(&self, step: &Step) -> f64 {
        let unit = self.code[step.inst as usize].unit;
        self.chances.of(unit, step.executed.count_ones())
    }

    fn go_back(&mut self) {
        let wait = self.code.len() as u32;
        for inst in [wait, wait + 1, wait] {
            self.recorder.step(inst, ONE_LANE, ONE_LANE);
        }
    }
}

/// Random numbers (Steele, Lea and Flood, OOPSLA 2014: SplitMix).
struct Dice(u64);

impl Dice {
    /// At least zero, below one.
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((bits ^ bits >> 31) >> 11) as f64) / (1_u64 << 53) as f64
    }
}

/// What waits for all that its warp has under way.
fn waiting() -> StaticInst {
    StaticInst {
        uniform: true,
        ..StaticInst::bare(Unit::Fence)
    }
}

/// A branch to where the region begins.
fn going_back() -> StaticInst {
    StaticInst {
        unit: Unit::Control,
        flow: Some(Flow::Branch),
        destinations: vec![GONE_BACK],
        ..waiting()
    }
}

//! A launch that is not timed whole: what was counted in stretches of time, and what that says of the rest.

use warpwatt_activity::Activity;

use super::{Gpu, Grid};
use crate::GpuError;
use crate::counters::{Counter, Counts, Selection};
use crate::sampling::{Batch, LaunchSample, Plan, Way};
use crate::sm::{Attached, Paces, Passed, Places, Sm};

/// What is put down to what was left out, over all launches.
#[derive(Clone, Debug, Default)]
pub(super) struct Estimated {
    pub cycles: u64,
    pub counted: Parts,
}

/// Counts by where they belong.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    /// To no SM.
    pub memory: Activity,
    pub sms: Vec<Activity>,
}

impl Parts {
    /// Warp instructions issued.
    fn issued(&self) -> u64 {
        let issued = Counter::WarpInstructions.name();
        self.sms.iter().map(|sm| sm.get(issued)).sum()
    }

    fn since(&self, before: &Self) -> Self {
        let sms = self.sms.iter().zip(&before.sms);
        Self {
            memory: self.memory.since(&before.memory),
            sms: sms.map(|(sm, before)| sm.since(before)).collect(),
        }
    }

    fn add_times(&mut self, other: &Self, factor: f64) {
        self.memory += &other.memory.times(factor);
        self.sms.resize_with(other.sms.len(), Activity::new);
        for (sm, other) in self.sms.iter_mut().zip(&other.sms) {
            *sm += &other.times(factor);
        }
    }

    fn whole(&self) -> Activity {
        let mut whole = self.memory.clone();
        self.sms.iter().for_each(|sm| whole += sm);
        whole
    }
}

/// The counts at a moment.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    cycle: u64,
    counts: Parts,
    /// Blocks of memory accessed.
    blocks: u64,
}

impl Mark {
    /// Warp instructions issued until then.
    pub fn issued(&self) -> u64 {
        self.counts.issued()
    }

    pub fn since(&self, before: &Self) -> Stretch {
        Stretch {
            cycles: self.cycle - before.cycle,
            counted: self.counts.since(&before.counts),
            blocks: self.blocks - before.blocks,
            passed: Passed::default(),
            live: Vec::new(),
        }
    }
}

/// What was counted between two moments.
#[derive(Clone, Debug)]
pub(super) struct Stretch {
    pub cycles: u64,
    pub counted: Parts,
    /// Blocks of memory that were accessed.
    pub blocks: u64,
    /// What was left out behind it.
    pub passed: Passed,
    /// Warps of each SM that went on.
    pub live: Vec<u64>,
}

/// Counted otherwise where warps go on: CTAs and warps as they begin, and how long warps live by who is alive.
const ALIVE: [Counter; 3] = [Counter::Ctas, Counter::Warps, Counter::ResidentWarpCycles];

impl Stretch {
    /// Warp instructions issued in it.
    pub fn issued(&self) -> u64 {
        self.counted.issued().max(1)
    }

    /// Sectors that the second-level cache was asked for.
    pub fn shared_accesses(&self) -> u64 {
        let memory = &self.counted.memory;
        memory.get(Counter::L2Reads.name()) + memory.get(Counter::L2Writes.name())
    }

    /// What [`ALIVE`] says.
    fn count_alive(&mut self) {
        for (sm, live) in self.counted.sms.iter_mut().zip(&self.live) {
            ALIVE.iter().for_each(|counter| sm.remove(counter.name()));
            sm.add(Counter::ResidentWarpCycles.name(), live * self.cycles);
        }
    }
}

/// How far the sampling of a launch has come.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// How many CTAs are placed when something is to be done.
    pub stop: usize,
    /// The cycle in which something is to be done.
    pub next: u64,
    /// Where the wave began that is timed.
    pub begun: Option<Mark>,
    pub stretches: Vec<Stretch>,
    /// Marks since warps went on last, a window apart, and what was issued until the last one.
    pub windows: Vec<Mark>,
    pub issued: u64,
    /// When the launch began, when it was timed again, and cycles that were left out, roughly.
    pub start: u64,
    pub resumed: u64,
    pub left_out: u64,
    /// Warp instructions that were issued or left out, roughly.
    pub behind: u64,
    /// How fast warps get on, and where those of each SM were when they were seen last.
    pub paces: Paces,
    pub places: Vec<Places>,
}

impl Progress {
    /// Of a launch that begins.
    pub fn begin(plan: Option<&Plan>, now: u64) -> Self {
        Self {
            stop: match plan {
                Some(Plan::Waves(picks)) => picks.next_stop(0).unwrap_or(usize::MAX),
                _ => usize::MAX,
            },
            next: match plan {
                Some(Plan::Jumps(_)) => now + super::jumps::FIRST,
                _ => u64::MAX,
            },
            start: now,
            resumed: now,
            ..Self::default()
        }
    }
}

impl Gpu<'_, '_> {
    /// Before the next CTA is placed, CTAs are left out, or a wave begins that is counted by itself.
    pub(super) fn stop(&mut self, now: u64, grid: &mut Grid<'_>) -> Result<(), GpuError> {
        let Some(Plan::Waves(picks)) = grid.plan else {
            grid.sampling.stop = usize::MAX;
            return Ok(());
        };
        if picks.marks.contains(&grid.placed) {
            let mark = self.mark(now, grid);
            if let Some(from) = grid.sampling.begun.replace(mark.clone()) {
                grid.sampling.stretches.push(mark.since(&from));
            }
        }
        let gap = picks.gap(grid.placed);
        if !gap.is_empty() {
            self.memory.warm(grid.trace, gap, grid.finished as u64)?;
        }
        grid.sampling.stop = picks.next_stop(grid.placed + 1).unwrap_or(usize::MAX);
        Ok(())
    }

    pub(super) fn mark(&mut self, cycle: u64, grid: &Grid<'_>) -> Mark {
        for attached in self.sms.attached() {
            attached.up_to(cycle);
        }
        let of_sms = Selection::of_sms();
        let one = |(sm, with): (&Sm, &Attached)| {
            let (mut counts, mut attached) = (Counts::new(), Activity::new());
            let at = (cycle, Some(grid.program));
            sm.so_far(at, with, &of_sms, (&mut counts, &mut attached));
            attached += &counts.activity(&of_sms);
            attached
        };
        Mark {
            cycle,
            counts: Parts {
                memory: self.memory.counts.activity(&Selection::in_total()),
                sms: self.sms.iter().map(one).collect(),
            },
            blocks: self.sms.iter().map(|(sm, _)| sm.blocks_accessed()).sum(),
        }
    }

    /// The launch has ended: what was timed of it, if that was not all. What its stretches stand for is estimated with that.
    pub(super) fn sample(&mut self, grid: &mut Grid<'_>) -> Option<LaunchSample> {
        let mut stretches = std::mem::take(&mut grid.sampling.stretches);
        match grid.plan? {
            Plan::Waves(picks) => share_out(&mut stretches, picks.skipped(grid.trace)),
            Plan::Jumps(_) => stretches.iter_mut().for_each(Stretch::count_alive),
        }
        let skipped = match grid.plan? {
            Plan::Waves(_) => stretches.iter().map(|it| it.passed.instructions).collect(),
            Plan::Jumps(_) => calibrated(&stretches, &around(&stretches)),
        };
        let batches = stretches.iter().zip(skipped);
        let batches = batches.map(|(stretch, skipped)| self.stands(stretch, skipped));
        let batches: Vec<Batch> = batches.collect();
        (!batches.is_empty()).then(|| LaunchSample {
            warp_instructions: grid.trace.warp_instructions(),
            way: match grid.plan {
                Some(Plan::Waves(_)) => Way::Ctas,
                _ => Way::Any,
            },
            batches,
        })
    }

    /// A stretch stands for `skipped` warp instructions besides its own.
    fn stands(&mut self, stretch: &Stretch, skipped: u64) -> Batch {
        let factor = skipped as f64 / stretch.issued() as f64;
        self.estimated.cycles += (stretch.cycles as f64 * factor).round() as u64;
        self.estimated.counted.add_times(&stretch.counted, factor);
        let mut activity = stretch.counted.whole();
        activity.add(Counter::Cycles.name(), stretch.cycles);
        Batch {
            activity,
            skipped,
            passed: stretch.passed.instructions,
        }
    }
}

/// What was left out in equal parts.
fn share_out(stretches: &mut [Stretch], skipped: u64) {
    let count = stretches.len().max(1) as u64;
    let up_to = |number: u64| skipped * number / count;
    for (number, stretch) in (0..).zip(stretches) {
        stretch.passed.instructions = up_to(number + 1) - up_to(number);
    }
}

/// What is left out between two stretches takes as long as if the rate went evenly from that of the one to that of the other; half of that time is put down to
/// each. Gives that as warp instructions.
fn around(stretches: &[Stretch]) -> Vec<f64> {
    let rate = |stretch: &Stretch| stretch.issued() as f64 / stretch.cycles.max(1) as f64;
    let mut shares = vec![0.0; stretches.len()];
    for (number, stretch) in stretches.iter().enumerate() {
        let next = (number + 1).min(stretches.len() - 1);
        let (here, there) = (rate(stretch), rate(&stretches[next]));
        let half = stretch.passed.instructions as f64 / (here + there);
        shares[number] += half * here;
        shares[next] += half * there;
    }
    shares
}

/// Blocks an instruction that differ by less than this part are taken as the same.
const SAME: f64 = 0.01;

/// `shares` changed so that what they stand for accesses as many blocks of memory as what was left out, which is known (regression estimator: Cochran, Sampling
/// Techniques, 1977, chapter 7; as weights: Deville and Särndal, Calibration Estimators in Survey Sampling, 1992, equation 2.5). Stretches see too much of what takes little
/// memory or too much of what takes a lot, as warps do not come to lie quite where they would.
fn calibrated(stretches: &[Stretch], shares: &[f64]) -> Vec<u64> {
    let blocks = |stretch: &Stretch| stretch.blocks as f64 / stretch.issued() as f64;
    let mean = |of: &dyn Fn(&Stretch) -> f64| {
        let each = stretches.iter().zip(shares);
        let sum: f64 = each.map(|(it, share)| share * of(it)).sum();
        sum / shares.iter().sum::<f64>()
    };
    let mut passed = Passed::default();
    stretches.iter().for_each(|it| passed += it.passed);
    let known = passed.blocks as f64 / passed.instructions as f64;
    let seen = mean(&blocks);
    // What differs by less than that between stretches says nothing of them (ridge calibration: Chambers, Robust Case-Weighting for Multipurpose Establishment
    // Surveys, 1996).
    let spread = mean(&|it| (blocks(it) - seen).powi(2)) + (SAME * seen).powi(2);
    let apart = || stretches.iter().map(|it| blocks(it) - seen);
    let least = apart().fold(-f64::MIN_POSITIVE, f64::min);
    let most = apart().fold(f64::MIN_POSITIVE, f64::max);
    // No share falls below zero.
    let slope = ((known - seen) / spread).clamp(-1.0 / most, -1.0 / least);
    let slope = if slope.is_nan() { 0.0 } else { slope };
    let each = stretches.iter().zip(shares);
    let each = each.map(|(it, share)| share * (1.0 + slope * (blocks(it) - seen)));
    each.map(|share| share.round() as u64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stretch of 1000 warp instructions and 10,000 behind it, that access so many blocks.
    fn stretch(blocks: u64, blocks_behind: u64) -> Stretch {
        let issued = [(Counter::WarpInstructions.name(), 1000)];
        Stretch {
            cycles: 2000,
            counted: Parts {
                memory: Activity::new(),
                sms: vec![issued.into_iter().collect()],
            },
            blocks,
            passed: Passed {
                instructions: 10_000,
                blocks: blocks_behind,
            },
            live: Vec::new(),
        }
    }

    #[test]
    fn stretches_stand_for_as_many_blocks_as_were_left_out() {
        let shares = [10_000.0; 3];
        let of = |blocks: [u64; 3], behind: u64| {
            let stretches = blocks.map(|blocks| stretch(blocks, behind));
            calibrated(&stretches, &shares)
        };
        // 100 in 1000 on average, as behind: nothing changes.
        assert_eq!(of([50, 100, 150], 1000), [10_000; 3]);
        // 120 in 1000 behind.
        let weights = of([50, 100, 150], 1200);
        assert_eq!(weights.iter().sum::<u64>(), 30_000);
        let blocks = weights.iter().zip([50, 100, 150]);
        let blocks: u64 = blocks.map(|(weight, blocks)| weight * blocks).sum();
        assert!(blocks.abs_diff(3_600_000) < 3600, "{blocks}");
        // More than any of them has: no share falls below zero.
        let weights = of([50, 100, 150], 9000);
        assert_eq!(weights, [0, 10_000, 20_000]);
        // Little tells them apart, or nothing.
        let weights = of([100, 100, 101], 1005);
        assert!(
            weights.iter().all(|weight| weight.abs_diff(10_000) < 1000),
            "{weights:?}"
        );
        assert_eq!(of([100; 3], 1200), [10_000; 3]);
        assert_eq!(of([0; 3], 0), [10_000; 3]);
    }
}

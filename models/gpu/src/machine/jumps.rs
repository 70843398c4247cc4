//! A launch of few waves is timed in stretches, between which its warps go on without being timed.
//!
//! As in SMARTS (Wunderlich et al., ISCA 2003): what lies between is executed for what it leaves in the caches, and time goes by until the pipeline is as it would be.
//! Stretches lie at equal distances in warp instructions; where a launch begins, and where its warps come to their ends, distances are shorter.

use warpwatt_simt::trace::KernelTrace;

use super::sampled::{Mark, Progress, Stretch};
use super::{Gpu, Grid};
use crate::GpuError;
use crate::sm::{Passed, Places, Road, Shared};

/// Cycles after a jump in which nothing is measured, and those of a window that is: more where warps issue less than so many instructions each in them.
const SETTLES: u64 = 2000;
const WINDOW: u64 = 2000;
const LEAST_ISSUED: u64 = 10;

/// What is measured are two windows whose rates differ by less than this part: until then, what a jump or a new phase left unsettled is settling.
const STEADY: f64 = 0.05;

/// Windows after which that is waited for no longer: there are launches that are never steady.
const MOST_WINDOWS: usize = 8;

/// When the first window begins.
pub(super) const FIRST: u64 = 2 * SETTLES;

/// Jumps that are shorter, by what was measured before them, gain too little.
const LEAST_FACTOR: f64 = 2.0;

/// Rounds of a jump, and what each of them leaves to those behind it: what lies in the caches then is of all warps, however far they go.
const ROUNDS: i32 = 40;
const LEFT: f64 = 0.85;

/// How often what is brought fills the second-level cache: what was there before is replaced, and what is used again and again has come more than once.
const FILLINGS: f64 = 8.0;

impl Gpu<'_, '_> {
    /// A window begins, or the last one has ended and warps go on.
    pub(super) fn step(
        &mut self,
        now: u64,
        grid: &mut Grid<'_>,
        batches: u32,
    ) -> Result<(), GpuError> {
        let mark = self.mark(now, grid);
        let live: u64 = self.live().sum();
        if mark.issued() < grid.sampling.issued + LEAST_ISSUED * live {
            grid.sampling.next = now + WINDOW;
            return Ok(());
        }
        self.see_paces(grid, true);
        grid.sampling.issued = mark.issued();
        grid.sampling.windows.push(mark);
        let Some(mut stretch) = measured(&grid.sampling.windows) else {
            grid.sampling.next = now + WINDOW;
            return Ok(());
        };
        grid.sampling.windows.clear();
        let sampling = &mut grid.sampling;
        if sampling.stretches.is_empty() && !is_worth_it(&stretch, grid.trace, batches) {
            sampling.next = u64::MAX;
            return Ok(());
        }
        sampling.behind += stretch.issued() * (now - sampling.resumed) / stretch.cycles;
        sampling.resumed = now;
        let factor = self.distance(&stretch, now, grid, batches);
        if factor < LEAST_FACTOR {
            grid.sampling.next = now;
            return Ok(());
        }
        stretch.passed = self.jump(&stretch, factor, grid)?;
        stretch.live = self.live().collect();
        self.see_paces(grid, false);
        let sampling = &mut grid.sampling;
        let passed = stretch.passed.instructions;
        sampling.behind += passed;
        sampling.left_out += stretch.cycles * passed / stretch.issued();
        sampling.stretches.push(stretch);
        sampling.next = now + SETTLES;
        Ok(())
    }

    /// How far to go on after a stretch, as a multiple of it: no further than half as far as the launch has come, in instructions and in time, than a quarter of what is
    /// left, and than what runs stays nearly the same.
    fn distance(&self, stretch: &Stretch, now: u64, grid: &Grid<'_>, batches: u32) -> f64 {
        let whole = grid.trace.warp_instructions();
        let sampling = &grid.sampling;
        let wanted = (whole / u64::from(batches))
            .min(sampling.behind / 2)
            .min(whole.saturating_sub(sampling.behind) / 4);
        let elapsed = (now - sampling.start + sampling.left_out) / 2;
        (wanted as f64 / stretch.issued() as f64)
            .min(elapsed as f64 / stretch.cycles as f64)
            .min(self.before_the_end(stretch, grid))
    }

    /// How far until one of ten warps is at its end, or as long as CTAs are left to take the places of those that are.
    fn before_the_end(&self, stretch: &Stretch, grid: &Grid<'_>) -> f64 {
        let trace = grid.trace;
        let whole = trace.warp_instructions() as f64;
        let mut left: Vec<usize> = self.sms.iter().flat_map(|(sm, _)| sm.left()).collect();
        if left.is_empty() {
            return 0.0;
        }
        let place = left.len() / 10;
        let (_, &mut first, _) = left.select_nth_unstable(place);
        let to_end = first as f64 * whole / trace.record_bytes().max(1) as f64;
        let to_come = (grid.ctas - grid.placed) as f64 / grid.ctas as f64 * whole;
        let most = to_end.max(to_come / left.len() as f64);
        let fastest = self.paces(grid).flatten().fold(0.0, f64::max);
        most * self.speed(grid) / (fastest * stretch.issued() as f64).max(1.0)
    }

    /// How many warps each SM has.
    fn live(&self) -> impl Iterator<Item = u64> {
        let live = self.sms.iter().map(|(sm, _)| sm.live().count_ones());
        live.map(u64::from)
    }

    /// The paces of the warps of each SM.
    fn paces(&self, grid: &Grid<'_>) -> impl Iterator<Item = Vec<f64>> {
        self.live()
            .map(|live| grid.sampling.paces.of(live as usize))
    }

    /// The paces of all warps together.
    fn speed(&self, grid: &Grid<'_>) -> f64 {
        self.paces(grid).flatten().sum()
    }

    /// Sees how far warps are; what they have issued since they were seen last says how fast they are, if they were `timed`.
    fn see_paces(&self, grid: &mut Grid<'_>, timed: bool) {
        let Progress { paces, places, .. } = &mut grid.sampling;
        places.resize_with(self.sms.len(), Places::default);
        if timed {
            paces.fade();
        }
        for ((sm, _), places) in self.sms.iter().zip(places) {
            let issued = sm.issued_since(places);
            if timed {
                paces.see(&issued);
            }
        }
    }

    /// Warps go on, together `factor` times as far as in `stretch`.
    fn jump(
        &mut self,
        stretch: &Stretch,
        factor: f64,
        grid: &mut Grid<'_>,
    ) -> Result<Passed, GpuError> {
        let whole = stretch.issued() as f64 * factor / self.speed(grid).max(1.0);
        // From the round on from which there is as much to bring as is kept.
        let to_bring = stretch.shared_accesses() as f64 * factor;
        let kept = FILLINGS * self.spec.shared_sectors() as f64;
        let (now, ground) = (self.queue.now(), grid.ground(self.spec));
        let (placed, finished, ctas) = (&mut grid.placed, &mut grid.finished, grid.ctas);
        let mut next_cta = || {
            let next = (*placed < ctas).then_some(*placed)?;
            *placed += 1;
            *finished += 1;
            Some(next)
        };
        let mut road = Road {
            trace: grid.trace,
            next_cta: &mut next_cta,
            paces: &grid.sampling.paces,
            brings: true,
        };
        let mut passed = Passed::default();
        for round in 0..ROUNDS {
            let left = LEFT.powi(round);
            road.brings = to_bring * left <= kept || round == ROUNDS - 1;
            let part = whole * left * (1.0 - LEFT);
            for number in 0..self.sms.len() {
                let (sm, attached) = self.sms.at(number);
                let (queue, memory) = (&mut self.queue, &mut self.memory);
                let mut world = ground.world(now, attached, Shared::Here { queue, memory });
                passed += sm.jump(&mut road, part, &mut world)?;
            }
        }
        for number in 0..self.sms.len() {
            self.ticks
                .set(number, now, self.sms.at(number).0.wakes(now));
        }
        Ok(passed)
    }
}

/// What was measured in the last two windows, once it is steady.
fn measured(windows: &[Mark]) -> Option<Stretch> {
    let [.., first, between, last] = windows else {
        return None;
    };
    let rate = |stretch: Stretch| stretch.issued() as f64 / stretch.cycles as f64;
    let (before, after) = (rate(between.since(first)), rate(last.since(between)));
    let is_steady = (after / before).ln().abs() < STEADY;
    (is_steady || windows.len() > MOST_WINDOWS).then(|| last.since(first))
}

/// Whether what is timed would be a small part of a launch, if it goes on as it began.
fn is_worth_it(stretch: &Stretch, trace: &KernelTrace, batches: u32) -> bool {
    let whole = trace.warp_instructions() as f64;
    let cycles = whole / stretch.issued() as f64 * stretch.cycles as f64;
    cycles > 4.0 * (u64::from(batches) * (SETTLES + stretch.cycles)) as f64
}

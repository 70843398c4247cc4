//! Timing a part of a launch in place of all of it.
//!
//! *Whole CTAs are left out* of grids of many waves. Such a grid is in a steady state most of the time: whenever a CTA has finished, the next one takes its place. What
//! runs is the grid without some of its CTAs, and the GPU does not notice: SMs stay full, and what the others would have brought into the second-level cache is
//! brought there (functional warming: Wunderlich et al., SMARTS, ISCA 2003). Batches are a wave each. The first waves and the last ones are timed whole, and what
//! is left out is whole waves, so that the last one is as full as it was.
//!
//! *Stretches of all warps are left out* where a grid has few waves (`machine/jumps.rs`).
//!
//! What is left out is put down at the counts a warp instruction of the batches around it (a ratio estimator: Cochran, Sampling Techniques, 1977, chapter 6); how many
//! instructions that are is known.

use warpwatt_activity::Activity;
use warpwatt_simt::trace::KernelTrace;

use crate::Hooks;
use crate::counters::Counter;

/// How much of a launch is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// Batches of each launch, [`LEAST_BATCHES`] at least.
    pub batches: u32,
    /// Which warps or CTAs are left out.
    pub way: Way,
}

impl Sampling {
    /// What can be left out where `hooks` are attached. Who places CTAs by a rule of its own, or sees where bits lie, sees all.
    pub(crate) fn beside(self, hooks: &Hooks) -> Option<Self> {
        if hooks.dispatcher.is_some() || !hooks.storage.is_empty() || !hooks.shared.is_empty() {
            return None;
        }
        let follows_warps = !hooks.issue.is_empty() || !hooks.fetch_observers.is_empty();
        Some(Self {
            way: if follows_warps { Way::Ctas } else { self.way },
            ..self
        })
    }
}

/// What is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Whole CTAs, of grids of many waves: whoever follows warps sees each from its start to its end.
    Ctas,
    /// That, or stretches of all warps where a grid has few waves. What is attached to the pipeline behind the front end sees warps that miss instructions.
    Any,
}

/// Batches from which a spread can be told.
pub const LEAST_BATCHES: u32 = 4;

/// Waves before the steady part: all of the first one begin at once, and the second one as they end.
const HEAD: usize = 2;

/// What was timed of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchSample {
    /// Warp instructions of the launch.
    pub warp_instructions: u64,
    /// What was left out.
    pub way: Way,
    /// What stands for what was not timed, in the order of time.
    pub batches: Vec<Batch>,
}

/// A stretch of time that was timed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// What was counted in it over the whole GPU, `cycles` and `warp_instructions` among it.
    pub activity: Activity,
    /// Warp instructions that were not timed and that it stands for.
    pub skipped: u64,
    /// Warp instructions between it and the next one that were not timed.
    pub passed: u64,
}

impl LaunchSample {
    /// Warp instructions that were not timed.
    pub fn skipped(&self) -> u64 {
        self.batches.iter().map(|batch| batch.skipped).sum()
    }

    /// Standard errors of what is put down to each gap between two batches, in the unit of `values`, what each batch has of a figure: by how much the two differ, as in the
    /// estimate of a systematic sample's variance by successive differences (Wolter, Introduction to Variance Estimation, 1985, chapter 8). By ratios, so that a
    /// rate that changes by orders of magnitude does not count as if the larger one could hold for all of the gap. Positive where a figure grows.
    pub fn errors(&self, values: &[f64]) -> Vec<f64> {
        let issued = |batch: &Batch| batch.activity.get(Counter::WarpInstructions.name()).max(1);
        let each = self.batches.iter().zip(values);
        let each = each.map(|(batch, value)| (batch.passed as f64, value / issued(batch) as f64));
        let each: Vec<(f64, f64)> = each.collect();
        let errors = each.windows(2).map(|two| {
            let ((passed, here), (_, there)) = (two[0], two[1]);
            if here <= 0.0 || there <= 0.0 {
                return passed * (there - here) / std::f64::consts::SQRT_2;
            }
            let between = 2.0 / (1.0 / here + 1.0 / there);
            passed * between * (there / here).ln() / std::f64::consts::SQRT_2
        });
        errors.collect()
    }
}

/// How a launch is timed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// Some of its CTAs.
    Waves(Picks),
    /// So many stretches of time.
    Jumps(u32),
}

/// Waves from which on whole CTAs are left out: stretches of time that are a small part of a launch would be many CTAs apart.
const MANY_WAVES: usize = 16;

/// As many waves are timed as there are, times the batches that are wanted, by this.
const WAVES: usize = 240;

impl Plan {
    /// That of a grid of `ctas` of which `resident` run at once.
    pub fn of(sampling: Sampling, ctas: usize, resident: usize) -> Option<Self> {
        let batches = sampling.batches.max(LEAST_BATCHES);
        let waves = ctas / resident;
        if sampling.way == Way::Any && waves < MANY_WAVES {
            return Some(Self::Jumps(batches));
        }
        let timed = (waves * batches as usize / WAVES).max(LEAST_BATCHES as usize);
        Picks::of(timed, ctas, resident).map(Self::Waves)
    }
}

/// The CTAs of a launch that are timed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Picks {
    /// Their numbers, in the order of the grid.
    pub ctas: Vec<u32>,
    /// Places among them at which a batch begins, or the last one ends.
    pub marks: Vec<usize>,
}

impl Picks {
    /// Those of a grid of `ctas` of which `resident` run at once on `sms` SMs; none if too few could be left out to be worth it.
    pub fn of(waves: usize, ctas: usize, resident: usize) -> Option<Self> {
        let steady = (ctas / resident).checked_sub(HEAD + 1)?;
        // At least as many are left out as are timed.
        if steady < 2 * waves {
            return None;
        }
        let end = (HEAD + steady) * resident;
        let mut picked: Vec<u32> = (0..(HEAD * resident) as u32).collect();
        let left_out = (steady - waves) * resident;
        for wave in 0..waves {
            // In the middle of its share of the grid.
            let first = (HEAD + wave) * resident + left_out * (2 * wave + 1) / (2 * waves);
            picked.extend((first..first + resident).map(|cta| cta as u32));
        }
        picked.extend((end..ctas).map(|cta| cta as u32));
        Some(Self {
            ctas: picked,
            marks: (HEAD..=HEAD + waves).map(|wave| wave * resident).collect(),
        })
    }

    /// The CTAs before the one at `place` that are left out.
    pub fn gap(&self, place: usize) -> std::ops::Range<usize> {
        let end = self.ctas.get(place).map_or(0, |&cta| cta as usize);
        let before = place
            .checked_sub(1)
            .map(|place| self.ctas[place] as usize + 1);
        before.unwrap_or(0).min(end)..end
    }

    /// The first place from `place` on at which something is to be done: a batch begins, or CTAs are left out before it.
    pub fn next_stop(&self, place: usize) -> Option<usize> {
        (place..=self.ctas.len())
            .find(|&place| self.marks.binary_search(&place).is_ok() || !self.gap(place).is_empty())
    }

    /// Warp instructions of the CTAs that are left out.
    pub fn skipped(&self, trace: &KernelTrace) -> u64 {
        let gaps = (0..self.ctas.len()).flat_map(|place| self.gap(place));
        gaps.map(|cta| steps(trace, cta)).sum()
    }
}

/// Warp instructions of a CTA.
fn steps(trace: &KernelTrace, cta: usize) -> u64 {
    let warps = 0..trace.launch.warps_per_cta();
    warps.map(|warp| u64::from(trace.steps(cta, warp))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The first waves and the last ones are there, whole waves are left out, and each batch is one.
        #[test]
        fn what_is_left_out_is_whole_waves(waves in 4usize..20, ctas in 1usize..5000, resident in 1usize..100) {
            let Some(picks) = Picks::of(waves, ctas, resident) else {
                prop_assert!(ctas / resident < HEAD + 1 + 2 * waves);
                return Ok(());
            };
            prop_assert!(picks.ctas.is_sorted_by(|one, next| one < next));
            let head: Vec<u32> = (0..(HEAD * resident) as u32).collect();
            prop_assert!(picks.ctas.starts_with(&head));
            let last = ((ctas - resident) as u32..ctas as u32).collect::<Vec<_>>();
            prop_assert!(picks.ctas.ends_with(&last));
            prop_assert_eq!((ctas - picks.ctas.len()) % resident, 0);
            let gaps: usize = (0..picks.ctas.len()).map(|place| picks.gap(place).len()).sum();
            prop_assert_eq!(gaps + picks.ctas.len(), ctas);
            prop_assert!(picks.marks.windows(2).all(|two| two[1] - two[0] == resident));
            prop_assert_eq!(picks.marks.len(), waves + 1);
        }
    }

    #[test]
    fn a_figure_that_does_not_change_has_no_error() {
        let batch = |issued: u64, passed| Batch {
            activity: [("warp_instructions", issued)].into_iter().collect(),
            skipped: passed,
            passed,
        };
        let sample = LaunchSample {
            warp_instructions: 1000,
            way: Way::Any,
            batches: vec![batch(10, 100), batch(20, 100), batch(10, 0)],
        };
        assert_eq!(sample.errors(&[5.0, 10.0, 5.0]), [0.0, 0.0]);
        let errors = sample.errors(&[5.0, 11.0, 5.0]);
        // 100 instructions at 0.5 or 0.55: their difference by the root of two.
        approx(errors[0], 100.0 * 0.05 / 2f64.sqrt());
        approx(errors[1], -100.0 * 0.05 / 2f64.sqrt());
    }

    fn approx(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 0.01, "{value} {expected}");
    }
}

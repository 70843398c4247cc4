//! What the time and the energy of a sampled run are uncertain by: each batch is priced as the run is.

use super::{Counted, all_priced};
use crate::outcome::{DISTURBANCE, Note, NoteKind, Point, SampleError, Sampled, Samples, Totals};
use crate::pricing::{CostTable, PricingError};
use crate::uncertainty::half_width;

/// By gaps, and by what leaving out disturbs. Configurations that leave out the same CTAs are off by the same, and what that disturbs is much the same in all.
pub(super) fn of(
    samples: &Samples,
    (point, counted): (&Point, &Counted),
    (time_s, energy_j): (f64, f64),
    table: &CostTable,
) -> Result<Sampled, PricingError> {
    let kernel = format!(
        "{} {} on {}",
        point.kernel.name, point.kernel.case, point.gpu
    );
    let own = match samples.whole_ctas() {
        true => "",
        false => &point.technique,
    };
    let mut errors = Vec::new();
    for launch in &samples.launches {
        let (mut seconds, mut joules) = (Vec::new(), Vec::new());
        for batch in &launch.batches {
            let of_batch = Counted {
                cycles: batch.activity.get("cycles"),
                activity: batch.activity.clone().into(),
                samples: None,
                windows: None,
                metrics: Vec::new().into(),
                notes: Vec::new(),
                ..counted.clone()
            };
            let totals = Totals::of(&all_priced(&of_batch, table, None)?);
            seconds.push(of_batch.cycles as f64 / counted.clock.si());
            joules.push(totals.dynamic_j + totals.leakage_j);
        }
        let gaps = launch.errors(&seconds).into_iter();
        for (time_s, energy_j) in gaps.zip(launch.errors(&joules)) {
            errors.push(SampleError {
                cause: format!("{kernel} {} {own}", errors.len()).into(),
                time_s,
                energy_j,
            });
        }
    }
    let disturbed = DISTURBANCE * samples.skipped();
    errors.push(SampleError {
        cause: kernel.into(),
        time_s: disturbed * time_s,
        energy_j: disturbed * energy_j,
    });
    Ok(Sampled {
        timed: 1.0 - samples.skipped(),
        errors,
    })
}

/// How much was timed, and how sure time and energy are for that.
pub(super) fn note(sampled: &Sampled, time_s: f64, energy_j: f64) -> Note {
    let percent = |part: f64| format!("{:.1} %", 100.0 * part);
    Note {
        kind: NoteKind::Sampled,
        text: format!(
            "timed is {} of the warp instructions; by what was left out time is known to ± {}, energy to ± {}",
            percent(sampled.timed),
            percent(half_width(sampled.time_sigma_s()) / time_s),
            percent(half_width(sampled.energy_sigma_j()) / energy_j)
        ).into(),
    }
}

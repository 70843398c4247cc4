//! What the time and the energy of a sampled run are uncertain by: each batch is priced as the run is.

use super::{Counted, all_priced};
use crate::outcome::{Sampled, Samples, Totals};
use crate::pricing::{CostTable, PricingError};

/// By gaps; what leaving out disturbs is not in it yet.
pub(super) fn of(
    samples: &Samples,
    counted: &Counted,
    table: &CostTable,
) -> Result<Sampled, PricingError> {
    let (mut time_s, mut energy_j) = (Vec::new(), Vec::new());
    for launch in &samples.launches {
        let (mut seconds, mut joules) = (Vec::new(), Vec::new());
        for batch in &launch.batches {
            let of_batch = Counted {
                cycles: batch.activity.get("cycles"),
                activity: batch.activity.clone(),
                samples: None,
                windows: None,
                metrics: Vec::new(),
                notes: Vec::new(),
                ..counted.clone()
            };
            let totals = Totals::of(&all_priced(&of_batch, table)?);
            seconds.push(of_batch.cycles as f64 / counted.clock.si());
            joules.push(totals.dynamic_j + totals.leakage_j);
        }
        time_s.extend(launch.errors(&seconds));
        energy_j.extend(launch.errors(&joules));
    }
    Ok(Sampled {
        timed: 1.0 - samples.skipped(),
        time_s,
        energy_j,
        whole_ctas: samples.whole_ctas(),
        disturbed_s: 0.0,
        disturbed_j: 0.0,
    })
}

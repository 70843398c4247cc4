//! What each configuration of a run counts: among the counters of the GPU, under names with its place before them.
//!
//! So whoever cuts a run in stretches, and puts up what was counted in them, treats these counters as he treats the GPU's.

use warpwatt_activity::Activity;
use warpwatt_gpu::Run;

/// Before a place and between it and a name. No counter has it in its name, and it comes before whatever one has: counters of a configuration stand beside each
/// other, before all of the GPU's.
const OF: char = '\u{1f}';
/// The least name that the GPU may have counted under.
const FIRST_OF_GPU: &str = " ";

fn prefix(place: usize) -> String {
    format!("{OF}{place}{OF}")
}

/// Adds what somebody has to report of an SM for the configurations at `places`. He may look at what the GPU has counted there.
pub(super) fn report(places: &[usize], gpu: &mut Activity, report: impl FnOnce(&mut Activity)) {
    let plain = gpu.from(FIRST_OF_GPU);
    let mut counted = plain.clone();
    report(&mut counted);
    let counted = counted.since(&plain);
    for place in places {
        let prefix = prefix(*place);
        *gpu += &counted.renamed(|name| Some(format!("{prefix}{name}")));
    }
}

/// The run of the configuration at `place`.
pub(super) fn run(all: &Run, place: usize) -> Run {
    let prefix = prefix(place);
    let own = |counts: &Activity| {
        let mut own = counts.from(FIRST_OF_GPU);
        own += &counts.under(&prefix);
        own
    };
    let mut launches = all.launches.clone();
    let samples = launches.iter_mut().flat_map(|launch| &mut launch.sample);
    for batch in samples.flat_map(|sample| &mut sample.batches) {
        batch.activity = own(&batch.activity);
    }
    Run {
        cycles: all.cycles,
        activity: own(&all.activity),
        per_sm: all.per_sm.iter().map(own).collect(),
        launches,
        work: all.work,
    }
}

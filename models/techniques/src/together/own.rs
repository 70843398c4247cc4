//! What each configuration of a run counts: among the counters of the GPU, under names with its place before them.
//!
//! So whoever cuts a run in stretches, and puts up what was counted in them, treats these counters as he treats the GPU's.

use warpwatt_activity::Activity;
use warpwatt_gpu::Run;

/// Between a place and a name; no counter has it in its name.
const OF: char = '\u{1f}';

/// Adds what somebody has to report of an SM for the configurations at `places`. He may look at what the GPU has counted there.
pub(super) fn report(places: &[usize], gpu: &mut Activity, report: impl FnOnce(&mut Activity)) {
    let mut counted = gpu.clone();
    report(&mut counted);
    let counted = counted.since(gpu);
    for place in places {
        *gpu += &counted.renamed(|name| Some(format!("{place}{OF}{name}")));
    }
}

/// The run of the configuration at `place`.
pub(super) fn run(all: &Run, place: usize) -> Run {
    let mut own = all.clone();
    let batches = own.launches.iter_mut();
    let batches = batches.filter_map(|launch| launch.sample.as_mut());
    let batches = batches.flat_map(|sample| &mut sample.batches);
    let batches = batches.map(|batch| &mut batch.activity);
    let counts = own.per_sm.iter_mut().chain([&mut own.activity]);
    counts.chain(batches).for_each(|counts| keep(counts, place));
    own
}

/// Keeps what the GPU has counted, and the configuration at `place`.
fn keep(counts: &mut Activity, place: usize) {
    let place = place.to_string();
    let mine = counts.renamed(|name| {
        let (of, name) = name.split_once(OF)?;
        (of == place).then(|| name.to_owned())
    });
    counts.retain(|name| !name.contains(OF));
    *counts += &mine;
}

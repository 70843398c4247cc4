//! A small store before the I-cache: does it fit the fetch cycle, and what has its decoder still to do?

use warpwatt_activity::Activity;
use warpwatt_circuit::{CircuitError, SelectSpec, Spec};
use warpwatt_gpu::GpuSpec;
use warpwatt_techlib::quantity::Time;

use crate::{Circuits, Fit, Path, Structure};
use warpwatt_structures::{Charge, plain};

/// The counter of instructions that passed the decoder, where some come decoded.
pub const DECODER: &str = "decoded_instructions";

/// Bits of an instruction's address that tell it from others.
pub fn address_bits(gpu: &GpuSpec) -> u64 {
    let offset = gpu.fetch.instruction_bytes.ilog2();
    u64::from(gpu.icache.address_bits.saturating_sub(offset).max(1))
}

/// The decoder is charged for what it decodes, and not for all that is fetched.
pub fn bypass_decoder(structures: &mut [Structure]) {
    let decoders = structures.iter_mut().filter(|it| it.name == "decoder");
    decoders.for_each(|it| it.charges = vec![Charge::each("read", DECODER)].into());
}

/// Counts what a store leaves to the decoder: so many of `lookups` came decoded.
pub fn report_decoded(activity: &mut Activity, hits: u64, lookups: u64) {
    let fetches = activity.get("fetches");
    let bypassed = u128::from(fetches) * u128::from(hits) / u128::from(lookups.max(1));
    activity.add(DECODER, fetches - bypassed as u64);
}

/// A store that is asked before the I-cache.
pub struct FetchStore {
    /// Its name in sentences.
    pub name: &'static str,
    /// Names of a fetch that it serves, and of one that it does not.
    pub paths: [&'static str; 2],
    /// What finds out whether it has an instruction.
    pub check: (&'static str, Spec),
    /// What gives the instruction then.
    pub data: (&'static str, Spec),
    /// What chooses between it and the I-cache.
    pub mux: Spec,
}

/// Section 4 of A. Lashgar and others, "Timing": a hit takes warp scheduling + tag check + the store's data + multiplexer, a miss takes the I-cache in place of the
/// store's data. If the longer one exceeds the clock period, scheduling and tag check become a stage of their own.
///
/// The I-cache access is tag and data one after the other: only so do the paper's Table 1 and its sentence agree
/// (117.28 + 115.94 + 221.20 ps = 0.45 ns for a miss, 117.28 + 161.76 ps = 0.28 ns for a hit).
///
/// # Errors
/// If a circuit cannot be built.
pub fn fit(
    store: &FetchStore,
    gpu: &mut GpuSpec,
    circuits: &dyn Circuits,
) -> Result<Fit, CircuitError> {
    let delay = |spec: &Spec| circuits.cost(spec).map(|cost| cost.access_time);
    let select = delay(&Spec::Select(SelectSpec {
        inputs: u64::from(gpu.warps_per_sm()),
    }))?;
    let check = (store.check.0, delay(&store.check.1)?);
    let mux = ("multiplexer", delay(&store.mux)?);
    let first = [("warp selection", select), check];
    let icache = [
        ("I-cache tag", delay(&plain::icache_tag(gpu))?),
        ("I-cache data", delay(&plain::icache_data(gpu))?),
    ];
    let [hit, miss] = store.paths;
    let path = |name, middle: &[(&'static str, Time)]| Path {
        name,
        parts: [&first[..], middle, &[mux][..]].concat(),
    };
    let hit = path(hit, &[(store.data.0, delay(&store.data.1)?)]);
    let miss = path(miss, &icache);
    Ok(decide(store.name, gpu, hit, miss))
}

/// Parts of a path that make up the first of two stages: warp selection and tag check.
const FIRST_STAGE: usize = 2;

fn decide(name: &str, gpu: &mut GpuSpec, hit: Path, miss: Path) -> Fit {
    let period = Time::from_ps(1e6 / f64::from(gpu.sm.clock_mhz));
    let longest = if hit.total().as_ps() > miss.total().as_ps() {
        &hit
    } else {
        &miss
    };
    let mut notes = vec![format!(
        "{}; {}; clock period {:.0} ps",
        sum(&hit),
        sum(&miss),
        period.as_ps()
    )];
    if longest.total().as_ps() <= period.as_ps() {
        let slack = period.as_ps() - longest.total().as_ps();
        notes.push(format!(
            "the {name} fits the fetch cycle with {slack:.0} ps to spare"
        ));
    } else {
        gpu.fetch.stages = 2;
        notes.push(format!("the {name} does not fit the fetch cycle: warp selection and tag check become a first fetch stage"));
        notes.extend(second_check(&[&hit, &miss], period));
    }
    Fit {
        paths: vec![hit, miss],
        notes,
        ..Fit::default()
    }
}

/// Two stages help only if each of them fits.
fn second_check(paths: &[&Path], period: Time) -> Option<String> {
    let longest = paths
        .iter()
        .flat_map(|path| [&path.parts[..FIRST_STAGE], &path.parts[FIRST_STAGE..]])
        .map(|stage| stage.iter().map(|(_, delay)| delay.as_ps()).sum::<f64>())
        .fold(0.0, f64::max);
    (longest > period.as_ps()).then(|| {
        format!("even with two stages the longer one takes {longest:.0} ps: this clock is too fast for the arrays at this node, with or without the technique's first stage")
    })
}

fn sum(path: &Path) -> String {
    let parts: Vec<String> = path
        .parts
        .iter()
        .map(|(name, delay)| format!("{name} {:.0}", delay.as_ps()))
        .collect();
    format!(
        "{}: {} = {:.0} ps",
        path.name,
        parts.join(" + "),
        path.total().as_ps()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(delays: &[f64]) -> Path {
        Path {
            name: "path",
            parts: delays
                .iter()
                .map(|&ps| ("part", Time::from_ps(ps)))
                .collect(),
        }
    }

    /// The paper's own delays (Table 1) with a warp selection just below and just above its 0.32 ns.
    #[test]
    fn the_paper_s_delays_fit_until_selection_takes_the_rest_of_the_period() {
        for (select, stages) in [(314.0, 1), (316.0, 2)] {
            let mut gpu = GpuSpec::preset("tesla-16sm").unwrap();
            let hit = path(&[select, 117.28, 161.76, 0.0]);
            let miss = path(&[select, 117.28, 115.94, 221.20, 0.0]);
            let fit = decide("store", &mut gpu, hit, miss);
            assert_eq!(gpu.fetch.stages, stages, "{fit:?}");
        }
    }

    #[test]
    fn a_clock_that_two_stages_do_not_reach_is_reported() {
        let mut gpu = GpuSpec::preset("tesla-16sm").unwrap();
        let fit = decide(
            "store",
            &mut gpu,
            path(&[100.0, 100.0, 100.0]),
            path(&[100.0, 100.0, 800.0]),
        );
        assert!(fit.notes.last().unwrap().contains("800 ps"), "{fit:?}");
    }
}

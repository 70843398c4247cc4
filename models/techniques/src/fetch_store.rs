//! Does the filter cache fit the fetch cycle?

use warpwatt_circuit::{CircuitError, SelectSpec, Spec};
use warpwatt_gpu::GpuSpec;
use warpwatt_techlib::quantity::Time;

use super::FilterCache;
use crate::{Circuits, Fit, Path};
use warpwatt_structures::plain;

/// Section 4 of the paper, "Timing": a hit takes warp scheduling + tag check + filter-cache data + multiplexer, a miss takes the I-cache in place of the
/// filter-cache data. If the longer one exceeds the clock period, scheduling and tag check become a stage of their own.
///
/// The I-cache access is tag and data one after the other: only so do the paper's Table 1 and its sentence agree
/// (117.28 + 115.94 + 221.20 ps = 0.45 ns for a miss, 117.28 + 161.76 ps = 0.28 ns for a hit).
pub fn fit(
    filter: &FilterCache,
    gpu: &mut GpuSpec,
    circuits: &dyn Circuits,
) -> Result<Fit, CircuitError> {
    let delay = |spec: &Spec| circuits.cost(spec).map(|cost| cost.access_time);
    let select = delay(&Spec::Select(SelectSpec {
        inputs: u64::from(gpu.warps_per_sm()),
    }))?;
    let (tag, data, mux) = (
        delay(&filter.tag(gpu))?,
        delay(&filter.data(gpu))?,
        delay(&filter.mux())?,
    );
    let (icache_tag, icache_data) = (
        delay(&plain::icache_tag(gpu))?,
        delay(&plain::icache_data(gpu))?,
    );
    let hit = Path {
        name: "filter-cache hit",
        parts: vec![
            ("warp selection", select),
            ("tag check", tag),
            ("filter-cache data", data),
            ("multiplexer", mux),
        ],
    };
    let miss = Path {
        name: "filter-cache miss",
        parts: vec![
            ("warp selection", select),
            ("tag check", tag),
            ("I-cache tag", icache_tag),
            ("I-cache data", icache_data),
            ("multiplexer", mux),
        ],
    };
    Ok(decide(gpu, hit, miss))
}

/// Parts of a path that make up the first of two stages: warp selection and tag check.
const FIRST_STAGE: usize = 2;

fn decide(gpu: &mut GpuSpec, hit: Path, miss: Path) -> Fit {
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
    let beyond_selection = |path: &Path| path.total().as_ps() - path.parts[0].1.as_ps();
    notes.push(format!(
        "without warp selection a hit takes {:.0} ps and a miss {:.0} ps; the paper says 280 and 450 ps at 32 nm and leaves warp selection open",
        beyond_selection(&hit),
        beyond_selection(&miss)
    ));
    if longest.total().as_ps() <= period.as_ps() {
        let slack = period.as_ps() - longest.total().as_ps();
        notes.push(format!(
            "the filter cache fits the fetch cycle with {slack:.0} ps to spare"
        ));
    } else {
        gpu.fetch.stages = 2;
        notes.push("the filter cache does not fit the fetch cycle: warp selection and tag check become a first fetch stage".to_owned());
        notes.extend(second_check(&[&hit, &miss], period));
    }
    Fit {
        paths: vec![hit, miss],
        notes,
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
            let fit = decide(&mut gpu, hit, miss);
            assert_eq!(gpu.fetch.stages, stages, "{fit:?}");
        }
    }

    #[test]
    fn a_clock_that_two_stages_do_not_reach_is_reported() {
        let mut gpu = GpuSpec::preset("tesla-16sm").unwrap();
        let fit = decide(
            &mut gpu,
            path(&[100.0, 100.0, 100.0]),
            path(&[100.0, 100.0, 800.0]),
        );
        assert!(fit.notes.last().unwrap().contains("800 ps"), "{fit:?}");
    }
}

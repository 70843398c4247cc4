//! The flips that a suite compares, on the machine code of its paper's benchmarks.

use warpwatt_gpu::GpuSpec;
use warpwatt_ptx::Lower;
use warpwatt_suite::{Build, kernel};

use crate::diag::{Diag, Sink};
use crate::inject::flops::{Campaign, Outcome, Struck};
use crate::inject::{Golden, timed};
use crate::run::execute::{explain, untimed};
use crate::run::kernel::{From, KernelRequest, LoadedKernel, load};
use crate::validate::suite::{Flipped, Flips, Suite};

/// Warp instructions of a benchmark at the most.
const LIMIT: u64 = 8_000_000;

/// What came of them, by name; nothing if the suite compares none. `Err(None)`: the findings are in the sink already.
pub fn flipped(suite: &Suite, sink: &mut Sink) -> Result<Flipped, Option<Diag>> {
    let mut flipped = Flipped::new();
    let (Some(flips), Some(paper)) = (&suite.flips, suite.paper) else {
        return Ok(flipped);
    };
    let defect = |message: &str| Diag::error("validate::defect", message.to_owned());
    let spec = flips.gpu.spec();
    let spec = spec.map_err(|_| defect("the preset of the flips has faults"))?;
    let of = paper.benchmarks.len();
    for (number, benchmark) in paper.benchmarks.iter().enumerate() {
        let stands = benchmark
            .stands
            .and_then(|(name, case)| Some((kernel(name)?, case)));
        let (from, case) = stands.ok_or_else(|| defect("no kernel stands for a benchmark"))?;
        let request = KernelRequest {
            from: From::Suite(from),
            build: Build::Gfx600,
            lower: Lower::Ptx,
            ptx: None,
            case: Some(case.to_owned()),
            registers: None,
        };
        let kernel = load(sink, &request, None).ok_or(None)?;
        let samples = flips.samples_of(number, of);
        for (name, campaign) in campaigns(flips, &kernel, (&spec, samples), sink)? {
            add(&mut flipped, &format!("flips.{name}"), &campaign);
            let of_benchmark = format!("flips.{name}.{}", benchmark.abbreviation);
            add(&mut flipped, &of_benchmark, &campaign);
        }
    }
    Ok(flipped)
}

/// Those on one benchmark.
fn campaigns<'f>(
    flips: &'f Flips,
    kernel: &LoadedKernel,
    (spec, samples): (&GpuSpec, u64),
    sink: &Sink,
) -> Result<Vec<(&'f str, Campaign)>, Diag> {
    let golden = Golden::run(kernel, spec.sm.warp_width, LIMIT);
    let golden = golden.map_err(|error| explain(&error, kernel, &sink.sources))?;
    let (run, timeline) =
        timed(spec, &golden).map_err(|error| untimed("validate::timing", &error))?;
    let each = flips.campaigns.iter().map(|(name, without)| {
        let struck = Struck::new(&golden, spec, (&run, &timeline), without);
        let campaign = struck.campaign((samples, flips.seed), || {});
        let campaign = campaign.map_err(|error| explain(&error, kernel, &sink.sources))?;
        Ok((name.as_str(), campaign))
    });
    each.collect()
}

fn add(flipped: &mut Flipped, name: &str, campaign: &Campaign) {
    let mut add = |figure: &str, count: u64| {
        *flipped.entry(format!("{name}.{figure}")).or_default() += count as f64;
    };
    for outcome in Outcome::ALL {
        add(outcome.name(), campaign.all.of(outcome));
    }
    add("samples", campaign.all.total());
    let files = ["register_file", "scalar_registers"].map(|block| campaign.blocks.get(block));
    let gray = files.into_iter().flatten();
    let gray = gray.map(|(_, outcomes)| outcomes.of(Outcome::Gray)).sum();
    add("gray_in_files", gray);
}

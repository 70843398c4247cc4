//! What a timing run shows: cycles, IPC, occupancy, stalls, rates, counters.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use warpwatt_gpu::{GpuSpec, Run};
use warpwatt_pricing::uncertainty::half_width;
use warpwatt_suite::launch::readable;

use crate::outcome::Samples;
use crate::performance::{Limit, Performance, Rates, share};

/// A timing run as data and as text.
pub struct Timing {
    /// The keys that it adds to the document of a kernel.
    pub value: Map<String, Value>,
    /// Lines of text.
    pub text: String,
}

impl Timing {
    /// What `run` on `spec` shows.
    pub fn of(spec: &GpuSpec, run: &Run) -> Self {
        let performance = Performance::of(spec, run);
        let mut value = Map::new();
        value.insert("cycles".into(), run.cycles.into());
        value.insert("ipc".into(), json!(performance.ipc));
        value.insert("occupancy".into(), json!(performance.occupancy));
        value["occupancy"]["launches"] = launches(spec, run);
        value.insert("stalls".into(), json!(performance.stalls));
        value.insert("utilisation".into(), json!(performance.utilisation));
        value.insert("rates".into(), json!(performance.rates));
        value.insert("counters".into(), json!(run.activity));
        let mut text = text(run.cycles, &performance);
        if let Some(samples) = Samples::of(run) {
            let timed = 1.0 - samples.skipped();
            let off = half_width(samples.sigma(run.cycles));
            value.insert(
                "sampled".into(),
                json!({ "timed": timed, "cycles_halfwidth": off * run.cycles as f64 }),
            );
            let _ = writeln!(
                text,
                "  timed are {} of the warp instructions, so that cycles are known to ± {}",
                percent(Some(timed)),
                percent(Some(off))
            );
        }
        Self { text, value }
    }
}

/// What an SM can hold and what limits it, launch by launch.
fn launches(spec: &GpuSpec, run: &Run) -> Value {
    let slots = u64::from(spec.warps_per_sm());
    let launches = run.launches.iter().map(|launch| {
        json!({
            "kernel": launch.kernel, "cycles": launch.cycles, "ctas_per_sm": launch.ctas_per_sm,
            "warps_per_sm": launch.warps_per_sm, "theoretical": share(u64::from(launch.warps_per_sm), slots),
            "limited_by": launch.limited_by.to_string(),
        })
    });
    launches.collect()
}

fn text(cycles: u64, performance: &Performance) -> String {
    let mut text = String::new();
    let mut line = |what: &str, figure: &str| {
        let _ = writeln!(text, "  {what:<24}{figure:>16}");
    };
    line("cycles", &cycles.to_string());
    line("warp IPC", &number(performance.ipc.warp_instructions));
    line("thread IPC", &number(performance.ipc.thread_instructions));
    line(
        "achieved occupancy",
        &percent(performance.occupancy.achieved),
    );
    for (what, rate, show) in RATES {
        let rate = rate(&performance.rates).filter(|&rate| rate > 0.0);
        if rate.is_some() {
            line(what, &show(rate));
        }
    }
    text += &limits(&performance.occupancy.limits);
    let spent = performance.stalls.iter().filter(|(_, cycles)| **cycles > 0);
    text += &parts(
        "cycles of all SMs by what they went into",
        spent.map(|(what, cycles)| {
            let share = percent(performance.spent(what));
            (what, format!("{cycles:>16}   {share}"))
        }),
    );
    let taken = performance.utilisation.iter();
    text += &parts(
        "cycles for which units were taken",
        taken.map(|(unit, share)| (unit, format!("{:>16}", percent(*share)))),
    );
    text
}

/// A rate, how it is called, and how it is written for people.
type Shown = (
    &'static str,
    fn(&Rates) -> Option<f64>,
    fn(Option<f64>) -> String,
);

/// Rates that are shown.
const RATES: [Shown; 8] = [
    ("I-cache hit rate", |r| r.icache_hit_rate, percent),
    ("L1 hit rate", |r| r.l1_hit_rate, percent),
    ("L2 hit rate", |r| r.l2_hit_rate, percent),
    ("DRAM row hit rate", |r| r.dram_row_hit_rate, percent),
    ("DRAM bus utilisation", |r| r.dram_bus_utilisation, percent),
    (
        "DRAM bandwidth",
        |r| r.dram_bandwidth_bytes_per_s,
        gigabytes,
    ),
    (
        "passes a shared access",
        |r| r.shared_passes_per_access,
        number,
    ),
    (
        "bank-conflict cycles",
        |r| r.operand_bank_conflict_cycles_per_instruction,
        number,
    ),
];

fn number(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |n| format!("{n:.2}"))
}

fn percent(share: Option<f64>) -> String {
    share.map_or("-".to_owned(), |share| format!("{:.1}%", 100.0 * share))
}

fn gigabytes(bytes: Option<f64>) -> String {
    bytes.map_or("-".to_owned(), |bytes| format!("{:.1} GB/s", bytes / 1e9))
}

/// How many CTAs an SM can hold and what limits them.
fn limits(limits: &[Limit]) -> String {
    let mut text = String::new();
    for limit in limits {
        let _ = writeln!(
            text,
            "  {:<24}{:>16}   limited by {} ({})",
            "CTAs an SM",
            limit.ctas_per_sm,
            limit.limited_by,
            readable(&limit.kernel)
        );
    }
    text
}

/// A heading and a line for each of `parts`.
fn parts<'a>(heading: &str, parts: impl Iterator<Item = (&'a String, String)>) -> String {
    let mut text = format!("  {heading}\n");
    for (part, figure) in parts {
        let _ = writeln!(text, "    {part:<22}{figure}");
    }
    text
}

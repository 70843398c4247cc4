//! The report of a program as data.

use serde_json::{Value, json};
use warpwatt_suite::launch::demangled;

use super::text::{UNPRICED, by_energy, stalls, structures};
use super::told::Told;
use crate::program::{KernelSums, Totals};
use crate::report::estimate::CONFIDENCE;
use crate::run::program::{Item, Wrong, in_time, way_name};

/// Items of the timeline that the document has.
const MOST_EVENTS: usize = 10_000;

/// The report as data.
pub fn value(told: &Told<'_>) -> Value {
    let kernels = by_energy(told).into_iter().map(|(name, kernel)| {
        let mut value = kernel_value(told, kernel);
        value["kernel"] = json!(name);
        value["demangled"] = json!(demangled(name));
        value
    });
    let copies = told.heard.copies.iter();
    let copies = copies.map(
        |(kind, copied)| json!({ "way": way_name(*kind), "count": copied.count, "bytes": copied.bytes }),
    );
    let wrong = |it: &Wrong| json!({ "kernel": it.kernel, "why": it.why });
    let stopped = told.heard.stopped.iter().map(wrong);
    let behind = told.heard.behind.iter().map(wrong);
    json!({
        "program": told.program,
        "gpu": told.gpu,
        "technology": told.technology,
        "kernels": kernels.collect::<Vec<Value>>(),
        "all_kernels": kernel_value(told, &told.sums.all),
        "distinct_launches_timed": told.traces,
        "confidence": CONFIDENCE,
        "peak_window": told.peak_window,
        "copies": copies.collect::<Vec<Value>>(),
        "stopped": stopped.collect::<Vec<Value>>(),
        "behind": behind.collect::<Vec<Value>>(),
        "timeline": timeline(told),
        "timeline_left_out": told.heard.beyond + told.heard.items.len().saturating_sub(MOST_EVENTS) as u64,
        "unpriced": UNPRICED,
    })
}

fn kernel_value(told: &Told<'_>, kernel: &KernelSums) -> Value {
    let configurations = told
        .configurations_of(kernel)
        .map(|(label, totals, plain)| {
            let mut value = totals_value(totals);
            value["configuration"] = json!(label);
            if let Some(plain) = plain {
                let change = totals.energy_change(plain);
                value["energy_change"] = json!(change.map(|it| it.value));
                value["energy_change_halfwidth"] = json!(change.map(|it| it.half_width()));
                let change = totals.time_change(plain);
                value["time_change"] = json!(change.map(|it| it.value));
                value["time_change_halfwidth"] = json!(change.map(|it| it.half_width()));
            }
            value
        });
    json!({
        "calls": kernel.calls,
        "timed": kernel.timed,
        "alike": kernel.alike,
        "untimed": kernel.untimed,
        "sampled": kernel.sampled,
        "warp_instructions_timed": kernel.instructions_timed,
        "warp_instructions": kernel.warp_instructions,
        "configurations": configurations.collect::<Vec<Value>>(),
    })
}

fn totals_value(totals: &Totals) -> Value {
    let share = |(name, share): (&str, f64)| json!({ "name": name, "share": share });
    let power = totals.power_w();
    json!({
        "time_s": totals.seconds(),
        "time_halfwidth_s": totals.time.estimate().half_width(),
        "energy_j": totals.energy_j(),
        "energy_halfwidth_j": totals.energy.estimate().half_width(),
        "dynamic_energy_j": totals.dynamic_j,
        "leakage_energy_j": totals.leakage_j,
        "power_w": power.map(|it| it.value),
        "power_halfwidth_w": power.map(|it| it.half_width()),
        "peak_power_w": totals.peak_w,
        "board_energy_j": totals.board_j,
        "structures": structures(totals, usize::MAX).into_iter().map(share).collect::<Vec<Value>>(),
        "cycles": stalls(totals, usize::MAX).into_iter().map(share).collect::<Vec<Value>>(),
    })
}

/// Launches and copies in order.
fn timeline(told: &Told<'_>) -> Vec<Value> {
    let items = in_time(&told.heard.items, &told.launches).take(MOST_EVENTS);
    let events = items.map(|(from, item, timed)| match item {
        Item::Launch(launched) => json!({
            "launch": launched.kernel, "grid": launched.grid, "block": launched.block, "from_s": from, "time_s": timed.map(|timed| timed.seconds),
        }),
        Item::Copy(kind, bytes) => json!({ "copy": way_name(*kind), "bytes": bytes, "from_s": from }),
    });
    events.collect()
}

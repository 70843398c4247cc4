//! The report of a program, as text and as data.

use std::fmt::Write as _;

use serde_json::{Value, json};
use warpwatt_cudart::protocol::Way;
use warpwatt_suite::launch::demangled;

use super::told::Told;
use crate::goal::quantity::readable;
use crate::run::program::{Item, KernelSums, Totals};

/// Structures and stalls of a kernel that the text shows.
const SHOWN: usize = 3;
/// Items of the timeline that the document has.
const MOST_EVENTS: usize = 10_000;

/// What no figure of a program holds.
const UNPRICED: &str = "the host, copies between host and device, and the GPU while it waits are neither timed nor priced";

fn way(way: Way) -> &'static str {
    match way {
        Way::ToDevice => "host to device",
        Way::ToHost => "device to host",
        Way::Within => "within the device",
        Way::Set => "memset",
    }
}

/// The first `count` of what takes the most, with their shares.
fn top<'n>(parts: impl Iterator<Item = (&'n String, f64)>, count: usize) -> Vec<(&'n str, f64)> {
    let mut parts: Vec<(&str, f64)> = parts.map(|(name, part)| (name.as_str(), part)).collect();
    let whole: f64 = parts.iter().map(|(_, part)| part).sum();
    parts.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    parts.truncate(count);
    parts.retain(|(_, part)| *part > 0.0);
    parts
        .into_iter()
        .map(|(name, part)| (name, part / whole))
        .collect()
}

fn structures(totals: &Totals, count: usize) -> Vec<(&str, f64)> {
    top(
        totals
            .structures
            .iter()
            .map(|(name, joules)| (name, *joules)),
        count,
    )
}

/// What SM cycles went into, issuing apart.
fn stalls(totals: &Totals, count: usize) -> Vec<(&str, f64)> {
    let cycles = totals
        .stalls
        .iter()
        .map(|(name, cycles)| (name, *cycles as f64));
    let mut all = top(cycles, usize::MAX);
    all.retain(|(name, _)| *name != "issue");
    all.truncate(count);
    all
}

fn shares(parts: &[(&str, f64)]) -> String {
    let parts = parts.iter();
    let parts: Vec<String> = parts
        .map(|(name, share)| format!("{name} {:.0} %", 100.0 * share))
        .collect();
    parts.join(", ")
}

/// The report as text.
pub fn text(told: &Told<'_>) -> String {
    let mut text = format!("\nwarpwatt: {}\n", told.program);
    if told.heard.processes == 0 {
        text.push_str("  the program called no function of CUDA's runtime\n");
        return text;
    }
    match &told.technology {
        Some(technology) => {
            let _ = writeln!(text, "  {} at {technology}", told.gpu);
        }
        None => {
            let _ = writeln!(text, "  executed as on {}, not timed", told.gpu);
        }
    }
    for (name, kernel) in by_energy(told) {
        text += &kernel_text(&demangled(name).unwrap_or_else(|| name.to_owned()), kernel);
    }
    text += &whole_text(told);
    text
}

/// Kernels, those that take the most energy first; without energy those with the most instructions.
fn by_energy<'t>(told: &'t Told<'_>) -> Vec<(&'t str, &'t KernelSums)> {
    let mut kernels: Vec<(&str, &KernelSums)> = (told.sums.kernels.iter())
        .map(|(name, kernel)| (name.as_str(), kernel))
        .collect();
    let key = |kernel: &KernelSums| kernel.totals.first().map_or(0.0, Totals::energy_j);
    kernels.sort_by(|a, b| {
        let energy = key(b.1).total_cmp(&key(a.1));
        let instructions = b.1.warp_instructions.cmp(&a.1.warp_instructions);
        energy.then(instructions).then(a.0.cmp(b.0))
    });
    kernels
}

fn kernel_text(name: &str, kernel: &KernelSums) -> String {
    let calls = plural(kernel.calls, "call");
    let mut text = format!(
        "  {name}\n    {calls}, {} warp instructions\n",
        kernel.warp_instructions
    );
    if let (Some(totals), true) = (kernel.totals.first(), kernel.timed > 0) {
        text += &format!("    {}\n", figures(totals));
        let parts = [
            ("energy", structures(totals, SHOWN)),
            ("cycles", stalls(totals, SHOWN)),
        ];
        for (what, parts) in parts.iter().filter(|(_, parts)| !parts.is_empty()) {
            let _ = writeln!(text, "    {what}: {}", shares(parts));
        }
    }
    text += &untimed(kernel, "    ");
    text
}

/// Time, energy, power.
fn figures(totals: &Totals) -> String {
    let mut text = format!(
        "{}, {}",
        readable(totals.seconds, "s"),
        readable(totals.energy_j(), "J")
    );
    if let Some(power) = totals.power_w() {
        let leaks = 100.0 * totals.leakage_j / totals.energy_j();
        let _ = write!(text, ", {} ({leaks:.0} % leakage)", readable(power, "W"));
    }
    if let Some(joules) = totals.board_j {
        let _ = write!(text, ", board {}", readable(joules / totals.seconds, "W"));
    }
    text
}

fn untimed(kernel: &KernelSums, indent: &str) -> String {
    let reasons = kernel.untimed.iter();
    let lines = reasons.map(|(why, launches)| {
        format!(
            "{indent}not timed, and in no figure: {}: {why}\n",
            plural(*launches, "launch")
        )
    });
    lines.collect()
}

fn plural(count: u64, what: &str) -> String {
    match (count, what) {
        (1, _) => format!("1 {what}"),
        (_, "launch") => format!("{count} launches"),
        _ => format!("{count} {what}s"),
    }
}

/// All kernels, techniques, copies, faults.
fn whole_text(told: &Told<'_>) -> String {
    let all = &told.sums.all;
    let mut text = String::new();
    if let (Some(totals), true) = (all.totals.first(), all.timed > 0) {
        let _ = writeln!(text, "  all kernels");
        let _ = writeln!(
            text,
            "    {} of {} timed, {} of them different",
            all.timed,
            plural(all.calls, "launch"),
            told.traces
        );
        let _ = writeln!(
            text,
            "    {}, at most {} in a launch",
            figures(totals),
            readable(totals.highest_w, "W")
        );
        for (label, with) in told.configurations.iter().zip(&all.totals).skip(1) {
            let change = |with: f64, plain: f64| 100.0 * (with / plain - 1.0);
            let _ = writeln!(
                text,
                "    with {label}: energy {:+.2} %, time {:+.2} %",
                change(with.energy_j(), totals.energy_j()),
                change(with.seconds, totals.seconds)
            );
        }
    }
    for (kind, copied) in &told.heard.copies {
        let bytes = readable(copied.bytes as f64, "B");
        let _ = writeln!(
            text,
            "  {}: {}, {bytes}",
            way(*kind),
            plural(copied.count, "operation")
        );
    }
    for stopped in &told.heard.stopped {
        let _ = writeln!(text, "  a kernel stopped: {}", stopped.why);
    }
    for problem in &told.heard.problems {
        let _ = writeln!(text, "  the program broke off what it told: {problem}");
    }
    if told.heard.beyond > 0 {
        let _ = writeln!(
            text,
            "  {} more launches and copies are in no figure",
            told.heard.beyond
        );
    }
    if told.timed {
        let _ = writeln!(text, "  {UNPRICED}");
    }
    text
}

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
        |(kind, copied)| json!({ "way": way(*kind), "count": copied.count, "bytes": copied.bytes }),
    );
    let stopped = told.heard.stopped.iter();
    let stopped = stopped.map(|it| json!({ "kernel": it.kernel, "why": it.why }));
    json!({
        "program": told.program,
        "gpu": told.gpu,
        "technology": told.technology,
        "kernels": kernels.collect::<Vec<Value>>(),
        "all_kernels": kernel_value(told, &told.sums.all),
        "distinct_launches_timed": told.traces,
        "copies": copies.collect::<Vec<Value>>(),
        "stopped": stopped.collect::<Vec<Value>>(),
        "timeline": timeline(told),
        "timeline_left_out": told.heard.beyond + told.heard.items.len().saturating_sub(MOST_EVENTS) as u64,
        "unpriced": UNPRICED,
    })
}

fn kernel_value(told: &Told<'_>, kernel: &KernelSums) -> Value {
    let configurations = told.configurations.iter().zip(&kernel.totals);
    let configurations = configurations.filter(|_| kernel.timed > 0).map(|(label, totals)| {
        let share = |(name, share): (&str, f64)| json!({ "name": name, "share": share });
        json!({
            "configuration": label,
            "time_s": totals.seconds,
            "energy_j": totals.energy_j(),
            "dynamic_energy_j": totals.dynamic_j,
            "leakage_energy_j": totals.leakage_j,
            "power_w": totals.power_w(),
            "highest_power_of_a_launch_w": totals.highest_w,
            "board_energy_j": totals.board_j,
            "structures": structures(totals, usize::MAX).into_iter().map(share).collect::<Vec<Value>>(),
            "cycles": stalls(totals, usize::MAX).into_iter().map(share).collect::<Vec<Value>>(),
        })
    });
    json!({
        "calls": kernel.calls,
        "timed": kernel.timed,
        "untimed": kernel.untimed,
        "warp_instructions": kernel.warp_instructions,
        "configurations": configurations.collect::<Vec<Value>>(),
    })
}

/// Launches and copies in order; time passes in launches alone.
fn timeline(told: &Told<'_>) -> Vec<Value> {
    let mut now = 0.0;
    let items = told.heard.items.iter().take(MOST_EVENTS);
    let events = items.map(|item| match item {
        Item::Launch(launched) => {
            let seconds = launched.trace.and_then(|trace| told.seconds.get(&trace));
            let event = json!({
                "launch": launched.kernel, "grid": launched.grid, "block": launched.block, "from_s": now, "time_s": seconds,
            });
            now += seconds.unwrap_or(&0.0);
            event
        }
        Item::Copy(kind, bytes) => json!({ "copy": way(*kind), "bytes": bytes, "from_s": now }),
    });
    events.collect()
}

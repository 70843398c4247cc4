//! The report of a program as text.

use std::fmt::Write as _;

use warpwatt_suite::launch::demangled;

use super::told::Told;
use crate::goal::quantity::readable;
use crate::program::{KernelSums, Totals};
use crate::report::estimate::Estimate;
use crate::report::format;
use crate::run::program::way_name;

/// Structures and stalls of a kernel that the text shows.
const SHOWN: usize = 3;
/// What no figure of a program holds.
pub(super) const UNPRICED: &str = "the host, copies between host and device, and the GPU while it waits are neither timed nor priced";

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

pub(super) fn structures(totals: &Totals, count: usize) -> Vec<(&str, f64)> {
    top(
        totals
            .structures
            .iter()
            .map(|(name, joules)| (name, *joules)),
        count,
    )
}

/// What SM cycles went into, issuing apart.
pub(super) fn stalls(totals: &Totals, count: usize) -> Vec<(&str, f64)> {
    let cycles = totals
        .stalls
        .iter()
        .map(|(name, cycles)| (name, *cycles as f64));
    let mut all = top(cycles, usize::MAX);
    all.retain(|(name, _)| *name != "issue");
    all.truncate(count);
    all
}

pub(super) fn shares(parts: &[(&str, f64)]) -> String {
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
        text += &kernel_text(&shown(name), kernel);
    }
    text += &whole_text(told);
    text
}

/// A kernel's name as C++ has it, where it has such a name.
pub(super) fn shown(name: &str) -> String {
    demangled(name).unwrap_or_else(|| name.to_owned())
}

/// Kernels, those that take the most energy first; without energy those with the most instructions.
pub(super) fn by_energy<'t>(told: &'t Told<'_>) -> Vec<(&'t str, &'t KernelSums)> {
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

/// A figure with half its interval: `1.2 J ± 9 %`.
pub(super) fn estimated(estimate: Estimate, unit: &str) -> String {
    let share = 100.0 * estimate.half_width() / estimate.value;
    format!("{} ± {share:.0} %", readable(estimate.value, unit))
}

/// Simulated time, with half its interval if it has one.
pub(super) fn time(totals: &Totals) -> String {
    let time = totals.time.estimate();
    match time.sigma > 0.0 {
        true => estimated(time, "s"),
        false => readable(time.value, "s"),
    }
}

/// A change of time: it is exact where launches were timed whole.
pub(super) fn changed(change: Option<Estimate>) -> String {
    match change {
        Some(exact) if exact.sigma == 0.0 => format::change(exact.value),
        other => format::estimate(other),
    }
}

/// How many launches are in the figures that were not timed.
pub(super) fn alike(kernel: &KernelSums) -> Option<String> {
    let launches = plural(kernel.alike, "launch");
    (kernel.alike > 0)
        .then(|| format!("{launches} not timed, but in all figures by those that are alike"))
}

/// How many launches were timed in part, and how much of all instructions was timed.
pub(super) fn sampled(kernel: &KernelSums) -> Option<String> {
    let share = 100.0 * kernel.instructions_timed / kernel.warp_instructions.max(1) as f64;
    let launches = plural(kernel.sampled, "launch");
    (kernel.sampled > 0)
        .then(|| format!("{launches} timed in part, {share:.1} % of all warp instructions timed"))
}

/// Time, energy, power.
fn figures(totals: &Totals) -> String {
    let mut text = format!(
        "{}, {}",
        time(totals),
        estimated(totals.energy.estimate(), "J")
    );
    if let Some(power) = totals.power_w() {
        let leaks = 100.0 * totals.leakage_j / totals.energy_j();
        let power = readable(power.value, "W");
        let _ = write!(text, ", {power} ({leaks:.0} % leakage)");
    }
    if let Some(peak) = totals.peak_w {
        let _ = write!(text, ", at most {}", readable(peak, "W"));
    }
    if let Some(joules) = totals.board_j {
        let _ = write!(text, ", board {}", readable(joules / totals.seconds(), "W"));
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

pub(super) fn plural(count: u64, what: &str) -> String {
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
        if let Some(alike) = alike(all) {
            let _ = writeln!(text, "    {alike}");
        }
        if let Some(sampled) = sampled(all) {
            let _ = writeln!(text, "    {sampled}");
        }
        let _ = writeln!(text, "    {}", figures(totals));
        for (label, with) in told.configurations.iter().zip(&all.totals).skip(1) {
            let _ = writeln!(
                text,
                "    with {label}: energy {}, time {}",
                format::estimate(with.energy_change(totals)),
                changed(with.time_change(totals))
            );
        }
    }
    for (kind, copied) in &told.heard.copies {
        let bytes = readable(copied.bytes as f64, "B");
        let _ = writeln!(
            text,
            "  {}: {}, {bytes}",
            way_name(*kind),
            plural(copied.count, "operation")
        );
    }
    for stopped in &told.heard.stopped {
        let _ = writeln!(text, "  a kernel stopped: {}", stopped.why);
    }
    for behind in &told.heard.behind {
        let _ = writeln!(text, "  `{}` {}", behind.kernel, behind.why);
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

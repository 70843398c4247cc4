//! What a timing run shows: cycles, IPC, occupancy, stalls, rates, counters.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use warpwatt_gpu::{GpuSpec, Run, SECTOR_BYTES};

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
        let mut value = Map::new();
        value.insert("cycles".into(), run.cycles.into());
        value.insert("ipc".into(), ipc(run));
        value.insert("occupancy".into(), occupancy(spec, run));
        value.insert("stalls".into(), stalls(run));
        value.insert("rates".into(), rates(spec, run));
        value.insert("counters".into(), json!(run.activity));
        Self {
            text: text(spec, run, &value),
            value,
        }
    }
}

/// A ratio; nothing where there is nothing to divide by.
fn share(part: u64, whole: u64) -> Value {
    if whole == 0 {
        Value::Null
    } else {
        json!(part as f64 / whole as f64)
    }
}

/// Instructions a cycle of the whole GPU.
fn ipc(run: &Run) -> Value {
    json!({
        "warp_instructions": share(run.activity.get("warp_instructions"), run.cycles),
        "thread_instructions": share(run.activity.get("thread_instructions"), run.cycles),
    })
}

/// What an SM can hold and what limits it, launch by launch; and what it held: resident warps over warp slots while the SM had any.
fn occupancy(spec: &GpuSpec, run: &Run) -> Value {
    let sms = u64::from(spec.sm.count);
    let busy = (run.cycles * sms).saturating_sub(run.activity.get("idle_cycles"));
    let slots = u64::from(spec.warps_per_sm());
    let launches: Vec<Value> = run
        .launches
        .iter()
        .map(|launch| {
            json!({
                "kernel": launch.kernel, "cycles": launch.cycles, "ctas_per_sm": launch.ctas_per_sm,
                "warps_per_sm": launch.warps_per_sm, "theoretical": share(u64::from(launch.warps_per_sm), slots),
                "limited_by": launch.limited_by.to_string(),
            })
        })
        .collect();
    json!({
        "achieved": share(run.activity.get("resident_warp_cycles"), busy * slots),
        "launches": launches,
    })
}

/// Cycles of all SMs by what they were spent on; together they are cycles times SMs.
fn stalls(run: &Run) -> Value {
    let names = ["issue_cycles", "idle_cycles"];
    let causes = run
        .activity
        .iter()
        .filter(|(name, _)| name.starts_with("stall_") || names.contains(name));
    let causes: Map<String, Value> = causes
        .map(|(name, count)| {
            let name = name
                .trim_start_matches("stall_")
                .trim_end_matches("_cycles");
            (name.to_owned(), count.into())
        })
        .collect();
    causes.into()
}

/// Hit rates, conflicts, bandwidth.
fn rates(spec: &GpuSpec, run: &Run) -> Value {
    let n = |name: &str| run.activity.get(name);
    let seconds = run.cycles as f64 / (f64::from(spec.sm.clock_mhz) * 1e6);
    let dram_cycles = run.cycles as f64 * f64::from(spec.dram.clock_mhz)
        / f64::from(spec.sm.clock_mhz)
        * f64::from(spec.dram.controllers);
    let sectors = n("l2_read_misses") + n("l2_write_backs");
    let bytes = if spec.has_l2() {
        sectors * u64::from(SECTOR_BYTES)
    } else {
        n("load_bytes") + n("store_bytes")
    };
    let bandwidth = if run.cycles == 0 {
        Value::Null
    } else {
        json!(bytes as f64 / seconds)
    };
    let busy = if run.cycles == 0 {
        Value::Null
    } else {
        json!(n("dram_busy_cycles") as f64 / dram_cycles)
    };
    json!({
        "icache_hit_rate": share(n("icache.tag.read") - n("icache_misses"), n("icache.tag.read")),
        "l1_hit_rate": share(n("l1_read_hits"), n("l1_reads")),
        "l2_hit_rate": share(n("l2_read_hits"), n("l2_reads")),
        "dram_row_hit_rate": share(n("dram_row_hits"), n("dram_row_hits") + n("dram_row_misses")),
        "dram_bandwidth_bytes_per_s": bandwidth,
        "dram_bus_utilisation": busy,
        "shared_passes_per_access": share(n("shared_passes"), n("shared_accesses")),
        "operand_bank_conflict_cycles_per_instruction": share(n("operand_bank_conflict_cycles"), n("warp_instructions")),
        "lanes_per_instruction": share(n("thread_instructions"), n("warp_instructions")),
    })
}

fn text(spec: &GpuSpec, run: &Run, value: &Map<String, Value>) -> String {
    let mut text = String::new();
    let mut line = |what: &str, figure: &str| {
        let _ = writeln!(text, "  {what:<24}{figure:>16}");
    };
    line("cycles", &run.cycles.to_string());
    line("warp IPC", &number(&value["ipc"]["warp_instructions"]));
    line("thread IPC", &number(&value["ipc"]["thread_instructions"]));
    line(
        "achieved occupancy",
        &percent(&value["occupancy"]["achieved"]),
    );
    for (key, what, show) in RATES {
        let rate = &value["rates"][key];
        if rate.as_f64().is_some_and(|rate| rate > 0.0) {
            line(what, &show(rate));
        }
    }
    text += &limits(run);
    let whole = run.cycles * u64::from(spec.sm.count);
    text += &parts(
        "cycles of all SMs by what they went into",
        &value["stalls"],
        |cycles| {
            let cycles = cycles.as_u64().filter(|&cycles| cycles > 0)?;
            Some(format!("{cycles:>16}   {}", percent(&share(cycles, whole))))
        },
    );
    text
}

/// Writes a rate for people.
type Show = fn(&Value) -> String;

/// Rates that are shown, with how.
const RATES: [(&str, &str, Show); 8] = [
    ("icache_hit_rate", "I-cache hit rate", percent),
    ("l1_hit_rate", "L1 hit rate", percent),
    ("l2_hit_rate", "L2 hit rate", percent),
    ("dram_row_hit_rate", "DRAM row hit rate", percent),
    ("dram_bus_utilisation", "DRAM bus utilisation", percent),
    ("dram_bandwidth_bytes_per_s", "DRAM bandwidth", gigabytes),
    ("shared_passes_per_access", "passes a shared access", number),
    (
        "operand_bank_conflict_cycles_per_instruction",
        "bank-conflict cycles",
        number,
    ),
];

fn number(value: &Value) -> String {
    value.as_f64().map_or("-".to_owned(), |n| format!("{n:.2}"))
}

fn percent(value: &Value) -> String {
    let share = value.as_f64();
    share.map_or("-".to_owned(), |share| format!("{:.1}%", 100.0 * share))
}

fn gigabytes(value: &Value) -> String {
    let bytes = value.as_f64();
    bytes.map_or("-".to_owned(), |bytes| format!("{:.1} GB/s", bytes / 1e9))
}

/// How many CTAs an SM can hold and what limits them, once for all launches that agree.
fn limits(run: &Run) -> String {
    let mut text = String::new();
    let mut seen = Vec::new();
    for launch in &run.launches {
        let limit = (&launch.kernel, launch.ctas_per_sm, launch.limited_by);
        if seen.contains(&limit) {
            continue;
        }
        seen.push(limit);
        let _ = writeln!(
            text,
            "  {:<24}{:>16}   limited by {} ({})",
            "CTAs an SM", launch.ctas_per_sm, launch.limited_by, launch.kernel
        );
    }
    text
}

/// A heading and a line for each of `parts` that there is something to say of.
fn parts(heading: &str, parts: &Value, show: impl Fn(&Value) -> Option<String>) -> String {
    let mut text = format!("  {heading}\n");
    for (part, value) in parts.as_object().into_iter().flatten() {
        if let Some(figure) = show(value) {
            let _ = writeln!(text, "    {part:<22}{figure:>16}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run that issued in 30 of 100 cycles of one SM and waited for memory in the others.
    #[test]
    fn shares_are_of_what_they_say() {
        let mut spec = GpuSpec::preset("tesla-16sm").unwrap();
        spec.sm.count = 1;
        let counts = [
            ("warp_instructions", 30),
            ("thread_instructions", 600),
            ("issue_cycles", 30),
            ("stall_memory", 70),
            ("resident_warp_cycles", 1600),
            ("l1_reads", 10),
            ("l1_read_hits", 4),
        ];
        let run = Run {
            cycles: 100,
            activity: counts.into_iter().collect(),
            per_sm: Vec::new(),
            launches: Vec::new(),
            work: warpwatt_gpu::Work::default(),
        };
        let timing = Timing::of(&spec, &run);
        assert_eq!(timing.value["ipc"]["warp_instructions"], 0.3);
        assert_eq!(timing.value["ipc"]["thread_instructions"], 6.0);
        assert_eq!(timing.value["stalls"], json!({ "issue": 30, "memory": 70 }));
        assert_eq!(timing.value["occupancy"]["achieved"], 0.5, "16 of 32 warps");
        assert_eq!(timing.value["rates"]["l1_hit_rate"], 0.4);
        assert_eq!(timing.value["rates"]["l2_hit_rate"], Value::Null);
        for words in ["memory", "L1 hit rate", "40.0%"] {
            assert!(timing.text.contains(words), "{}", timing.text);
        }
    }
}

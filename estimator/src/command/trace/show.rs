//! The statistics of a trace as text and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use comfy_table::Table;
use serde_json::{Value, json};
use warpwatt_simt::trace::statistics::{Footprint, Lives, Statistics, bucket_range};
use warpwatt_simt::trace::{KernelTrace, Space, Unit};

use crate::command::list::table;

/// What is shown of a case.
pub struct Shown<'t> {
    label: &'t str,
    warp_width: u32,
    launches: usize,
    kernels: Vec<Launched<'t>>,
    statistics: &'t Statistics,
    memory_bytes: u64,
    file_bytes: u64,
}

/// The launches of one entry.
struct Launched<'t> {
    name: &'t str,
    launches: u64,
    warp_instructions: u64,
    registers: u32,
    shared_bytes: u32,
}

impl<'t> Shown<'t> {
    pub fn new(
        label: &'t str,
        traces: &[&'t KernelTrace],
        statistics: &'t Statistics,
        file_bytes: u64,
    ) -> Self {
        let mut kernels: BTreeMap<&str, Launched<'t>> = BTreeMap::new();
        for trace in traces {
            let kernel = kernels.entry(&trace.kernel).or_insert(Launched {
                name: &trace.kernel,
                launches: 0,
                warp_instructions: 0,
                registers: 0,
                shared_bytes: 0,
            });
            kernel.launches += 1;
            kernel.warp_instructions += trace.warp_instructions();
            kernel.registers = kernel.registers.max(trace.launch.registers);
            kernel.shared_bytes = kernel.shared_bytes.max(trace.launch.shared_bytes);
        }
        let widths = traces.iter().map(|trace| trace.launch.warp_width);
        let memory = traces.iter().map(|trace| trace.record_bytes() as u64);
        Self {
            label,
            warp_width: widths.max().unwrap_or(32),
            launches: traces.len(),
            kernels: kernels.into_values().collect(),
            statistics,
            memory_bytes: memory.sum(),
            file_bytes,
        }
    }

    fn each(&self, bytes: u64) -> f64 {
        bytes as f64 / self.statistics.warp_instructions.max(1) as f64
    }

    pub fn json(&self) -> Value {
        let found = self.statistics;
        let kernels = self.kernels.iter().map(|kernel| {
            json!({
                "kernel": kernel.name, "launches": kernel.launches, "warp_instructions": kernel.warp_instructions,
                "registers": kernel.registers, "shared_bytes": kernel.shared_bytes,
            })
        });
        let of = |unit| found.mix.get(&unit).copied().unwrap_or(0);
        let mix = found.mix.iter();
        let mix: BTreeMap<&str, u64> = mix
            .map(|(unit, count)| (unit_name(*unit), *count))
            .collect();
        let [accesses, uniform, strided] = found.memory.shapes();
        let spaces = found.memory.iter().map(|(space, at)| space_json(space, at));
        json!({
            "label": self.label,
            "warp_width": self.warp_width,
            "launches": self.launches,
            "kernels": kernels.collect::<Vec<_>>(),
            "warp_instructions": found.warp_instructions,
            "thread_instructions": found.thread_instructions,
            "predicated_off": found.predicated_off,
            "mix": mix,
            "mean_active_lanes": found.mean_active_lanes(),
            "active_lanes": found.active_lanes,
            "executing_lanes": found.executing_lanes,
            "operands": {
                "all": found.operands.all, "uniform": found.operands.uniform, "uniform_share": found.operands.uniform_share(),
            },
            "addresses": {
                "all": accesses, "uniform": uniform, "strided": strided, "scattered": accesses - uniform - strided,
            },
            "memory": spaces.collect::<Vec<_>>(),
            "memory_complete": found.memory.is_complete(),
            "live_ranges": {
                "registers": lives_json(&found.registers),
                "predicates": lives_json(&found.predicates),
            },
            "barriers": of(Unit::Barrier),
            "fences": of(Unit::Fence),
            "branches": {
                "all": found.branches.all, "conditional": found.branches.conditional, "divergent": found.branches.divergent,
                "divergent_share": ratio(found.branches.divergent, found.branches.conditional),
            },
            "size": {
                "memory_bytes": self.memory_bytes, "file_bytes": self.file_bytes,
                "memory_bytes_per_warp_instruction": self.each(self.memory_bytes),
                "file_bytes_per_warp_instruction": self.each(self.file_bytes),
            },
        })
    }

    pub fn text(&self) -> String {
        let found = self.statistics;
        let mut text = format!(
            "{}: {} launches, warps of {} lanes, {} warp instructions, {} thread instructions, {:.1} % of them predicated off\n\n",
            self.label,
            self.launches,
            self.warp_width,
            found.warp_instructions,
            found.thread_instructions,
            percent(found.predicated_off, found.thread_instructions),
        );
        text += &self.kernels_text();
        text += "\n";
        text += &self.mix_text();
        text += "\n";
        text += &self.lanes_text();
        text += "\n";
        text += &self.memory_text();
        text += "\n";
        text += &self.lives_text();
        text += "\n";
        text += &self.lines();
        text
    }

    fn kernels_text(&self) -> String {
        let mut rows = Table::new();
        for kernel in &self.kernels {
            rows.add_row([
                kernel.name.to_owned(),
                kernel.launches.to_string(),
                kernel.warp_instructions.to_string(),
                kernel.registers.to_string(),
                kernel.shared_bytes.to_string(),
            ]);
        }
        let heading = [
            "kernel",
            "launches",
            "warp instructions",
            "registers",
            "shared bytes",
        ];
        table(rows, heading)
    }

    fn mix_text(&self) -> String {
        let found = self.statistics;
        let mut rows = Table::new();
        for (unit, count) in &found.mix {
            let share = percent(*count, found.warp_instructions);
            rows.add_row([
                unit_name(*unit).to_owned(),
                count.to_string(),
                format!("{share:.1} %"),
            ]);
        }
        table(rows, ["class", "warp instructions", "share"])
    }

    /// By quarters of a warp; JSON has every number.
    fn lanes_text(&self) -> String {
        let found = self.statistics;
        let width = self.warp_width as usize;
        let quarters = [0..=0, 1..=width / 4 - 1, width / 4..=width / 2 - 1]
            .into_iter()
            .chain([
                width / 2..=width / 4 * 3 - 1,
                width / 4 * 3..=width - 1,
                width..=width,
            ]);
        let mut rows = Table::new();
        for lanes in quarters {
            let sum = |histogram: &[u64]| histogram[lanes.clone()].iter().sum::<u64>();
            let (active, executing) = (sum(&found.active_lanes), sum(&found.executing_lanes));
            if active + executing == 0 {
                continue;
            }
            let (first, last) = (lanes.start(), lanes.end());
            let name = if first == last {
                first.to_string()
            } else {
                format!("{first} to {last}")
            };
            let share = |count| format!("{:.1} %", percent(count, found.warp_instructions));
            rows.add_row([name, share(active), share(executing)]);
        }
        table(
            rows,
            ["lanes", "active", "executing, their guards considered"],
        )
    }

    fn memory_text(&self) -> String {
        let mut rows = Table::new();
        for (space, at) in self.statistics.memory.iter() {
            rows.add_row([
                space_name(space).to_owned(),
                at.loads.to_string(),
                at.stores.to_string(),
                at.atomics.to_string(),
                at.moved.to_string(),
                at.touched_bytes().to_string(),
                at.touched_lines().to_string(),
                format!("{:.2}", at.sectors_per_access()),
            ]);
        }
        let heading = [
            "space",
            "loads",
            "stores",
            "atomics",
            "bytes moved",
            "bytes touched",
            "lines touched",
            "sectors an access",
        ];
        let mut text = table(rows, heading);
        if !self.statistics.memory.is_complete() {
            text += "(more memory is touched than is told apart: the two columns count a part)\n";
        }
        text
    }

    fn lives_text(&self) -> String {
        let (registers, predicates) = (&self.statistics.registers, &self.statistics.predicates);
        let mut rows = Table::new();
        for bucket in 0..registers.histogram.len().max(predicates.histogram.len()) {
            let name = match bucket_range(bucket) {
                (0, 0) => "never read".to_owned(),
                (first, last) if first == last => first.to_string(),
                (first, last) => format!("{first} to {last}"),
            };
            let share = |lives: &Lives| {
                let count = lives.histogram.get(bucket).copied().unwrap_or(0);
                format!("{:.1} %", percent(count, lives.values))
            };
            rows.add_row([name, share(registers), share(predicates)]);
        }
        let heading = [
            "live range, in warp instructions",
            "registers",
            "predicates",
        ];
        table(rows, heading)
    }

    fn lines(&self) -> String {
        let found = self.statistics;
        let [accesses, uniform, strided] = found.memory.shapes();
        let branches = found.branches;
        let mut text = String::new();
        for (name, value) in [
            (
                "active lanes",
                format!("{:.2} of {}", found.mean_active_lanes(), self.warp_width),
            ),
            (
                "register operands",
                format!(
                    "at least {:.1} % of {} are uniform",
                    100.0 * found.operands.uniform_share(),
                    found.operands.all
                ),
            ),
            (
                "addresses",
                format!(
                    "{:.1} % uniform, {:.1} % at equal distances, {:.1} % scattered",
                    percent(uniform, accesses),
                    percent(strided, accesses),
                    percent(accesses - uniform - strided, accesses),
                ),
            ),
            (
                "branches",
                format!(
                    "{}, {} of them conditional, of which {:.1} % diverge",
                    branches.all,
                    branches.conditional,
                    percent(branches.divergent, branches.conditional),
                ),
            ),
            (
                "values",
                format!(
                    "{} written to registers, live for {:.1} warp instructions on the average, read {:.2} times",
                    found.registers.values,
                    found.registers.mean(),
                    ratio(found.registers.reads, found.registers.values),
                ),
            ),
            (
                "size",
                format!(
                    "{:.2} bytes a warp instruction in memory, {:.2} on disk ({} bytes)",
                    self.each(self.memory_bytes),
                    self.each(self.file_bytes),
                    self.file_bytes,
                ),
            ),
        ] {
            let _ = writeln!(text, "{name:<18} {value}");
        }
        text
    }
}

fn space_json(space: Space, at: &Footprint) -> Value {
    json!({
        "space": space_name(space), "loads": at.loads, "stores": at.stores, "atomics": at.atomics,
        "bytes_moved": at.moved, "bytes_touched": at.touched_bytes(), "lines_touched": at.touched_lines(),
        "sectors": at.sectors, "sectors_per_access": at.sectors_per_access(),
        "uniform_accesses": at.uniform, "strided_accesses": at.strided,
    })
}

fn lives_json(lives: &Lives) -> Value {
    let buckets = lives
        .histogram
        .iter()
        .enumerate()
        .skip(1)
        .map(|(bucket, count)| {
            let (from, to) = bucket_range(bucket);
            json!({ "from": from, "to": to, "values": count })
        });
    json!({
        "values": lives.values, "reads": lives.reads, "never_read": lives.histogram.first().unwrap_or(&0),
        "mean": lives.mean(), "histogram": buckets.collect::<Vec<_>>(),
    })
}

fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

fn percent(part: u64, whole: u64) -> f64 {
    100.0 * ratio(part, whole)
}

fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Int => "integer",
        Unit::Fp32 => "fp32",
        Unit::Fp64 => "fp64",
        Unit::Sfu => "special_function",
        Unit::Memory => "memory",
        Unit::Control => "control",
        Unit::Barrier => "barrier",
        Unit::Fence => "fence",
        Unit::Matrix => "matrix",
        Unit::Scalar => "scalar",
    }
}

fn space_name(space: Space) -> &'static str {
    match space {
        Space::Global => "global",
        Space::Shared => "shared",
        Space::Local => "local",
        Space::Const => "const",
        Space::Param => "param",
        Space::Generic => "generic",
    }
}

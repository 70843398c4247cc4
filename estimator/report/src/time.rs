//! What the SMs spent their time on: a table for each GPU variant and technique.

use super::format::{self, NONE};
use super::text::Column;
use crate::outcome::{KernelName, Outcome, Point, gpu_label};

/// The runs on one GPU variant with one technique.
pub struct TimeTable {
    /// Technique, GPU and settings in one line.
    pub heading: String,
    /// Whether no technique is at work.
    pub is_baseline: bool,
    /// The kernel of each row.
    pub names: Vec<String>,
    /// The figures.
    pub columns: Vec<Column>,
}

/// The tables of all points. Points that differ in nothing but their technology share a row if they took the same time, which all do whose technique has no delays to check.
pub fn tables(points: &[Outcome]) -> Vec<TimeTable> {
    let mut groups: Vec<Vec<&Outcome>> = Vec::new();
    for point in points {
        let group = groups
            .iter_mut()
            .find(|group| same_gpu(&group[0].point, &point.point));
        match group {
            None => groups.push(vec![point]),
            Some(group) if !group.iter().any(|known| same_run(known, point)) => group.push(point),
            Some(_) => {}
        }
    }
    groups.iter().map(|runs| table(runs)).collect()
}

fn same_gpu(a: &Point, b: &Point) -> bool {
    a.gpu == b.gpu && a.axes == b.axes && a.technique == b.technique
}

fn same_run(a: &Outcome, b: &Outcome) -> bool {
    a.point.kernel == b.point.kernel && a.cycles == b.cycles && a.performance == b.performance
}

fn table(runs: &[&Outcome]) -> TimeTable {
    let point = &runs[0].point;
    let kernels: Vec<&KernelName> = runs.iter().map(|run| &*run.point.kernel).collect();
    let names = format::kernels(&kernels).into_iter().zip(runs);
    TimeTable {
        heading: format!(
            "{} · {}",
            point.technique,
            gpu_label(&point.gpu, &point.axes)
        ),
        is_baseline: point.is_baseline(),
        names: names
            .map(|(name, run)| named(name, run, &kernels))
            .collect(),
        columns: columns(runs),
    }
}

/// The kernel's name, with its technology where that makes a difference.
fn named(name: String, run: &Outcome, kernels: &[&KernelName]) -> String {
    let same = kernels.iter().filter(|k| ***k == *run.point.kernel).count();
    if same > 1 {
        format!("{name} {}", run.point.technology.node)
    } else {
        name
    }
}

/// A figure of a run: heading, meaning, and how it is written.
type Figure = (
    &'static [&'static str],
    &'static str,
    fn(&Outcome) -> Option<String>,
);

fn spent(run: &Outcome, what: &str) -> Option<String> {
    run.performance.spent(what).map(format::percent)
}

/// Every figure in its place.
const ALL: &[Figure] = &[
    (&["cycles"], "SM cycles", |run| {
        Some(format::count(run.cycles))
    }),
    (
        &["IPC"],
        "warp instructions a cycle of the whole GPU",
        |run| run.performance.ipc.warp_instructions.map(format::number),
    ),
    (
        &["occu-", "pancy"],
        "resident warps over warp slots, while an SM had any",
        |run| run.performance.occupancy.achieved.map(format::percent),
    ),
    (
        &["limited", "by"],
        "what an SM has no more of for another CTA",
        limited_by,
    ),
    (
        &["issue"],
        "SM cycles in which something was issued",
        |run| spent(run, "issue"),
    ),
    (
        &["memory"],
        "SM cycles without an issue: waiting for a load's result",
        |run| spent(run, "memory"),
    ),
    (
        &["depen-", "dence"],
        "SM cycles without an issue: waiting for a result of the pipeline",
        |run| spent(run, "dependence"),
    ),
    (
        &["unit"],
        "SM cycles without an issue: unit, collector or transactions taken",
        |run| spent(run, "unit"),
    ),
    (
        &["I-cache"],
        "SM cycles without an issue: a miss of the I-cache",
        |run| spent(run, "icache"),
    ),
    (
        &["fetch"],
        "SM cycles without an issue: fetch, decode, branches",
        |run| spent(run, "fetch"),
    ),
    (
        &["barrier"],
        "SM cycles without an issue: every warp at a barrier",
        |run| spent(run, "barrier"),
    ),
    (
        &["drain"],
        "SM cycles without an issue: the last results of warps that end",
        |run| spent(run, "drain"),
    ),
    (&["idle"], "SM cycles without a warp", |run| {
        spent(run, "idle")
    }),
    (
        &["busiest", "unit"],
        "the kind of unit that was taken for most of its cycles",
        busiest,
    ),
    (
        &["L1", "hits"],
        "sectors read that were in the first-level cache",
        |run| run.performance.rates.l1_hit_rate.map(format::percent),
    ),
    (
        &["L2", "hits"],
        "sectors read that were in the second-level cache",
        |run| run.performance.rates.l2_hit_rate.map(format::percent),
    ),
    (
        &["DRAM", "rows"],
        "requests to DRAM that found their row open",
        |run| run.performance.rates.dram_row_hit_rate.map(format::percent),
    ),
    (
        &["DRAM", "GB/s"],
        "bytes between DRAM and the chip",
        |run| {
            let rate = run.performance.rates.dram_bandwidth_bytes_per_s;
            rate.map(|rate| format::number(rate / 1e9))
        },
    ),
];

/// What limits the CTAs on an SM, if it is the same for all kernels of the run.
fn limited_by(run: &Outcome) -> Option<String> {
    let mut limits = run.performance.occupancy.limits.iter();
    let first = limits.next()?;
    let same = limits.all(|limit| limit.limited_by == first.limited_by);
    Some(if same { &first.limited_by } else { "several" }.to_owned())
}

fn busiest(run: &Outcome) -> Option<String> {
    let units = run.performance.utilisation.iter();
    let taken = units.filter_map(|(unit, share)| Some((unit, (*share)?)));
    let (unit, share) = taken.max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(format!("{unit} {}", format::percent(share)))
}

/// The columns that have something to show.
fn columns(runs: &[&Outcome]) -> Vec<Column> {
    let none = |text: &String| text == NONE || *text == format::percent(0.0);
    ALL.iter()
        .map(|(heading, meaning, text)| Column {
            heading: heading.iter().map(|line| (*line).to_owned()).collect(),
            meaning: (*meaning).to_owned(),
            cells: runs
                .iter()
                .map(|run| text(run).unwrap_or_else(|| NONE.to_owned()))
                .collect(),
        })
        .filter(|column| !column.cells.iter().all(none))
        .collect()
}

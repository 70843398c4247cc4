//! CSV: one row a point, one row a comparison. SI units, the unit in the column's name.

use super::compare::Comparison;
use super::estimate::Estimate;
use super::model::Report;
use super::stacked::StackedPoint;
use crate::outcome::{Outcome, Point};

/// The columns that name a point.
const POINT: [&str; 11] = [
    "kernel",
    "case",
    "gpu",
    "axes",
    "library",
    "node",
    "flavour",
    "profile",
    "temperature_k",
    "vdd_v",
    "technique",
];

type Figure<T> = (&'static str, fn(&T) -> String);

/// The figures of a point.
const OUTCOME: [Figure<Outcome>; 28] = [
    ("cycles", |o| o.cycles.to_string()),
    ("time_s", |o| real(o.time_s)),
    ("warp_instructions", |o| {
        o.activity.get("warp_instructions").to_string()
    }),
    ("fetches", |o| o.activity.get("fetches").to_string()),
    ("warp_ipc", |o| option(o.performance.ipc.warp_instructions)),
    ("achieved_occupancy", |o| {
        option(o.performance.occupancy.achieved)
    }),
    ("issue_share", |o| option(o.performance.spent("issue"))),
    ("stall_unit_share", |o| option(o.performance.spent("unit"))),
    ("stall_memory_share", |o| {
        option(o.performance.spent("memory"))
    }),
    ("stall_dependence_share", |o| {
        option(o.performance.spent("dependence"))
    }),
    ("stall_icache_share", |o| {
        option(o.performance.spent("icache"))
    }),
    ("stall_fetch_share", |o| {
        option(o.performance.spent("fetch"))
    }),
    ("stall_barrier_share", |o| {
        option(o.performance.spent("barrier"))
    }),
    ("stall_drain_share", |o| {
        option(o.performance.spent("drain"))
    }),
    ("idle_share", |o| option(o.performance.spent("idle"))),
    ("sp_utilisation", |o| option(o.performance.taken("sp"))),
    ("int_utilisation", |o| option(o.performance.taken("int"))),
    ("sfu_utilisation", |o| option(o.performance.taken("sfu"))),
    ("fp64_utilisation", |o| option(o.performance.taken("fp64"))),
    ("tensor_utilisation", |o| {
        option(o.performance.taken("tensor"))
    }),
    ("ldst_utilisation", |o| option(o.performance.taken("ldst"))),
    ("l1_hit_rate", |o| option(o.performance.rates.l1_hit_rate)),
    ("l2_hit_rate", |o| option(o.performance.rates.l2_hit_rate)),
    ("dram_bytes_per_s", |o| {
        option(o.performance.rates.dram_bandwidth_bytes_per_s)
    }),
    ("dynamic_energy_j", |o| real(o.totals.dynamic_j)),
    ("leakage_energy_j", |o| real(o.totals.leakage_j)),
    ("area_m2", |o| real(o.totals.area_m2)),
    ("leakage_w", |o| real(o.totals.leakage_w)),
];

/// The figures of a comparison. `_halfwidth` is half a 95 % interval.
const COMPARISON: [Figure<Comparison>; 32] = [
    ("baseline_cycles", |c| c.baseline_cycles.to_string()),
    ("cycles", |c| c.cycles.to_string()),
    ("slowdown", |c| real(c.slowdown)),
    ("fetches", |c| c.fetches.to_string()),
    ("filter_cache_hit_rate", |c| option(c.hit_rate)),
    ("icache_without_j", |c| real(c.icache.without_j)),
    ("icache_with_j", |c| real(c.icache.with_j)),
    ("icache_change", |c| value(c.icache.relative)),
    ("icache_change_halfwidth", |c| half_width(c.icache.relative)),
    ("implied_icache_without_j", |c| {
        option(c.implied.map(|i| i.icache.without_j))
    }),
    ("implied_icache_with_j", |c| {
        option(c.implied.map(|i| i.icache.with_j))
    }),
    ("implied_icache_change", |c| {
        value(c.implied.and_then(|i| i.icache.relative))
    }),
    ("front_end_without_j", |c| real(c.front_end.without_j)),
    ("front_end_with_j", |c| real(c.front_end.with_j)),
    ("front_end_gross_saving_j", |c| {
        real(c.front_end_saving.gross_j)
    }),
    ("front_end_overhead_j", |c| {
        real(c.front_end_saving.overhead_j)
    }),
    ("front_end_net_saving_j", |c| real(c.front_end_saving.net_j)),
    ("front_end_change", |c| value(c.front_end.relative)),
    ("front_end_change_halfwidth", |c| {
        half_width(c.front_end.relative)
    }),
    ("implied_front_end_change", |c| {
        value(c.implied.and_then(|i| i.front_end.relative))
    }),
    ("total_without_j", |c| real(c.total.without_j)),
    ("total_with_j", |c| real(c.total.with_j)),
    ("total_change", |c| value(c.total.relative)),
    ("total_change_halfwidth", |c| half_width(c.total.relative)),
    ("front_end_area_overhead", |c| {
        value(c.overhead.front_end_area)
    }),
    ("sm_area_overhead", |c| value(c.overhead.sm_area)),
    ("front_end_leakage_overhead", |c| {
        value(c.overhead.front_end_leakage)
    }),
    ("sm_leakage_overhead", |c| value(c.overhead.sm_leakage)),
    ("paper_row", |c| {
        c.paper
            .as_ref()
            .map(|p| p.abbreviation.clone())
            .unwrap_or_default()
    }),
    ("paper_hit_rate", |c| {
        option(c.paper.as_ref().map(|p| p.hit_rate))
    }),
    ("paper_icache_ratio", |c| {
        option(c.paper.as_ref().map(|p| p.icache_ratio))
    }),
    ("paper_front_end_saving", |c| {
        option(c.paper.as_ref().map(|p| p.front_end_saving))
    }),
];

/// The figures of a stack beside its members alone: relative changes against the baseline.
const STACKED: [Figure<StackedPoint>; 14] = [
    ("energy_sum", |s| real(s.energy.sum)),
    ("energy_product", |s| real(s.energy.product)),
    ("energy_stacked", |s| real(s.energy.stack)),
    ("energy_excess", |s| real(s.energy.excess.value)),
    ("energy_excess_halfwidth", |s| {
        real(s.energy.excess.half_width())
    }),
    ("dynamic_sum", |s| real(s.dynamic.sum)),
    ("dynamic_stacked", |s| real(s.dynamic.stack)),
    ("leakage_sum", |s| real(s.leakage.sum)),
    ("leakage_stacked", |s| real(s.leakage.stack)),
    ("cycles_sum", |s| real(s.cycles.sum)),
    ("cycles_product", |s| real(s.cycles.product)),
    ("cycles_stacked", |s| real(s.cycles.stack)),
    ("area_sum", |s| real(s.area.sum)),
    ("area_stacked", |s| real(s.area.stack)),
];

impl Report {
    /// One row a point.
    pub fn points_csv(&self) -> String {
        let rows = self.points.iter().map(|outcome| (&outcome.point, outcome));
        write(&OUTCOME, rows)
    }

    /// One row a comparison of a technique with its baseline.
    pub fn comparisons_csv(&self) -> String {
        let comparisons = self.blocks.iter().flat_map(|block| &block.comparisons);
        write(&COMPARISON, comparisons.map(|c| (&c.point, c)))
    }

    /// One row a stack whose members are among the points too.
    pub fn stacks_csv(&self) -> String {
        let points = self.stacks.iter().flat_map(|stacked| &stacked.points);
        write(&STACKED, points.map(|s| (&s.point, s)))
    }
}

fn write<'a, T: 'a>(
    figures: &[Figure<T>],
    rows: impl Iterator<Item = (&'a Point, &'a T)>,
) -> String {
    let mut text = line(
        POINT
            .into_iter()
            .map(str::to_owned)
            .chain(figures.iter().map(|f| f.0.to_owned())),
    );
    for (point, row) in rows {
        text.push_str(&line(
            name(point)
                .into_iter()
                .chain(figures.iter().map(|f| (f.1)(row))),
        ));
    }
    text
}

/// One record, quoted where needed. Writing to memory cannot fail, so a failure leaves the line empty rather than the program dead.
fn line(fields: impl Iterator<Item = String>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let written = writer.write_record(fields);
    let bytes = written.ok().and_then(|()| writer.into_inner().ok());
    String::from_utf8(bytes.unwrap_or_default()).unwrap_or_default()
}

fn name(point: &Point) -> Vec<String> {
    let axes: Vec<String> = point
        .axes
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    let technology = &point.technology;
    vec![
        point.kernel.name.clone(),
        point.kernel.case.clone(),
        point.gpu.clone(),
        axes.join(" "),
        technology.library.clone(),
        technology.node.clone(),
        technology.flavour.clone(),
        technology.profile.clone(),
        real(technology.temperature_k),
        real(technology.vdd_v),
        point.technique.clone(),
    ]
}

/// The shortest text that reads back to the same number.
fn real(value: f64) -> String {
    if value != 0.0 && !(1e-3..1e6).contains(&value.abs()) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

fn option(value: Option<f64>) -> String {
    value.map(real).unwrap_or_default()
}

fn value(estimate: Option<Estimate>) -> String {
    option(estimate.map(|estimate| estimate.value))
}

fn half_width(estimate: Option<Estimate>) -> String {
    option(estimate.map(|estimate| estimate.half_width()))
}

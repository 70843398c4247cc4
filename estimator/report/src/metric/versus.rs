//! Metrics of a comparison with the baseline.

use super::Better::{Higher, Lower, Neither};
use super::{Def, def};
use crate::compare::Comparison;
use crate::estimate::Estimate;

/// The columns of `comparisons.csv`, in their order. `_halfwidth` is half a 95 % interval.
#[rustfmt::skip]
pub const VERSUS: &[Def<Comparison>] = &[
    def("baseline_cycles", "cycles", Neither, "cycles of the baseline", |c| count(c.baseline_cycles)),
    def("cycles", "cycles", Lower, "cycles with the technique", |c| count(c.cycles)),
    def("slowdown", "1", Lower, "cycles added, over the baseline's", |c| Some(c.slowdown)),
    def("fetches", "instructions", Neither, "instructions fetched by the baseline", |c| count(c.fetches)),
    def("front_end_without_j", "J", Neither, "dynamic energy of the front end in the baseline", |c| Some(c.front_end.without_j)),
    def("front_end_with_j", "J", Lower, "the same with the technique", |c| Some(c.front_end.with_j)),
    def("front_end_gross_saving_j", "J", Higher, "saved by the structures of the front end that spend less", |c| Some(c.front_end_saving.gross_j)),
    def("front_end_overhead_j", "J", Lower, "added by those that spend more", |c| Some(c.front_end_saving.overhead_j)),
    def("front_end_net_saving_j", "J", Higher, "saved less added", |c| Some(c.front_end_saving.net_j)),
    def("front_end_change", "1", Lower, "relative change of the front end's dynamic energy", |c| value(c.front_end.relative)),
    def("front_end_change_halfwidth", "1", Lower, "half its 95 % interval", |c: &Comparison| half_width(c.front_end.relative)).interval(),
    def("total_without_j", "J", Neither, "dynamic and leakage energy of the baseline", |c| Some(c.total.without_j)),
    def("total_with_j", "J", Lower, "the same with the technique", |c| Some(c.total.with_j)),
    def("total_change", "1", Lower, "relative change of dynamic and leakage energy", |c| value(c.total.relative)),
    def("total_change_halfwidth", "1", Lower, "half its 95 % interval", |c: &Comparison| half_width(c.total.relative)).interval(),
    def("front_end_area_overhead", "1", Lower, "area added, over that of the front end", |c| value(c.overhead.front_end_area)),
    def("sm_area_overhead", "1", Lower, "area added, over that of all priced structures", |c| value(c.overhead.sm_area)),
    def("front_end_leakage_overhead", "1", Lower, "leakage power added, over that of the front end", |c| value(c.overhead.front_end_leakage)),
    def("sm_leakage_overhead", "1", Lower, "leakage power added, over that of all priced structures", |c| value(c.overhead.sm_leakage)),
];

/// What else follows from a comparison.
#[rustfmt::skip]
pub(super) const DERIVED: &[Def<Comparison>] = &[
    def("speedup", "x", Higher, "cycles of the baseline over cycles with the technique", |c| Some(c.baseline_cycles as f64 / c.cycles as f64)),
    def("energy_saving", "1", Higher, "dynamic and leakage energy saved, over the baseline's", |c| Some(-c.total.relative?.value)),
    def("front_end_saving", "1", Higher, "dynamic energy of the front end saved, over the baseline's", |c| Some(-c.front_end.relative?.value)),
    def("area_overhead", "1", Lower, "area added, over that of all priced structures", |c| value(c.overhead.sm_area)),
    def("leakage_overhead", "1", Lower, "leakage power added, over that of all priced structures", |c| value(c.overhead.sm_leakage)),
];

#[expect(
    clippy::unnecessary_wraps,
    reason = "a count stands where other metrics may be absent"
)]
fn count(count: u64) -> Option<f64> {
    Some(count as f64)
}

fn value(estimate: Option<Estimate>) -> Option<f64> {
    estimate.map(|estimate| estimate.value)
}

fn half_width(estimate: Option<Estimate>) -> Option<f64> {
    estimate.map(|estimate| estimate.half_width())
}

//! Metrics of a point.

use super::Better::{Higher, Lower, Neither};
use super::{Def, def};
use crate::outcome::{FRONT_END, Outcome};

/// The columns of `points.csv`, in their order.
#[rustfmt::skip]
pub const POINT: &[Def<Outcome>] = &[
    def("cycles", "cycles", Lower, "cycles of the core clock", |o| count(o.cycles)),
    def("time_s", "s", Lower, "time from the first launch to the last retired warp", |o| Some(o.time_s)),
    def("warp_instructions", "instructions", Neither, "instructions of warps", |o| count(o.activity.get("warp_instructions"))),
    def("fetches", "instructions", Neither, "instructions fetched", |o| count(o.activity.get("fetches"))),
    def("warp_ipc", "1/cycle", Higher, "warp instructions a cycle of the whole GPU", |o| o.performance.ipc.warp_instructions),
    def("achieved_occupancy", "1", Higher, "resident warps over warp slots, while an SM had any", |o| o.performance.occupancy.achieved),
    def("issue_share", "1", Higher, "share of the SMs' cycles in which an instruction was issued", |o| o.performance.spent("issue")),
    def("stall_unit_share", "1", Lower, "share in which units were taken", |o| o.performance.spent("unit")),
    def("stall_memory_share", "1", Lower, "share in which warps waited for memory", |o| o.performance.spent("memory")),
    def("stall_dependence_share", "1", Lower, "share in which warps waited for results", |o| o.performance.spent("dependence")),
    def("stall_icache_share", "1", Lower, "share in which warps waited for the I-cache", |o| o.performance.spent("icache")),
    def("stall_fetch_share", "1", Lower, "share in which warps waited for fetch", |o| o.performance.spent("fetch")),
    def("stall_barrier_share", "1", Lower, "share in which warps waited at barriers", |o| o.performance.spent("barrier")),
    def("stall_drain_share", "1", Lower, "share in which warps waited for their last instructions", |o| o.performance.spent("drain")),
    def("idle_share", "1", Lower, "share in which SMs had no warp", |o| o.performance.spent("idle")),
    def("sp_utilisation", "1", Higher, "share of the cycles for which single-precision units were taken", |o| o.performance.taken("sp")),
    def("int_utilisation", "1", Higher, "the same of integer units", |o| o.performance.taken("int")),
    def("sfu_utilisation", "1", Higher, "the same of special-function units", |o| o.performance.taken("sfu")),
    def("fp64_utilisation", "1", Higher, "the same of double-precision units", |o| o.performance.taken("fp64")),
    def("tensor_utilisation", "1", Higher, "the same of tensor units", |o| o.performance.taken("tensor")),
    def("ldst_utilisation", "1", Higher, "the same of load-store units", |o| o.performance.taken("ldst")),
    def("l1_hit_rate", "1", Higher, "sectors read that were in the first-level data cache", |o| o.performance.rates.l1_hit_rate),
    def("l2_hit_rate", "1", Higher, "sectors read that were in the second-level cache", |o| o.performance.rates.l2_hit_rate),
    def("dram_bytes_per_s", "B/s", Neither, "bytes a second between DRAM and the chip", |o| o.performance.rates.dram_bandwidth_bytes_per_s),
    def("dynamic_energy_j", "J", Lower, "dynamic energy of all priced structures", |o| Some(o.totals.dynamic_j)),
    def("leakage_energy_j", "J", Lower, "leakage energy of all priced structures", |o| Some(o.totals.leakage_j)),
    def("area_m2", "m2", Lower, "area of all priced structures", |o| Some(o.totals.area_m2)),
    def("leakage_w", "W", Lower, "leakage power of all priced structures, gate leakage included", |o| Some(o.totals.leakage_w)),
];

/// What else follows from a point.
#[rustfmt::skip]
pub(super) const DERIVED: &[Def<Outcome>] = &[
    def("energy_j", "J", Lower, "dynamic and leakage energy", |o| Some(o.energy_j())),
    def("power_w", "W", Lower, "average power: dynamic and leakage energy over time", |o| Some(o.energy_j() / o.time_s)),
    def("dynamic_power_w", "W", Lower, "average dynamic power: dynamic energy over time", |o| Some(o.totals.dynamic_j / o.time_s)),
    def("peak_power_w", "W", Lower, "power of the window of time that takes the most, with [peak_power]", Outcome::peak_power_w),
    def("edp_js", "J s", Lower, "energy-delay product: energy times time", |o| Some(o.energy_j() * o.time_s)),
    def("ed2p_js2", "J s2", Lower, "energy-delay-squared product", |o| Some(o.energy_j() * o.time_s * o.time_s)),
    def("energy_per_instruction_j", "J", Lower, "energy over warp instructions", |o| Some(o.energy_j() / o.activity.get("warp_instructions") as f64)),
    def("instructions_per_s", "1/s", Higher, "warp instructions over time", |o| Some(o.activity.get("warp_instructions") as f64 / o.time_s)),
    def("power_density_w_per_m2", "W/m2", Lower, "average power over area", |o| Some(o.energy_j() / o.time_s / o.totals.area_m2)),
    def("clock_hz", "Hz", Higher, "the core clock", |o| Some(o.clock_hz)),
    def("clock_period_s", "s", Lower, "a period of the core clock", |o| Some(1.0 / o.clock_hz)),
    def("slowest_delay_s", "s", Lower, "access time of the slowest priced structure", slowest),
    def("front_end_energy_j", "J", Lower, "dynamic energy of the front end", |o| Some(o.group(FRONT_END).map(|s| s.dynamic_j).sum())),
    def("front_end_area_m2", "m2", Lower, "area of the front end", |o| Some(o.group(FRONT_END).map(|s| s.total_area_m2()).sum())),
    def("thread_ipc", "1/cycle", Higher, "thread instructions a cycle of the whole GPU", |o| o.performance.ipc.thread_instructions),
    def("icache_hit_rate", "1", Higher, "look-ups of the I-cache that hit", |o| o.performance.rates.icache_hit_rate),
    def("dram_row_hit_rate", "1", Higher, "requests to DRAM that found their row open", |o| o.performance.rates.dram_row_hit_rate),
    def("dram_bus_utilisation", "1", Neither, "share of the DRAM cycles in which a data bus was in use", |o| o.performance.rates.dram_bus_utilisation),
    def("shared_passes_per_access", "passes", Lower, "passes of an access to shared memory", |o| o.performance.rates.shared_passes_per_access),
    def("operand_bank_conflict_cycles_per_instruction", "cycles", Lower, "cycles by which register-bank conflicts delay an instruction", |o| o.performance.rates.operand_bank_conflict_cycles_per_instruction),
    def("lanes_per_instruction", "lanes", Higher, "active lanes of an instruction", |o| o.performance.rates.lanes_per_instruction),
    def("vdd_v", "V", Neither, "the supply voltage", |o| Some(o.point.technology.vdd_v)),
    def("junction_k", "K", Lower, "temperature of the SMs by their own heat, with [thermal]", |o| o.at_rest().map(|heat| heat.junction_k)),
    def("loop_gain", "1", Lower, "kelvin that the additional leakage of one kelvin more makes, with [thermal]", |o| o.heat.map(|heat| heat.loop_gain)),
    def("temperature_k", "K", Neither, "the junction temperature", |o| Some(o.point.technology.temperature_k)),
];

#[expect(
    clippy::unnecessary_wraps,
    reason = "a count stands where other metrics may be absent"
)]
fn count(count: u64) -> Option<f64> {
    Some(count as f64)
}

fn slowest(outcome: &Outcome) -> Option<f64> {
    let delays = outcome.structures.iter().map(|s| s.delay_s);
    delays.max_by(f64::total_cmp)
}

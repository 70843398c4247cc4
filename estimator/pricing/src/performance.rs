//! How a timing run went: IPC, occupancy, what cycles went into, how far units were taken, rates of hits and conflicts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use warpwatt_activity::Activity;
use warpwatt_gpu::{GpuSpec, Run, SECTOR_BYTES};

/// Figures of a run over all its launches. What has nothing to divide by is nothing: the hit rate of a cache that was never read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Performance {
    /// Instructions a cycle of the whole GPU.
    pub ipc: Ipc,
    /// Warps on the SMs.
    pub occupancy: Occupancy,
    /// Cycles of all SMs by what they were spent on: `issue`, `idle` or the cause of a stall. Together they are cycles times SMs.
    pub stalls: BTreeMap<String, u64>,
    /// Shares of its cycles for which a unit of a kind was taken: the mean over all units of the GPU. Kinds that the GPU does not have are left out.
    pub utilisation: BTreeMap<String, Option<f64>>,
    /// Hit rates, conflicts, bandwidth.
    pub rates: Rates,
}

/// Instructions a cycle of the whole GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ipc {
    /// Of warps.
    pub warp_instructions: Option<f64>,
    /// Of threads: active lanes, predicated-off lanes included.
    pub thread_instructions: Option<f64>,
}

/// How many warps an SM held and can hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Occupancy {
    /// Resident warps over warp slots, while the SM had any.
    pub achieved: Option<f64>,
    /// What an SM can hold, once for all launches that agree, in the order of their first.
    pub limits: Vec<Limit>,
}

/// What an SM can hold of a kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// The kernel.
    pub kernel: String,
    /// How many launches this holds for.
    pub launches: u64,
    /// CTAs that an SM can hold at once.
    pub ctas_per_sm: u32,
    /// Warps of these.
    pub warps_per_sm: u32,
    /// These over warp slots.
    pub theoretical: Option<f64>,
    /// What an SM has no more of.
    pub limited_by: String,
}

/// Hit rates, conflicts, bandwidth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// Look-ups of the I-cache that hit.
    pub icache_hit_rate: Option<f64>,
    /// Sectors read that were in the first-level data cache.
    pub l1_hit_rate: Option<f64>,
    /// Sectors read that were in the second-level cache.
    pub l2_hit_rate: Option<f64>,
    /// Requests to DRAM that found their row open.
    pub dram_row_hit_rate: Option<f64>,
    /// Bytes a second between DRAM and the chip.
    pub dram_bandwidth_bytes_per_s: Option<f64>,
    /// Share of the DRAM cycles in which a data bus was in use: the mean over channels.
    pub dram_bus_utilisation: Option<f64>,
    /// Passes of an access to shared memory.
    pub shared_passes_per_access: Option<f64>,
    /// Cycles by which conflicts in the register banks delayed an instruction, on average.
    pub operand_bank_conflict_cycles_per_instruction: Option<f64>,
    /// Active lanes of an instruction, on average.
    pub lanes_per_instruction: Option<f64>,
}

impl Performance {
    /// What `run` on `spec` shows.
    pub fn of(spec: &GpuSpec, run: &Run) -> Self {
        let n = |name: &str| run.activity.get(name);
        Self {
            ipc: Ipc {
                warp_instructions: share(n("warp_instructions"), run.cycles),
                thread_instructions: share(n("thread_instructions"), run.cycles),
            },
            occupancy: occupancy(spec, run),
            stalls: stalls(run),
            utilisation: utilisation(spec, run),
            rates: rates(spec, run),
        }
    }

    /// What counts of another tool show, of which some are not there: a figure that needs one of these is nothing.
    pub fn of_counts(spec: &GpuSpec, run: &Run) -> Self {
        let counted = |names: &[&str]| {
            let there = |name: &&str| run.activity.iter().any(|(known, _)| known == *name);
            names.iter().all(there)
        };
        let known = |figure: Option<f64>, names: &[&str]| figure.filter(|_| counted(names));
        let all = Self::of(spec, run);
        let bytes: &[&str] = match spec.has_l2() {
            true => &["l2_read_misses", "l2_write_backs"],
            false => &["load_bytes", "store_bytes"],
        };
        let utilisation = all.utilisation.into_iter().map(|(kind, figure)| {
            let figure = known(figure, &[&format!("{kind}_busy_cycles")]);
            (kind, figure)
        });
        Self {
            ipc: Ipc {
                warp_instructions: known(all.ipc.warp_instructions, &["warp_instructions"]),
                thread_instructions: known(all.ipc.thread_instructions, &["thread_instructions"]),
            },
            occupancy: Occupancy {
                achieved: known(
                    all.occupancy.achieved,
                    &["resident_warp_cycles", "idle_cycles"],
                ),
                limits: Vec::new(),
            },
            stalls: all.stalls,
            utilisation: utilisation.collect(),
            rates: Rates {
                icache_hit_rate: known(
                    all.rates.icache_hit_rate,
                    &["icache.tag.read", "icache_misses"],
                ),
                l1_hit_rate: known(all.rates.l1_hit_rate, &["l1_read_hits"]),
                l2_hit_rate: known(all.rates.l2_hit_rate, &["l2_read_hits"]),
                dram_row_hit_rate: known(
                    all.rates.dram_row_hit_rate,
                    &["dram_row_hits", "dram_row_misses"],
                ),
                dram_bandwidth_bytes_per_s: known(all.rates.dram_bandwidth_bytes_per_s, bytes),
                dram_bus_utilisation: known(all.rates.dram_bus_utilisation, &["dram_busy_cycles"]),
                shared_passes_per_access: known(
                    all.rates.shared_passes_per_access,
                    &["shared_passes"],
                ),
                operand_bank_conflict_cycles_per_instruction: known(
                    all.rates.operand_bank_conflict_cycles_per_instruction,
                    &["operand_bank_conflict_cycles"],
                ),
                lanes_per_instruction: known(
                    all.rates.lanes_per_instruction,
                    &["thread_instructions"],
                ),
            },
        }
    }

    /// The share of the SMs' cycles that went into `what`: a key of [`stalls`](Self::stalls).
    pub fn spent(&self, what: &str) -> Option<f64> {
        let whole = self.stalls.values().sum();
        share(self.stalls.get(what).copied().unwrap_or(0), whole)
    }

    /// The [utilisation](Self::utilisation) of a kind of unit; nothing if the GPU has none.
    pub fn taken(&self, kind: &str) -> Option<f64> {
        self.utilisation.get(kind).copied().flatten()
    }
}

/// A ratio; nothing where there is nothing to divide by.
pub fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn occupancy(spec: &GpuSpec, run: &Run) -> Occupancy {
    let whole = run.cycles.saturating_mul(u64::from(spec.sm.count));
    let busy = whole.saturating_sub(run.activity.get("idle_cycles"));
    let slots = u64::from(spec.warps_per_sm());
    let mut limits: Vec<Limit> = Vec::new();
    for launch in &run.launches {
        let limited_by = launch.limited_by.to_string();
        let same = |known: &&mut Limit| {
            known.kernel == launch.kernel
                && known.warps_per_sm == launch.warps_per_sm
                && known.limited_by == limited_by
        };
        if let Some(known) = limits.iter_mut().find(same) {
            known.launches += 1;
            continue;
        }
        limits.push(Limit {
            kernel: launch.kernel.clone(),
            launches: 1,
            ctas_per_sm: launch.ctas_per_sm,
            warps_per_sm: launch.warps_per_sm,
            theoretical: share(u64::from(launch.warps_per_sm), slots),
            limited_by,
        });
    }
    Occupancy {
        achieved: share(
            run.activity.get("resident_warp_cycles"),
            busy.saturating_mul(slots),
        ),
        limits,
    }
}

fn stalls(run: &Run) -> BTreeMap<String, u64> {
    let names = ["issue_cycles", "idle_cycles"];
    let causes = run
        .activity
        .iter()
        .filter(|(name, _)| name.starts_with("stall_") || names.contains(name));
    causes
        .map(|(name, count)| {
            let name = name
                .trim_start_matches("stall_")
                .trim_end_matches("_cycles");
            (name.to_owned(), count)
        })
        .collect()
}

fn utilisation(spec: &GpuSpec, run: &Run) -> BTreeMap<String, Option<f64>> {
    let kinds = spec.units_by_kind().into_iter();
    let there = kinds.filter(|(_, count)| *count > 0);
    there
        .map(|(kind, count)| {
            let busy = run.activity.get(&format!("{kind}_busy_cycles"));
            let units = u64::from(spec.sm.count) * u64::from(count);
            let whole = run.cycles.saturating_mul(units);
            (kind.to_owned(), share(busy, whole))
        })
        .collect()
}

/// Bytes between DRAM and the chip: sectors behind a second-level cache; without one, what loads and stores ask for.
pub fn dram_bytes(activity: &Activity, has_l2: bool) -> u64 {
    let n = |name: &str| activity.get(name);
    match has_l2 {
        true => (n("l2_read_misses") + n("l2_write_backs")) * u64::from(SECTOR_BYTES),
        false => n("load_bytes") + n("store_bytes"),
    }
}

fn rates(spec: &GpuSpec, run: &Run) -> Rates {
    let n = |name: &str| run.activity.get(name);
    let seconds = run.cycles as f64 / (f64::from(spec.sm.clock_mhz) * 1e6);
    let dram_cycles = run.cycles as f64 * f64::from(spec.dram.clock_mhz)
        / f64::from(spec.sm.clock_mhz)
        * f64::from(spec.dram.controllers);
    let bytes = dram_bytes(&run.activity, spec.has_l2());
    let ran = run.cycles > 0;
    Rates {
        icache_hit_rate: share(
            n("icache.tag.read").saturating_sub(n("icache_misses")),
            n("icache.tag.read"),
        ),
        l1_hit_rate: share(n("l1_read_hits"), n("l1_reads")),
        l2_hit_rate: share(n("l2_read_hits"), n("l2_reads")),
        dram_row_hit_rate: share(
            n("dram_row_hits"),
            n("dram_row_hits") + n("dram_row_misses"),
        ),
        dram_bandwidth_bytes_per_s: ran.then(|| bytes as f64 / seconds),
        dram_bus_utilisation: ran.then(|| n("dram_busy_cycles") as f64 / dram_cycles),
        shared_passes_per_access: share(n("shared_passes"), n("shared_accesses")),
        operand_bank_conflict_cycles_per_instruction: share(
            n("operand_bank_conflict_cycles"),
            n("warp_instructions"),
        ),
        lanes_per_instruction: share(n("thread_instructions"), n("warp_instructions")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpwatt_gpu::{LaunchRun, Resource, Work};

    /// A run that issued in 30 of 100 cycles of one SM and waited for memory in the others.
    #[test]
    fn shares_are_of_what_they_say() {
        let mut spec = GpuSpec::preset("gtx480").unwrap();
        spec.sm.count = 1;
        let counts = [
            ("warp_instructions", 30),
            ("thread_instructions", 600),
            ("issue_cycles", 30),
            ("stall_memory", 70),
            ("resident_warp_cycles", 2400),
            ("l1_reads", 10),
            ("l1_read_hits", 4),
            ("sp_busy_cycles", 40),
            ("ldst_busy_cycles", 25),
        ];
        let launch = LaunchRun {
            kernel: "k".into(),
            cycles: 50,
            ctas_per_sm: 2,
            warps_per_sm: 12,
            limited_by: Resource::SharedBytes,
            sample: None,
        };
        let run = Run {
            cycles: 100,
            activity: counts.into_iter().collect(),
            per_sm: Vec::new(),
            launches: vec![launch.clone(), launch],
            work: Work::default(),
        };
        let performance = Performance::of(&spec, &run);
        assert_eq!(performance.ipc.warp_instructions, Some(0.3));
        assert_eq!(performance.ipc.thread_instructions, Some(6.0));
        assert_eq!(performance.spent("memory"), Some(0.7));
        assert_eq!(performance.occupancy.achieved, Some(0.5), "24 of 48 warps");
        let [limit] = &performance.occupancy.limits[..] else {
            panic!("{:?}", performance.occupancy);
        };
        assert_eq!((limit.launches, limit.theoretical), (2, Some(0.25)));
        assert_eq!(performance.utilisation["sp"], Some(0.2), "two units");
        assert_eq!(performance.utilisation["ldst"], Some(0.25));
        assert!(!performance.utilisation.contains_key("tensor"));
        assert_eq!(performance.rates.l1_hit_rate, Some(0.4));
        assert_eq!(performance.rates.l2_hit_rate, None);
    }
}

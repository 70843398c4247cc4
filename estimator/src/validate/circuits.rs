//! The filter-cache paper's Table 1 and what its sentences derive from it, against our circuit models.

use std::collections::BTreeMap;
use std::sync::Arc;

use warpwatt_circuit::{CircuitError, Cost};
use warpwatt_gpu::GpuSpec;
use warpwatt_techniques::{Circuits, Structure, baseline, find};

use super::{Check, Tolerance};
use crate::papers::{FilterCachePaper, StructureRow};

/// Two models of one array, CACTI's method in both.
const AREA: Tolerance = Tolerance::Relative(0.10);
const ENERGY: Tolerance = Tolerance::Relative(0.10);
const DELAY: Tolerance = Tolerance::Relative(0.10);
/// The paper prints two decimals of a milliwatt, which is half of its smallest value.
const LEAKAGE: Tolerance = Tolerance::Relative(0.20);
/// Points of a percentage.
const SHARE: Tolerance = Tolerance::Absolute(0.01);

/// What the paper's numbers are compared with.
pub struct Setting<'a> {
    /// Circuits at 32 nm.
    pub circuits: &'a dyn Circuits,
    /// The GPU of the paper's Table 3.
    pub gpu: &'a GpuSpec,
    /// The paper.
    pub paper: &'a FilterCachePaper,
}

type Costs = BTreeMap<String, Arc<Cost>>;

/// Area, leakage, energy and delay of the nine structures of Table 1, then leakages, overheads and delays from the text.
///
/// # Errors
/// If a structure cannot be built.
pub fn filter_cache_circuits(setting: &Setting) -> Result<Vec<Check>, CircuitError> {
    let costs = costs(setting)?;
    let mut checks = table_1(&costs, setting.paper);
    checks.extend(leakages(&costs, setting.paper));
    checks.extend(sentences(&costs, setting.paper));
    Ok(checks)
}

/// Costs by the paper's names.
fn costs(setting: &Setting) -> Result<Costs, CircuitError> {
    let base = baseline::structures(setting.gpu);
    let named = base.iter().map(|s| (s.name.replace('.', "_"), s));
    let mut costs: Costs = named
        .map(|(name, s)| Ok((name, setting.circuits.cost(&s.spec)?)))
        .collect::<Result<_, CircuitError>>()?;
    for entries in [32, 16] {
        for structure in filter_cache(setting.gpu, entries) {
            if let Some(part) = structure.name.strip_prefix("filter_cache.") {
                let cost = setting.circuits.cost(&structure.spec)?;
                costs.insert(format!("fc_{part}_{entries}"), cost);
            }
        }
    }
    Ok(costs)
}

fn filter_cache(gpu: &GpuSpec, entries: u32) -> Vec<Structure> {
    let parameters = [("entries".to_owned(), toml::Value::from(entries))];
    let technique = find("filter_cache")
        .ok()
        .and_then(|definition| definition.parse(&parameters.into_iter().collect()).ok());
    technique.map_or_else(Vec::new, |technique| technique.structures(gpu))
}

fn table_1(costs: &Costs, paper: &FilterCachePaper) -> Vec<Check> {
    let rows = paper.structures.iter();
    rows.filter_map(|row| Some(row_checks(row, costs.get(&row.name)?)))
        .flatten()
        .collect()
}

fn row_checks(row: &StructureRow, cost: &Cost) -> [Check; 4] {
    let check = |figure: &str, unit, published, ours, tolerance| {
        let what = format!("{} {figure}", row.name);
        Check::new(("Table 1", what, unit), published, ours, tolerance)
    };
    [
        check("area", "µm²", row.area_um2, cost.area.as_um2(), AREA),
        check("leakage", "mW", row.leakage_mw, leakage_mw(cost), LEAKAGE),
        check(
            "read energy",
            "pJ",
            row.energy_pj,
            cost.read_energy.as_pj(),
            ENERGY,
        ),
        check("delay", "ps", row.delay_ps, cost.access_time.as_ps(), DELAY),
    ]
}

fn leakage_mw(cost: &Cost) -> f64 {
    cost.leakage.as_mw() + cost.gate_leakage.as_mw()
}

/// Section 5.2: leakage of the rest of a streaming multiprocessor.
fn leakages(costs: &Costs, paper: &FilterCachePaper) -> Vec<Check> {
    let other = paper.leakage_other_mw;
    [
        (
            "register_file",
            "16 KB register file",
            other.register_file_16kb,
        ),
        (
            "shared_memory",
            "16 KB shared memory",
            other.shared_data_cache_16kb,
        ),
        (
            "texture_cache",
            "5 KB texture cache",
            other.texture_cache_5kb,
        ),
        (
            "constant_cache",
            "2 KB constant cache",
            other.constant_cache_2kb,
        ),
    ]
    .into_iter()
    .filter_map(|(name, what, published)| {
        let what = format!("{what} leakage");
        let ours = leakage_mw(costs.get(name)?);
        Some(Check::new(
            ("section 5.2", what, "mW"),
            published,
            ours,
            LEAKAGE,
        ))
    })
    .collect()
}

const FRONT_END: [&str; 5] = [
    "icache_tag",
    "icache_data",
    "instruction_buffer",
    "scoreboard",
    "operand_buffer",
];
const FILTER: [&str; 2] = ["fc_tag_32", "fc_data_32"];
const REST: [&str; 4] = [
    "register_file",
    "shared_memory",
    "texture_cache",
    "constant_cache",
];

/// What the paper's text derives from its Table 1, derived from ours in the same way.
fn sentences(costs: &Costs, paper: &FilterCachePaper) -> Vec<Check> {
    let total = |names: &[&str], figure: fn(&Cost) -> f64| -> f64 {
        names
            .iter()
            .filter_map(|name| costs.get(*name))
            .map(|cost| figure(cost))
            .sum()
    };
    let area = |cost: &Cost| cost.area.as_um2();
    let delay = |cost: &Cost| cost.access_time.as_ns();
    let derived = paper.derived;
    let filter_leakage = total(&FILTER, leakage_mw);
    let front_end_leakage = total(&FRONT_END, leakage_mw);
    let ours_and_rest = front_end_leakage + total(&REST, leakage_mw);
    let sentence = |place, what: &str, unit, published, ours, tolerance| {
        Check::new((place, what.to_owned(), unit), published, ours, tolerance)
    };
    vec![
        sentence(
            "section 4",
            "32-entry filter cache, area over the front end's",
            "",
            derived.fc32_area_overhead_of_front_end,
            total(&FILTER, area) / total(&FRONT_END, area),
            SHARE,
        ),
        sentence(
            "section 5.2",
            "32-entry filter cache, leakage over the front end's",
            "",
            derived.fc32_front_end_static_power_increase,
            filter_leakage / front_end_leakage,
            SHARE,
        ),
        sentence(
            "section 5.2",
            "32-entry filter cache, leakage over the SM's",
            "",
            derived.fc_leakage_of_sm_upper_bound,
            filter_leakage / ours_and_rest,
            Tolerance::AtMost,
        ),
        sentence(
            "section 4",
            "fetch after a filter-cache hit, without warp scheduling",
            "ns",
            derived.fetch_delay_fc_hit_ns,
            total(&FILTER, delay),
            DELAY,
        ),
        sentence(
            "section 4",
            "fetch after a filter-cache miss, without warp scheduling",
            "ns",
            derived.fetch_delay_fc_miss_ns,
            total(&["fc_tag_32", "icache_tag", "icache_data"], delay),
            DELAY,
        ),
    ]
}

#[cfg(test)]
mod tests;

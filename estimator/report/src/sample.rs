//! Hand-made points for tests: the paper's Table 1 as prices, round counts.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::outcome::{
    Action, Actions, BASELINE, FRONT_END, KernelName, Metric, Note, NoteKind, Outcome, Point,
    PricedAction, PricedStructure, Provenance, RelativeUncertainty, TechnologyName, Totals,
};
use crate::papers::FilterCachePaper;
use warpwatt_pricing::performance::{Ipc, Occupancy, Performance, Rates};

/// Three kernels, each with and without a filter cache of 32 entries.
pub fn outcomes() -> Vec<Outcome> {
    let kernels = [
        ("matrix_mul", "MTM", 100_000, 0.95),
        ("bfs", "BFS", 40_000, 0.9),
        ("reduction", "", 20_000, 0.55),
    ];
    kernels
        .into_iter()
        .flat_map(|(name, paper, fetches, hit_rate)| {
            let hits = (f64::from(fetches) * hit_rate).round() as u64;
            let fetches = u64::from(fetches as u32);
            [
                outcome(kernel(name, paper), fetches, None),
                outcome(kernel(name, paper), fetches, Some(hits)),
            ]
        })
        .collect()
}

fn kernel(name: &str, paper: &str) -> KernelName {
    KernelName {
        name: name.to_owned(),
        case: "small".to_owned(),
        paper: (!paper.is_empty())
            .then(|| paper.to_owned())
            .into_iter()
            .collect(),
    }
}

fn outcome(kernel: KernelName, fetches: u64, hits: Option<u64>) -> Outcome {
    let cycles = 3 * fetches + hits.map_or(0, |hits| hits / 100);
    let time_s = cycles as f64 / 1.3e9;
    let misses = fetches - hits.unwrap_or(0);
    let mut structures = vec![
        structure("icache.tag", "icache_tag", &[("read", misses)], time_s),
        structure("icache.data", "icache_data", &[("read", misses)], time_s),
        structure(
            "instruction_buffer",
            "instruction_buffer",
            &[("read", fetches), ("write", fetches)],
            time_s,
        ),
        structure("scoreboard", "scoreboard", &[("read", 2 * fetches)], time_s),
        structure(
            "operand_buffer",
            "operand_buffer",
            &[("read", fetches), ("write", fetches)],
            time_s,
        ),
    ];
    if let Some(hits) = hits {
        structures.extend([
            structure(
                "filter_cache.tag",
                "fc_tag_32",
                &[("read", fetches), ("write", misses)],
                time_s,
            ),
            structure(
                "filter_cache.data",
                "fc_data_32",
                &[("read", hits), ("write", misses)],
                time_s,
            ),
        ]);
    }
    structures.sort_by(|a, b| a.name.cmp(&b.name));
    let with = hits.is_some();
    Outcome {
        charged: Default::default(),
        point: point(kernel, with),
        cycles,
        clock_hz: 1.3e9,
        time_s,
        activity: Arc::new(
            [("cycles", cycles), ("fetches", fetches)]
                .into_iter()
                .collect(),
        ),
        performance: performance(cycles, fetches).into(),
        metrics: hits
            .map_or_else(Vec::new, |hits| {
                vec![
                    ratio("filter_cache.hit_rate", hits as f64 / fetches as f64),
                    ratio("fetch_redundancy.other_warp.16", 0.53),
                ]
            })
            .into(),
        register_accesses: None,
        totals: Totals::of(&structures),
        structures,
        notes: Arc::new(with.then(timing_note).into_iter().collect()),
        heat: None,
        peak: None,
        sampled: None,
    }
}

/// Sixteen SMs that issued for half of their time and waited for memory otherwise.
fn performance(cycles: u64, fetches: u64) -> Performance {
    let ipc = fetches as f64 / cycles as f64;
    let half = 8 * cycles;
    Performance {
        ipc: Ipc {
            warp_instructions: Some(ipc),
            thread_instructions: Some(32.0 * ipc),
        },
        occupancy: Occupancy {
            achieved: Some(0.5),
            limits: Vec::new(),
        },
        stalls: [("issue", half), ("memory", half), ("barrier", 0)]
            .map(|(what, cycles)| (what.to_owned(), cycles))
            .into(),
        utilisation: [("sp", 0.5), ("ldst", 0.25)]
            .map(|(unit, share)| (unit.to_owned(), Some(share)))
            .into(),
        rates: Rates {
            l1_hit_rate: Some(0.25),
            ..Rates::default()
        },
    }
}

fn ratio(name: &str, value: f64) -> Metric {
    Metric {
        name: name.to_owned(),
        unit: "1".to_owned(),
        value,
        ratio: None,
    }
}

fn timing_note() -> Note {
    Note {
        kind: NoteKind::Timing,
        text: "a fetch that misses takes 454 ps of 769 ps and fits into one stage".into(),
    }
}

fn point(kernel: KernelName, with: bool) -> Point {
    Point {
        kernel: kernel.into(),
        gpu: "tesla-16sm".into(),
        axes: BTreeMap::new().into(),
        technology: TechnologyName {
            library: "itrs".into(),
            node: "32nm".into(),
            flavour: "hp".into(),
            profile: "cacti65".into(),
            temperature_k: 350.0,
            vdd_v: 0.9,
            interpolation: None,
            provenance: Provenance {
                published: 96,
                scaled: 31,
                assumed: 4,
                ..Provenance::default()
            },
            sources: vec!["HewlettPackard/cacti@1ffd8df tech_params/32nm.dat".to_owned()].into(),
        },
        technique: if with {
            "filter_cache(entries=32)"
        } else {
            BASELINE
        }
        .into(),
    }
}

fn structure(name: &str, row: &str, counts: &[(&str, u64)], time_s: f64) -> PricedStructure {
    let paper = FilterCachePaper::load();
    let row = paper.structure(row).expect("a row of Table 1");
    let unit_j = row.energy_pj * 1e-12;
    let actions: Actions = counts
        .iter()
        .map(|&(action, count)| {
            let total_j = count as f64 * unit_j;
            (
                Action::named(action).expect("an action of the table"),
                PricedAction {
                    count,
                    unit_j,
                    total_j,
                },
            )
        })
        .collect();
    let leakage_w = row.leakage_mw * 1e-3;
    PricedStructure {
        name: name.into(),
        group: FRONT_END.into(),
        instances: 16,
        area_m2: row.area_um2 * 1e-12,
        leakage_w,
        gate_leakage_w: 0.0,
        delay_s: row.delay_ps * 1e-12,
        dynamic_j: actions.total_j(),
        actions,
        leakage_j: 16.0 * leakage_w * time_s,
        flavour: None,
        model: "Table 1".into(),
        organisation: None,
        uncertainty: RelativeUncertainty {
            area: 0.15,
            delay: 0.15,
            energy: 0.15,
            leakage: 0.3,
            method: 0.1,
        },
    }
}

//! GPU-Shrink and the compiler's spills against a study's points: chapter 3 of the register-virtualization work.

use warpwatt_gpu::GpuSpec;

use super::{AVERAGE, EXACT, check};
use crate::outcome::{BASELINE, Outcome, PricedStructure};
use crate::papers::{Chapter3, RegisterVirtualizationPaper};
use crate::validate::rows::{Rows, mean};
use crate::validate::{Check, Tolerance};

const WHOLE: &str = "register_virtualization";
const HALF: &str = "register_shrink(register_file_kb=64)";
const UNGATED: &str = "register_shrink(register_file_kb=64, gating=none)";
const SPILL: &str = "compiler_spill(register_file_kb=64)";

/// Where the work says that nothing is lost: half a percent would not show in its figure.
const NOTHING: Tolerance = Tolerance::Absolute(0.005);

/// Figures 3.1, 3.2, 3.5 and 3.6, over the benchmarks of Table 2.1.
pub fn study(outcomes: &[Outcome]) -> Vec<Check> {
    let said = RegisterVirtualizationPaper::load().chapter_3;
    let rows = Rows::of(super::PAPER, outcomes);
    let mut checks = arrays(&said, &rows);
    checks.extend(registers(&said, &rows));
    checks.extend(time(&said, &rows));
    checks.push(energy(&said, &rows));
    checks
}

/// What an array of half as many rows saves.
fn arrays(said: &Chapter3, rows: &Rows<'_>) -> Vec<Check> {
    let access = |outcome: &Outcome| {
        let action = |name: &str| {
            let lanes = outcome.structure("register_lane");
            lanes
                .and_then(|lanes| lanes.actions.get(name))
                .map_or(f64::NAN, |action| action.unit_j)
        };
        action("read") + action("write")
    };
    let dynamic = rows.against(BASELINE, UNGATED, |whole, half| {
        1.0 - access(half) / access(whole)
    });
    let leaks = |outcome: &Outcome| of(outcome, "register_file", PricedStructure::total_leakage_w);
    // The same accesses in the same time.
    let total = rows.against(BASELINE, UNGATED, |whole, half| {
        let dynamic = of(whole, "register_lane", |lanes| lanes.dynamic_j);
        let leakage = of(whole, "register_file", |file| file.leakage_j);
        let halved = dynamic * access(half) / access(whole) + leakage * leaks(half) / leaks(whole);
        1.0 - halved / (dynamic + leakage)
    });
    vec![
        check(
            "Figure 3.1",
            "dynamic power of half a register file saved",
            (said.dynamic_power_reduction_of_half_file, mean(&dynamic)),
            AVERAGE,
        ),
        check(
            "Figure 3.1",
            "dynamic and static power of half a register file saved, mean",
            (said.total_power_reduction_of_half_file, mean(&total)),
            AVERAGE,
        ),
    ]
}

/// How many registers there must be, and what counts them.
fn registers(said: &Chapter3, rows: &Rows<'_>) -> Vec<Check> {
    let Some(gpu) = GpuSpec::preset("fermi-16sm") else {
        return Vec::new();
    };
    let sms = f64::from(gpu.sm.count);
    let most = rows.each(WHOLE, |outcome| {
        outcome.activity.get("registers_most") as f64 / sms
    });
    let above = most.iter().filter(|&&most| most > 512.0).count();
    let file = gpu.registers_per_sm() / gpu.sm.warp_width;
    // Free registers, those of each CTA, and what a CTA may come to need.
    let bits = (gpu.sm.ctas + 2) * file.ilog2();
    vec![
        check(
            "Figure 3.2",
            "share of the benchmarks that take more than 512 registers of an SM",
            (
                said.benchmarks_above_512_registers / 16.0,
                above as f64 / most.len() as f64,
            ),
            AVERAGE,
        ),
        check(
            "section 3.3",
            "bits of the counters",
            (said.counter_bits, f64::from(bits)),
            EXACT,
        ),
    ]
}

/// What half a register file costs in time.
fn time(said: &Chapter3, rows: &Rows<'_>) -> Vec<Check> {
    let slower =
        |without: &Outcome, with: &Outcome| with.cycles as f64 / without.cycles as f64 - 1.0;
    let slowdown = |without: &str, with: &str| mean(&rows.against(without, with, slower));
    let average = said.slowdown_shrink_average;
    let mut checks = vec![
        check(
            "Figure 3.5",
            "slowdown by half the registers, with renaming on both sides, mean",
            (average, slowdown(WHOLE, HALF)),
            AVERAGE,
        ),
        check(
            "Figure 3.5",
            "slowdown by half the registers against the plain GPU, mean",
            (average, slowdown(BASELINE, HALF)),
            AVERAGE,
        ),
        check(
            "Figure 3.5",
            "slowdown by the compiler's spills, mean",
            (
                said.slowdown_compiler_spill_average,
                slowdown(BASELINE, SPILL),
            ),
            AVERAGE,
        ),
    ];
    for (what, kb) in [("40 %", 77), ("30 %", 90)] {
        let with = format!("register_shrink(register_file_kb={kb})");
        checks.push(check(
            "section 3.4.2",
            &format!("slowdown by {what} fewer registers, with renaming on both sides, mean"),
            (
                said.slowdown_shrink_40_and_30_percent,
                slowdown(WHOLE, &with),
            ),
            NOTHING,
        ));
    }
    for benchmark in &said.no_throttling_needed {
        if let Some(outcome) = rows.of_benchmark(HALF, benchmark) {
            checks.push(check(
                "section 3.4.2",
                &format!("{benchmark}: instructions that are held back"),
                (0.0, outcome.activity.get("throttled_instructions") as f64),
                EXACT,
            ));
        }
    }
    for benchmark in &said.speeds_up {
        let points = (
            rows.of_benchmark(WHOLE, benchmark),
            rows.of_benchmark(HALF, benchmark),
        );
        if let (Some(whole), Some(half)) = points {
            checks.push(check(
                "section 3.4.2",
                &format!("{benchmark}: slowdown, which is a gain there"),
                (0.0, slower(whole, half)),
                Tolerance::AtMost,
            ));
        }
    }
    checks
}

/// What half a register file with its empty subarrays switched off saves of the register file's energy.
fn energy(said: &Chapter3, rows: &Rows<'_>) -> Check {
    let saved = rows.against(BASELINE, HALF, |whole, half| {
        1.0 - spent(half) / spent(whole)
    });
    check(
        "Figure 3.6",
        "energy of the register file saved by half of it with gating, mean",
        (
            said.energy_reduction_shrink_with_gating_average,
            mean(&saved),
        ),
        AVERAGE,
    )
}

/// Energy of the register file, with what manages it and the share of fetches that brings release flags.
fn spent(outcome: &Outcome) -> f64 {
    const MANAGES: [&str; 6] = [
        "register_file",
        "renaming_table",
        "register_availability",
        "register_select",
        "release_flag_cache",
        "register_balance",
    ];
    let structures = outcome.structures.iter();
    let managed = structures.filter(|structure| MANAGES.contains(&structure.name.as_str()));
    let managed: f64 = managed
        .map(|structure| structure.dynamic_j + structure.leakage_j)
        .sum();
    let lanes = of(outcome, "register_lane", |lanes| lanes.dynamic_j);
    let fetches = outcome.activity.get("fetches").max(1) as f64;
    let flags = outcome.activity.get("metadata_fetches") as f64 / fetches;
    let fetched = of(outcome, "icache.data", |cache| cache.dynamic_j)
        + of(outcome, "icache.tag", |cache| cache.dynamic_j);
    managed + lanes + flags * fetched
}

fn of(outcome: &Outcome, name: &str, figure: impl Fn(&PricedStructure) -> f64) -> f64 {
    outcome.structure(name).map_or(f64::NAN, figure)
}

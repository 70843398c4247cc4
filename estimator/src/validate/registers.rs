//! The register-virtualization work against a study's points and our circuits.

mod hierarchy;
pub mod shrink;

use warpwatt_circuit::{Cost, OperatingPoint, Ports, Profile, RamSpec, Spec, cost};
use warpwatt_gpu::GpuSpec;
use warpwatt_techlib::quantity::{Length, Temperature, Voltage};
use warpwatt_techlib::{Flavour, Library};

use super::rows::{Rows, mean, most};
use super::{Check, Tolerance};
use crate::outcome::{BASELINE, Outcome, PricedStructure};
use crate::papers::{RegisterVirtualizationPaper, Section28};

/// Two CACTIs of one line, at a node that one of them interpolates.
const CIRCUIT: Tolerance = Tolerance::Relative(0.35);
/// Averages over the benchmarks: another compiler, other inputs, another pipeline. Beyond it the page says why.
const AVERAGE: Tolerance = Tolerance::Relative(1.0 / 3.0);
/// Counts of registers.
const EXACT: Tolerance = Tolerance::Absolute(0.0);

const DEFAULT: &str = "register_virtualization";
const PAPER: &str = "register_virtualization";

/// Table 2.2 and section 2.5: 40 nm, 0.96 V.
///
/// # Errors
/// If the technology data have a defect, or a circuit cannot be built.
pub fn circuits() -> Result<Vec<Check>, String> {
    let (table, bank) = (ram(820, 10, 4)?, ram(256, 128, 1)?);
    let gpu = GpuSpec::preset("fermi-16sm").ok_or("the preset `fermi-16sm` is missing")?;
    let full_kb = f64::from(gpu.warps_per_sm() * 63) * 10.0 / 8.0 / 1024.0;
    let of_table = table.leakage.si() * 1e3 / 4.0;
    let of_bank = bank.leakage.si() * 1e3;
    let paper = RegisterVirtualizationPaper::load();
    let (printed, looked_up) = (paper.table_2_2, paper.section_2_5);
    let share = paper.section_2_8.table_share_of_bank_static;
    let row = |(place, what, unit): (&str, &str, &'static str), published, ours| {
        Check::new((place, what.to_owned(), unit), published, ours, CIRCUIT)
    };
    let energy = |what| ("Table 2.2", what, "pJ");
    let leakage = |what| ("Table 2.2", what, "mW");
    Ok(vec![
        row(
            energy("renaming table, energy of an access"),
            printed.table_energy_pj,
            table.read_energy.as_pj(),
        ),
        row(
            leakage("renaming table, leakage of a bank"),
            printed.table_leakage_mw_per_bank,
            of_table,
        ),
        row(
            energy("register bank, energy of an access"),
            printed.bank_energy_pj,
            bank.read_energy.as_pj(),
        ),
        row(
            leakage("register bank, leakage"),
            printed.bank_leakage_mw,
            of_bank,
        ),
        row(
            (
                "section 2.8.2",
                "renaming table's leakage over that of a bank",
                "",
            ),
            share,
            4.0 * of_table / of_bank,
        ),
        row(
            ("section 2.5.4", "renaming table, look-up", "ns"),
            looked_up.lookup_ns,
            table.access_time.as_ps() / 1000.0,
        ),
        row(
            (
                "section 2.5.4",
                "renaming table for all registers of all warps",
                "KB",
            ),
            looked_up.full_table_kb,
            full_kb,
        ),
    ])
}

/// An array with a read and a write port at the work's operating point.
fn ram(words: u64, bits: u64, banks: u32) -> Result<Cost, String> {
    let technology = Library::itrs()
        .and_then(|library| library.at(Length::from_nm(40.0), Flavour::Hp))
        .map_err(|error| error.to_string())?;
    let mut at = OperatingPoint::at(Temperature::from_k(350.0));
    at.vdd = Some(Voltage::from_v(0.96));
    let spec = Spec::Ram(RamSpec {
        words,
        bits,
        out_bits: None,
        ports: Ports::READ_AND_WRITE,
        banks,
    });
    cost(&technology, &at, Profile::Cacti65, &spec).map_err(|error| error.to_string())
}

/// Figures 2.2 and 2.12 to 2.19, over the benchmarks of Table 2.1.
pub fn study(outcomes: &[Outcome]) -> Vec<Check> {
    let said = RegisterVirtualizationPaper::load().section_2_8;
    let rows = Rows::of(PAPER, outcomes);
    let mut checks = used(&said, &rows);
    checks.extend(decoded(&said, &rows));
    checks.extend(worn(&said, &rows));
    checks.extend(hierarchy::checks(&rows));
    checks
}

fn check(place: &str, what: &str, (published, ours): (f64, f64), tolerance: Tolerance) -> Check {
    Check::new((place, what.to_owned(), ""), published, ours, tolerance)
}

/// Registers, power and time.
fn used(said: &Section28, rows: &Rows<'_>) -> Vec<Check> {
    let reduction = rows.metric(DEFAULT, "allocation_reduction");
    let saved = rows.against(BASELINE, DEFAULT, |without, with| {
        1.0 - leakage(with) / leakage(without)
    });
    let slow = "register_virtualization(wake_cycles=10)";
    let slowdown = rows.against(DEFAULT, slow, |without, with| {
        with.cycles as f64 / without.cycles as f64 - 1.0
    });
    let of = |outcome: &Outcome, name: &str| {
        let structure = outcome.structure(name);
        structure.map_or(f64::NAN, PricedStructure::total_leakage_w)
    };
    let table = rows.each(DEFAULT, |outcome| {
        of(outcome, "renaming_table") / of(outcome, "register_file")
    });
    vec![
        check(
            "Figure 2.12",
            "registers not taken, mean",
            (said.allocation_reduction_average, mean(&reduction)),
            AVERAGE,
        ),
        check(
            "Figure 2.12",
            "registers not taken, most",
            (said.allocation_reduction_most, most(&reduction)),
            AVERAGE,
        ),
        check(
            "Figure 2.13",
            "static power of the register file saved, mean",
            (said.static_power_reduction_average, mean(&saved)),
            AVERAGE,
        ),
        check(
            "Figure 2.14",
            "slowdown by wake-up in 10 instead of 1 cycle, most",
            (said.wakeup_10_cycles_slowdown_at_most, most(&slowdown)),
            Tolerance::AtMost,
        ),
        check(
            "section 2.8.2",
            "renaming table's leakage over that of the register file",
            (said.table_static_overhead, mean(&table)),
            AVERAGE,
        ),
    ]
}

/// Release flags and the size of the renaming table.
fn decoded(said: &Section28, rows: &Rows<'_>) -> Vec<Check> {
    let code = |technique| mean(&rows.metric(technique, "dynamic_code_increase"));
    let uncached = code("register_virtualization(release_flag_cache=0)");
    let mut checks = vec![
        check(
            "Figure 2.15",
            "instructions decoded more, no release-flag cache, mean",
            (said.dynamic_code_increase_no_cache, uncached),
            AVERAGE,
        ),
        check(
            "Figure 2.15",
            "instructions decoded more, ten entries, mean",
            (said.dynamic_code_increase_ten_entries, code(DEFAULT)),
            AVERAGE,
        ),
    ];
    for (benchmark, &published) in &said.exempt_registers {
        let Some(outcome) = rows.of_benchmark(DEFAULT, benchmark) else {
            continue;
        };
        let what = format!("{benchmark}: registers that a table of 1 KB leaves out");
        let ours = outcome.activity.get("registers_exempt") as f64;
        checks.push(check("section 2.8.4", &what, (published, ours), EXACT));
    }
    checks
}

/// How evenly registers are accessed.
fn worn(said: &Section28, rows: &Rows<'_>) -> Vec<Check> {
    let of = |technique, metric| mean(&rows.metric(technique, metric));
    let unevenness = of(
        "register_virtualization(allocation=static)",
        "wear_most_over_least",
    );
    let levelled = of("register_virtualization(allocation=wear)", "wear_variation");
    vec![
        check(
            "Figure 2.2",
            "accesses of the most over the least used register, mean",
            (said.access_imbalance_average, unevenness),
            AVERAGE,
        ),
        check(
            "Figure 2.18",
            "variation of accesses with round robin, mean",
            (said.variation_with_wear_leveling, levelled),
            AVERAGE,
        ),
    ]
}

/// Mean leakage power of the register file.
fn leakage(outcome: &Outcome) -> f64 {
    let file = outcome.structure("register_file");
    file.map_or(f64::NAN, |file| file.leakage_j / outcome.time_s)
}

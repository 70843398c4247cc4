//! `workloads/kernels/sass/counts.csv`: counts of PTX are the recorded ones, the estimates pass their own check, and `docs/machine-code.md` shows what they come to.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use warpwatt_ptx::Lower;
use warpwatt_ptx::traits::{MemoryOpKind, Unit};
use warpwatt_ptx::types::Space;
use warpwatt_simt::trace::{KernelTrace, StaticInst};
use warpwatt_suite::{Kernel, RunOptions, kernels, run_case};

const COUNTS: &str = include_str!("../../workloads/kernels/sass/counts.csv");
const CODES: [&str; 3] = ["ptx", "sm_75", "sm_90"];
const KINDS: [&str; 11] = [
    "all",
    "integer",
    "fp32",
    "sfu",
    "control",
    "barrier",
    "ld_global",
    "st_global",
    "ld_shared",
    "st_shared",
    "constant",
];

/// Counts by kernel, code and kind.
type Table = BTreeMap<String, BTreeMap<String, BTreeMap<String, f64>>>;

fn table() -> Table {
    let mut table = Table::new();
    let mut reader = csv::Reader::from_reader(COUNTS.as_bytes());
    let header = reader.headers().unwrap().clone();
    for row in reader.records() {
        let row = row.unwrap();
        let kinds = header.iter().zip(&row).skip(2);
        let kinds = kinds.map(|(kind, count)| (kind.to_owned(), count.parse().unwrap()));
        let codes = table.entry(row[0].to_owned()).or_default();
        codes.insert(row[1].to_owned(), kinds.collect());
    }
    table
}

#[test]
fn counts_of_ptx_are_those_that_are_recorded() {
    let table = table();
    assert_eq!(table.len(), kernels().len());
    for kernel in kernels() {
        let codes = &table[kernel.name];
        assert!(codes.keys().eq(CODES), "{}", kernel.name);
        let case = kernel.launch_file().unwrap().cases[0].name.clone();
        let recorded = kernel.counts(case.get_ref()).unwrap().warp_instructions;
        assert_eq!(codes["ptx"]["all"], recorded as f64, "{}", kernel.name);
        for (code, kinds) in codes {
            let sum: f64 = kinds
                .iter()
                .filter(|(kind, _)| *kind != "all")
                .map(|(_, count)| count)
                .sum();
            let name = kernel.name;
            // Estimates are rounded by kind.
            assert!(
                (sum - kinds["all"]).abs() <= kinds.len() as f64,
                "{name} as {code}"
            );
        }
    }
}

/// No compiler drops a barrier: where the lines of its block disagree on how often it runs, their number shows it.
#[test]
fn both_codes_execute_the_same_barriers() {
    let mut checked = 0;
    for (kernel, codes) in table() {
        let ptx = codes["ptx"]["barrier"];
        for code in &CODES[1..] {
            let found = codes[*code]["barrier"];
            assert!(
                (found - ptx).abs() <= 0.02 * ptx,
                "{kernel} as {code}: {found} for {ptx}"
            );
        }
        checked += usize::from(ptx > 0.0);
    }
    assert_eq!(checked, 25);
}

fn ratios(table: &Table, code: &str, kind: &str) -> Vec<f64> {
    let rows = table.values().filter(|codes| codes["ptx"][kind] > 0.0);
    let mut ratios: Vec<f64> = rows
        .map(|codes| codes[code][kind] / codes["ptx"][kind])
        .collect();
    ratios.sort_by(f64::total_cmp);
    ratios
}

fn written(table: &Table) -> String {
    let mut text = String::new();
    for kind in KINDS {
        let [older, newer] = ["sm_75", "sm_90"].map(|code| ratios(table, code, kind));
        let cell = |ratios: &[f64]| {
            let (least, most) = (ratios[0], ratios[ratios.len() - 1]);
            let half = ratios.len() / 2;
            let median = (ratios[half] + ratios[ratios.len() - 1 - half]) / 2.0;
            format!("{median:.2} | {least:.2} to {most:.2}")
        };
        writeln!(
            text,
            "| `{kind}` | {} | {} | {} |",
            older.len(),
            cell(&older),
            cell(&newer)
        )
        .unwrap();
    }
    text
}

#[test]
fn the_page_shows_the_ratios() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/machine-code.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (head, rest) = page
        .split_once("| --- | --- | --- | --- | --- | --- |\n")
        .unwrap();
    let (shown, tail) = rest.split_once("<!-- end of table -->").unwrap();
    let written = written(&table());
    if std::env::var_os("WARPWATT_BLESS").is_some() {
        let page = format!(
            "{head}| --- | --- | --- | --- | --- | --- |\n{written}<!-- end of table -->{tail}"
        );
        std::fs::write(path, page).unwrap();
    } else {
        assert_eq!(shown, written, "WARPWATT_BLESS=1 writes the table anew");
    }
}

/// What is counted apart.
const LOWERED: [&str; 8] = [
    "all",
    "fp32",
    "control",
    "barrier",
    "ld_global",
    "st_global",
    "ld_shared",
    "st_shared",
];

fn kind(inst: &StaticInst) -> &'static str {
    let accesses = inst.memory.map(|memory| (memory.space, memory.kind));
    match (inst.unit, accesses) {
        (Unit::Fp32, _) => "fp32",
        (Unit::Control, _) => "control",
        (Unit::Barrier, _) => "barrier",
        (Unit::Memory, Some((Space::Global | Space::Generic, MemoryOpKind::Load))) => "ld_global",
        (Unit::Memory, Some((Space::Global | Space::Generic, MemoryOpKind::Store))) => "st_global",
        (Unit::Memory, Some((Space::Shared, MemoryOpKind::Load))) => "ld_shared",
        (Unit::Memory, Some((Space::Shared, MemoryOpKind::Store))) => "st_shared",
        _ => "other",
    }
}

fn count(trace: &KernelTrace, counts: &mut BTreeMap<&'static str, f64>) {
    let kinds: Vec<&str> = trace.code.iter().map(kind).collect();
    for cta in 0..trace.launch.ctas() {
        for warp in 0..trace.launch.warps_per_cta() {
            for step in trace.warp(cta, warp).unwrap() {
                *counts.entry("all").or_default() += 1.0;
                *counts.entry(kinds[step.inst as usize]).or_default() += 1.0;
            }
        }
    }
}

/// Warp instructions of a kernel's default case by kind, near machine code; its results are checked.
fn lowered(kernel: &Kernel) -> BTreeMap<&'static str, f64> {
    let (case, prepared) = kernel.prepare(None).unwrap();
    let module = warpwatt_ptx::load_lowered(kernel.ptx, Lower::SassLike).unwrap();
    let run = run_case(&module, &case, &prepared, RunOptions::default()).unwrap();
    assert!(run.passed(), "{}", kernel.name);
    let mut counts = BTreeMap::new();
    for trace in run.into_traces() {
        count(&trace, &mut counts);
    }
    counts
}

/// Ours over the machine's for sm_75, kernel by kernel; PTX over the machine's.
fn beside(
    kind: &str,
    table: &Table,
    lowered: &BTreeMap<&str, BTreeMap<&str, f64>>,
) -> Vec<[f64; 2]> {
    let rows = table.iter().filter(|(_, codes)| codes["sm_75"][kind] > 0.0);
    rows.map(|(kernel, codes)| {
        let theirs = codes["sm_75"][kind];
        let ours = lowered[kernel.as_str()].get(kind).copied().unwrap_or(0.0);
        [ours / theirs, codes["ptx"][kind] / theirs]
    })
    .collect()
}

fn within(ratios: &[[f64; 2]], column: usize, of: f64) -> usize {
    let near = ratios
        .iter()
        .filter(|ratio| (ratio[column] - 1.0).abs() <= of);
    near.count()
}

/// All kernels compute what they must; how many counts are near the machine's stands on the page.
#[test]
fn what_is_lowered_computes_the_same_and_counts_as_the_machine_does() {
    let table = table();
    let counted: BTreeMap<&str, BTreeMap<&str, f64>> = kernels()
        .iter()
        .map(|kernel| (kernel.name, lowered(kernel)))
        .collect();
    let mut written = String::new();
    for kind in LOWERED {
        let ratios = beside(kind, &table, &counted);
        let limit = if kind == "all" { 0.1 } else { 0.05 };
        let off = |column: usize| {
            let sum: f64 = ratios.iter().map(|ratio| (ratio[column] - 1.0).abs()).sum();
            100.0 * sum / ratios.len() as f64
        };
        writeln!(
            written,
            "| `{kind}` | {} | {:.0} % | {} | {} | {:.1} % | {:.1} % |",
            ratios.len(),
            100.0 * limit,
            within(&ratios, 1, limit),
            within(&ratios, 0, limit),
            off(1),
            off(0)
        )
        .unwrap();
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/machine-code.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (head, rest) = page.split_once("<!-- table: lowered -->\n").unwrap();
    let (shown, tail) = rest.split_once("<!-- end of lowered -->").unwrap();
    let heading = "| kind | kernels | allowed | within it as PTX | lowered | mean distance as PTX | lowered |\n| --- | --- | --- | --- | --- | --- | --- |\n";
    let written = format!("{heading}{written}");
    if std::env::var_os("WARPWATT_BLESS").is_some() {
        let page = format!("{head}<!-- table: lowered -->\n{written}<!-- end of lowered -->{tail}");
        std::fs::write(path, page).unwrap();
    } else {
        assert_eq!(shown, written, "WARPWATT_BLESS=1 writes the table anew");
    }
}

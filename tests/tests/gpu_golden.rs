//! Every counter of ten kernels on every preset is what it was when somebody last looked at it.
//!
//! `tests/data/gpu_golden/PRESET.csv` holds the totals, a column a kernel, and in its last row a hash that covers more: the counters of every SM, and cycles
//! and occupancy of every launch. A change of the model that is meant is recorded by `WARPWATT_BLESS=1 cargo test -p warpwatt-tests gpu_golden::`; the
//! difference of the files then says what it moved.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

use rayon::prelude::*;
use sha2::{Digest, Sha256};
use warpwatt_gpu::{COUNTERS, Hooks, Preset, Run, presets, simulate};
use warpwatt_simt::trace::KernelTrace;
use warpwatt_tests::traces_of_width;

/// Streams, tiles, many small launches, scattered loads, scattered stores, atomics, barriers, deep divergence, exchange through shared memory, constants.
const KERNELS: [&str; 10] = [
    "vector_add",
    "matrix_mul",
    "bfs",
    "spmv_csr",
    "transpose_naive",
    "histogram",
    "reduction_tree",
    "n_queens",
    "fft",
    "convolution",
];

/// The row that is no counter.
const HASH: &str = "sha256";

/// Differences that a failure shows of one run.
const SHOWN: usize = 12;

/// By kernel: counters that are not zero, and the hash.
type Table = BTreeMap<String, Golden>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Golden {
    totals: BTreeMap<String, u64>,
    hash: String,
}

impl Golden {
    fn of(run: &Run) -> Self {
        let totals = run.activity.iter().filter(|&(_, count)| count != 0);
        Self {
            totals: totals
                .map(|(name, count)| (name.to_owned(), count))
                .collect(),
            hash: hash(run),
        }
    }

    /// What is another in `new`, the most telling first: cycles, then the counters in the order of their table.
    fn changes(&self, new: &Self) -> Vec<String> {
        let names: BTreeSet<&String> = self.totals.keys().chain(new.totals.keys()).collect();
        let place = |name: &str| match name {
            "cycles" => None,
            _ => COUNTERS.iter().position(|info| info.name == name),
        };
        let mut changed: Vec<_> = names
            .into_iter()
            .map(|name| (place(name), name, count(self, name), count(new, name)))
            .filter(|(_, _, old, new)| old != new)
            .collect();
        changed.sort();
        if changed.is_empty() && self.hash != new.hash {
            return vec![
                "the totals are the same; how they lie over SMs, or what launches report, is not"
                    .to_owned(),
            ];
        }
        let line = |(_, name, old, new): (_, &String, u64, u64)| {
            let percent = 100.0 * (new as f64 / old as f64 - 1.0);
            format!("{name} {old} -> {new} ({percent:+.2} %)")
        };
        changed.into_iter().map(line).collect()
    }
}

fn count(golden: &Golden, name: &str) -> u64 {
    golden.totals.get(name).copied().unwrap_or(0)
}

/// Of all counters that are not zero, in total and of each SM, in the order of their names, and of the launches.
fn hash(run: &Run) -> String {
    let mut text = String::new();
    for (place, activity) in std::iter::once(&run.activity)
        .chain(&run.per_sm)
        .enumerate()
    {
        for (name, count) in activity.iter().filter(|&(_, count)| count != 0) {
            writeln!(text, "{place} {name} {count}").unwrap();
        }
    }
    for launch in &run.launches {
        writeln!(
            text,
            "{} {} {} {}",
            launch.kernel, launch.cycles, launch.ctas_per_sm, launch.limited_by
        )
        .unwrap();
    }
    Sha256::digest(text.as_bytes())
        .iter()
        .fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

fn path(preset: &Preset) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("data/gpu_golden")
        .join(format!("{}.csv", preset.name))
}

fn read(preset: &Preset) -> Table {
    let Ok(mut reader) = csv::Reader::from_path(path(preset)) else {
        return Table::new();
    };
    let kernels = reader.headers().unwrap().clone();
    let mut table = Table::new();
    for row in reader.records() {
        let row = row.unwrap();
        for (kernel, value) in kernels.iter().zip(&row).skip(1) {
            let golden = table.entry(kernel.to_owned()).or_default();
            match &row[0] {
                HASH => golden.hash = value.to_owned(),
                _ if value == "0" => {}
                name => {
                    let count = value.parse().unwrap();
                    golden.totals.insert(name.to_owned(), count);
                }
            }
        }
    }
    table
}

/// A row a counter that any kernel has, in the order of the counters' table.
fn write(preset: &Preset, table: &Table) {
    let mut writer = csv::Writer::from_path(path(preset)).unwrap();
    let columns: Vec<&Golden> = KERNELS.iter().map(|kernel| &table[*kernel]).collect();
    let row = |name: &str, cells: Vec<String>| [vec![name.to_owned()], cells].concat();
    writer
        .write_record(row("counter", KERNELS.map(str::to_owned).to_vec()))
        .unwrap();
    for info in COUNTERS {
        let counts: Vec<u64> = columns
            .iter()
            .map(|golden| count(golden, info.name))
            .collect();
        if counts.iter().any(|&count| count != 0) {
            let cells = counts.iter().map(u64::to_string).collect();
            writer.write_record(row(info.name, cells)).unwrap();
        }
    }
    let hashes = columns.iter().map(|golden| golden.hash.clone()).collect();
    writer.write_record(row(HASH, hashes)).unwrap();
    writer.flush().unwrap();
}

fn blesses() -> bool {
    std::env::var_os("WARPWATT_BLESS").is_some()
}

#[test]
fn counters_are_those_on_record() {
    let in_warps = |lanes: u32| -> Vec<(&str, Vec<KernelTrace>)> {
        let kernels = KERNELS.par_iter();
        kernels
            .map(|kernel| (*kernel, traces_of_width(kernel, lanes)))
            .collect()
    };
    let launches = [32, 64].map(|lanes| (lanes, in_warps(lanes)));
    let mut report = String::new();
    for preset in presets() {
        let spec = preset.spec().unwrap();
        let of_width = launches
            .iter()
            .find(|(lanes, _)| *lanes == spec.sm.warp_width);
        let (_, launches) = of_width.expect("warps of 32 or 64 lanes");
        let now: Table = launches
            .par_iter()
            .map(|(kernel, traces)| {
                let run = simulate(&spec, traces, Hooks::default()).unwrap();
                ((*kernel).to_owned(), Golden::of(&run))
            })
            .collect();
        if blesses() {
            write(preset, &now);
            continue;
        }
        let recorded = read(preset);
        for (kernel, new) in &now {
            let old = recorded.get(kernel).cloned().unwrap_or_default();
            let changes = old.changes(new);
            for change in changes.iter().take(SHOWN) {
                writeln!(report, "  {:14} {kernel:16} {change}", preset.name).unwrap();
            }
            if changes.len() > SHOWN {
                let more = changes.len() - SHOWN;
                writeln!(
                    report,
                    "  {:14} {kernel:16} and {more} counters more",
                    preset.name
                )
                .unwrap();
            }
        }
    }
    assert!(
        report.is_empty(),
        "counters are others than those on record:\n{report}If that is meant, record it: WARPWATT_BLESS=1 cargo test -p warpwatt-tests gpu_golden::, then look at the difference of tests/data/gpu_golden"
    );
}

/// Every preset has a record of every kernel, and there is no record of anything else.
#[test]
fn nothing_is_left_out() {
    if blesses() {
        return;
    }
    let kernels = BTreeSet::from(KERNELS.map(str::to_owned));
    for preset in presets() {
        let recorded = read(preset);
        let names: BTreeSet<String> = recorded.keys().cloned().collect();
        assert_eq!(names, kernels, "{}", preset.name);
        for (kernel, golden) in recorded {
            assert_eq!(golden.hash.len(), 64, "{} {kernel}", preset.name);
            let instructions = golden.totals.get("warp_instructions");
            assert!(instructions > Some(&1000), "{} {kernel}", preset.name);
        }
    }
    let files = std::fs::read_dir(path(&presets()[0]).parent().unwrap()).unwrap();
    assert_eq!(files.count(), presets().len());
}

/// A failure names what moved, cycles first, and says so if only the spread over SMs did.
#[test]
fn changes_are_told() {
    let golden = |totals: &[(&str, u64)], hash: &str| Golden {
        totals: totals
            .iter()
            .map(|&(name, count)| (name.to_owned(), count))
            .collect(),
        hash: hash.to_owned(),
    };
    let old = golden(&[("cycles", 200), ("l1_reads", 50), ("launches", 1)], "a");
    let new = golden(&[("cycles", 210), ("launches", 1), ("l1_retries", 3)], "b");
    let changes = old.changes(&new);
    assert_eq!(
        changes,
        [
            "cycles 200 -> 210 (+5.00 %)",
            "l1_reads 50 -> 0 (-100.00 %)",
            "l1_retries 0 -> 3 (+inf %)"
        ]
    );
    let elsewhere = golden(&[("cycles", 200), ("l1_reads", 50), ("launches", 1)], "b");
    assert!(old.changes(&elsewhere)[0].contains("SMs"));
    assert!(old.changes(&old).is_empty());
}

//! The table of instruction counts in `docs/kernels.md` is what the suite does.

use std::fmt::Write;
use std::path::PathBuf;

use warpwatt_suite::{Kernel, RunOptions, kernels, run_case};

const BEGIN: &str = "<!-- counts: written by `WARPWATT_BLESS=1 cargo test -p warpwatt-tests --test suite_docs` -->\n";
const END: &str = "<!-- end of counts -->\n";

/// A benchmark's thread instructions in millions: "#Insn" of the filter-cache paper's Table 2.
fn paper_count(benchmark: &str) -> f64 {
    let paper: toml::Table = include_str!("../../estimator/papers/filter_cache.toml")
        .parse()
        .unwrap();
    let mut rows = paper["benchmark"].as_array().unwrap().iter();
    let row = rows
        .find(|row| row["abbr"].as_str() == Some(benchmark))
        .unwrap();
    let count = &row["insn_m"];
    count
        .as_float()
        .or(count.as_integer().map(|count| count as f64))
        .unwrap()
}

/// One row a case: launches, instructions, and the paper's count where the case stands for one of its benchmarks.
fn rows(kernel: &Kernel) -> String {
    let module = warpwatt_ptx::load(kernel.ptx).unwrap();
    let mut rows = String::new();
    for case in kernel.launch_file().unwrap().cases {
        let name = case.name.get_ref();
        let (case, prepared) = kernel.prepare(Some(name)).unwrap();
        let options = RunOptions {
            record: false,
            ..RunOptions::default()
        };
        let run = run_case(&module, &case, &prepared, options).unwrap();
        assert!(run.passed(), "{} {name}: {:?}", kernel.name, run.mismatches);
        let threads = run.thread_instructions() as f64 / 1e6;
        let row = kernel.paper.iter().find(|row| row.case == name);
        let paper = row.map_or("| |".to_owned(), |row| {
            let count = paper_count(row.benchmark);
            format!("{} {count} | {:.2} |", row.benchmark, threads / count)
        });
        let launches = run.executions.len();
        let warps = run.warp_instructions();
        writeln!(
            rows,
            "| `{}` | {} | {name} | {launches} | {warps} | {threads:.2} | {paper}",
            kernel.name, kernel.class
        )
        .unwrap();
    }
    rows
}

#[test]
fn the_table_of_counts_is_up_to_date() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/kernels.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let mut table = String::from(
        "| kernel | class | case | launches | warp instructions | thread instructions, millions | the paper's | ours by the paper's |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    table.extend(kernels().iter().map(rows));
    let fresh = format!("{before}{BEGIN}{table}{END}{after}");
    if std::env::var_os("WARPWATT_BLESS").is_some() {
        std::fs::write(&path, &fresh).unwrap();
    }
    assert!(
        page == fresh || std::env::var_os("WARPWATT_BLESS").is_some(),
        "run with WARPWATT_BLESS=1:\n{table}"
    );
}

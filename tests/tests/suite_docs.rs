//! The recorded counts of the suite's cases are what they execute, and `docs/kernels-reference.md` shows them beside the papers'.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use warpwatt_simt::trace::{KernelTrace, Space};
use warpwatt_suite::{Build, Counts, Kernel, Paper, RunOptions, kernel, kernels, papers, run_case};

const HEADING: &str = "kernel,case,launches,warp_instructions,thread_instructions,sectors,lines";

fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

fn bless() -> bool {
    std::env::var_os("WARPWATT_BLESS").is_some()
}

/// Executes a case, compares its outputs with its reference and counts.
fn count(kernel: &Kernel, case: &str) -> Counts {
    let module = warpwatt_ptx::load(kernel.ptx).unwrap();
    let (case, prepared) = kernel.prepare(Some(case)).unwrap();
    let options = RunOptions {
        record: true,
        limit: 1_000_000_000,
        ..RunOptions::default()
    };
    let run = run_case(&module, &case, &prepared, options).unwrap();
    let name = (kernel.name, case.name.get_ref());
    assert!(run.passed(), "{name:?}: {:?}", run.mismatches);
    assert!(run.outputs_compared > 0, "{name:?}");
    let (warp_instructions, thread_instructions) =
        (run.warp_instructions(), run.thread_instructions());
    let launches = run.executions.len() as u64;
    let (mut sectors, mut lines) = (0, 0);
    for trace in run.into_traces() {
        let [in_sectors, in_lines] = touched(&trace);
        sectors += in_sectors;
        lines += in_lines;
    }
    Counts {
        launches,
        warp_instructions,
        thread_instructions,
        sectors,
        lines,
    }
}

/// Sectors and lines of memory that the warps of a launch touch. Threads of a warp have their local words beside each other.
fn touched(trace: &KernelTrace) -> [u64; 2] {
    let mut sums = [0; 2];
    let warps = trace.launch.warps_per_cta();
    let all = (0..trace.launch.ctas()).flat_map(|cta| (0..warps).map(move |warp| (cta, warp)));
    let mut bytes = Vec::new();
    for step in all.flat_map(|(cta, warp)| trace.warp(cta, warp).unwrap()) {
        let (Some(op), Some(addresses)) = (trace.code[step.inst as usize].memory, step.addresses)
        else {
            continue;
        };
        let size = u64::from(op.bytes);
        bytes.clear();
        addresses.for_each(step.executed, |_, address| {
            let space = match op.space {
                Space::Generic => Space::of(address),
                space => space,
            };
            match space {
                Space::Global => bytes.push([address, address + size.max(1) - 1]),
                Space::Local => {
                    let beside = bytes.len() as u64 * size;
                    bytes.push([beside, beside + size.max(1) - 1]);
                }
                _ => {}
            }
        });
        for (sum, block) in sums.iter_mut().zip([32, 128]) {
            let blocks = bytes.iter().flatten().map(|byte| byte / block);
            *sum += blocks.collect::<BTreeSet<u64>>().len() as u64;
        }
    }
    sums
}

fn cases(kernel: &Kernel) -> Vec<String> {
    let file = kernel.launch_file().unwrap();
    file.cases
        .iter()
        .map(|case| case.name.get_ref().clone())
        .collect()
}

/// Executes the cases that `wanted` picks and compares with the record, or, to bless, writes it anew (cases that are not picked keep theirs).
fn check_counts(wanted: impl Fn(&Kernel, &str) -> bool) {
    let mut record = format!("{HEADING}\n");
    for kernel in kernels() {
        for case in cases(kernel) {
            let known = kernel.counts(&case);
            let counts = match wanted(kernel, &case) {
                true => Some(count(kernel, &case)),
                false => known,
            };
            if !bless() {
                assert_eq!(known, counts, "{} {case}: recorded, executed", kernel.name);
            }
            if let Some(counts) = counts {
                let Counts {
                    launches,
                    warp_instructions: warps,
                    thread_instructions: threads,
                    sectors,
                    lines,
                } = counts;
                writeln!(
                    record,
                    "{},{case},{launches},{warps},{threads},{sectors},{lines}",
                    kernel.name
                )
                .unwrap();
            }
        }
    }
    if bless() {
        std::fs::write(file("workloads/kernels/counts.csv"), record).unwrap();
    }
}

#[test]
fn default_cases_execute_what_is_recorded() {
    check_counts(|_, case| case == "default");
}

/// The papers' sizes, up to more than a thousand million thread instructions: `cargo test --release -p warpwatt-tests suite_docs:: -- --ignored`.
/// `WARPWATT_KERNELS=bfs,srad` limits it to some kernels.
#[test]
#[ignore = "executes the papers' sizes: minutes in a release build"]
fn all_cases_execute_what_is_recorded_and_agree_with_their_references() {
    let only = std::env::var("WARPWATT_KERNELS").ok();
    check_counts(|kernel, _| {
        let mut names = only.iter().flat_map(|names| names.split(','));
        only.is_none() || names.any(|name| name == kernel.name)
    });
}

#[test]
fn every_case_has_a_record() {
    for kernel in kernels() {
        for case in cases(kernel) {
            assert!(kernel.counts(&case).is_some(), "{} {case}", kernel.name);
        }
    }
}

/// Most registers of the entries of a kernel.
fn registers(kernel: &Kernel, build: Build) -> u32 {
    let (_, ptx) = kernel.program(build).unwrap();
    let module = warpwatt_ptx::load(std::str::from_utf8(ptx).unwrap()).unwrap();
    module
        .entries
        .iter()
        .map(|entry| entry.registers)
        .max()
        .unwrap_or(0)
}

fn suite_table() -> String {
    let mut table = String::from(
        "| kernel | what it does | known from | class | registers | case | grid x block | launches | warp instructions | thread instructions, millions |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for kernel in kernels() {
        for case in cases(kernel) {
            let Counts {
                launches,
                warp_instructions: warps,
                thread_instructions: threads,
                ..
            } = kernel.counts(&case).unwrap();
            let about = match case.as_str() {
                "default" => format!(
                    "`{}` | {} | {} | {} | {}",
                    kernel.name,
                    kernel.summary,
                    kernel.origin,
                    kernel.class,
                    registers(kernel, Build::Today)
                ),
                _ => "| | | |".to_owned(),
            };
            let file = kernel.launch_file().unwrap();
            let shapes = file.case(Some(&case)).unwrap().shapes();
            let millions = threads as f64 / 1e6;
            writeln!(
                table,
                "| {about} | {case} | {shapes} | {launches} | {warps} | {millions:.2} |"
            )
            .unwrap();
        }
    }
    table
}

/// One paper's rows: what stands for them, both counts, and both numbers of registers where the paper has them.
fn paper_table(paper: &Paper) -> String {
    let mut table = format!(
        "\n### `paper:{}`\n\n{}.\n\n\
         | row | benchmark | kernel, case | paper's millions | ours | ours by the paper's | paper's registers (least) | ours | what was chosen, why counts differ |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        paper.name, paper.citation
    );
    for row in paper.benchmarks {
        let counts = row
            .stands
            .and_then(|(name, case)| kernel(name)?.counts(case));
        let ours = counts.map(|counts| counts.thread_instructions as f64 / 1e6);
        let kernel_case = row.stands.map_or("none yet".to_owned(), |(kernel, case)| {
            format!("`{kernel}`, {case}")
        });
        let text = |number: Option<f64>, digits| {
            number.map_or(String::new(), |number| format!("{number:.digits$}"))
        };
        let ratio = row.millions.and_then(|theirs| Some(ours? / theirs));
        let theirs = row
            .millions
            .map_or(String::new(), |millions| millions.to_string());
        let [used, own] = match (row.registers, row.stands) {
            (Some([used, least]), Some((name, _))) => [
                format!("{used} ({least})"),
                registers(kernel(name).unwrap(), Build::Papers).to_string(),
            ],
            (Some([used, least]), None) => [format!("{used} ({least})"), String::new()],
            _ => [String::new(), String::new()],
        };
        writeln!(
            table,
            "| {} | {} | {kernel_case} | {theirs} | {} | {} | {used} | {own} | {} |",
            row.abbreviation,
            row.title,
            text(ours, 2),
            text(ratio, 2),
            row.note
        )
        .unwrap();
    }
    table
}

/// Registers that NVIDIA's assembler gives today's build (ptxas 12.9.86, sm_70, -O3; the most over the entries), and what makes ours of the papers' build more
/// than a quarter more or less than the paper's.
const REGISTERS: [(&str, u32, &str); 16] = [
    ("MatrixMul", 30, ""),
    ("HotSpot", 23, ""),
    ("Blackscholes", 20, ""),
    (
        "ScalarProd",
        19,
        "literals and parameters in registers: without them as few as the next columns say",
    ),
    (
        "DCT8x8",
        25,
        "another algorithm: a thread computes one coefficient here",
    ),
    ("NN", 29, ""),
    (
        "Reduction",
        12,
        "not looked for: the SDK has seven reductions, and the work does not say which it ran",
    ),
    (
        "LUD",
        30,
        "the diagonal step, whose loops of known length are unrolled; the other two have 24 and 11",
    ),
    ("VectorAdd", 12, ""),
    ("Gaussian", 19, ""),
    ("BackProp", 16, "not looked for"),
    ("LIB", 30, ""),
    ("BFS", 18, ""),
    ("LPS", 32, ""),
    (
        "Heartwall",
        25,
        "another program of the same algorithm; not looked for further",
    ),
    ("MUM", 17, ""),
];

/// Registers of Table 2.1 of the register-virtualization paper beside ours.
fn register_table() -> String {
    let mut table = String::from(
        "| benchmark | kernel | paper's registers | ours | ours by the paper's | today's build | ptxas on it | paper's least without spills | ours | least with spills | why more than a quarter apart |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for (row, used, least, name) in register_rows() {
        let kernel = kernel(name).unwrap();
        let module = warpwatt_ptx::load(kernel.ptx_papers).unwrap();
        let most =
            |of: fn(&warpwatt_ptx::Entry) -> u32| module.entries.iter().map(of).max().unwrap_or(0);
        let ours = most(|entry| entry.registers);
        let without = most(warpwatt_ptx::Entry::least_registers_without_spills);
        let with = most(warpwatt_ptx::Entry::least_registers);
        let (_, ptxas, other) = REGISTERS.iter().find(|known| known.0 == row).unwrap();
        let ratio = f64::from(ours) / f64::from(used);
        assert_eq!(
            !(0.75..=1.25).contains(&ratio),
            !other.is_empty(),
            "{row}: {ratio:.2} {other}"
        );
        let today = registers(kernel, Build::Today);
        writeln!(
            table,
            "| {row} | `{name}` | {used} | {ours} | {ratio:.2} | {today} | {ptxas} | {least} | {without} | {with} | {other} |"
        )
        .unwrap();
    }
    table
}

/// Rows with registers: abbreviation, registers, least, our kernel.
fn register_rows() -> impl Iterator<Item = (&'static str, u32, u32, &'static str)> {
    let rows = papers().iter().flat_map(|paper| paper.benchmarks);
    rows.filter_map(|row| {
        let ([used, least], (name, _)) = (row.registers?, row.stands?);
        Some((row.abbreviation, used, least, name))
    })
}

/// Where counts are more than a factor of two apart, a reason is given.
#[test]
fn counts_far_from_the_papers_have_a_reason() {
    let mut far = BTreeMap::new();
    for paper in papers() {
        for row in paper.benchmarks {
            let counts = row
                .stands
                .and_then(|(name, case)| kernel(name)?.counts(case));
            let (Some(counts), Some(theirs)) = (counts, row.millions) else {
                continue;
            };
            let ratio = counts.thread_instructions as f64 / 1e6 / theirs;
            if !(0.5..=2.0).contains(&ratio) {
                far.insert((paper.name, row.abbreviation), (ratio, row.note));
            }
        }
    }
    for (row, (ratio, note)) in &far {
        assert!(note.len() > 40, "{row:?}: {ratio:.2} without a reason");
    }
}

#[test]
fn the_page_of_kernels_is_up_to_date() {
    let path = file("docs/kernels-reference.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let papers: String = papers().iter().map(paper_table).collect();
    let fresh = replace(&page, "suite", &suite_table());
    let fresh = replace(&fresh, "papers", &papers);
    let fresh = replace(&fresh, "registers", &register_table());
    if bless() {
        std::fs::write(&path, &fresh).unwrap();
    }
    assert!(page == fresh || bless(), "run with WARPWATT_BLESS=1");
}

/// Replaces what stands between the marks of a generated part.
fn replace(page: &str, part: &str, text: &str) -> String {
    let begin = format!(
        "<!-- {part}: written by `WARPWATT_BLESS=1 cargo test -p warpwatt-tests suite_docs::` -->\n"
    );
    let end = format!("<!-- end of {part} -->\n");
    let (before, rest) = page.split_once(&begin).unwrap();
    let (_, after) = rest.split_once(&end).unwrap();
    format!("{before}{begin}{text}{end}{after}")
}

//! Traces of the suite: what they take in memory and on disk, and that files give them back.

use std::fs;
use std::path::Path;

use warpwatt_gpu::{Control, GpuSpec, Hooks, Run, Sampling, Way, simulate_under};
use warpwatt_simt::trace::file::{decode, encode};
use warpwatt_simt::trace::statistics::Statistics;
use warpwatt_simt::trace::{KernelTrace, Store};
use warpwatt_suite::{CaseRun, RunOptions, kernel, kernels, run_case};
use warpwatt_techniques::find;
use warpwatt_tests::traces;

/// Bytes a warp instruction that a trace may take, on the average over the suite: the project's budget.
const IN_MEMORY: f64 = 12.0;
const ON_DISK: f64 = 3.0;

/// What holds of every trace.
fn check_statistics(kernel: &str, run: &CaseRun, traces: &[&KernelTrace]) {
    let found = Statistics::of(traces.iter().copied()).unwrap();
    assert_eq!(found.warp_instructions, run.warp_instructions(), "{kernel}");
    assert_eq!(
        found.thread_instructions,
        run.thread_instructions(),
        "{kernel}"
    );
    assert_eq!(found.mix.values().sum::<u64>(), found.warp_instructions);
    for (histogram, lanes) in [
        (&found.active_lanes, found.thread_instructions),
        (
            &found.executing_lanes,
            found.thread_instructions - found.predicated_off,
        ),
    ] {
        assert_eq!(histogram.iter().sum::<u64>(), found.warp_instructions);
        let sum: u64 = histogram
            .iter()
            .zip(0..)
            .map(|(count, lanes)| count * lanes)
            .sum();
        assert_eq!(sum, lanes, "{kernel}");
    }
    assert!(found.operands.uniform <= found.operands.all);
    let branches = found.branches;
    assert!(branches.divergent <= branches.conditional && branches.conditional <= branches.all);
    for (space, footprint) in found.memory.iter() {
        assert!(
            footprint.sectors >= footprint.accesses(),
            "{kernel}: {space:?}"
        );
        assert!(
            footprint.touched_bytes() <= footprint.moved,
            "{kernel}: {space:?}"
        );
        assert!(footprint.uniform + footprint.strided <= footprint.accesses());
    }
    for lives in [&found.registers, &found.predicates] {
        assert_eq!(lives.histogram.iter().sum::<u64>(), lives.values);
        assert!(lives.total >= lives.values - lives.histogram.first().unwrap_or(&0));
    }
}

fn check(kernel: &str, run: &CaseRun) -> [f64; 2] {
    let traces = run.executions.iter();
    let traces: Vec<&KernelTrace> = traces
        .map(|executed| executed.execution.trace.as_ref().unwrap())
        .collect();
    let file = encode(&[0; 32], kernel, &traces).unwrap();
    let stored = decode(&file, 1 << 30, &Store::default())
        .unwrap_or_else(|error| panic!("{kernel}: {error}"));
    assert_eq!(stored.executions.len(), run.executions.len());
    for (read, executed) in stored.executions.iter().zip(&run.executions) {
        let wrote = &executed.execution;
        assert_eq!(read.warp_instructions, wrote.warp_instructions, "{kernel}");
        assert_eq!(
            read.thread_instructions, wrote.thread_instructions,
            "{kernel}"
        );
        assert_eq!(read.predicated_off, wrote.predicated_off, "{kernel}");
        let (read, wrote) = (read.trace.as_ref().unwrap(), wrote.trace.as_ref().unwrap());
        assert_eq!(read.code, wrote.code, "{kernel}");
        for cta in 0..wrote.launch.ctas() {
            for warp in 0..wrote.launch.warps_per_cta() {
                assert!(
                    read.warp(cta, warp)
                        .unwrap()
                        .eq(wrote.warp(cta, warp).unwrap()),
                    "{kernel}: CTA {cta}, warp {warp}"
                );
            }
        }
    }
    check_statistics(kernel, run, &traces);
    let instructions = run.warp_instructions() as f64;
    let memory: usize = traces.iter().map(|trace| trace.record_bytes()).sum();
    [memory, file.len()].map(|bytes| bytes as f64 / instructions)
}

const BEGIN: &str =
    "<!-- sizes: written by `WARPWATT_BLESS=1 cargo test -p warpwatt-tests traces::` -->\n";
const END: &str = "<!-- end of sizes -->\n";

/// How far the table of the documentation may be from what is measured: instructions of other classes, a line more of PTX, change a file a little.
const STALE: f64 = 0.1;

/// Compares the table in `docs/traces.md` with what was measured, or writes it.
fn check_page(rows: &[(&str, u64, [f64; 2])], average: [f64; 2]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/traces.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("the table has its marker");
    let (table, after) = rest.split_once(END).expect("the table has its end");
    let line = |name: &str, count: &str, [memory, disk]: [f64; 2]| {
        format!("| {name} | {count} | {memory:.2} | {disk:.2} |\n")
    };
    let mut fresh = "| kernel, case `default` | warp instructions | bytes each in memory | bytes each on disk |\n| --- | --- | --- | --- |\n".to_owned();
    for (name, count, sizes) in rows {
        fresh += &line(&format!("`{name}`"), &count.to_string(), *sizes);
    }
    fresh += &line("**average of the kernels**", "", average);
    if std::env::var_os("WARPWATT_BLESS").is_some() {
        fs::write(&path, format!("{before}{BEGIN}{fresh}{END}{after}")).unwrap();
        return;
    }
    assert_eq!(
        table.lines().count(),
        fresh.lines().count(),
        "docs/traces.md"
    );
    for (old, new) in table.lines().zip(fresh.lines()).skip(2) {
        let cells = |line: &str| -> Vec<String> {
            line.split('|').map(|cell| cell.trim().to_owned()).collect()
        };
        let (old, new) = (cells(old), cells(new));
        let near = |at: usize| {
            let [old, new] = [&old, &new].map(|cells| cells[at].parse::<f64>().unwrap());
            (old - new).abs() <= STALE * new + 0.02
        };
        assert!(
            old[1] == new[1] && near(3) && near(4),
            "docs/traces.md: {old:?}, now {new:?}"
        );
    }
}

#[test]
fn every_trace_of_the_suite_comes_back_from_its_file_and_they_are_small() {
    let mut rows = Vec::new();
    for kernel in kernels() {
        let (case, prepared) = kernel.prepare(None).unwrap();
        let module = warpwatt_ptx::load(kernel.ptx).unwrap();
        let run = run_case(&module, &case, &prepared, RunOptions::default()).unwrap();
        rows.push((
            kernel.name,
            run.warp_instructions(),
            check(kernel.name, &run),
        ));
    }
    assert!(rows.len() > 40, "{} kernels", rows.len());
    let average = [0, 1].map(|column| {
        rows.iter().map(|(_, _, sizes)| sizes[column]).sum::<f64>() / rows.len() as f64
    });
    assert!(average[0] <= IN_MEMORY, "{} in memory", average[0]);
    assert!(average[1] <= ON_DISK, "{} on disk", average[1]);
    for (name, _, [memory, _]) in &rows {
        assert!(*memory <= IN_MEMORY, "{name}: {memory} in memory");
    }
    check_page(&rows, average);
}

/// Techniques that run another trace than the program's, or look at all of it.
const REWRITE: [&str; 4] = [
    "full_dmr",
    "aged_sampling_dmr",
    "thread_block_compaction",
    "register_virtualization",
];

fn timed(traces: &[KernelTrace], technique: Option<&str>, sampling: Option<Sampling>) -> Run {
    let mut spec = GpuSpec::preset("gtx480").unwrap();
    let mut hooks = Hooks::default();
    if let Some(name) = technique {
        let technique = find(name).ok().unwrap();
        let technique = technique.parse(&toml::Table::new()).unwrap();
        technique.reshape(&mut spec);
        technique.attach(&spec, &mut hooks);
    }
    let control = Control {
        sampling,
        ..Control::default()
    };
    simulate_under(&spec, traces, hooks, control).unwrap()
}

#[test]
fn what_is_not_held_in_memory_is_the_same_trace() {
    for name in ["bfs", "reduction", "hotspot"] {
        let held = traces(name);
        let known = kernel(name).unwrap();
        let (case, prepared) = known.prepare(None).unwrap();
        let module = warpwatt_ptx::load(known.ptx).unwrap();
        // Nothing in memory, some launches and the beginning of one, and beside each other.
        for (trace_memory, threads) in [(0, 1), (3000, 1), (0, 4)] {
            let options = RunOptions {
                trace_memory,
                threads,
                ..RunOptions::default()
            };
            let run = run_case(&module, &case, &prepared, options).unwrap();
            let filed = run.into_traces();
            let both = || held.iter().zip(&filed);
            assert!(both().all(|(held, filed)| held.record_bytes() == filed.record_bytes()));
            let of = |traces: &[KernelTrace]| {
                let traces: Vec<&KernelTrace> = traces.iter().collect();
                encode(&[0; 32], name, &traces).unwrap()
            };
            assert!(of(&held) == of(&filed), "{name}");
            for technique in [None].into_iter().chain(REWRITE.map(Some)) {
                let [one, other] = [&held, &filed].map(|traces| timed(traces, technique, None));
                assert_eq!(one.activity, other.activity, "{name}, {technique:?}");
            }
            let sampling = Sampling {
                batches: 16,
                way: Way::Any,
            };
            let [one, other] = [&held, &filed].map(|traces| timed(traces, None, Some(sampling)));
            assert_eq!(one.activity, other.activity, "{name}, sampled");
        }
    }
}

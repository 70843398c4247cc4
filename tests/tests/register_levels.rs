//! A hierarchy of register files never reads a value from where it was not put, and more entries never cost the main register file an access: over the whole
//! trace of every kernel, and of random programs.

use crate::random_programs::{Step, steps, traced};
use proptest::prelude::*;
use warpwatt_gpu::{GpuSpec, Hooks, Run, simulate};
use warpwatt_simt::trace::KernelTrace;
use warpwatt_suite::kernels;
use warpwatt_techniques::hierarchical_register_file::{Code, Level, Sizes};
use warpwatt_techniques::{Technique, find};
use warpwatt_tests::traces;

/// Lanes whose newest value of a register a place holds, by register.
type Newest = Vec<u64>;

/// The register files of a warp.
struct Files {
    main: Newest,
    /// Of each entry of the operand register file, and of the last result file behind them.
    small: Vec<Newest>,
}

impl Files {
    fn new(words: usize, entries: usize) -> Self {
        Self {
            main: vec![u64::MAX; words],
            small: vec![vec![0; words]; entries + 1],
        }
    }

    fn at(&mut self, level: Level) -> &mut Newest {
        match level {
            Level::Main => &mut self.main,
            Level::Operand(entry) => &mut self.small[usize::from(entry)],
            Level::Last => self.small.last_mut().unwrap(),
        }
    }

    /// Lanes put a register's newest value into a small file, over what they had there.
    fn put(&mut self, level: Level, word: u16, lanes: u64) {
        let place = self.at(level);
        place.iter_mut().for_each(|held| *held &= !lanes);
        place[usize::from(word)] |= lanes;
    }
}

/// How much was checked.
#[derive(Debug, Default)]
struct Seen {
    operands: u64,
    results: u64,
    from_operand: u64,
    from_last: u64,
    written: u64,
}

fn words(code: &Code) -> usize {
    let all = code.insts.iter().flat_map(|inst| {
        let read = inst.operands.iter().map(|operand| operand.word);
        read.chain(inst.results.iter().map(|result| result.word))
    });
    all.max().map_or(0, |most| usize::from(most) + 1)
}

/// Replays every warp; a lane that reads another value than the last that it wrote is a fault.
fn check(trace: &KernelTrace, sizes: Sizes, seen: &mut Seen) -> Result<(), String> {
    check_code(trace, &Code::new(trace, sizes), sizes, seen)
}

fn check_code(
    trace: &KernelTrace,
    code: &Code,
    sizes: Sizes,
    seen: &mut Seen,
) -> Result<(), String> {
    let (words, entries) = (words(code), sizes.entries as usize);
    for cta in 0..trace.launch.ctas() {
        for warp in 0..trace.launch.warps_per_cta() {
            let mut files = Files::new(words, entries);
            for step in trace.warp(cta, warp).unwrap() {
                let inst = &code.insts[step.inst as usize];
                if inst.begins {
                    files.small.iter_mut().for_each(|place| place.fill(0));
                }
                for operand in &inst.operands {
                    let missing =
                        step.executed & !files.at(operand.from)[usize::from(operand.word)];
                    if missing != 0 {
                        let line = trace.code[step.inst as usize].line;
                        return Err(format!(
                            "{}, line {line}: lanes {missing:#x} read {operand:?}, which is not there",
                            trace.kernel
                        ));
                    }
                    seen.operands += 1;
                    seen.from_operand += u64::from(matches!(operand.from, Level::Operand(_)));
                    seen.from_last += u64::from(operand.from == Level::Last);
                }
                // An entry can be read and filled anew by one instruction.
                for operand in &inst.operands {
                    if let Some(entry) = operand.fetched {
                        files.put(Level::Operand(entry), operand.word, step.executed);
                    }
                }
                for result in &inst.results {
                    let word = usize::from(result.word);
                    files.main[word] &= !step.executed;
                    files
                        .small
                        .iter_mut()
                        .for_each(|place| place[word] &= !step.executed);
                    if result.main {
                        files.main[word] |= step.executed;
                    }
                    if let Some(level) = result.kept {
                        files.put(level, result.word, step.executed);
                    }
                    assert!(
                        result.main || result.kept.is_some(),
                        "a result goes somewhere"
                    );
                    seen.results += 1;
                    seen.written += u64::from(result.main);
                }
            }
        }
    }
    Ok(())
}

const USUAL: Sizes = Sizes {
    entries: 3,
    last: true,
};

#[test]
fn no_kernel_of_the_suite_reads_what_is_not_there() {
    let mut checked = 0;
    let mut all = Seen::default();
    for kernel in kernels() {
        let before = all.from_operand;
        for trace in traces(kernel.name) {
            check(&trace, USUAL, &mut all)
                .unwrap_or_else(|fault| panic!("{}: {fault}", kernel.name));
        }
        assert!(all.from_operand > before, "{}", kernel.name);
        checked += 1;
    }
    assert!(checked >= 40, "the law sees something");
    assert!(all.from_last > 0 && all.written < all.results, "{all:?}");
    println!("{all:?}");
}

/// The check has teeth: a strand that ends where the compiler did not know of it is found, and a value that shares its entry with another.
#[test]
fn a_compiler_that_is_wrong_is_found_out() {
    let trace = &traces("matrix_mul")[0];
    let right = Code::new(trace, USUAL);
    let fails = |code: &Code| check_code(trace, code, USUAL, &mut Seen::default()).is_err();
    assert!(!fails(&right));
    let mut ends = right.clone();
    ends.insts.iter_mut().for_each(|inst| inst.begins = true);
    assert!(fails(&ends));
    let mut shared = right;
    for inst in &mut shared.insts {
        let operands = inst.operands.iter_mut().map(|operand| &mut operand.from);
        let kept = inst
            .results
            .iter_mut()
            .filter_map(|result| result.kept.as_mut());
        for level in operands.chain(kept) {
            if let Level::Operand(entry) = level {
                *entry = 0;
            }
        }
    }
    assert!(fails(&shared));
}

/// Accesses of a trace to the main register file, of each instruction as often as a warp executes it.
fn main_accesses(trace: &KernelTrace, times: &[u64], sizes: Sizes) -> u64 {
    let code = Code::new(trace, sizes);
    let each = code.insts.iter().zip(times).map(|(inst, times)| {
        let read = inst
            .operands
            .iter()
            .filter(|operand| operand.from == Level::Main);
        let written = inst.results.iter().filter(|result| result.main);
        times * (read.count() + written.count()) as u64
    });
    each.sum()
}

fn times(trace: &KernelTrace) -> Vec<u64> {
    let mut times = vec![0; trace.code.len()];
    for cta in 0..trace.launch.ctas() {
        for warp in 0..trace.launch.warps_per_cta() {
            for step in trace.warp(cta, warp).unwrap() {
                times[step.inst as usize] += 1;
            }
        }
    }
    times
}

fn by_entries(trace: &KernelTrace, last: bool) -> Vec<u64> {
    let times = times(trace);
    let entries = 0..=8;
    entries
        .map(|entries| main_accesses(trace, &times, Sizes { entries, last }))
        .collect()
}

#[test]
fn more_entries_never_cost_the_main_register_file_an_access() {
    for name in [
        "matrix_mul",
        "hotspot",
        "bfs",
        "lu_decomposition",
        "n_queens",
        "black_scholes",
        "libor",
    ] {
        for trace in traces(name) {
            for last in [false, true] {
                let accesses = by_entries(&trace, last);
                assert!(
                    accesses.is_sorted_by(|fewer, more| fewer >= more),
                    "{name}: {accesses:?}"
                );
                assert!(accesses[3] < accesses[0], "{name}: {accesses:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_random_program_reads_what_is_not_there(steps in steps(), entries in 0u32..=8, last: bool) {
        let trace = traced(&steps);
        let fault = check(&trace, Sizes { entries, last }, &mut Seen::default());
        prop_assert!(fault.is_ok(), "{fault:?}");
        let accesses = by_entries(&trace, last);
        prop_assert!(accesses.is_sorted_by(|fewer, more| fewer >= more), "{accesses:?}");
    }
}

/// A value that two sides of a branch write, and that one side reads: where an entry is free for that read only, the other side must not write there.
#[test]
fn a_side_whose_value_is_read_elsewhere_leaves_the_entry_alone() {
    use Step::{Add, Branch, Guarded, Loop, Show};
    let inner = Branch(
        2,
        vec![Show(0), Add([7, 0, 0]), Show(0)],
        vec![Add([7, 0, 0]), Guarded(7, [0, 0, 0])],
    );
    let steps = [
        Guarded(0, [4, 0, 0]),
        Loop(0, vec![Add([5, 3, 3])]),
        Add([6, 3, 6]),
        Branch(0, Vec::new(), vec![inner, Show(7)]),
    ];
    let sizes = Sizes {
        entries: 1,
        last: false,
    };
    check(&traced(&steps), sizes, &mut Seen::default()).unwrap();
}

fn time(launches: &[KernelTrace], parameters: Option<&str>) -> Run {
    let spec = GpuSpec::preset("fermi-16sm").unwrap();
    let mut hooks = Hooks::default();
    if let Some(parameters) = parameters {
        technique(parameters).attach(&spec, &mut hooks);
    }
    simulate(&spec, launches, hooks).unwrap()
}

fn technique(parameters: &str) -> Box<dyn Technique> {
    let definition = find("hierarchical_register_file").ok().unwrap();
    definition.parse(&parameters.parse().unwrap()).unwrap()
}

#[test]
fn reads_of_all_levels_are_the_reads_without_them() {
    for name in [
        "matrix_mul",
        "reduction",
        "bfs",
        "lu_decomposition",
        "n_queens",
        "hotspot",
    ] {
        let launches = traces(name);
        let plain = time(&launches, None);
        for parameters in ["", "lrf = false", "orf_entries = 0", "orf_entries = 8"] {
            let run = time(&launches, Some(parameters));
            let n = |counter: &str| run.activity.get(counter);
            let was = |counter: &str| plain.activity.get(counter);
            for same in [
                "warp_instructions",
                "thread_instructions",
                "memory_accesses",
                "shared_accesses",
                "ctas",
            ] {
                assert_eq!(n(same), was(same), "{name}: {same}");
            }
            let small = n("operand_register_file.read") + n("last_result_file.read");
            assert_eq!(
                n("register_words_read") + small,
                was("register_words_read"),
                "{name}"
            );
            assert_eq!(
                n("hierarchy_operands"),
                was("register_words_read"),
                "{name}"
            );
            assert_eq!(
                n("hierarchy_results"),
                was("register_words_written"),
                "{name}"
            );
            assert!(
                n("register_words_written") <= was("register_words_written"),
                "{name}"
            );
            assert!(small > 0, "{name}");
            assert!(
                n("main_registers_most") <= n("hierarchy_registers_most"),
                "{name}"
            );
        }
    }
}

/// Nothing beside the main register file: every operand comes from there, in every cycle as without.
#[test]
fn a_hierarchy_of_one_level_changes_nothing() {
    let launches = traces("matrix_mul");
    let (plain, alone) = (
        time(&launches, None),
        time(&launches, Some("orf_entries = 0\nlrf = false")),
    );
    assert_eq!(alone.cycles, plain.cycles);
    for counter in [
        "register_words_read",
        "register_words_written",
        "register_file.read",
        "operand_bank_conflict_cycles",
    ] {
        assert_eq!(
            alone.activity.get(counter),
            plain.activity.get(counter),
            "{counter}"
        );
    }
}

//! GPU-Shrink: programs run as before on a fraction of the registers, whatever they do; warps wait where they must, and go to memory only where nothing else helps.

use crate::gpu_support::*;
use proptest::prelude::*;
use toml::Table;
use warpwatt_gpu::{Control, GpuError, GpuSpec, Hooks, Run, simulate_under};
use warpwatt_simt::trace::{KernelTrace, Register, Space, StaticInst};
use warpwatt_techniques::{Technique, find};
use warpwatt_tests::traces;

fn shrunk(parameters: &str) -> Box<dyn Technique> {
    let table: Table = parameters.parse().unwrap();
    find("register_shrink").ok().unwrap().parse(&table).unwrap()
}

fn kb(size: u32) -> Box<dyn Technique> {
    shrunk(&format!("register_file_kb = {size}"))
}

fn try_time(
    mut spec: GpuSpec,
    launches: &[KernelTrace],
    technique: Option<&dyn Technique>,
) -> Result<Run, GpuError> {
    let mut hooks = Hooks::default();
    if let Some(technique) = technique {
        technique.reshape(&mut spec);
        technique.attach(&spec, &mut hooks);
    }
    // Far more than any of them takes: what goes around in circles does not go on for ever.
    let control = Control {
        cycle_limit: 20_000_000,
        ..Control::default()
    };
    simulate_under(&spec, launches, hooks, control)
}

fn fermi() -> GpuSpec {
    GpuSpec::preset("fermi-16sm").unwrap()
}

fn one_fermi() -> GpuSpec {
    let mut spec = fermi();
    spec.sm.count = 1;
    spec
}

/// What holds however small the file is: everything runs, what is taken is freed, what leaves comes back or has ended.
fn check(run: &Run, plain: &Run, what: &str) {
    let n = |counter: &str| run.activity.get(counter);
    for same in [
        "warp_instructions",
        "thread_instructions",
        "ctas",
        "warps",
        "shared_accesses",
    ] {
        assert_eq!(n(same), plain.activity.get(same), "{what}: {same}");
    }
    let moves = n("spilled_registers") + n("restored_registers");
    assert_eq!(
        n("memory_accesses"),
        plain.activity.get("memory_accesses") + moves,
        "{what}"
    );
    assert_eq!(
        n("register_file.read"),
        plain.activity.get("register_file.read") + n("spilled_registers"),
        "{what}"
    );
    assert_eq!(
        n("register_availability.write"),
        2 * n("register_select.read"),
        "{what}"
    );
    assert!(n("restored_registers") <= n("spilled_registers"), "{what}");
    assert!(n("registers_most") <= n("wear_registers"), "{what}");
    assert_eq!(
        n("registers_waited_for"),
        0,
        "{what}: who issues has its registers"
    );
}

/// Divergence, barriers, loops, many launches, loads, long code; a file of less and less.
#[test]
fn programs_run_as_before_on_less_and_less() {
    for name in [
        "matrix_mul",
        "reduction",
        "bfs",
        "lu_decomposition",
        "scalar_product",
        "hotspot",
    ] {
        let launches = traces(name);
        let plain = try_time(fermi(), &launches, None).unwrap();
        let whole = try_time(fermi(), &launches, Some(kb(128).as_ref())).unwrap();
        check(&whole, &plain, name);
        assert_eq!(whole.activity.get("spilled_warps"), 0, "{name}");
        for size in [64, 32, 16] {
            let run = try_time(fermi(), &launches, Some(kb(size).as_ref())).unwrap();
            check(&run, &plain, &format!("{name} in {size} KB"));
            let needs =
                |trace: &KernelTrace| trace.launch.registers * trace.launch.warps_per_cta() as u32;
            if launches.iter().all(|trace| needs(trace) <= 8 * size) {
                assert_eq!(
                    run.activity.get("spilled_warps"),
                    0,
                    "{name} in {size} KB: a CTA fits"
                );
            }
        }
    }
}

/// Each warp fills `registers` registers, meets the others, and uses them.
fn meeting(registers: u16, ctas: u32, warps: u32) -> KernelTrace {
    let fill = (0..registers).map(|register| load(Space::Global, register));
    let mut code: Vec<StaticInst> = fill.collect();
    for round in 0..3 {
        code.push(barrier());
        code.extend(
            (0..registers).map(|register| add(register, &[(register + round) % registers])),
        );
    }
    code.push(exit());
    let mut trace = straight(code, ctas, warps);
    trace.launch.registers = u32::from(registers);
    trace
}

/// All of a CTA's warps hold all of their registers over a barrier, and there are too few: only memory helps.
#[test]
fn a_cta_larger_than_the_file_goes_through_memory() {
    for (ctas, warps, registers, size) in [
        (1, 32, 30, 64),
        (3, 16, 31, 16),
        (4, 8, 20, 4),
        (2, 32, 16, 2),
    ] {
        let trace = meeting(registers, ctas, warps);
        let plain = try_time(one_fermi(), std::slice::from_ref(&trace), None).unwrap();
        let run = try_time(
            one_fermi(),
            std::slice::from_ref(&trace),
            Some(kb(size).as_ref()),
        )
        .unwrap();
        let what = format!("{ctas} x {warps} x {registers} in {size} KB");
        check(&run, &plain, &what);
        let n = |counter: &str| run.activity.get(counter);
        assert!(
            n("spilled_warps") > 0 && n("restored_registers") > 0,
            "{what}"
        );
        assert!(
            n("store_transactions") >= n("spilled_registers"),
            "{what}: traffic"
        );
        assert!(run.cycles > plain.cycles, "{what}");
    }
}

/// Whoever fits with one CTA needs no memory, barriers or not.
#[test]
fn a_file_that_holds_a_cta_spills_nothing() {
    let trace = meeting(16, 6, 8);
    let plain = try_time(one_fermi(), std::slice::from_ref(&trace), None).unwrap();
    let run = try_time(
        one_fermi(),
        std::slice::from_ref(&trace),
        Some(kb(16).as_ref()),
    )
    .unwrap();
    check(&run, &plain, "6 x 8 x 16 in 16 KB");
    let n = |counter: &str| run.activity.get(counter);
    assert_eq!(n("spilled_warps"), 0);
    assert!(n("throttled_instructions") > 0 && n("throttled_cycles") > 0);
}

#[test]
fn what_no_warp_fits_is_refused_with_what_would_help() {
    let trace = meeting(40, 1, 2);
    let refused = |size| {
        let technique = kb(size);
        try_time(
            one_fermi(),
            std::slice::from_ref(&trace),
            Some(technique.as_ref()),
        )
        .err()
    };
    let GpuError::Refused { reason, .. } = refused(4).unwrap() else {
        panic!("it is refused for another reason");
    };
    assert!(
        reason.contains("40 registers") && reason.contains("at least 5"),
        "{reason}"
    );
    assert!(refused(8).is_none());
}

/// Instructions of a random kernel.
#[derive(Clone, Debug)]
enum Step {
    Add(u16, u16, bool),
    Load(u16),
    Store(u16, bool),
    Barrier,
    Meet(u16),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let register = || 0..12u16;
    let step = prop_oneof![
        6 => (register(), register(), any::<bool>()).prop_map(|(to, from, dies)| Step::Add(to, from, dies)),
        3 => register().prop_map(Step::Load),
        2 => (register(), any::<bool>()).prop_map(|(from, dies)| Step::Store(from, dies)),
        1 => Just(Step::Barrier),
        1 => register().prop_map(Step::Meet),
    ];
    prop::collection::vec(step, 1..60)
}

/// The code of some steps, in which reads may be the last ones and values end where paths meet.
fn code(steps: &[Step]) -> Vec<StaticInst> {
    let dying = |mut inst: StaticInst, register: u16, dies: bool| {
        let of_words: &[Register] = &[word(register)];
        if dies {
            inst.release.sources = of_words.into();
        }
        inst
    };
    let each = steps.iter().map(|step| match *step {
        Step::Add(to, from, dies) => dying(add(to, &[from]), from, dies && to != from),
        Step::Load(to) => load(Space::Global, to),
        Step::Store(from, dies) => dying(store(Space::Global, from), from, dies),
        Step::Barrier => barrier(),
        Step::Meet(register) => {
            let mut inst = add(register, &[]);
            inst.release.leader = true;
            inst.release.meeting = vec![(register + 1) % 12];
            inst
        }
    });
    each.chain([exit()]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// Any program on any shape runs to its end in any file that holds a warp, with any renaming table.
    #[test]
    fn nothing_gets_stuck(steps in steps(), ctas in 1..6u32, warps in 1..9u32, size in 2..12u32, table in 16..400u32) {
        let mut trace = straight(code(&steps), ctas, warps);
        trace.launch.registers = 12;
        let plain = try_time(one_fermi(), std::slice::from_ref(&trace), None).unwrap();
        let technique = shrunk(&format!("register_file_kb = {size}\nrenaming_table_bytes = {table}"));
        let run = try_time(one_fermi(), std::slice::from_ref(&trace), Some(technique.as_ref())).unwrap();
        check(&run, &plain, "random");
        // 32 arrays, whole registers in each.
        if 12 * warps <= 32 * (size / 4).max(1) {
            prop_assert_eq!(run.activity.get("spilled_warps"), 0);
        }
    }
}

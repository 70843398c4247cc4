//! Protections of the soft-error paper on kernels small enough to know what must come out.

use crate::gpu_support::*;
use warpwatt_gpu::trace::{KernelTrace, MemoryOp, MemoryOpKind, Space, StaticInst, Unit};
use warpwatt_gpu::{GpuSpec, Hooks, MissSource, Run, simulate};
use warpwatt_techniques::{Technique, find};

fn technique(name: &str, parameters: &str) -> Box<dyn Technique> {
    let definition = find(name).ok().unwrap();
    definition.parse(&parameters.parse().unwrap()).unwrap()
}

/// One SM of the paper's GPU.
fn papers_sm() -> GpuSpec {
    let mut spec = GpuSpec::preset("softerror-28sm").unwrap();
    spec.sm.count = 1;
    spec
}

fn run_on(spec: &GpuSpec, technique: &dyn Technique, trace: KernelTrace) -> Run {
    let mut hooks = Hooks::default();
    technique.attach(spec, &mut hooks);
    simulate(spec, &[trace], hooks).unwrap()
}

fn run_with(technique: &dyn Technique, trace: KernelTrace) -> Run {
    run_on(&papers_sm(), technique, trace)
}

fn metric(technique: &dyn Technique, run: &Run, name: &str) -> f64 {
    let metrics = technique.metrics(run);
    metrics.iter().find(|it| it.name == name).unwrap().value
}

/// So many instructions, each of which waits for the one before it.
fn chain(length: u16) -> Vec<StaticInst> {
    let link = |index: u16| add(index % 6, &[(index + 5) % 6]);
    (0..length).map(link).collect()
}

/// Thirty instructions one after the other, the same for all warps.
fn line(warps: u32) -> KernelTrace {
    let mut code = chain(30);
    code.push(exit());
    straight(code, 1, warps)
}

/// Warps that go through the same code side by side hold few different instructions: four entries protect all of them.
#[test]
fn warps_side_by_side_are_protected_whole() {
    for warps in [1, 2, 8] {
        let sawp = technique("sawp", "");
        let run = run_with(sawp.as_ref(), line(warps));
        let count = |name: &str| run.activity.get(name);
        assert_eq!(count("sawp_arrivals"), 31 * u64::from(warps));
        assert_eq!(metric(sawp.as_ref(), &run, "sawp.coverage"), 1.0, "{warps}");
        assert_eq!(count("sawp_refused"), 0);
    }
    let sawp = technique("sawp", "");
    let run = run_with(sawp.as_ref(), line(1));
    assert_eq!(
        run.activity.get("sawp.generator.read"),
        31,
        "one warp shares nothing"
    );
    assert_eq!(run.activity.get("sawp.comparator.read"), 0);
}

/// Two warps, each in code of its own, and one entry: whoever comes takes it from the other.
#[test]
fn warps_that_share_nothing_take_the_entry_from_each_other() {
    let code = chain(60);
    let apart = || {
        launch(code.clone(), 1, 2, |_, warp| {
            (30 * warp..30 * warp + 30).map(Dynamic::plain).collect()
        })
    };
    let of = |parameters: &str| {
        let sawp = technique("sawp", parameters);
        let mut spec = papers_sm();
        // Side by side, whatever lines their code lies in.
        spec.icache.misses = MissSource::Never;
        let run = run_on(&spec, sawp.as_ref(), apart());
        (
            metric(sawp.as_ref(), &run, "sawp.coverage"),
            run.activity.get("sawp.generator.read"),
        )
    };
    assert_eq!(of("entries = 2"), (1.0, 60));
    let (coverage, generated) = of("entries = 1");
    assert!(coverage < 0.6, "{coverage}");
    assert_eq!(generated, 60);
    let (_, generated) = of("entries = 1\nthreshold = 0");
    assert!(
        generated < 60,
        "an entry with an instruction stays: {generated}"
    );
}

#[test]
fn every_instruction_finds_check_bits_or_makes_them_or_goes_without() {
    for parameters in [
        "",
        "variant = \"min\"",
        "entries = 1",
        "threshold = 0\nentries = 2",
    ] {
        let sawp = technique("sawp", parameters);
        let run = run_with(sawp.as_ref(), line(20));
        let count = |name: &str| run.activity.get(name);
        let (hits, made) = (count("sawp_hits"), count("sawp.generator.read"));
        assert_eq!(hits + made + count("sawp_refused"), count("sawp_arrivals"));
        assert_eq!(count("sawp_arrivals"), count("warp_instructions"));
        assert!(count("sawp_protected_cycles") <= count("sawp_occupied_cycles"));
    }
}

/// A load of register 4 from the address in register 0.
fn load_4() -> StaticInst {
    StaticInst {
        memory: Some(MemoryOp::new(Space::Global, MemoryOpKind::Load, 4)),
        ..inst(Unit::Memory, &[0], &[4])
    }
}

/// Eight registers of which a load will write one: seven are recorded while the warp waits, and checked before it goes on.
#[test]
fn a_load_has_all_other_registers_recorded_and_checked() {
    let code = vec![add(0, &[]), add(1, &[]), load_4(), add(2, &[1, 4]), exit()];
    let sharp = technique("sharp", "");
    let run = run_with(sharp.as_ref(), straight(code.clone(), 1, 1));
    let count = |name: &str| run.activity.get(name);
    assert_eq!(count("sharp.queue.write"), 2);
    assert_eq!(count("sharp.queue.read"), 2);
    assert_eq!(count("sharp_registers_recorded"), 7);
    assert_eq!(count("sharp_registers_checked"), 7);
    assert_eq!(count("sharp.shared_bank.write"), 7 * 8);
    assert_eq!(count("sharp.shared_bank.read"), 7 * 8);
    assert_eq!(count("sharp.generator.read"), 7 * 32);
    assert_eq!(count("sharp.checker.read"), 7 * 32);
    assert_eq!(count("sharp_dropped") + count("sharp_groups_reset"), 0);
    // Register 1 waits with the warp, the others are read at once: nearly all that lives is checked.
    let coverage = metric(sharp.as_ref(), &run, "sharp.coverage");
    assert!((0.9..1.0).contains(&coverage), "{coverage}");
    let plain = simulate(&papers_sm(), &[straight(code, 1, 1)], Hooks::default()).unwrap();
    let longer = run.cycles - plain.cycles;
    assert!(
        (7..=16).contains(&longer),
        "seven checks, one a cycle: {longer}"
    );
}

/// What the warp writes while it waits has no check bits any more.
#[test]
fn a_register_written_meanwhile_is_not_checked() {
    let mut code = vec![add(0, &[]), add(1, &[]), load_4()];
    // Long enough behind the load for all registers to be recorded before register 2 is written.
    code.extend((0..12).map(|_| add(5, &[5])));
    code.extend([add(2, &[0]), add(3, &[4, 2]), exit()]);
    let sharp = technique("sharp", "");
    let run = run_with(sharp.as_ref(), straight(code, 1, 1));
    let count = |name: &str| run.activity.get(name);
    assert_eq!(count("sharp_registers_recorded"), 7);
    assert_eq!(count("sharp_registers_checked"), 5, "neither 2 nor 5");
    assert_eq!(count("sharp_groups_reset"), 2 * 8);
}

/// Eight registers of eight warps leave 448 of 512 free, which is room for all; a GPU with just as many has none.
#[test]
fn free_registers_protect_what_they_have_room_for() {
    let code = vec![add(0, &[]), add(1, &[0]), add(2, &[0, 1]), exit()];
    let rtrp = technique("register_to_register_protection", "");
    let mut spec = papers_sm();
    spec.sm.ctas = 1;
    let run = run_on(&spec, rtrp.as_ref(), straight(code.clone(), 1, 8));
    assert_eq!(metric(rtrp.as_ref(), &run, "rtrp.coverage"), 1.0);
    assert_eq!(run.activity.get("rtrp_free_registers"), 512 - 64);
    assert_eq!(run.activity.get("rtrp.generator.read"), 3 * 32 * 8);
    assert_eq!(run.activity.get("rtrp.checker.read"), 3 * 32 * 8);
    spec.sm.registers_bytes = 64 * 128;
    let run = run_on(&spec, rtrp.as_ref(), straight(code, 1, 8));
    assert_eq!(metric(rtrp.as_ref(), &run, "rtrp.coverage"), 0.0);
    assert_eq!(run.activity.get("rtrp.generator.read"), 0);
}

/// Every access of a protected structure goes through the code.
#[test]
fn a_code_sees_every_word() {
    let of = |structure: &str| {
        let ecc = technique("ecc", &format!("structure = \"{structure}\""));
        run_with(ecc.as_ref(), line(4)).activity
    };
    let buffer = of("instruction_buffer");
    assert_eq!(
        buffer.get("ecc.generator.read"),
        buffer.get("instruction_buffer.write")
    );
    assert_eq!(
        buffer.get("ecc.checker.read"),
        buffer.get("warp_instructions")
    );
    let file = of("register_file");
    assert_eq!(file.get("ecc.generator.read"), 30 * 32 * 4);
    assert_eq!(file.get("ecc.checker.read"), 30 * 32 * 4);
}

//! The pipeline of an SM, one formula at a time.

use crate::gpu_support::*;
use warpwatt_gpu::Policy;
use warpwatt_simt::trace::{LatencyClass, Space, Unit};

/// `count` additions, each of which needs the one before.
fn chain(count: u16) -> Vec<warpwatt_simt::trace::StaticInst> {
    (0..count).map(|_| add(1, &[1])).collect()
}

fn independent(count: u16) -> Vec<warpwatt_simt::trace::StaticInst> {
    (0..count).map(|number| add(number % 6, &[])).collect()
}

/// One instruction: fetch at 0, the line 300 cycles later than a hit, issue after fetch and decode, out of the pipeline after its depth.
#[test]
fn the_first_instruction_waits_for_its_line() {
    let spec = one_sm();
    let fetch = u64::from(spec.fetch.stages + spec.fetch.decode_cycles);
    let expected = fetch + u64::from(spec.icache.miss_cycles + spec.timing.control.latency);
    assert_eq!(cycles(&spec, vec![]), expected);
    let mut near = spec;
    near.icache.miss_cycles = 100;
    assert_eq!(cycles(&near, vec![]), expected - 200);
}

#[test]
fn a_dependent_instruction_issues_one_pipeline_later() {
    let spec = one_sm();
    let depth = u64::from(spec.timing.int.simple.latency);
    assert_eq!(
        cycles(&spec, chain(20)) - cycles(&spec, chain(10)),
        10 * depth
    );
    let mut shallow = spec;
    shallow.timing.int.simple.latency = 10;
    assert_eq!(
        cycles(&shallow, chain(20)) - cycles(&shallow, chain(10)),
        100
    );
}

/// A warp has ended once its last result is there, however late: here that of an addition, long after a load's and the last instruction.
#[test]
fn a_warp_ends_with_its_last_result() {
    let mut spec = one_sm();
    spec.timing.int.simple.latency = 5000;
    let code = vec![load(Space::Global, 1), add(2, &[]), exit()];
    let trace = launch(code, 1, 1, |_, _| {
        let at = |lane: u64| 0xc000_0000 + 4 * lane;
        vec![
            Dynamic::at(0, ALL, at),
            Dynamic::plain(1),
            Dynamic::plain(2),
        ]
    });
    assert!((5000..6000).contains(&run(&spec, trace).cycles));
}

/// Six registers in turn: no instruction waits for another, so the unit takes one every warp_width / lanes cycles.
#[test]
fn independent_instructions_issue_at_the_rate_of_the_unit() {
    let spec = one_sm();
    assert_eq!(
        cycles(&spec, independent(26)) - cycles(&spec, independent(14)),
        12 * 4
    );
    let mut wide = spec.clone();
    wide.units.sp.lanes = 32;
    wide.scoreboard.regions = 8;
    wide.timing.int.simple.latency = 2;
    assert_eq!(
        cycles(&wide, independent(26)) - cycles(&wide, independent(14)),
        12,
        "one fetch and one issue a cycle"
    );
}

#[test]
fn a_special_function_takes_its_own_unit_and_time() {
    let spec = one_sm();
    let special = |count| {
        cycles(
            &spec,
            (0..count).map(|_| inst(Unit::Sfu, &[1], &[1])).collect(),
        )
    };
    assert_eq!(
        special(20) - special(10),
        10 * u64::from(spec.timing.special.latency)
    );
    let rate = |count: u16| {
        cycles(
            &spec,
            (0..count)
                .map(|number| inst(Unit::Sfu, &[], &[number % 6]))
                .collect(),
        )
    };
    assert_eq!(rate(20) - rate(10), 10 * 16, "32 threads over two lanes");
    let divide = |count| {
        let one = warpwatt_simt::trace::StaticInst {
            latency: LatencyClass::Div,
            ..inst(Unit::Fp32, &[1], &[1])
        };
        cycles(&spec, vec![one; count])
    };
    assert_eq!(
        divide(10) - divide(5),
        5 * u64::from(spec.timing.fp32.div.latency)
    );
}

/// Registers 1, 17 and 33 lie in one bank of sixteen: the third is read two cycles later than the first.
#[test]
fn operands_in_one_bank_come_one_a_cycle() {
    let spec = one_sm();
    let conflicted = |sources: &[u16]| cycles(&spec, (0..20).map(|_| add(1, sources)).collect());
    let free = conflicted(&[1, 2, 3]);
    assert_eq!(conflicted(&[1, 17, 3]) - free, 20);
    assert_eq!(conflicted(&[1, 17, 33]) - free, 40);
    let run = run(&spec, straight(vec![add(1, &[1, 17, 33]), exit()], 1, 1));
    assert_eq!(run.activity.get("operand_bank_conflict_cycles"), 2);
}

#[test]
fn a_branch_stops_the_fetch_of_its_warp_until_it_is_resolved() {
    let spec = one_sm();
    let branches = |count| cycles(&spec, (0..count).map(|_| exit()).collect());
    let per_branch =
        u64::from(spec.fetch.branch_cycles + spec.fetch.stages + spec.fetch.decode_cycles);
    assert_eq!(branches(20) - branches(10), 10 * per_branch);
    let mut two_stages = spec.clone();
    two_stages.fetch.stages = 2;
    let slower = cycles(&two_stages, (0..10).map(|_| exit()).collect());
    assert_eq!(
        slower - branches(10),
        11,
        "one cycle for each of eleven fetches, none of them overlapped"
    );
}

/// An entry of six regions: the seventh independent result waits for the first.
#[test]
fn a_full_scoreboard_entry_stalls_its_warp() {
    let mut spec = one_sm();
    spec.units.sp.lanes = 32;
    let scattered = |count: u16| {
        cycles(
            &spec,
            (0..count).map(|number| add(2 * number, &[])).collect(),
        )
    };
    let all_at_once = scattered(6);
    assert!(
        scattered(7) - all_at_once >= u64::from(spec.timing.int.simple.latency) - 7,
        "{all_at_once} {}",
        scattered(7)
    );
}

#[test]
fn misses_of_different_warps_on_one_line_merge() {
    let run = run(&one_sm(), straight(vec![add(1, &[1]), exit()], 1, 8));
    assert_eq!(run.activity.get("icache_fills"), 1);
    assert_eq!(run.activity.get("icache_misses"), 8);
    assert_eq!(run.activity.get("icache_mshr_merges"), 7);
    assert_eq!(
        run.activity.get("icache.data.write"),
        16,
        "256-byte line, 16-byte words"
    );
}

/// 4 KB are 16 lines of 32 instructions; a second pass over code that fits does not miss.
#[test]
fn code_that_fits_is_fetched_from_memory_once() {
    for (instructions, second_pass_misses) in [(512u32, false), (1024, true)] {
        let code = vec![add(1, &[]); instructions as usize];
        let trace = launch(code, 1, 1, |_, _| {
            (0..2 * instructions)
                .map(|step| Dynamic::plain(step % instructions))
                .collect()
        });
        let run = run(&one_sm(), trace);
        let lines = u64::from(instructions / 32);
        assert_eq!(
            run.activity.get("icache_fills") > lines,
            second_pass_misses,
            "{instructions} instructions"
        );
    }
}

/// Code of 8 KB in a second level behind 4 KB: the first pass brings it from memory, later ones take the second level's latency a line.
#[test]
fn a_second_level_keeps_what_the_first_cannot() {
    let instructions = 1024u32;
    let lines = u64::from(instructions / 32);
    let run_on = |bytes: u32, latency: u32, passes: u32| {
        let mut spec = one_sm();
        (spec.l15.bytes, spec.l15.latency) = (bytes, latency);
        let code = vec![add(1, &[]); instructions as usize];
        let trace = launch(code, 1, 1, |_, _| {
            (0..passes * instructions)
                .map(|step| Dynamic::plain(step % instructions))
                .collect()
        });
        run(&spec, trace)
    };
    let again = |bytes: u32, latency: u32| {
        run_on(bytes, latency, 3).cycles - run_on(bytes, latency, 2).cycles
    };
    let near = again(16 * 1024, 100);
    assert_eq!(again(16 * 1024, 160) - near, 60 * lines);
    let memory = u64::from(one_sm().icache.miss_cycles);
    assert_eq!(again(0, 100) - near, (memory - 100) * lines);
    assert_eq!(
        again(4096, 100) - near,
        memory * lines,
        "too small: asked in vain"
    );
    let run = run_on(16 * 1024, 100, 3);
    let n = |name: &str| run.activity.get(name);
    let parts = u64::from(one_sm().icache.line_bytes / one_sm().l15.line_bytes);
    assert_eq!(n("l15_misses"), lines);
    assert_eq!(n("l15.tag.write"), parts * lines);
    assert_eq!(n("l15.data.read"), 2 * parts * lines);
    assert_eq!(n("l15.tag.read"), 3 * parts * lines);
}

/// The fast warp waits for the slow one: twenty dependent additions more cost both the same.
#[test]
fn a_barrier_waits_for_the_last_warp() {
    let spec = one_sm();
    let run_with = |extra: u32| {
        let code = vec![add(1, &[1]), barrier(), add(2, &[2]), exit()];
        let trace = launch(code, 1, 2, |_, warp| {
            let before = if warp == 0 { 1 } else { 1 + extra };
            let mut steps: Vec<Dynamic> = (0..before).map(|_| Dynamic::plain(0)).collect();
            steps.extend([1, 2, 3].map(Dynamic::plain));
            steps
        });
        run(&spec, trace)
    };
    let (early, late) = (run_with(10), run_with(30));
    assert_eq!(
        late.cycles - early.cycles,
        20 * u64::from(spec.timing.int.simple.latency)
    );
    assert_eq!(late.activity.get("issued_barrier"), 2);
}

#[test]
fn a_barrier_costs_its_release() {
    let mut spec = one_sm();
    let with = cycles(&spec, vec![barrier(), add(1, &[])]);
    spec.sm.barrier_cycles += 50;
    assert_eq!(cycles(&spec, vec![barrier(), add(1, &[])]), with + 50);
}

#[test]
fn ctas_beyond_the_occupancy_wait() {
    let spec = one_sm();
    let code = || {
        let mut code = chain(30);
        code.push(exit());
        code
    };
    let wave = run(&spec, straight(code(), 8, 1)).cycles;
    let two = run(&spec, straight(code(), 16, 1));
    assert_eq!(two.activity.get("ctas"), 16);
    assert_eq!(two.launches[0].ctas_per_sm, 8);
    assert!(
        two.cycles > wave + 30 * 20,
        "{} after {wave}: a second wave of dependent additions",
        two.cycles
    );
}

#[test]
fn more_warps_hide_the_latency_of_the_pipeline() {
    let spec = one_sm();
    let code = || {
        let mut code = chain(60);
        code.push(exit());
        code
    };
    let one = run(&spec, straight(code(), 1, 1));
    let six = run(&spec, straight(code(), 1, 6));
    assert!(
        six.cycles < one.cycles + one.cycles / 10,
        "six warps fill what one leaves: {} {}",
        six.cycles,
        one.cycles
    );
    let many = run(&spec, straight(code(), 1, 24));
    let busy = many.activity.get("issued_sp") * 4;
    assert!(
        many.cycles - 300 < busy + busy / 10,
        "24 warps keep the unit busy: {} for {busy}",
        many.cycles
    );
}

#[test]
fn the_two_level_policy_lets_groups_run_apart() {
    let code = || {
        let mut code = chain(60);
        code.push(exit());
        code
    };
    let round_robin = run(&one_sm(), straight(code(), 1, 32));
    let mut spec = one_sm();
    spec.scheduler.policy = Policy::TwoLevel;
    let two_level = run(&spec, straight(code(), 1, 32));
    assert_eq!(
        round_robin.activity.get("warp_instructions"),
        two_level.activity.get("warp_instructions")
    );
    assert!(
        two_level.activity.get("resident_warp_cycles")
            < round_robin.activity.get("resident_warp_cycles"),
        "the first group finishes before the others"
    );
}

#[test]
fn launches_follow_each_other_and_keep_the_code() {
    let spec = one_sm();
    let trace = || straight(vec![add(1, &[1]), exit()], 1, 1);
    let launches = [trace(), trace()];
    let run = warpwatt_gpu::simulate(&spec, &launches, warpwatt_gpu::Hooks::default()).unwrap();
    assert_eq!(run.activity.get("launches"), 2);
    assert_eq!(
        run.activity.get("icache_fills"),
        1,
        "the second launch finds its line"
    );
    assert_eq!(
        run.launches[0].cycles - run.launches[1].cycles,
        u64::from(spec.icache.miss_cycles)
    );
    assert_eq!(
        run.launches.iter().map(|launch| launch.cycles).sum::<u64>(),
        run.cycles
    );
}

#[test]
fn a_trace_of_another_warp_width_is_refused() {
    let mut spec = one_sm();
    spec.sm.warp_width = 64;
    let error = try_run(&spec, straight(vec![exit()], 1, 1)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "kernel `synthetic` was executed with warps of 32 lanes, the GPU has warps of 64"
    );
}

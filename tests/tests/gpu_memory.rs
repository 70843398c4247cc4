//! The memory system: latency, coalescing, conflicts, rows, bandwidth.

use crate::gpu_support::*;
use warpwatt_gpu::{ConstantTurns, GpuSpec, MissSource, Run};
use warpwatt_simt::trace::{MemoryOpKind, Space};

/// Loads one after the other, each with the address of the one before, by lane 0; cycles from one to the next.
fn load_to_load(spec: &GpuSpec, address: impl Fn(u32) -> u64) -> u64 {
    let timed = |count: u32| {
        let mut step = load(Space::Global, 1);
        step.sources = vec![word(1)];
        let trace = launch(vec![step, exit()], 1, 1, |_, _| {
            let mut steps: Vec<Dynamic> = (0..count)
                .map(|index| Dynamic::at(0, 1, |_| address(index)))
                .collect();
            steps.push(Dynamic::plain(1));
            steps
        });
        run(spec, trace).cycles
    };
    (timed(40) - timed(20)) / 20
}

/// Wong et al., ISPASS 2010, measure about 440 cycles for a global read of a GT200 with nothing else going on. Rows change with every read here.
#[test]
fn an_unloaded_read_takes_what_was_measured() {
    let spec = one_sm();
    let row_set = u64::from(spec.dram.row_bytes * spec.dram.controllers * spec.dram.banks);
    let latency = load_to_load(&spec, |index| u64::from(index) * row_set);
    assert!((436..=444).contains(&latency), "{latency} cycles");
    let open_row = load_to_load(&spec, |_| 0);
    assert!(
        open_row < latency,
        "an open row saves its activation: {open_row}"
    );
}

fn one_access(kind: MemoryOpKind, address: impl Fn(u64) -> u64 + Copy) -> Run {
    let trace = launch(
        vec![access(Space::Global, kind, 1), exit()],
        1,
        1,
        |_, _| vec![Dynamic::at(0, ALL, address), Dynamic::plain(1)],
    );
    run(&one_sm(), trace)
}

#[test]
fn neighbouring_lanes_share_transactions() {
    let together = one_access(MemoryOpKind::Load, |lane| 0x1000 + 4 * lane);
    assert_eq!(
        together.activity.get("load_transactions"),
        2,
        "one a half-warp"
    );
    assert_eq!(together.activity.get("load_bytes"), 128);
    let apart = one_access(MemoryOpKind::Load, |lane| 0x1000 + 512 * lane);
    assert_eq!(apart.activity.get("load_transactions"), 32);
    assert_eq!(
        apart.activity.get("load_bytes"),
        32 * 32,
        "the smallest segments"
    );
    assert!(apart.cycles > together.cycles);
}

#[test]
fn stores_take_bandwidth_but_their_warp_goes_on() {
    let spec = one_sm();
    let kernel = |step: warpwatt_simt::trace::StaticInst| {
        launch(vec![step, add(5, &[1]), exit()], 1, 1, |_, _| {
            vec![
                Dynamic::at(0, ALL, |lane| 4 * lane),
                Dynamic::plain(1),
                Dynamic::plain(2),
            ]
        })
    };
    let stored = run(&spec, kernel(store(Space::Global, 1)));
    let loaded = run(&spec, kernel(load(Space::Global, 1)));
    assert_eq!(stored.activity.get("dram_writes"), 2);
    assert!(stored.activity.get("stall_memory") == 0 && loaded.activity.get("stall_memory") > 300);
}

#[test]
fn an_atomic_reads_and_writes() {
    let atomic = one_access(MemoryOpKind::Atomic, |_| 0x1000);
    assert_eq!(
        atomic.activity.get("atomic_transactions"),
        2,
        "one a half-warp"
    );
    assert_eq!(
        (
            atomic.activity.get("dram_reads"),
            atomic.activity.get("dram_writes")
        ),
        (2, 2)
    );
}

/// Each further word in a bank costs a pass of each half-warp: the slope is passes x pass_cycles.
#[test]
fn shared_memory_conflicts_cost_a_pass_each() {
    let spec = one_sm();
    let cycles = |stride: u64| {
        let mut step = load(Space::Shared, 1);
        step.sources = vec![word(1)];
        let trace = launch(vec![step, exit()], 1, 1, |_, _| {
            let mut steps: Vec<Dynamic> = (0..30)
                .map(|_| Dynamic::at(0, ALL, |lane| 4 * stride * lane))
                .collect();
            steps.push(Dynamic::plain(1));
            steps
        });
        run(&spec, trace).cycles
    };
    let free = cycles(1);
    for (stride, degree) in [(2, 2), (4, 4), (8, 8), (16, 16), (3, 1)] {
        let extra = 30 * (degree - 1) * 2 * u64::from(spec.shared.pass_cycles);
        assert_eq!(cycles(stride) - free, extra, "stride of {stride} words");
    }
}

#[test]
fn shared_loads_take_their_own_latency() {
    let spec = one_sm();
    let chain = |count: usize| {
        let mut step = load(Space::Shared, 1);
        step.sources = vec![word(1)];
        let mut code = vec![step; count];
        code.push(exit());
        run(&spec, straight(code, 1, 1)).cycles
    };
    assert_eq!(chain(20) - chain(10), 10 * u64::from(spec.shared.latency));
}

#[test]
fn parameters_never_leave_the_sm() {
    let run = run(
        &one_sm(),
        straight(
            vec![load(Space::Param, 1), load(Space::Const, 2), exit()],
            1,
            4,
        ),
    );
    assert_eq!(run.activity.get("constant_accesses"), 8);
    assert_eq!(run.activity.get("load_transactions"), 0);
}

/// By hand: four rows of eight lanes read four words that lie in two lines of 64 bytes.
#[test]
fn constants_take_a_turn_for_each_address_line_or_load() {
    let busy = |turns: ConstantTurns| {
        let mut spec = one_sm();
        spec.constant.turns = turns;
        spec.constant.misses = MissSource::Never;
        spec.constant.busy_cycles = 1;
        spec.constant.cache_line_bytes = 64;
        spec.ldst.lanes = spec.sm.warp_width;
        let trace = launch(vec![load(Space::Const, 1), exit()], 1, 1, |_, _| {
            let row = |lane: u64| 0x0400_0000 + 32 * (lane / 8);
            vec![Dynamic::at(0, ALL, row), Dynamic::plain(1)]
        });
        run(&spec, trace).activity.get("ldst_busy_cycles")
    };
    let turns = [
        ConstantTurns::Address,
        ConstantTurns::Line,
        ConstantTurns::Load,
    ];
    assert_eq!(turns.map(busy), [4, 2, 1]);
}

/// Thread-private words of neighbouring lanes are neighbours in memory.
#[test]
fn local_accesses_of_all_lanes_to_one_offset_coalesce() {
    let trace = launch(vec![load(Space::Local, 1), exit()], 1, 1, |_, _| {
        vec![Dynamic::at(0, ALL, |_| 0x0200_0000 + 16), Dynamic::plain(1)]
    });
    assert_eq!(run(&one_sm(), trace).activity.get("load_transactions"), 2);
}

/// Every warp reads `count` blocks of 128 bytes; block i of warp w is `block(w, i)`.
fn stream(spec: &GpuSpec, count: u64, block: impl Fn(u64, u64) -> u64 + Copy) -> Run {
    let code: Vec<_> = (0..4)
        .map(|register| load(Space::Global, 2 * register))
        .chain([exit()])
        .collect();
    let trace = launch(code, 16 * 4, 8, |cta, warp| {
        let number = u64::from(cta * 8 + warp);
        let mut steps: Vec<Dynamic> = (0..count)
            .map(|index| {
                Dynamic::at((index % 4) as u32, ALL, |lane| {
                    128 * block(number, index) + 4 * lane
                })
            })
            .collect();
        steps.push(Dynamic::plain(4));
        steps
    });
    run(spec, trace)
}

/// Six channels of 16 bytes a cycle at 800 MHz are 59 bytes a core cycle: reads in order come near, none goes beyond.
#[test]
fn streaming_reads_are_bound_by_the_memory_s_bandwidth() {
    let spec = gpu();
    let run = stream(&spec, 32, |warp, index| index * 512 + warp);
    let dram = &spec.dram;
    let peak = f64::from(dram.controllers * dram.bytes_per_cycle * dram.clock_mhz)
        / f64::from(spec.sm.clock_mhz);
    let achieved = run.activity.get("load_bytes") as f64 / run.cycles as f64;
    assert!(
        achieved < peak && achieved > 0.6 * peak,
        "{achieved:.1} of {peak:.1} bytes a cycle"
    );
}

#[test]
fn reads_that_jump_between_rows_open_more_rows() {
    let spec = gpu();
    let near = stream(&spec, 16, |warp, index| index * 512 + warp);
    let far = stream(&spec, 16, |warp, index| (warp * 16 + index) * 769);
    let hits = |run: &Run| {
        run.activity.get("dram_row_hits") as f64 / run.activity.get("dram_reads") as f64
    };
    assert!(
        hits(&near) > 0.6 && hits(&far) < 0.6 && hits(&far) < hits(&near),
        "{} {}",
        hits(&near),
        hits(&far)
    );
    assert!(far.cycles > near.cycles);
}

#[test]
fn two_sms_that_share_a_port_share_its_bandwidth() {
    let spec = gpu();
    let mut alone = spec.clone();
    alone.noc.sms_per_port = 1;
    let mut crowded = spec;
    crowded.noc.sms_per_port = 16;
    let ways =
        [alone, crowded].map(|spec| stream(&spec, 16, |warp, index| index * 512 + warp).cycles);
    assert!(ways[1] > 2 * ways[0], "{ways:?}");
}

/// One lane reads texels, each address from the one before; cycles a read.
fn texels(spec: &GpuSpec, texel: impl Fn(u64) -> u64 + Copy) -> (f64, Run) {
    let mut read = access(Space::Global, MemoryOpKind::Texture, 1);
    read.sources = vec![word(1)];
    let run = |count: u64| {
        let code = vec![read.clone(), exit()];
        run(
            spec,
            launch(code, 1, 1, |_, _| {
                let mut steps: Vec<Dynamic> = (0..count)
                    .map(|number| Dynamic::at(0, 1, |_| 0xc000_0000 + texel(number)))
                    .collect();
                steps.push(Dynamic::plain(1));
                steps
            }),
        )
    };
    let (few, many) = (run(100), run(300));
    ((many.cycles - few.cycles) as f64 / 200.0, many)
}

/// Texture reads have a cache of their own before Volta: a hit takes its latency, whatever the first-level data cache does, and a miss goes to memory.
#[test]
fn textures_are_read_through_their_own_cache() {
    for name in ["tesla-16sm", "gtx285", "gtx480", "fermi-16sm"] {
        let mut spec = GpuSpec::preset(name).unwrap();
        spec.sm.count = 1;
        let (hit, run) = texels(&spec, |_| 0);
        assert_eq!(hit, f64::from(spec.texture.latency), "{name}");
        let n = |counter| run.activity.get(counter);
        assert_eq!([n("texture_reads"), n("texture_misses")], [300, 1]);
        assert_eq!(n("l1_reads"), 0);
        let lines = u64::from(spec.texture.cache_bytes / spec.texture.cache_line_bytes);
        let bytes = u64::from(spec.texture.cache_line_bytes);
        let around = |lines: u64| texels(&spec, move |number| number % lines * bytes).1;
        assert_eq!(
            around(lines.min(50)).activity.get("texture_misses"),
            lines.min(50)
        );
        let mut small = spec.clone();
        small.texture.cache_bytes = spec.texture.cache_line_bytes * spec.texture.cache_ways;
        let ways = u64::from(spec.texture.cache_ways);
        let thrashed = texels(&small, move |number| number % (ways + 1) * bytes).1;
        assert_eq!(thrashed.activity.get("texture_misses"), 300, "{name}");
    }
    let mut spec = GpuSpec::preset("v100").unwrap();
    spec.sm.count = 1;
    let (hit, run) = texels(&spec, |_| 0);
    assert_eq!(hit, f64::from(spec.l1.latency));
    assert_eq!(run.activity.get("l1_reads"), 300);
}

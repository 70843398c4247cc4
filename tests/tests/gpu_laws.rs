//! Laws that hold for every program: what goes in comes out, and every cycle is put down to something.

mod settings;
mod suite;

use crate::gpu_support::*;
use proptest::prelude::*;
use warpwatt_activity::Activity;
use warpwatt_gpu::{
    BranchFetch, COUNTERS, Fill, GpuSpec, Hooks, MemoryPath, MissSource, Policy, Preset, Run,
    SECTOR_BYTES, Transactions, Unitless, presets, simulate,
};
use warpwatt_simt::trace::{KernelTrace, MemoryOpKind, Space, StaticInst, Unit};

fn any_inst() -> impl Strategy<Value = StaticInst> {
    let registers = prop::collection::vec(0u16..24, 0..4);
    let arithmetic = (
        prop_oneof![
            Just(Unit::Int),
            Just(Unit::Fp32),
            Just(Unit::Sfu),
            Just(Unit::Fp64)
        ],
        registers,
        0u16..24,
    )
        .prop_map(|(unit, sources, destination)| inst(unit, &sources, &[destination]));
    let spaces = prop_oneof![
        Just(Space::Global),
        Just(Space::Shared),
        Just(Space::Local),
        Just(Space::Param),
        Just(Space::Generic)
    ];
    let kinds = prop_oneof![
        Just(MemoryOpKind::Load),
        Just(MemoryOpKind::Store),
        Just(MemoryOpKind::Atomic),
        Just(MemoryOpKind::Texture)
    ];
    let memory = (spaces, kinds, 0u16..24).prop_map(|(space, kind, register)| {
        // Parameters are only read.
        let kind = match space {
            Space::Param => MemoryOpKind::Load,
            _ => kind,
        };
        access(space, kind, register)
    });
    prop_oneof![6 => arithmetic, 3 => memory, 1 => Just(inst(Unit::Control, &[1], &[])), 1 => Just(barrier()), 1 => Just(inst(Unit::Fence, &[], &[]))]
}

/// Random code, executed by each warp with its own jumps back; barriers wherever they fall, so that warps also meet the end while others wait.
fn any_launch() -> impl Strategy<Value = KernelTrace> {
    let code = prop::collection::vec(any_inst(), 1..90);
    (code, 1u32..5, 1u32..5, any::<u64>()).prop_map(|(mut code, ctas, warps, seed)| {
        code.push(exit());
        let kinds: Vec<bool> = code.iter().map(|inst| inst.memory.is_some()).collect();
        let mut random = seed | 1;
        let mut next = move || {
            random = random
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            random >> 33
        };
        launch(code, ctas, warps, move |_, _| {
            let mut steps = Vec::new();
            let mut at = 0;
            while at < kinds.len() && steps.len() < 300 {
                let executed = if next() % 4 == 0 { next() & ALL } else { ALL };
                let (base, stride) = (next() % 4096 * 4, [0, 4, 4, 8, 132][(next() % 5) as usize]);
                steps.push(match kinds[at] {
                    true => Dynamic::at(at as u32, executed, |lane| base + stride * lane),
                    false => Dynamic {
                        inst: at as u32,
                        executed,
                        addresses: None,
                    },
                });
                at = if next() % 12 == 0 {
                    at.saturating_sub((next() % 20) as usize)
                } else {
                    at + 1
                };
            }
            steps
        })
    })
}

fn any_gpu() -> impl Strategy<Value = GpuSpec> {
    (
        1u32..4,
        1u32..3,
        1u32..4,
        prop::sample::select(vec![
            Policy::RoundRobin,
            Policy::Gto,
            Policy::Oldest,
            Policy::TwoLevel,
            Policy::ActivePool,
            Policy::Fair,
            Policy::FirstReady,
        ]),
        1u32..7,
        prop_oneof![Just(8u32), Just(32)],
        (
            1u32..200,
            prop::sample::select(presets_of_32().collect::<Vec<_>>()),
            prop::sample::select(vec![0, 2048]),
        ),
    )
        .prop_map(
            |(sms, stages, entries, policy, regions, lanes, (outstanding, preset, second))| {
                let mut spec = preset.spec().unwrap();
                if spec.icache.misses != MissSource::Never {
                    spec.l15.bytes = second;
                }
                spec.sm.count = sms;
                spec.fetch.stages = stages;
                spec.fetch.buffer_entries = entries.max(spec.fetch.instructions);
                spec.scheduler.policy = policy;
                spec.scheduler.active_warps = 2;
                spec.scoreboard.regions = regions;
                spec.units.sp.lanes = lanes;
                spec.ldst.outstanding = outstanding;
                spec
            },
        )
}

fn conserved(spec: &GpuSpec, trace_instructions: u64, run: &Run) -> Result<(), TestCaseError> {
    let n = |name: &str| {
        assert!(
            COUNTERS.iter().any(|info| info.name == name),
            "{name} is documented"
        );
        run.activity.get(name)
    };
    prop_assert_eq!(n("warp_instructions"), trace_instructions);
    prop_assert_eq!(
        n("fetches"),
        n("warp_instructions") + n("flushed_instructions")
    );
    prop_assert_eq!(
        n("icache.tag.read"),
        n("fetch_grants") - n("filtered_fetches")
    );
    prop_assert_eq!(n("icache.data.read"), n("icache.tag.read"));
    prop_assert_eq!(
        n("icache_misses"),
        n("icache_fills") + n("icache_mshr_merges")
    );
    prop_assert_eq!(n("icache.tag.write"), n("icache_fills"));
    prop_assert_eq!(
        n("icache.data.write"),
        n("icache_fills") * u64::from(spec.icache.line_bytes / spec.icache.word_bytes)
    );
    if spec.icache.misses == MissSource::Memory {
        prop_assert!(n("code_transactions") <= n("icache_fills"));
        prop_assert!(spec.l15.bytes > 0 || n("code_transactions") == n("icache_fills"));
    }
    prop_assert!(n("l15.data.read") + n("l15_misses") <= n("l15.tag.read"));
    prop_assert_eq!(n("l15.data.write"), n("l15.tag.write"));
    prop_assert_eq!(n("instruction_buffer.write"), n("fetches"));
    prop_assert_eq!(n("instruction_buffer.read"), n("warp_instructions"));
    prop_assert_eq!(n("scoreboard.read"), n("warp_instructions"));
    prop_assert_eq!(n("scoreboard.write") % 2, 0, "what is reserved is released");
    prop_assert_eq!(n("register_file.read"), n("operand_buffer.write"));
    prop_assert_eq!(n("operand_buffer.read"), n("operand_buffer.write"));
    let issued = [
        "issued_sp",
        "issued_int",
        "issued_tensor",
        "issued_sfu",
        "issued_fp64",
        "issued_scalar",
        "issued_ldst",
        "issued_barrier",
    ]
    .map(n);
    prop_assert_eq!(issued.iter().sum::<u64>(), n("warp_instructions"));
    let beside = match spec.scheduler.unitless {
        Unitless::Slot => 0,
        Unitless::Beside => n("issued_barrier"),
    };
    let together = u64::from(spec.scheduler.count * spec.scheduler.width);
    prop_assert!(
        n("issue_cycles") <= n("warp_instructions")
            && n("warp_instructions") - beside <= together * n("issue_cycles"),
        "as many issues a cycle as schedulers may do"
    );
    memory_conserved(spec, n)?;
    units_conserved(spec, run)?;
    every_cycle_is_put_down(spec, run)?;
    let mut total = Activity::new();
    for sm in &run.per_sm {
        total += sm;
    }
    for (name, count) in total.iter() {
        prop_assert_eq!(run.activity.get(name), count, "{}", name);
    }
    Ok(())
}

/// Every cycle of every SM is put down to something.
fn every_cycle_is_put_down(spec: &GpuSpec, run: &Run) -> Result<(), TestCaseError> {
    let cycles: u64 = COUNTERS
        .iter()
        .filter(|info| {
            info.name.starts_with("stall_") || ["issue_cycles", "idle_cycles"].contains(&info.name)
        })
        .map(|info| run.activity.get(info.name))
        .sum();
    prop_assert_eq!(cycles, run.cycles * u64::from(spec.sm.count));
    Ok(())
}

/// The longest interval of any class of instructions.
fn longest_interval(timing: &toml::Value) -> u64 {
    let Some(table) = timing.as_table() else {
        return 0;
    };
    let inside = table.iter().map(|(name, value)| match value.as_integer() {
        Some(cycles) if name == "interval" => cycles as u64,
        _ => longest_interval(value),
    });
    inside.max().unwrap_or(0)
}

/// By how many cycles an instruction may keep its unit beyond the end of a run: none with intervals that ship, which are shorter than what waits for a result.
fn outlasts(spec: &GpuSpec) -> u64 {
    let ships = |preset: &Preset| preset.spec().unwrap().timing == spec.timing;
    if presets().iter().any(ships) {
        return 0;
    }
    let timing = toml::Value::try_from(&spec.timing).expect("settings are a table");
    longest_interval(&timing) - 1
}

/// A unit is taken by the instructions that were issued to it, and never twice at once.
fn units_conserved(spec: &GpuSpec, run: &Run) -> Result<(), TestCaseError> {
    for (kind, count) in spec.units_by_kind() {
        let busy = run.activity.get(&format!("{kind}_busy_cycles"));
        let issued = run.activity.get(&format!("issued_{kind}"));
        prop_assert!(busy >= issued, "{kind}: {busy} cycles for {issued}");
        let units = u64::from(spec.sm.count) * u64::from(count);
        let whole = run.cycles * units;
        let within = busy <= whole || busy <= whole + outlasts(spec) * units;
        prop_assert!(within, "{kind}: {busy} of {whole} cycles");
    }
    Ok(())
}

/// What leaves one level arrives at the next.
fn memory_conserved(spec: &GpuSpec, n: impl Fn(&str) -> u64) -> Result<(), TestCaseError> {
    let sector = u64::from(SECTOR_BYTES);
    prop_assert!(n("texture_reads") >= n("texture_merges") + n("texture_misses"));
    for level in ["l1", "l2"] {
        let parts = ["hits", "merges", "misses"].map(|part| n(&format!("{level}_read_{part}")));
        let crossings = if level == "l2" { n("l2_crossings") } else { 0 };
        prop_assert_eq!(
            n(&format!("{level}_reads")),
            parts.iter().sum::<u64>() + crossings
        );
    }
    if spec.ldst.memory != MemoryPath::System {
        prop_assert_eq!(n("dram_reads") + n("dram_writes") + n("l2_reads"), 0);
        return Ok(());
    }
    let served = n("dram_row_hits") + n("dram_row_misses");
    let asked = n("dram_reads") + n("dram_writes");
    // Without a second-level cache a request is one of DRAM, and an atomic reads and writes; where sectors are counted, a request is several transactions.
    let whole = spec.has_l2() || spec.ldst.transactions == Transactions::Segments;
    if spec.has_l2() {
        prop_assert_eq!(served, asked);
    } else if whole {
        prop_assert_eq!(served, asked - n("atomic_transactions"));
    } else {
        prop_assert!(served <= asked && asked <= 2 * served);
    }
    if spec.has_l1() && spec.l1.fill == Fill::Sector && n("atomic_transactions") == 0 {
        prop_assert_eq!(n("l1_read_misses") * sector, n("load_bytes"));
    }
    if spec.has_l1() && n("atomic_transactions") == 0 {
        prop_assert_eq!(n("l1_writes") * sector, n("store_bytes"));
    }
    if !whole {
        let transactions = n("load_transactions") + n("atomic_transactions");
        prop_assert!(n("dram_reads") <= transactions);
        return Ok(());
    }
    if !spec.has_l2() {
        prop_assert_eq!(
            n("dram_reads"),
            n("load_transactions") + n("atomic_transactions") + n("texture_transactions")
        );
        prop_assert_eq!(
            n("dram_writes"),
            n("store_transactions") + n("atomic_transactions")
        );
        return Ok(());
    }
    prop_assert_eq!(n("l2_writes") * sector, n("store_bytes"));
    let line = |bytes: u32| u64::from(bytes.div_ceil(SECTOR_BYTES));
    let code = n("code_transactions") * line(spec.icache.line_bytes);
    // What crosses between partitions is looked up twice.
    let asked = n("l2_reads") - n("l2_crossings");
    let constants = asked * sector - n("load_bytes") - code * sector;
    prop_assert_eq!(
        constants % (line(spec.constant.cache_line_bytes) * sector),
        0,
        "whole lines of constants"
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_and_nothing_appears(spec in any_gpu(), launches in prop::collection::vec(any_launch(), 1..3)) {
        let instructions = launches.iter().map(KernelTrace::warp_instructions).sum();
        let run = simulate(&spec, &launches, Hooks::default()).unwrap();
        conserved(&spec, instructions, &run)?;
        prop_assert_eq!(run.activity.get("launches"), launches.len() as u64);
        let again = simulate(&spec, &launches, Hooks::default()).unwrap();
        prop_assert_eq!(run, again, "the same input gives the same run");
    }

    /// The smallest queues hold everything up and nothing for ever, and lose nothing.
    #[test]
    fn queues_of_one_do_not_lock(spec in any_gpu(), trace in any_launch()) {
        let mut small = spec.clone();
        let (l1, l2, noc, dram) = (&mut small.l1, &mut small.l2, &mut small.noc, &mut small.dram);
        (l1.mshrs, l1.merges, l1.miss_queue) = (1, 1, 0);
        (l2.mshrs, l2.merges, l2.queue, l2.dram_queue, l2.reply_queue) = (1, 1, 1, 1, 1);
        (noc.input_queue, noc.output_queue) = (1, 0);
        (dram.queue, dram.in_flight) = (1, 1);
        let launches = [trace];
        let run = simulate(&small, &launches, Hooks::default()).unwrap();
        conserved(&small, launches[0].warp_instructions(), &run)?;
    }

    /// A pipeline stage more in fetch never changes what is executed. It costs time, but not always: another order of warps may meet the memory better.
    #[test]
    fn a_fetch_stage_changes_only_time(spec in any_gpu(), trace in any_launch()) {
        let launches = [trace];
        let runs = [1, 2].map(|stages| {
            let mut spec = spec.clone();
            spec.fetch.stages = stages;
            simulate(&spec, &launches, Hooks::default()).unwrap()
        });
        let mut same = vec!["warp_instructions", "thread_instructions", "register_file.read", "store_bytes", "shared_passes"];
        // What a cache holds, and what is fetched by mistake, depends on the order of things.
        if !spec.has_l1() {
            same.push("load_transactions");
        }
        if spec.fetch.branches == BranchFetch::Stall {
            same.push("fetches");
        }
        for name in same {
            prop_assert_eq!(runs[0].activity.get(name), runs[1].activity.get(name), "{}", name);
        }
    }
}

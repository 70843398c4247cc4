//! Micro-benchmarks on the presets with caches: what the literature measures on hardware is here what the settings say.

mod gpu_support;

use gpu_support::*;
use warpwatt_gpu::{GpuSpec, Run};
use warpwatt_simt::trace::{KernelTrace, MemoryOpKind, Space, StaticInst};

const CACHED: [&str; 3] = ["gtx480", "v100", "h200"];

fn preset(name: &str) -> GpuSpec {
    let mut spec = GpuSpec::preset(name).unwrap();
    spec.sm.count = 1;
    spec
}

/// A load whose address is what the load before it brought.
fn chase() -> StaticInst {
    let mut load = load(Space::Global, 1);
    load.sources = vec![word(1)];
    load
}

/// One lane follows `hops` pointers, the n-th at `address(n)`.
fn pointers(hops: u64, address: impl Fn(u64) -> u64) -> KernelTrace {
    launch(vec![chase(), exit()], 1, 1, |_, _| {
        let mut steps: Vec<Dynamic> = (0..hops)
            .map(|hop| Dynamic::at(0, 1, |_| 0xc000_0000 + address(hop)))
            .collect();
        steps.push(Dynamic::plain(1));
        steps
    })
}

/// Cycles a hop, with what happens only once left out.
fn latency(spec: &GpuSpec, address: impl Fn(u64) -> u64 + Copy) -> f64 {
    let cycles = |hops| run(spec, pointers(hops, address)).cycles;
    (cycles(300) - cycles(100)) as f64 / 200.0
}

/// The same word over and over: a first-level hit.
#[test]
fn a_pointer_chase_in_the_first_level_takes_its_latency() {
    for name in CACHED {
        let spec = preset(name);
        assert_eq!(latency(&spec, |_| 0), f64::from(spec.l1.latency), "{name}");
    }
}

/// Two rounds over more lines than the first level holds and fewer than the second: from the first level's look-up to the slice and back.
#[test]
fn a_pointer_chase_in_the_second_level_adds_the_way_there_and_back() {
    for name in CACHED {
        let mut spec = preset(name);
        (spec.l1.kb, spec.l1.ways) = (1, 8);
        // Twice around 64 lines of 128 bytes: the second round hits the second level.
        let address = |hop: u64| hop % 64 * 128;
        let round = |from: u64, to: u64| {
            let cycles = |hops| run(&spec, pointers(hops, address)).cycles;
            (cycles(to) - cycles(from)) as f64 / (to - from) as f64
        };
        let ours = round(128, 256);
        let hop = f64::from(spec.l1.latency + spec.l2.latency_cycles + 2 * spec.noc.latency);
        // A packet each way, and the sectors of a line one by one where it comes whole.
        assert!(
            (hop + 2.0..=hop + 8.0).contains(&ours),
            "{name}: {ours}, the settings say {hop} and packets"
        );
    }
}

/// Every hop in another row of another bank: activation, column access and burst on top of the second level's miss.
#[test]
fn a_pointer_chase_in_memory_adds_a_row_activation() {
    for name in CACHED {
        let spec = preset(name);
        let ours = latency(&spec, |hop| hop * 1_000_192);
        let dram = spec.dram.rcd + spec.dram.cas + spec.dram.burst;
        let core = f64::from(dram) * f64::from(spec.sm.clock_mhz) / f64::from(spec.dram.clock_mhz);
        let hop = f64::from(
            spec.l1.latency + spec.l2.latency_cycles + spec.l2.miss_cycles + 2 * spec.noc.latency,
        ) + core;
        // Packets and columns of a line; now and then a row must be closed first.
        assert!(
            (hop..hop + 30.0).contains(&ours),
            "{name}: {ours}, the settings say {hop}"
        );
    }
}

/// The published latencies of an H100, which the preset of the H200 stands on: 40.7, about 262 and 478.8 cycles.
#[test]
fn the_h200_has_the_latencies_it_stands_on() {
    let spec = preset("h200");
    assert!((latency(&spec, |_| 0) - 40.7).abs() < 1.0);
    let far = latency(&spec, |hop| hop * 1_000_192);
    assert!((far / 478.8 - 1.0).abs() < 0.05, "{far}");
}

/// All SMs read neighbouring lines once: as many bytes a second as the narrowest of network, slices and data buses lets through.
fn stream(spec: &GpuSpec) -> (f64, Run) {
    let warps = u64::from(spec.warps_per_sm());
    let ctas = u64::from(spec.sm.count) * u64::from(spec.sm.ctas.min(4));
    let per_cta = (warps / u64::from(spec.sm.ctas.min(4))).min(16);
    let loads = 24;
    let code: Vec<StaticInst> = (0..loads)
        .map(|number| load(Space::Global, number))
        .chain([exit()])
        .collect();
    let lines = ctas * per_cta;
    let trace = launch(code, ctas as u32, per_cta as u32, |cta, warp| {
        let line = u64::from(cta) * per_cta + u64::from(warp);
        let mut steps: Vec<Dynamic> = (0..u32::from(loads))
            .map(|number| {
                let base = 0xc000_0000 + 128 * (u64::from(number) * lines + line);
                Dynamic::at(number, ALL, |lane| base + 4 * lane)
            })
            .collect();
        steps.push(Dynamic::plain(u32::from(loads)));
        steps
    });
    let run = run(spec, trace);
    let bytes = run.activity.get("load_bytes") as f64;
    (bytes / run.cycles as f64, run)
}

#[test]
fn a_stream_reaches_the_bandwidth_of_the_narrowest_part() {
    for name in CACHED {
        let mut spec = GpuSpec::preset(name).unwrap();
        // Fewer controllers, so that a short run fills them.
        let keep = 4;
        spec.l2.kb = spec.l2.kb / spec.dram.controllers * keep;
        spec.dram.controllers = keep;
        spec.sm.count = 15;
        let (ours, _) = stream(&spec);
        let column = f64::from(spec.dram.burst.max(1));
        let dram = f64::from(keep) * 32.0 / column * f64::from(spec.dram.clock_mhz)
            / f64::from(spec.sm.clock_mhz);
        let slices = f64::from(spec.slices()) * 32.0;
        let limit = dram.min(slices);
        assert!(
            ours <= limit * 1.001,
            "{name}: {ours} bytes a cycle, the settings allow {limit}"
        );
        assert!(
            ours > limit * 0.75,
            "{name}: {ours} bytes a cycle of {limit}"
        );
    }
}

/// A warp needs 32 registers of a thread or 64: half as many CTAs fit.
#[test]
fn occupancy_falls_in_steps() {
    let spec = GpuSpec::preset("v100").unwrap();
    for (registers, ctas) in [(16, 8), (32, 8), (33, 7), (64, 4), (128, 2), (255, 1)] {
        let mut trace = straight(vec![exit()], 1, 8);
        trace.launch.registers = registers;
        assert_eq!(
            run(&spec, trace).launches[0].ctas_per_sm,
            ctas,
            "{registers}"
        );
    }
}

/// What resident CTAs keep in shared memory is not there for the first level.
#[test]
fn shared_memory_takes_its_share_of_the_first_level() {
    let spec = preset("v100");
    let lines = 512;
    let misses = |shared_bytes| {
        let mut trace = pointers(2 * lines, |hop| hop % lines * 128);
        trace.launch.shared_bytes = shared_bytes;
        run(&spec, trace).activity.get("l1_read_misses")
    };
    assert_eq!(misses(0), lines, "64 KB fit 128: the second round hits");
    assert_eq!(misses(96 * 1024), 2 * lines, "64 KB do not fit 32");
}

/// Wider units, more schedulers and bigger caches never slow these kernels by more than the anomaly of another order.
#[test]
fn more_of_anything_does_not_slow_a_stream_down() {
    /// Another order of requests may meet DRAM worse.
    const ANOMALY: f64 = 1.03;
    let mut spec = GpuSpec::preset("gtx480").unwrap();
    spec.sm.count = 4;
    let cycles = |spec: &GpuSpec| stream(spec).1.cycles as f64;
    let base = cycles(&spec);
    let changes: [fn(&mut GpuSpec); 5] = [
        |spec| spec.l1.mshrs *= 2,
        |spec| spec.l2.latency_cycles /= 2,
        |spec| spec.dram.burst = 1,
        |spec| spec.noc.latency /= 2,
        |spec| spec.l1.kb *= 2,
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut better = spec.clone();
        change(&mut better);
        assert!(cycles(&better) <= base * ANOMALY, "change {number}");
    }
}

#[test]
fn stores_of_a_line_are_written_back_once_it_is_evicted() {
    let mut spec = preset("gtx480");
    spec.l2.kb = 12;
    spec.l2.ways = 1;
    let lines = 400;
    let trace = launch(
        vec![access(Space::Global, MemoryOpKind::Store, 1), exit()],
        1,
        1,
        |_, _| {
            let mut steps: Vec<Dynamic> = (0..lines)
                .map(|line| Dynamic::at(0, ALL, |lane| 0xc000_0000 + 128 * line + 4 * lane))
                .collect();
            steps.push(Dynamic::plain(1));
            steps
        },
    );
    let run = run(&spec, trace);
    assert_eq!(run.activity.get("l2_writes"), 4 * lines);
    let kept = u64::from(spec.l2.kb) * 1024 / 32;
    assert!(run.activity.get("l2_write_backs") >= 4 * lines - kept);
}

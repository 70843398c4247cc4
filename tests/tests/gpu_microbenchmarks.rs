//! Micro-benchmarks on the presets with caches: what the literature measures on hardware is here what the settings say.

use crate::gpu_support::*;
use warpwatt_gpu::{GpuSpec, Policy, SECTOR_BYTES, Transactions};
use warpwatt_simt::trace::{KernelTrace, MemoryOpKind, Space, StaticInst};

const CACHED: [&str; 10] = [
    "gtx480",
    "gtx-titan-x",
    "titan-x-pascal",
    "titan-xp",
    "v100",
    "titan-v",
    "rtx2060s",
    "a100",
    "h100",
    "h200",
];

/// Those that these tests fill.
const FILLED: [&str; 3] = ["gtx480", "v100", "h200"];

/// A known gap: what an SM gets of the two sectors a cycle that its port takes.
const SHORT_OF_PORT: [(&str, f64); 1] = [("h200", 0.96)];

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

/// Cycles of a second-level hit, from issue to issue.
fn second_level(spec: &GpuSpec) -> f64 {
    let mut spec = spec.clone();
    (spec.l1.kb, spec.l1.ways) = (1, 8);
    // Twice around 64 lines of 128 bytes: the second round hits the second level.
    let address = |hop: u64| hop % 64 * 128;
    let cycles = |hops| run(&spec, pointers(hops, address)).cycles;
    (cycles(256) - cycles(128)) as f64 / 128.0
}

/// Two rounds over more lines than the first level holds and fewer than the second: from the first level's look-up to the slice and back.
#[test]
fn a_pointer_chase_in_the_second_level_adds_the_way_there_and_back() {
    for name in CACHED {
        let spec = preset(name);
        let ours = second_level(&spec);
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
        // Half of the hops cross to the far partition and back.
        let crossing = (spec.l2.partitions - 1) * spec.l2.crossing_cycles;
        let hop = f64::from(
            spec.l1.latency + spec.l2.latency_cycles + spec.l2.miss_cycles + 2 * spec.noc.latency,
        ) + core
            + f64::from(crossing);
        // Packets and columns of a line; now and then a row must be closed first.
        assert!(
            (hop..hop + 30.0).contains(&ours),
            "{name}: {ours}, the settings say {hop}"
        );
    }
}

/// Published latencies of the first level, the second and memory, in cycles; 0 where none is known of the chip. The sources are those of the presets: gpu-benches
/// of RRZE-HPC for V100 and A100, `workloads/silicon/measured` for H100 and H200, Jia et al. for what is older.
const PUBLISHED: [(&str, f64, f64, f64); 7] = [
    ("gtx-titan-x", 82.0, 207.0, 0.0),
    ("titan-xp", 82.0, 216.0, 0.0),
    ("titan-v", 28.0, 212.1, 425.5),
    ("rtx2060s", 32.0, 188.0, 0.0),
    ("a100", 33.0, 205.5, 551.1),
    ("h100", 32.2, 280.0, 683.7),
    ("h200", 32.2, 280.8, 684.7),
];

#[test]
fn products_have_the_latencies_that_were_measured() {
    for (name, first, second, memory) in PUBLISHED {
        let spec = preset(name);
        let far = latency(&spec, |hop| hop * 1_000_192);
        let ours = [latency(&spec, |_| 0), second_level(&spec), far];
        for (ours, theirs) in ours.into_iter().zip([first, second, memory]) {
            let known = theirs > 0.0;
            assert!(
                !known || (ours / theirs - 1.0).abs() < 0.05,
                "{name}: {ours}, published {theirs}"
            );
        }
    }
}

/// Registers that a bandwidth kernel loads into, one after the other.
const LOADS: u32 = 24;

/// `warps` warps of all SMs load a line each, over and over: the line of warp `warp` in step `step` is `line(warp, step)`.
fn loads(
    spec: &GpuSpec,
    (space, base): (Space, u64),
    steps: u64,
    line: impl Fn(u64, u64) -> u64,
) -> KernelTrace {
    let code: Vec<StaticInst> = (0..LOADS)
        .map(|number| load(space, number as u16))
        .chain([exit()])
        .collect();
    let per_cta = (spec.warps_per_sm() / 4).min(8);
    let ctas = spec.sm.count * (spec.warps_per_sm() / per_cta).min(spec.sm.ctas);
    launch(code, ctas, per_cta, |cta, warp| {
        let number = u64::from(cta * per_cta + warp);
        let mut trace: Vec<Dynamic> = (0..steps)
            .map(|step| {
                let first = base + 128 * line(number, step);
                Dynamic::at((step % u64::from(LOADS)) as u32, ALL, |lane| {
                    first + 4 * lane
                })
            })
            .collect();
        trace.push(Dynamic::plain(LOADS));
        trace
    })
}

/// Bytes a cycle in the long run: the bytes and the cycles that a longer run has more. Where it starts and ends differs by a few cycles.
fn bandwidth(spec: &GpuSpec, place: (Space, u64), line: impl Fn(u64, u64) -> u64 + Copy) -> f64 {
    let (short, long) = (u64::from(LOADS), 4 * u64::from(LOADS));
    let mut spec = spec.clone();
    // No warp is left behind, so that all of them end together.
    spec.scheduler.policy = Policy::RoundRobin;
    let timed = |steps| {
        let trace = loads(&spec, place, steps, line);
        let warps = trace.launch.ctas() as u64 * u64::from(trace.launch.block[0] / 32);
        let loads = trace.warp_instructions() - warps;
        (128 * loads, run(&spec, trace).cycles)
    };
    let ((less, start), (more, end)) = (timed(short), timed(long));
    (more - less) as f64 / (end - start) as f64
}

const GLOBAL: (Space, u64) = (Space::Global, 0xc000_0000);

fn near(name: &str, ours: f64, limit: f64) {
    assert!(
        (0.95..=1.02).contains(&(ours / limit)),
        "{name}: {ours} bytes a cycle, the settings allow {limit}"
    );
}

/// Every warp reads its own shared memory: banks x 4 bytes a cycle, fewer where a warp's addresses take longer to form.
#[test]
fn shared_memory_reaches_its_bandwidth() {
    for name in CACHED {
        let spec = preset(name);
        let banks = f64::from(4 * spec.shared.banks) / f64::from(spec.shared.pass_cycles);
        let ours = bandwidth(&spec, (Space::Shared, 0x0100_0000), |_, _| 0);
        near(name, ours, banks);
    }
}

/// Hits: a line a cycle, or a sector of each bank.
#[test]
fn the_first_level_reaches_its_bandwidth() {
    for name in CACHED {
        let spec = preset(name);
        let ours = bandwidth(&spec, GLOBAL, |warp, _| warp % 4);
        let width = match spec.ldst.transactions {
            Transactions::Segments => spec.l1.line_bytes,
            Transactions::Sectors => SECTOR_BYTES,
        };
        near(name, ours, f64::from(width * spec.l1.banks));
    }
}

/// Lines that the first level does not hold and the second does. One SM gets a sector in each packet, as many at once as its port takes; many SMs get what the slices of a controller look up, a
/// sector a cycle. More slices and SMs at once lose a part to packets that wait for those before them.
#[test]
fn the_second_level_reaches_its_bandwidth() {
    for name in FILLED {
        let mut spec = preset(name);
        // Whether a request meets a refresh is chance.
        spec.dram.refresh_interval = 0;
        spec.l1.ways = 128 / spec.l1_sets();
        spec.l1.kb = 16;
        // Neighbours in a step, and no line again before the first level has lost it.
        let around = |warp, step| (warp + 341 * step) % 768;
        let flits = (spec.noc.header_bytes + SECTOR_BYTES).div_ceil(spec.noc.flit_bytes);
        let port = f64::from(SECTOR_BYTES / flits * spec.noc.port_flits);
        let share = bandwidth(&spec, GLOBAL, around) / port;
        match SHORT_OF_PORT.iter().find(|(short, _)| short == &name) {
            None => near(name, share, 1.0),
            Some((_, known)) => assert!((share - known).abs() < 0.02, "{name}: {share}"),
        }
        spec.l2.kb /= spec.dram.controllers;
        spec.dram.controllers = 1;
        spec.sm.count = 12;
        let slices = f64::from(spec.l2.slices * SECTOR_BYTES);
        near(name, bandwidth(&spec, GLOBAL, around), slices);
    }
}

/// All SMs read neighbouring lines once. A column access moves a sector, whatever else it could move. Banks that are refreshed hold up little: silicon reads
/// and writes at 0.92 to 0.98 of its peak.
#[test]
fn memory_reaches_its_bandwidth() {
    let share = |spec: &GpuSpec| bandwidth(spec, GLOBAL, neighbours(spec)) / memory_limit(spec);
    for name in FILLED.iter().chain(&["a100", "h100"]) {
        let mut spec = few_channels(name);
        let refreshed = share(&spec);
        spec.dram.refresh_interval = 0;
        let all = share(&spec);
        near(name, all, 1.0);
        assert!(refreshed > 0.92 * all, "{name}: {refreshed} of {all}");
    }
}

/// Fewer controllers, so that a short run fills them.
fn few_channels(name: &str) -> GpuSpec {
    let mut spec = GpuSpec::preset(name).unwrap();
    let keep = 4;
    spec.l2.kb = spec.l2.kb / spec.dram.controllers * keep;
    spec.dram.controllers = keep;
    spec.sm.count = 15;
    spec
}

/// In each step, the warps read neighbouring lines.
fn neighbours(spec: &GpuSpec) -> impl Fn(u64, u64) -> u64 + Copy + use<> {
    let warps = u64::from(spec.sm.count * spec.warps_per_sm());
    move |warp, step| step * warps + warp
}

/// Bytes a core cycle.
fn memory_limit(spec: &GpuSpec) -> f64 {
    let dram = &spec.dram;
    let columns = f64::from(dram.controllers) / f64::from(dram.burst);
    columns * f64::from(SECTOR_BYTES) * f64::from(dram.clock_mhz) / f64::from(spec.sm.clock_mhz)
}

/// Lanes on one address take an interval each in the second level, whatever else goes on; lanes on neighbouring words take a sector each.
#[test]
fn atomics_on_one_address_take_an_interval_each() {
    for name in FILLED {
        let spec = preset(name);
        let timed = |warps: u32, stride: u64| {
            let code = vec![access(Space::Global, MemoryOpKind::Atomic, 1), exit()];
            let trace = launch(code, 1, warps, |_, _| {
                vec![
                    Dynamic::at(0, ALL, |lane| 0xc000_0000 + stride * lane),
                    Dynamic::plain(1),
                ]
            });
            run(&spec, trace).cycles
        };
        // So many that their intervals are longer than the miss for which the first of them wait together.
        let each = |stride| (timed(48, stride) - timed(32, stride)) as f64 / 16.0;
        let interval = f64::from(32 * spec.l2.atomic_cycles);
        assert!((each(0) - interval).abs() <= 1.0, "{name}: {}", each(0));
        assert!(each(4) <= 8.0, "{name}: {} without conflicts", each(4));
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

/// What there is more of, and the change.
type Better = (&'static str, fn(&mut GpuSpec));

/// More of anything in the memory system never slows a stream, or a walk over what the second level holds, by more than the anomaly of another order.
#[test]
fn more_memory_of_any_kind_does_not_slow_down() {
    /// Another order of requests may meet rows and slices worse.
    const ANOMALY: f64 = 1.03;
    let changes: [Better; 14] = [
        ("misses of the first level", |spec| spec.l1.mshrs *= 2),
        ("loads that wait for one miss", |spec| spec.l1.merges *= 2),
        ("a longer queue for misses", |spec| spec.l1.miss_queue *= 2),
        ("a larger first level", |spec| spec.l1.kb *= 2),
        ("a faster second level", |spec| spec.l2.latency_cycles /= 2),
        ("misses of the second level", |spec| spec.l2.mshrs *= 2),
        ("a longer queue of slices", |spec| spec.l2.queue *= 2),
        ("a longer queue for memory", |spec| spec.l2.dram_queue *= 2),
        ("a longer queue for replies", |spec| {
            spec.l2.reply_queue *= 2
        }),
        ("a faster network", |spec| spec.noc.latency /= 2),
        ("a wider network", |spec| spec.noc.input_speedup *= 2),
        ("more requests in memory", |spec| spec.dram.in_flight *= 2),
        ("faster columns", |spec| spec.dram.burst = 1),
        ("more controllers", |spec| {
            spec.dram.controllers *= 2;
            spec.l2.kb *= 2;
        }),
    ];
    for name in FILLED {
        let mut spec = few_channels(name);
        // Whether a request meets a refresh is chance.
        spec.dram.refresh_interval = 0;
        let held = u64::from(spec.l2.kb) * 4;
        let kernels: [&dyn Fn(&GpuSpec) -> KernelTrace; 2] =
            [&|spec| loads(spec, GLOBAL, 48, neighbours(spec)), &|spec| {
                loads(spec, GLOBAL, 48, |warp, step| (11 * warp + 3 * step) % held)
            }];
        for kernel in kernels {
            let cycles = |spec: &GpuSpec| run(spec, kernel(spec)).cycles as f64;
            let base = cycles(&spec);
            for (what, change) in changes {
                let mut better = spec.clone();
                change(&mut better);
                let slower = cycles(&better) / base;
                assert!(slower <= ANOMALY, "{name}, {what}: {slower}");
            }
        }
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

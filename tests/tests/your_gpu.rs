//! The micro-benchmarks that a user runs on a GPU of their own (docs/your-gpu.md) do what their table says: executed here, each counts as many operations and
//! bytes as `micro.cuh` states, on numbers that neither settle nor overflow.
//!
//! `data/your_gpu/kernels.ptx` is `workloads/your_gpu/kernels.cuh` as nvcc 13.5 compiles it: `nvcc -std=c++17 -O3 -fmad=false -arch=compute_80 -ptx`.

use std::collections::{BTreeMap, BTreeSet};

use warpwatt_ptx::types::Type;
use warpwatt_ptx::{Module, load};
use warpwatt_simt::{Border, DeviceMemory, Execution, Filter, Launch, Options, Texture, execute};

const PTX: &str = include_str!("../data/your_gpu/kernels.ptx");
const MICRO: &str = include_str!("../../workloads/your_gpu/micro.cuh");
const PAGE: &str = include_str!("../../docs/your-gpu.md");

const THREADS: u32 = 64;
/// Of 16 bytes: as many as the kernels that keep to a table or the first level touch.
const WORDS: u32 = 1024;

/// A row of the table in `micro.cuh`.
struct Row<'t> {
    name: &'t str,
    kernel: &'t str,
    data: &'t str,
    operation: &'t str,
    operations: f64,
    bytes: f64,
}

fn rows() -> Vec<Row<'static>> {
    let lines = MICRO
        .lines()
        .map(str::trim)
        .filter_map(|line| line.strip_prefix("{\""));
    let rows = lines.map(|line| {
        let cells: Vec<&str> = line
            .split(", ")
            .map(|cell| cell.trim_matches('"'))
            .collect();
        Row {
            name: cells[0].trim_end_matches('"'),
            kernel: cells[2],
            data: cells[3],
            operation: cells[8],
            operations: cells[9].parse().unwrap(),
            bytes: cells[10].parse().unwrap(),
        }
    });
    rows.collect()
}

/// What `word_of` in `device.cuh` says.
fn word(data: &str, place: u32) -> u32 {
    let mut bits = place.wrapping_add(0x9e37_79b9);
    bits = (bits ^ bits >> 16).wrapping_mul(0x7feb_352d);
    bits = (bits ^ bits >> 15).wrapping_mul(0x846c_a68b);
    bits ^= bits >> 16;
    match data {
        "zeros" => 0,
        "bits" => bits,
        "floats" => (0.25 + (bits >> 8) as f32 / 16_777_216.0).to_bits(),
        "halves" => (bits & 0x07ff_07ff) + 0x3400_3400,
        "brains" => (bits & 0x80ff_80ff) + 0x3e80_3e80,
        other => panic!("data `{other}`"),
    }
}

/// A run of one CTA, and what it left.
fn run(module: &Module, row: &Row<'_>, iterations: u32) -> (Execution, Vec<u32>) {
    let mut memory = DeviceMemory::new(module);
    let data = (0..WORDS * 4).flat_map(|place| word(row.data, place).to_le_bytes());
    let input = memory.alloc("in", data.collect());
    let output = memory.alloc("out", vec![0; WORDS as usize * 16]);
    if row.kernel == "texture_read" {
        memory.bind_texture(input, texture(input));
    }
    let mut params: Vec<u8> = [input, output]
        .iter()
        .flat_map(|at| at.to_le_bytes())
        .collect();
    params.extend(
        [WORDS, iterations]
            .iter()
            .flat_map(|word| word.to_le_bytes()),
    );
    let launch = Launch {
        entry: row.kernel,
        grid: [1, 1, 1],
        block: [THREADS, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        params,
    };
    let done = execute(module, &launch, &mut memory, &Options::default())
        .unwrap_or_else(|error| panic!("{}: {error}", row.name));
    let left = memory.buffer(output).chunks_exact(4);
    let left = left.map(|word| u32::from_le_bytes(word.try_into().unwrap()));
    (done, left.take(THREADS as usize).collect())
}

fn texture(address: u64) -> Texture {
    Texture {
        address,
        extent: [WORDS, 1, 1],
        pitch: u64::from(WORDS) * 16,
        element: Type::U32,
        channels: 4,
        border: Border::Clamp,
        filter: Filter::Nearest,
        normalized: false,
        fractions: false,
    }
}

/// Executed lanes by the opcode that stands in the line.
fn executed(done: &Execution) -> BTreeMap<&'static str, f64> {
    let lines: Vec<&str> = PTX.lines().collect();
    let trace = done.trace.as_ref().expect("it was recorded");
    let mut counts = BTreeMap::new();
    for warp in 0..trace.launch.warps_per_cta() {
        for step in trace.warp(0, warp).unwrap() {
            let line = lines[trace.code[step.inst as usize].line as usize - 1].trim();
            let line = line
                .split_once(' ')
                .filter(|(guard, _)| guard.starts_with('@'))
                .map_or(line, |(_, rest)| rest);
            let opcode = line.split([' ', '\t', ';']).next().unwrap_or(line);
            *counts.entry(opcode).or_insert(0.0) += f64::from(step.executed.count_ones());
        }
    }
    counts
}

/// What a thread executes in one iteration, by opcode.
fn of_an_iteration(module: &Module, row: &Row<'_>) -> BTreeMap<&'static str, f64> {
    let (few, more) = (run(module, row, 2).0, run(module, row, 6).0);
    let (few, mut more) = (executed(&few), executed(&more));
    for (opcode, count) in &mut more {
        *count = (*count - few.get(opcode).unwrap_or(&0.0)) / f64::from(4 * THREADS);
    }
    more
}

/// Operations that an instruction stands for, if it is one of those that a row counts.
fn operations(operation: &str, opcode: &str) -> f64 {
    let begins = |starts: &[&str]| f64::from(starts.iter().any(|start| opcode.starts_with(start)));
    match operation {
        "turn" => begins(&["setp"]),
        "fma.f32" => begins(&["fma.rn.f32"]),
        "add.f32" => begins(&["add.f32", "sub.f32", "add.rn.f32", "sub.rn.f32"]),
        "fma.f16x2" => begins(&["fma.rn.f16x2"]),
        "fma.f64" => begins(&["fma.rn.f64"]),
        // The counter of the loop is an addition, too; it is taken off below.
        "add.s32" => begins(&["add.s32"]),
        "mad.s32" => begins(&["mad.lo.s32", "mul.lo.s32"]),
        "xor.b32 or shift" => begins(&["xor.b32", "shl.b32", "shr.u32"]),
        "lg2.f32" => begins(&["lg2"]),
        "shfl.b32" => begins(&["shfl"]),
        // 16 x 8 x 16 multiply-adds by 32 lanes.
        "fma.bf16" => 64.0 * begins(&["mma.sync.aligned.m16n8k16"]),
        "ld.shared.b32" => begins(&["ld.shared.u32"]),
        "st.shared.b32" => begins(&["st.shared.u32", "st.volatile.shared.u32"]),
        "ld.const.b32" => begins(&["ld.const.u32"]),
        "tex.1d.v4" => begins(&["tex.1d.v4"]),
        "ld.global.v4" => begins(&["ld.global.ca.v4", "ld.global.cg.v4"]),
        "st.global.v4" => begins(&["st.global.v4"]),
        "ld and st.global.v4" => begins(&["ld.global.cg.v4", "st.global.v4"]),
        "red.add.u32" => begins(&["atom.global.add.u32", "red.global.add.u32"]),
        "" => 0.0,
        other => panic!("operation `{other}`"),
    }
}

/// Bytes that the benchmark is about: those of a row's operation, or of what a mix adds to it.
fn bytes(row: &Row<'_>, opcode: &str) -> f64 {
    let moves = [
        "ld.global.c",
        "st.global.v4",
        "ld.shared",
        "st.volatile.shared",
        "st.shared",
        "ld.const",
        "tex.1d",
        "atom.global",
        "red.global",
    ];
    // What a mix reads from shared memory beside the second level is not in its bytes.
    let counts = moves.iter().any(|start| opcode.starts_with(start))
        && !(row.name == "mix_all" && opcode.starts_with("ld.shared"));
    let wide = opcode.contains(".v4");
    f64::from(counts) * if wide { 16.0 } else { 4.0 }
}

#[test]
fn a_loop_does_what_its_row_says() {
    let module = load(PTX).unwrap_or_else(|errors| panic!("{errors:?}"));
    let rows = rows();
    assert!(rows.len() >= 35, "{} rows", rows.len());
    // `wgmma` is not executed here; sleeping has nothing to count.
    for row in rows.iter().filter(|row| !row.kernel.starts_with("wgmma")) {
        let counts = of_an_iteration(&module, row);
        let sum = |of: &dyn Fn(&str) -> f64| {
            counts
                .iter()
                .map(|(opcode, count)| count * of(opcode))
                .sum::<f64>()
        };
        let counter = f64::from(row.operation == "add.s32");
        assert_eq!(
            sum(&|opcode| operations(row.operation, opcode)) - counter,
            row.operations,
            "{}: {counts:?}",
            row.name
        );
        assert_eq!(
            sum(&|opcode| bytes(row, opcode)),
            row.bytes,
            "{}: {counts:?}",
            row.name
        );
    }
}

/// Toggling is a good part of power: after hundreds of iterations lanes still hold numbers, and not the same.
#[test]
fn numbers_neither_settle_nor_overflow() {
    let module = load(PTX).unwrap_or_else(|errors| panic!("{errors:?}"));
    let random = |row: &&Row<'_>| {
        row.data != "zeros"
            && row.operations > 0.0
            && row.bytes == 0.0
            && !row.kernel.starts_with("wgmma")
    };
    for row in rows().iter().filter(random) {
        for iterations in [200, 201] {
            let (_, left) = run(&module, row, iterations);
            let distinct: BTreeSet<u32> = left.iter().copied().collect();
            assert!(
                distinct.len() > 48,
                "{}: {} values in {THREADS} lanes",
                row.name,
                distinct.len()
            );
            if row.data == "floats" {
                let sane = |word: &u32| f32::from_bits(*word).abs() < 100.0;
                assert!(left.iter().all(sane), "{}: {left:x?}", row.name);
            }
        }
        // These come back to where they began with each turn, but for rounding.
        if !["add_f32", "mma_bf16"].contains(&row.kernel) {
            let (_, one) = run(&module, row, 200);
            let (_, next) = run(&module, row, 201);
            assert_ne!(one, next, "{} stands still", row.name);
        }
    }
}

#[test]
fn the_page_names_every_benchmark() {
    for row in rows() {
        assert!(
            PAGE.contains(&format!("`{}`", row.name)),
            "docs/your-gpu.md says nothing of {}",
            row.name
        );
    }
}

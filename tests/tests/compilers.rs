//! One source, compiled by several compilers for several targets: every PTX gives what the same computation gives in Rust, to the bit.
//!
//! `tests/data/compilers/mixed.cu` is the source; the names of the PTX files say compiler and target.

use std::path::Path;

use warpwatt_ptx::load;
use warpwatt_simt::{DeviceMemory, Launch, Options, execute};

const BLOCKS: usize = 3;
const THREADS: usize = 64;
const N: usize = BLOCKS * THREADS;
const ROWS: usize = 12;

fn inputs(seed: u32) -> Vec<u32> {
    let step = |state: &mut u32| {
        *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        Some(*state ^ *state >> 13)
    };
    std::iter::successors(Some(seed), |state| {
        let mut state = *state;
        step(&mut state)
    })
    .skip(1)
    .take(N)
    .collect()
}

fn ackermann(m: u32, n: u32) -> u32 {
    match (m, n) {
        (0, n) => n + 1,
        (m, 0) => ackermann(m - 1, 1),
        (m, n) => ackermann(m - 1, ackermann(m, n - 1)),
    }
}

/// An integer as the nearest single that is not above it.
fn single_down(value: u32) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) > f64::from(value) {
        nearest.next_down()
    } else {
        nearest
    }
}

/// The results of thread `t` that depend on its own inputs only, and y after the switch.
fn own(x: u32, y: u32, t: u32) -> [u32; 10] {
    const TABLE: [u32; 8] = [3, 1, 4, 1, 5, 9, 2, 6];
    let wide = u64::from(x) << 32 | u64::from(y);
    let bytes = wide.rotate_left(32).to_le_bytes();
    let permuted = [7, 4, 2, 5].map(|at: usize| bytes[at]);
    let high = ((u128::from(wide) * u128::from(wide.wrapping_add(12345))) >> 64) as u32;
    let shifted = (u64::from(y) << 32 | u64::from(x)) << (t & 31);
    let quotient = f64::from(x) / (f64::from(y) + 1.0);
    let changed = match x % 7 {
        0 => y.wrapping_add(1),
        1 => y.wrapping_mul(3),
        2 => y ^ 0x55,
        3 => !y,
        4 => y >> 3,
        5 => y | 0x100,
        _ => y.wrapping_sub(x),
    };
    let product = i32::from(changed as i16) * i32::from(x as i8);
    let remainder = (x as i32).wrapping_rem(changed as i32 | 1);
    [
        u32::from_le_bytes(permuted),
        (shifted >> 32) as u32 ^ x.reverse_bits() ^ y.count_ones() ^ x.leading_zeros(),
        (wide / u64::from(y | 1)) as u32 ^ (wide % u64::from(x | 1)) as u32,
        high ^ ((u64::from(x) * u64::from(y)) >> 32) as u32,
        x.wrapping_mul(y & 7)
            .wrapping_add(TABLE[y as usize & 7])
            .wrapping_add(ackermann(2, x & 3)),
        (x as f32).mul_add(0.25, single_down(y)).to_bits(),
        ((x & 1023) as f32 / ((y & 255) + 1) as f32 + ((y & 65535) as f32).sqrt()).to_bits(),
        quotient.to_bits() as u32
            ^ (quotient.to_bits() >> 32) as u32
            ^ (quotient * 1000.0) as i64 as u32,
        changed,
        (x as i32 >> 5)
            .wrapping_add(product)
            .wrapping_add(remainder) as u32,
    ]
}

fn expected(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut out = vec![0; ROWS * N];
    for block in 0..BLOCKS {
        let mine = block * THREADS..(block + 1) * THREADS;
        let (a, b) = (&a[mine.clone()], &b[mine]);
        let mut counts = [0u32; 8];
        let mut most = [0u32; 8];
        for (x, y) in a.iter().zip(b) {
            counts[*x as usize & 7] += y & 15;
            let most = &mut most[*y as usize & 7];
            *most = (*most).max(x & 63);
        }
        let odd = a.iter().filter(|x| *x & 1 == 1).count() as u32;
        for t in 0..THREADS {
            let results = own(a[t], b[t], t as u32);
            let shared = a[(t * 5 + 3) & 63].wrapping_add(counts[t & 7] + most[t & 7]);
            for (row, value) in results.into_iter().chain([shared, odd]).enumerate() {
                out[row * N + block * THREADS + t] = value;
            }
        }
    }
    out
}

#[test]
fn every_compiler_means_the_same() {
    let (a, b) = (inputs(1), inputs(2));
    let want = expected(&a, &b);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/compilers");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "ptx"))
        .collect();
    files.sort();
    assert!(files.len() >= 12, "{files:?}");
    for path in files {
        let source = std::fs::read_to_string(&path).expect("the file is text");
        let module =
            load(&source).unwrap_or_else(|errors| panic!("{}: {errors:?}", path.display()));
        let mut memory = DeviceMemory::new(&module);
        let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let out = memory.alloc("out", vec![0xcd; ROWS * N * 4]);
        let buffers = [
            out,
            memory.alloc("a", bytes(&a)),
            memory.alloc("b", bytes(&b)),
        ];
        let mut params: Vec<u8> = buffers
            .iter()
            .flat_map(|address| address.to_le_bytes())
            .collect();
        params.extend((N as u32).to_le_bytes());
        let launch = Launch {
            entry: "mixed",
            grid: [BLOCKS as u32, 1, 1],
            block: [THREADS as u32, 1, 1],
            cluster: None,
            dynamic_shared: 0,
            params,
        };
        execute(&module, &launch, &mut memory, &Options::default())
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let words = memory.buffer(out).chunks_exact(4);
        let got: Vec<u32> = words
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect();
        for (at, (got, want)) in got.iter().zip(&want).enumerate() {
            let (row, thread) = (at / N, at % N);
            assert_eq!(got, want, "{}: row {row}, thread {thread}", path.display());
        }
    }
}

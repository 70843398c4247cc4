//! Kernels that Triton makes for sm_90 and sm_100, with `wgmma`, `tcgen05` and tensor copies in them, against plain sums at three shapes each.

use warpwatt_ptx::load;
use warpwatt_simt::{DeviceMemory, Launch, Options, execute};

const MATMUL: [&str; 2] = [
    include_str!("triton/matmul_tma_sm90.ptx"),
    include_str!("triton/matmul_tma_sm100.ptx"),
];
const ATTENTION: [&str; 2] = [
    include_str!("triton/attention_sm90.ptx"),
    include_str!("triton/attention_sm100.ptx"),
];
/// Products that the CTAs of a pair share, 128 and 256 rows a tile.
const PAIR: [(usize, &str); 2] = [
    (128, include_str!("triton/pair128_sm100.ptx")),
    (256, include_str!("triton/pair256_sm100.ptx")),
];
const SCALED: &str = include_str!("triton/scaled_sm100.ptx");

/// What is in the last buffer after a launch; each buffer is a parameter, `scalars` follow them, and scratch memory and a null pointer those.
fn run(
    ptx: &str,
    entry: &str,
    grid: [u32; 2],
    buffers: &[Vec<u8>],
    scalars: &[[u8; 4]],
) -> Vec<f64> {
    let head: Vec<u32> = ptx
        .lines()
        .next()
        .unwrap()
        .split(' ')
        .filter_map(|word| word.parse().ok())
        .collect();
    let module = load(ptx).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let known = module.entry(entry).unwrap();
    assert_eq!(known.unsupported, []);
    let mut memory = DeviceMemory::new(&module);
    let addresses: Vec<u64> = buffers
        .iter()
        .map(|bytes| memory.alloc("buffer", bytes.clone()))
        .collect();
    let scratch = memory.alloc(
        "scratch",
        vec![0; (head[2] * grid[0] * grid[1]).max(1) as usize],
    );
    let values = addresses
        .iter()
        .map(|address| address.to_le_bytes().to_vec());
    let values = values.chain(scalars.iter().map(|scalar| scalar.to_vec()));
    let values = values.chain([scratch, 0].map(|address| address.to_le_bytes().to_vec()));
    let mut params = vec![0; known.param_bytes() as usize];
    for (param, value) in known.params.iter().zip(values) {
        params[param.offset as usize..][..value.len()].copy_from_slice(&value);
    }
    let launch = Launch {
        entry,
        grid: [grid[0], grid[1], 1],
        block: [head[0], 1, 1],
        cluster: None,
        dynamic_shared: head[1],
        params,
    };
    execute(&module, &launch, &mut memory, &Options::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let last = memory.buffer(addresses[addresses.len() - 1]);
    let words = last.as_chunks().0.iter();
    words
        .map(|word| f64::from(f32::from_le_bytes(*word)))
        .collect()
}

/// Eighths between -2 and 2, which both halves hold exactly.
fn eighths(count: usize, seed: u32) -> Vec<f64> {
    let number = |at: usize| {
        let mixed = (at as u32 ^ seed).wrapping_mul(0x9E37_79B9) ^ seed.rotate_left(9);
        f64::from((mixed.wrapping_mul(0x85EB_CA6B) >> 27) as i32 - 16) / 8.0
    };
    (0..count).map(number).collect()
}

fn bf16(values: &[f64]) -> Vec<u8> {
    let half = |value: &f64| ((*value as f32).to_bits() >> 16) as u16;
    values
        .iter()
        .flat_map(|value| half(value).to_le_bytes())
        .collect()
}

fn f16(values: &[f64]) -> Vec<u8> {
    let half = |value: &f64| {
        let bits = (*value as f32).to_bits();
        let sign = (bits >> 16 & 0x8000) as u16;
        let exponent = (bits >> 23 & 0xff) as u16;
        let fraction = (bits >> 13 & 0x3ff) as u16;
        if exponent == 0 {
            sign
        } else {
            sign | (exponent - 112) << 10 | fraction
        }
    };
    values
        .iter()
        .flat_map(|value| half(value).to_le_bytes())
        .collect()
}

#[test]
fn a_product_by_tensor_copies_is_the_plain_sum() {
    let shapes = [[64, 64, 64], [100, 72, 40], [130, 8, 104]];
    for (ptx, [m, n, k]) in MATMUL
        .iter()
        .flat_map(|ptx| shapes.map(|shape| (ptx, shape)))
    {
        let (a, b) = (eighths(m * k, 1), eighths(k * n, 2));
        let grid = [m.div_ceil(64) as u32, n.div_ceil(64) as u32];
        let found = run(
            ptx,
            "matmul_tma",
            grid,
            &[bf16(&a), bf16(&b), vec![0; 4 * m * n]],
            &[m, n, k].map(|extent| (extent as u32).to_le_bytes()),
        );
        for row in 0..m {
            for column in 0..n {
                let sum: f64 = (0..k).map(|at| a[row * k + at] * b[at * n + column]).sum();
                // Sums of few eighths are exact.
                assert_eq!(found[row * n + column], sum, "{m}x{n}x{k}: {row}, {column}");
            }
        }
    }
}

#[test]
fn a_product_of_pairs_of_ctas_is_the_plain_sum() {
    for ((rows, ptx), [tiles, n, k]) in PAIR
        .iter()
        .flat_map(|tile| [[1, 64, 32], [2, 128, 64], [3, 64, 160]].map(|shape| (tile, shape)))
    {
        let m = tiles * rows;
        let (a, b) = (eighths(m * k, 1), eighths(k * n, 2));
        let found = run(
            ptx,
            "pair",
            [2 * tiles as u32, n as u32 / 64],
            &[f16(&a), f16(&b), vec![0; 4 * m * n]],
            &[n, k].map(|extent| (extent as u32).to_le_bytes()),
        );
        for row in 0..m {
            for column in 0..n {
                let sum: f64 = (0..k).map(|at| a[row * k + at] * b[at * n + column]).sum();
                assert_eq!(found[row * n + column], sum, "{m}x{n}x{k}: {row}, {column}");
            }
        }
    }
}

#[test]
fn attention_is_the_weighted_mean() {
    const D: usize = 32;
    let lengths = [64, 50, 130];
    for (ptx, length) in ATTENTION
        .iter()
        .flat_map(|ptx| lengths.map(|length| (ptx, length)))
    {
        let [q, k, v] = [3, 4, 5].map(|seed| eighths(length * D, seed));
        let scale = 0.125f32;
        let found = run(
            ptx,
            "attention",
            [length.div_ceil(64) as u32, 1],
            &[f16(&q), f16(&k), f16(&v), vec![0; 4 * length * D]],
            &[(length as u32).to_le_bytes(), scale.to_le_bytes()],
        );
        for row in 0..length {
            let score = |at: usize| -> f64 {
                let products = (0..D).map(|x| q[row * D + x] * k[at * D + x]);
                products.sum::<f64>() * f64::from(scale)
            };
            let scores: Vec<f64> = (0..length).map(score).collect();
            let largest = scores.iter().copied().fold(f64::MIN, f64::max);
            let weights: Vec<f64> = scores.iter().map(|score| (score - largest).exp()).collect();
            let total: f64 = weights.iter().sum();
            for x in 0..D {
                let mean: f64 = (0..length)
                    .map(|at| weights[at] * v[at * D + x])
                    .sum::<f64>()
                    / total;
                let got = found[row * D + x];
                // Weights are halves.
                assert!(
                    (got - mean).abs() < 4e-3,
                    "{length}: {row}, {x}: {got}, {mean}"
                );
            }
        }
    }
}

/// A float of `e4m3` or `e2m1`: so many bits of fraction, and what its exponent is less.
fn small(bits: u8, width: u32, fraction: u32, bias: i32) -> f64 {
    let magnitude = u32::from(bits) & ((1 << (width - 1)) - 1);
    let field = (magnitude >> fraction) as i32;
    let part = f64::from(magnitude & ((1 << fraction) - 1)) / f64::from(1 << fraction);
    let value = match field {
        0 => part * 2f64.powi(1 - bias),
        _ => (1.0 + part) * 2f64.powi(field - bias),
    };
    if bits >> (width - 1) & 1 != 0 {
        -value
    } else {
        value
    }
}

#[test]
fn a_product_of_scaled_blocks_is_the_scaled_sum() {
    for [m, n, k] in [[128, 32, 64], [128, 96, 128], [256, 64, 192]] {
        let mixed = |at: usize, seed: u32| {
            (at as u32 ^ seed)
                .wrapping_mul(0x9E37_79B9)
                .rotate_left(13)
                .wrapping_mul(0x85EB_CA6B)
                >> 24
        };
        let all = |count: usize, seed: u32, byte: &dyn Fn(u32) -> u8| -> Vec<u8> {
            (0..count).map(|at| byte(mixed(at, seed))).collect()
        };
        // Exponents from 2^-3 to 2^4, so that sums of single precision are exact.
        let a = all(m * k, 1, &|bits| (bits & 0x80 | (0x20 + bits % 0x20)) as u8);
        let b = all(n * k / 2, 2, &|bits| bits as u8);
        let power = |bits: u32| (125 + bits % 4) as u8;
        let [of_a, of_b] = [(m, 3), (n, 4)].map(|(rows, seed)| all(rows * k / 32, seed, &power));
        let found = run(
            SCALED,
            "scaled",
            [m as u32 / 128, n as u32 / 32],
            &[
                a.clone(),
                of_a.clone(),
                b.clone(),
                of_b.clone(),
                vec![0; 4 * m * n],
            ],
            &[m, n, k].map(|extent| (extent as u32).to_le_bytes()),
        );
        let scale = |bits: u8| 2f64.powi(i32::from(bits) - 127);
        for row in 0..m {
            for column in 0..n {
                let term = |at: usize| {
                    let left = small(a[row * k + at], 8, 3, 7) * scale(of_a[(row * k + at) / 32]);
                    let pair = b[(column * k + at) / 2] >> (at % 2 * 4);
                    let right = small(pair, 4, 1, 1) * scale(of_b[(column * k + at) / 32]);
                    left * right
                };
                let sum: f64 = (0..k).map(term).sum();
                let got = found[row * n + column];
                assert_eq!(got, sum, "{m}x{n}x{k}: {row}, {column}");
            }
        }
    }
}

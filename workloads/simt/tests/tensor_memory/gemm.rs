//! A whole product: tiles in two places in turn, barriers that products tell, several CTAs.

use warpwatt_ptx::load;
use warpwatt_simt::trace::{Asynchronous, Beyond};
use warpwatt_simt::{DeviceMemory, Launch, Options, execute};

const GEMM: &str = include_str!("gemm.ptx");

/// Quarters between -2 and 2, as halves.
fn quarter(at: usize, seed: u32) -> (f64, u16) {
    let number = ((at as u32 ^ seed).wrapping_mul(0x9E37_79B9) >> 28) as i32 - 8;
    let value = f64::from(number) / 4.0;
    let bits = (value as f32).to_bits();
    let half = match number {
        0 => 0,
        _ => bits >> 16 & 0x8000 | ((bits >> 23 & 0xff) - 112) << 10 | bits >> 13 & 0x3ff,
    };
    (value, half as u16)
}

#[test]
fn a_product_of_many_tiles_is_the_plain_sum() {
    for [m, n, k] in [[128, 64, 32], [128, 128, 96], [256, 192, 160]] {
        let module = load(GEMM).unwrap_or_else(|errors| panic!("{errors:#?}"));
        assert_eq!(module.entries[0].unsupported, []);
        let mut memory = DeviceMemory::new(&module);
        let mut halves = |count: usize, seed: u32| {
            let bytes = (0..count).flat_map(|at| quarter(at, seed).1.to_le_bytes());
            memory.alloc("factor", bytes.collect())
        };
        let (a, b) = (halves(m * k, 1), halves(n * k, 2));
        let c = memory.alloc("c", vec![0; 4 * m * n]);
        let mut params: Vec<u8> = [a, b, c].iter().flat_map(|it| it.to_le_bytes()).collect();
        params.extend([n, k].iter().flat_map(|&it| (it as u32).to_le_bytes()));
        let launch = Launch {
            entry: "gemm",
            grid: [n as u32 / 64, m as u32 / 128, 1],
            block: [128, 1, 1],
            cluster: None,
            dynamic_shared: 0,
            params,
        };
        let options = Options {
            record: true,
            ..Options::default()
        };
        let done = execute(&module, &launch, &mut memory, &options).unwrap();
        let found = memory.buffer(c).as_chunks().0;
        for row in 0..m {
            for column in 0..n {
                let products =
                    (0..k).map(|at| quarter(row * k + at, 1).0 * quarter(column * k + at, 2).0);
                let got = f32::from_le_bytes(found[row * n + column]);
                assert_eq!(f64::from(got), products.sum::<f64>(), "{row}, {column}");
            }
        }
        // The records tell the work, and what each barrier is told and waits for.
        let trace = done.trace.unwrap();
        trace.counts().unwrap();
        let (mut work, mut bytes, mut told, mut last) = (0, 0, 0, 0);
        for step in (0..trace.ctas()).flat_map(|cta| (0..4).map(move |warp| (cta, warp))) {
            for step in trace.warp(step.0, step.1).unwrap() {
                match step.beyond() {
                    Some(Beyond::Tensor(of)) => {
                        work += of.multiply_adds;
                        bytes += of.shared_bytes;
                        assert_eq!(of.element_bits, 16);
                    }
                    Some(Beyond::Arrives(count)) => {
                        let inst = &trace.code[step.inst as usize];
                        assert_eq!(inst.asynchronous, Some(Asynchronous::Completes));
                        told += count;
                    }
                    Some(Beyond::Waits { arrivals, .. }) => last = last.max(arrivals),
                    _ => {}
                }
            }
        }
        assert_eq!(work, (m * n * k) as u64);
        // Each product reads 128 rows and 64 columns of 32 bytes.
        assert_eq!(
            bytes,
            (m * n * k) as u64 / (128 * 64 * 16) * (128 + 64) * 32
        );
        let tiles = k as u64 / 32;
        assert_eq!(told, tiles * trace.ctas() as u64);
        assert_eq!(last, tiles.div_ceil(2));
    }
}

//! Products of whole elements.

use proptest::prelude::*;

use crate::kernel::{COMMITTED, bytes, into_tile, moved, out, own, registers, run, words};
use crate::layout::{Canonical, matrix};

/// A kind of product: its name, the descriptor's bits for D, A and B, bytes of an element, and the bits of a small integer.
#[derive(Clone, Copy, Debug)]
struct Kind {
    name: &'static str,
    types: u32,
    size: usize,
    sum: Sum,
    encode: fn(i64) -> u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Sum {
    F32,
    F16,
    S32,
}

pub fn half(value: i64) -> u32 {
    let bits = (value as f32).to_bits();
    match value {
        0 => 0,
        _ => bits >> 16 & 0x8000 | ((bits >> 23 & 0xff) - 112) << 10 | bits >> 13 & 0x3ff,
    }
}

fn bf16(value: i64) -> u32 {
    (value as f32).to_bits() >> 16
}

fn single(value: i64) -> u32 {
    (value as f32).to_bits()
}

fn byte(value: i64) -> u32 {
    value as u8 as u32
}

/// Four bits of exponent, three of fraction.
pub fn e4m3(value: i64) -> u32 {
    let bits = (value as f32).to_bits();
    match value {
        0 => 0,
        _ => bits >> 24 & 0x80 | ((bits >> 23 & 0xff) - 120) << 3 | bits >> 20 & 7,
    }
}

const KINDS: [Kind; 6] = [
    Kind {
        name: "f16",
        types: 1 << 4,
        size: 2,
        sum: Sum::F32,
        encode: half,
    },
    Kind {
        name: "f16",
        types: 0,
        size: 2,
        sum: Sum::F16,
        encode: half,
    },
    Kind {
        name: "f16",
        types: 1 << 4 | 1 << 7 | 1 << 10,
        size: 2,
        sum: Sum::F32,
        encode: bf16,
    },
    Kind {
        name: "tf32",
        types: 1 << 4 | 2 << 7 | 2 << 10,
        size: 4,
        sum: Sum::F32,
        encode: single,
    },
    Kind {
        name: "f8f6f4",
        types: 1 << 4,
        size: 1,
        sum: Sum::F32,
        encode: e4m3,
    },
    Kind {
        name: "i8",
        types: 2 << 4 | 1 << 7 | 1 << 10,
        size: 1,
        sum: Sum::S32,
        encode: byte,
    },
];

/// Layouts of elements of so many bytes.
fn layouts(size: usize, rows: usize) -> impl Strategy<Value = Canonical> {
    (0usize..4, any::<bool>()).prop_map(move |(pitch, transposed)| {
        let transposed = transposed && rows.is_multiple_of(16 / size);
        let coarse = size == 4 && transposed;
        let pitch = if coarse {
            128
        } else {
            [16, 32, 64, 128][pitch]
        };
        Canonical {
            pitch,
            coarse,
            size,
            transposed,
            rows,
        }
    })
}

#[derive(Clone, Copy, Debug)]
struct Product {
    kind: Kind,
    a: Canonical,
    b: Canonical,
    /// A lies in tensor memory.
    held: bool,
    stationary: bool,
    negated: [bool; 2],
    adds: bool,
    halved: u32,
    masked: bool,
}

fn products() -> impl Strategy<Value = Product> {
    let sizes = (0usize..6, any::<bool>(), 0usize..3, 0usize..6);
    sizes
        .prop_flat_map(|(kind, stationary, rows, columns)| {
            let kind = KINDS[kind];
            let (rows, columns) = match stationary {
                true => ([32, 64, 128][rows], [64, 128, 64, 128, 64, 128][columns]),
                false => ([64, 128, 128][rows], [8, 16, 24, 64, 96, 128][columns]),
            };
            let flags = (
                any::<[bool; 2]>(),
                any::<bool>(),
                any::<bool>(),
                0u32..3,
                any::<bool>(),
            );
            (
                Just((kind, stationary)),
                layouts(kind.size, rows),
                layouts(kind.size, columns),
                flags,
            )
        })
        .prop_map(
            |((kind, stationary), a, b, (negated, held, adds, halved, masked))| {
                let floats = kind.sum != Sum::S32;
                let halves = matches!(kind.name, "f16" | "tf32") && !stationary;
                Product {
                    kind,
                    a: Canonical {
                        transposed: a.transposed && !held,
                        ..a
                    },
                    b,
                    held,
                    stationary,
                    negated: if floats { negated } else { [false; 2] },
                    adds,
                    halved: if halves { halved } else { 0 },
                    masked: masked && !stationary,
                }
            },
        )
        .prop_map(|mut product| {
            product.a.coarse &= product.a.transposed;
            product
        })
}

/// The lane and column of an element of D.
fn place_of_sum(product: &Product, row: usize, column: usize) -> [usize; 2] {
    let (rows, columns) = (product.a.rows, product.b.rows);
    match (product.stationary, rows) {
        (false, 64) => [row / 16 * 32 + row % 16, column],
        (_, 128) => [row, column],
        (_, rows) => {
            let across = columns * rows / 128;
            [column / across * rows + row, column % across]
        }
    }
}

const COLUMNS: usize = 160;
/// Where A lies in tensor memory.
const HELD: usize = 128;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// D = A B + D of every kind, layout, place of A and switch is the plain sum, and nothing else changes.
    #[test]
    fn products_are_plain_sums(product in products(), seed in any::<u32>()) {
        let Product { kind, a, b, .. } = product;
        let value = |at: usize| i64::from((seed ^ at as u32).wrapping_mul(0x9E37_79B9) >> 28) - 7;
        let of_a = |row: usize, at: usize| value(row * 64 + at);
        let of_b = |column: usize, at: usize| value(100_000 + column * 64 + at);
        let (from_a, from_b) = (0, 16 * 1024);
        let mut image = vec![0u8; 48 * 1024];
        matrix(a, kind.encode, from_a, of_a, &mut image);
        matrix(b, kind.encode, from_b, of_b, &mut image);
        // D before, and A where each lane of D has its row.
        let encode_sum = |sum: i64| match kind.sum { Sum::F32 => single(sum), Sum::F16 => half(sum), Sum::S32 => sum as u32 };
        let before = |lane: usize, column: usize| value(7 * lane + column) * 4;
        let mut memory = vec![0u32; 128 * COLUMNS];
        for lane in 0..128 {
            for column in 0..HELD {
                memory[lane * COLUMNS + column] = encode_sum(before(lane, column));
            }
        }
        let mut put = |lane: usize, row: usize| {
            let bytes: Vec<u8> = (0..a.depth()).flat_map(|at| (kind.encode)(of_a(row, at)).to_le_bytes()[..kind.size].to_vec()).collect();
            memory[lane * COLUMNS + HELD..][..8].copy_from_slice(&words(&bytes));
        };
        for row in 0..a.rows {
            for column in 0..b.rows {
                put(place_of_sum(&product, row, column)[0], row);
            }
        }
        let mask = [seed, !seed, seed.rotate_left(7), 0];
        let flag = |at: u32, set: bool| u32::from(set) << at;
        let words_of = kind.types | flag(13, product.negated[0]) | flag(14, product.negated[1])
            | flag(15, a.transposed) | flag(16, b.transposed) | (b.rows as u32 >> 3) << 17 | (a.rows as u32 >> 4) << 24;
        let left = if product.held { format!("[%r90 + {HELD}]") } else { "%d10".to_owned() };
        let lanes = if product.masked { ", {%r60, %r61, %r62, %r63}" } else { "" };
        let halved = if product.halved > 0 { format!(", {}", product.halved) } else { String::new() };
        let ws = if product.stationary { ".ws" } else { "" };
        let masks: String = mask.iter().enumerate().map(|(at, bits)| format!("mov.b32 %r6{at}, {bits}; ")).collect();
        let fill: String = (0..COLUMNS / 32).map(|part| format!(
            "{} add.u64 %d20, %d20, {}; {} tcgen05.st.sync.aligned.32x32b.x32.b32 [%r91 + {}], {};",
            own(1, COLUMNS as u32), 128 * part, moved(true, 100, 32), 32 * part, registers(100, 32)
        )).collect();
        let body = format!(
            "{} {fill} tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync; bar.sync 0; {masks}
            mov.u32 %r1, tile; cvt.u64.u32 %d9, %r1; shr.u64 %d9, %d9, 4;
            add.u64 %d10, %d9, {}; add.u64 %d11, %d9, {}; mov.b32 %r50, {words_of}; setp.eq.u32 %p3, 0, {};
            @%p9 tcgen05.mma{ws}.cta_group::1.kind::{} [%r90 + 0], {left}, %d11, %r50{lanes}, %p3{halved};
            {COMMITTED} {}",
            into_tile(image.len()), a.descriptor(from_a), b.descriptor(from_b), u32::from(!product.adds), kind.name,
            out(2, COLUMNS as u32)
        );
        let buffers = [image, bytes(memory.clone()), vec![0; 4 * 128 * COLUMNS]];
        let found = words(&run(&body, 128, 256, &buffers).unwrap());
        let mut wanted = memory;
        for row in 0..a.rows {
            for column in 0..b.rows {
                let [lane, place] = place_of_sum(&product, row, column);
                if product.masked && mask[lane / 32] >> (lane % 32) & 1 != 0 {
                    continue;
                }
                let sign = if product.negated[0] == product.negated[1] { 1 } else { -1 };
                let sum: i64 = (0..a.depth()).map(|at| sign * of_a(row, at) * of_b(column, at)).sum();
                let added = if product.adds { before(lane, place) } else { 0 };
                // Fours are halved twice without a rest.
                let sum = sum + (added >> product.halved);
                wanted[lane * COLUMNS + place] = encode_sum(sum);
            }
        }
        for (at, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
            let (lane, column) = (at / COLUMNS, at % COLUMNS);
            // Zero has either sign.
            let same = found == wanted || found & 0x7fff_ffff == 0 && wanted & 0x7fff_ffff == 0 || kind.sum == Sum::F16 && (found | wanted) & 0x7fff == 0;
            prop_assert!(same, "lane {lane} column {column}: {found:#x}, wanted {wanted:#x}");
        }
    }
}

//! Products of elements of few bits, and of scaled blocks.

use crate::kernel::{COMMITTED, bytes, into_tile, moved, out, own, registers, run, words};
use crate::layout::{Canonical, matrix};
use crate::products::e4m3;

/// What bits stand for.
type Number = fn(usize) -> f64;

/// Elements of four and six bits, which lie at the beginning of sixteen bytes each; and of four bits in pairs with scales.
#[test]
fn small_elements_are_multiplied_as_their_formats_say() {
    // Columns of B are those of the unit matrix, so that D shows A.
    let six = |number: usize| 3 * number % 64;
    let cases: [(u32, u32, Number); 3] = [
        (3, 6, |bits| mini(bits, 2, 3)),
        (4, 6, |bits| mini(bits, 3, 2)),
        (5, 4, |bits| mini(bits, 2, 1)),
    ];
    for (kind, bits, number) in cases {
        let mut image = vec![0u8; 16 * 1024];
        let code = |row: usize, at: usize| six(row * 32 + at) & ((1 << bits) - 1);
        let layout = Canonical {
            pitch: 16,
            coarse: false,
            size: 1,
            transposed: false,
            rows: 128,
        };
        for row in 0..128 {
            for piece in 0..2 {
                let all = (0..16).fold(0u128, |all, at| {
                    all | (code(row, piece * 16 + at) as u128) << (at as u32 * bits)
                });
                let place = layout.place(row, piece * 16);
                image[place..place + 16].copy_from_slice(&all.to_le_bytes());
            }
        }
        let unit = Canonical { rows: 32, ..layout };
        matrix(
            unit,
            e4m3,
            8192,
            |column, at| i64::from(column == at),
            &mut image,
        );
        let words_of = 1 << 4 | kind << 7 | 32 >> 3 << 17 | 128 >> 4 << 24;
        let body = format!(
            "{} mov.u32 %r1, tile; cvt.u64.u32 %d9, %r1; shr.u64 %d9, %d9, 4; add.u64 %d10, %d9, {}; add.u64 %d11, %d9, {};
            mov.b32 %r50, {words_of};
            @%p9 tcgen05.mma.cta_group::1.kind::f8f6f4.collector::a::fill [%r90], %d10, %d11, %r50, 0; {COMMITTED} {}",
            into_tile(image.len()), layout.descriptor(0), unit.descriptor(8192), out(1, 32)
        );
        let found = words(&run(&body, 128, 32, &[image, vec![0; 4 * 128 * 32]]).unwrap());
        for row in 0..128 {
            for at in 0..32 {
                let got = f64::from(f32::from_bits(found[row * 32 + at]));
                assert_eq!(got, number(code(row, at)), "{bits} bits, row {row}, {at}");
            }
        }
    }
}

/// A float of few bits, value by value.
fn mini(bits: usize, exponent: u32, fraction: u32) -> f64 {
    let magnitude = bits & ((1 << (exponent + fraction)) - 1);
    let bias = (1 << (exponent - 1)) - 1;
    let step = |number: usize| {
        // The distance to the next one doubles with the exponent.
        let field = (number >> fraction).max(1) as i32;
        2f64.powi(field - bias - fraction as i32)
    };
    let value: f64 = (0..magnitude).map(step).sum();
    if bits >> (exponent + fraction) != 0 {
        -value
    } else {
        value
    }
}

/// Scales of the blocks of each row: powers of two, or `e4m3`.
#[derive(Clone, Copy, Debug)]
struct Scales {
    blocks: usize,
    fine: bool,
}

impl Scales {
    fn bits(self, row: usize, block: usize) -> u32 {
        let bits = match self.fine {
            true => 0x30 + (row + 2 * block) % 24,
            false => 120 + (row + 3 * block) % 12,
        };
        bits as u32
    }

    fn of(self, row: usize, at: usize) -> f64 {
        let bits = self.bits(row, at * self.blocks / 64);
        match self.fine {
            true => mini(bits as usize, 4, 3),
            false => 2f64.powi(bits as i32 - 127),
        }
    }

    /// The byte of a word at which they begin: of two the upper ones are taken.
    fn first(self) -> usize {
        if self.blocks == 2 { 2 } else { 0 }
    }

    /// A word a row: in lane row % 32 of each quarter, column row / 32; those of the columns of B behind the 128 of A.
    fn memory(self) -> impl Iterator<Item = u32> {
        let held = move |row: usize| {
            (0..self.blocks).fold(0, |word, block| {
                word | self.bits(row, block) << (8 * (block + self.first()))
            })
        };
        (0..128).flat_map(move |lane| (0..6).map(move |column| held(lane % 32 + 32 * column)))
    }
}

/// Pairs of elements of four bits, each block of whose inner dimension has a scale: powers of two for 32 elements, or `e4m3` for 16.
#[test]
fn blocks_are_scaled() {
    let cases = [
        ("mxf4.block_scale", 2, false),
        ("mxf4nvf4.block_scale.block16", 4, true),
        ("mxf4nvf4.block_scale.scale_vec::2X", 2, false),
    ];
    for (kind, blocks, fine) in cases {
        let scales = Scales { blocks, fine };
        let a = |row: usize, at: usize| (row * 5 + at * 3) % 16;
        let b = |column: usize, at: usize| (column * 7 + at) % 16;
        let found = scaled(kind, scales, a, b);
        for row in 0..128 {
            for column in 0..64 {
                let term = |at: usize| {
                    let left = mini(a(row, at), 2, 1) * scales.of(row, at);
                    left * mini(b(column, at), 2, 1) * scales.of(column + 128, at)
                };
                let sum: f64 = (0..64).map(term).sum();
                let got = f32::from_bits(found[row * 64 + column]);
                assert_eq!(got, sum as f32, "{kind}: {row}, {column}");
            }
        }
    }
}

/// D of 128 rows and 64 columns.
fn scaled(
    kind: &str,
    scales: Scales,
    a: impl Fn(usize, usize) -> usize,
    b: impl Fn(usize, usize) -> usize,
) -> Vec<u32> {
    let layout = Canonical {
        pitch: 32,
        coarse: false,
        size: 1,
        transposed: false,
        rows: 128,
    };
    let right = Canonical { rows: 64, ..layout };
    let mut image = vec![0u8; 16 * 1024];
    for at in 0..32 {
        for row in 0..128 {
            let pair = a(row, 2 * at) | a(row, 2 * at + 1) << 4;
            image[layout.place(row, at)] = pair as u8;
        }
        for row in 0..64 {
            let pair = b(row, 2 * at) | b(row, 2 * at + 1) << 4;
            image[8192 + right.place(row, at)] = pair as u8;
        }
    }
    let first = scales.first() as u32;
    let types = 1 << 7 | 1 << 10 | u32::from(!scales.fine) << 23;
    let words_of = types | first << 4 | first << 29 | 64 >> 3 << 17 | 128 >> 4 << 24;
    let fill = format!(
        "{} {} tcgen05.st.sync.aligned.32x32b.x4.b32 [%r91 + 64], {}; tcgen05.st.sync.aligned.32x32b.x2.b32 [%r91 + 68], {};",
        own(1, 6),
        moved(true, 100, 6),
        registers(100, 4),
        registers(104, 2)
    );
    let body = format!(
        "{} {fill} tcgen05.wait::st.sync.aligned; bar.sync 0;
        mov.u32 %r1, tile; cvt.u64.u32 %d9, %r1; shr.u64 %d9, %d9, 4; add.u64 %d10, %d9, {}; add.u64 %d11, %d9, {};
        mov.b32 %r50, {words_of}; setp.ne.u32 %p3, %r80, %r80;
        @%p9 tcgen05.mma.cta_group::1.kind::{kind} [%r90], %d10, %d11, %r50, [%r90 + 64], [%r90 + 68], %p3; {COMMITTED} {}",
        into_tile(image.len()),
        layout.descriptor(0),
        right.descriptor(8192),
        out(2, 64)
    );
    let buffers = [image, bytes(scales.memory()), vec![0; 4 * 128 * 64]];
    words(&run(&body, 128, 128, &buffers).unwrap())
}

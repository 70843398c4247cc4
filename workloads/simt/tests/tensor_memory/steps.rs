//! Copies from shared memory, shifts, allocations, and what there is not.

use crate::kernel::{
    COMMITTED, bytes, into_tile, moved, out, own, registers, run, run_plain, words,
};
use crate::layout::Canonical;

/// The lanes of a row.
type Lanes = fn(usize) -> Vec<usize>;

/// Every shape of `tcgen05.cp`: rows go where they are sent.
#[test]
fn rows_are_copied_to_their_lanes() {
    let cases: [(&str, usize, usize, Lanes); 6] = [
        ("128x256b", 128, 8, |row| vec![row]),
        ("128x128b", 128, 4, |row| vec![row]),
        ("4x256b", 4, 8, |row| vec![31 + 32 * row]),
        ("64x128b.warpx2::02_13", 64, 4, |row| vec![row, row + 64]),
        ("64x128b.warpx2::01_23", 64, 4, |row| {
            let first = row / 32 * 64 + row % 32;
            vec![first, first + 32]
        }),
        ("32x128b.warpx4", 32, 4, |row| {
            (0..4).map(|warp| warp * 32 + row).collect()
        }),
    ];
    for (name, rows, columns, lanes) in cases {
        let layout = Canonical {
            pitch: 16,
            coarse: false,
            size: 4,
            transposed: false,
            rows: 128,
        };
        let word = |row: usize, at: usize| (row * 100 + at + 1) as u32;
        let mut image = vec![0u8; 8192];
        for row in 0..rows {
            for at in 0..columns {
                let place = layout.place(row, at);
                image[place..place + 4].copy_from_slice(&word(row, at).to_le_bytes());
            }
        }
        let to = if rows == 4 { 31 << 16 } else { 0 };
        let body = format!(
            "{} mov.u32 %r1, tile; cvt.u64.u32 %d9, %r1; shr.u64 %d9, %d9, 4; add.u64 %d9, %d9, {}; add.u32 %r92, %r90, {to};
            @%p9 tcgen05.cp.cta_group::1.{name} [%r92 + 16], %d9; {COMMITTED} {}",
            into_tile(image.len()), layout.descriptor(0), out(1, 32)
        );
        let found = words(&run(&body, 128, 32, &[image, vec![0; 4 * 128 * 32]]).unwrap());
        let mut wanted = vec![0; 128 * 32];
        for row in 0..rows {
            for lane in lanes(row) {
                for at in 0..columns {
                    wanted[lane * 32 + 16 + at] = word(row, at);
                }
            }
        }
        assert!(found == wanted, "{name}");
    }
}

/// Each lane of a warp's but the last gets what the next one has.
#[test]
fn lanes_are_shifted_down() {
    let before: Vec<u32> = (0..128 * 32).collect();
    let body = format!(
        "@%p9 mbarrier.init.shared.b64 [bar], 1; {} {} tcgen05.st.sync.aligned.32x32b.x32.b32 [%r91], {}; tcgen05.wait::st.sync.aligned; bar.sync 0;
        add.u32 %r92, %r90, {}; @%p9 tcgen05.shift.cta_group::1.down [%r92 + 8]; {COMMITTED} {}",
        own(0, 32), moved(true, 100, 32), registers(100, 32), 32 << 16, out(1, 32)
    );
    let found = words(
        &run(
            &body,
            128,
            32,
            &[bytes(before.clone()), vec![0; 4 * 128 * 32]],
        )
        .unwrap(),
    );
    let mut wanted = before.clone();
    for lane in 32..63 {
        for column in 8..16 {
            wanted[lane * 32 + column] = before[(lane + 1) * 32 + column];
        }
    }
    assert!(found == wanted);
}

/// A warp that finds no columns goes on when another one frees some.
#[test]
fn an_allocation_waits_for_columns() {
    let body = "mov.u32 %r80, %tid.x; setp.lt.u32 %p8, %r80, 32; @!%p8 bra SECOND;
        tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [at], 512;
        bar.sync 0; mov.u32 %r1, 0; T: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 20000; @%p1 bra T;
        ld.shared.b32 %r90, [at]; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r90, 512; bra END;
        SECOND: bar.sync 0; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [at+4], 256;
        ld.shared.b32 %r91, [at+4]; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r91, 256; add.u32 %r91, %r91, 7; st.global.u32 [%d0], %r91; END:";
    let found = run_plain(body, 64, &[vec![0; 4]]).unwrap();
    assert_eq!(words(&found), [7]);
}

/// What there is not is said, with the line.
#[test]
fn what_tensor_memory_has_not_is_said() {
    let alloc = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [at],";
    let all = format!("mov.u32 %r80, %tid.x; {alloc} 64; ld.shared.b32 %r90, [at];");
    let cases = [
        (
            format!("{alloc} 512; {alloc} 32;"),
            "for columns of tensor memory that are taken",
        ),
        (
            format!("{alloc} 48;"),
            "48 columns cannot be allocated: a power of two from 32 to 512 can",
        ),
        (
            format!("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; {alloc} 32;"),
            "after `relinquish_alloc_permit`",
        ),
        (
            format!("{all} tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r90, 32;"),
            "were not allocated together",
        ),
        (
            format!("{all} tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%r1}}, [%r90 + 64];"),
            "lane 0 has no columns 64 to 64",
        ),
        (
            format!(
                "{all} add.u32 %r90, %r90, {}; tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%r1}}, [%r90];",
                32 << 16
            ),
            "32 lanes from 32 on are not among those of the warp",
        ),
        (
            format!("{all} tcgen05.mma.cta_group::1.kind::f16 [%r90], %d1, %d1, 16, 0;"),
            "there is no such product with 0 rows and 0 columns",
        ),
        (
            format!("{all} tcgen05.mma.cta_group::1.kind::f16 [%r90], %d1, %d1, 4, 0;"),
            "the descriptor says that A is sparse",
        ),
        (
            format!(
                "{all} add.u32 %r90, %r90, {}; tcgen05.mma.cta_group::1.kind::f16 [%r90], %d1, %d1, 0x8100010, 0;",
                16 << 16
            ),
            "D of 128 rows cannot begin in lane 16",
        ),
        (
            format!(
                "{all} mov.b64 %d1, {}; tcgen05.mma.cta_group::1.kind::f16 [%r90], %d1, %d1, 16, 0;",
                3u64 << 61
            ),
            "there is no swizzling mode 3",
        ),
        (
            format!("mov.u32 %r80, %tid.x; setp.lt.u32 %p1, %r80, 7; @%p1 {alloc} 32;"),
            "all threads of the warp must execute it",
        ),
    ];
    for (body, wanted) in cases {
        let error = run_plain(&body, 32, &[vec![0; 4]]).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    }
}

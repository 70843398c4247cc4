//! Pairs of CTAs (`.cta_group::2`): each has half of the rows of A and D, and half of the columns of B.

use proptest::prelude::*;
use warpwatt_ptx::load;
use warpwatt_simt::trace::Beyond;
use warpwatt_simt::{DeviceMemory, ExecError, Execution, Launch, Options, execute};

use crate::kernel::{bytes, moved, own, registers, words};
use crate::layout::{Canonical, matrix};
use crate::products::half;

/// Columns of tensor memory.
const COLUMNS: usize = 128;
/// Bytes of shared memory.
const IMAGE: usize = 16 * 1024;

/// What each of `ctas` CTAs has in its tensor memory after thread 0 of the first has executed `body`: before, it held the words of the second buffer, and shared
/// memory the bytes of the first. `%r90` is the address of tensor memory, `%d9` the tile's as descriptors have it.
fn run(
    body: &str,
    ctas: u32,
    buffers: [Vec<u8>; 2],
) -> Result<(Vec<Vec<u32>>, Execution), ExecError> {
    let fill: String = (0..COLUMNS / 32)
        .map(|part| {
            format!(
                "{} add.u64 %d20, %d20, %d30; add.u64 %d20, %d20, {}; {}
                tcgen05.st.sync.aligned.32x32b.x32.b32 [%r91 + {}], {};",
                own(1, COLUMNS as u32),
                128 * part,
                moved(true, 100, 32),
                32 * part,
                registers(100, 32)
            )
        })
        .collect();
    let out: String = (0..COLUMNS / 32)
        .map(|part| {
            format!(
                "tcgen05.ld.sync.aligned.32x32b.x32.b32 {}, [%r91 + {}]; tcgen05.wait::ld.sync.aligned;
                {} add.u64 %d20, %d20, %d30; add.u64 %d20, %d20, {}; {}",
                registers(100, 32),
                32 * part,
                own(1, COLUMNS as u32),
                128 * part,
                moved(false, 100, 32)
            )
        })
        .collect();
    let source = format!(
        ".version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 a0, .param .u64 a1)\n{{
        .shared .align 1024 .b8 tile[{IMAGE}]; .shared .align 8 .b8 bar[16]; .shared .align 4 .b8 at[8];
        .reg .pred %p<10>; .reg .b32 %r<500>; .reg .b64 %d<60>; .reg .b16 %h<4>; ld.param.u64 %d0, [a0]; ld.param.u64 %d1, [a1];
        mov.u32 %r80, %tid.x; mov.u32 %r81, %cluster_ctarank; setp.lt.u32 %p8, %r80, 32; setp.eq.u32 %p9, %r80, 0;
        @%p8 tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [at], {COLUMNS};
        bar.sync 0; ld.shared.b32 %r90, [at]; @%p8 tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;
        shr.u32 %r91, %r80, 5; shl.b32 %r91, %r91, 21; add.u32 %r91, %r91, %r90;
        mul.wide.u32 %d30, %r81, {each}; mul.wide.u32 %d31, %r81, {IMAGE}; add.u64 %d31, %d31, %d0;
        mov.u32 %r0, %r80; mov.u32 %r1, tile; add.u32 %r1, %r1, %r0; cvt.u64.u32 %d20, %r0; add.u64 %d20, %d20, %d31;
        L: setp.ge.u32 %p2, %r0, {IMAGE}; @%p2 bra M; ld.global.u8 %r2, [%d20]; st.shared.u8 [%r1], %r2;
        add.u32 %r0, %r0, 128; add.u32 %r1, %r1, 128; add.u64 %d20, %d20, 128; bra L; M:
        @%p9 mbarrier.init.shared.b64 [bar], 1; {fill} tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync;
        fence.proxy.async; barrier.cluster.arrive; barrier.cluster.wait; setp.eq.u32 %p7, %r81, 0; and.pred %p7, %p7, %p9;
        @!%p7 bra W; mov.u32 %r1, tile; cvt.u64.u32 %d9, %r1; shr.u64 %d9, %d9, 4; {body}
        mov.u16 %h1, 3; tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [bar], %h1;
        W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra W; tcgen05.fence::after_thread_sync; bar.sync 0; {out}
        barrier.cluster.arrive; barrier.cluster.wait; @%p8 tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r90, {COLUMNS}; ret; }}",
        each = 4 * 128 * COLUMNS
    );
    let module = load(&source).unwrap_or_else(|errors| panic!("{errors:#?}"));
    assert_eq!(module.entries[0].unsupported, []);
    let mut memory = DeviceMemory::new(&module);
    let addresses = buffers.map(|bytes| memory.alloc("buffer", bytes));
    let launch = Launch {
        entry: "k",
        grid: [ctas, 1, 1],
        block: [128, 1, 1],
        cluster: Some([ctas, 1, 1]),
        dynamic_shared: 0,
        params: addresses.iter().flat_map(|it| it.to_le_bytes()).collect(),
    };
    let options = Options {
        record: true,
        ..Options::default()
    };
    let done = execute(&module, &launch, &mut memory, &options)?;
    let found = words(memory.buffer(addresses[1]));
    let found = found.chunks_exact(128 * COLUMNS).map(<[u32]>::to_vec);
    Ok((found.collect(), done))
}

/// The CTA, lane and column of an element of D.
fn place_of_sum(rows: usize, columns: usize, row: usize, column: usize) -> [usize; 3] {
    let own = rows / 2;
    match own {
        128 => [row / own, row % own, column],
        _ => {
            let across = columns / 2;
            [
                row / own,
                column / across * own + row % own,
                column % across,
            ]
        }
    }
}

/// What lies in tensor memory before.
fn before() -> Vec<Vec<u32>> {
    let word = |cta: usize, at: usize| ((cta * 1000 + at) as f32).to_bits();
    (0..2)
        .map(|cta| (0..128 * COLUMNS).map(|at| word(cta, at)).collect())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// D = A B of halves of two CTAs is the plain sum, and nothing else changes.
    #[test]
    fn products_of_pairs_are_plain_sums(
        tall in any::<bool>(), groups in 1usize..9, pitch in 0usize..4, across in any::<[bool; 2]>(), masked in any::<bool>(), seed in any::<u32>()
    ) {
        let (rows, columns) = (if tall { 256 } else { 128 }, 16 * groups);
        let value = |at: usize| i64::from((seed ^ at as u32).wrapping_mul(0x9E37_79B9) >> 28) - 7;
        let of_a = |row: usize, at: usize| value(row * 64 + at);
        let of_b = |column: usize, at: usize| value(100_000 + column * 64 + at);
        let pitch = [16, 32, 64, 128][pitch];
        let layout = |rows: usize, transposed: bool| Canonical { pitch, coarse: false, size: 2, transposed, rows };
        let [a, b] = [layout(rows / 2, across[0]), layout(columns / 2, across[1])];
        let mut images = Vec::new();
        for cta in 0..2 {
            let mut image = vec![0u8; IMAGE];
            matrix(a, half, 0, |row, at| of_a(cta * rows / 2 + row, at), &mut image);
            matrix(b, half, 8192, |column, at| of_b(cta * columns / 2 + column, at), &mut image);
            images.extend(image);
        }
        let masks: Vec<u32> = (0..8).map(|at| if masked { seed.rotate_left(5 * at) } else { 0 }).collect();
        let set: String = masks.iter().enumerate().map(|(at, mask)| format!("mov.b32 %r6{at}, {mask}; ")).collect();
        let described = 1u32 << 4 | u32::from(across[0]) << 15 | u32::from(across[1]) << 16 | (columns as u32 >> 3) << 17 | (rows as u32 >> 4) << 24;
        let body = format!(
            "{set} add.u64 %d10, %d9, {}; add.u64 %d11, %d9, {}; mov.b32 %r50, {described};
            tcgen05.mma.cta_group::2.kind::f16 [%r90], %d10, %d11, %r50, {}, 0;",
            a.descriptor(0), b.descriptor(8192), registers(60, 8)
        );
        let mut wanted = before();
        let (found, done) = run(&body, 2, [images, bytes(wanted.concat())]).unwrap();
        for row in 0..rows {
            for column in 0..columns {
                let [cta, lane, place] = place_of_sum(rows, columns, row, column);
                if masks[4 * cta + lane / 32] >> (lane % 32) & 1 == 0 {
                    let sum: i64 = (0..16).map(|at| of_a(row, at) * of_b(column, at)).sum();
                    wanted[cta][lane * COLUMNS + place] = (sum as f32).to_bits();
                }
            }
        }
        prop_assert!(found == wanted);
        // The record tells the whole work, that two CTAs share it, and what both read.
        let trace = done.trace.unwrap();
        let work = trace.warp(0, 0).unwrap().find_map(|step| match step.beyond() {
            Some(Beyond::Tensor(work)) => Some(work),
            _ => None,
        });
        let work = work.unwrap();
        prop_assert_eq!(work.multiply_adds, (rows * columns * 16) as u64);
        prop_assert_eq!(work.shared_bytes, ((rows + columns) * 32) as u64);
        prop_assert!(work.pair);
    }
}

#[test]
fn both_ctas_of_a_pair_copy_and_shift() {
    let images: Vec<u8> = (0..2 * IMAGE).map(|at| (at * 7 / 3) as u8).collect();
    let body = "mov.b64 %d11, 0x4000; shl.b64 %d11, %d11, 32; or.b64 %d11, %d11, %d9; mov.b64 %d12, 8; shl.b64 %d12, %d12, 32; or.b64 %d11, %d11, %d12;
        tcgen05.cp.cta_group::2.128x128b [%r90 + 32], %d11; tcgen05.shift.cta_group::2.down [%r90 + 8];";
    let mut wanted = before();
    let (found, _) = run(body, 2, [images.clone(), bytes(wanted.concat())]).unwrap();
    for (cta, wanted) in wanted.iter_mut().enumerate() {
        for lane in 0..128 {
            let from = cta * IMAGE + lane * 16;
            let row = words(&images[from..from + 16]);
            wanted[lane * COLUMNS + 32..][..4].copy_from_slice(&row);
        }
        for lane in 0..31 {
            let behind = (lane + 1) * COLUMNS + 8;
            wanted.copy_within(behind..behind + 8, lane * COLUMNS + 8);
        }
    }
    assert!(found == wanted);
}

#[test]
fn who_has_no_partner_is_told() {
    let body =
        "mov.b32 %r50, 0x10040010; tcgen05.mma.cta_group::2.kind::f16 [%r90], %d9, %d9, %r50, 0;";
    let buffers = [vec![0; IMAGE], bytes(before().remove(0))];
    let Err(error) = run(body, 1, buffers) else {
        panic!("it ran");
    };
    let text = error.to_string();
    assert!(text.contains("a pair of CTAs needs a cluster"), "{text}");
}

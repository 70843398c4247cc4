//! Products of warpgroups, copies of tiles and the barriers that they tell, against plain loops.

use proptest::prelude::*;
use warpwatt_ptx::load;
use warpwatt_simt::{
    DeviceMemory, ExecError, Im2col, Launch, Options, Swizzle, TensorElement, TensorMap, execute,
};

const REGISTERS: &str = ".reg .pred %p<9>; .reg .b32 %r<99>; .reg .f32 %f<29>; .reg .b64 %d<29>;";

/// What is in the last buffer after a kernel of `threads` threads, whose parameters are the buffers' addresses and then tensor maps.
fn run(
    body: &str,
    threads: u32,
    buffers: &[Vec<u8>],
    maps: impl Fn(&[u64]) -> Vec<TensorMap>,
) -> Result<Vec<u8>, ExecError> {
    let addresses = (0..buffers.len()).map(|at| format!(".param .u64 a{at}"));
    let count = maps(&vec![0; buffers.len()]).len();
    let params = addresses.chain((0..count).map(|at| format!(".param .align 64 .b8 m{at}[128]")));
    let loads: String = (0..buffers.len())
        .map(|at| format!("ld.param.u64 %d{at}, [a{at}]; "))
        .collect();
    let source = format!(
        ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k({})\n{{
        .shared .align 1024 .b8 tile[32768]; .shared .align 8 .b8 bar[16];
        {REGISTERS} {loads} {body} ret; }}",
        params.collect::<Vec<_>>().join(", ")
    );
    let module = load(&source).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let entry = &module.entries[0];
    assert_eq!(entry.unsupported, []);
    let mut memory = DeviceMemory::new(&module);
    let addresses: Vec<u64> = buffers
        .iter()
        .map(|bytes| memory.alloc("buffer", bytes.clone()))
        .collect();
    let mut params = vec![0; entry.param_bytes() as usize];
    let values = addresses
        .iter()
        .map(|address| address.to_le_bytes().to_vec());
    let maps = maps(&addresses);
    let values = values.chain(maps.iter().map(|map| map.to_bytes().to_vec()));
    for (param, value) in entry.params.iter().zip(values) {
        params[param.offset as usize..][..value.len()].copy_from_slice(&value);
    }
    let launch = Launch {
        entry: "k",
        grid: [1, 1, 1],
        block: [threads, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        params,
    };
    execute(&module, &launch, &mut memory, &Options::default())?;
    Ok(memory.buffer(addresses[addresses.len() - 1]).to_vec())
}

/// Thread 0 has a copy told to `bar`, all wait for it.
fn awaited(bytes: u32, copy: &str) -> String {
    format!(
        "mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0;
        @%p0 mbarrier.init.shared.b64 [bar], 1; bar.sync 0;
        @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], {bytes};
        {copy}
        W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra W;"
    )
}

/// Copies the tile in shared memory, byte by byte, to the last of `buffers` buffers.
fn out(buffers: usize, bytes: u32) -> String {
    let last = buffers - 1;
    format!(
        "mov.u32 %r0, %tid.x; mov.u32 %r1, tile; add.u32 %r1, %r1, %r0;
        cvt.u64.u32 %d20, %r0; add.u64 %d20, %d20, %d{last};
        C: setp.ge.u32 %p2, %r0, {bytes}; @%p2 bra D;
        ld.shared.u8 %r2, [%r1]; st.global.u8 [%d20], %r2;
        add.u32 %r0, %r0, 128; add.u32 %r1, %r1, 128; add.u64 %d20, %d20, 128; bra C; D:"
    )
}

fn halves(values: impl Iterator<Item = i64>) -> Vec<u8> {
    // bf16: the upper half of a single.
    values
        .flat_map(|value| ((value as f32).to_bits() >> 16).to_le_bytes()[..2].to_vec())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A tile comes where a loop over its elements puts it, whatever of it lies outside.
    #[test]
    fn tiles_are_what_a_loop_copies(
        start in (-9i64..40, -3i64..9, -2i64..4),
        swizzle in 0usize..4,
        steps in (1u32..3, 1u32..3),
    ) {
        let extents = [24u32, 6, 3];
        let tile = [[8u32, 8, 16, 32][swizzle], 4, 2];
        let elements: Vec<u16> = (0..24 * 6 * 3).map(|at| at + 1).collect();
        let bytes: Vec<u8> = elements.iter().flat_map(|it| it.to_le_bytes()).collect();
        let counts = [tile[0], tile[1].div_ceil(steps.0), tile[2].div_ceil(steps.1)];
        let total = counts.iter().product::<u32>() * 2;
        let swizzles = [Swizzle::None, Swizzle::Bytes32, Swizzle::Bytes64, Swizzle::Bytes128];
        // Rows are as long as the swizzle at most.
        prop_assume!(tile[0] * 2 <= [32, 32, 64, 128][swizzle]);
        let (x, y, z) = start;
        let copy = format!(
            "mov.b64 %d9, m0; cvta.param.u64 %d9, %d9; mov.u32 %r3, {x}; mov.u32 %r4, {y}; mov.u32 %r5, {z};
            @%p0 cp.async.bulk.tensor.3d.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%d9, {{%r3, %r4, %r5}}], [bar];"
        );
        let body = format!("{} {}", awaited(total, &copy), out(2, total));
        let found = run(&body, 128, &[bytes, vec![0xcc; total as usize]], |at| vec![TensorMap {
            address: at[0],
            element: TensorElement::U16,
            extents: extents.to_vec(),
            strides: vec![48, 288],
            tile: tile.to_vec(),
            steps: vec![1, steps.0, steps.1],
            swizzle: swizzles[swizzle],
            fill_nan: false,
            im2col: None,
        }]).unwrap();
        let mut wanted = vec![0u8; total as usize];
        let mut place = 0u64;
        for c in 0..counts[2] { for b in 0..counts[1] { for a in 0..counts[0] {
            let at = [x + i64::from(a), y + i64::from(b * steps.0), z + i64::from(c * steps.1)];
            let inside = (0..3).all(|d| (0..i64::from(extents[d])).contains(&at[d]));
            let value = if inside { elements[(at[2] * 144 + at[1] * 24 + at[0]) as usize] } else { 0 };
            let mask = [0u64, 1, 3, 7][swizzle];
            let to = (place ^ (place >> 7 & mask) << 4) as usize;
            wanted[to..to + 2].copy_from_slice(&value.to_le_bytes());
            place += 2;
        } } }
        prop_assert_eq!(found, wanted);
    }

    /// A product of 64 rows from shared memory without swizzle, A as it is and B transposed, on top of what was there.
    #[test]
    fn products_of_a_warpgroup_are_plain_sums(seed in any::<u32>(), scale in prop::bool::ANY, left in prop::bool::ANY) {
        let value = |at: u64| i64::from((u64::from(seed) ^ at.wrapping_mul(0x9E37_79B9)) as u32 % 15) - 7;
        let a = |row: u64, at: u64| value(row * 16 + at);
        let b = |at: u64, column: u64| value(5000 + at * 8 + column);
        // Core matrices of eight rows of sixteen bytes: A by rows, then along the inner dimension; B, whose neighbours lie along the columns, has one of eight inner places.
        let order = (0..2u64).flat_map(|half| (0..64u64).flat_map(move |row| (0..8u64).map(move |at| (row, half * 8 + at))));
        let left_bytes = halves(order.map(|(row, at)| a(row, at)));
        let right = (0..16u64).flat_map(|at| (0..8u64).map(move |column| (at, column)));
        let right_bytes = halves(right.map(|(at, column)| b(at, column)));
        let mut image = left_bytes;
        image.extend(right_bytes);
        // Descriptors: the start, the distances of pieces along the inner dimension and of groups of eight rows.
        let lead_a = 1024u64 >> 4 << 16 | 128u64 >> 4 << 32;
        let lead_b = 2048u64 >> 4 | 128u64 >> 4 << 16 | 128u64 >> 4 << 32;
        let (fragment, operand, flags) = if left {
            // A lane's four registers: rows of its group and eight further, pieces of the first and second half.
            let load = |register: u32, row: u32, half: u32| format!(
                "ld.shared.b32 %r{register}, [%r40+{}];", row * 16 + half * 1024
            );
            let address = "mov.u32 %r0, %tid.x; shr.u32 %r41, %r0, 5; and.b32 %r42, %r0, 31; shr.u32 %r43, %r42, 2; and.b32 %r44, %r42, 3;
                mad.lo.u32 %r43, %r41, 16, %r43; shl.b32 %r43, %r43, 4; shl.b32 %r44, %r44, 2; add.u32 %r40, %r43, %r44; mov.u32 %r45, tile; add.u32 %r40, %r40, %r45;";
            let loads: String = [(50, 0, 0), (51, 8, 0), (52, 0, 1), (53, 8, 1)].map(|(r, row, half)| load(r, row, half)).concat();
            (format!("{address}{loads}"), "{%r50, %r51, %r52, %r53}", "1, 1, 1")
        } else {
            (String::new(), "%d10", "1, 1, 0, 1")
        };
        let body = format!(
            "mov.u32 %r0, %tid.x; mov.u32 %r1, tile; add.u32 %r1, %r1, %r0; cvt.u64.u32 %d20, %r0; add.u64 %d20, %d20, %d0;
            L: setp.ge.u32 %p2, %r0, 2304; @%p2 bra M; ld.global.u8 %r2, [%d20]; st.shared.u8 [%r1], %r2;
            add.u32 %r0, %r0, 128; add.u32 %r1, %r1, 128; add.u64 %d20, %d20, 128; bra L; M:
            fence.proxy.async; bar.sync 0; {fragment}
            mov.u32 %r1, tile; cvt.u64.u32 %d9, %r1; shr.u64 %d9, %d9, 4;
            add.u64 %d10, %d9, {lead_a}; add.u64 %d11, %d9, {lead_b};
            mov.f32 %f0, 0f40400000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
            setp.eq.u32 %p3, 0, {};
            wgmma.fence.sync.aligned;
            wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {{%f0, %f1, %f2, %f3}}, {operand}, %d11, %p3, {flags};
            wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
            mov.u32 %r0, %tid.x; shl.b32 %r0, %r0, 4; cvt.u64.u32 %d20, %r0; add.u64 %d20, %d20, %d1;
            st.global.v4.f32 [%d20], {{%f0, %f1, %f2, %f3}};",
            u32::from(!scale)
        );
        let found = run(&body, 128, &[image, vec![0; 2048]], |_| Vec::new()).unwrap();
        for thread in 0..128u64 {
            for part in 0..4u64 {
                let row = thread / 32 * 16 + thread % 32 / 4 + part / 2 * 8;
                let column = thread % 4 * 2 + part % 2;
                let sum: i64 = (0..16).map(|at| a(row, at) * b(at, column)).sum();
                let wanted = (sum + if scale { 3 } else { 0 }) as f32;
                let at = (thread * 16 + part * 4) as usize;
                let got = f32::from_le_bytes(found[at..at + 4].try_into().unwrap());
                prop_assert_eq!(got, wanted, "row {} column {}", row, column);
            }
        }
    }
}

/// The example of the ISA: pixels from the filter's corner on, line by line, across the images.
#[test]
fn pixels_come_line_by_line() {
    let (channels, width, height, images) = (16u32, 9u32, 14u32, 4u32);
    let elements: Vec<u8> = (0..channels * width * height * images)
        .flat_map(|at| (at as u16).to_le_bytes())
        .collect();
    let total = 64 * 8 * 2;
    let copy = "mov.b64 %d9, m0; cvta.param.u64 %d9, %d9; mov.u32 %r3, 0; mov.u32 %r4, 7; mov.u32 %r5, 7; mov.u32 %r6, 1;
        @%p0 cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [tile], [%d9, {%r3, %r4, %r5, %r6}], [bar], {1, 0};";
    let body = format!("{} {}", awaited(total, copy), out(2, total));
    let found = run(&body, 128, &[elements, vec![0; total as usize]], |at| {
        vec![TensorMap {
            address: at[0],
            element: TensorElement::U16,
            extents: vec![channels, width, height, images],
            strides: vec![32, 32 * 9, 32 * 9 * 14],
            tile: vec![1; 4],
            steps: vec![1; 4],
            swizzle: Swizzle::None,
            fill_nan: false,
            im2col: Some(Im2col {
                lower: [-1, -1, 0],
                upper: [-1, -1, 0],
                pixels: 64,
                channels: 8,
            }),
        }]
    })
    .unwrap();
    let (mut w, mut h, mut n) = (7i64, 7i64, 1i64);
    for pixel in 0..64usize {
        let (x, y) = (w + 1, h);
        for channel in 0..8usize {
            let inside = (0..9).contains(&x) && (0..14).contains(&y) && n < 4;
            let at = ((n * 14 + y) * 9 + x) * 16 + channel as i64;
            let wanted = if inside { at as u16 } else { 0 };
            let place = (pixel * 8 + channel) * 2;
            let got = u16::from_le_bytes([found[place], found[place + 1]]);
            assert_eq!(got, wanted, "pixel {pixel}, channel {channel}");
        }
        w += 1;
        if w >= 9 - 1 {
            (w, h) = (-1, h + 1);
            if h >= 14 - 1 {
                (h, n) = (-1, n + 1);
            }
        }
    }
}

/// A tile goes back, added to what is there, but for what lies outside.
#[test]
fn tiles_are_added_where_they_lie() {
    let body = "mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; shl.b32 %r1, %r0, 2; mov.u32 %r2, tile; add.u32 %r2, %r2, %r1;
        st.shared.u32 [%r2], %r0; bar.sync 0; fence.proxy.async; mov.b64 %d9, m0; cvta.param.u64 %d9, %d9; mov.u32 %r3, 4; mov.u32 %r4, -1;
        @%p0 cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%d9, {%r3, %r4}], [tile];
        @%p0 cp.async.bulk.commit_group; @%p0 cp.async.bulk.wait_group 0;";
    let before: Vec<u8> = (0..40u32)
        .flat_map(|at| (1000 * at).to_le_bytes())
        .collect();
    let found = run(body, 64, &[before], |at| {
        vec![TensorMap {
            address: at[0],
            element: TensorElement::U32,
            extents: vec![8, 5],
            strides: vec![32],
            tile: vec![8, 4],
            steps: vec![1, 1],
            swizzle: Swizzle::None,
            fill_nan: false,
            im2col: None,
        }]
    })
    .unwrap();
    for at in 0..40u32 {
        let (row, column) = (at / 8, at % 8);
        // Rows -1 to 2 and columns 4 to 11 of the tile's.
        let added = if row < 3 && column >= 4 {
            (row + 1) * 8 + column - 4
        } else {
            0
        };
        let place = at as usize * 4;
        let got = u32::from_le_bytes(found[place..place + 4].try_into().unwrap());
        assert_eq!(got, 1000 * at + added, "row {row} column {column}");
    }
}

/// A warp of a group that does not come is named, with the lines where the others wait.
#[test]
fn a_warpgroup_is_waited_for_as_a_whole() {
    let body = "mov.u32 %r0, %tid.x; setp.ge.u32 %p0, %r0, 96; @%p0 bra E; wgmma.wait_group.sync.aligned 0; E:";
    let error = run(body, 128, &[vec![0; 8]], |_| Vec::new()).unwrap_err();
    assert!(error.to_string().contains("warpgroup 0"), "{error}");
}

/// A map that no copy can use says why.
#[test]
fn a_map_of_another_rank_is_refused() {
    let copy = "mov.b64 %d9, m0; cvta.param.u64 %d9, %d9; mov.u32 %r3, 0;
        @%p0 cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%d9, {%r3}], [bar];";
    let error = run(&awaited(64, copy), 32, &[vec![0; 64]], |at| {
        vec![TensorMap {
            address: at[0],
            element: TensorElement::U32,
            extents: vec![4, 4],
            strides: vec![16],
            tile: vec![4, 4],
            steps: vec![1, 1],
            ..TensorMap::default()
        }]
    })
    .unwrap_err();
    assert!(error.to_string().contains("dimensions"), "{error}");
}

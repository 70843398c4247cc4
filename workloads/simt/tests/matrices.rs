//! Matrix instructions against plain sums.

use proptest::prelude::*;
use warpwatt_ptx::load;
use warpwatt_simt::{DeviceMemory, Launch, Options, execute};

/// Runs a kernel of one warp on buffers that are its parameters; the last one's words afterwards.
fn run(body: &str, buffers: &[Vec<u8>]) -> Vec<u32> {
    let params: Vec<String> = (0..buffers.len())
        .map(|at| format!(".param .u64 p{at}"))
        .collect();
    let loads: String = (0..buffers.len())
        .map(|at| format!("ld.param.u64 %rd{at}, [p{at}];"))
        .collect();
    let source = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k({})\n{{
        .shared .align 16 .b8 tile[1024];
        .reg .pred %p<9>; .reg .b32 %r<99>; .reg .f32 %f<29>; .reg .b64 %rd<29>;
        {loads} {body} ret; }}",
        params.join(", ")
    );
    let module = load(&source).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let mut memory = DeviceMemory::new(&module);
    let addresses: Vec<u64> = buffers
        .iter()
        .map(|bytes| memory.alloc("buffer", bytes.clone()))
        .collect();
    let launch = Launch {
        entry: "k",
        grid: [1, 1, 1],
        block: [32, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        params: addresses
            .iter()
            .flat_map(|address| address.to_le_bytes())
            .collect(),
    };
    execute(&module, &launch, &mut memory, &Options::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let last = memory.buffer(addresses[addresses.len() - 1]);
    last.chunks_exact(4)
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect()
}

fn registers(prefix: &str, range: std::ops::Range<u32>) -> String {
    let names: Vec<String> = range.map(|at| format!("%{prefix}{at}")).collect();
    format!("{{{}}}", names.join(","))
}

/// Halves with small whole values, which every sum holds exactly.
fn halves(values: &[i8]) -> Vec<u8> {
    let half = |value: i8| -> u16 {
        let magnitude = f32::from(value.unsigned_abs());
        if value == 0 {
            return 0;
        }
        let exponent = magnitude.log2().floor() as u16;
        let fraction = ((magnitude / f32::from(1u16 << exponent) - 1.0) * 1024.0) as u16;
        (u16::from(value < 0) << 15) | ((exponent + 15) << 10) | fraction
    };
    values
        .iter()
        .flat_map(|&value| half(value).to_le_bytes())
        .collect()
}

fn product(a: &[i8], b: &[i8], [m, n, k]: [usize; 3]) -> Vec<i32> {
    let one = |row: usize, column: usize| -> i32 {
        (0..k)
            .map(|at| i32::from(a[row * k + at]) * i32::from(b[at * n + column]))
            .sum()
    };
    (0..m * n).map(|at| one(at / n, at % n)).collect()
}

fn singles(words: &[u32]) -> Vec<i32> {
    words
        .iter()
        .map(|&word| f32::from_bits(word) as i32)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn wmma_of_halves_is_the_product(a in prop::collection::vec(-9i8..9, 256), b in prop::collection::vec(-9i8..9, 256)) {
        let (ra, rb, fc) = (registers("r", 0..8), registers("r", 8..16), registers("f", 0..8));
        let body = format!(
            "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {ra}, [%rd0], 16;
            wmma.load.b.sync.aligned.row.m16n16k16.global.f16 {rb}, [%rd1];
            wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {fc}, [%rd2], 16;
            wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 {fc}, {ra}, {rb}, {fc};
            wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd2], {fc}, 16;"
        );
        let found = run(&body, &[halves(&a), halves(&b), vec![0; 1024]]);
        prop_assert_eq!(singles(&found), product(&a, &b, [16, 16, 16]));
    }

    #[test]
    fn wmma_of_bytes_in_columns_is_the_product(a in prop::collection::vec(any::<i8>(), 128), b in prop::collection::vec(any::<i8>(), 512)) {
        let (ra, rb, rc) = (registers("r", 0..1), registers("r", 8..12), registers("r", 20..28));
        let body = format!(
            "wmma.load.a.sync.aligned.row.m8n32k16.s8 {ra}, [%rd0], 16;
            wmma.load.b.sync.aligned.col.m8n32k16.s8 {rb}, [%rd1], 16;
            wmma.load.c.sync.aligned.row.m8n32k16.s32 {rc}, [%rd2], 32;
            wmma.mma.sync.aligned.row.col.m8n32k16.s32.s8.s8.s32 {rc}, {ra}, {rb}, {rc};
            wmma.store.d.sync.aligned.row.m8n32k16.s32 [%rd2], {rc}, 32;"
        );
        let mut columns = vec![0; 512];
        for (at, &value) in b.iter().enumerate() {
            columns[at % 32 * 16 + at / 32] = value as u8;
        }
        let found = run(&body, &[a.iter().map(|&v| v as u8).collect(), columns, vec![0; 1024]]);
        let found: Vec<i32> = found.iter().map(|&word| word as i32).collect();
        prop_assert_eq!(found, product(&a, &b, [8, 32, 16]));
    }

    /// Rows come through `ldmatrix`, so that its layout and that of `mma` must agree; the result is stored as PTX lays it out.
    #[test]
    fn mma_of_rows_loaded_from_shared_memory_is_the_product(a in prop::collection::vec(-9i8..9, 256), b in prop::collection::vec(-9i8..9, 128)) {
        let body = "
            mov.u32 %r40, %tid.x; mov.u32 %r41, tile;
            // 32 lanes copy 16 bytes each: A, then B behind it.
            shl.b32 %r42, %r40, 4; cvt.u64.u32 %rd10, %r42;
            add.s64 %rd11, %rd0, %rd10; ld.global.v4.u32 {%r50,%r51,%r52,%r53}, [%rd11];
            add.u32 %r43, %r41, %r42; st.shared.v4.u32 [%r43], {%r50,%r51,%r52,%r53};
            setp.lt.u32 %p1, %r40, 16;
            add.s64 %rd11, %rd1, %rd10; @%p1 ld.global.v4.u32 {%r50,%r51,%r52,%r53}, [%rd11];
            @%p1 st.shared.v4.u32 [%r43+512], {%r50,%r51,%r52,%r53};
            bar.sync 0;
            // A's rows are 32 bytes: lanes 0..15 give rows, lanes 16..31 the right halves of them.
            and.b32 %r44, %r40, 15; shl.b32 %r44, %r44, 5; shr.u32 %r45, %r40, 4; shl.b32 %r45, %r45, 4;
            add.u32 %r44, %r44, %r45; add.u32 %r44, %r44, %r41;
            ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0,%r1,%r2,%r3}, [%r44];
            // B's 16 rows are 16 bytes each; its columns are wanted.
            and.b32 %r46, %r40, 15; shl.b32 %r46, %r46, 4; add.u32 %r46, %r46, %r41;
            ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r4,%r5}, [%r46+512];
            mov.f32 %f0, 0f00000000;
            mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f0,%f0,%f0,%f0};
            // Row lane/4 and that plus 8, columns 2 (lane%4) and the next.
            shr.u32 %r47, %r40, 2; shl.b32 %r47, %r47, 5; and.b32 %r48, %r40, 3; shl.b32 %r48, %r48, 3;
            add.u32 %r47, %r47, %r48; cvt.u64.u32 %rd12, %r47; add.s64 %rd12, %rd2, %rd12;
            st.global.v2.f32 [%rd12], {%f1,%f2}; st.global.v2.f32 [%rd12+256], {%f3,%f4};";
        let found = run(body, &[halves(&a), halves(&b), vec![0; 512]]);
        prop_assert_eq!(singles(&found), product(&a, &b, [16, 8, 16]));
    }
}

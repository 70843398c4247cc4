//! Kernels with and without data races.

use warpwatt_ptx::load;
use warpwatt_simt::races::{AccessKind, Race, RaceKind};
use warpwatt_simt::{DeviceMemory, Launch, Options, execute};

/// Runs `body`, whose first line is line 7 of the file: `%r1` is the thread in its CTA, `%r9` its word in shared memory and `%r10` that of
/// the thread 32 further on, `%rd1` the buffer, `%rd2` the word of the thread in the grid, `%p1` holds in warp 0, `%p2` in CTA 0.
fn races(body: &str, ctas: u32, threads: u32) -> Vec<Race> {
    let source = format!(
        ".version 8.0 .target sm_70 .address_size 64 .visible .entry k(.param .u64 p) {{
        .reg .pred %p<9>; .reg .b32 %r<19>; .reg .b16 %rs<9>; .reg .b64 %rd<19>; .shared .align 4 .b8 tile[1024];
        mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [p]; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.s32 %r4, %r2, %r3, %r1;
        mul.wide.u32 %rd2, %r4, 4; add.s64 %rd2, %rd1, %rd2; mov.u32 %r9, tile; shl.b32 %r8, %r1, 2; add.s32 %r9, %r9, %r8;
        add.s32 %r10, %r8, 128; and.b32 %r10, %r10, 255; mov.u32 %r8, tile; add.s32 %r10, %r10, %r8;
        setp.lt.u32 %p1, %r1, 32; setp.eq.u32 %p2, %r2, 0;
{body}
        ret; }}"
    );
    let module = load(&source).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let mut memory = DeviceMemory::new(&module);
    let address = memory.alloc("p", vec![0; 4096]);
    let launch = Launch {
        entry: "k",
        grid: [ctas, 1, 1],
        block: [threads, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        params: address.to_le_bytes().to_vec(),
    };
    let options = Options {
        races: true,
        ..Options::default()
    };
    let execution = execute(&module, &launch, &mut memory, &options);
    execution.unwrap_or_else(|error| panic!("{error}")).races
}

/// Kind, lines and whether it matters, of each race.
fn found(races: &[Race]) -> Vec<(RaceKind, [u32; 2], bool)> {
    let races = races.iter();
    races
        .map(|race| {
            let lines = [race.first.line, race.second.line];
            (race.kind, lines, race.matters())
        })
        .collect()
}

const EXCHANGE: &str =
    "st.shared.u32 [%r9], %r1;\nBARRIER\nld.shared.u32 %r5, [%r10];\nst.global.u32 [%rd2], %r5;";

#[test]
fn a_missing_barrier() {
    let races = races(&EXCHANGE.replace("BARRIER", ""), 1, 64);
    // Warp 0 stores and loads; then warp 1 stores what warp 0 has read, and loads what it has stored.
    let expected = [
        (RaceKind::Shared, [7, 9], true),
        (RaceKind::Shared, [9, 7], true),
    ];
    assert_eq!(found(&races), expected);
    let race = &races[1];
    assert_eq!(
        (race.first.access, race.second.access),
        (AccessKind::Read, AccessKind::Write)
    );
    assert_eq!((race.first.warp, race.second.warp, race.count), (0, 1, 32));
    assert_eq!(
        race.to_string(),
        "race of warps of a CTA with no barrier between them: load at PTX line 9 (CTA (0, 0, 0), warp 0) and \
         store at PTX line 7 (CTA (0, 0, 0), warp 1) in shared memory at 0x80, 32 times"
    );
}

#[test]
fn barriers_of_all_kinds_order() {
    for barrier in [
        "bar.sync 0;",
        "bar.sync 3, 64;",
        "bar.red.popc.u32 %r5, 0, %p1;",
        "@%p1 bar.arrive 1, 64; @!%p1 bar.sync 1, 64; @!%p1 bar.arrive 2, 64; @%p1 bar.sync 2, 64;",
    ] {
        let races = races(&EXCHANGE.replace("BARRIER", barrier), 1, 64);
        assert_eq!(found(&races), [], "{barrier}");
    }
}

/// A barrier of others orders nothing.
#[test]
fn a_barrier_of_two_of_three_warps() {
    let body = "setp.lt.u32 %p3, %r1, 64;\nst.shared.u32 [%r9], %r1;\n@%p3 bar.sync 1, 64;\n@%p1 ld.shared.u32 %r5, [%r9+256];";
    assert_eq!(
        found(&races(body, 1, 96)),
        [(RaceKind::Shared, [8, 10], true)]
    );
}

/// One arrival tells what was before it, not what comes after.
#[test]
fn what_follows_an_arrival_is_not_ordered() {
    let body = "@%p1 bar.arrive 1, 64;\n@%p1 st.shared.u32 [%r9], %r1;\n@!%p1 bar.sync 1, 64;\n@!%p1 ld.shared.u32 %r5, [%r10];";
    assert_eq!(
        found(&races(body, 1, 64)),
        [(RaceKind::Shared, [8, 10], true)]
    );
}

#[test]
fn lanes_of_a_warp_run_in_lockstep() {
    let body = "st.shared.u32 [%r9], %r1;\nld.shared.u32 %r5, [%r9+4];\nst.shared.u32 [%r9], %r5;";
    assert_eq!(found(&races(body, 1, 32)), []);
}

#[test]
fn lanes_that_store_different_values_are_noted() {
    let body = "mov.u32 %r5, tile;\nst.shared.u32 [%r5], %r1;";
    let races = races(body, 1, 32);
    assert_eq!(found(&races), [(RaceKind::Lanes, [8, 8], false)]);
    assert_eq!(races[0].count, 31);
}

#[test]
fn stores_of_the_same_value_are_benign() {
    let body = "mov.u32 %r5, tile;\nmov.u32 %r6, 7;\nst.shared.u32 [%r5], %r6;";
    let races = races(body, 1, 64);
    assert_eq!(found(&races), [(RaceKind::Shared, [9, 9], false)]);
    assert!(races[0].same_value);
}

/// Bytes of one word that different warps store are different places.
#[test]
fn neighbouring_bytes_do_not_race() {
    let body = "cvt.u16.u32 %rs1, %r1;\nshr.u32 %r5, %r1, 5;\nmov.u32 %r6, tile;\nadd.s32 %r6, %r6, %r5;\nst.shared.u8 [%r6], %rs1;";
    let lanes_only = races(body, 1, 64);
    assert!(
        lanes_only.iter().all(|race| race.kind == RaceKind::Lanes),
        "{lanes_only:?}"
    );
}

#[test]
fn atomics_do_not_race_with_each_other_but_with_plain_accesses() {
    let atomics = "mov.u32 %r5, tile;\natom.shared.add.u32 %r6, [%r5], 1;";
    assert_eq!(found(&races(atomics, 1, 64)), []);
    let read = format!("{atomics}\nld.shared.u32 %r7, [%r5];");
    let races = races(&read, 1, 64);
    let expected = [
        (RaceKind::Shared, [8, 9], true),
        (RaceKind::Shared, [9, 8], true),
    ];
    assert_eq!(found(&races), expected);
    assert_eq!(races[1].second.access, AccessKind::Atomic);
}

#[test]
fn ctas_are_in_no_order() {
    let body = "st.global.u32 [%rd1], %r2;";
    let written = races(body, 2, 1);
    assert_eq!(found(&written), [(RaceKind::Ctas, [7, 7], true)]);
    assert_eq!(written[0].place, "byte 0 of `p`");
    let body = "@%p2 st.global.u32 [%rd1], %r3;\n@!%p2 ld.global.u32 %r5, [%rd1];";
    assert_eq!(found(&races(body, 2, 1)), [(RaceKind::Ctas, [7, 8], true)]);
    // Through the generic space, and the reader first.
    let body = "@%p2 ld.u32 %r5, [%rd1];\n@!%p2 st.global.u32 [%rd1], %r3;";
    assert_eq!(found(&races(body, 2, 1)), [(RaceKind::Ctas, [7, 8], true)]);
}

#[test]
fn ctas_with_words_of_their_own_do_not_race() {
    let body =
        "ld.global.u32 %r5, [%rd2];\nst.global.u32 [%rd2], %r4;\nld.global.u32 %r6, [%rd1+2048];";
    assert_eq!(found(&races(body, 4, 64)), []);
}

#[test]
fn global_memory_needs_barriers_within_a_cta() {
    let body = "st.global.u32 [%rd2], %r3;\nBARRIER\nxor.b32 %r5, %r1, 32;\nmul.wide.u32 %rd3, %r5, 4;\nadd.s64 %rd3, %rd1, %rd3;\nld.global.u32 %r6, [%rd3];";
    let with = races(&body.replace("BARRIER", "bar.sync 0;"), 1, 64);
    assert_eq!(found(&with), []);
    let without = races(&body.replace("BARRIER", ""), 1, 64);
    assert_eq!(
        found(&without),
        [
            (RaceKind::Global, [7, 12], true),
            (RaceKind::Global, [12, 7], true)
        ]
    );
}

/// The last CTA reads what the others have stored: it knows that they have from a counter, if they fenced before they counted.
#[test]
fn a_fence_and_an_atomic_order_ctas() {
    let body = "st.global.u32 [%rd2], %r4;\nFENCE\nbar.sync 0;\nadd.s64 %rd3, %rd1, 2048;\n@%p1 atom.global.add.u32 %r5, [%rd3], 1;\nbar.sync 0;
        @!%p2 ld.global.u32 %r6, [%rd1+4];\n@!%p2 ld.global.u32 %r7, [%rd1+132];";
    let fenced = races(&body.replace("FENCE", "membar.gl;"), 2, 64);
    assert_eq!(found(&fenced), []);
    let unfenced = races(&body.replace("FENCE", ""), 2, 64);
    assert_eq!(
        found(&unfenced),
        [
            (RaceKind::Ctas, [7, 13], true),
            (RaceKind::Ctas, [7, 14], true)
        ]
    );
}

/// What is stored after the atomic is not told by it.
#[test]
fn what_follows_the_atomic_is_not_ordered() {
    let body = "membar.gl;\nadd.s64 %rd3, %rd1, 2048;\natom.global.add.u32 %r5, [%rd3], 1;\n@%p2 st.global.u32 [%rd1], %r3;\n@!%p2 ld.global.u32 %r6, [%rd1];";
    assert_eq!(
        found(&races(body, 2, 1)),
        [(RaceKind::Ctas, [10, 11], true)]
    );
}

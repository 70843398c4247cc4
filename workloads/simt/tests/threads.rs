//! However many threads execute a launch: its outcome is that of one CTA after the other.

use warpwatt_ptx::load;
use warpwatt_simt::trace::file;
use warpwatt_simt::{Cause, DeviceMemory, ExecError, Execution, Launch, Options, execute};

/// CTAs of a launch, of 256 threads with some 1,600 instructions each: enough for several threads.
const CTAS: u32 = 120;

/// A launch of `body`, which computes `%r9` from `%r8`, the number of the thread in the grid; `%rd2` is the address of its word.
fn run(body: &str, options: &Options) -> (Result<Execution, ExecError>, Vec<u8>) {
    let source = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{
        .reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<19>; .reg .b64 %rd<19>;
        mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r8, %r2, 256, %r1;
        ld.param.u64 %rd1, [p]; mul.wide.u32 %rd2, %r8, 4; add.s64 %rd2, %rd1, %rd2;
        mov.u32 %r3, 0; mov.u32 %r9, %r8;
        $loop: mad.lo.u32 %r9, %r9, 1664525, 1013904223; add.u32 %r3, %r3, 1;
        setp.lt.u32 %p1, %r3, 400; @%p1 bra $loop;
        {body}\n}}\n"
    );
    let module = load(&source).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let mut memory = DeviceMemory::new(&module);
    let words = 0..CTAS * 256;
    let address = memory.alloc("p", words.flat_map(u32::to_le_bytes).collect());
    let launch = Launch {
        entry: "k",
        grid: [CTAS, 1, 1],
        block: [256, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        params: address.to_le_bytes().to_vec(),
    };
    let outcome = execute(&module, &launch, &mut memory, options);
    (outcome, memory.buffer(address).to_vec())
}

fn with(threads: usize) -> Options {
    Options {
        threads,
        ..Options::default()
    }
}

/// The launch on one thread and on several is the same; says how many of its instructions were spread.
fn same(body: &str) -> u64 {
    let (alone, memory) = run(body, &with(1));
    let alone = alone.unwrap();
    assert_eq!(alone.spread, 0);
    let spread = [2, 3, 8].map(|threads| {
        let (found, after) = run(body, &with(threads));
        let found = found.unwrap();
        assert!(after == memory, "memory with {threads} threads");
        assert_eq!(
            [
                found.warp_instructions,
                found.thread_instructions,
                found.predicated_off
            ],
            [
                alone.warp_instructions,
                alone.thread_instructions,
                alone.predicated_off
            ]
        );
        let bytes = |run: &Execution| {
            let traces = [run.trace.as_ref().unwrap()];
            file::encode(&file::Key::default(), "k", &traces)
        };
        assert!(
            bytes(&found) == bytes(&alone),
            "trace with {threads} threads"
        );
        found.spread
    });
    assert!(spread.iter().all(|&some| (some > 0) == (spread[0] > 0)));
    spread[0]
}

#[test]
fn ctas_of_their_own_are_spread() {
    let spread = same("st.global.u32 [%rd2], %r9; ret;");
    assert!(spread > 1_000_000, "{spread}");
}

#[test]
fn what_a_cta_wrote_itself_it_may_read() {
    let spread = same(
        "st.global.u32 [%rd2], %r9; bar.sync 0; xor.b32 %r4, %r1, 255; mad.lo.u32 %r4, %r2, 256, %r4;
        mul.wide.u32 %rd3, %r4, 4; add.s64 %rd3, %rd1, %rd3; ld.global.u32 %r5, [%rd3]; bar.sync 0;
        add.u32 %r5, %r5, %r9; st.global.u32 [%rd2], %r5; ret;",
    );
    assert!(spread > 1_000_000, "{spread}");
}

#[test]
fn what_an_earlier_cta_wrote_is_read() {
    // The word of the same thread in the CTA before, which that one has written: one after the other it hands a sum on.
    let spread = same(
        "setp.eq.u32 %p2, %r2, 0; @%p2 bra $first; ld.global.u32 %r4, [%rd2+-1024]; add.u32 %r9, %r9, %r4;
        $first: st.global.u32 [%rd2], %r9; ret;",
    );
    assert_eq!(spread, 0);
}

#[test]
fn what_a_later_cta_writes_is_not_read() {
    let spread = same(
        "add.u32 %r4, %r2, 1; setp.eq.u32 %p2, %r4, %nctaid.x; mov.u32 %r5, 0;
        @!%p2 ld.global.u32 %r5, [%rd2+1024]; add.u32 %r9, %r9, %r5; st.global.u32 [%rd2], %r9; ret;",
    );
    assert!(spread > 1_000_000, "{spread}");
}

#[test]
fn the_last_of_several_writers_wins() {
    let spread = same(
        "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd3, %rd1, %rd3; st.global.u32 [%rd3], %r9; ret;",
    );
    assert!(spread > 1_000_000, "{spread}");
}

#[test]
fn bytes_of_a_word_that_several_write_are_all_kept() {
    // Threads of neighbouring CTAs share words: byte `4 * thread + CTA % 4`.
    let spread = same(
        "and.b32 %r4, %r2, 3; shr.u32 %r5, %r2, 2; mad.lo.u32 %r5, %r5, 1024, %r4; mad.lo.u32 %r5, %r1, 4, %r5;
        cvt.u64.u32 %rd3, %r5; add.s64 %rd3, %rd1, %rd3; st.global.u8 [%rd3], %r9; ret;",
    );
    assert_eq!(spread, 0);
    // Those of a CTA have whole words.
    let own =
        same("cvt.u64.u32 %rd3, %r8; add.s64 %rd3, %rd1, %rd3; st.global.u8 [%rd3], %r9; ret;");
    assert!(own > 1_000_000, "{own}");
}

#[test]
fn what_is_copied_to_shared_memory_is_read() {
    // 16 bytes of each fourth thread, from this CTA's words or from those of the CTA before.
    let body = |back: u32| {
        format!(
            ".shared .align 16 .b8 tile[1024]; and.b32 %r4, %r1, 3; setp.ne.u32 %p2, %r4, 0; setp.eq.u32 %p3, %r2, 0;
            mov.u32 %r5, tile; mad.lo.u32 %r6, %r1, 4, %r5; @%p3 bra $out; sub.s64 %rd3, %rd2, {back};
            @!%p2 cp.async.cg.shared.global [%r6], [%rd3], 16; cp.async.wait_all; bar.sync 0; ld.shared.u32 %r7, [%r6];
            add.u32 %r9, %r9, %r7; $out: bar.sync 0; st.global.u32 [%rd2], %r9; ret;"
        )
    };
    let own = same(&body(0));
    assert!(own > 1_000_000, "{own}");
    assert_eq!(same(&body(1024)), 0);
}

#[test]
fn atomics_go_one_after_the_other() {
    let spread = same("atom.global.add.u32 %r4, [%rd1], 1; st.global.u32 [%rd2], %r4; ret;");
    assert_eq!(spread, 0);
}

#[test]
fn a_cta_may_wait_for_a_later_one() {
    let spread = same(
        "setp.ne.u32 %p2, %r2, 50; @%p2 bra $store;
        $wait: ld.volatile.global.u32 %r4, [%rd2+1024]; setp.eq.u32 %p3, %r4, 0; add.u32 %r5, %r8, 256;
        setp.eq.u32 %p4, %r4, %r5; @%p4 bra $wait;
        $store: st.global.u32 [%rd2], %r9; ret;",
    );
    assert_eq!(spread, 0);
}

#[test]
fn faults_are_those_of_the_first_cta_that_has_one() {
    let body = "setp.lt.u32 %p2, %r2, 70; @%p2 bra $store; add.s64 %rd2, %rd2, 16777216;
        $store: st.global.u32 [%rd2], %r9; ret;";
    let fault = |threads| match run(body, &with(threads)).0 {
        Err(ExecError::Fault(fault)) => *fault,
        other => panic!("{other:?}"),
    };
    assert_eq!(fault(1).cta, [70, 0, 0]);
    assert_eq!(format!("{:?}", fault(4)), format!("{:?}", fault(1)));
}

#[test]
fn the_limit_holds_for_all_together() {
    let body = "st.global.u32 [%rd2], %r9; ret;";
    let limited = |threads| Options {
        limit: 1_400_000,
        ..with(threads)
    };
    let found = |threads| match run(body, &limited(threads)).0 {
        Err(ExecError::Fault(fault)) => *fault,
        other => panic!("{other:?}"),
    };
    assert!(matches!(found(1).cause, Cause::Limit(1_400_000)));
    assert_eq!(format!("{:?}", found(4)), format!("{:?}", found(1)));
}

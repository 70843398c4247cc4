//! Small kernels with results that can be worked out by hand.

use std::sync::atomic::AtomicBool;

use warpwatt_ptx::load;
use warpwatt_simt::{
    Cause, DeviceMemory, ExecError, Execution, Interrupt, Launch, Options, execute,
};

/// Runs `body` as a kernel with one pointer parameter `p` on a buffer of words; declarations of registers are given.
fn run(body: &str, block: u32, words: Vec<u32>) -> Result<(Vec<u32>, Execution), ExecError> {
    run_with(body, [1, 1, 1], [block, 1, 1], words, &Options::default())
}

fn run_with(
    body: &str,
    grid: [u32; 3],
    block: [u32; 3],
    words: Vec<u32>,
    options: &Options,
) -> Result<(Vec<u32>, Execution), ExecError> {
    let source = format!(
        ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{
        .reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<19>; .reg .f32 %f<9>; .reg .b64 %rd<19>; .reg .f64 %fd<9>;
        {body}\n}}\n"
    );
    let module = load(&source).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let mut memory = DeviceMemory::new(&module);
    let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let address = memory.alloc("p", bytes);
    let launch = Launch {
        entry: "k",
        grid,
        block,
        cluster: None,
        dynamic_shared: 0,
        params: address.to_le_bytes().to_vec(),
    };
    let execution = execute(&module, &launch, &mut memory, options)?;
    let words = memory
        .buffer(address)
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
        .collect();
    Ok((words, execution))
}

fn cause(result: Result<(Vec<u32>, Execution), ExecError>) -> Cause {
    match result {
        Err(ExecError::Fault(fault)) => fault.cause,
        other => panic!("{other:?}"),
    }
}

/// `%rd2` = address of this thread's word.
const OWN_WORD: &str = "mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [p];
    mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2;";

#[test]
fn both_sides_of_a_branch_run_and_meet_again() {
    let body = format!(
        "{OWN_WORD}
        and.b32 %r2, %r1, 1; setp.eq.s32 %p1, %r2, 0;
        @%p1 bra $even;
        mov.u32 %r3, 100; bra.uni $join;
        $even: mov.u32 %r3, 200;
        $join: add.s32 %r3, %r3, %r1; st.global.u32 [%rd2], %r3; ret;"
    );
    let (words, execution) = run(&body, 32, vec![0; 32]).unwrap();
    for (lane, word) in words.iter().enumerate() {
        assert_eq!(*word as usize, lane + if lane % 2 == 0 { 200 } else { 100 });
    }
    // 7 before the branch, 2 + 1 on its sides, 3 behind, once each: nothing runs twice after the sides met.
    assert_eq!(execution.warp_instructions, 7 + 2 + 1 + 3);
    assert_eq!(execution.thread_instructions, 32 * 10 + 16 * 3);
    assert_eq!(execution.predicated_off, 16);
}

#[test]
fn each_lane_leaves_a_loop_when_it_is_done() {
    let body = format!(
        "{OWN_WORD}
        mov.u32 %r2, 0; mov.u32 %r3, 0;
        $loop: add.s32 %r3, %r3, %r2; add.s32 %r2, %r2, 1;
        setp.le.u32 %p1, %r2, %r1; @%p1 bra $loop;
        st.global.u32 [%rd2], %r3; ret;"
    );
    let (words, _) = run(&body, 40, vec![0; 40]).unwrap();
    let want: Vec<u32> = (0..40).map(|n| n * (n + 1) / 2).collect();
    assert_eq!(words, want);
}

#[test]
fn a_barrier_separates_writes_from_reads_across_warps() {
    let body = format!(
        ".shared .align 4 .b8 buffer[1024];
        {OWN_WORD}
        mov.u32 %r4, buffer; shl.b32 %r5, %r1, 2; add.s32 %r6, %r4, %r5;
        st.shared.u32 [%r6], %r1;
        bar.sync 0;
        mov.u32 %r7, 255; sub.s32 %r7, %r7, %r1; shl.b32 %r7, %r7, 2; add.s32 %r7, %r4, %r7;
        ld.shared.u32 %r8, [%r7]; st.global.u32 [%rd2], %r8; ret;"
    );
    let (words, _) = run(&body, 256, vec![0; 256]).unwrap();
    assert_eq!(words, (0..256).rev().collect::<Vec<u32>>());
}

#[test]
fn atomics_count_every_thread_once() {
    let body = "ld.param.u64 %rd1, [p]; atom.global.add.u32 %r1, [%rd1], 1;
        red.global.max.u32 [%rd1+4], %r1; atom.global.cas.b32 %r2, [%rd1+8], 0, 7; ret;";
    let (words, _) =
        run_with(body, [5, 1, 1], [48, 1, 1], vec![0; 3], &Options::default()).unwrap();
    assert_eq!(words, [240, 239, 7]);
}

#[test]
fn a_shuffle_reduces_a_warp() {
    let step = |offset: u32| {
        format!("shfl.sync.down.b32 %r3|%p1, %r2, {offset}, 31, -1; add.s32 %r2, %r2, %r3;")
    };
    let steps: String = [16, 8, 4, 2, 1].map(step).concat();
    let body = format!("{OWN_WORD} mov.u32 %r2, %r1; {steps} st.global.u32 [%rd2], %r2; ret;");
    let (words, _) = run(&body, 32, vec![0; 32]).unwrap();
    assert_eq!(words[0], 31 * 32 / 2);
}

#[test]
fn votes_see_active_lanes_only() {
    let body = format!(
        "{OWN_WORD}
        setp.lt.u32 %p1, %r1, 20; setp.lt.u32 %p2, %r1, 5;
        mov.u32 %r3, 0;
        @%p1 vote.sync.ballot.b32 %r3, %p2, 0xfffff;
        @%p1 vote.sync.any.pred %p3, %p2, 0xfffff;
        @%p3 add.s32 %r3, %r3, 64;
        st.global.u32 [%rd2], %r3; ret;"
    );
    let (words, _) = run(&body, 32, vec![0; 32]).unwrap();
    assert_eq!(words[..20], [0x1f + 64; 20]);
    assert_eq!(words[20..], [0; 12]);
}

#[test]
fn local_memory_belongs_to_a_thread_also_through_generic_addresses() {
    let body = format!(
        ".local .align 4 .b8 depot[16];
        {OWN_WORD}
        mov.u64 %rd3, depot; cvta.local.u64 %rd4, %rd3;
        st.u32 [%rd4+8], %r1; ld.local.u32 %r2, [%rd3+8];
        isspacep.local %p1, %rd4; selp.b32 %r2, %r2, 0, %p1;
        st.global.u32 [%rd2], %r2; ret;"
    );
    let (words, _) = run(&body, 64, vec![0; 64]).unwrap();
    assert_eq!(words, (0..64).collect::<Vec<u32>>());
}

#[test]
fn vectors_narrow_elements_and_packing() {
    let body = "ld.param.u64 %rd1, [p];
        ld.global.v4.u8 {%rs1, %rs2, %rs3, %rs4}, [%rd1];
        mov.b32 %r1, {%rs4, %rs3}; st.global.u32 [%rd1+4], %r1;
        ld.global.s8 %r2, [%rd1+3]; ld.global.s16 %rd3, [%rd1+2];
        st.global.v2.u32 [%rd1+8], {%r2, %r1}; st.global.u64 [%rd1+16], %rd3; ret;";
    let (words, _) = run(body, 1, vec![0x8403_0201, 0, 0, 0, 0, 0]).unwrap();
    assert_eq!(words[1], 0x0003_0084);
    assert_eq!(words[2], 0xffff_ff84);
    assert_eq!(words[3], 0x0003_0084);
    assert_eq!(words[4..], [0xffff_8403, 0xffff_ffff]);
}

#[test]
fn wide_warps_run_the_same_program_with_half_the_instructions() {
    let body = format!("{OWN_WORD} st.global.u32 [%rd2], %r1; ret;");
    let wide = Options {
        warp_width: 64,
        ..Options::default()
    };
    let (narrow, n) = run(&body, 100, vec![0; 100]).unwrap();
    let (wide, w) = run_with(&body, [1, 1, 1], [100, 1, 1], vec![0; 100], &wide).unwrap();
    assert_eq!(narrow, wide);
    assert_eq!((n.warp_instructions, w.warp_instructions), (24, 12));
    assert_eq!(n.thread_instructions, w.thread_instructions);
}

#[test]
fn faults_name_thread_address_and_line() {
    let body = format!("{OWN_WORD}\n st.global.u32 [%rd2], %r1; ret;");
    let ExecError::Fault(fault) = run(&body, 33, vec![0; 32]).unwrap_err() else {
        panic!()
    };
    assert_eq!(fault.thread, [32, 0, 0]);
    assert_eq!(fault.line, 9);
    let text = fault.to_string();
    assert!(text.contains("byte 128 of `p`, which has 128"), "{text}");

    let odd = "ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1+2]; ret;";
    assert!(matches!(
        cause(run(odd, 1, vec![0; 2])),
        Cause::Misaligned { .. }
    ));
    let outside = "mov.u32 %r1, 4096; ld.shared.u32 %r2, [%r1]; ret;";
    assert!(matches!(
        cause(run(outside, 1, vec![])),
        Cause::OutOfBounds { .. }
    ));
    let wild = "mov.u64 %rd1, -8; st.u64 [%rd1], %rd1; ret;";
    assert!(matches!(
        cause(run(wild, 1, vec![])),
        Cause::OutOfBounds { .. }
    ));
    assert_eq!(cause(run("trap; ret;", 1, vec![])), Cause::Trap);
}

#[test]
fn an_endless_kernel_stops_at_its_limit() {
    let options = Options {
        limit: 1000,
        ..Options::default()
    };
    // A loop that does something else each time.
    let endless = "$l: add.u32 %r1, %r1, 1; bra $l;";
    let endless = run_with(endless, [1, 1, 1], [64, 1, 1], vec![], &options);
    assert_eq!(cause(endless), Cause::Limit(1000));
}

#[test]
fn an_endless_kernel_stops_when_it_is_interrupted() {
    static FLAG: AtomicBool = AtomicBool::new(true);
    let options = Options {
        limit: u64::MAX,
        interrupt: Some(Interrupt(&FLAG)),
        ..Options::default()
    };
    let endless = "$l: add.u32 %r1, %r1, 1; bra $l;";
    let endless = run_with(endless, [1, 1, 1], [64, 1, 1], vec![], &options);
    assert_eq!(cause(endless), Cause::Interrupted);
}

/// Long before the limit, if nothing changes in memory meanwhile.
#[test]
fn an_endless_kernel_without_progress_stops_sooner() {
    let stops = |body| {
        let options = Options {
            limit: 1_000_000,
            ..Options::default()
        };
        cause(run_with(body, [1, 1, 1], [64, 1, 1], vec![0; 64], &options))
    };
    let Cause::NoProgress(instructions) = stops("$l: add.u32 %r1, %r1, 1; bra $l;") else {
        panic!("it makes no progress");
    };
    assert!((250_000..300_000).contains(&instructions), "{instructions}");
    let stores = ".shared .b32 word; $l: add.u32 %r1, %r1, 1; st.shared.u32 [word], %r1; bra $l;";
    assert_eq!(stops(stores), Cause::Limit(1_000_000));
}

#[test]
fn a_launch_that_does_not_fit_is_refused() {
    let refused = |grid, block| run_with("ret;", grid, block, vec![], &Options::default());
    let message = |grid, block| match refused(grid, block) {
        Err(ExecError::Launch { message, .. }) => message,
        other => panic!("{other:?}"),
    };
    assert!(message([1, 1, 1], [0, 1, 1]).contains("at least one"));
    assert!(message([1, 1, 1], [1024, 2, 1]).contains("too large"));
    let beyond = refused([u32::MAX, u32::MAX, u32::MAX], [1, 1, 1]);
    assert!(matches!(beyond, Err(ExecError::Limit { .. })));
}

#[test]
fn the_trace_replays_what_was_executed() {
    let body = format!("{OWN_WORD} setp.lt.u32 %p1, %r1, 16; @%p1 st.global.u32 [%rd2], %r1; ret;");
    let (_, execution) = run(&body, 64, vec![0; 64]).unwrap();
    let trace = execution.trace.unwrap();
    assert_eq!(trace.warp_instructions(), execution.warp_instructions);
    let steps: Vec<_> = trace.warp(0, 0).unwrap().collect();
    let store = steps.iter().find(|step| step.executed == 0xffff).unwrap();
    assert_eq!(store.active, 0xffff_ffff);
    let mut addresses = Vec::new();
    store
        .addresses
        .as_ref()
        .unwrap()
        .for_each(store.executed, |_, address| addresses.push(address));
    assert_eq!(
        addresses,
        (0..16)
            .map(|lane| 0xc000_0000 + 4 * lane)
            .collect::<Vec<u64>>()
    );
    assert!(
        trace
            .warp(0, 1)
            .unwrap()
            .all(|step| step.addresses.is_none() || step.executed != 0)
    );
}

#[test]
fn carries_ripple_through_a_chain() {
    let body = "ld.param.u64 %rd1, [p]; ld.global.v2.u32 {%r1, %r2}, [%rd1]; ld.global.v2.u32 {%r3, %r4}, [%rd1+8];
        add.cc.u32 %r5, %r1, %r3; addc.u32 %r6, %r2, %r4;
        sub.cc.u32 %r7, %r1, %r3; subc.u32 %r8, %r2, %r4;
        st.global.v4.u32 [%rd1+16], {%r5, %r6, %r7, %r8}; ret;";
    let (a, b) = (0x1_ffff_fff0_u64, 0x2_0000_0020_u64);
    let halves = |value: u64| [value as u32, (value >> 32) as u32];
    let words = [halves(a), halves(b), [0; 2], [0; 2]].concat();
    let (words, _) = run(body, 1, words).unwrap();
    assert_eq!(words[4..6], halves(a + b));
    assert_eq!(words[6..8], halves(a.wrapping_sub(b)));
}

/// What nvcc's division of 128-bit integers rests on.
#[test]
fn a_difference_carries_where_it_does_not_borrow() {
    let body = "ld.param.u64 %rd1, [p]; mov.u32 %r1, 5; mov.u32 %r2, 7;
        sub.cc.u32 %r3, %r1, %r2; addc.u32 %r4, 0, 0;
        sub.cc.u32 %r3, %r2, %r1; addc.u32 %r5, 0, 0;
        sub.cc.u32 %r3, %r1, %r1; subc.cc.u32 %r3, %r1, %r1; addc.u32 %r6, 0, 0;
        add.cc.u32 %r3, %r1, -1; subc.u32 %r7, %r2, %r1;
        st.global.v4.u32 [%rd1], {%r4, %r5, %r6, %r7};
        add.cc.u32 %r3, %r1, %r2; subc.u32 %r7, %r2, %r1; st.global.u32 [%rd1+16], %r7; ret;";
    let (words, _) = run(body, 1, vec![0; 5]).unwrap();
    assert_eq!(words, [0, 1, 1, 2, 1]);
}

/// Cooperative groups of several warps meet in the memory that the system reserves.
#[test]
fn reserved_shared_memory_lies_beside_a_kernels_own() {
    let body = "ld.param.u64 %rd1, [p];
        .shared .align 4 .b8 own[12]; .extern .shared .align 4 .b8 dynamic[];
        mov.u32 %r1, own; mov.u32 %r2, %reserved_smem_offset_1; mov.u32 %r3, %reserved_smem_offset_begin;
        mov.u32 %r4, %reserved_smem_offset_end; mov.u32 %r5, %reserved_smem_offset_cap; mov.u32 %r6, dynamic;
        st.shared.u32 [%r1], 77; st.shared.u32 [%r1+8], 78; st.shared.u32 [%r2], 1; st.shared.u32 [%r2+284], 2;
        ld.shared.u32 %r7, [%r1]; ld.shared.u32 %r8, [%r2+284];
        sub.u32 %r9, %r4, %r3; add.u32 %r10, %r1, 12; setp.ge.u32 %p1, %r3, %r10; setp.ge.u32 %p2, %r6, %r4;
        selp.b32 %r11, 1, 0, %p1; selp.b32 %r12, 1, 0, %p2;
        st.global.v4.u32 [%rd1], {%r7, %r8, %r9, %r5}; st.global.v2.u32 [%rd1+16], {%r11, %r12}; ret;";
    let (words, _) = run(body, 1, vec![0; 6]).unwrap();
    assert_eq!(words, [77, 2, 1024, 1024, 1, 1]);
}

#[test]
fn a_barrier_counts_the_votes_of_all_warps() {
    let body = format!(
        "{OWN_WORD}
        and.b32 %r2, %r1, 3; setp.eq.s32 %p1, %r2, 0;
        bar.red.popc.u32 %r3, 0, %p1;
        setp.lt.u32 %p2, %r1, 200; bar.red.and.pred %p3, 0, %p2;
        setp.eq.u32 %p4, %r1, 99; bar.red.or.pred %p5, 0, %p4;
        selp.b32 %r4, 1000, 0, %p3; selp.b32 %r5, 10000, 0, %p5;
        add.s32 %r3, %r3, %r4; add.s32 %r3, %r3, %r5; st.global.u32 [%rd2], %r3; ret;"
    );
    let (words, _) = run(&body, 100, vec![0; 100]).unwrap();
    assert_eq!(words, [25 + 1000 + 10000; 100]);
}

/// Runs a module whose entry `k` takes one pointer to `words`.
fn run_module(source: &str, block: u32, words: usize) -> Result<Vec<u32>, ExecError> {
    let module = load(source).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let mut memory = DeviceMemory::new(&module);
    let address = memory.alloc("p", vec![0; 4 * words]);
    let launch = Launch {
        entry: "k",
        grid: [1, 1, 1],
        block: [block, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        params: address.to_le_bytes().to_vec(),
    };
    execute(&module, &launch, &mut memory, &Options::default())?;
    let words = memory.buffer(address).chunks_exact(4);
    Ok(words
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
        .collect())
}

const FIBONACCI: &str = "
.version 8.0 .target sm_70 .address_size 64
.func (.param .b32 result) fib(.param .b32 n)
{
    .reg .pred %p<2>; .reg .b32 %r<9>;
    ld.param.u32 %r1, [n];
    setp.lt.u32 %p1, %r1, LEAST;
    mov.u32 %r5, %r1;
    @%p1 bra $done;
    add.s32 %r2, %r1, -1;
    { .param .b32 a; st.param.b32 [a+0], %r2; .param .b32 r; call.uni (r), fib, (a); ld.param.b32 %r3, [r+0]; }
    add.s32 %r2, %r1, -2;
    { .param .b32 a; st.param.b32 [a+0], %r2; .param .b32 r; call.uni (r), fib, (a); ld.param.b32 %r4, [r+0]; }
    add.s32 %r5, %r3, %r4;
$done:
    st.param.b32 [result+0], %r5;
    ret;
}
.visible .entry k(.param .u64 p)
{
    .reg .b32 %r<9>; .reg .b64 %rd<9>;
    mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [p]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2;
    { .param .b32 a; st.param.b32 [a+0], %r1; .param .b32 r; call.uni (r), fib, (a); ld.param.b32 %r2, [r+0]; }
    st.global.u32 [%rd2], %r2;
    ret;
}";

#[test]
fn a_function_may_call_itself_at_another_depth_in_every_lane() {
    let found = run_module(&FIBONACCI.replace("LEAST", "2"), 16, 16);
    let mut want = vec![0, 1];
    for n in 2..16 {
        want.push(want[n - 1] + want[n - 2]);
    }
    assert_eq!(found.unwrap(), want);
}

#[test]
fn endless_recursion_is_a_fault() {
    let error = run_module(&FIBONACCI.replace("LEAST", "0"), 1, 1).unwrap_err();
    let ExecError::Fault(fault) = error else {
        panic!("{error:?}")
    };
    assert!(
        matches!(fault.cause, Cause::StackOverflow { .. }),
        "{fault}"
    );
}

#[test]
fn a_function_has_local_variables_of_its_own() {
    let source = "
.version 8.0 .target sm_70 .address_size 64
.func (.param .b64 sum) twice(.param .b64 value)
{
    .local .align 8 .b8 depot[32];
    .reg .b64 %rd<9>;
    mov.u64 %rd1, depot; cvta.local.u64 %rd2, %rd1;
    ld.param.u64 %rd3, [value];
    st.u64 [%rd2+8], %rd3; ld.local.u64 %rd4, [%rd1+8]; st.local.u64 [depot+16], %rd4; ld.u64 %rd5, [%rd2+16];
    add.s64 %rd6, %rd5, %rd3; st.param.b64 [sum+0], %rd6;
    ret;
}
.visible .entry k(.param .u64 p)
{
    .local .align 8 .b8 own[16];
    .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;
    mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [p]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2;
    mov.u64 %rd3, own; st.local.u32 [%rd3+12], %r1;
    cvt.u64.u32 %rd4, %r1;
    setp.lt.u32 %p1, %r1, 20;
    { .param .b64 a; st.param.b64 [a+0], %rd4; .param .b64 r; @%p1 call (r), twice, (a); ld.param.b64 %rd5, [r+0]; }
    cvt.u32.u64 %r2, %rd5; selp.b32 %r2, %r2, 0, %p1;
    ld.local.u32 %r3, [%rd3+12]; add.s32 %r2, %r2, %r3;
    st.global.u32 [%rd2], %r2;
    ret;
}";
    let found = run_module(source, 32, 32).unwrap();
    let want: Vec<u32> = (0..32)
        .map(|lane| if lane < 20 { 3 * lane } else { lane })
        .collect();
    assert_eq!(found, want);
}

#[test]
fn a_function_reaches_shared_variables_and_only_reached_ones_take_room() {
    let source = "
.version 8.0 .target sm_70 .address_size 64
.shared .align 4 .b8 tile[128];
.shared .align 4 .b8 elsewhere[4096];
.func stranger() { .reg .b32 %r<2>; mov.u32 %r1, elsewhere; ret; }
.func (.param .b32 value) neighbour(.param .b32 lane)
{
    .reg .b32 %r<9>;
    ld.param.u32 %r1, [lane]; xor.b32 %r1, %r1, 1; shl.b32 %r1, %r1, 2;
    mov.u32 %r2, tile; add.s32 %r2, %r2, %r1; ld.shared.u32 %r3, [%r2];
    st.param.b32 [value+0], %r3; ret;
}
.visible .entry k(.param .u64 p)
{
    .reg .b32 %r<9>; .reg .b64 %rd<9>;
    mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [p]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2;
    mov.u32 %r2, tile; shl.b32 %r3, %r1, 2; add.s32 %r2, %r2, %r3; st.shared.u32 [%r2], %r1; bar.sync 0;
    { .param .b32 a; st.param.b32 [a+0], %r1; .param .b32 r; call (r), neighbour, (a); ld.param.b32 %r4, [r+0]; }
    st.global.u32 [%rd2], %r4; ret;
}";
    assert_eq!(load(source).unwrap().entries[0].shared_bytes, 128);
    let want: Vec<u32> = (0..32).map(|lane| lane ^ 1).collect();
    assert_eq!(run_module(source, 32, 32).unwrap(), want);
}

#[test]
fn lanes_reduce_agree_and_elect() {
    let body = format!(
        "{OWN_WORD}
        redux.sync.add.s32 %r2, %r1, 0xffffffff;
        redux.sync.max.u32 %r3, %r1, 0xffffffff;
        and.b32 %r4, %r1, 0;
        match.all.sync.b32 %r5|%p1, %r4, 0xffffffff;
        match.all.sync.b32 %r6|%p2, %r1, 0xffffffff;
        mov.u32 %r7, 4; setp.ge.u32 %p3, %r1, 4; @%p3 elect.sync %r7|%p3, 0xfffffff0;
        selp.u32 %r8, 1000, 0, %p1; selp.u32 %r9, 2000, 0, %p2; selp.u32 %r10, 4000, 0, %p3;
        add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r6; add.u32 %r2, %r2, %r7;
        add.u16x2 %r2, %r2, %r8; add.u32 %r2, %r2, %r9; add.u32 %r2, %r2, %r10;
        setp.eq.u32 %p4, %r5, 0xffffffff; @!%p4 mov.u32 %r2, 0;
        st.global.u32 [%rd2], %r2; ret;"
    );
    let (words, _) = run(&body, 32, vec![0; 32]).unwrap();
    // The sum of all lanes, the greatest, the elected lane and 1000 for agreement; lane 4 is the elected one.
    let common = 496 + 31 + 4 + 1000;
    for (lane, word) in words.iter().enumerate() {
        assert_eq!(*word, common + if lane == 4 { 4000 } else { 0 }, "{lane}");
    }
}

#[test]
fn pairs_of_halves_and_bytes_of_words() {
    let body = format!(
        "{OWN_WORD}
        cvt.rn.f32.u32 %f1, %r1;
        cvt.rn.f16x2.f32 %r2, %f1, 0f3F800000;
        fma.rn.f16x2 %r3, %r2, %r2, %r2;
        setp.gt.f16x2 %p1|%p2, %r3, %r2;
        selp.u32 %r4, 1, 0, %p1; selp.u32 %r5, 2, 0, %p2;
        mov.b32 {{%rs1, %rs2}}, %r3;
        cvt.f32.f16 %f2, %rs2;
        cvt.rzi.u32.f32 %r6, %f2;
        mad.lo.u32 %r6, %r6, 4, %r4; add.u32 %r6, %r6, %r5;
        vabsdiff4.u32.u32.u32.add %r6, %r1, 0, %r6;
        st.global.u32 [%rd2], %r6; ret;"
    );
    let (words, _) = run(&body, 32, vec![0; 32]).unwrap();
    for (lane, word) in (0u32..).zip(&words) {
        // The lower half is 1 * 1 + 1 > 1; the upper one n * n + n > n from 1 on.
        let upper = if lane == 0 { 0 } else { 2 };
        assert_eq!(*word, (lane * lane + lane) * 4 + 1 + upper + lane, "{lane}");
    }
}

#[test]
fn a_read_of_a_clock_is_never_redundant() {
    let options = Options {
        values: true,
        ..Options::default()
    };
    let body = "mov.u32 %r1, %clock; mov.u64 %rd1, %clock64; mov.u64 %rd2, %globaltimer;
        mov.u32 %r2, 7; ret;";
    let (_, execution) = run_with(body, [1; 3], [32, 1, 1], vec![], &options).unwrap();
    let trace = execution.trace.unwrap();
    let digests: Vec<bool> = trace
        .warp(0, 0)
        .unwrap()
        .map(|step| step.values.is_some())
        .collect();
    // The constant's operands are the same each time; a clock has none that say what it reads.
    assert_eq!(digests, [false, false, false, true, false]);
}

#[test]
fn an_address_in_a_frame_is_never_redundant() {
    let source = "
.version 8.0 .target sm_70 .address_size 64
.func leaf() { .local .align 8 .b8 depot[32]; .reg .b64 %rd<3>; mov.u64 %rd1, depot; st.local.u64 [%rd1], %rd1; ret; }
.visible .entry k(.param .u64 p) { call leaf, (); ret; }";
    let module = load(source).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let launch = Launch {
        entry: "k",
        grid: [1; 3],
        block: [32, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        params: vec![0; 8],
    };
    let options = Options {
        values: true,
        ..Options::default()
    };
    let mut memory = DeviceMemory::new(&module);
    let execution = execute(&module, &launch, &mut memory, &options).unwrap();
    let trace = execution.trace.unwrap();
    // The same instruction has no sources and another result where the function is called from deeper down.
    assert!(trace.warp(0, 0).unwrap().all(|step| step.values.is_none()));
    assert_eq!(trace.warp(0, 0).unwrap().count(), 5);
}

//! Threads make progress independently, as GPUs since Volta promise; what hangs there hangs here, and says who waits where.

use warpwatt_ptx::load;
use warpwatt_simt::{DeviceMemory, ExecError, Execution, Launch, Options, execute};

/// Runs `body`, whose first line is line 5 of the file, with `%r1` the thread, `%r2` the CTA and `%rd1` the buffer.
fn run(body: &str, ctas: u32, threads: u32, words: usize) -> Result<(Vec<u32>, Execution), String> {
    let source = format!(
        ".version 8.0 .target sm_80 .address_size 64 .visible .entry k(.param .u64 p) {{
        .reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %rd<19>;
        mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; ld.param.u64 %rd1, [p];
        setp.lt.u32 %p1, %r1, 16; setp.eq.u32 %p2, %r1, 0;
{body}
        }}"
    );
    let module = load(&source).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let mut memory = DeviceMemory::new(&module);
    let address = memory.alloc("p", vec![0; 4 * words]);
    let launch = Launch {
        entry: "k",
        grid: [ctas, 1, 1],
        block: [threads, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        params: address.to_le_bytes().to_vec(),
    };
    let done = execute(&module, &launch, &mut memory, &Options::default());
    let execution = done.map_err(|error| match error {
        ExecError::Fault(fault) => fault.to_string(),
        other => panic!("{other}"),
    })?;
    let words = memory.buffer(address).chunks_exact(4);
    let words = words.map(|word| u32::from_le_bytes(word.try_into().unwrap()));
    Ok((words.collect(), execution))
}

/// A lock taken by compare-and-swap in a loop before the critical section: word 0 is the lock, word 1 counts, without atomics.
const LOCKED: &str = "
$lock:
    atom.global.cas.b32 %r3, [%rd1], 0, 1;
    setp.ne.u32 %p3, %r3, 0;
    @%p3 bra $lock;
    ld.volatile.global.u32 %r4, [%rd1+4];
    add.u32 %r4, %r4, 1;
    st.volatile.global.u32 [%rd1+4], %r4;
    membar.gl;
    atom.global.exch.b32 %r5, [%rd1], 0;
    add.u32 %r6, %r4, 0;
    add.u32 %r6, %r6, 0;
    bar.sync 0;
    ret;";

#[test]
fn a_lock_within_a_warp() {
    let (words, execution) = run(LOCKED, 3, 96, 2).unwrap();
    assert_eq!(words, [0, 288]);
    // Each thread takes the lock alone; what they poll meanwhile does not fill the trace, and they go on together behind it.
    assert!(
        execution.warp_instructions < 288 * 24,
        "{}",
        execution.warp_instructions
    );
}

/// Who waits for the lock counts its tries, so that its registers are never the same.
#[test]
fn a_lock_whose_tries_are_counted() {
    let counted = LOCKED.replace("$lock:", "$lock: add.u32 %r9, %r9, 1;");
    let (words, _) = run(&counted, 2, 64, 2).unwrap();
    assert_eq!(words, [0, 128]);
    let flag = "
    @%p2 bra $sets;
    $poll: add.u32 %r9, %r9, 1; ld.volatile.global.u32 %r3, [%rd1]; setp.eq.u32 %p4, %r3, 0; @%p4 bra $poll;
    ret;
    $sets: st.volatile.global.u32 [%rd1], 7; ret;";
    assert_eq!(run(flag, 1, 32, 1).unwrap().0, [7]);
}

#[test]
fn a_lock_that_nobody_gives_back() {
    let body = LOCKED.replace("atom.global.exch.b32 %r5, [%rd1], 0;", "");
    let message = run(&body, 1, 32, 2).unwrap_err();
    assert!(message.contains("the launch hangs"), "{message}");
    assert!(
        message.contains("warp 0 lanes 1-31 at line 7 for a change of memory"),
        "{message}"
    );
}

/// CTA n waits for the flag that CTA n + 1 sets.
#[test]
fn a_cta_waits_for_a_later_one() {
    let body = "
    mul.wide.u32 %rd2, %r2, 4; add.s64 %rd2, %rd1, %rd2; setp.eq.u32 %p3, %r2, 6; @%p3 bra $set;
    @!%p2 bra $wait;
    $poll: ld.volatile.global.u32 %r3, [%rd2+4]; setp.eq.u32 %p4, %r3, 0; @%p4 bra $poll;
    $wait: bar.sync 0;
    $set: ld.volatile.global.u32 %r4, [%rd2+4]; add.u32 %r4, %r4, 1; bar.sync 0;
    st.volatile.global.u32 [%rd2], %r4; ret;";
    let (words, execution) = run(body, 7, 64, 8).unwrap();
    assert_eq!(words, [7, 6, 5, 4, 3, 2, 1, 0]);
    let trace = execution.trace.unwrap();
    assert!((0..14).all(|at| trace.warp(at / 2, at % 2).unwrap().count() > 5));
}

#[test]
fn a_cta_waits_for_a_flag_that_nobody_sets() {
    let body = "
    @!%p2 bra $wait;
    $poll:
    nanosleep.u32 100;
    ld.volatile.global.u32 %r3, [%rd1];
    setp.eq.u32 %p4, %r3, 0;
    @%p4 bra $poll;
    $wait: bar.sync 0;
    ret;";
    let message = run(body, 2, 64, 1).unwrap_err();
    for part in [
        "CTA (0, 0, 0) warp 0 lanes 1-31 at line 12 at a barrier",
        "CTA (0, 0, 0) warp 0 lane 0 at line 8 for a change of memory",
        "CTA (0, 0, 0) warp 1 lanes 0-31 at line 12 at a barrier",
        "CTA (1, 0, 0) warp 0",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
}

#[test]
fn an_endless_loop() {
    let message = run("\n$loop:\n add.u32 %r3, %r1, 1;\n bra $loop;", 1, 32, 1).unwrap_err();
    assert!(message.contains("lanes 0-31 at line 7"), "{message}");
}

/// Lanes wait for a flag that another lane of their warp sets on a path of its own.
#[test]
fn a_flag_within_a_warp() {
    let body = "
    @%p2 bra $sets;
    $poll: ld.volatile.global.u32 %r3, [%rd1]; setp.eq.u32 %p4, %r3, 0; @%p4 bra $poll;
    bra.uni $join;
    $sets: mov.u32 %r4, 5; st.volatile.global.u32 [%rd1], %r4;
    $join: atom.global.add.u32 %r5, [%rd1+4], %r3; ret;";
    assert_eq!(run(body, 1, 32, 2).unwrap().0, [5, 31 * 5]);
}

/// A lane waits, with a look at the clock in each turn, for lanes that wait for it at the end of its loop.
#[test]
fn a_poll_that_looks_at_the_clock() {
    let body = "
    @!%p2 bra $end;
    $poll: mov.u32 %r7, %clock; ld.volatile.global.u32 %r3, [%rd1]; setp.ne.u32 %p4, %r3, 31; @%p4 bra $poll;
    $end: atom.global.add.u32 %r5, [%rd1], 1; ret;";
    assert_eq!(run(body, 1, 32, 1).unwrap().0, [32]);
}

/// Lanes that wait for lanes which never come to the collective: they have gone to one with another mask.
#[test]
fn a_collective_that_lanes_never_reach() {
    let body = "
    @%p1 bra $low;
    bar.warp.sync 0xffffffff;
    bra.uni $join;
    $low:
    bar.warp.sync 0x1ffff;
    $join: ret;";
    let message = run(body, 1, 32, 1).unwrap_err();
    for part in [
        "lanes 16-31 at line 7 for lanes 0-15",
        "lanes 0-15 at line 10 for lane 16",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
}

/// Both sides of a branch meet in the middle, and see what the other side has written before.
#[test]
fn two_sides_meet_at_barriers_of_the_warp() {
    let body = "
    mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2; xor.b32 %r5, %r1, 31; mul.wide.u32 %rd3, %r5, 4; add.s64 %rd3, %rd1, %rd3;
    @%p1 bra $low;
    st.global.u32 [%rd2], %r1; bar.warp.sync -1; ld.global.u32 %r4, [%rd3]; bra.uni $join;
    $low: st.global.u32 [%rd2], %r1; add.u32 %r6, %r1, 1; bar.warp.sync -1; ld.global.u32 %r4, [%rd3];
    $join: bar.warp.sync -1; st.global.u32 [%rd2], %r4; ret;";
    let (words, _) = run(body, 1, 32, 32).unwrap();
    assert_eq!(words, (0..32).rev().collect::<Vec<u32>>());
}

/// All threads of a grid fight for one lock, meet, and see what all have done: the first CTA's first thread adds what opens, as cooperative groups have it.
#[test]
fn a_grid_that_fights_for_a_lock_and_meets() {
    let body = "
    mov.u32 %r9, 1; mov.u32 %r10, %envreg1; mov.u32 %r11, %envreg2; mov.b64 %rd5, {%r11, %r10};
    $round: atom.global.cas.b32 %r3, [%rd1], 0, 1; setp.ne.u32 %p3, %r3, 0; @%p3 bra $round;
    ld.volatile.global.u32 %r4, [%rd1+4]; add.u32 %r4, %r4, 1; st.volatile.global.u32 [%rd1+4], %r4;
    membar.gl; atom.global.exch.b32 %r5, [%rd1], 0;
    bar.sync 0; @!%p2 bra $wait;
    mov.u32 %r3, 1; setp.eq.u32 %p4, %r2, 0; @%p4 mov.u32 %r3, 0x7ffffff9;
    membar.gl; atom.global.add.u32 %r4, [%rd5+4], %r3;
    $poll: ld.volatile.global.u32 %r5, [%rd5+4]; xor.b32 %r6, %r5, %r4; setp.ge.s32 %p5, %r6, 0; @%p5 bra $poll;
    $wait: bar.sync 0;
    ld.volatile.global.u32 %r7, [%rd1+4]; mul.lo.u32 %r8, %r9, 512; setp.lt.u32 %p6, %r7, %r8; @%p6 trap;
    add.u32 %r9, %r9, 1; setp.le.u32 %p7, %r9, 3; @%p7 bra $round;
    ret;";
    let (words, _) = run(body, 8, 64, 2).unwrap();
    assert_eq!(words, [0, 3 * 512]);
}

/// `cooperative_groups::this_grid().sync()` as CUDA has it: the first CTA adds what the others leave to 2^31, and all wait for the top bit to turn. Where they
/// meet they learn from environment registers.
#[test]
fn a_grid_that_meets_again_and_again() {
    let body = "
    mov.u32 %r9, 0; mov.u32 %r10, %envreg1; mov.u32 %r11, %envreg2; mov.b64 %rd5, {%r11, %r10};
    $round:
    bar.sync 0;
    @!%p2 bra $wait;
    mov.u32 %r3, 1; setp.eq.u32 %p3, %r2, 0; @%p3 mov.u32 %r3, 0x7ffffff4;
    membar.gl; atom.global.add.u32 %r4, [%rd5+4], %r3;
    $poll: ld.volatile.global.u32 %r5, [%rd5+4]; xor.b32 %r6, %r5, %r4; setp.ge.s32 %p4, %r6, 0; @%p4 bra $poll;
    ld.volatile.global.u32 %r7, [%rd1]; setp.lt.u32 %p5, %r7, %r9; @%p5 trap;
    add.u32 %r8, %r9, 1; atom.global.max.u32 %r7, [%rd1], %r8;
    $wait: bar.sync 0;
    add.u32 %r9, %r9, 1; setp.lt.u32 %p6, %r9, 5; @%p6 bra $round;
    ret;";
    let (words, execution) = run(body, 13, 64, 1).unwrap();
    assert_eq!(words, [5]);
    let most = 13 * 2 * 5 * 40;
    assert!(
        execution.warp_instructions < most,
        "{}",
        execution.warp_instructions
    );
}

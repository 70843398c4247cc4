//! Barriers that not all threads of a CTA reach, or that are used in ways that do not go together, each with its PTX line.

use warpwatt_ptx::load;
use warpwatt_simt::{Cause, DeviceMemory, ExecError, Fault, Launch, Options, execute};

/// Runs `body`, whose first line is line 5 of the file, with `%r1` the thread and `%rd2` the address of its word.
fn run(body: &str, threads: u32) -> Result<Vec<u32>, Box<Fault>> {
    run_with(body, threads, &Options::default())
}

fn run_with(body: &str, threads: u32, options: &Options) -> Result<Vec<u32>, Box<Fault>> {
    let source = format!(
        ".version 8.0 .target sm_70 .address_size 64 .visible .entry k(.param .u64 p) {{
        .reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %rd<19>;
        mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [p]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2;
        setp.lt.u32 %p1, %r1, 32; setp.lt.u32 %p2, %r1, 16;
{body}
        }}"
    );
    let module = load(&source).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let mut memory = DeviceMemory::new(&module);
    let address = memory.alloc("p", vec![9; 4 * threads as usize]);
    let launch = Launch {
        entry: "k",
        grid: [1, 1, 1],
        block: [threads, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        params: address.to_le_bytes().to_vec(),
    };
    match execute(&module, &launch, &mut memory, options) {
        Ok(_) => Ok(memory
            .buffer(address)
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect()),
        Err(ExecError::Fault(fault)) => Err(fault),
        Err(other) => panic!("{other}"),
    }
}

/// The message of a run that must fail.
fn message(body: &str, threads: u32) -> String {
    run(body, threads).unwrap_err().to_string()
}

/// The other lanes skip the barrier and do what comes after it.
#[test]
fn a_part_of_a_warp() {
    let fault = run(
        "@%p2 bra $skip;\n bar.sync 0;\n $skip:\n st.global.u32 [%rd2], %r1;\n ret;",
        32,
    )
    .unwrap_err();
    assert_eq!((fault.cause, fault.line), (Cause::DivergentBarrier, 6));
    // A guard does the same.
    let fault = run("@%p2 bar.sync 0;\n st.global.u32 [%rd2], %r1;\n ret;", 32).unwrap_err();
    assert_eq!((fault.cause, fault.line), (Cause::DivergentBarrier, 5));
}

/// The other lanes return: nobody waits for them.
#[test]
fn a_part_of_a_warp_that_returns_before_the_barrier() {
    let early = [
        "@%p2 bra $end;\n bar.sync 0;\n st.global.u32 [%rd2], %r1;\n bar.sync 0;\n $end: ret;",
        "@%p2 ret;\n bar.sync 0;\n st.global.u32 [%rd2], %r1;\n ret;",
        "@!%p2 bra $on;\n bra.uni $end;\n $on: bar.sync 0;\n st.global.u32 [%rd2], %r1;\n $end: ret;",
    ];
    for body in early {
        let words = run(body, 96).unwrap();
        let own = |at: usize| if at < 16 { 0x0909_0909 } else { at as u32 };
        assert_eq!(words, (0..96).map(own).collect::<Vec<_>>(), "{body}");
    }
}

/// A value crosses the barrier between lanes of a warp a part of which has returned.
#[test]
fn a_barrier_of_the_lanes_that_are_left() {
    let body = ".shared .align 4 .b8 s[512];
        @%p2 bra $end; mov.u32 %r3, s; shl.b32 %r4, %r1, 2; add.u32 %r4, %r3, %r4; st.shared.u32 [%r4], %r1;
        bar.sync 0; xor.b32 %r5, %r1, 32; setp.ge.u32 %p3, %r5, 16; @!%p3 bra $end; ld.shared.u32 %r6, [%r4]; st.global.u32 [%rd2], %r6; $end: ret;";
    let words = run(body, 64).unwrap();
    assert_eq!(words[40], 0x0909_0909);
    assert_eq!((words[16], words[31], words[63]), (16, 31, 63));
}

#[test]
fn both_sides_of_a_branch_in_a_warp() {
    let fault = run(
        "@%p2 bra $other;\n bar.sync 0;\n bra $join;\n $other:\n bar.sync 0;\n $join: ret;",
        32,
    );
    assert_eq!(fault.unwrap_err().cause, Cause::DivergentBarrier);
}

#[test]
fn warps_at_different_barriers_wait_for_ever() {
    assert_eq!(
        message(
            "@%p1 bra $other;\n bar.sync 1;\n ret;\n $other:\n bar.sync 2;\n ret;",
            96
        ),
        "deadlock: not all threads of the CTA reach the barriers that others wait at: \
         barrier 1 at line 6 has 64 of 96 threads (warps 1, 2); barrier 2 at line 9 has 32 of 96 threads (warp 0) \
         in `k` at PTX line 6, CTA (0, 0, 0), thread (32, 0, 0)"
    );
}

#[test]
fn too_few_threads_for_the_named_count() {
    let fault = run("bar.sync 3, 128;\n ret;", 64).unwrap_err();
    let Cause::Deadlock { barriers } = fault.cause else {
        panic!("{:?}", fault.cause)
    };
    let found = barriers[0].clone();
    assert_eq!((found.barrier, found.arrived, found.needed), (3, 64, 128));
    assert_eq!(fault.line, 5);
}

#[test]
fn a_producer_that_never_arrives() {
    let body = "@!%p1 bar.sync 1, 64;\n ret;";
    let fault = run(body, 64).unwrap_err();
    assert!(matches!(fault.cause, Cause::Deadlock { .. }), "{fault}");
}

#[test]
fn thread_counts_that_differ() {
    let body = "@%p1 bar.sync 1, 64;\n @!%p1 bar.sync 1, 32;\n ret;";
    assert_eq!(
        message(body, 64),
        "barrier 1 is used in ways that do not go together: warp 0 at line 5 and warp 1 at line 6 wait for 64 threads and \
         32 threads in `k` at PTX line 5, CTA (0, 0, 0), thread (0, 0, 0)"
    );
    let arrives = "@%p1 bar.arrive 1, 96;\n @!%p1 bar.sync 1, 64;\n ret;";
    assert!(message(arrives, 64).contains("arrive for 96 threads and wait for 64 threads"));
}

#[test]
fn votes_beside_plain_waits() {
    let body = "@%p1 bar.sync 0;\n @!%p1 bar.red.and.pred %p3, 0, %p1;\n ret;";
    assert!(message(body, 64).contains("only one counts votes"));
}

#[test]
fn a_barrier_that_does_not_exist() {
    let fault = run("bar.sync 16;\n ret;", 32).unwrap_err();
    assert_eq!(fault.cause, Cause::BarrierNumber(16));
}

/// Warps 1 and 2 skip the barrier, do what comes after it and exit.
#[test]
fn warps_that_go_past_a_barrier() {
    let body = "@!%p1 bra $skip;\n bar.sync 0;\n $skip:\n st.global.u32 [%rd2], %r1;\n ret;";
    let fault = run(body, 96).unwrap_err();
    let missed = Cause::MissedBarrier {
        barrier: 0,
        warps: vec![1, 2],
    };
    assert_eq!((fault.cause, fault.line), (missed, 6));
}

/// Of two rounds of a loop with a barrier, the second lacks a warp.
#[test]
fn warps_that_leave_a_loop_too_early() {
    let body = "selp.b32 %r2, 2, 1, %p1;\n $loop:\n bar.sync 0;\n add.s32 %r2, %r2, -1;\n setp.ne.s32 %p3, %r2, 0;\n @%p3 bra $loop;
        st.global.u32 [%rd2], %r1;\n ret;";
    let fault = run(body, 64).unwrap_err();
    assert!(
        matches!(fault.cause, Cause::MissedBarrier { .. }),
        "{fault}"
    );
    assert_eq!(fault.line, 7);
}

/// Warps return from within a loop with a barrier, each after as many rounds as its number: nobody waits for them.
#[test]
fn warps_that_return_within_a_loop() {
    let body = "shr.u32 %r2, %r1, 5;\n mov.u32 %r3, 0;\n $loop:\n setp.gt.u32 %p3, %r3, %r2;\n @%p3 ret;\n st.global.u32 [%rd2], %r3;
        bar.sync 0;\n add.u32 %r3, %r3, 1;\n bra $loop;";
    let rounds: Vec<u32> = (0..128).map(|thread| thread / 32).collect();
    assert_eq!(run(body, 128).unwrap(), rounds);
}

/// Threads that returned before the barrier are not waited for, as GPUs since Volta have it.
#[test]
fn warps_that_returned_early_do_not_hold_a_barrier() {
    let own = |threads: u32| (0..threads).map(|at| if at < 32 { at } else { 0x0909_0909 });
    for leave in ["@!%p1 exit;", "@!%p1 bra $end;"] {
        let body = format!("{leave}\n bar.sync 0;\n st.global.u32 [%rd2], %r1;\n $end: ret;");
        assert_eq!(run(&body, 96).unwrap(), own(96).collect::<Vec<_>>());
    }
}

/// The whole CTA, said by its size or not, is the same.
#[test]
fn a_count_of_all_threads_goes_with_none() {
    run("@%p1 bar.sync 0, 64;\n @!%p1 bar.sync 0;\n ret;", 64).unwrap();
}

/// Warps that read what others left in shared memory and write there again without meeting in between: a race. On a GPU nobody is so fast, since all wait for
/// global memory first.
#[test]
fn a_race_that_the_latency_of_memory_decides() {
    let body = "
    .shared .b32 part[2]; mov.u32 %r2, part; shr.u32 %r3, %r1, 5; shl.b32 %r4, %r3, 2; add.u32 %r2, %r2, %r4; mov.u32 %r5, 0; mov.u32 %r6, 0;
    $round: mad.lo.u32 %r7, %r5, 100, %r3; st.shared.u32 [%r2], %r7; bar.sync 0;
    ld.shared.u32 %r8, [part]; ld.shared.u32 %r9, [part+4]; add.u32 %r6, %r6, %r8; add.u32 %r6, %r6, %r9;
    ld.global.u32 %r10, [%rd2]; add.u32 %r5, %r5, 1; setp.lt.u32 %p3, %r5, 3; @%p3 bra $round;
    st.global.u32 [%rd2], %r6; ret;";
    let with = |as_gpu| {
        let options = Options {
            as_gpu,
            ..Options::default()
        };
        run_with(body, 64, &options).unwrap()
    };
    let sum = 1 + 201 + 401;
    assert_eq!(with(true), [sum; 64]);
    assert_ne!(with(false), [sum; 64]);
}

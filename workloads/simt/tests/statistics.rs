//! Statistics of traces, on kernels small enough to be counted by hand.

use warpwatt_ptx::types::Space;
use warpwatt_simt::trace::statistics::Statistics;
use warpwatt_simt::trace::{BarrierUse, KernelTrace, Unit};
use warpwatt_simt::{DeviceMemory, Launch, Options, execute};

/// Executes `body` once a thread: `%rd1` is the address of a buffer of `8 * threads` bytes, `%r1` the thread's number in its CTA.
fn trace(threads: u32, body: &str) -> KernelTrace {
    let source = format!(
        ".version 8.0 .target sm_70 .address_size 64
        .visible .entry k(.param .u64 p) {{
        .shared .align 4 .b8 tile[1024]; .local .align 4 .b8 mine[16];
        .reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %rd<19>;
        mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [p];
        {body}
        ret; }}"
    );
    let module = warpwatt_ptx::load(&source).unwrap();
    let mut memory = DeviceMemory::new(&module);
    let address = memory.alloc("p", vec![0; 8 * threads as usize]);
    let launch = Launch {
        entry: "k",
        grid: [1; 3],
        block: [threads, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        params: address.to_le_bytes().to_vec(),
    };
    let run = execute(&module, &launch, &mut memory, &Options::default()).unwrap();
    run.trace.unwrap()
}

fn statistics(threads: u32, body: &str) -> Statistics {
    Statistics::of([&trace(threads, body)]).unwrap()
}

#[test]
fn instructions_are_counted_by_class_and_lanes() {
    let found = statistics(
        48,
        "setp.lt.u32 %p1, %r1, 8; @%p1 add.s32 %r2, %r1, 1; bar.sync 0; membar.cta;",
    );
    // Two warps, of 32 and of 16 lanes: mov, ld, setp, add, bar, membar, ret.
    assert_eq!(
        (found.warp_instructions, found.thread_instructions),
        (14, 7 * 48)
    );
    assert_eq!(found.predicated_off, 24 + 16);
    let of = |unit| found.mix[&unit];
    let mix = [
        Unit::Int,
        Unit::Memory,
        Unit::Control,
        Unit::Barrier,
        Unit::Fence,
    ]
    .map(of);
    assert_eq!(mix, [6, 2, 2, 2, 2]);
    assert_eq!((found.active_lanes[32], found.active_lanes[16]), (7, 7));
    let executing = [0, 8, 16, 32].map(|lanes: usize| found.executing_lanes[lanes]);
    assert_eq!(executing, [1, 1, 6, 6]);
    assert_eq!(found.mean_active_lanes(), 24.0);
}

#[test]
fn branches_diverge_where_a_warp_goes_on_in_parts() {
    let split = |limit: u32| {
        statistics(
            64,
            &format!(
                "setp.ge.u32 %p1, %r1, {limit}; @%p1 bra $else; add.s32 %r2, %r1, 1; bra.uni $end;
                 $else: add.s32 %r2, %r1, 2; $end: add.s32 %r3, %r2, 1;"
            ),
        )
        .branches
    };
    // Both warps branch; of those that take the first path, each leaves it by a second branch.
    let (one, none) = (split(40), split(32));
    assert_eq!((one.all, one.conditional, one.divergent), (4, 2, 1));
    assert_eq!((none.all, none.conditional, none.divergent), (3, 2, 0));
}

#[test]
fn an_indexed_branch_diverges_too() {
    let found = statistics(
        32,
        "and.b32 %r2, %r1, 1; $list: .branchtargets $even, $odd; brx.idx %r2, $list;
         $even: add.s32 %r3, %r1, 1; bra.uni $end; $odd: add.s32 %r3, %r1, 2; $end: add.s32 %r4, %r3, 1;",
    );
    assert_eq!(
        (found.branches.conditional, found.branches.divergent),
        (1, 1)
    );
}

#[test]
fn uniform_operands_follow_from_where_values_come_from() {
    // Operands: address; two of one value; thread numbers; a sum with one; its address; what was loaded from one address; a vote.
    let share = |body: &str| {
        let operands = statistics(32, body).operands;
        (operands.uniform, operands.all)
    };
    assert_eq!(
        share("mov.u32 %r2, %ctaid.x; add.s32 %r3, %r2, %r2; mul.lo.s32 %r4, %r3, %r2;"),
        (3, 3)
    );
    assert_eq!(share("add.s32 %r2, %r1, 1; add.s32 %r3, %r2, 1;"), (0, 2));
    assert_eq!(
        share("ld.global.u32 %r2, [%rd1]; add.s32 %r3, %r2, %r1;"),
        (2, 3)
    );
    assert_eq!(
        share("setp.lt.u32 %p1, %r1, 9; vote.sync.ballot.b32 %r2, %p1, -1; add.s32 %r3, %r2, 1;"),
        (1, 3)
    );
    let one_lane = "setp.eq.u32 %p1, %r1, 5; @%p1 add.s32 %r2, %r1, 1; @%p1 add.s32 %r3, %r2, 1;";
    assert_eq!(share(one_lane), (4, 5), "one lane agrees with itself");
    let local =
        "mov.u32 %r9, mine; st.local.u32 [%r9], %r1; ld.local.u32 %r2, [%r9]; add.s32 %r3, %r2, 1;";
    assert_eq!(
        share(local),
        (2, 4),
        "one local address is another word in each lane"
    );
    let overwritten =
        "mov.u32 %r2, 7; setp.lt.u32 %p1, %r1, 9; @%p1 mov.u32 %r2, 8; add.s32 %r3, %r2, 1;";
    assert_eq!(share(overwritten), (0, 3), "8 in some lanes, 7 in others");
}

#[test]
fn memory_is_counted_by_space() {
    let found = statistics(
        64,
        "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r2, [%rd3]; st.global.u32 [%rd3], %r2;
         mul.wide.u32 %rd4, %r1, 8; add.s64 %rd5, %rd1, %rd4; ld.global.u32 %r3, [%rd5];
         mov.u32 %r9, tile; st.shared.u32 [%r9], %r1; cvta.shared.u64 %rd6, tile; ld.u32 %r5, [%rd6];",
    );
    let global = found.memory.get(Space::Global).unwrap();
    assert_eq!((global.loads, global.stores, global.atomics), (4, 2, 0));
    assert_eq!(global.moved, 3 * 64 * 4);
    // Words of 256 bytes; then every other word of 512 bytes, a half of which is there already.
    assert_eq!(
        (global.touched_bytes(), global.touched_lines()),
        (256 + 128, 4)
    );
    assert_eq!(global.sectors, 4 * 4 + 2 * 8);
    assert_eq!((global.uniform, global.strided), (0, 6));
    let shared = found.memory.get(Space::Shared).unwrap();
    assert_eq!(
        (shared.stores, shared.loads),
        (2, 2),
        "generic accesses count where they go"
    );
    assert_eq!(
        (
            shared.touched_bytes(),
            shared.touched_lines(),
            shared.sectors
        ),
        (4, 1, 4)
    );
    assert_eq!(shared.uniform, 4);
    assert_eq!(found.memory.get(Space::Param).unwrap().moved, 2 * 32 * 8);
    assert!(found.memory.get(Space::Local).is_none() && found.memory.is_complete());
}

#[test]
fn values_live_from_their_write_to_their_last_read() {
    // %r1 is read by the third and the fifth instruction, %r2 by the fourth; %rd1, %r3 and %r4 by none.
    let found = statistics(
        32,
        "add.s32 %r2, %r1, 1; add.s32 %r3, %r2, 1; add.s32 %r4, %r1, 2;",
    );
    assert_eq!(found.registers.histogram, [3, 1, 0, 1]);
    assert_eq!((found.registers.values, found.registers.reads), (5, 3));
    assert_eq!(found.registers.mean(), (4.0 + 1.0) / 5.0);
    assert_eq!(found.predicates.values, 0);
}

#[test]
fn a_value_written_in_parts_is_one_value() {
    let parts =
        "setp.lt.u32 %p1, %r1, 9; mov.u32 %r2, 7; @%p1 mov.u32 %r2, 8; add.s32 %r3, %r2, 1;";
    let found = statistics(32, parts);
    // %r1 lives 2, %r2 lives 2 through its second write; %rd1 and %r3 are never read.
    assert_eq!(found.registers.histogram, [2, 0, 2]);
    assert_eq!(found.predicates.histogram, [0, 0, 1]);
}

#[test]
fn launches_share_their_memory() {
    let body = "st.global.u32 [%rd1], %r1;";
    let one = trace(32, body);
    let two = Statistics::of([&one, &one]).unwrap();
    assert_eq!(
        two.warp_instructions,
        2 * Statistics::of([&one]).unwrap().warp_instructions
    );
    let global = two.memory.get(Space::Global).unwrap();
    assert_eq!((global.stores, global.touched_bytes()), (2, 4));
}

/// A plain barrier has nothing to tell; others tell their number, their threads and who waits. A warp that a guard switches off is at none.
#[test]
fn barriers_leave_what_they_are() {
    let trace = trace(
        64,
        "setp.lt.u32 %p1, %r1, 32; mov.u32 %r2, 3;
        bar.sync 0; @%p1 bar.sync 1, 64; @!%p1 bar.arrive 1, 64; bar.sync %r2; ",
    );
    assert_eq!(trace.counts().unwrap().warp_instructions, 2 * 9);
    let barriers = |warp| {
        let steps = trace
            .warp(0, warp)
            .unwrap()
            .filter(|step| trace.code[step.inst as usize].unit == Unit::Barrier);
        let executed = steps.filter(|step| step.executed != 0);
        let all = executed.map(|step| step.barrier());
        all.collect::<Vec<BarrierUse>>()
    };
    let [mine, theirs] = [true, false].map(|waits| BarrierUse {
        number: 1,
        threads: Some(64),
        waits,
    });
    let last = BarrierUse {
        number: 3,
        ..BarrierUse::PLAIN
    };
    assert_eq!(barriers(0), [BarrierUse::PLAIN, mine, last]);
    assert_eq!(barriers(1), [BarrierUse::PLAIN, theirs, last]);
}

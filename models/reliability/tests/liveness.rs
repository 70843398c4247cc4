//! What the pass finds in kernels small enough to be followed by hand.

mod support;

use support::{launch, trace};
use warpwatt_reliability::{Fact, Liveness, Verdict};

/// Instructions before the body: `mov`, `ld.param`, `mad.wide`.
const BEFORE: usize = 3;

/// The facts of the body's instructions, of the first warp.
fn facts(body: &str) -> Vec<Fact> {
    let found = Liveness::of(&trace(body)).unwrap();
    found.warp(0, 0).skip(BEFORE).cloned().collect()
}

fn verdicts(body: &str) -> Vec<Verdict> {
    facts(body).iter().map(|fact| fact.verdict).collect()
}

use Verdict::{Dead, Needed, Neutral, SwitchedOff};

#[test]
fn what_nothing_reads_is_dead_and_so_is_what_only_that_reads() {
    assert_eq!(
        verdicts(
            "add.u32 %r2, %r1, 1; add.u32 %r3, %r2, 1; add.u32 %r4, %r1, 2; st.global.u32 [%rd2], %r4;"
        ),
        [Dead, Dead, Needed, Needed, Needed]
    );
}

#[test]
fn a_value_that_is_overwritten_before_it_is_read_is_dead() {
    assert_eq!(
        verdicts("add.u32 %r2, %r1, 1; add.u32 %r2, %r1, 2; st.global.u32 [%rd2], %r2;"),
        [Dead, Needed, Needed, Needed]
    );
}

#[test]
fn a_loop_carries_what_its_last_round_needs() {
    let facts = facts(
        "mov.u32 %r2, 0; mov.u32 %r3, 0;
        $l: add.u32 %r2, %r2, %r1; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 3; @%p1 bra $l;
        st.global.u32 [%rd2], %r2;",
    );
    assert!(facts.iter().all(|fact| fact.verdict == Needed));
    assert_eq!(facts.len(), 2 + 3 * 4 + 2);
}

#[test]
fn bits_that_are_masked_off_are_not_needed() {
    let of = |body: &str| facts(body)[0].written.clone();
    let store = "st.global.u32 [%rd2], %r3;";
    let with = |operation: &str| of(&format!("add.u32 %r2, %r1, 1; {operation}; {store}"));
    assert_eq!(with("mov.u32 %r3, %r2"), [32 * 32]);
    assert_eq!(with("and.b32 %r3, %r2, 255"), [8 * 32]);
    assert_eq!(with("or.b32 %r3, %r2, 255"), [24 * 32]);
    assert_eq!(with("shl.b32 %r3, %r2, 20"), [12 * 32]);
    assert_eq!(with("shr.u32 %r3, %r2, 20"), [12 * 32]);
    assert_eq!(with("shr.s32 %r3, %r2, 20"), [12 * 32]);
    // Of a product's lower bits nothing depends on the upper bits of the factors.
    assert_eq!(
        with("mul.lo.u32 %r3, %r2, 7; and.b32 %r3, %r3, 15"),
        [4 * 32]
    );
    assert_eq!(
        with("mul.hi.u32 %r3, %r2, 7; and.b32 %r3, %r3, 15"),
        [32 * 32]
    );
    assert_eq!(
        of("add.u32 %r2, %r1, 1; st.global.u8 [%rd2], %r2;"),
        [8 * 32]
    );
    assert_eq!(
        of("add.u32 %r2, %r1, 1; st.global.u16 [%rd2], %r2;"),
        [16 * 32]
    );
}

#[test]
fn lanes_need_what_they_do_themselves() {
    // Eight lanes store, the others do nothing.
    let facts =
        facts("add.u32 %r2, %r1, 1; setp.lt.u32 %p1, %r1, 8; @%p1 st.global.u32 [%rd2], %r2;");
    assert_eq!(facts[0].written, [8 * 32]);
    assert_eq!(facts[0].lanes, 0xff);
    // The guard is needed in all lanes: each could begin to store.
    assert_eq!(facts[1].lanes, 0xffff_ffff);
    assert_eq!(facts[2].last, [8 * 64 / 2, 8 * 64 / 2, 8 * 32]);
}

#[test]
fn a_partial_write_leaves_the_other_lanes_needed() {
    let facts = facts(
        "add.u32 %r2, %r1, 1; setp.lt.u32 %p1, %r1, 8; @%p1 add.u32 %r2, %r1, 2; st.global.u32 [%rd2], %r2;",
    );
    assert_eq!(facts[0].written, [24 * 32]);
    assert_eq!(facts[2].written, [8 * 32]);
    assert_eq!(facts[0].lanes, !0xff & 0xffff_ffff);
}

#[test]
fn the_guard_of_what_is_switched_off_is_needed_if_its_result_would_be() {
    let body = |last: &str| {
        format!("mov.u32 %r2, 5; setp.gt.u32 %p1, %r1, 99; @%p1 add.u32 %r2, %r1, 2; {last}")
    };
    assert_eq!(
        verdicts(&body("st.global.u32 [%rd2], %r2;")),
        [Needed, Needed, SwitchedOff, Needed, Needed]
    );
    assert_eq!(
        verdicts(&body("st.global.u32 [%rd2], %r1;")),
        [Dead, Dead, SwitchedOff, Needed, Needed]
    );
}

#[test]
fn shuffles_and_votes_need_other_lanes() {
    let facts = facts(
        "add.u32 %r2, %r1, 1; shfl.sync.idx.b32 %r3, %r2, 0, 31, -1; and.b32 %r3, %r3, 3;
        setp.eq.u32 %p1, %r1, 0; @%p1 st.global.u32 [%rd2], %r3;",
    );
    // One lane stores two bits, and any lane may have brought them.
    assert_eq!(facts[0].written, [2 * 32]);
    assert_eq!(facts[1].written, [2]);
}

#[test]
fn loads_of_dead_values_are_dead_with_their_addresses() {
    assert_eq!(
        verdicts(
            "add.u64 %rd3, %rd2, 4; ld.global.u32 %r2, [%rd3]; add.u32 %r3, %r2, 1; st.global.u32 [%rd2], %r1;"
        ),
        [Dead, Dead, Dead, Needed, Needed]
    );
}

#[test]
fn a_store_that_its_warp_overwrites_unread_is_dead() {
    assert_eq!(
        verdicts("add.u32 %r2, %r1, 1; st.global.u32 [%rd2], %r2; st.global.u32 [%rd2], %r1;"),
        [Dead, Dead, Needed, Needed]
    );
    // Half of it is left.
    assert_eq!(
        verdicts("add.u32 %r2, %r1, 1; st.global.u32 [%rd2], %r2; st.global.u16 [%rd2], %r1;"),
        [Needed, Needed, Needed, Needed]
    );
    // It is read in between.
    assert_eq!(
        verdicts(
            "st.global.u32 [%rd2], %r1; ld.global.u32 %r2, [%rd2]; add.u32 %r2, %r2, 1; st.global.u32 [%rd2], %r2;"
        ),
        [Needed; 5]
    );
    // By a value that is dead itself.
    assert_eq!(
        verdicts(
            "st.global.u32 [%rd2], %r1; ld.global.u32 %r2, [%rd2]; add.u32 %r2, %r2, 1; st.global.u32 [%rd2], %r1;"
        ),
        [Dead, Dead, Dead, Needed, Needed]
    );
}

#[test]
fn memory_that_several_warps_access_is_needed() {
    // Two CTAs store twice to the same addresses.
    let body = "st.global.u32 [%rd2], %r1; st.global.u32 [%rd2], %r1;";
    let found = Liveness::of(&launch(2, 32, body)).unwrap();
    assert_eq!(found.count(Dead), 0);
    assert_eq!(Liveness::of(&launch(1, 32, body)).unwrap().count(Dead), 1);
}

const SHARED: &str = "shl.b32 %r2, %r1, 2; mov.u32 %r3, tile; add.u32 %r2, %r2, %r3;";

#[test]
fn shared_memory_ends_with_its_cta() {
    let store = |rest: &str| {
        let all = facts(&format!(
            "{SHARED} add.u32 %r4, %r1, 1; st.shared.u32 [%r2], %r4; {rest}"
        ));
        [all[3].verdict, all[4].verdict]
    };
    assert_eq!(store("st.global.u32 [%rd2], %r1;"), [Dead, Dead]);
    assert_eq!(
        store("ld.shared.u32 %r5, [%r2]; st.global.u32 [%rd2], %r5;"),
        [Needed, Needed]
    );
    // Loaded by what is dead itself.
    assert_eq!(
        store("ld.shared.u32 %r5, [%r2]; st.global.u32 [%rd2], %r1;"),
        [Dead, Dead]
    );
    // Overwritten before it is loaded.
    assert_eq!(
        store("st.shared.u32 [%r2], %r1; ld.shared.u32 %r5, [%r2]; st.global.u32 [%rd2], %r5;"),
        [Dead, Dead]
    );
}

#[test]
fn a_barrier_orders_the_warps_of_a_cta() {
    // Each thread loads what its neighbour in the next warp stored.
    let body = |between: &str, last: &str| {
        format!(
            "{SHARED} add.u32 %r4, %r1, 1; st.shared.u32 [%r2], %r4; {between}
            xor.b32 %r6, %r1, 32; shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r3; ld.shared.u32 %r5, [%r6];
            bar.sync 0; st.shared.u32 [%r2], %r1; {last} st.global.u32 [%rd2], %r5;"
        )
    };
    let dead = |text: &str| Liveness::of(&launch(1, 64, text)).unwrap().count(Dead);
    // The second store of both warps is dead.
    assert_eq!(dead(&body("bar.sync 0;", "")), 2);
    assert_eq!(
        dead(&body(
            "bar.sync 0;",
            "ld.shared.u32 %r7, [%r2]; add.u32 %r5, %r5, %r7;"
        )),
        0
    );
    // Without the first barrier the order of the warps decides, so that nothing is known of the words.
    assert_eq!(dead(&body("", "")), 0);
}

#[test]
fn local_memory_ends_with_its_thread() {
    let of = |rest: &str| {
        verdicts(&format!(
            "mov.u32 %r2, mine; add.u32 %r3, %r1, 1; st.local.u32 [%r2], %r3; {rest}"
        ))[2]
    };
    assert_eq!(of("st.global.u32 [%rd2], %r1;"), Dead);
    assert_eq!(
        of("ld.local.u32 %r4, [%r2]; st.global.u32 [%rd2], %r4;"),
        Needed
    );
    assert_eq!(
        of("ld.local.u32 %r4, [%r2]; st.global.u32 [%rd2], %r1;"),
        Dead
    );
}

#[test]
fn a_launch_that_writes_nothing_needs_nothing() {
    let body = "add.u32 %r2, %r1, 1; setp.lt.u32 %p1, %r1, 8; @%p1 bra $l; add.u32 %r2, %r2, 1; $l:
        mov.u32 %r3, tile; st.shared.u32 [%r3], %r2; bar.sync 0; membar.cta;";
    let found = Liveness::of(&trace(body)).unwrap();
    assert_eq!(found.count(Needed), 0);
    assert_eq!(found.count(Neutral), 1);
}

#[test]
fn atomics_and_barriers_are_always_needed() {
    let facts = facts(
        "and.b32 %r2, %r1, 1; mov.u32 %r4, tile; atom.shared.add.u32 %r3, [%r4], %r2; bar.sync 0; st.global.u32 [%rd2], %r1;",
    );
    let verdicts: Vec<_> = facts.iter().map(|fact| fact.verdict).collect();
    assert_eq!(verdicts, [Needed; 6]);
    assert_eq!(facts[2].written, [0], "nobody reads what it gives back");
}

#[test]
fn reads_end_where_a_value_is_needed_last() {
    let facts = facts(
        "add.u32 %r2, %r1, 1; add.u32 %r3, %r2, %r1; add.u32 %r4, %r3, %r2; st.global.u32 [%rd2], %r4;",
    );
    assert_eq!(facts[1].read, [1024, 1024]);
    // Sources are in the order of their registers, which are allocated: what one of them ends here, the other goes on.
    assert_eq!(facts[1].last.iter().sum::<u32>(), 1024);
    assert_eq!(facts[2].last, [1024, 1024]);
}

#[test]
fn the_parts_add_up() {
    let found = Liveness::of(&launch(
        2,
        64,
        "add.u32 %r2, %r1, 1; st.global.u32 [%rd2], %r2;",
    ))
    .unwrap();
    let (mut written, mut last) = (0, 0);
    for warp in 0..2 * found.warps_per_cta() {
        for fact in found.numbers(warp).iter().map(|number| found.fact(*number)) {
            written += fact.written.iter().sum::<u32>();
            last += fact.last.iter().sum::<u32>();
        }
    }
    assert_eq!(written, last);
    assert!(written > 0);
}

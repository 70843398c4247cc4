use super::{Marks, marks};
use crate::lifetime::tests::entry;
use crate::program::{Entry, Op};
use crate::types::Space;

/// The marks of a body, with global loads as the long ones.
fn marked(body: &str) -> (Entry, Vec<Marks>) {
    let entry = entry(body);
    let marks = marks(
        &entry,
        |inst| matches!(&inst.op, Op::Load(access) if access.space == Space::Global),
    );
    (entry, marks)
}

/// Of each store in order: whether a strand begins with it, and whether what it stores can be kept.
fn stores(body: &str) -> Vec<(bool, bool)> {
    let (entry, marks) = marked(body);
    let stores = entry.code.iter().zip(&marks);
    let stores = stores.filter(|(inst, _)| matches!(inst.op, Op::Store(_)));
    let each = stores.map(|(inst, marks)| {
        let word = inst.src.as_slice()[1].number;
        let kept = marks.reads.iter().any(|read| read.word == word);
        (marks.begins, kept)
    });
    each.collect()
}

#[test]
fn a_strand_ends_where_a_load_is_waited_for() {
    let body = "ld.global.u32 %r1, [%d1]; add.u32 %r2, %r9, 1; st.global.u32 [%d1+4], %r2;
        st.global.u32 [%d1+8], %r1; st.global.u32 [%d1+12], %r2;";
    assert_eq!(
        stores(body),
        [(false, true), (true, false), (false, false)],
        "what was computed before is in the main register file"
    );
}

/// One read fetches a value from the main register file, those after it find it nearer.
#[test]
fn what_is_read_twice_is_fetched_once() {
    let body = "bar.sync 0; st.global.u32 [%d1], %r9; st.global.u32 [%d1+4], %r9;";
    let (_, marks) = marked(body);
    let of_address: Vec<u32> = marks
        .iter()
        .flat_map(|marks| &marks.reads)
        .map(|read| read.value)
        .collect();
    assert!(
        of_address.len() >= 6,
        "an address of two words and a value, twice"
    );
    assert_eq!(stores(body), [(true, true), (false, true)]);
    let guarded = "bar.sync 0; @%p1 st.global.u32 [%d1], %r9; st.global.u32 [%d1+4], %r9;";
    assert_eq!(
        stores(guarded),
        [(true, false), (false, false)],
        "lanes that do not store have fetched nothing"
    );
}

#[test]
fn both_sides_of_a_branch_may_write_one_value() {
    let sides = |other: &str| {
        format!(
            "@%p1 bra $a; add.u32 %r1, %r9, 7; bra $z; $a: {other}
             $z: st.global.u32 [%d1+12], %r1;"
        )
    };
    assert_eq!(stores(&sides("add.u32 %r1, %r9, 9;")), [(false, true)]);
    let body = format!(
        "mov.u32 %r1, %tid.y; bar.sync 0; {}",
        sides("add.u32 %r2, %r9, 9;")
    );
    assert_eq!(
        stores(&body),
        [(false, false)],
        "one side leaves what was there"
    );
}

/// Lanes that wait for a side which ends a strand keep only what the main register file has: the branch ends theirs too.
#[test]
fn a_strand_that_ends_on_one_side_ends_for_those_who_wait() {
    let body = |side: &str| {
        format!(
            "add.u32 %r1, %r9, 1; @%p1 bra $a; {side} bra $z;
             $a: st.global.u32 [%d1+4], %r1;
             $z: st.global.u32 [%d1+8], %r1;"
        )
    };
    let plain = stores(&body("add.u32 %r3, %r9, 2;"));
    assert_eq!(plain, [(false, true), (false, true)]);
    let waits = "ld.global.u32 %r3, [%d1]; add.u32 %r3, %r3, 2;";
    let ended: Vec<bool> = stores(&body(waits)).iter().map(|store| store.1).collect();
    assert_eq!(ended, [false, false]);
}

#[test]
fn loops_barriers_and_calls_end_strands() {
    let body = "mov.u32 %r1, %tid.y;
        $l: add.u32 %r1, %r1, %r9; setp.lt.u32 %p2, %r1, 100; @%p2 bra $l;
        st.global.u32 [%d1], %r1; bar.sync 0; st.global.u32 [%d1+4], %r1;";
    assert_eq!(stores(body), [(true, false), (true, false)]);
    let source = ".version 8.0 .target sm_80 .address_size 64
.func (.reg .u32 %o) f(.reg .u32 %i) { .reg .u32 %a; add.u32 %a, %i, 1; mul.lo.u32 %o, %a, %a; ret; }
.visible .entry k(.param .u64 p) { .reg .u32 %r<9>; .reg .u64 %d;
ld.param.u64 %d, [p]; mov.u32 %r1, %tid.x; call (%r2), f, (%r1); st.global.u32 [%d], %r2; ret; }";
    let module = crate::load(source).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let entry = &module.entries[0];
    let marks = marks(entry, |_| false);
    for (at, inst) in entry.code.iter().enumerate() {
        if matches!(inst.op, Op::Call(_)) {
            assert!(marks[at + 1].begins);
        }
    }
    for function in &entry.functions {
        assert!(marks[function.start as usize].begins);
    }
}

#[test]
fn a_guarded_write_leaves_the_others_their_value() {
    let body = "add.u32 %r1, %r9, 1; @%p1 add.u32 %r1, %r9, 2; st.global.u32 [%d1], %r1;";
    assert_eq!(stores(body), [(false, true)], "both writes are one value");
    let (_, marks) = marked(body);
    let value = marks
        .iter()
        .flat_map(|marks| &marks.reads)
        .map(|read| read.value)
        .max();
    let writes = marks.iter().flat_map(|marks| &marks.writes);
    assert_eq!(writes.filter(|write| Some(write.value) == value).count(), 2);
}

use super::{Release, releases};
use crate::program::{Entry, Op};

/// A kernel of the given body; `%d1` holds an address, `%p1` differs between lanes.
pub(crate) fn entry(body: &str) -> Entry {
    let source = format!(
        ".version 8.0 .target sm_80 .address_size 64
.visible .entry k(.param .u64 p) {{ .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %d<9>;
ld.param.u64 %d1, [p]; mov.u32 %r9, %tid.x; setp.lt.u32 %p1, %r9, 16;
{body}
ret; }}"
    );
    let mut module = crate::load(&source).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let entry = module.entries.remove(0);
    assert_eq!(entry.unsupported, []);
    entry
}

/// The releases at the stores of `entry`, in order, each with the register that the store writes to memory.
fn at_stores(entry: &Entry, releases: &[Release]) -> Vec<(bool, u16)> {
    let stores = entry.code.iter().zip(releases);
    stores
        .filter(|(inst, _)| matches!(inst.op, Op::Store(_)))
        .map(|(inst, release)| {
            let value = inst.src.as_slice()[1];
            (release.operands.contains(&value), value.number)
        })
        .collect()
}

fn meetings(releases: &[Release]) -> Vec<u16> {
    let all = releases.iter().flat_map(|release| &release.meeting);
    all.copied().collect()
}

/// Figure 2.6 (a).
#[test]
fn within_a_block_the_last_reader_releases() {
    let entry = entry(
        "ld.global.u32 %r1, [%d1]; st.global.u32 [%d1+4], %r1; st.global.u32 [%d1+8], %r1;
         ld.global.u32 %r1, [%d1+12]; st.global.u32 [%d1], %r1;",
    );
    let releases = releases(&entry);
    let released: Vec<bool> = at_stores(&entry, &releases)
        .iter()
        .map(|store| store.0)
        .collect();
    assert_eq!(released, [false, true, true]);
    assert_eq!(meetings(&releases), []);
    assert!(releases[0].leader && releases[1..].iter().all(|release| !release.leader));
}

/// Figure 2.6 (b) and (c): read on both sides of a branch, or on one.
#[test]
fn what_sides_of_a_branch_read_is_released_where_they_meet() {
    for other in ["st.global.u32 [%d1+8], %r1;", ""] {
        let entry = entry(&format!(
            "ld.global.u32 %r1, [%d1]; @%p1 bra $a;
             st.global.u32 [%d1+4], %r1; bra $z;
             $a: add.u32 %r2, %r9, 1; st.global.u32 [%d1+16], %r2; {other}
             $z: st.global.u32 [%d1+12], %r9;"
        ));
        let releases = releases(&entry);
        let stores = at_stores(&entry, &releases);
        let value = stores[0].1;
        assert!(!stores[0].0, "the other side may still run");
        if !other.is_empty() {
            assert!(stores[1].0, "a side's own value dies with its last reader");
            assert!(!stores[2].0, "the side that ran first is not the only one");
        }
        assert_eq!(meetings(&releases), [value]);
        let at = releases
            .iter()
            .position(|release| !release.meeting.is_empty());
        assert!(matches!(entry.code[at.unwrap()].op, Op::Store(_)));
    }
}

/// Figure 2.6 (d).
#[test]
fn what_a_loop_carries_is_released_behind_it() {
    let entry = entry(
        "mov.u32 %r1, %tid.y;
         $l: st.global.u32 [%d1], %r1; add.u32 %r1, %r1, %r9; setp.lt.u32 %p2, %r1, 100; @%p2 bra $l;
         st.global.u32 [%d1+4], %r9;",
    );
    let releases = releases(&entry);
    let stores = at_stores(&entry, &releases);
    assert!(!stores[0].0);
    assert_eq!(meetings(&releases), [stores[0].1]);
}

/// Figure 2.6 (e).
#[test]
fn what_dies_within_a_round_is_released_in_it() {
    let entry = entry(
        "mov.u32 %r2, %tid.y;
         $l: ld.global.u32 %r1, [%d1]; st.global.u32 [%d1+4], %r1; add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, %r9; @%p2 bra $l;
         st.global.u32 [%d1+8], %r9;",
    );
    let releases = releases(&entry);
    let stores = at_stores(&entry, &releases);
    assert!(stores[0].0);
    assert!(!meetings(&releases).contains(&stores[0].1));
}

/// The side that runs first writes a register that the side which waits still reads: the lanes that wait keep it.
#[test]
fn a_write_on_one_side_does_not_free_what_the_other_reads() {
    let entry = entry(
        "ld.global.u32 %r1, [%d1]; @%p1 bra $a;
         add.u32 %r3, %r9, 7; setp.gt.u32 %p3, %r3, 20; @%p3 bra $n; st.global.u32 [%d1+20], %r3;
         $n: mov.u32 %r1, 5; st.global.u32 [%d1+4], %r1; bra $z;
         $a: st.global.u32 [%d1+8], %r1;
         $z: st.global.u32 [%d1+12], %r9;",
    );
    let releases = releases(&entry);
    let stores = at_stores(&entry, &releases);
    let waiting = stores[2].1;
    for (release, inst) in releases.iter().zip(&entry.code) {
        let early = inst.line < entry.code[entry.code.len() - 2].line;
        assert!(!(early && release.meeting.contains(&waiting)), "{inst:?}");
        assert!(
            !(early && release.operands.iter().any(|slot| slot.number == waiting)),
            "{inst:?}"
        );
    }
}

#[test]
fn what_an_instruction_writes_anew_it_does_not_release() {
    let entry = entry(
        "mov.u32 %r1, %tid.y; add.u32 %r1, %r1, %r9; add.u32 %r1, %r1, %r9; st.global.u32 [%d1], %r1;",
    );
    let releases = releases(&entry);
    for (inst, release) in entry.code.iter().zip(&releases) {
        let written = inst.dst.as_slice();
        assert!(release.operands.iter().all(|slot| !written.contains(slot)));
    }
}

#[test]
fn four_operands_have_three_flags() {
    let entry = entry(
        "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d1]; st.global.v4.u32 [%d1+16], {%r1, %r2, %r3, %r4};",
    );
    let last = releases(&entry).into_iter().rev();
    let operands: usize = last.map(|release| release.operands.len()).max().unwrap();
    assert_eq!(operands, 3);
}

#[test]
fn functions_release_nothing_and_their_registers_stay() {
    let source = ".version 8.0 .target sm_80 .address_size 64
.func (.reg .u32 %o) f(.reg .u32 %i) { .reg .u32 %a; add.u32 %a, %i, 1; mul.lo.u32 %o, %a, %a; ret; }
.visible .entry k(.param .u64 p) { .reg .u32 %r<9>; .reg .u64 %d;
ld.param.u64 %d, [p]; mov.u32 %r1, %tid.x; call (%r2), f, (%r1); st.global.u32 [%d], %r2; ret; }";
    let module = crate::load(source).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let entry = &module.entries[0];
    let releases = releases(entry);
    if let Some(function) = entry.functions.first() {
        let start = function.start as usize;
        let inside = &releases[start..];
        assert!(inside.iter().all(|release| release.operands.is_empty()));
        let used = super::touched(entry, start..entry.code.len());
        let released = releases.iter().flat_map(|release| &release.operands);
        for slot in released {
            assert!(super::words(entry, *slot).all(|word| !used.has(word)));
        }
    }
}

use super::{MAX_REGISTERS, PREDICATE_REGISTERS};
use crate::program::{Entry, Op, SlotKind, Spills};

/// A kernel of the given body; a parameter `p` holds an address.
fn entry(body: &str) -> Entry {
    let source = format!(
        ".version 8.0 .target sm_80 .address_size 64
.visible .entry k(.param .u64 p) {{ .reg .pred %p<40>; .reg .b32 %r<40>; .reg .b64 %d<40>; .reg .f32 %f<40>;
{body}
ret; }}"
    );
    of_module(&source)
}

fn of_module(source: &str) -> Entry {
    let mut module = crate::load(source).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let entry = module.entries.remove(0);
    assert_eq!(entry.unsupported, []);
    entry
}

/// Sums of `count` values that are all live at once.
fn wide(count: usize) -> String {
    let mut body = String::from("ld.param.u64 %d0, [p];\n");
    for at in 0..count {
        body += &format!("ld.global.u32 %r{at}, [%d0+{}];\n", 4 * at);
    }
    for at in 1..count {
        body += &format!("add.u32 %r0, %r0, %r{at};\n");
    }
    body + "st.global.u32 [%d0], %r0;"
}

#[test]
fn straight_code_takes_as_many_registers_as_are_live() {
    let entry = entry(&wide(10));
    assert_eq!(entry.allocation.live, 12);
    assert_eq!(entry.registers, 12);
    assert_eq!(entry.allocation.spills, Spills::default());
    assert_eq!(entry.virtual_registers, 12);
    assert_eq!(entry.allocation.limit, MAX_REGISTERS);
}

#[test]
fn one_name_may_stand_for_values_in_several_registers() {
    // %r1's two values never meet, and the second may live where the address was.
    let entry = entry(
        "ld.param.u64 %d1, [p]; ld.global.u32 %r1, [%d1]; st.global.u32 [%d1], %r1;
         mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; add.u32 %r1, %r1, %r2; trap;",
    );
    assert_eq!(entry.registers, 3);
    let last = entry
        .code
        .iter()
        .rev()
        .find(|inst| !inst.dst.as_slice().is_empty());
    assert!(last.unwrap().dst[0].number < 2);
}

#[test]
fn paths_that_part_and_meet_share_registers() {
    // Either path's own values are dead on the other: five words would be needed if they were not.
    let entry = entry(
        "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 16;
         @%p1 bra $a;
         ld.global.u32 %r2, [%d1]; add.u32 %r3, %r2, %r1; bra $z;
         $a: ld.global.u32 %r4, [%d1+4]; sub.u32 %r3, %r4, %r1;
         $z: st.global.u32 [%d1], %r3;",
    );
    assert_eq!(entry.registers, 4);
}

#[test]
fn doubles_take_aligned_pairs_and_vectors_aligned_groups() {
    let entry = entry(
        "ld.param.u64 %d1, [p]; mov.u32 %r9, %tid.x;
         ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d1];
         st.global.v4.u32 [%d1+16], {%r1, %r2, %r3, %r4};
         st.global.u32 [%d1], %r9;",
    );
    let vector = entry.code.iter().find_map(|inst| match inst.op {
        Op::Load(access) if access.count == 4 => Some(inst.dst),
        _ => None,
    });
    let numbers: Vec<u16> = vector
        .unwrap()
        .as_slice()
        .iter()
        .map(|slot| slot.number)
        .collect();
    assert_eq!(numbers[0] % 4, 0);
    assert!(
        numbers.windows(2).all(|pair| pair[1] == pair[0] + 1),
        "{numbers:?}"
    );
    assert_eq!(entry.allocation.live, 4 + 2 + 1);
    assert_eq!(entry.registers, 7);
}

#[test]
fn more_predicates_than_there_are_wait_in_words() {
    let mut body = String::from("ld.param.u64 %d0, [p]; mov.u32 %r0, %tid.x;\n");
    for at in 0..12 {
        body += &format!("setp.gt.u32 %p{at}, %r0, {at};\n");
    }
    for at in 0..12 {
        body += &format!("@%p{at} add.u32 %r0, %r0, {at};\n");
    }
    let entry = entry(&(body + "st.global.u32 [%d0], %r0;"));
    assert!(u32::from(entry.predicates) <= PREDICATE_REGISTERS);
    assert_eq!(entry.virtual_predicates, 12);
    assert!(entry.allocation.spills.predicate_moves >= 2 * 5);
    let slots = entry
        .code
        .iter()
        .flat_map(|inst| inst.reads().chain(inst.writes()));
    let mut predicates = slots.filter(|slot| slot.kind == SlotKind::Predicate);
    assert!(predicates.all(|slot| u32::from(slot.number) < PREDICATE_REGISTERS));
}

#[test]
fn a_limit_sends_values_to_local_memory_and_a_lower_one_more() {
    let free = entry(&wide(20));
    let mut before = Spills::default();
    for limit in (free.least_registers()..free.registers).rev() {
        let entry = free.with_registers(limit).unwrap();
        let spills = entry.allocation.spills;
        assert!(entry.registers <= limit);
        assert!(spills.loads >= before.loads && spills.stores >= before.stores);
        assert!(spills.bytes >= 4 && entry.local_bytes >= spills.bytes);
        before = spills;
    }
    assert_eq!(
        before.loads, 20,
        "every value but those of the last addition"
    );
}

#[test]
fn values_that_are_never_live_together_share_their_place_in_local_memory() {
    // Twenty values are summed, and then twenty others, in half the registers that this takes.
    let again = (0..20).fold(String::new(), |body, at| {
        body + &format!("ld.global.u32 %f{at}, [%d0+{}];\n", 400 + 4 * at)
    });
    let sums = (1..20).fold(again, |body, at| {
        body + &format!("add.f32 %f0, %f0, %f{at};\n")
    });
    let twice = entry(&(wide(20) + &sums + "st.global.f32 [%d0], %f0;"));
    let once = entry(&wide(20));
    let limit = once.registers / 2;
    let (once, twice) = (once.with_registers(limit), twice.with_registers(limit));
    let (once, twice) = (
        once.unwrap().allocation.spills,
        twice.unwrap().allocation.spills,
    );
    assert!(once.bytes > 0 && twice.stores >= 2 * once.stores);
    assert_eq!(
        twice.bytes, once.bytes,
        "the second twenty lie where the first did"
    );
}

#[test]
fn a_limit_below_the_least_is_refused_and_the_least_is_named() {
    let free = entry(
        "ld.param.u64 %d1, [p]; ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%d1]; st.global.v4.f32 [%d1], {%f4, %f3, %f2, %f1};",
    );
    let error = free.with_registers(3).unwrap_err();
    assert_eq!(error.to_string(), "`k` needs at least 6 registers, not 3");
    assert!(free.with_registers(error.minimum).is_ok());
    assert!(free.with_registers(error.minimum - 1).is_err());
}

#[test]
fn literals_and_parameters_are_made_anew_rather_than_stored() {
    let body = wide(8).replace(
        "st.global.u32 [%d0], %r0;",
        "add.u32 %r0, %r0, %r30; ld.param.u64 %d5, [p]; st.global.u32 [%d5], %r0;",
    );
    let free = entry(&format!("mov.u32 %r30, 77;\n{body}"));
    let entry = free.with_registers(free.registers - 1).unwrap();
    assert_eq!(entry.allocation.spills.stores, 0);
    assert_eq!(entry.allocation.spills.values, 1);
    assert_eq!(entry.code.len(), free.code.len() - 1, "the move is gone");
}

#[test]
fn what_lives_across_a_call_keeps_clear_of_the_callee() {
    let entry = of_module(
        ".version 8.0 .target sm_80 .address_size 64
.func (.param .u32 o) f(.param .u32 i) { .reg .u32 %a<4>; ld.param.u32 %a0, [i]; mov.u32 %a1, %tid.x; mad.lo.u32 %a2, %a0, %a1, %a0; st.param.u32 [o], %a2; ret; }
.visible .entry k(.param .u64 p) { .reg .u32 %r<8>; .reg .u64 %d; ld.param.u64 %d, [p]; mov.u32 %r1, %tid.y;
{ .param .u32 a; .param .u32 b; st.param.u32 [a], %r1; call (b), f, (a); ld.param.u32 %r2, [b]; }
add.u32 %r2, %r2, %r1; st.global.u32 [%d], %r2; ret; }",
    );
    // Two words in the callee, three across the call.
    assert_eq!(entry.allocation.live, 5);
    assert!(entry.registers <= 6);
    let callee = entry.functions[0].start as usize;
    let in_callee = entry.code[callee..].iter().flat_map(|inst| inst.writes());
    let used: Vec<_> = in_callee.map(|slot| slot.number).collect();
    let address = entry.code[0].dst[0].number * 2;
    assert!(
        !used.contains(&address) && !used.contains(&(address + 1)),
        "{used:?} {address}"
    );
}

/// Sums that a product of a warpgroup does not add to are not live before it: a loop that begins with such a product carries none of them around.
#[test]
fn sums_that_are_not_added_to_are_not_read() {
    let live = |adds: u32| {
        let entry = entry(&format!(
            "mov.u64 %d1, 0; mov.u64 %d2, 0; mov.u32 %r9, 0;
             LOOP: add.u32 %r9, %r9, 1;
             wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%f1, %f2, %f3, %f4}}, %d1, %d2, {adds}, 1, 1, 0, 0;
             wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
             st.shared.f32 [%r9], %f1;
             ld.shared.f32 %f5, [%r9]; ld.shared.f32 %f6, [%r9+4]; ld.shared.f32 %f7, [%r9+8]; ld.shared.f32 %f8, [%r9+12];
             add.f32 %f5, %f5, %f6; add.f32 %f7, %f7, %f8; add.f32 %f5, %f5, %f7; st.shared.f32 [%r9], %f5;
             setp.lt.u32 %p1, %r9, 9; @%p1 bra LOOP;"
        ));
        entry.allocation.live
    };
    // Two descriptors of 64 bits, the count, and four sums or four loaded values; or all eight.
    assert_eq!([live(0), live(1)], [9, 13]);
}

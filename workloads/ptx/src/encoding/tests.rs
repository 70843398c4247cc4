use super::*;
use crate::program::{Source, Word2};

const SOURCE_TEXT: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<5>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    add.s32 %r2, %r1, 5;
    setp.lt.s32 %p1, %r2, 9;
    @%p1 bra L;
    mul.lo.s32 %r2, %r2, %r1;
L:
    st.global.u32 [%rd1+4], %r2;
    ret;
}";

fn entry() -> Entry {
    let module = crate::load(SOURCE_TEXT).expect("valid PTX");
    module.entry("k").expect("one entry").clone()
}

fn at(entry: &Entry, holds: impl Fn(&Op) -> bool) -> u32 {
    let found = entry.code.iter().position(|inst| holds(&inst.op));
    found.expect("the kernel has such an instruction") as u32
}

fn changed(entry: &Entry, at: u32, bit: u32) -> Entry {
    match flip(entry, at, bit) {
        Flipped::Changed(other) => *other,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_literal_is_in_the_payload() {
    let entry = entry();
    let add = at(&entry, |op| matches!(op, Op::Word2(Word2::Add)));
    let other = changed(&entry, add, PAYLOAD + 3);
    let slot = other.code[add as usize].src[1];
    assert_eq!(other.words[slot.index()], Source::Literal(5 ^ 8));
    assert_eq!(other.words.len(), entry.words.len() + 1);
}

#[test]
fn the_next_function_of_an_addition_is_a_subtraction() {
    let entry = entry();
    let add = at(&entry, |op| matches!(op, Op::Word2(Word2::Add)));
    let other = changed(&entry, add, FUNCTION);
    assert_eq!(other.code[add as usize].op, Op::Word2(Word2::Sub));
    assert!(matches!(flip(&entry, add, FAMILY), Flipped::Illegal));
}

#[test]
fn a_register_that_no_thread_has_is_illegal() {
    let entry = entry();
    let mul = at(&entry, |op| matches!(op, Op::Word2(Word2::Mul)));
    for field in [DESTINATION, SOURCE, PAYLOAD] {
        assert!(matches!(flip(&entry, mul, field + 7), Flipped::Illegal));
    }
    assert!(matches!(flip(&entry, mul, PAYLOAD + 8), Flipped::Unused));
}

#[test]
fn a_store_has_its_value_where_others_have_their_destination() {
    let entry = entry();
    let store = at(&entry, |op| matches!(op, Op::Store(_)));
    let before = &entry.code[store as usize];
    let other = changed(&entry, store, PAYLOAD + 4);
    let Op::Store(access) = &other.code[store as usize].op else {
        panic!("still a store");
    };
    assert_eq!(access.offset, 4 ^ 16);
    if let Flipped::Changed(other) = flip(&entry, store, DESTINATION) {
        let after = &other.code[store as usize];
        assert_ne!(after.src[1], before.src[1]);
        assert_eq!(after.src[0], before.src[0]);
    }
}

#[test]
fn guards_and_targets() {
    let entry = entry();
    let branch = at(&entry, |op| matches!(op, Op::Branch { .. }));
    let other = changed(&entry, branch, NEGATION);
    let negated = |entry: &Entry| entry.code[branch as usize].guard.map(|guard| guard.negated);
    assert_eq!(negated(&other), negated(&entry).map(|negated| !negated));
    assert!(matches!(
        flip(&entry, branch, PAYLOAD + 20),
        Flipped::Illegal
    ));
    let mul = at(&entry, |op| matches!(op, Op::Word2(Word2::Mul)));
    let never = changed(&entry, mul, NEGATION);
    let guard = never.code[mul as usize].guard.expect("a guard");
    assert_eq!(guard.predicate.number, entry.predicates);
    assert!(never.predicates > entry.predicates && !guard.negated);
}

#[test]
fn every_bit_of_every_instruction_has_an_answer() {
    let entry = entry();
    for at in 0..entry.code.len() as u32 {
        for bit in 0..WORD_BITS {
            if let Flipped::Changed(other) = flip(&entry, at, bit) {
                let inst = &other.code[at as usize];
                for slot in inst.reads().chain(inst.writes()) {
                    let slots = match slot.kind {
                        SlotKind::Word => other.words.len(),
                        SlotKind::Double => other.doubles.len(),
                        SlotKind::Predicate => usize::from(other.predicates),
                    };
                    assert!(slot.index() < slots, "{at}, bit {bit}");
                }
            }
        }
    }
}

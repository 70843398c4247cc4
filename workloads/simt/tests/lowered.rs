//! Lowered programs compute what PTX does, bit by bit.

use proptest::prelude::*;
use warpwatt_ptx::{Lower, load_lowered};
use warpwatt_simt::{DeviceMemory, Launch, Options, execute};

/// Registers of each width that a program computes in.
const REGISTERS: usize = 6;
/// Bytes that a thread leaves: a word and a double word of each.
const LEFT: usize = REGISTERS * 12;

/// Operations, with `$r` and `$d` in place of registers of 32 and 64 bits, in capitals where results go, `$l` of literals and `$p` of a predicate.
const OPERATIONS: &[&str] = &[
    "add.s32 $R, $r, $r",
    "add.s32 $R, $r, $l",
    "sub.s32 $R, $r, $r",
    "mul.lo.s32 $R, $r, $r",
    "mul.lo.s32 $R, $r, $l",
    "mul.hi.u32 $R, $r, $r",
    "mul.hi.s32 $R, $r, $r",
    "mad.lo.s32 $R, $r, $r, $r",
    "mad.lo.s32 $R, $r, $l, $r",
    "mul.wide.u32 $D, $r, $r",
    "mul.wide.u32 $D, $r, $l",
    "mul.wide.s32 $D, $r, $r",
    "mul.wide.s32 $D, $r, $l",
    "mad.wide.u32 $D, $r, $r, $d",
    "mad.wide.u32 $D, $r, $l, $d",
    "mad.wide.s32 $D, $r, $r, $d",
    "mad.wide.s32 $D, $r, $l, $d",
    "cvt.u64.u32 $D, $r",
    "cvt.s64.s32 $D, $r",
    "cvt.u32.u64 $R, $d",
    "cvt.s32.s16 $R, $r",
    "cvt.u32.u8 $R, $r",
    "add.s64 $D, $d, $d",
    "add.s64 $D, $d, $l",
    "sub.s64 $D, $d, $d",
    "mul.lo.s64 $D, $d, $d",
    "mul.lo.s64 $D, $d, $l",
    "mad.lo.s64 $D, $d, $d, $d",
    "mul.hi.u64 $D, $d, $d",
    "shl.b32 $R, $r, $l",
    "shr.u32 $R, $r, $l",
    "shr.s32 $R, $r, $r",
    "shl.b64 $D, $d, $l",
    "shr.u64 $D, $d, $l",
    "shr.s64 $D, $d, $r",
    "and.b32 $R, $r, $r",
    "or.b32 $R, $r, $l",
    "xor.b32 $R, $r, $r",
    "not.b32 $R, $r",
    "and.b64 $D, $d, $d",
    "xor.b64 $D, $d, $l",
    "min.s32 $R, $r, $r",
    "max.u32 $R, $r, $r",
    "min.u64 $D, $d, $d",
    "abs.s32 $R, $r",
    "neg.s32 $R, $r",
    "div.u32 $R, $r, $l",
    "rem.u32 $R, $r, $l",
    "div.s32 $R, $r, $r",
    "rem.s64 $D, $d, $d",
    "setp.lt.s32 $p, $r, $r",
    "setp.ne.u64 $p, $d, $d",
    "selp.b32 $R, $r, $r, $p",
    "selp.b64 $D, $d, $d, $p",
    "@$p add.s32 $R, $r, $l",
    "@!$p mov.b64 $D, $d",
    "bfe.u32 $R, $r, $l, $l",
    "prmt.b32 $R, $r, $r, $l",
    "popc.b32 $R, $r",
    "shf.l.wrap.b32 $R, $r, $r, $r",
    "mov.b64 $D, {$r, $r}",
];

/// Literals that programs are full of, and those at the ends of a word.
const LITERALS: [i64; 10] = [1, 1, 1, 0, 2, 4, 8, 31, -1, 0x7fff_ffff];

/// One operation: which, and numbers that say with what.
type Step = (prop::sample::Index, [prop::sample::Index; 5]);

fn written((which, with): &Step) -> String {
    let mut pieces = which.get(OPERATIONS).split('$');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    let mut with = with.iter();
    for piece in pieces {
        let (place, rest) = piece.split_at(1);
        let mut register = || with.next().map_or(0, |number| number.index(REGISTERS));
        text += &match place {
            "r" | "R" => format!("%r{}", register()),
            "d" | "D" => format!("%d{}", register()),
            "l" => with
                .next()
                .map_or(0, |number| *number.get(&LITERALS))
                .to_string(),
            _ => "%p1".to_owned(),
        };
        text += rest;
    }
    text
}

fn left(source: &str, lowering: Lower) -> Vec<u8> {
    let module =
        load_lowered(source, lowering).unwrap_or_else(|errors| panic!("{errors:#?}\n{source}"));
    let mut memory = DeviceMemory::new(&module);
    let address = memory.alloc("p", vec![0; 32 * LEFT]);
    let launch = Launch {
        entry: "k",
        grid: [1, 1, 1],
        block: [32, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        params: address.to_le_bytes().to_vec(),
    };
    execute(&module, &launch, &mut memory, &Options::default()).unwrap();
    memory.buffer(address).to_vec()
}

/// A program of such steps; registers begin with words of all signs, other ones in every lane.
fn program(steps: &str) -> String {
    let mut all = format!(
        ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{
        .reg .pred %p<2>; .reg .b32 %r<{REGISTERS}>; .reg .b64 %d<{REGISTERS}>; .reg .b32 %t<2>; .reg .b64 %a<2>;
        ld.param.u64 %a0, [p]; mov.u32 %t0, %tid.x; mad.wide.u32 %a1, %t0, {LEFT}, %a0; setp.lt.u32 %p1, %t0, 16;\n"
    );
    for number in 0..REGISTERS {
        let factor = 0x9e37_79b1_u32.wrapping_mul(number as u32 + 1);
        all += &format!(
            "mad.lo.s32 %r{number}, %t0, {factor}, {}; mul.wide.s32 %d{number}, %r{number}, {factor};\n",
            number + 1
        );
    }
    all += steps;
    for number in 0..REGISTERS {
        let at = 12 * number;
        all += &format!(
            "st.global.u32 [%a1+{at}], %r{number}; cvt.u32.u64 %t1, %d{number}; st.global.u32 [%a1+{}], %t1; shr.u64 %d{number}, %d{number}, 32; cvt.u32.u64 %t1, %d{number}; st.global.u32 [%a1+{}], %t1;\n",
            at + 4,
            at + 8
        );
    }
    all + "ret;\n}\n"
}

fn same(steps: &str) -> Result<(), TestCaseError> {
    let source = program(steps);
    let [ptx, lowered] = Lower::ALL.map(|lowering| left(&source, lowering));
    prop_assert!(ptx == lowered, "{}", steps);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn random_programs_compute_the_same(steps in prop::collection::vec(any::<Step>(), 1..40)) {
        let steps: Vec<String> = steps.iter().map(|step| written(step) + ";\n").collect();
        same(&steps.concat())?;
    }
}

/// What a sum of 64 bits takes from a word: a multiply-add by one, which must not look at the sign of what has none.
#[test]
fn unsigned_words_add_to_double_words() {
    for steps in [
        "cvt.u64.u32 %d1, %r1; add.s64 %d2, %d3, %d1;",
        "mad.wide.u32 %d2, %r1, 1, %d3;",
        "mad.wide.s32 %d2, %r1, 1, %d3;",
        "mul.wide.u32 %d1, %r1, 4; add.s64 %d2, %d3, %d1;",
    ] {
        same(steps).unwrap();
    }
}

use super::Lower;
use crate::program::{MatrixOp, Op, Word2, Word3};

fn ops(body: &str) -> Vec<Op> {
    let text = format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n{{\n.reg .pred %p<4>;\n.reg .b32 %r<32>;\n.reg .b64 %rd<16>;\n.reg .f32 %f<16>;\n.shared .align 16 .b8 s[4096];\n{body}\nret;\n}}\n"
    );
    let module = crate::load_lowered(&text, Lower::SassLike).unwrap();
    let entry = &module.entries[0];
    assert!(entry.unsupported.is_empty(), "{:?}", entry.unsupported);
    entry.code.iter().map(|inst| inst.op.clone()).collect()
}

/// By hand, as ptxas has it: the stack's register, the thread's number, four in a register, a multiply-add of 64 bits with the parameter as an operand, load,
/// store and exit.
#[test]
fn an_element_of_an_array_is_one_multiply_add_away() {
    let code = ops(
        "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd2, %rd3;\nld.global.f32 %f1, [%rd4];\nst.global.f32 [%rd4+4], %f1;",
    );
    assert_eq!(code.len(), 7, "{code:?}");
    assert!(matches!(code[3], Op::MadWide { signed: false }));
}

/// `cvt` takes the lower half of 64 bits as well, which no operand of a multiply-add is.
#[test]
fn half_of_a_long_is_no_index() {
    let code = ops(
        "ld.param.u64 %rd1, [p];\nld.global.u64 %rd2, [%rd1];\ncvt.s64.s32 %rd3, %rd2;\nadd.s64 %rd4, %rd3, %rd1;\nst.global.u64 [%rd1], %rd4;\ncvt.u64.u32 %rd5, %rd4;\nshl.b64 %rd6, %rd5, 2;\nst.global.u64 [%rd1+8], %rd6;",
    );
    let wide = |op: &&Op| matches!(op, Op::MadWide { .. } | Op::MulWide { .. });
    assert_eq!(code.iter().filter(wide).count(), 0, "{code:?}");
}

#[test]
fn neighbours_in_shared_memory_are_one_access_where_they_are_surely_aligned() {
    let loads = |scale: u32| {
        let code = ops(&format!(
            "mov.u32 %r1, %tid.x;\nmul.lo.s32 %r2, %r1, {scale};\nmov.u32 %r3, s;\nadd.s32 %r4, %r3, %r2;\nld.shared.f32 %f1, [%r4];\nld.shared.f32 %f2, [%r4+4];\nld.shared.f32 %f3, [%r4+8];\nld.shared.f32 %f4, [%r4+12];\nadd.f32 %f1, %f1, %f2;\nadd.f32 %f3, %f3, %f4;\nadd.f32 %f1, %f1, %f3;\nst.shared.f32 [%r4], %f1;"
        ));
        code.iter().filter(|op| matches!(op, Op::Load(_))).count()
    };
    assert_eq!([loads(16), loads(8), loads(4)], [1, 2, 4]);
}

#[test]
fn a_sum_of_three_and_two_functions_of_bits_are_one_instruction() {
    let code = ops(
        "ld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\nmov.u32 %r3, %ctaid.x;\nadd.s32 %r4, %r2, %r3;\nadd.s32 %r5, %r4, %r1;\nand.b32 %r6, %r5, %r2;\nxor.b32 %r7, %r6, %r3;\nst.shared.u32 [s], %r7;",
    );
    assert_eq!(code.len(), 7, "{code:?}");
    assert!(matches!(code[3], Op::Word3(Word3::Add3)));
    assert!(
        matches!(code[4], Op::Word3(Word3::Lop3(0x6a))),
        "{:?}",
        code[4]
    );
}

#[test]
fn a_short_branch_becomes_a_guard() {
    let code = ops(
        "mov.u32 %r1, %tid.x;\nsetp.gt.u32 %p1, %r1, 7;\n@%p1 bra OUT;\nst.shared.u32 [s], %r1;\nOUT:\nst.shared.u32 [s+4], %r1;",
    );
    assert!(
        !code.iter().any(|op| matches!(op, Op::Branch { .. })),
        "{code:?}"
    );
    assert_eq!(code.len(), 6);
}

#[test]
fn a_division_is_as_many_instructions_as_the_machine_has_for_it() {
    let code = ops(
        "ld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\ndiv.u32 %r3, %r2, %r1;\nst.shared.u32 [s], %r3;",
    );
    assert_eq!(code.len(), 17 + 4, "{code:?}");
}

const EXPANSIONS: &str = include_str!("../../../kernels/sass/expansions.csv");

/// What surrounds an operation in the listings: the pointer kept over a call, the call itself, which common numbers do not take, and moves of the first operand.
fn counted(opcodes: &str) -> usize {
    let mut words: Vec<&str> = opcodes.split(' ').filter(|word| !word.is_empty()).collect();
    words.retain(|word| {
        !word.starts_with("CALL")
            && !matches!(*word, "ULDC.64" | "UIADD3" | "UIADD3.X" | "SEL" | "MOV")
    });
    words.retain(|word| !word.starts_with("IMAD.MOV.U32"));
    words.len()
}

/// By kind of operands: their register, their type in loads, and how wide a result is.
fn registers(operation: &str) -> Option<(&'static str, &'static str)> {
    Some(match operation.rsplit('.').next()? {
        "u32" | "s32" | "b32" => ("%r", "b32"),
        "u64" | "s64" | "b64" => ("%rd", "b64"),
        "f32" => ("%f", "f32"),
        "f64" => ("%fd", "f64"),
        _ => return None,
    })
}

/// As many instructions as the listings have, but for a few moves: the count that a sequence has beyond its operation's own instruction.
#[test]
fn sequences_are_as_long_as_those_of_the_listings() {
    let mut off = Vec::new();
    let mut checked = 0;
    for row in EXPANSIONS.lines().skip(1) {
        let fields: Vec<&str> = row.split(',').collect();
        let [operation, "sm_75", _, opcodes] = fields[..] else {
            continue;
        };
        let word = operation.split('.').next().unwrap_or_default();
        let sources = match word {
            "div" | "rem" | "add" | "sub" | "mul" | "and" => 2,
            "mad" => 3,
            "rcp" | "sqrt" | "rsqrt" | "ex2" | "lg2" | "sin" | "cos" | "tanh" | "neg" => 1,
            _ => continue,
        };
        // Wide products have operands of another type, and divisions of 64 bits are subroutines, which stay one instruction here.
        let subroutine = matches!(word, "div" | "rem")
            && operation.ends_with("64")
            && !operation.ends_with("f64");
        if operation.contains(".wide") || subroutine {
            continue;
        }
        let Some((register, kind)) = registers(operation) else {
            continue;
        };
        let loads: String = (1..=sources)
            .map(|number| {
                format!(
                    "ld.global.{kind} {register}{number}, [%rd10+{}];\n",
                    64 * number
                )
            })
            .collect();
        let operands: Vec<String> = (1..=sources)
            .map(|number| format!("{register}{number}"))
            .collect();
        let code = ops(&format!(
            ".reg .f64 %fd<16>;\nld.param.u64 %rd10, [p];\n{loads}{operation} {register}9, {};\nst.global.{kind} [%rd10], {register}9;",
            operands.join(", ")
        ));
        // The stack's register, the loads, the store and the exit.
        let ours = code.len() - sources - 3;
        let theirs = counted(opcodes);
        checked += 1;
        if ours != theirs {
            off.push((operation.to_owned(), ours, theirs));
        }
    }
    assert!(checked > 30, "{checked}");
    // A move that the operation needs and the filter above drops; and what only uncommon numbers go through.
    let known = [
        ("mul.hi.u64", 7, 6),
        ("div.s32", 24, 23),
        ("rem.s32", 22, 21),
        ("rcp.rn.f32", 8, 9),
        ("sqrt.rn.f32", 8, 9),
        ("rcp.rn.f64", 9, 11),
    ];
    assert_eq!(
        off,
        known.map(|(name, ours, theirs)| (name.to_owned(), ours, theirs))
    );
}

/// Both loads go before the sum that waits for the first; the store stays behind what it may overwrite.
#[test]
fn loads_go_first_and_stores_stay_in_their_place() {
    let code = ops(
        "mov.u32 %r1, %tid.x;\nmov.u32 %r3, s;\nmad.lo.s32 %r4, %r1, 12, %r3;\nld.shared.f32 %f1, [%r4];\nadd.f32 %f2, %f1, %f1;\nld.shared.f32 %f3, [%r4+8];\nadd.f32 %f4, %f2, %f3;\nst.shared.f32 [%r4], %f4;\nld.shared.f32 %f5, [%r4+16];\nst.shared.f32 [%r4+20], %f5;",
    );
    let names: String = code
        .iter()
        .map(|op| match op {
            Op::Load(_) => 'l',
            Op::Store(_) => 's',
            _ => '.',
        })
        .collect();
    assert_eq!(names, "...ll..sls.", "{code:?}");
}

/// Two conditions around a store: the inner comparison takes the outer one in, and both branches go.
#[test]
fn a_condition_within_a_condition_is_one_guard() {
    let code = ops(
        "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %tid.y;\nsetp.gt.u32 %p1, %r1, 7;\n@%p1 bra OUT;\nsetp.gt.u32 %p2, %r2, 3;\n@%p2 bra OUT;\nst.shared.u32 [s], %r1;\nOUT:\nst.shared.u32 [s+4], %r1;",
    );
    let branches = code.iter().filter(|op| matches!(op, Op::Branch { .. }));
    assert_eq!(branches.count(), 0, "{code:?}");
    let combined = |op: &&Op| matches!(op, Op::SetPredicate(compare) if compare.combine.is_some());
    assert_eq!(code.iter().filter(combined).count(), 1);
}

/// A block that stands behind the loop's end and jumps back into it is moved to where it is jumped from, and then guarded.
#[test]
fn what_is_led_to_without_a_condition_follows() {
    let code = ops(
        "mov.u32 %r1, %tid.x;\nmov.u32 %r2, 0;\nbra HEAD;\nTAIL:\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 9;\n@%p2 bra HEAD;\nbra END;\nHEAD:\nsetp.gt.u32 %p1, %r1, %r2;\n@%p1 bra TAIL;\nst.shared.u32 [s], %r2;\nbra TAIL;\nEND:\nst.shared.u32 [s+4], %r2;",
    );
    let branches = code.iter().filter(|op| matches!(op, Op::Branch { .. }));
    assert_eq!(branches.count(), 1, "{code:?}");
}

/// By hand: a block of nine instructions with a store is branched around; two marks before, one behind.
#[test]
fn a_long_divided_block_is_marked() {
    let marks = |register: &str| {
        let adds: String = (0..8)
            .map(|n| format!("mul.lo.u32 %r{}, %r2, %r{};\n", n + 4, n + 3))
            .collect();
        let code = ops(&format!(
            "mov.u32 %r1, {register};\nld.param.u32 %r2, [n];\nmov.u32 %r3, %r2;\nsetp.gt.u32 %p1, %r1, 7;\n@%p1 bra OUT;\n{adds}st.shared.u32 [s], %r11;\nOUT:\nst.shared.u32 [s+4], %r1;"
        ));
        let is_mark = |op: &&Op| matches!(op, Op::Part(crate::program::Machine::Control));
        code.iter().filter(is_mark).count()
    };
    assert_eq!([marks("%tid.x"), marks("%ctaid.x")], [3, 0]);
}

#[test]
fn constants_are_read_in_pairs() {
    let text = ".version 7.0\n.target sm_70\n.address_size 64\n.const .align 16 .b8 c[64];\n.visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<4>;\n.reg .b32 %r<4>;\n.reg .f32 %f<8>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 16;\nmov.u64 %rd3, c;\nadd.s64 %rd3, %rd3, %rd2;\nld.const.f32 %f1, [%rd3];\nld.const.f32 %f2, [%rd3+4];\nld.const.f32 %f3, [%rd3+8];\nld.const.f32 %f4, [%rd3+12];\nadd.f32 %f1, %f1, %f2;\nadd.f32 %f3, %f3, %f4;\nadd.f32 %f1, %f1, %f3;\nst.global.f32 [%rd1], %f1;\nret;\n}\n";
    let module = crate::load_lowered(text, Lower::SassLike).unwrap();
    let loads = module.entries[0].code.iter();
    let loads = loads.filter(|inst| matches!(inst.op, Op::Load(_)));
    assert_eq!(loads.count(), 2);
}

#[test]
fn an_entry_with_calls_stays_ptx_and_says_so() {
    let text = ".version 7.0\n.target sm_70\n.address_size 64\n.func f() { ret; }\n.visible .entry k()\n{\ncall f;\nret;\n}\n";
    let module = crate::load_lowered(text, Lower::SassLike).unwrap();
    assert_eq!(module.entries[0].left, Some(super::Left::Calls));
    assert_eq!(crate::load(text).unwrap().entries[0].left, None);
}

/// The exchange waits for its operand and its reader for it; a sum that has nothing to do with them goes between, over the exchange.
#[test]
fn sums_move_over_exchanges() {
    let code = ops(
        "mov.u32 %r1, %tid.x;\nmul.lo.u32 %r2, %r1, %r1;\nshfl.sync.bfly.b32 %r3, %r2, 1, 31, -1;\nadd.u32 %r4, %r3, %r2;\nmul.lo.u32 %r5, %r1, 7;\nst.shared.u32 [s], %r4;\nst.shared.u32 [s+4], %r5;",
    );
    let exchange = code.iter().position(|op| matches!(op, Op::Shuffle(_)));
    let before = code[..exchange.unwrap()].iter();
    let products = before.filter(|op| matches!(op, Op::Word2(Word2::Mul)));
    assert_eq!(products.count(), 2, "{code:?}");
}

/// Exchanges keep their order, and stores stay on their side of them.
#[test]
fn exchanges_keep_their_order() {
    let code = ops(
        "mov.u32 %r1, %tid.x;\nmul.lo.u32 %r2, %r1, %r1;\nshfl.sync.bfly.b32 %r3, %r2, 1, 31, -1;\nst.shared.u32 [s], %r1;\nshfl.sync.bfly.b32 %r4, %r1, 2, 31, -1;\nst.shared.u32 [s+4], %r3;\nst.shared.u32 [s+8], %r4;",
    );
    let names: String = code
        .iter()
        .map(|op| match op {
            Op::Shuffle(_) => 'x',
            Op::Store(_) => 's',
            _ => '.',
        })
        .collect();
    assert_eq!(names.trim_matches('.'), "xsxss", "{code:?}");
}

/// Three hundred loads that stand before what sums them up, of which registers hold 255: they are read when they are needed.
#[test]
fn loads_that_find_no_registers_come_later() {
    let loads: String = (0..300)
        .map(|n| format!("ld.shared.f32 %f{}, [s+{}];\n", n + 1, 4 * n))
        .collect();
    let sums: String = (1..300)
        .map(|n| format!("add.f32 %f0, %f0, %f{n};\n"))
        .collect();
    let text = format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n.reg .b64 %rd<4>;\n.reg .f32 %f<301>;\n.shared .align 4 .b8 s[2048];\nld.param.u64 %rd1, [p];\n{loads}mov.f32 %f0, %f300;\n{sums}st.global.f32 [%rd1], %f0;\nret;\n}}\n"
    );
    let spills = |lowering| {
        let entry = &crate::load_lowered(&text, lowering).unwrap().entries[0];
        (
            entry.allocation.live > 240,
            entry.allocation.spills.values > 0,
        )
    };
    assert_eq!(spills(Lower::Ptx), (true, true));
    assert_eq!(spills(Lower::SassLike), (false, false));
}

/// Rows of four matrices take sixteen cycles to load: a product whose rows have come goes before more of them, and later ones wait for its sums.
#[test]
fn products_go_between_loads_of_rows() {
    let loads: String = (1..5)
        .map(|n| {
            let first = 4 * n;
            let [a, b, c, d] = [0, 1, 2, 3].map(|more| first + more);
            format!("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%r{a},%r{b},%r{c},%r{d}}}, [%r3+{first}];\n")
        })
        .collect();
    let products: String = (1..5)
        .map(|n| {
            let [a, b, c, d] = [0, 1, 2, 3].map(|more| 4 * n + more);
            format!("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{%f1,%f2,%f3,%f4}}, {{%r{a},%r{b},%r{c},%r{d}}}, {{%r{a},%r{b}}}, {{%f1,%f2,%f3,%f4}};\n")
        })
        .collect();
    let code = ops(&format!(
        "mov.u32 %r3, s;\n{loads}{products}st.shared.f32 [%r3], %f1;"
    ));
    let names: String = code
        .iter()
        .map(|op| match op {
            Op::Matrix(matrix) => match matrix.op {
                MatrixOp::LoadRows { .. } => 'l',
                _ => 'p',
            },
            _ => '.',
        })
        .collect();
    assert_eq!(names.replace('.', ""), "llpllppp", "{code:?}");
}

/// A hundred values that live at once, in a kernel whose CTAs have 1,024 threads: 64 registers each, and the others in local memory.
#[test]
fn a_block_of_many_threads_fits_an_sm() {
    let loads: String = (0..100)
        .map(|n| format!("ld.global.f32 %f{n}, [%rd1+{}];\n", 4 * n))
        .collect();
    let stores: String = (0..100)
        .rev()
        .map(|n| format!("st.global.f32 [%rd1+{}], %f{n};\n", 4 * n + 4))
        .collect();
    let registers = |directive: &str| {
        let text = format!(
            ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{directive}\n{{\n.reg .b64 %rd<2>;\n.reg .f32 %f<100>;\nld.param.u64 %rd1, [p];\n{loads}{stores}ret;\n}}\n"
        );
        let module = crate::load_lowered(&text, Lower::Ptx).unwrap();
        let entry = &module.entries[0];
        assert!(entry.unsupported.is_empty());
        (entry.registers, entry.allocation.spills.values > 0)
    };
    assert!(matches!(registers(""), (101.., false)));
    assert!(matches!(registers(".maxntid 32, 1, 1"), (101.., false)));
    assert!(matches!(registers(".reqntid 512, 2, 1"), (..=64, true)));
}

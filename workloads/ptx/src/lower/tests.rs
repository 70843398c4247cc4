use super::load;
use crate::cfg::NO_RECONVERGENCE;
use crate::program::{Entry, Op};

fn entry(body: &str) -> Entry {
    let source = format!(
        ".version 8.0 .target sm_70 .address_size 64\n.visible .entry k(.param .u64 p)\n{{\n{body}\n}}\n"
    );
    let mut module = load(&source).unwrap_or_else(|errors| panic!("{errors:#?}"));
    module.entries.remove(0)
}

fn refusals(body: &str) -> Vec<String> {
    let refusals = entry(body).unsupported;
    refusals.into_iter().map(|error| error.message).collect()
}

#[test]
fn a_branch_meets_at_its_immediate_post_dominator() {
    let entry = entry(
        ".reg .pred %p<3>; .reg .b32 %r<4>;
         setp.lt.s32 %p1, %r1, %r2;
         @%p1 bra $else;
         add.s32 %r1, %r1, 1;
         bra.uni $join;
         $else: add.s32 %r1, %r1, 2;
         $join: add.s32 %r2, %r1, 3;
         $loop: setp.lt.s32 %p2, %r1, %r2;
         @%p2 bra $loop;
         ret;",
    );
    assert_eq!(entry.unsupported, []);
    let branch = |at: usize| match entry.code[at].op {
        Op::Branch { target, reconverge } => (target, reconverge),
        _ => panic!("{at} is no branch"),
    };
    assert_eq!(branch(1), (4, 5), "both sides of the if meet behind it");
    assert_eq!(branch(7), (6, 8), "the loop's lanes meet behind it");
}

#[test]
fn an_early_exit_leaves_nowhere_to_meet() {
    let entry = entry(
        ".reg .pred %p<2>; .reg .b32 %r<3>;
         setp.lt.s32 %p1, %r1, %r2;
         @%p1 bra $out;
         ret;
         $out: ret;",
    );
    assert!(
        matches!(entry.code[1].op, Op::Branch { reconverge, .. } if reconverge == NO_RECONVERGENCE)
    );
}

#[test]
fn everything_unsupported_is_reported_at_load() {
    assert_eq!(
        refusals(
            ".reg .b32 %r<4>; .reg .b64 %rd<3>;
             frobnicate.u32 %r1, %r2;
             add.bogus.s32 %r1, %r2, %r3;
             add.s32 %r1, %rd1, 4;
             add.s32 %r1, %r2;
             mov.u32 %r9, 1;
             bra nowhere;
             ret;"
        ),
        [
            "the instruction `frobnicate` is not supported",
            "`.bogus` is not supported on `add`",
            "`%rd1` is a 64-bit register, a 32-bit register is needed here",
            "`add` takes 3 operands here, found 2",
            "`%r9` is not declared",
            "there is no label `nowhere` in this function",
        ]
    );
}

#[test]
fn registers_are_those_live_at_once() {
    // %r1 and %rd1 live together (3 words); %r2 and %r3 reuse what died.
    let entry = entry(
        ".reg .b32 %r<5>; .reg .b64 %rd<2>;
         mov.u32 %r1, %tid.x;
         ld.param.u64 %rd1, [p];
         st.global.u32 [%rd1], %r1;
         mov.u32 %r2, 5;
         mov.u32 %r3, %r2;
         ret;",
    );
    assert_eq!(entry.registers, 3);
}

#[test]
fn a_program_that_runs_off_its_end_exits_there() {
    let entry = entry(".reg .b32 %r<2>; mov.u32 %r1, 1;");
    assert_eq!(entry.code.last().map(|inst| &inst.op), Some(&Op::Exit));
}

#[test]
fn initial_values_and_addresses_of_variables() {
    let module = load(
        ".version 8.0 .target sm_70 .address_size 64
         .global .align 4 .u32 a[2] = {1, 258};
         .global .align 8 .u64 where = generic(a)+4;
         .const .f32 half = 0.5;
         .entry k() { ret; }",
    )
    .unwrap();
    assert_eq!(module.globals[..8], [1, 0, 0, 0, 2, 1, 0, 0]);
    assert_eq!(module.globals[8..16], 0x1000_0004u64.to_le_bytes());
    assert_eq!(module.constants, 0.5f32.to_le_bytes());
}

#[test]
fn absurd_sizes_are_refused() {
    let source = ".version 8.0 .target sm_70 .address_size 64
        .global .b8 huge[9223372036854775807][16];
        .const .align 3 .b32 odd;
        .entry k() { ret; }";
    let errors = load(source).unwrap_err();
    assert_eq!(errors.len(), 2, "{errors:?}");
}

/// What is refused in the only entry of a module.
fn refused(source: &str) -> Vec<String> {
    let head = ".version 8.0\n.target sm_80\n.address_size 64\n";
    let module = load(&format!("{head}{source}")).expect("it is PTX");
    let problems = module.entries[0].unsupported.iter();
    problems.map(|problem| problem.message.clone()).collect()
}

#[test]
fn targets_of_indirect_branches_are_bounded_before_they_are_copied() {
    let labels: Vec<String> = (0..1100).map(|at| format!("L{at}")).collect();
    let branches: String = labels
        .iter()
        .map(|label| format!("{label}: brx.idx %r, T;\n"))
        .collect();
    let list = labels.join(", ");
    let source = format!(
        ".visible .entry k() {{ .reg .b32 %r;\nT: .branchtargets {list};\n{branches} ret; }}"
    );
    let found = refused(&source);
    assert!(
        found[0].contains("targets of indirect branches"),
        "{}",
        found[0]
    );
}

#[test]
fn indirect_calls_among_many_functions_are_bounded() {
    let functions: String = (0..1100)
        .map(|at| format!(".func f{at}() {{ ret; }}\n"))
        .collect();
    let calls = "call %rd, P;\n".repeat(1000);
    let source = format!(
        ".visible .entry k() {{ .reg .b64 %rd;\nP: .callprototype ()_ ();\n{calls} ret; }}\n{functions}"
    );
    let found = refused(&source);
    assert!(found[0].contains("too many indirect calls"), "{}", found[0]);
}

#[test]
fn functions_that_an_entry_reaches_are_bounded() {
    let chain: String = (0..2100)
        .map(|at| format!(".func f{at}() {{ call f{}; ret; }}\n", at + 1))
        .collect();
    let source =
        format!(".visible .entry k() {{ call f0; ret; }}\n{chain}.func f2100() {{ ret; }}");
    let found = refused(&source);
    assert!(
        found[0].contains("an entry may reach 2000 functions"),
        "{}",
        found[0]
    );
}

#[test]
fn errors_are_listed_up_to_a_hundred() {
    let source = format!(".entry k() {{ {} }}", "add.u32 %r1 %r2;".repeat(5000));
    assert_eq!(load(&source).unwrap_err().len(), 100);
}

/// Inline assembly brings its labels along in braces, again and again (CUTLASS waits for its barriers so).
#[test]
fn labels_in_braces_are_their_own() {
    let wait = "{ .reg .pred %q; WAIT: setp.eq.u32 %q, %r1, 3; @%q bra DONE; add.u32 %r1, %r1, 1; bra WAIT; DONE: }";
    let body = format!(
        ".reg .pred %p; .reg .b32 %r<4>; WAIT: {wait} {{ bra.uni OUT; {wait} }} setp.eq.u32 %p, %r1, 9; @%p bra WAIT; OUT: ret;"
    );
    let entry = entry(&body);
    assert_eq!(entry.unsupported, []);
    let targets = entry.code.iter().filter_map(|inst| match inst.op {
        Op::Branch { target, .. } => Some(target),
        _ => None,
    });
    let targets: Vec<u32> = targets.collect();
    assert_eq!(targets, [4, 0, 11, 9, 5, 0]);
}

#[test]
fn labels_in_braces_are_not_seen_from_outside() {
    let found = refusals("{ INNER: membar.gl; } bra INNER; ret;");
    assert_eq!(found, ["there is no label `INNER` in this function"]);
    let found = refusals("{ TWICE: membar.gl; TWICE: ret; }");
    assert_eq!(found, ["label `TWICE` stands in two places"]);
}

#[test]
fn what_is_left_out_of_tensor_memory_has_a_reason() {
    let found = refusals(
        "tcgen05.mma.ws.cta_group::2.kind::f16 [%r1], %d1, %d2, %r2, %p1; tcgen05.mma.sp.cta_group::1.kind::f16 [%r1], %d1, %d2, [%r3], %r2, %p1;
        tcgen05.ld.sync.aligned.32x32b.x3.b32 {%r1, %r2, %r3}, [%r2]; tcgen05.mul;
        cp.async.bulk.tensor.1d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1, {%r2}], [%r3]; ret;",
    );
    assert_eq!(
        found,
        [
            "`tcgen05.mma.ws.cta_group::2.kind::f16` is not supported",
            "`tcgen05.mma.sp.cta_group::1.kind::f16` is not supported: where the metadata of a sparse A lie, PTX shows in figures only",
            "`tcgen05.ld.sync.aligned.32x32b.x3.b32` is not supported",
            "there is no instruction `tcgen05.mul`",
            "`cp.async.bulk.tensor.1d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes` is not supported: where a pair's barrier lies, programs compute from the bits of the hardware's addresses, which PTX leaves open",
        ]
    );
}

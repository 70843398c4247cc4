use super::*;
use crate::ast::{Operand, Statement};

fn errors(source: &str) -> Vec<String> {
    let errors = parse(source).unwrap_err();
    errors.into_iter().map(|error| error.message).collect()
}

const SMALL: &str = r#"
.version 9.0
.target sm_80
.address_size 64
.visible .const .align 4 .b8 table[8] = {1, 2, 3};
.global .f32 scale = 0f3F800000;
.extern .shared .align 16 .b8 dynamic[];
.visible .entry k(.param .u64 k_param_0, .param .align 4 .b8 k_param_1[12])
.maxntid 256, 1, 1
{
    .reg .pred %p<2>;
    .reg .b32 %r<5>, %x;
    .loc 1 5 3
    mov.u32 %r1, %tid.x;
$L__BB0_1:
    @!%p1 ld.shared.v2.u32 {%r1, %r2}, [dynamic+-4];
    shfl.sync.down.b32 %r3|%p1, %r1, 16, 31, -1;
    { .reg .b32 t; mov.b32 t, 0x7F; }
    bra.uni $L__BB0_1;
    ret;
}
"#;

#[test]
fn a_module_with_everything_that_compilers_write() {
    let module = parse(SMALL).unwrap();
    assert_eq!(module.target.unwrap().text, "sm_80");
    assert_eq!(module.address_size, Some(64));
    assert_eq!(module.variables.len(), 3);
    assert!(module.variables[2].is_extern);
    let entry = &module.functions[0];
    assert_eq!((entry.name.text, entry.params.len()), ("k", 2));
    let block = entry.block.unwrap();
    assert_eq!((block.extents, block.exact), ([256, 1, 1], false));
    let body = entry.body.as_ref().unwrap();
    assert!(matches!(&body[4], Statement::Label(label) if label.text == "$L__BB0_1"));
    let Statement::Instruction(load) = &body[5] else {
        panic!("{body:?}")
    };
    assert!(load.guard.as_ref().unwrap().negated);
    let modifiers: Vec<_> = load.modifiers.iter().map(|name| name.text).collect();
    assert_eq!(modifiers, ["shared", "v2", "u32"]);
    assert!(matches!(&load.operands[1], Operand::Address(address) if address.offset == -4));
    assert_eq!(
        &SMALL[load.span.clone()],
        "@!%p1 ld.shared.v2.u32 {%r1, %r2}, [dynamic+-4]"
    );
}

#[test]
fn an_error_does_not_hide_the_next_one() {
    let source = ".entry k() { mov.u32 %r1 %r2; add.s32 %r1, , %r2; ret; }";
    assert_eq!(
        errors(source),
        [
            "expected `;` or `,` after an operand, found `%r2`",
            "expected an operand, found `,`"
        ]
    );
}

#[test]
fn a_file_that_stops_in_the_middle_says_so() {
    assert_eq!(
        errors(".entry k() { ret;"),
        ["expected `}` to end the block, found the end of the file"]
    );
}

#[test]
fn deep_nesting_is_refused_rather_than_overflowing_the_stack() {
    let source = format!(".entry k() {}", "{".repeat(100_000));
    assert!(!errors(&source).is_empty());
    let operands = format!(".entry k() {{ mov.b32 {}", "{".repeat(100_000));
    assert!(!errors(&operands).is_empty());
}

proptest::proptest! {
    #[test]
    fn any_text_is_parsed_or_refused(text in "[.a-z%$0-9{}()\\[\\];:,@! \n+<>|\"=-]{0,200}") {
        let _ = parse(&text);
    }

    #[test]
    fn any_damage_to_a_module_is_parsed_or_refused(at in 0usize..SMALL.len(), with in ".{0,3}") {
        if SMALL.is_char_boundary(at) {
            let damaged = format!("{}{}{}", &SMALL[..at], with, SMALL.get(at + 3..).unwrap_or(""));
            let _ = parse(&damaged);
        }
    }
}

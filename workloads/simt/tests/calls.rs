//! Calls through addresses, and what stands in for the system's functions.

use warpwatt_ptx::load;
use warpwatt_simt::{Cause, DeviceMemory, ExecError, Launch, Options, execute};

const FUNCTIONS: &str = "
.version 8.0 .target sm_70 .address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.func (.param .b32 r) add_one(.param .b32 a)
{ .reg .b32 %r<3>; ld.param.u32 %r1, [a]; add.s32 %r2, %r1, 1; st.param.b32 [r], %r2; ret; }
.func (.param .b32 r) times_two(.param .b32 a)
{ .reg .b32 %r<3>; ld.param.u32 %r1, [a]; mul.lo.s32 %r2, %r1, 2; st.param.b32 [r], %r2; ret; }
.func (.param .b64 r) other_shape(.param .b64 a) { ret; }
.global .align 8 .u64 table[3] = {add_one, times_two, other_shape};
";

/// Runs a body that leaves its result in `%r3`; `%r1` is the lane.
fn run(body: &str) -> Result<Vec<u32>, ExecError> {
    let source = format!(
        "{FUNCTIONS}.visible .entry k(.param .u64 p) {{ .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<3>;
        mov.u32 %r1, %tid.x; {body}
        ld.param.u64 %rd4, [p]; mul.wide.u32 %rd5, %r1, 4; add.s64 %rd4, %rd4, %rd5; st.global.u32 [%rd4], %r3; ret; }}"
    );
    let module = load(&source).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let mut memory = DeviceMemory::new(&module);
    let address = memory.alloc("p", vec![0; 128]);
    let launch = Launch {
        entry: "k",
        grid: [1, 1, 1],
        block: [32, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        params: address.to_le_bytes().to_vec(),
    };
    execute(&module, &launch, &mut memory, &Options::default())?;
    let words = memory.buffer(address).chunks_exact(4);
    Ok(words
        .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect())
}

/// Calls what the table has at index `%r2`.
const CALL: &str = "mul.wide.u32 %rd1, %r2, 8; mov.u64 %rd2, table; add.s64 %rd2, %rd2, %rd1; ld.global.u64 %rd3, [%rd2];
    { .param .b32 argument; st.param.b32 [argument], %r1; .param .b32 result;
      shape : .callprototype (.param .b32 _) _ (.param .b32 _);
      call (result), %rd3, (argument), shape;
      ld.param.b32 %r3, [result]; }";

#[test]
fn lanes_call_different_functions_and_meet_again() {
    let words = run(&format!(
        "and.b32 %r2, %r1, 1; {CALL} activemask.b32 %r4; setp.ne.u32 %p1, %r4, 0xffffffff; @%p1 mov.u32 %r3, 999;"
    ));
    for (lane, word) in (0..).zip(words.unwrap()) {
        assert_eq!(
            word,
            if lane % 2 == 0 { lane + 1 } else { lane * 2 },
            "{lane}"
        );
    }
}

#[test]
fn a_guard_keeps_lanes_out_of_the_call() {
    let body = format!(
        "mov.u32 %r3, 7; mov.u32 %r2, 1; setp.gt.u32 %p1, %r1, 9; {}",
        CALL.replace("call (", "@%p1 call (")
    );
    for (lane, word) in (0..).zip(run(&body).unwrap()) {
        if lane > 9 {
            assert_eq!(word, lane * 2, "{lane}");
        }
    }
}

#[test]
fn an_address_of_another_shape_is_a_fault() {
    let Err(ExecError::Fault(fault)) = run(&format!("mov.u32 %r2, 2; {CALL}")) else {
        panic!("the call went somewhere");
    };
    assert!(
        matches!(fault.cause, Cause::CallTarget(_)),
        "{}",
        fault.cause
    );
}

/// Calls `vprintf` with `%rd6` as format, and the lane and twice the lane as a long at `values`.
const PRINT: &str = "mov.u64 %rd6, format; cvta.global.u64 %rd6, %rd6; mov.u64 %rd7, values; cvta.local.u64 %rd7, %rd7;
    st.local.u32 [values], %r1; mul.wide.u32 %rd8, %r1, 2; st.local.u64 [values+8], %rd8;
    { .param .b64 f; st.param.b64 [f], %rd6; .param .b64 v; st.param.b64 [v], %rd7; .param .b32 result;
      call.uni (result), vprintf, (f, v); ld.param.b32 %r3, [result]; }";

/// What a body prints on a grid of some CTAs.
fn printed(body: &str, ctas: u32, threads: usize) -> Result<(String, Vec<u32>), ExecError> {
    let bytes = b"lane %d: %lld\n\0".map(|byte| byte.to_string()).join(", ");
    let source = format!(
        "{FUNCTIONS}.global .align 1 .b8 format[15] = {{{bytes}}};
        .extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
        .visible .entry k(.param .u64 p) {{ .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<3>; .local .align 8 .b8 values[16];
        mov.u32 %r1, %tid.x; {body}
        ld.param.u64 %rd4, [p]; mul.wide.u32 %rd5, %r1, 4; add.s64 %rd4, %rd4, %rd5; st.global.u32 [%rd4], %r3; ret; }}"
    );
    let module = load(&source).unwrap_or_else(|errors| panic!("{errors:#?}"));
    assert_eq!(module.prints(), body.contains("vprintf"));
    let mut memory = DeviceMemory::new(&module);
    let address = memory.alloc("p", vec![0; 128]);
    let launch = Launch {
        entry: "k",
        grid: [ctas, 1, 1],
        block: [32, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        params: address.to_le_bytes().to_vec(),
    };
    let options = Options {
        threads,
        ..Options::default()
    };
    execute(&module, &launch, &mut memory, &options)?;
    let text = String::from_utf8(memory.take_printed()).unwrap();
    assert!(memory.take_printed().is_empty());
    let words = memory.buffer(address).chunks_exact(4);
    let words = words.map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    Ok((text, words.collect()))
}

#[test]
fn what_lanes_print_is_kept_in_their_order() {
    let lines: String = (0..32)
        .map(|lane| format!("lane {lane}: {}\n", 2 * lane))
        .collect();
    let (text, counts) = printed(PRINT, 1, 1).unwrap();
    assert_eq!(text, lines);
    assert_eq!(counts, [2; 32], "it returns how many arguments there are");
    // However many threads execute it; the loop makes them worth it.
    let busy =
        "mov.u32 %r4, 0; loop: add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 3000; @%p1 bra loop;";
    let of_all = printed(&format!("{busy} {PRINT}"), 64, 4).unwrap();
    assert_eq!(of_all.0, lines.repeat(64));
}

#[test]
fn a_format_that_cannot_be_read_is_a_fault() {
    let body = PRINT.replace("mov.u64 %rd6, format;", "mov.u64 %rd6, 64;");
    let Err(ExecError::Fault(fault)) = printed(&body, 1, 1) else {
        panic!("something was printed");
    };
    assert!(
        matches!(fault.cause, Cause::BadFormat(_)),
        "{}",
        fault.cause
    );
}

#[test]
fn a_failed_assertion_says_where_it_stands() {
    let body = "mov.u32 %r3, 0; setp.ne.u32 %p1, %r1, 5; @%p1 bra fine; mov.u64 %rd6, format; cvta.global.u64 %rd6, %rd6;
        { .param .b64 a; st.param.b64 [a], %rd6; .param .b64 b; st.param.b64 [b], %rd6; .param .b32 c; st.param.b32 [c], 7;
          .param .b64 d; st.param.b64 [d], %rd6; .param .b64 e; st.param.b64 [e], 1; call.uni __assertfail, (a, b, c, d, e); } fine:";
    let Err(ExecError::Fault(fault)) = printed(body, 1, 1) else {
        panic!("it holds");
    };
    let format = "lane %d: %lld\n";
    let said = format!("{format}:7: {format}: Assertion `{format}` failed");
    assert_eq!(fault.cause, Cause::Assertion(said));
    assert_eq!(fault.thread, [5, 0, 0]);
}

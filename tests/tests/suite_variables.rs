//! What a host fills beside buffers: variables of a module, and structures that are passed by value.

use warpwatt_ptx::load;
use warpwatt_suite::launch::{Files, LaunchFile};
use warpwatt_suite::{RunOptions, run_case};

/// Adds to every element its weight times the scale of a structure, and counts the threads in a variable.
const PTX: &str = "
.version 7.0
.target sm_70
.address_size 64
.global .align 4 .u32 before;
.const .align 4 .f32 weights[4];
.const .align 8 .u64 unused;
.global .align 4 .u32 calls[2] = {5, 7};
.visible .entry weigh(.param .align 8 .b8 shape[16], .param .u64 x)
{
    .reg .b64 %rd<4>;
    .reg .b32 %r<6>;
    .reg .f32 %f<5>;
    ld.param.u64 %rd0, [x];
    ld.param.f32 %f0, [shape+4];
    ld.param.u32 %r0, [shape+8];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd1, %r1, 4;
    mov.u64 %rd2, weights;
    add.u64 %rd2, %rd2, %rd1;
    ld.const.f32 %f1, [%rd2];
    add.u64 %rd3, %rd0, %rd1;
    ld.global.f32 %f2, [%rd3];
    cvt.rn.f32.u32 %f3, %r0;
    fma.rn.f32 %f2, %f0, %f1, %f2;
    add.f32 %f2, %f2, %f3;
    st.global.f32 [%rd3], %f2;
    atom.global.add.u32 %r2, [calls+4], 1;
    ret;
}
";

/// A launch file whose variables are called so.
fn launch(weights: &str, kind: &str, shape: u32) -> String {
    format!(
        r#"
        name = "variables"
        [a]
        kernel = "weigh"
        grid = [1]
        block = [4]
        [[a.arg]]
        name = "weights"
        kind = "{kind}"
        type = "f32"
        count = 4
        init = "iota()"
        variable = "{weights}"
        [[a.arg]]
        name = "shape"
        kind = "struct"
        type = "u32"
        count = {shape}
        init = "spike(index=1, peak=1073741824, rest=3)"
        [[a.arg]]
        name = "x"
        kind = "inout"
        type = "f32"
        count = 4
        init = "zeros()"
        [[a.arg]]
        name = "calls"
        kind = "inout"
        type = "u32"
        count = 2
        init = "spike(index=1, peak=100, rest=1)"
        variable = "calls"
        [[a.step]]
        kernel = "weigh"
        loop = {{ variable = "i", from = 1, to = 2 }}
        grid = [1]
        block = [4]
        "#
    )
    .replacen(
        "        kernel = \"weigh\"\n        grid = [1]\n        block = [4]\n",
        "",
        1,
    )
}

#[test]
fn variables_hold_what_the_host_gave_them_and_what_launches_left() {
    let module = load(PTX).expect("the module is correct");
    let file = LaunchFile::parse(&launch("weights", "in", 4)).expect("the file is correct");
    let case = file.case(None).expect("there is a case");
    let prepared = case
        .prepare(&module, Files::None)
        .expect("the case fits the module");
    let run = run_case(&module, case, &prepared, RunOptions::default()).expect("it runs");
    assert!(run.passed());
    let bytes = |name: &str| {
        let mut buffers = run.buffers.iter();
        let found = buffers.find(|buffer| buffer.name == name);
        found.map(|buffer| buffer.bytes.clone()).expect("a buffer")
    };
    // Twice, for two launches: scale 2 (whose bits are 0x40000000) times the weight, plus the structure's third word.
    let wanted = (0..4).map(|i| 2.0 * (2.0 * i as f32 + 3.0));
    let wanted: Vec<u8> = wanted.flat_map(f32::to_le_bytes).collect();
    assert_eq!(bytes("x"), wanted);
    let counted: Vec<u8> = [1u32, 108].into_iter().flat_map(u32::to_le_bytes).collect();
    assert_eq!(bytes("calls"), counted);
    assert_eq!(bytes("weights").len(), 16);
}

#[test]
fn what_does_not_fit_the_module_is_said() {
    let module = load(PTX).expect("the module is correct");
    let said = |text: String| {
        let file = LaunchFile::parse(&text).expect("the file is correct");
        let case = file.case(None).expect("there is a case");
        let problems = case.check(&module);
        let messages = problems.into_iter().map(|problem| problem.message);
        messages.collect::<Vec<_>>().join("\n")
    };
    assert_eq!(said(launch("weights", "in", 4)), "");
    assert!(said(launch("wieghts", "in", 4)).contains("has no variable `wieghts`"));
    assert!(said(launch("before", "in", 4)).contains("has 4 bytes, but is given 16"));
    assert!(said(launch("weights", "inout", 4)).contains("constant"));
    assert!(said(launch("weights", "in", 5)).contains("the structure has 20"));
}

#[test]
fn a_structure_is_no_variable_and_neither_is_a_scalar() {
    for kind in ["struct", "scalar"] {
        let text = format!(
            "name = 'n'\n[a]\nkernel = 'k'\ngrid = [1]\nblock = [1]\n[[a.arg]]\nname = 'x'\nkind = '{kind}'\ntype = 'u32'\n\
             variable = 'v'\n"
        );
        let problems = LaunchFile::parse(&text).expect_err("that is not possible");
        assert!(format!("{problems:?}").contains("variable"), "{problems:?}");
    }
}

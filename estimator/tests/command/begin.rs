//! `warpwatt new` through the command.

use crate::common::{Scratch, stderr, stdout, warpwatt};

const PTX: &str = ".version 8.0
.target sm_70
.address_size 64
.visible .entry _Z4copyIfEvPKT_PS0_i(.param .u64 from, .param .u64 to, .param .u32 n) .maxntid 128, 1, 1 {
    .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %d<8>; .reg .f32 %f<2>;
    ld.param.u64 %d1, [from]; ld.param.u64 %d2, [to]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mad.lo.s32 %r5, %r3, %r4, %r2;
    setp.ge.s32 %p1, %r5, %r1; @%p1 bra $END;
    cvta.to.global.u64 %d3, %d1; cvta.to.global.u64 %d4, %d2; mul.wide.s32 %d5, %r5, 4;
    add.s64 %d6, %d3, %d5; add.s64 %d7, %d4, %d5; ld.global.f32 %f1, [%d6]; st.global.f32 [%d7], %f1;
$END: ret;
}
";

fn said(scratch: &Scratch, arguments: &[&str]) -> (Option<i32>, String) {
    let output = warpwatt(&scratch.path(""), arguments);
    (output.status.code(), stdout(&output) + &stderr(&output))
}

/// From PTX to a run: what is missing is asked for with its place, and nothing else is wrong.
#[test]
fn a_launch_file_is_begun_filled_in_and_run() {
    let scratch = Scratch::new();
    scratch.write("my.ptx", PTX);
    let (code, text) = said(&scratch, &["new", "my.ptx"]);
    assert_eq!(
        (code, text.as_str()),
        (
            Some(0),
            "my.toml launches `_Z4copyIfEvPKT_PS0_i` (void copy<float>(float const*, float*, int)); 5 values in it are still `TODO`.\nThen: warpwatt kernel my.toml\n"
        )
    );
    let begun = std::fs::read_to_string(scratch.path("my.toml")).unwrap();
    insta::assert_snapshot!("begun", begun);
    let (code, text) = said(&scratch, &["kernel", "my.toml"]);
    assert_eq!(code, Some(2));
    insta::assert_snapshot!("missing", text);
    let filled = begun
        .replace("[constants]", "[constants]\nn = 1000")
        .replace("grid = [\"TODO\"", "grid = [\"ceil(n / 128)\"")
        .replace("init = \"TODO\"", "init = \"iota()\"")
        .replace("\"TODO\"", "\"n\"");
    scratch.write("filled.toml", &filled);
    let arguments = [
        "kernel",
        "filled.toml",
        "--no-timing",
        "--dump",
        "to=to.csv",
    ];
    let (code, text) = said(&scratch, &arguments);
    assert_eq!(code, Some(0), "{text}");
    let copied = std::fs::read_to_string(scratch.path("to.csv")).unwrap();
    assert_eq!(copied.lines().count(), 1000);
    assert_eq!(copied.lines().nth(999), Some("999.0"));
}

#[test]
fn nothing_is_overwritten_and_entries_are_chosen() {
    let scratch = Scratch::new();
    scratch.write(
        "two.ptx",
        &format!("{PTX}.visible .entry other() {{ ret; }}\n"),
    );
    scratch.write(
        "none.ptx",
        ".version 8.0\n.target sm_70\n.address_size 64\n",
    );
    scratch.write("there.toml", "mine");
    let mut all = String::new();
    for arguments in [
        &["new", "two.ptx"][..],
        &["new", "two.ptx", "--entry", "copies"],
        &["new", "two.ptx", "--entry", "o"],
        &["new", "none.ptx"],
        &[
            "new",
            "two.ptx",
            "--entry",
            "copy<float>",
            "--out",
            "there.toml",
        ],
    ] {
        let (code, text) = said(&scratch, arguments);
        assert_eq!(code, Some(2), "{arguments:?}");
        all += &text;
    }
    insta::assert_snapshot!("refusals", all);
    assert_eq!(
        std::fs::read_to_string(scratch.path("there.toml")).unwrap(),
        "mine"
    );
    let (code, text) = said(
        &scratch,
        &[
            "new",
            "two.ptx",
            "--entry",
            "copy<float>",
            "--out",
            "a.toml",
        ],
    );
    assert_eq!(code, Some(0), "{text}");
    assert!(!scratch.path("two.toml").exists());
}

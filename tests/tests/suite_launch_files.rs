//! Launch files: what is read, and what is said about files that are wrong.

use proptest::prelude::*;
use warpwatt_suite::LaunchFile;
use warpwatt_suite::launch::{Action, Condition, ElementType, Files, Repeat, Role, Scalar};

/// Every problem of a text, each with the piece of the text it points at.
fn problems(text: &str) -> String {
    let problems = LaunchFile::parse(text).expect_err("the file is wrong");
    let lines = problems.iter().map(|problem| {
        let piece = text[problem.span.clone()]
            .lines()
            .next()
            .unwrap_or_default();
        let help = problem.help.as_deref().unwrap_or("-");
        format!("[{piece}] {}\n    help: {help}\n", problem.message)
    });
    lines.collect()
}

const GOOD: &str = r#"
name = "vector_add"
behaviour = "streaming"

[build]
ptx = "kernel.ptx"
registers = 12

[small_dynamic]
thread_inst = 2882792

[small]
kernel = "vector_add"
grid = [512, 1, 1]
block = [256, 1, 1]
threads = 131072

[[small.arg]]
index = 0
name = "a"
kind = "in"
type = "f32"
count = 131000
init = "range_f32(seed=1, lo=-1, hi=1)"

[[small.arg]]
index = 1
name = "c"
kind = "out"
type = "f32"
count = 131000
init = "poison_bytes(0xCD)"
tol_abs = 0
tol_rel = 0
expect_sum = 23.4555029869

[[small.arg]]
index = 2
name = "n"
kind = "scalar"
type = "i32"
value = -131000

[big]
kernel = "vector_add"
grid = [1]
block = [32]
"#;

#[test]
fn a_file_of_the_plain_form() {
    let file = LaunchFile::parse(GOOD).unwrap();
    assert_eq!(file.name, "vector_add");
    assert_eq!(file.ptx.as_ref().unwrap().get_ref(), "kernel.ptx");
    let case = file.case(None).unwrap();
    assert_eq!(case.name.get_ref(), "small");
    assert_eq!(case.arguments.len(), 3);
    assert_eq!(case.arguments[0].element, ElementType::F32);
    let Role::Scalar(Scalar::Constant(n)) = &case.arguments[2].role else {
        panic!("n is a scalar");
    };
    assert_eq!(n.to_integer(), -131_000);
    assert_eq!(case.steps.len(), 1);
    assert_eq!(case.steps[0].repeat, Repeat::Once);
    let launch = case.launches()[0];
    let grid = launch.grid.each_ref().map(|extent| extent.constant());
    assert_eq!(grid, [Some(512), Some(1), Some(1)]);
    assert_eq!(launch.arguments, [0, 1, 2]);
    assert!(file.case(Some("big")).unwrap().arguments.is_empty());
    let unknown = file.case(Some("huge")).unwrap_err().to_string();
    assert_eq!(
        unknown,
        "the launch file has no case `huge`; it has small, big"
    );
}

#[test]
fn steps_repeat_launches() {
    let text = r#"
name = "wave"
[paper]
[[paper.arg]]
name = "over"
kind = "inout"
type = "i32"
count = 1
init = "zeros()"
[[paper.arg]]
name = "column"
kind = "scalar"
type = "i32"
value = "32 - i"
[[paper.step]]
loop = { variable = "i", from = 31, to = 1, step = -2 }
kernel = "up"
grid = ["i", 1, 1]
block = [16, 1, 1]
[[paper.step]]
loop = { while_nonzero = "over", reset = true, max = 64 }
[[paper.step.launch]]
kernel = "visit"
grid = [8]
block = [512]
args = ["over"]
[[paper.step.launch]]
kernel = "update"
grid = [8]
block = [512]
args = ["over", "over"]
"#;
    let file = LaunchFile::parse(text);
    let file = file.unwrap_or_else(|problems| panic!("{problems:#?}"));
    let [up, search] = &file.cases[0].steps[..] else {
        panic!("two steps");
    };
    let mut grids = Vec::new();
    file.cases[0].for_each_launch(|launch, grid, _, _| {
        if launch.kernel.get_ref() == "up" {
            grids.push(grid[0]);
        }
    });
    assert_eq!(grids.len(), 16);
    assert_eq!((grids[0], grids[15]), (31, 1));
    assert_eq!(up.body.len(), 1);
    let [Action::Launch(visit), Action::Launch(update)] = &search.body[..] else {
        panic!("two launches");
    };
    assert_eq!(
        (&visit.arguments[..], &update.arguments[..]),
        (&[0][..], &[0, 0][..])
    );
    assert!(matches!(
        search.repeat,
        Repeat::While {
            condition: Condition::Nonzero(0),
            reset: Some(0),
            max: 64,
            ..
        }
    ));
}

#[test]
fn all_problems_of_a_file_are_reported_at_once() {
    let text = r#"
name = 3
[case]
kernel = "k"
grid = [0, 1, 1]
block = [64, 64, 1]
gird = [1, 1, 1]
[[case.arg]]
index = 0
name = "a"
kind = "inn"
type = "f31"
count = 0
[[case.arg]]
index = 2
name = "a"
kind = "in"
type = "f32"
cuont = 4
[[case.arg]]
index = 1
name = "b"
kind = "out"
type = "i32"
count = 99999999999999
init = "range_f32(seed=1, lo=0)"
tol_abs = -1
[[case.arg]]
index = 1
name = "s"
kind = "scalar"
type = "u8"
value = 256
init = "zeros()"
"#;
    insta::assert_snapshot!(problems(text));
}

#[test]
fn problems_of_steps() {
    let text = r#"
name = "steps"
[case]
kernel = "k"
[[case.arg]]
name = "flag"
kind = "inout"
type = "i32"
count = 4
init = "zeroes()"
[[case.arg]]
name = "note"
kind = "in"
type = "u32"
count = 4
init = "running sum of the note before"
[other]
[[other.arg]]
name = "flag"
kind = "inout"
type = "i32"
count = 4
init = "zeros()"
[[other.arg]]
name = "i"
kind = "scalar"
type = "i32"
value = "k + 1"
[[other.arg]]
name = "down"
kind = "scalar"
type = "u32"
value = "i - 2"
[[other.step]]
loop = { variable = "i", from = 5, to = 1 }
kernel = "k"
grid = ["i"]
block = [16]
[[other.step]]
loop = { while_nonzero = "flat", max = 0 }
[[other.step]]
loop = { variable = "i", from = 1, to = 5 }
kernel = "k"
grid = ["i - 1", "j", "i*i"]
block = [16, 1, 128]
args = ["i", "lag"]
[[other.step]]
loop = { variable = "i", from = 1, to = 5 }
kernel = "k"
grid = [1]
block = [1]
args = ["i", "down"]
"#;
    insta::assert_snapshot!(problems(text));
}

/// A text that is no rule documents how a file was made: it matters only to a case that is prepared without that file.
#[test]
fn a_note_instead_of_a_rule_stops_only_its_own_case() {
    let text = r#"
name = "notes"
[small]
kernel = "k"
grid = [1]
block = [1]
[[small.arg]]
name = "p"
kind = "in"
type = "u32"
count = 4
init = "iota()"
[big]
kernel = "k"
grid = [1]
block = [1]
[[big.arg]]
name = "p"
kind = "in"
type = "u32"
count = 4
init = "running sum of the numbers before"
"#;
    let file = LaunchFile::parse(text).unwrap();
    let case = |name| file.case(Some(name)).unwrap();
    assert!(case("small").fill(Files::None).is_ok());
    let problems = case("big").fill(Files::None).unwrap_err();
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].message.contains("is not a rule"),
        "{problems:?}"
    );
}

#[test]
fn syntax_errors_point_at_their_place() {
    insta::assert_snapshot!(problems("name = \"x\"\n[case\nkernel = = 3\n"));
}

#[test]
fn an_empty_file_says_what_is_missing() {
    insta::assert_snapshot!(problems(""));
}

/// A case that is too large can be read, but not run; other cases of its file can.
#[test]
fn a_case_that_needs_too_much_memory() {
    let text = GOOD.replacen("count = 131000", "count = 600000000", 1);
    let file = LaunchFile::parse(&text).unwrap();
    let problems = file.cases[0].fill(Files::None).unwrap_err();
    assert_eq!(problems.len(), 1);
    assert_eq!(
        problems[0].message,
        "the buffers of case `small` take 2289 MiB"
    );
    assert!(file.cases[1].fill(Files::None).is_ok());
}

proptest! {
    /// Whatever the text, there is an answer, and spans lie within the text.
    #[test]
    fn random_text_never_panics(text in "\\PC*") {
        if let Err(problems) = LaunchFile::parse(&text) {
            prop_assert!(!problems.is_empty());
            for problem in problems {
                prop_assert!(text.get(problem.span).is_some());
            }
        }
    }

    /// The same for texts that come nearer to launch files: a good one with a piece replaced.
    #[test]
    fn damaged_files_never_panic(start in 0..GOOD.len(), length in 0..40usize, piece in "[\\[\\]a-z0-9=\" .\n-]{0,12}") {
        let end = (start + length).min(GOOD.len());
        let text = format!("{}{piece}{}", &GOOD[..start], &GOOD[end..]);
        if let Err(problems) = LaunchFile::parse(&text) {
            for problem in problems {
                prop_assert!(text.get(problem.span).is_some());
            }
        }
    }
}

/// Launches that do not match the module, and files that do not match their buffers.
#[test]
fn problems_with_the_module_and_with_files() {
    let text = r#"
name = "mismatch"
[case]
[[case.arg]]
name = "a"
kind = "in"
type = "f32"
count = 4
file = "nowhere.bin"
[[case.arg]]
name = "short"
kind = "inout"
type = "f64"
count = 1000000
file = "Cargo.toml"
[[case.arg]]
name = "n"
kind = "scalar"
type = "f32"
value = 4
[[case.step]]
kernel = "vector_ad"
grid = [1]
block = [32]
[[case.step]]
kernel = "vector_add"
grid = [1]
block = [32]
[[case.step]]
kernel = "vector_add"
grid = [1]
block = [32]
args = ["a", "n", "short", "n"]
"#;
    let file = LaunchFile::parse(text).unwrap();
    let module = warpwatt_ptx::load(warpwatt_suite::kernel("vector_add").unwrap().ptx).unwrap();
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let problems = file.cases[0]
        .prepare(&module, Files::Directory(here))
        .unwrap_err();
    let lines = problems
        .iter()
        .map(|problem| format!("{} | {:?}\n", problem.message, problem.help));
    let report = lines
        .collect::<String>()
        .replace(&here.display().to_string(), "HERE");
    let size = std::fs::metadata(here.join("Cargo.toml")).unwrap().len();
    insta::assert_snapshot!(report.replace(&format!("{size} bytes"), "SIZE bytes"));
}

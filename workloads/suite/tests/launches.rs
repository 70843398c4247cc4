//! Launch files that do what a host program does: addresses, loops, copies, files. Each runs and is compared with what it must leave.

use std::collections::BTreeMap;
use std::path::Path;

use warpwatt_ptx::{Module, load};
use warpwatt_suite::launch::{ElementType, Files, begin, demangled, file_contents};
use warpwatt_suite::{CaseRun, LaunchFile, Problem, RunError, RunOptions, run_case};

/// `out[i] = a[i] * factor + b` for one row of threads; `visit` lowers `left[0]` by one; `swap(n)` adds `n` to `out[n % 8]`.
const PTX: &str = ".version 8.0
.target sm_70
.address_size 64
.visible .entry _Z5scalePKiPiii(.param .u64 a, .param .u64 out, .param .u32 factor, .param .u32 plus) .maxntid 64, 1, 1 {
    .reg .b32 %r<9>; .reg .b64 %d<6>;
    ld.param.u64 %d1, [a]; ld.param.u64 %d2, [out]; ld.param.u32 %r1, [factor]; ld.param.u32 %r2, [plus];
    mov.u32 %r3, %tid.x; mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ntid.x; mad.lo.s32 %r6, %r4, %r5, %r3;
    mul.wide.s32 %d3, %r6, 4; add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3;
    ld.global.u32 %r7, [%d4]; mad.lo.s32 %r8, %r7, %r1, %r2; st.global.u32 [%d5], %r8; ret;
}
.visible .entry visit(.param .u64 left) {
    .reg .b32 %r<3>; .reg .b64 %d<2>;
    ld.param.u64 %d1, [left]; ld.global.u32 %r1, [%d1]; add.s32 %r2, %r1, -1; st.global.u32 [%d1], %r2; ret;
}
.visible .entry mark(.param .u64 out, .param .u32 size, .param .u32 stride) {
    .reg .b32 %r<6>; .reg .b64 %d<5>;
    ld.param.u64 %d1, [out]; ld.param.u32 %r1, [size]; ld.param.u32 %r2, [stride];
    ld.global.u32 %r3, [%d1]; add.s32 %r4, %r3, 1; st.global.u32 [%d1], %r4;
    mul.wide.s32 %d2, %r4, 4; add.s64 %d3, %d1, %d2; mad.lo.s32 %r5, %r1, 100, %r2; st.global.u32 [%d3], %r5; ret;
}
";

fn problems(found: Vec<Problem>) -> String {
    let lines = found.into_iter().map(|problem| match problem.help {
        Some(help) => format!("{} (help: {help})\n", problem.message),
        None => format!("{}\n", problem.message),
    });
    lines.collect()
}

fn read(text: &str) -> LaunchFile {
    LaunchFile::parse(text).unwrap_or_else(|found| panic!("{}", problems(found)))
}

/// Reads, prepares and runs the first case.
fn run(text: &str, module: &Module) -> Result<CaseRun, String> {
    let file = LaunchFile::parse(text).map_err(problems)?;
    let mut case = file.cases[0].clone();
    case.resolve_kernels(module);
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let prepared = case
        .prepare(module, Files::Directory(&data))
        .map_err(problems)?;
    run_case(module, &case, &prepared, RunOptions::default()).map_err(|error| error.to_string())
}

fn integers(run: &CaseRun, name: &str) -> Vec<i32> {
    let buffer = run
        .buffers
        .iter()
        .find(|buffer| buffer.name == name)
        .unwrap();
    let (words, _) = buffer.bytes.as_chunks::<4>();
    words.iter().map(|word| i32::from_le_bytes(*word)).collect()
}

fn with(steps: &str) -> String {
    format!(
        "name = \"host\"\n[constants]\nn = 16\n[case]\n{steps}
[[case.arg]]\nname = \"a\"\nkind = \"inout\"\ntype = \"i32\"\ncount = \"n\"\ninit = \"iota()\"
[[case.arg]]\nname = \"out\"\nkind = \"inout\"\ntype = \"i32\"\ncount = \"2 * n\"\ninit = \"zeros()\"
[[case.arg]]\nname = \"three\"\nkind = \"scalar\"\ntype = \"i32\"\nvalue = 3
[[case.arg]]\nname = \"size\"\nkind = \"scalar\"\ntype = \"i32\"\nvalue = \"size\"
[[case.arg]]\nname = \"stride\"\nkind = \"scalar\"\ntype = \"i32\"\nvalue = \"stride\"
[[case.arg]]\nname = \"middle\"\nkind = \"pointer\"\nbuffer = \"a\"\nplus = \"n / 2\"
"
    )
}

#[test]
fn kernels_go_by_parts_of_their_names_and_pointers_into_buffers() {
    let module = load(PTX).unwrap();
    for name in [
        "_Z5scalePKiPiii",
        "scale",
        "scale(int const*, int*, int, int)",
    ] {
        let text = with(&format!(
            "[[case.step]]\nkernel = \"{name}\"\ngrid = 1\nblock = \"n / 2\"\nargs = [\"middle\", \"out\", \"three\", \"three\"]"
        ));
        let left = integers(&run(&text, &module).unwrap(), "out");
        let wanted: Vec<i32> = (8..16).map(|value| 3 * value + 3).collect();
        assert_eq!(left[..8], wanted, "{name}");
    }
    assert_eq!(
        demangled("_Z5scalePKiPiii").unwrap(),
        "scale(int const*, int*, int, int)"
    );
    let said = run(
        &with("[[case.step]]\nkernel = \"i\"\ngrid = 1\nblock = 1\nargs = []"),
        &module,
    );
    let said = said.unwrap_err();
    assert!(said.contains("`i` means 2 entries of the PTX"), "{said}");
    assert!(
        said.contains("(scale(int const*, int*, int, int)), `visit`"),
        "{said}"
    );
}

#[test]
fn loops_stand_in_each_other_and_double() {
    let module = load(PTX).unwrap();
    let text = with(
        "[[case.step]]
loop = { variable = \"size\", from = 2, to = \"n\", times = 2 }
[[case.step.step]]
loop = { variable = \"stride\", from = \"size / 2\", to = 1, divide = 2 }
kernel = \"mark\"\ngrid = \"ceil(n / 256)\"\nblock = [1]\nargs = [\"out\", \"size\", \"stride\"]",
    );
    let both = with(
        "[[case.step]]
loop = [{ variable = \"size\", from = 2, to = 16, times = 2 }, { variable = \"stride\", from = \"size / 2\", to = 1, divide = 2 }]
kernel = \"mark\"\ngrid = 1\nblock = 1\nargs = [\"out\", \"size\", \"stride\"]",
    );
    let wanted = [10, 201, 402, 401, 804, 802, 801, 1608, 1604, 1602, 1601];
    for text in [text, both] {
        let left = integers(&run(&text, &module).unwrap(), "out");
        assert_eq!(left[..wanted.len()], wanted);
    }
}

#[test]
fn buffers_are_set_and_copied_between_launches() {
    let module = load(PTX).unwrap();
    let text = with(
        "[[case.step]]
set = { buffer = \"a\", value = -1, at = 3, count = 2 }
[[case.step]]
loop = { variable = \"i\", from = 0, to = 1 }
copy = { from = \"a\", to = \"out\", from_at = 2, to_at = \"i * n\", count = \"4 + i\" }
[[case.step]]
copy = { from = \"out\", to = \"out\", to_at = 24 }
[[case.step]]
kernel = \"mark\"\ngrid = 1\nblock = 1\nargs = [\"a\", \"three\", \"three\"]
[[case.step]]
set = { buffer = \"a\", at = 14 }",
    );
    let run = run(&text, &module).unwrap();
    let (a, out) = (integers(&run, "a"), integers(&run, "out"));
    assert_eq!(a[..6], [1, 303, 2, -1, -1, 5]);
    assert_eq!(a[13..], [13, 0, 0]);
    assert_eq!(out[..6], [2, -1, -1, 5, 0, 0]);
    assert_eq!(out[16..22], [2, -1, -1, 5, 6, 0]);
    assert_eq!(out[24..], [2, -1, -1, 5, 0, 0, 0, 0]);
}

#[test]
fn values_that_are_read_back_end_loops() {
    let module = load(PTX).unwrap();
    let visits = |repeat: &str| {
        let text = with(&format!(
            "[[case.step]]\nset = {{ buffer = \"out\", value = 5, count = 1 }}
[[case.step]]\nloop = {repeat}\nkernel = \"visit\"\ngrid = 1\nblock = 1\nargs = [\"out\"]"
        ));
        run(&text, &module).map(|run| integers(&run, "out")[0])
    };
    assert_eq!(visits("{ while = \"out[0] > n - 14\", max = 9 }"), Ok(2));
    assert_eq!(visits("{ until = \"out[0] == 0\", max = 5 }"), Ok(0));
    assert_eq!(
        visits("{ while = \"out[0] > a[round]\", variable = \"round\", max = 9 }"),
        Ok(2)
    );
    assert_eq!(visits("{ while = \"out[1]\", max = 9 }"), Ok(5), "no round");
    assert_eq!(
        visits("{ until = \"out[1] == 0\", max = 9 }"),
        Ok(4),
        "one round"
    );
    let said = visits("{ while = \"out[0] != 0\", max = 4 }").unwrap_err();
    assert_eq!(said, "`out[0] != 0` still holds after 4 rounds");
    let said = visits("{ until = \"out[99] == 0\", max = 4 }").unwrap_err();
    assert!(
        said.contains("`out[99]` is not there: its index comes out as 99"),
        "{said}"
    );
}

#[test]
fn the_error_of_an_endless_loop_is_its_own() {
    let module = load(PTX).unwrap();
    let file = read(&with(
        "[[case.step]]\nloop = { while_nonzero = \"a\", max = 2 }\nkernel = \"visit\"\ngrid = 1\nblock = 1\nargs = [\"out\"]",
    ));
    let prepared = file.cases[0].prepare(&module, Files::None).unwrap();
    let error = run_case(&module, &file.cases[0], &prepared, RunOptions::default()).unwrap_err();
    assert!(
        matches!(&error, RunError::Endless { rounds: 2, .. }),
        "{error}"
    );
    assert_eq!(error.to_string(), "`a` is still not zero after 2 rounds");
}

#[test]
fn what_cannot_be_is_refused_with_its_remedy() {
    let said = |steps: &str| problems(LaunchFile::parse(&with(steps)).unwrap_err());
    let launch = "kernel = \"visit\"\ngrid = 1\nblock = 1";
    for (steps, wanted) in [
        (
            "[[case.step]]\nloop = { variable = \"i\", from = 1, to = 4 }\nkernel = \"visit\"\ngrid = \"4 - i\"\nblock = 1\nargs = [\"out\"]".to_owned(),
            "an extent must be from 1 to 2147483647, not 0 where i = 4",
        ),
        (
            "[[case.step]]\nloop = { variable = \"i\", from = 1, to = 4 }\nkernel = \"visit\"\ngrid = \"i / 2\"\nblock = 1\nargs = [\"out\"]".to_owned(),
            "`i / 2` where i = 1 is 0.5, and must be whole: `ceil(...)`, `floor(...)` or `//` rounds",
        ),
        (
            format!("[[case.step]]\nloop = {{ variable = \"i\", from = 1, to = \"m\" }}\n{launch}"),
            "there is no variable `m` here (help: did you mean `n`?)",
        ),
        (
            format!(
                "[[case.step]]\nloop = {{ variable = \"i\", from = 1, to = 300000 }}\n{launch}\nargs = [\"out\"]"
            ),
            "the loops of the file have more than 262144 rounds",
        ),
        (
            format!(
                "[[case.step]]\nloop = {{ while = \"out != 0\", max = 3 }}\n{launch}\nargs = [\"out\"]"
            ),
            "there is no variable `out` here (help: an element of the buffer is `out[0]`)",
        ),
        (
            "[[case.step]]\nset = { buffer = \"a\", at = 10, count = 7 }".to_owned(),
            "`count` of elements of `a` from 10 on must be from 0 to 6, not 7",
        ),
        (
            "[[case.step]]\ncopy = { from = \"a\", to = \"three\" }".to_owned(),
            "`three` is no buffer in memory",
        ),
        (
            format!("[[case.step]]\nset = {{ buffer = \"a\" }}\n{launch}"),
            "`kernel` has no meaning here: the step has `set`; steps that follow each other are several",
        ),
        (
            "kernel = \"visit\"\ngrid = [1, 2, 3, 4]\nblock = 1\nargs = [\"a\"]".to_owned(),
            "`grid` must be one to three extents such as [64, 1, 1], not an array",
        ),
    ] {
        let said = said(&steps);
        assert!(said.contains(wanted), "{steps}\n{said}");
    }
}

const STRUCTURE: &str = r#"
name = "widths"
[case]
kernel = "widths"
grid = 4
block = 64
[[case.arg]]
name = "rows"
kind = "struct"
count = WIDE
fields = [{ offset = 0, buffer = "even" }, { offset = STEP, buffer = "even", plus = 256 }, { offset = AFTER, buffer = "out" }, { offset = LAST, type = "i32", value = "8 * 25" }]
[[case.arg]]
name = "table"
kind = "in"
type = "u8"
count = PAIR
fields = [{ offset = 0, buffer = "even", plus = 1 }, { offset = STEP, buffer = "even", plus = 256 }]
[[case.arg]]
name = "shift"
kind = "pointer"
buffer = "sums"
plus = 2
[[case.arg]]
name = "sums"
kind = "inout"
type = "i32"
count = 3
init = "iota()"
[[case.arg]]
name = "offset"
kind = "in"
type = "i32"
count = 1
init = "poison_bytes(1)"
variable = "offset"
[[case.arg]]
name = "even"
kind = "in"
type = "i32"
count = 512
init = "mod_i32(seed=3, modulus=1000, offset=-500)"
[[case.arg]]
name = "out"
kind = "out"
type = "i32"
count = 256
"#;

/// What the kernel computes, without any address.
fn widths(rows: i32) -> Vec<i32> {
    let even: Vec<i32> = (0..512)
        .map(|i| (warpwatt_suite::launch::bits(3, i) % 1000) as i32 - 500)
        .collect();
    let row = |i: usize| even[i % 2 * 256 + i];
    let value = |i: usize| match i % 3 {
        0 => row(i / 64 * 64 + 63 - i % 64),
        1 => [1, -2, 3, 5][i % 4] * i as i32,
        _ => even[[1, 256][i % 2] + i],
    };
    (0..256)
        .map(|i| match (i as i32) < rows {
            true => value(i) + 0x0101_0101 + 4 * (i as i32 % 5),
            false => 0xCDCD_CDCDu32 as i32,
        })
        .collect()
}

/// One source, built for addresses of 64 and of 32 bits, leaves the same in its buffers.
#[test]
fn both_widths_of_addresses_compute_the_same() {
    let files = [
        (include_str!("data/widths.m64.ptx"), 8),
        (include_str!("data/widths.m32.ptx"), 4),
    ];
    for (ptx, width) in files {
        let module = load(ptx).unwrap();
        assert_eq!(module.address_bytes(), width);
        // Three addresses and a number; with its padding it ends at a multiple of the width.
        let wide = (3 * width + 4).next_multiple_of(width);
        let text = STRUCTURE
            .replace("WIDE", &wide.to_string())
            .replace("PAIR", &(2 * width).to_string())
            .replace("STEP", &width.to_string())
            .replace("AFTER", &(2 * width).to_string())
            .replace("LAST", &(3 * width).to_string());
        let run = run(&text, &module).unwrap_or_else(|said| panic!("{width}: {said}"));
        assert_eq!(run.mismatch_count, 0, "{:?}", run.mismatches);
        assert_eq!(integers(&run, "out"), widths(200), "{width}");
        assert_eq!(integers(&run, "sums"), [0, 1, 202]);
    }
}

#[test]
fn addresses_of_32_bits_reach_one_gibibyte() {
    let module = load(include_str!("data/widths.m32.ptx")).unwrap();
    let text = STRUCTURE
        .replace("WIDE", "16")
        .replace("PAIR", "8")
        .replace("STEP", "4")
        .replace("AFTER", "8")
        .replace("LAST", "12");
    let large = text.replace("count = 512", "count = 268435456");
    let check = |text: &str| problems(read(text).cases[0].check(&module));
    assert_eq!(check(&text), "");
    let said = check(&large);
    assert!(
        said.contains("take 1024 MiB, more than addresses of 32 bits reach"),
        "{said}"
    );
    let crossing = text.replace("offset = 8", "offset = 6");
    assert!(
        check(&crossing).contains("at offsets 4 and 6 of `rows` overlap: the first has 4 bytes")
    );
    let outside = text.replace("offset = 8", "offset = 13");
    assert!(
        check(&outside)
            .contains("a field of 4 bytes at offset 13 does not fit into the 16 bytes of `rows`")
    );
    let wide = load(include_str!("data/widths.m64.ptx")).unwrap();
    let said = problems(read(&text).cases[0].check(&wide));
    assert!(
        said.contains("at offsets 0 and 4 of `rows` overlap: the first has 8 bytes"),
        "{said}"
    );
}

#[test]
fn pointers_that_lead_nowhere_are_refused() {
    let text = |argument: &str| {
        format!(
            "name = \"p\"\n[case]\nkernel = \"visit\"\ngrid = 1\nblock = 1\n[[case.arg]]\nname = \"a\"\nkind = \"in\"\ntype = \"i32\"\ncount = 4\ninit = \"iota()\"\n[[case.arg]]\nname = \"p\"\n{argument}\n"
        )
    };
    let said = |argument: &str| problems(LaunchFile::parse(&text(argument)).unwrap_err());
    assert!(said("kind = \"pointer\"\nbuffer = \"b\"").contains("the case has no argument `b`"));
    assert!(
        said("kind = \"pointer\"\nbuffer = \"p\"").contains("`p` is no buffer: it has no address")
    );
    let beyond = said("kind = \"pointer\"\nbuffer = \"a\"\nplus = 5");
    assert!(
        beyond.contains("`plus` must be from 0 to 4, not 5"),
        "{beyond}"
    );
    let typed = said("kind = \"pointer\"\nbuffer = \"a\"\ntype = \"i32\"");
    assert!(
        typed.contains("`type` has no meaning here: a pointer has a `buffer`"),
        "{typed}"
    );
    let null = said("kind = \"null\"\nvalue = 0");
    assert!(
        null.contains("a null pointer has nothing but a name"),
        "{null}"
    );
    let module = load(PTX).unwrap();
    let file = read(
        &text("kind = \"null\"\npassed = true")
            .replace("name = \"a\"\n", "name = \"a\"\npassed = false\n"),
    );
    assert_eq!(problems(file.cases[0].check(&module)), "");
    let prepared = file.cases[0].prepare(&module, Files::None).unwrap();
    let error = run_case(&module, &file.cases[0], &prepared, RunOptions::default()).unwrap_err();
    assert!(error.to_string().contains("0x0"), "{error}");
}

/// Contents and expectations from `.npy` and from text, with tolerances.
#[test]
fn buffers_from_arrays_and_tables() {
    let folder = std::env::temp_dir().join(format!("warpwatt-launches-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let bytes: Vec<u8> = [5i32, 6, 7, 8]
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    let written = |name: &str| file_contents(Path::new(name), ElementType::I32, &bytes);
    assert_eq!(
        (written("a.csv"), written("a.bin")),
        (b"5\n6\n7\n8\n".to_vec(), bytes.clone())
    );
    std::fs::write(folder.join("a.npy"), written("a.npy")).unwrap();
    std::fs::write(folder.join("out.csv"), "scaled\n13\n15\n17\n20\n").unwrap();
    let text = |tolerance: &str| {
        format!(
            "name = \"files\"\n[case]\nkernel = \"scale\"\ngrid = 1\nblock = 4
[[case.arg]]\nname = \"a\"\nkind = \"in\"\ntype = \"i32\"\ncount = 4\nfile = \"a.npy\"
[[case.arg]]\nname = \"out\"\nkind = \"out\"\ntype = \"i32\"\ncount = 4\nfile = \"out.csv\"\n{tolerance}
[[case.arg]]\nname = \"factor\"\nkind = \"scalar\"\ntype = \"i32\"\nvalue = 2
[[case.arg]]\nname = \"plus\"\nkind = \"scalar\"\ntype = \"i32\"\nvalue = 3\n"
        )
    };
    let module = load(PTX).unwrap();
    let run = |text: &str| {
        let mut case = read(text).cases[0].clone();
        case.resolve_kernels(&module);
        let prepared = case
            .prepare(&module, Files::Directory(&folder))
            .map_err(problems)?;
        run_case(&module, &case, &prepared, RunOptions::default())
            .map_err(|error| error.to_string())
    };
    let exact = run(&text("")).unwrap();
    assert_eq!((exact.mismatch_count, exact.mismatches[0].index), (1, 3));
    assert_eq!(run(&text("tol_abs = 1")).unwrap().mismatch_count, 0);
    let said = run(&text("").replace("count = 4", "count = 5")).unwrap_err();
    assert!(
        said.contains("a.npy")
            && said.contains("out.csv: it has 4 numbers, but the buffer has 5 elements"),
        "{said}"
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

/// What is begun with the PTX's facts reads, but for what is still to be said.
#[test]
fn a_file_begun_from_ptx_asks_for_the_rest() {
    let outline = warpwatt_ptx::outline::outline(PTX).unwrap();
    let text = begin(&outline.entries[0], "my.ptx", outline.address_bytes);
    let said = problems(LaunchFile::parse(&text).unwrap_err());
    assert_eq!(said.lines().count(), 6, "{text}\n{said}");
    assert!(
        said.lines()
            .all(|line| line.contains("still to be filled in: `TODO`")),
        "{said}"
    );
    assert!(
        text.contains("block = [64, 1, 1]  # the PTX allows this at most (.maxntid)"),
        "{text}"
    );
    let filled = text
        .replace("init = \"TODO\"", "init = \"iota()\"")
        .replace("\"TODO\"", "1");
    let file = read(&filled);
    let module = load(PTX).unwrap();
    assert_eq!(problems(file.cases[0].check(&module)), "");
    assert_eq!(file.name, "scale");
    let kinds = [
        "name = \"a\"\nkind = \"in\"\ntype = \"u32\"",
        "name = \"out\"\nkind = \"out\"\ntype = \"u32\"",
        "kind = \"scalar\"",
    ];
    for kind in kinds {
        assert!(text.contains(kind), "{kind}\n{text}");
    }
}

/// Structures come with a buffer for each address in them, whatever the width.
#[test]
fn a_file_begun_from_ptx_has_the_pointers_of_structures() {
    for (ptx, bytes) in [
        (include_str!("data/widths.m64.ptx"), 32),
        (include_str!("data/widths.m32.ptx"), 16),
    ] {
        let outline = warpwatt_ptx::outline::outline(ptx).unwrap();
        let text = begin(&outline.entries[0], "widths.ptx", outline.address_bytes);
        assert!(
            text.contains(&format!("kind = \"struct\"\ncount = {bytes}\n")),
            "{text}"
        );
        assert!(
            text.contains("# The PTX has the .const variable `weights` of 16 bytes."),
            "{text}"
        );
        let filled = text
            .replace("init = \"TODO\"", "init = \"iota()\"")
            .replace("\"TODO\"", "1");
        let file = read(&filled);
        assert_eq!(
            problems(file.cases[0].check(&load(ptx).unwrap())),
            "",
            "{text}"
        );
    }
}

#[test]
fn what_a_launch_file_names_may_be_in_memory() {
    let text = "name = \"memory\"\n[case]\nkernel = \"visit\"\ngrid = 1\nblock = 1
[[case.arg]]\nname = \"left\"\nkind = \"inout\"\ntype = \"i32\"\ncount = 1\nfile = \"left.bin\"\n";
    let module = load(PTX).unwrap();
    let case = read(text).cases[0].clone();
    let prepared = |bytes: &[u8], name: &str| {
        let files = BTreeMap::from([(name.to_owned(), bytes.to_vec())]);
        let prepared = case.prepare(&module, Files::Memory(&files));
        prepared.map_err(problems)
    };
    let run = run_case(
        &module,
        &case,
        &prepared(&7i32.to_le_bytes(), "left.bin").unwrap(),
        RunOptions::default(),
    );
    assert_eq!(integers(&run.unwrap(), "left"), [6]);
    let said = prepared(&[1, 2, 3], "left.bin").unwrap_err();
    assert!(
        said.contains("left.bin: it has 3 bytes, but the buffer has 4"),
        "{said}"
    );
    let said = prepared(&[0; 4], "right.bin").unwrap_err();
    assert!(said.contains("there is no `left.bin` in memory"), "{said}");
}

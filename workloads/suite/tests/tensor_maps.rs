//! Launch files of kernels that take tensor maps.

use std::path::Path;

use warpwatt_ptx::load;
use warpwatt_suite::launch::Files;
use warpwatt_suite::{LaunchFile, Problem, RunOptions, run_case};

/// Copies the tile of 8 by 4 that begins at (`x`, `y`) to `out`, through shared memory.
const BODY: &str = ".shared .align 128 .b8 tile[64]; .shared .align 8 .b8 bar[8]; .reg .b16 %h1; .reg .b32 %r<9>; .reg .b64 %d<4>; .reg .pred %p<2>;
    ld.param.u64 %d2, [out]; ld.param.u32 %r2, [x]; ld.param.u32 %r3, [y]; mov.u32 %r1, %tid.x; setp.eq.u32 %p0, %r1, 0;
    @%p0 mbarrier.init.shared.b64 [bar], 1; bar.sync 0; @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;
    @%p0 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%d1, {%r2, %r3}], [bar];
    W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra W;
    mov.u32 %r4, tile; shl.b32 %r5, %r1, 1; add.u32 %r4, %r4, %r5; ld.shared.u16 %h1, [%r4];
    cvt.u64.u32 %d3, %r5; add.u64 %d2, %d2, %d3; st.global.u16 [%d2], %h1; ret;";

fn by_value() -> String {
    let head = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k";
    let params = ".param .align 64 .b8 map[128], .param .u64 out, .param .u32 x, .param .u32 y";
    let body = BODY.replace(
        "ld.param.u64 %d2, [out];",
        "mov.b64 %d1, map; cvta.param.u64 %d1, %d1; ld.param.u64 %d2, [out];",
    );
    format!("{head}({params}) {{ {body} }}")
}

fn by_address() -> String {
    by_value()
        .replace(".param .align 64 .b8 map[128]", ".param .u64 map")
        .replace(
            "mov.b64 %d1, map; cvta.param.u64 %d1, %d1;",
            "ld.param.u64 %d1, [map];",
        )
}

/// What lies in `out` if the map is made by these keys.
fn run(source: &str, map: &str, at: [i32; 2]) -> Result<Vec<u16>, String> {
    let told = |found: Vec<Problem>| {
        let all: Vec<String> = found.into_iter().map(|it| it.message).collect();
        all.join("; ")
    };
    let [x, y] = at;
    let text = format!(
        "name = \"tiles\"\n[constants]\nk = 16\n[case]\nkernel = \"k\"\ngrid = 1\nblock = 32
[[case.arg]]\nname = \"map\"\nkind = \"tensor_map\"\n{map}
[[case.arg]]\nname = \"out\"\nkind = \"out\"\ntype = \"u16\"\ncount = 32
[[case.arg]]\nname = \"x\"\nkind = \"scalar\"\ntype = \"i32\"\nvalue = {x}
[[case.arg]]\nname = \"y\"\nkind = \"scalar\"\ntype = \"i32\"\nvalue = {y}
[[case.arg]]\nname = \"a\"\nkind = \"in\"\ntype = \"u16\"\ncount = \"12 * k\"\ninit = \"iota()\""
    );
    let module = load(source).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let file = LaunchFile::parse(&text).map_err(told)?;
    let files = Files::Directory(Path::new("."));
    let prepared = file.cases[0].prepare(&module, files).map_err(told)?;
    let run = run_case(&module, &file.cases[0], &prepared, RunOptions::default());
    let run = run.map_err(|error| error.to_string())?;
    let out = run
        .buffers
        .iter()
        .find(|buffer| buffer.name == "out")
        .unwrap();
    let (words, _) = out.bytes.as_chunks::<2>();
    Ok(words.iter().map(|word| u16::from_le_bytes(*word)).collect())
}

/// Elements of rows of `stride` from `plus` on, zero outside of `width` by `height`.
fn tile([x, y]: [i32; 2], [width, height]: [i32; 2], stride: i32, plus: i32) -> Vec<u16> {
    let places = (0..4).flat_map(|row| (0..8).map(move |column| (x + column, y + row)));
    let element = |(x, y)| match (0..width).contains(&x) && (0..height).contains(&y) {
        true => (plus + y * stride + x) as u16,
        false => 0,
    };
    places.map(element).collect()
}

#[test]
fn a_kernel_takes_a_map_by_value_or_by_address() {
    let map = "buffer = \"a\"\nsizes = [\"k\", 12]\nbox = [8, 4]";
    for at in [[0, 0], [8, 5], [12, 10], [-3, -1]] {
        let wanted = tile(at, [16, 12], 16, 0);
        assert_eq!(run(&by_value(), map, at).unwrap(), wanted);
        let there = format!("{map}\nspace = \"global\"");
        assert_eq!(run(&by_address(), &there, at).unwrap(), wanted);
    }
}

#[test]
fn a_map_may_be_of_a_part_and_swizzled() {
    let part = "buffer = \"a\"\nplus = 32\nsizes = [10, 5]\nstrides = [\"4 * k\"]\nbox = [8, 4]";
    assert_eq!(
        run(&by_value(), part, [1, 2]).unwrap(),
        tile([1, 2], [10, 5], 32, 32)
    );
    // Of a row of 32 bytes the pieces of sixteen change places in every other 128 bytes: a box of 8 by 4 has no more than half of these.
    let swizzled = "buffer = \"a\"\nsizes = [16, 12]\nbox = [8, 4]\nswizzle = 32";
    assert_eq!(
        run(&by_value(), swizzled, [0, 3]).unwrap(),
        tile([0, 3], [16, 12], 16, 0)
    );
    let wide = "buffer = \"a\"\nsizes = [16, 12]\nbox = [32, 1]\nfill = \"zero\"";
    let found = run(&by_value(), wide, [0, 2]).unwrap();
    let wanted: Vec<u16> = (32..48).chain([0; 16]).collect();
    assert_eq!(found, wanted);
}

/// As CUTLASS passes them: in a structure, behind other things.
#[test]
fn a_map_may_stand_in_a_structure() {
    let source = by_value().replace("map[128]", "map[256]").replace(
        "cvta.param.u64 %d1, %d1;",
        "cvta.param.u64 %d1, %d1; add.u64 %d1, %d1, 64;",
    );
    let map = |field: &str| {
        format!(
            "buffer = \"a\"\nsizes = [16, 12]\nbox = [8, 4]
[[case.arg]]\nname = \"all\"\nkind = \"struct\"\ncount = 256\nfields = [{field}]"
        )
    };
    let field = "{ offset = 0, type = \"i32\", value = 7 }, { offset = 64, tensor_map = \"map\" }";
    assert_eq!(
        run(&source, &map(field), [2, 3]).unwrap(),
        tile([2, 3], [16, 12], 16, 0)
    );
    for (field, wanted) in [
        (
            "{ offset = 64, tensor_map = \"a\" }",
            "`a` is no tensor map",
        ),
        (
            "{ offset = 64, tensor_map = \"x\" }",
            "`x` is no tensor map",
        ),
        (
            "{ offset = 64, tensor_map = \"maq\" }",
            "the case has no argument `maq`",
        ),
        (
            "{ offset = 64, tensor_map = \"map\", plus = 1 }",
            "the field is the `tensor_map`",
        ),
    ] {
        let told = run(&source, &map(field), [0, 0]).unwrap_err();
        assert!(told.contains(wanted), "{field}: {told}");
    }
}

/// Columns of a convolution of three along lines of six pixels with a border of one; a pixel has eight channels.
#[test]
fn a_map_may_be_for_im2col() {
    let source = by_value()
        .replace(".reg .b16 %h1;", ".reg .b16 %h<3>; .reg .b32 %z;")
        .replace("W: mbarrier", "W: mov.u32 %z, 0; mbarrier")
        .replace(
            "tensor.2d.shared::cluster.global.mbarrier",
            "tensor.3d.shared::cluster.global.im2col.mbarrier",
        )
        .replace(
            "[%d1, {%r2, %r3}], [bar];",
            "[%d1, {%z, %r2, %r3}], [bar], {%h2};",
        );
    let map = |im2col: &str| format!("buffer = \"a\"\nsizes = [8, 6, 4]\nim2col = {im2col}");
    let plain = map("{ lower = [-1], upper = [-1], pixels = 4, channels = 8 }");
    for (offset, [x, y]) in [(0, [-1, 0]), (1, [3, 1]), (2, [4, 2]), (2, [2, 3])] {
        let source = source.replace(
            "@%p0 cp.async",
            &format!("mov.u16 %h2, {offset}; mov.u32 %z, 0; @%p0 cp.async"),
        );
        let mut wanted = Vec::new();
        let (mut column, mut line) = (x, y);
        for _ in 0..4 {
            let at = column + offset;
            let inside = (0..6).contains(&at) && line < 4;
            wanted.extend((0..8).map(|channel| match inside {
                true => ((line * 6 + at) * 8 + channel) as u16,
                false => 0,
            }));
            column += 1;
            if column == 5 {
                (column, line) = (-1, line + 1);
            }
        }
        assert_eq!(run(&source, &plain, [x, y]).unwrap(), wanted, "{x} {y}");
    }
    for (im2col, wanted) in [
        (
            "{ lower = [-1], upper = [-1], pixels = 4 }",
            "`im2col` of argument `map` has no `channels`",
        ),
        (
            "{ lower = [-1, 0], upper = [-1], pixels = 4, channels = 8 }",
            "2 of 3 are none",
        ),
        (
            "{ lower = [-1], upper = [-1], pixels = 4, channels = 7 }",
            "a row of the box has 14 bytes, no multiple of 16",
        ),
    ] {
        let told = run(&source, &map(im2col), [0, 0]).unwrap_err();
        assert!(told.contains(wanted), "{im2col}: {told}");
    }
    let both = format!("{plain}\nbox = [8, 4]");
    let told = run(&source, &both, [0, 0]).unwrap_err();
    assert!(told.contains("`im2col` says what a copy moves"), "{told}");
}

#[test]
fn maps_that_cannot_be_are_refused() {
    for (map, wanted) in [
        (
            "buffer = \"b\"\nsizes = [16, 12]\nbox = [8, 4]",
            "the case has no argument `b`",
        ),
        (
            "buffer = \"a\"\nsizes = [16, 12]\nbox = [8]",
            "`box` has 1 dimensions, `sizes` 2",
        ),
        (
            "buffer = \"a\"\nsizes = [16, 13]\nbox = [8, 4]",
            "the tensor ends 416 bytes behind the beginning of `a`, which has 384",
        ),
        (
            "buffer = \"a\"\nsizes = [12, 12]\nbox = [8, 4]",
            "a stride of 24 bytes is no multiple of 16",
        ),
        (
            "buffer = \"a\"\nsizes = [16, 12]\nbox = [9, 4]",
            "a row of the box has 18 bytes, no multiple of 16",
        ),
        (
            "buffer = \"a\"\nsizes = [16, 12]\nbox = [32, 1]\nswizzle = 32",
            "a row of the box has 64 bytes, more than the 32 of its swizzle",
        ),
        (
            "buffer = \"a\"\nsizes = [16, 12]\nbox = [8, 4]\nswizzle = 48",
            "`swizzle` is 0, 32, 64 or 128 bytes",
        ),
        (
            "buffer = \"a\"\nsizes = [16, 12]\nbox = [8, 4]\nfill = \"one\"",
            "`one` is nothing that lies outside of a tensor",
        ),
        (
            "buffer = \"a\"\nsizes = [16, 12]\nbox = [8, 400]",
            "`box` must be from 1 to 256, not 400",
        ),
        (
            "buffer = \"a\"\nsizes = [16, 12]\nbox = [8, 4]\ntype = \"f32\"",
            "`a` has elements of 2 bytes, the tensor map of 4",
        ),
        (
            "buffer = \"a\"\nsizes = [16, 12]\nbox = [8, 4]\ncount = 3",
            "`count` has no meaning here: a tensor map has a `buffer`, `sizes` and a `box`",
        ),
    ] {
        let told = run(&by_value(), map, [0, 0]).unwrap_err();
        assert!(told.contains(wanted), "{map}: {told}");
    }
    let plain = "buffer = \"a\"\nsizes = [16, 12]\nbox = [8, 4]";
    let told = run(&by_address(), plain, [0, 0]).unwrap_err();
    assert!(
        told.contains("`map` cannot be parameter 0 of `k`"),
        "{told}"
    );
}

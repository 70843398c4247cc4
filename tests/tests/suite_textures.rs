//! Textures from the launch file to the kernel's results.

use warpwatt_suite::launch::Files;
use warpwatt_suite::{LaunchFile, RunOptions, run_case};

const PTX: &str = "
.version 8.0 .target sm_52 .address_size 64
.global .texref image;
.visible .entry k(.param .u64 table, .param .u64 out)
{
  .reg .b32 %r<6>; .reg .f32 %f<12>; .reg .b64 %rd<5>;
  mov.u32 %r1, %tid.x;
  cvt.rn.f32.u32 %f1, %r1;
  tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [image, {%f1, 0f3F800000}];
  ld.param.u64 %rd1, [table];
  tex.1d.v4.f32.s32 {%f6, %f7, %f8, %f9}, [%rd1, {%r1}];
  add.rn.f32 %f2, %f2, %f6;
  ld.param.u64 %rd2, [out]; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd2, %rd2, %rd3;
  st.global.f32 [%rd2], %f2;
  ret;
}";

const LAUNCH: &str = r#"
name = "textures"
[build]
ptx = "k.ptx"
[small]
kernel = "k"
grid = [1]
block = [8]
[[small.arg]]
name = "pixels"
kind = "in"
type = "u8"
count = 8
init = "iota()"
[[small.arg]]
name = "table"
kind = "in"
type = "f32"
count = 4
init = "iota()"
[[small.arg]]
name = "out"
kind = "out"
type = "f32"
count = 8
[[small.texture]]
reference = "image"
buffer = "pixels"
width = 4
height = 2
filter = "linear"
fractions = true
[[small.texture]]
buffer = "table"
width = 4
border = "zero"
"#;

#[test]
fn references_and_objects_are_read_as_the_launch_file_says() {
    let module = warpwatt_ptx::load(PTX).expect("the PTX is right");
    let file = LaunchFile::parse(LAUNCH).expect("the launch file is right");
    let case = file.case(None).expect("it has a case");
    let prepared = case.prepare(&module, Files::None).expect("it fits the PTX");
    let run = run_case(&module, case, &prepared, RunOptions::default()).expect("it runs");
    let out = run
        .buffers
        .iter()
        .find(|buffer| buffer.name == "out")
        .expect("it is there");
    let found: Vec<f32> = out
        .bytes
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect();
    for (x, found) in found.iter().enumerate() {
        // Half-way between neighbours in both directions, the edges repeated; a table that is zero beyond its end.
        let low = x.clamp(1, 4) as f32 - 1.0;
        let high = x.min(3) as f32;
        let pixel = ((low + high) / 2.0 + ((low + 4.0) + (high + 4.0)) / 2.0) / 2.0 / 255.0;
        let table = if x < 4 { x as f32 } else { 0.0 };
        assert!(
            (found - (pixel + table)).abs() < 1e-6,
            "{x}: {found} {}",
            pixel + table
        );
    }
}

#[test]
fn wrong_textures_are_refused_with_the_remedy() {
    let problem = |from: &str, to: &str| {
        let text = LAUNCH.replacen(from, to, 1);
        let problems = match LaunchFile::parse(&text) {
            Ok(file) => {
                let module = warpwatt_ptx::load(PTX).expect("the PTX is right");
                file.cases[0].check(&module)
            }
            Err(problems) => problems,
        };
        problems
            .into_iter()
            .map(|problem| problem.message)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        problem("reference = \"image\"", "reference = \"imago\""),
        ["the PTX has no texture reference `imago`"]
    );
    assert_eq!(
        problem("height = 2", "height = 3"),
        ["the texture has 12 channels in all, but `pixels` holds 8 elements"]
    );
    assert_eq!(
        problem("\"linear\"", "\"cubic\""),
        ["`cubic` is no `filter` of a texture"]
    );
    assert_eq!(
        problem("buffer = \"table\"", "buffer = \"tables\""),
        ["the case has no argument `tables`"]
    );
}

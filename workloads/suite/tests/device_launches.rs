//! Kernels that launch kernels.

use std::path::Path;

use warpwatt_ptx::load;
use warpwatt_suite::launch::Files;
use warpwatt_suite::{LaunchFile, RunOptions, run_case};

/// As compilers call the device runtime: `grow<<<n, 32>>>(out, depth - 1)` from each of two threads down to depth 0, which count; `last` multiplies what is counted.
const PTX: &str = ".version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 p, .param .b64 s);
.extern .func (.param .b64 r) cudaGetParameterBuffer(.param .b64 a, .param .b64 s);
.extern .func (.param .b32 r) cudaLaunchDevice(.param .b64 f, .param .b64 p, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s, .param .b64 t);
.extern .func (.param .b32 r) cudaDeviceSynchronize();
.entry grow(.param .u64 out, .param .u32 depth);
.entry last(.param .u64 out);
.visible .entry first(.param .u64 out, .param .u32 depth) {
    .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>;
    mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0; @%p1 ret;
    ld.param.u64 %d1, [out]; ld.param.u32 %r2, [depth];
    mov.u64 %d2, last;
    { .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s; .param .b64 r;
      st.param.b64 [f], %d2; st.param.b32 [g], 1; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1;
      st.param.b32 [b], 1; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1; st.param.b32 [s], 0;
      call (r), __cudaCDP2GetParameterBufferV2, (f, g, b, s); ld.param.b64 %d3, [r]; }
    st.u64 [%d3], %d1;
    { .param .b64 p; .param .b64 s; .param .b32 r; st.param.b64 [p], %d3; st.param.b64 [s], 3;
      call (r), __cudaCDP2LaunchDeviceV2, (p, s); ld.param.b32 %r3, [r]; st.global.u32 [%d1+8], %r3; }
    mov.u64 %d2, grow;
    { .param .b64 a; .param .b64 s; .param .b64 r; st.param.b64 [a], 8; st.param.b64 [s], 12;
      call (r), cudaGetParameterBuffer, (a, s); ld.param.b64 %d3, [r]; }
    st.u64 [%d3], %d1; st.u32 [%d3+8], %r2;
    { .param .b64 f; .param .b64 p; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s; .param .b64 t; .param .b32 r;
      st.param.b64 [f], %d2; st.param.b64 [p], %d3; st.param.b32 [g], 3; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1;
      st.param.b32 [b], 32; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1; st.param.b32 [s], 0; st.param.b64 [t], 0;
      call (r), cudaLaunchDevice, (f, p, g, b, s, t); }
    ret;
}
.visible .entry grow(.param .u64 out, .param .u32 depth) {
    .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>;
    mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 1; @%p1 ret;
    ld.param.u64 %d1, [out]; ld.param.u32 %r2, [depth];
    red.global.add.u32 [%d1], 1; setp.eq.u32 %p2, %r2, 0; @%p2 ret;
    sub.u32 %r2, %r2, 1; mov.u64 %d2, grow;
    { .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s; .param .b64 r;
      st.param.b64 [f], %d2; st.param.b32 [g], 1; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1;
      st.param.b32 [b], 32; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1; st.param.b32 [s], 0;
      call (r), __cudaCDP2GetParameterBufferV2, (f, g, b, s); ld.param.b64 %d3, [r]; }
    st.u64 [%d3], %d1; st.u32 [%d3+8], %r2;
    { .param .b64 p; .param .b64 s; .param .b32 r; st.param.b64 [p], %d3; st.param.b64 [s], 0; call (r), __cudaCDP2LaunchDeviceV2, (p, s); }
    ret;
}
.visible .entry last(.param .u64 out) {
    .reg .b32 %r<3>; .reg .b64 %d<2>;
    ld.param.u64 %d1, [out]; ld.global.u32 %r1, [%d1]; mul.lo.u32 %r2, %r1, 10; st.global.u32 [%d1+4], %r2; ret;
}
";

/// What was counted, ten times as much, and the error code of a launch; and the kernels in the order in which they ran.
fn run(source: &str, depth: u32) -> Result<(Vec<u32>, Vec<String>), String> {
    let text = format!(
        "name = \"nested\"\n[case]\nkernel = \"first\"\ngrid = 1\nblock = 32
[[case.arg]]\nname = \"out\"\nkind = \"out\"\ntype = \"u32\"\ncount = 3\ninit = \"zeros()\"
[[case.arg]]\nname = \"depth\"\nkind = \"scalar\"\ntype = \"u32\"\nvalue = {depth}"
    );
    let module = load(source).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let file = LaunchFile::parse(&text).unwrap();
    let case = &file.cases[0];
    let files = Files::Directory(Path::new("."));
    let prepared = case.prepare(&module, files).map_err(|found| {
        let all: Vec<String> = found.into_iter().map(|it| it.message).collect();
        all.join("; ")
    })?;
    let run = run_case(&module, case, &prepared, RunOptions::default());
    let run = run.map_err(|error| error.to_string())?;
    let (words, _) = run.buffers[0].bytes.as_chunks::<4>();
    let words = words.iter().map(|word| u32::from_le_bytes(*word));
    let kernels = run.executions.into_iter().map(|it| it.kernel);
    Ok((words.collect(), kernels.collect()))
}

/// Three CTAs of two threads, each of which launches a CTA of two threads: 6 + 12 + 24.
#[test]
fn kernels_launch_kernels() {
    let (words, kernels) = run(PTX, 2).unwrap();
    assert_eq!(words, [42, 420, 0]);
    assert_eq!(kernels.len(), 1 + 1 + 6 + 12 + 1);
    // What was launched to the tail comes last, whenever it was launched.
    assert_eq!(
        (kernels[0].as_str(), kernels[20].as_str()),
        ("first", "last")
    );
}

#[test]
fn what_cannot_be_launched_is_told() {
    let told = run(PTX, 24).unwrap_err();
    assert!(
        told.contains("kernels launch kernels 24 deep at most"),
        "{told}"
    );
    let nowhere = PTX.replace("mov.u64 %d2, last;", "mov.u64 %d2, 64;");
    let told = run(&nowhere, 0).unwrap_err();
    assert!(told.contains("no kernel has the address 0x40"), "{told}");
    let waits = PTX.replace(
        "call (r), cudaLaunchDevice, (f, p, g, b, s, t); }",
        "call (r), cudaLaunchDevice, (f, p, g, b, s, t); call (r), cudaDeviceSynchronize; }",
    );
    let module = load(&waits).unwrap();
    let problems = &module.entry("first").unwrap().unsupported;
    assert_eq!(
        problems[0].message,
        "a kernel cannot wait for kernels that it launches"
    );
}

//! Warp instructions a second of functional execution, by kind of kernel, with and without recording a trace.
//!
//! `cargo bench -p warpwatt-simt --bench functional`

use criterion::{Criterion, Throughput};
use warpwatt_ptx::{Module, load};
use warpwatt_simt::{DeviceMemory, Launch, Options, execute};

/// A loop of 200 rounds around `body`; `%r1` is the thread, `%rd2` the address of its word.
fn kernel(body: &str) -> Module {
    let source = format!(
        ".version 8.0 .target sm_90a .address_size 64
        .visible .entry k(.param .u64 p) {{
        .shared .align 4 .b8 tile[1024];
        .reg .pred %p<9>; .reg .b32 %r<19>; .reg .f32 %f<32>; .reg .f64 %d<6>; .reg .b64 %rd<19>;
        mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [p]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2;
        ld.global.u32 %r2, [%rd2]; cvt.rn.f32.u32 %f1, %r1; mov.f32 %f2, 0f3F800347; mov.f32 %f3, 0f3DCCCCCD; cvt.f64.f32 %d1, %f1; cvt.f64.f32 %d2, %f3;
        mov.u32 %r9, tile; shl.b32 %r8, %r1, 2; add.s32 %r9, %r9, %r8;
        or.b32 %r14, %r1, 0x34003800; or.b32 %r15, %r1, 0x38003a00; xor.b32 %r16, %r14, 0x80000000; xor.b32 %r17, %r15, 0x8000;
        mov.u32 %r3, tile; shr.u32 %r3, %r3, 4; cvt.u64.u32 %rd4, %r3; or.b64 %rd4, %rd4, 68720001024; st.shared.u32 [%r9], %r15; setp.eq.u32 %p3, %r1, %r1;
        mov.u32 %r7, 200;
        $loop:
        {body}
        add.s32 %r7, %r7, -1; setp.ne.s32 %p1, %r7, 0; @%p1 bra $loop;
        st.global.f32 [%rd2], %f1; st.global.u32 [%rd2], %r2; ret; }}"
    );
    load(&source).expect("the bench's kernels are valid")
}

const KERNELS: [(&str, &str); 13] = [
    (
        "integer",
        "mad.lo.s32 %r2, %r2, 1664525, %r1; shr.u32 %r3, %r2, 7; xor.b32 %r2, %r2, %r3; and.b32 %r4, %r2, 255; add.s32 %r2, %r2, %r4;
         min.u32 %r3, %r2, %r1; max.s32 %r4, %r3, %r2; shl.b32 %r3, %r4, 3; sub.s32 %r2, %r2, %r3; or.b32 %r2, %r2, 1;",
    ),
    (
        "fused multiply-add",
        "fma.rn.f32 %f1, %f1, %f2, %f3; fma.rn.f32 %f4, %f1, %f3, %f2; fma.rn.f32 %f1, %f4, %f3, %f1; fma.rn.f32 %f5, %f1, %f3, %f4;
         add.f32 %f1, %f1, %f5; mul.f32 %f1, %f1, %f3; sub.f32 %f4, %f1, %f2; add.f32 %f1, %f4, %f3;",
    ),
    (
        "shared memory",
        "st.shared.u32 [%r9], %r2; bar.sync 0; ld.shared.u32 %r3, [%r9]; add.s32 %r2, %r2, %r3; xor.b32 %r2, %r2, %r1; bar.sync 0;",
    ),
    (
        "global memory",
        "ld.global.u32 %r3, [%rd2]; add.s32 %r2, %r2, %r3; st.global.u32 [%rd2], %r2;",
    ),
    (
        "divergent",
        "and.b32 %r3, %r2, 1; setp.eq.s32 %p2, %r3, 0; @%p2 bra $even; mad.lo.s32 %r2, %r2, 3, 1; bra.uni $join;
         $even: shr.u32 %r2, %r2, 1; add.s32 %r2, %r2, %r1; $join: add.s32 %r2, %r2, 1;",
    ),
    (
        "special functions",
        "ex2.approx.f32 %f4, %f3; sqrt.rn.f32 %f5, %f4; div.rn.f32 %f4, %f5, %f2; sin.approx.f32 %f1, %f4;",
    ),
    (
        "half precision",
        "add.rn.f16x2 %r10, %r14, %r15; fma.rn.f16x2 %r11, %r10, %r16, %r15; mul.rn.f16x2 %r12, %r11, %r17; sub.rn.f16x2 %r13, %r12, %r10;",
    ),
    (
        "double precision",
        "fma.rn.f64 %d3, %d1, %d2, %d2; fma.rn.f64 %d4, %d3, %d2, %d1; fma.rn.f64 %d1, %d4, %d2, %d3; add.f64 %d5, %d1, %d4; mul.f64 %d1, %d5, %d2;",
    ),
    // Halves of ordinary size; 2,048 multiply-adds an instruction.
    (
        "matrix products, f16",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f4,%f5,%f6,%f7}, {%r14,%r15,%r16,%r17}, {%r15,%r16}, {%f4,%f5,%f6,%f7};
         mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f4,%f5,%f6,%f7}, {%r17,%r16,%r15,%r14}, {%r14,%r17}, {%f4,%f5,%f6,%f7};",
    ),
    (
        "matrix products, bf16",
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f4,%f5,%f6,%f7}, {%r14,%r15,%r16,%r17}, {%r15,%r16}, {%f4,%f5,%f6,%f7};
         mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f4,%f5,%f6,%f7}, {%r17,%r16,%r15,%r14}, {%r14,%r17}, {%f4,%f5,%f6,%f7};",
    ),
    // 1,024.
    (
        "matrix products, tf32",
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f4,%f5,%f6,%f7}, {%r14,%r15,%r16,%r17}, {%r15,%r16}, {%f4,%f5,%f6,%f7};
         mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f4,%f5,%f6,%f7}, {%r17,%r16,%r15,%r14}, {%r14,%r17}, {%f4,%f5,%f6,%f7};",
    ),
    // 32,768 a warpgroup.
    (
        "matrix products, warpgroups",
        "wgmma.fence.sync.aligned;
         wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {%f10,%f11,%f12,%f13,%f14,%f15,%f16,%f17,%f18,%f19,%f20,%f21,%f22,%f23,%f24,%f25},
         {%r14,%r15,%r16,%r17}, %rd4, %p3, 1, 1, 0;
         wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;",
    ),
    // 4,096.
    (
        "matrix products, s8",
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r10,%r11,%r12,%r13}, {%r14,%r15,%r16,%r17}, {%r15,%r16}, {%r10,%r11,%r12,%r13};
         mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r10,%r11,%r12,%r13}, {%r17,%r16,%r15,%r14}, {%r14,%r17}, {%r10,%r11,%r12,%r13};",
    ),
];

fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("warp instructions");
    for (name, body) in KERNELS {
        let module = kernel(body);
        for record in [false, true] {
            let options = Options {
                record,
                ..Options::default()
            };
            let run = || {
                let mut memory = DeviceMemory::new(&module);
                let address = memory.alloc("p", vec![1; 4 * 256]);
                let launch = Launch {
                    entry: "k",
                    grid: [4, 1, 1],
                    block: [256, 1, 1],
                    cluster: None,
                    dynamic_shared: 0,
                    params: address.to_le_bytes().to_vec(),
                };
                execute(&module, &launch, &mut memory, &options).expect("the bench's kernels run")
            };
            group.throughput(Throughput::Elements(run().warp_instructions));
            let suffix = if record { "recorded" } else { "plain" };
            group.bench_function(format!("{name}, {suffix}"), |b| b.iter(run));
        }
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().sample_size(20).configure_from_args();
    bench(&mut criterion);
    criterion.final_summary();
}

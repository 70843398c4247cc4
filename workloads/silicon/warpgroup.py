#!/usr/bin/env python3
"""Writes warpgroup.ptx: products of 64 x 256 x 16 in f16 by a warpgroup, `turns` times four, from tiles in shared memory that are filled once."""
import pathlib

SUMS = ", ".join(f"%f{i}" for i in range(128))


def product(step):
    # Rows of 128 bytes, swizzled; a step of 16 in depth is 32 bytes.
    return f"""  add.s64 %rd5, %rd3, {2 * step};
  add.s64 %rd6, %rd4, {2 * step};
  wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {{{SUMS}}}, %rd5, %rd6, 1, 1, 1, 0, 0;
"""


TEXT = f"""// Written by warpgroup.py.
.version 8.0
.target sm_90a
.address_size 64

.visible .entry warpgroup_f16(.param .u64 values, .param .u64 out, .param .u32 turns) .maxntid 128, 1, 1
{{
  .reg .pred %p<3>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<10>;
  .reg .f32 %f<128>;
  .shared .align 1024 .b8 tiles[40960];
  ld.param.u64 %rd1, [values];
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r1, [turns];
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, tiles;
  shl.b32 %r4, %r2, 2;
fill:
  and.b32 %r5, %r4, 16383;
  cvt.u64.u32 %rd7, %r5;
  add.s64 %rd7, %rd1, %rd7;
  ld.global.b32 %r6, [%rd7];
  add.s32 %r7, %r3, %r4;
  st.shared.b32 [%r7], %r6;
  add.s32 %r4, %r4, 512;
  setp.lt.u32 %p1, %r4, 40960;
  @%p1 bra fill;
  bar.sync 0;
  fence.proxy.async.shared::cta;
  // Descriptor: address, rows of eight every 1024 bytes, swizzle of 128 bytes.
  shr.u32 %r8, %r3, 4;
  and.b32 %r8, %r8, 16383;
  cvt.u64.u32 %rd3, %r8;
  or.b64 %rd3, %rd3, 0x4000004000010000;
  add.s64 %rd4, %rd3, 512;
{"".join(f"  mov.f32 %f{i}, 0f00000000;{chr(10)}" for i in range(128))}  mov.u32 %r9, 0;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra done;
turn:
  wgmma.fence.sync.aligned;
{"".join(product(step) for step in range(4))}  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  add.s32 %r9, %r9, 1;
  setp.lt.u32 %p1, %r9, %r1;
  @%p1 bra turn;
done:
  setp.eq.f32 %p2, %f0, 0f42F6E979;
  @%p2 st.global.f32 [%rd2], %f1;
  ret;
}}
"""

pathlib.Path(__file__).with_suffix(".ptx").write_text(TEXT)

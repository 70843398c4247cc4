#!/usr/bin/env python3
"""Writes and assembles rows.o: the straight-line programs that were timed on the released RTL of MIAOW. Needs clang-19.

A kernel NAME_N is the body of a row N times and s_endpgm. The test bench had registers set before a wavefront began; here a prologue sets them, which ends at
the first s_nop and which the test leaves out.
"""

import pathlib
import subprocess

RESULTS = [10, 11, 12, 13, 14, 15, 16, 17]

# One instruction or several, or one for each repetition in turn.
ROWS = {
    "branch": ["s_branch {next}\n{next}:"],
    "gm_ld": ["tbuffer_load_format_x v10, v9, s[8:11], 0 format:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_FLOAT] offen\ns_waitcnt vmcnt(0)"],
    "gm_st": ["tbuffer_store_format_x v10, v9, s[8:11], 0 format:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_FLOAT] offen\ns_waitcnt vmcnt(0)"],
    "lds_rd": ["ds_read_b32 v10, v9\ns_waitcnt lgkmcnt(0)"],
    "lds_wr": ["ds_write_b32 v9, v10\ns_waitcnt lgkmcnt(0)"],
    "mix": [
        "v_mov_b32 v10, v2\nv_mul_f32 v11, v2, v3\ns_add_u32 s20, s21, s22\nv_and_b32 v12, v2, v3\nv_add_f32 v13, v2, v3"
    ],
    "mov_ind": [f"v_mov_b32 v{number}, v2" for number in RESULTS],
    "mul": ["v_mul_lo_u32 v1, v1, v2"],
    "rcp": ["v_rcp_f32 v1, v2"],
    "salu": ["s_add_u32 s20, s20, s21"],
    "salu_ind": [f"s_add_u32 s{20 + number}, s2, s3" for number in RESULTS],
    "simd": ["v_add_i32 v1, vcc, v1, v2"],
    "simd_ind": [f"v_add_i32 v{number}, vcc, v2, v3" for number in RESULTS],
    "simf": ["v_mul_f32 v1, v1, v2"],
    "simf_add": ["v_add_f32 v1, v1, v2"],
    "simf_ind": [f"v_mul_f32 v{number}, v2, v3" for number in RESULTS],
    "smrd": ["s_load_dword s20, s[4:5], 0x0\ns_waitcnt lgkmcnt(0)"],
}
REPETITIONS = [0, 8, 16]

PROLOGUE = """
s_load_dwordx2 s[8:9], s[4:5], 0x0
s_mov_b32 s10, -1
s_mov_b32 s11, 0x100f000
s_mov_b32 m0, -1
v_lshlrev_b32 v9, 2, v0
s_waitcnt lgkmcnt(0)
s_nop 0
"""

KERNEL = """
.globl {name}
.p2align 8
.type {name},@function
{name}:
{text}
s_endpgm
.rodata
.p2align 6
.amdhsa_kernel {name}
  .amdhsa_user_sgpr_private_segment_buffer 1
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_group_segment_fixed_size 256
  .amdhsa_kernarg_size 8
  .amdhsa_next_free_vgpr 24
  .amdhsa_next_free_sgpr 48
.end_amdhsa_kernel
.text
"""

METADATA = """
  - .name: {name}
    .symbol: {name}.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 256
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 48
    .vgpr_count: 24
    .max_flat_workgroup_size: 64
    .args:
      - .name: data
        .offset: 0
        .size: 8
        .value_kind: global_buffer
        .address_space: global
"""


def program(bodies, repetitions, name):
    lines = [bodies[number % len(bodies)].format(next=f".L{name}_{number}") for number in range(repetitions)]
    return PROLOGUE + "\n".join(lines)


def main():
    here = pathlib.Path(__file__).parent
    names = [(f"{row}_{repetitions}", bodies, repetitions) for row, bodies in ROWS.items() for repetitions in REPETITIONS]
    text = ".text\n" + "".join(KERNEL.format(name=name, text=program(bodies, count, name)) for name, bodies, count in names)
    text += ".amdgpu_metadata\namdhsa.version: [1, 2]\namdhsa.kernels:" + "".join(METADATA.format(name=name) for name, *_ in names)
    text += ".end_amdgpu_metadata\n"
    command = ["clang-19", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx600", "-x", "assembler", "-c", "-", "-o", here / "rows.o"]
    subprocess.run(command, input=text.encode(), check=True)


main()

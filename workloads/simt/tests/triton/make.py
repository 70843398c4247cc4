#!/usr/bin/env python3
"""Makes the PTX files of this folder: `pip install triton`, then `python make.py`. No GPU is needed.

The first line of each file says what Triton keeps beside it: threads of a block, dynamic shared memory, and scratch memory of a block in bytes.
Made with Triton 3.9.0.
"""
import pathlib
import re

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon._runtime import GluonASTSource
from triton.experimental.gluon.language.nvidia import blackwell
from triton.experimental.gluon.language.nvidia.blackwell import mbarrier
from triton.experimental.gluon.language.nvidia.hopper import cluster, fence_async_shared


@triton.jit
def matmul_tma(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    left = tl.make_tensor_descriptor(a, [m, k], [k, 1], [BM, BK])
    right = tl.make_tensor_descriptor(b, [k, n], [n, 1], [BK, BN])
    result = tl.make_tensor_descriptor(c, [m, n], [n, 1], [BM, BN])
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for at in range(0, k, BK):
        sums = tl.dot(left.load([row, at]), right.load([at, column]), sums)
    result.store([row, column], sums)


@triton.jit
def attention(q, k, v, out, length, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    across, columns = tl.arange(0, D), tl.arange(0, BN)
    query = tl.load(q + rows[:, None] * D + across[None, :], mask=rows[:, None] < length, other=0.0)
    largest = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    sums = tl.zeros((BM, D), tl.float32)
    for start in range(0, length, BN):
        at = start + columns
        key = tl.load(k + at[None, :] * D + across[:, None], mask=at[None, :] < length, other=0.0)
        score = tl.where(at[None, :] < length, tl.dot(query, key) * scale, float("-inf"))
        new = tl.maximum(largest, tl.max(score, 1))
        weight, shrink = tl.exp(score - new[:, None]), tl.exp(largest - new)
        total = total * shrink + tl.sum(weight, 1)
        value = tl.load(v + at[:, None] * D + across[None, :], mask=at[:, None] < length, other=0.0)
        sums = tl.dot(weight.to(value.dtype), value, sums * shrink[:, None])
        largest = new
    tl.store(out + rows[:, None] * D + across[None, :], sums / total[:, None], mask=rows[:, None] < length)


@triton.jit
def scaled(a, scale_a, b, scale_b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A of e4m3, B of pairs of e2m1 and transposed, a power of two for 32 elements of either."""
    rows, columns = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    depth, pairs, blocks = tl.arange(0, BK), tl.arange(0, BK // 2), tl.arange(0, BK // 32)
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for at in range(0, k, BK):
        left = tl.load(a + rows[:, None] * k + at + depth[None, :])
        right = tl.load(b + columns[:, None] * (k // 2) + at // 2 + pairs[None, :])
        of_left = tl.load(scale_a + rows[:, None] * (k // 32) + at // 32 + blocks[None, :])
        of_right = tl.load(scale_b + columns[:, None] * (k // 32) + at // 32 + blocks[None, :])
        sums = tl.dot_scaled(left, of_left, "e4m3", right.T, of_right, "e2m1", sums)
    tl.store(c + rows[:, None] * n + columns[None, :], sums)


@gluon.jit
def pair(a, b, c, n, k, BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr):
    """Two CTAs share a product: each has half of the rows of A and half of the columns of B."""
    by_row: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [4, 1], [1, 0], cga_layout=[[1, 0]])
    by_column: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [4, 1], [1, 0], cga_layout=[[0, 1]])
    rows = gl.program_id(0) * BM + gl.arange(0, BM, gl.SliceLayout(1, by_row))
    columns = gl.program_id(1) * BN + gl.arange(0, BN, gl.SliceLayout(0, by_column))
    across, down = gl.arange(0, BK, gl.SliceLayout(0, by_row)), gl.arange(0, BK, gl.SliceLayout(1, by_column))
    of_left: gl.constexpr = gl.NVMMASharedLayout.get_default_for([BM, BK], gl.float16, cga_layout=[[1, 0]])
    of_right: gl.constexpr = gl.NVMMASharedLayout.get_default_for([BK, BN], gl.float16, cga_layout=[[0, 1]])
    left = gl.allocate_shared_memory(gl.float16, [BM, BK], of_left)
    right = gl.allocate_shared_memory(gl.float16, [BK, BN], of_right)
    shared: gl.constexpr = blackwell.TensorMemoryLayout([BM // 2, BN], col_stride=1, cga_layout=[[1, 0]], two_ctas=True)
    sums = blackwell.allocate_tensor_memory(gl.float32, [BM, BN], shared)
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(done, count=1)
    phase = 0
    for at in range(0, k, BK):
        left.store(gl.load(a + rows[:, None] * k + at + across[None, :]))
        right.store(gl.load(b + (at + down[:, None]) * n + columns[None, :]))
        fence_async_shared(cluster=True)
        cluster.barrier()
        blackwell.tcgen05_mma(left, right, sums, use_acc=at > 0, mbarriers=[done])
        mbarrier.wait(done, phase)
        phase ^= 1
    mbarrier.invalidate(done)
    found = sums.load()
    layout: gl.constexpr = found.type.layout
    rows = gl.program_id(0) * BM + gl.arange(0, BM, gl.SliceLayout(1, layout))
    columns = gl.program_id(1) * BN + gl.arange(0, BN, gl.SliceLayout(0, layout))
    gl.store(c + rows[:, None] * n + columns[None, :], found)


def write(function, types, constants, warps, sm, ctas=1):
    signature = types | {name: "constexpr" for name in constants}
    frontend = GluonASTSource if function is pair else ASTSource
    source = frontend(function, signature=signature, constexprs=constants)
    made = triton.compile(source, target=GPUTarget("cuda", sm, 32), options={"num_warps": warps, "num_ctas": ctas})
    text = made.asm["ptx"].split("\t.section")[0]
    kept = [line for line in text.splitlines() if line.strip() and not re.match(r"\s*(\.loc|\.file|//|\$L__tmp)", line)]
    kept = [line.replace(f".target sm_{sm}a, debug", f".target sm_{sm}a") for line in kept]
    meta = made.metadata
    head = f"// block {32 * warps} shared {meta.shared} scratch {meta.global_scratch_size}"
    rows = constants["BM"] if function is pair else ""
    path = pathlib.Path(__file__).with_name(f"{function.__name__}{rows}_sm{sm}.ptx")
    path.write_text("\n".join([head, *kept]) + "\n")


FLOATS = dict.fromkeys("ab", "*bf16") | {"c": "*fp32"}
SIZES = dict.fromkeys("mnk", "i32")
HALVES = dict.fromkeys("qkv", "*fp16") | {"out": "*fp32"}
for sm in [90, 100]:
    write(matmul_tma, FLOATS | SIZES, {"BM": 64, "BN": 64, "BK": 32}, 4, sm)
    write(attention, HALVES | {"length": "i32", "scale": "fp32"}, {"D": 32, "BM": 64, "BN": 32}, 4, sm)
BYTES = {"a": "*fp8e4nv", "scale_a": "*u8", "b": "*u8", "scale_b": "*u8", "c": "*fp32"}
write(scaled, BYTES | SIZES, {"BM": 128, "BN": 32, "BK": 64}, 4, 100)
for rows in [128, 256]:
    types = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "n": "i32", "k": "i32"}
    write(pair, types, {"BM": rows, "BN": 64, "BK": 32}, 4, 100, ctas=2)

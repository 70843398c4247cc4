#!/usr/bin/env python3
"""Makes attention*.ptx, product*.ptx and softmax.ptx: `pip install triton`, then `python attention.py`. No GPU is needed.

Flash attention (Dao et al., NeurIPS 2022), a product of matrices and the softmax of rows, as Triton's own compiler makes them for sm_80 (products by a warp, copies in the
background) and sm_90a (products by a warpgroup). Lengths are multiples of the tiles; nothing is masked but the end of a row of softmax.
The first line of each file says what Triton keeps beside it: threads of a block, dynamic shared memory, and scratch memory of a block in bytes. What is for debuggers alone
is left out: comments, positions in the source (.file, .loc and their labels) and the sections after the code, which hold paths.
Made with Triton 3.9.0.
"""
import pathlib
import re

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def attention(q, k, v, out, scale, length, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """A block has BM rows of one head. `scale` holds log2(e), too."""
    block, head = tl.program_id(0), tl.program_id(1)
    base = head.to(tl.int64) * length * D
    rows = block * BM + tl.arange(0, BM)
    columns, across = tl.arange(0, BN), tl.arange(0, D)
    query = tl.load(q + base + rows[:, None] * D + across[None, :])
    largest = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    sums = tl.zeros((BM, D), tl.float32)
    for start in range(0, length, BN):
        key = tl.load(k + base + (start + columns)[None, :] * D + across[:, None])
        score = tl.dot(query, key) * scale
        new = tl.maximum(largest, tl.max(score, 1))
        weight, shrink = tl.exp2(score - new[:, None]), tl.exp2(largest - new)
        total = total * shrink + tl.sum(weight, 1)
        sums = sums * shrink[:, None]
        value = tl.load(v + base + (start + columns)[:, None] * D + across[None, :])
        sums = tl.dot(weight.to(tl.float16), value, sums)
        largest = new
    sums = sums / total[:, None]
    tl.store(out + base + rows[:, None] * D + across[None, :], sums.to(tl.float16))


@triton.jit
def product(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row, column = tl.program_id(0), tl.program_id(1)
    rows, columns = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    left = a + rows[:, None] * k + depth[None, :]
    right = b + depth[:, None] * n + columns[None, :]
    sums = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, k, BK):
        sums = tl.dot(tl.load(left), tl.load(right), sums)
        left += BK
        right += BK * n
    tl.store(c + rows[:, None] * n + columns[None, :], sums.to(tl.float16))


@triton.jit
def softmax(x, y, n, B: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, B)
    value = tl.load(x + row * n + column, mask=column < n, other=float("-inf"))
    weight = tl.exp(value - tl.max(value, 0))
    tl.store(y + row * n + column, weight / tl.sum(weight, 0), mask=column < n)


def without_debugging(text):
    code = text.split("\t.section")[0]
    return [line for line in code.splitlines() if line.strip() and not re.match(r"\s*(\.loc|\.file|//|\$L__tmp)", line)]


def write(name, function, types, constants, sm, warps, stages):
    """Pointers and integers are multiples of 16."""
    names = function.arg_names
    signature = types | dict.fromkeys(constants, "constexpr")
    aligned = {(names.index(name),): [["tt.divisibility", 16]] for name, kind in types.items() if kind != "fp32"}
    source = ASTSource(function, signature=signature, constexprs={(names.index(name),): value for name, value in constants.items()}, attrs=aligned)
    options = {"num_warps": warps, "num_stages": stages, **({"ptx_version": 86} if sm == 90 else {})}
    made = triton.compile(source, target=GPUTarget("cuda", sm, 32), options=options)
    meta = made.metadata
    head = f"// block {32 * warps} shared {meta.shared} scratch {meta.global_scratch_size}"
    path = pathlib.Path(__file__).with_name(f"{name}.ptx")
    path.write_text("\n".join([head, *without_debugging(made.asm["ptx"])]) + "\n")


if __name__ == "__main__":
    HEADS = dict.fromkeys(["q", "k", "v", "out"], "*fp16") | {"scale": "fp32", "length": "i32"}
    MATRICES = dict.fromkeys("abc", "*fp16") | dict.fromkeys("mnk", "i32")
    for sm, warps in (80, 4), (90, 8):
        write(f"attention{sm}", attention, HEADS, {"BM": 128, "BN": 64, "D": 64}, sm, warps, 3)
        write(f"attention{sm}_d128", attention, HEADS, {"BM": 128, "BN": 64, "D": 128}, sm, 8, 2)
        write(f"product{sm}", product, MATRICES, {"BM": 128, "BN": 128, "BK": 64}, sm, 8, 3)
    write("softmax", softmax, {"x": "*fp32", "y": "*fp32", "n": "i32"}, {"B": 4096}, 80, 8, 2)

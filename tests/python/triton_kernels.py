"""Kernels of Triton, which reads their sources from a file."""

import triton
import triton.language as tl


@triton.jit
def softmax(y, x, stride, n, B: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, B)
    inside = columns < n
    values = tl.load(x + row * stride + columns, mask=inside, other=float("-inf"))
    numerator = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * stride + columns, numerator / tl.sum(numerator, axis=0), mask=inside)


@triton.jit
def halve(y, x, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, tl.load(x + at, mask=at < n) / 2, mask=at < n)


@triton.jit
def stepped(y, x, n, step=2, B: tl.constexpr = 256):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, tl.load(x + at, mask=at < n) * step, mask=at < n)


@triton.heuristics({"B": lambda given: triton.next_power_of_2(given["n"])})
@triton.jit
def whole(y, x, n, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)


@triton.autotune(configs=[triton.Config({"B": 64}), triton.Config({"B": 128})], key=["n"])
@triton.jit
def tuned(y, x, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)


@triton.jit
def tiles(y, x, m, n, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [m, n], [n, 1], [M, N])
    target = tl.make_tensor_descriptor(y, [m, n], [n, 1], [M, N])
    place = [tl.program_id(0) * M, tl.program_id(1) * N]
    target.store(place, source.load(place) + 1)


@triton.jit
def asserted(x, n, B: tl.constexpr):
    at = tl.arange(0, B)
    values = tl.load(x + at, mask=at < n, other=0)
    tl.device_assert(values < 5, "too large")
    tl.store(x + at, values + 1, mask=at < n)

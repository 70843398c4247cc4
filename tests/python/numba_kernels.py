"""Kernels of Numba."""

import enum
import math

import numpy as np
from numba import cuda
from numba.cuda import bf16

PLUS = 'extern "C" __device__ int plus(float* sum, float a, float b) { *sum = a + b; return 0; }'
THRICE = """
.version 7.0
.target sm_80
.address_size 64
.global .f32 square = 0f40400000; // 3
.func (.param .b32 status) twice(.param .b64 result, .param .b32 value)
{
    .reg .b64 %p; .reg .f32 %f<4>;
    ld.param.u64 %p, [result];
    ld.param.f32 %f1, [value];
    ld.global.f32 %f2, [square];
    mul.f32 %f3, %f1, %f2;
    st.f32 [%p], %f3;
    st.param.b32 [status], 0;
    ret;
}
.visible .func (.param .b32 status) thrice(.param .b64 result, .param .b32 value)
{
    .reg .b64 %p; .reg .b32 %v<3>;
    ld.param.u64 %p, [result];
    ld.param.b32 %v1, [value];
    {
        .param .b64 first; .param .b32 second; .param .b32 back;
        st.param.b64 [first], %p;
        st.param.b32 [second], %v1;
        call.uni (back), twice, (first, second);
        ld.param.b32 %v2, [back];
    }
    st.param.b32 [status], %v2;
    ret;
}
"""


def transpose(a, b, factor):
    row, column = cuda.grid(2)
    if row < a.shape[0] and column < a.shape[1]:
        b[column, row] = factor * a[row, column]


@cuda.jit
def add_one(x):
    at = cuda.grid(1)
    if at < x.size:
        x[at] += 1


class Colour(enum.IntEnum):
    RED = 1
    GREEN = 2


@cuda.jit(device=True)
def square(value):
    return value * value


@cuda.jit
def twice(value):
    return value + value


@cuda.jit(device=True, fastmath=True)
def squashed(value):
    return math.tanh(value)


@cuda.jit
def of_functions(x, y):
    at = cuda.grid(1)
    if at < x.size:
        y[at] = square(x[at]) + twice(x[at])


@cuda.jit(fastmath=True)
def of_targets(x, y):
    at = cuda.grid(1)
    y[at] = squashed(x[at])


@cuda.jit
def turned(x, y):
    at = cuda.grid(1)
    x[at] *= 2
    cuda.cg.this_grid().sync()
    y[at] = x[x.size - 1 - at]


@cuda.jit
def of_halves(x, y, z):
    at = cuda.grid(1)
    if x[at] > np.float16(1):
        y[at] = x[at] * x[at] + x[at]
    else:
        y[at] = cuda.fp16.hfma(x[at], x[at], x[at])
    z[at] = cuda.fp16.hsin(square(x[at])) / np.float16(2)


@cuda.jit(debug=True, opt=False)
def of_halves_for_debuggers(x, y):
    at = cuda.grid(1)
    y[at] = square(x[at]) + twice(x[at])


@cuda.jit
def of_bfloats(x, y):
    at = cuda.grid(1)
    value = bf16.bfloat16(x[at])
    y[at] = np.float32(value * value)


@cuda.jit(fastmath=True, lineinfo=True, max_registers=24, launch_bounds=(64, 2))
def sines(x, y):
    at = cuda.grid(1)
    y[at] = math.sin(x[at])


@cuda.jit(debug=True, opt=False)
def checked(x):
    if x[cuda.grid(1)] < 0:
        raise ValueError("below zero")
    x[cuda.grid(1)] += 1


@cuda.jit
def numbers(y, a, b, c, pair):
    y[0], y[1], y[2], y[3] = a, b, c, pair[0] + pair[1]


@cuda.jit
def scaled(x, factor, colour):
    at = cuda.grid(1)
    x[at] = x[at] * factor
    if colour == Colour.GREEN:
        x[at] = -x[at]


@cuda.jit
def of_dates(days, between):
    between[0] = days[1] - days[0]


@cuda.jit
def of_sizes(x, y, sizes):
    sizes[0], sizes[1] = x.size, y.shape[1]


@cuda.jit
def of_record(record, y):
    y[0] = record.x
    record.n += 1


plus = cuda.declare_device("plus", "float32(float32, float32)", link=cuda.CUSource(PLUS))
thrice = cuda.declare_device("thrice", "float32(float32)")


@cuda.jit(link=[cuda.PTXSource(THRICE)])
def of_others(x):
    at = cuda.grid(1)
    x[at] = plus(thrice(x[at]), 1)


def namesake():
    @cuda.jit
    def plus(x):
        x[0] = of_plus(x[0], 1)

    of_plus = cuda.declare_device("plus", "float32(float32, float32)", link=cuda.CUSource(PLUS))
    return plus


@cuda.jit(link=[cuda.Cubin(b"")])
def of_machine_code(x):
    x[0] = thrice(x[0])


@cuda.jit(shared_memory_carveout="maxl1")
def carved(x):
    x[0] = 1

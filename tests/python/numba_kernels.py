"""Kernels of Numba."""

from numba import cuda


def transpose(a, b, factor):
    row, column = cuda.grid(2)
    if row < a.shape[0] and column < a.shape[1]:
        b[column, row] = factor * a[row, column]


@cuda.jit
def add_one(x):
    at = cuda.grid(1)
    if at < x.size:
        x[at] += 1

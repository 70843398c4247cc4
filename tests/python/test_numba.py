"""What Numba's kernels may be made of."""

import numpy as np
import pytest

import warpwatt as ww

pytest.importorskip("numba.cuda", reason="numba-cuda is not installed")
import numba_kernels as kernels  # noqa: E402
from numba import cuda  # noqa: E402

from warpwatt import _link, _numba_ptx  # noqa: E402


def made(kernel, *arguments, grid=1, block=32, **more):
    return ww.Kernel.numba(kernel, arguments, grid, block, **more)


def text(kernel):
    return kernel._program[1].decode()


HALVES = (np.arange(64, dtype=np.float16) - 20) / 16


def test_functions_of_a_device():
    x = np.arange(100.0)
    run = made(kernels.of_functions, x, np.zeros(100), grid=4).run(ww.Gpu("v100", node="12nm"))
    run.check(y=x * x + 2 * x)


def test_a_function_of_a_device_is_that_of_the_target():
    x = np.linspace(-1, 1, 32, dtype=np.float32)
    texts = [text(made(kernels.of_targets, x, np.zeros_like(x), target=target)) for target in ("sm_75", "sm_90a", "sm_75")]
    assert "tanh.approx" in texts[0] and ".target sm_90a" in texts[1] and texts[0] == texts[2]
    assert set(_numba_ptx._OVERLOADS[kernels.squashed]) == {(7, 5), (9, 0, "a")}
    assert not kernels.squashed.overloads, "what Numba has compiled itself stays its own"


def test_a_grid_waits_for_itself():
    x = np.arange(256.0)
    run = made(kernels.turned, x, np.zeros(256), grid=4, block=64).run(ww.Gpu("v100"))
    run.check(x=2 * x, y=2 * x[::-1])


def halves(x):
    wide = x.astype(np.float32)
    return wide * wide + wide, np.sin((wide * wide).astype(np.float16).astype(np.float32)) / 2


@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_half_precision(target):
    y, z = halves(HALVES)
    kernel = made(kernels.of_halves, HALVES, np.zeros_like(HALVES), np.zeros_like(HALVES), block=64, target=target)
    kernel.execute().check(y=y, z=z, rtol=2e-3, atol=2e-3)


def test_half_precision_is_inlined_where_numba_inlines_it():
    if _link._linker() is None:
        pytest.skip("nvJitLink is not installed")
    assert "call" not in text(made(kernels.of_halves, HALVES, HALVES.copy(), HALVES.copy(), target="sm_86"))


def test_half_precision_without_nvjitlink(monkeypatch):
    monkeypatch.setattr(_link, "_linker", lambda: None)
    y, z = halves(HALVES)
    kernel = made(kernels.of_halves, HALVES, np.zeros_like(HALVES), np.zeros_like(HALVES), block=64, target="sm_89")
    assert "call" in text(kernel)
    kernel.execute().check(y=y, z=z, rtol=2e-3, atol=2e-3)


def test_half_precision_for_debuggers():
    wide = HALVES.astype(np.float32)
    kernel = made(kernels.of_halves_for_debuggers, HALVES, np.zeros_like(HALVES), block=64)
    kernel.execute().check(y=wide * wide + 2 * wide, rtol=2e-3, atol=2e-3)


def test_bfloat16():
    x = np.linspace(0, 2, 32, dtype=np.float32)
    made(kernels.of_bfloats, x, np.zeros_like(x)).execute().check(y=x * x, rtol=2e-2)


def test_texts_are_the_same_every_time():
    kernel = made(kernels.of_halves, HALVES, HALVES.copy(), HALVES.copy())
    _numba_ptx.compiled.cache_clear()
    assert text(made(kernels.of_halves, HALVES, HALVES.copy(), HALVES.copy())) == text(kernel)


def test_options_of_the_decorator():
    x = np.linspace(0, 1, 32, dtype=np.float32)
    kernel = made(kernels.sines, x, np.zeros_like(x))
    for sign in ("sin.approx", ".loc", ".maxntid", ".minnctapersm"):
        assert sign in text(kernel)
    assert kernel._made[3] == 24 and made(kernels.sines, x, x.copy(), registers=40)._made[3] == 40
    kernel.execute().check(y=np.sin(x), atol=1e-5)


def test_exceptions_of_a_kernel_for_debuggers_stop_it():
    x = np.arange(32.0)
    made(kernels.checked, x).execute().check(x=x + 1)
    x[7] = -1
    with pytest.raises(ww.KernelFault, match=r"numba_kernels.py:\d+: checked: .*`ValueError: below zero`.*thread \(7, 0, 0\)"):
        made(kernels.checked, x).execute()


def test_numbers_and_tuples():
    run = made(kernels.numbers, np.zeros(4, np.complex128), 1 - 2j, np.complex64(3j), True, (2, 0.5), block=1).execute()
    run.check(y=np.array([1 - 2j, 3j, 1, 2.5]))


def test_half_precision_and_enumerations_by_value():
    made(kernels.scaled, HALVES, np.float16(2.5), kernels.Colour.GREEN, block=64).execute().check(x=(HALVES.astype(np.float32) * -2.5).astype(np.float16))


def test_an_array_of_nothing():
    x = np.zeros(0, np.int64)
    made(kernels.of_sizes, x, np.zeros((3, 0)), np.ones(2), block=1).execute().check(sizes=[0, 0])


def test_dates():
    days = np.array(["2026-01-01", "2026-03-01"], "datetime64[D]")
    made(kernels.of_dates, days, np.zeros(1, "timedelta64[D]"), block=1).execute().check(between=[59])


def test_records():
    records = np.array([(2.5, 3), (4.5, 5)], [("x", np.float32), ("n", np.int32)])
    run = made(kernels.of_record, records[1], np.zeros(1, np.float32), block=1).execute()
    assert run.outputs["record"]["n"] == [6] and run.outputs["y"] == [4.5] and records["n"][1] == 5
    with ww.capture(ww.Gpu("v100")):
        kernels.of_record[1, 1](records[1], np.zeros(1, np.float32))
    assert records["n"].tolist() == [3, 6]


def test_code_of_others_is_linked():
    x = np.arange(32, dtype=np.float32)
    made(kernels.of_others, x).execute().check(x=3 * x + 1)


def test_a_kernel_may_be_called_like_what_it_calls(monkeypatch):
    monkeypatch.setattr(_link, "_linker", lambda: None)
    made(kernels.namesake(), np.ones(1, np.float32), block=1).execute().check(x=[2])


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


@pytest.mark.parametrize(
    "kernel, arguments, message",
    [
        (kernels.of_machine_code, (zeros(1),), r"\(Cubin\) cannot be linked: link CUDA C\+\+"),
        (kernels.carved, (zeros(1),), "the option shared_memory_carveout"),
        (kernels.square, (1.0,), "is a function of a device"),
        (kernels.add_one, (zeros(1), 2), r"takes 1 arguments \(x\), and 2 are given"),
        (kernels.add_one, (np.array([None]),), "`x`: arrays of object have no type on a GPU"),
        (kernels.add_one, (np.array(["a"]),), "`x`: arrays of <U1 have no type on a GPU"),
        (kernels.add_one, (np.zeros(1, ">f4"),), r"`x`: a GPU reads little-endian numbers: x.astype\(float32\)"),
        (kernels.add_one, (np.ma.masked_array([1, 2]),), "masked array"),
        (kernels.add_one, ([1, 2],), "`x` is a list: pass an array or a tuple"),
        (kernels.add_one, ({},), "`x`: Numba's kernels take no dict"),
    ],
)
def test_what_cannot_be_is_said(kernel, arguments, message):
    with pytest.raises((ww.Error, TypeError), match=message):
        made(kernel, *arguments)


def test_blocks_are_no_larger_than_launch_bounds():
    with pytest.raises(ww.Error, match="`sines` is launched with 96 threads a block, and its launch_bounds allow 64"):
        made(kernels.sines, zeros(96), zeros(96), block=(48, 2))


@pytest.mark.parametrize("target, message", [("v100", "`v100` is no target of Numba"), ("sm_35", "cannot compile for sm_35: .*not supported")])
def test_targets_that_are_none(target, message):
    with pytest.raises(ww.Error, match=message):
        made(kernels.add_one, zeros(1), target=target)


def test_functions_that_are_linked_twice():
    x = zeros(32)
    twice = cuda.jit(link=[cuda.PTXSource(kernels.THRICE), cuda.PTXSource(kernels.THRICE)])(kernels.of_others.py_func)
    with pytest.raises(ww.Error, match="`thrice` has two bodies"):
        made(twice, x)

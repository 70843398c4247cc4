"""Launches as people write them: shapes, scalars, structures, names, options; and what is wrong with them."""

import copy
import pickle

import numpy as np
import pytest

import warpwatt as ww

#: y[i] = x for all threads, by a parameter of some type.
SET = """.version 7.0
.target sm_80
.address_size 64
.visible .entry set(.param .u64 y, .param {parameter})
{{
.reg .b64 %d<4>; .reg .b32 %r<4>; .reg .f64 %f<2>;
ld.param.u64 %d1, [y];
mov.u32 %r1, %tid.x;
mad.wide.u32 %d1, %r1, 8, %d1;
ld.param.b64 %d2, [x];
st.global.b64 [%d1], %d2;
ret;
}}
"""


def set_to(parameter, value, kind=np.float64):
    kernel = ww.Kernel.ptx(SET.format(parameter=parameter), args={"y": np.zeros(4, kind), "x": value}, block=4)
    return kernel.execute().outputs["y"]


@pytest.mark.parametrize("value", [7, 7.0, np.int32(7), np.int64(7), np.float32(7), np.float64(7), np.uint8(7)])
def test_a_number_is_the_parameter_s(value):
    assert (set_to(".f64 x", value) == 7).all()


@pytest.mark.parametrize("value", [7, np.int64(7), np.int16(7), True + 6])
def test_a_whole_number_is_the_parameter_s(value):
    assert (set_to(".u64 x", value, np.int64) == 7).all()


def test_a_structure_is_bytes():
    pair = np.array([(1.5, 7)], [("a", np.float32), ("b", np.int32)])
    for value in (pair[0], pair.tobytes(), np.complex64(1.5 + 1j)):
        found = set_to(".align 4 .b8 x[8]", value, np.uint64)
        assert found[0] & 0xFFFFFFFF == np.float32(1.5).view(np.uint32)
    with pytest.raises(TypeError, match="a structure of 8 bytes"):
        set_to(".align 4 .b8 x[8]", 2.0)
    with pytest.raises(TypeError, match="whole number"):
        set_to(".u64 x", 2.5)
    with pytest.raises(TypeError, match="whole number"):
        set_to(".u64 x", np.float64(2.5))


@pytest.mark.parametrize(
    "shape, words",
    [
        (dict(grid=1000 / 256), "grid is a whole number, not 3.9"),
        (dict(grid="4"), "grid is a whole number, not '4'"),
        (dict(block=True), "block is a whole number, not True"),
        (dict(block=None), "block is a whole number, not None"),
        (dict(shared=1.5), "shared is a whole number, not 1.5"),
        (dict(grid=-1), "grid is 0 to"),
        (dict(grid=(1, 2, 3, 4)), "one, two or three numbers"),
        (dict(registers=-1), "registers is 1 to 255"),
        (dict(args=1), "args is a list"),
        (dict(args={1: 0, 2: 0, 3: 0, 4: 0}), "the name of an argument is a text"),
        (dict(name=3), "the name of a kernel is a text"),
    ],
)
def test_a_shape_is_of_whole_numbers(add_ptx, vectors, shape, words):
    a, b, c = vectors
    with pytest.raises((TypeError, ValueError)) as told:
        ww.Kernel.ptx(add_ptx, **{"args": (a, b, c, 3000), "grid": 12, "block": 256, **shape})
    assert words in str(told.value)


@pytest.mark.parametrize("grid", [np.array([3, 4]), np.int64(12), [12], (3, 4)])
def test_a_grid_may_be_numpy_s(add_ptx, vectors, grid):
    a, b, c = vectors
    kernel = ww.Kernel.ptx(add_ptx, args=(a, b, c, 3000), grid=grid, block=256)
    assert np.prod(kernel.grid) == 12 and all(type(one) is int for one in kernel.grid)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda kernel: kernel.run("h100"), "runs on a Gpu, not on 'h100'"),
        (lambda kernel: kernel.execute("h100"), "runs on a Gpu"),
        (lambda kernel: ww.capture("h100"), "runs on a Gpu"),
        (lambda kernel: ww.what_if(kernel, "h100"), "runs on a Gpu"),
        (lambda kernel: ww.what_if(5, ww.Gpu()), "not 5"),
        (lambda kernel: ww.what_if(kernel, ww.Gpu(), volt=3), "no `volt`"),
        (lambda kernel: ww.what_if(kernel, ww.Gpu(), node=[]), "node is an empty list"),
        (lambda kernel: ww.what_if(kernel, ww.Gpu(), jobs=-1), "jobs is 1 to"),
        (lambda kernel: kernel.run(ww.Gpu(), limit=-1), "limit is 0 to"),
        (lambda kernel: kernel.execute(limit=10**30), "limit is 0 to"),
        (lambda kernel: kernel.execute().check(np.zeros(3000)), "check(a=expected)"),
        (lambda kernel: kernel.execute().check(), "name the buffers"),
        (lambda kernel: kernel.execute().check(c=0, rtol=-1), "zero or more"),
        (lambda kernel: ww.logic("--help"), "a block is named"),
        (lambda kernel: ww.array("4KiB", word=[1, 2], node="7nm"), "word is one value"),
        (lambda kernel: ww.arrays({"a": [1, 2], "b": [1]}), "a 2, b 1"),
    ],
)
def test_what_is_passed_wrongly_is_said(add, call, words):
    with pytest.raises((TypeError, ValueError)) as told:
        call(add)
    assert words in str(told.value)


def test_names_stay_in_their_folder(add_ptx, vectors, tmp_path):
    a, b, c = vectors
    args = {"../../a": a, "/tmp/b": b, "c d": c, "n": 3000}
    kernel = ww.Kernel.ptx(add_ptx, args=args, grid=12, block=256, name="sums/of two")
    kernel.save(tmp_path / "one/two")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one"]
    again = ww.Kernel.file(tmp_path / "one/two/launch.toml").execute()
    assert (again.outputs["c d"] == a + b).all()
    assert (pickle.loads(pickle.dumps(kernel)).execute().outputs["c d"] == a + b).all()
    assert len(ww.what_if(kernel, ww.Gpu("v100", node="12nm"), ["filter_cache"]).answer) == 1


def test_records_are_compared_as_they_are(add_ptx, vectors):
    a, b, c = (vector.view([("low", "<u2"), ("high", "<u2")]) for vector in vectors)
    run = ww.Kernel.ptx(add_ptx, args={"a": a, "b": b, "c": c, "n": 3000}, grid=12, block=256).execute()
    want = (vectors[0] + vectors[1]).view(c.dtype)
    run.check(c=want)
    want["low"][7] += 1
    with pytest.raises(AssertionError):
        run.check(c=want)


def test_gpus_and_runs_travel(add):
    gpu = ww.Gpu("v100", {"sm.count": 40}, node="12nm", vdd=0.9)
    run = add.run(gpu)
    for again in (pickle.loads(pickle.dumps(run)), copy.deepcopy(run)):
        assert again.document == run.document and str(again) == str(run)
        assert (again.outputs["c"] == run.outputs["c"]).all()
        assert again.kernel.run(again.gpu).document == run.document
    assert repr(pickle.loads(pickle.dumps(gpu))) == repr(gpu)


def test_columns_without_a_value_are_numbers():
    good = {"size_bytes": 4096, "block_bytes": 16, "node_um": 0.007}
    tables = [ww.arrays(rows).to_numpy() for rows in ([good], [{**good, "node_um": 50.0}])]
    assert all(table["access_ns"].dtype == table["search_nj"].dtype == float for table in tables)
    assert not np.isnan(tables[0]["access_ns"]).any() and np.isnan(tables[1]["access_ns"]).all()


def test_equal_arrays_are_priced_once():
    rows = [{"size_bytes": 4096 << number % 2, "block_bytes": 16, "node_um": 0.007, "mine": number} for number in range(20_000)]
    table = ww.arrays(rows).to_dict()
    assert table["mine"] == list(range(20_000))
    assert set(table["access_ns"][::2]) == {table["access_ns"][0]} and table["access_ns"][0] < table["access_ns"][1]


def needs_nvrtc():
    from warpwatt import _cuda

    if _cuda._nvrtc() is None:
        pytest.skip("there is no NVRTC")


def test_an_instance_of_a_template_is_named_as_in_the_source():
    needs_nvrtc()
    text = """template <class A, class B, int K> __global__ void scaled(const A* x, B* y) { *y = B(*x) * K; }
template __global__ void scaled<float, double, 3>(const float*, double*);
template __global__ void scaled<int, int, 3>(const int*, int*);"""
    for entry in ("scaled<float,double,3>", "scaled<float, double, 3>"):
        run = ww.Kernel.cuda_c(text, entry, args=(np.full(1, 2, np.float32), np.zeros(1))).execute()
        assert run.outputs["arg1"] == 6
    with pytest.raises(ww.Error, match="no architecture"):
        ww.Kernel.cuda_c(text, arch="volta")


@pytest.fixture
def kernels():
    pytest.importorskip("triton", reason="Triton is not installed")
    import triton_kernels

    return triton_kernels


def test_triton_s_defaults(kernels):
    x = np.arange(300, dtype=np.float32)
    y = np.zeros_like(x)
    ww.Kernel.triton(kernels.stepped, (y, x, 300), grid=2).execute().check(y=2 * x)
    ww.Kernel.triton(kernels.stepped, dict(y=y, x=x, n=300, step=3), dict(B=128), grid=3, name="mine").execute().check(y=3 * x)
    ww.Kernel.triton(kernels.whole, (y, x, 300)).execute().check(y=x)
    with ww.capture(ww.Gpu("v100")) as captured:
        kernels.stepped[(2,)](y, x, 300, step=5)
        kernels.stepped[(0,)](y, x[:0], 0)
    assert (y == 5 * x).all() and len(captured.launches) == 1


@pytest.mark.parametrize(
    "name, args, words",
    [
        ("halve", (0, 0, 3), "lacks its constant `B`: constexpr=dict(B=...)"),
        ("halve", (0, 0), "lacks its argument `n`"),
        ("halve", (0, 0, 3, 4, 5), "takes 4 arguments"),
        ("halve", dict(y=0, x=0, n=3, zz=1), "no parameter `zz`"),
        ("tuned", (0, 0, 3), "measures on a GPU"),
        ("stepped", ((1, 2), 0, 3), "pass an array, a number, or None"),
    ],
)
def test_triton_s_arguments_are_told(kernels, name, args, words):
    with pytest.raises((ww.Error, TypeError)) as told:
        ww.Kernel.triton(getattr(kernels, name), args)
    assert words in str(told.value)


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_100"])
def test_triton_s_descriptors(kernels, target):
    x = np.random.default_rng(1).random((64, 96), dtype=np.float32)
    args = (np.zeros_like(x), x, 64, 96)
    kernel = ww.Kernel.triton(kernels.tiles, args, dict(M=16, N=32), grid=(4, 3), target=target)
    kernel.execute().check(y=x + 1)


def test_triton_s_options(kernels):
    x = np.array([1, 9, 3], np.int32)
    ww.Kernel.triton(kernels.asserted, (x, 3), dict(B=32)).execute().check(x=x + 1)
    with pytest.raises(ww.KernelFault, match="too large"):
        ww.Kernel.triton(kernels.asserted, (x, 3), dict(B=32), debug=True).execute()
    with ww.capture(ww.Gpu("v100")), pytest.raises(ww.KernelFault, match="too large"):
        kernels.asserted[(1,)](x, 3, B=32, debug=True)
    y = np.zeros(300, np.float32)
    two = ww.Kernel.triton(kernels.stepped, (y, y + 1, 300), grid=2, target="sm_90", num_ctas=2, maxnreg=64)
    assert two.grid == (4, 1, 1)
    two.execute().check(y=np.full(300, 2))


def test_one_capture_is_open_once(kernels):
    from triton.runtime.jit import JITFunction

    before = JITFunction.run
    captured = ww.capture(ww.Gpu("v100"))
    with captured, pytest.raises(ww.Error, match="open already"):
        with captured:
            pass
    assert JITFunction.run is before


def test_threads_say_something_together_at_a_barrier():
    needs_nvrtc()
    x = np.arange(96, dtype=np.int32) % 5
    for word, said in (("count", (x > 0).sum()), ("and", 0), ("or", 1)):
        text = f'extern "C" __global__ void say(const int* x, int* y) {{ y[threadIdx.x] = __syncthreads_{word}(x[threadIdx.x]); }}'
        run = ww.Kernel.cuda_c(text, args=dict(x=x, y=np.zeros(96, np.int32)), block=96).run(ww.Gpu("v100"))
        assert run.check(y=np.full(96, said)).cycles > 100

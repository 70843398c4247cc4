"""Kernels from every road, and their figures against the command's."""

import ctypes
import os
import pickle
import signal
import struct
import threading
import time

import numpy as np
import pytest

import warpwatt as ww
from conftest import KERNELS


def test_a_run_computes_and_tells(add, vectors):
    a, b, c = vectors
    run = add.run(ww.Gpu("h100", node="5nm", vdd=0.7))
    run.check(c=a + b)
    assert run.cycles > 0 and run.time_s == pytest.approx(run.cycles / run.gpu.clock_hz)
    assert run.energy == pytest.approx(run.dynamic_energy + run.leakage_energy)
    assert run.power == pytest.approx(run.energy / run.time_s)
    assert sum(one["energy_j"] for one in run.structures) == pytest.approx(run.energy)
    assert run.counters["launches"] == 1 and sum(run.stalls.values()) > 0
    assert not c.any(), "what is passed stays as it is"
    assert "vector_add" in repr(run) and "<table>" in run._repr_html_() and "energy by structure" in str(run)


@pytest.mark.parametrize(
    "keys, options",
    [
        (dict(preset="v100", node="12nm"), ["--preset", "v100", "--node", "12nm"]),
        (
            dict(preset="h100", node="5nm", vdd=0.65, temperature=330, sm__count=40),
            ["--preset", "h100", "--node", "5nm", "--vdd", "0.65V", "--temperature", "330K", "--set", "sm.count=40"],
        ),
        (dict(preset="tesla-16sm", lower="sass-like"), ["--preset", "tesla-16sm", "--lower", "sass-like"]),
        (dict(board="titan-v", node="12nm"), ["--board", "titan-v", "--node", "12nm"]),
    ],
)
def test_the_document_is_the_command_s(add, command, tmp_path, keys, options):
    launch = add.save(tmp_path)
    told = command("kernel", launch.name, *options, "--json", "--no-cache")
    assert add.run(ww.Gpu(keys.pop("preset", None), **keys)).document == told


def test_a_kernel_of_the_suite_is_the_command_s(command):
    run = ww.Kernel.suite("scan").run(ww.Gpu("v100", node="7nm"))
    assert run.document == command("kernel", "scan", "--preset", "v100", "--node", "7nm", "--json", "--no-cache")
    assert run.passed and run.check() is run
    assert all(isinstance(array, np.ndarray) for array in run.outputs.values())


def test_it_is_executed_once_and_timed_often(add):
    first = add.run(ww.Gpu("v100"))
    again = add.run(ww.Gpu("v100", node="12nm"))
    assert again.cycles == first.cycles and first.energy is None and again.energy > 0
    assert add.execute().cycles is None


def test_what_differs_is_told(add, vectors):
    a, b, _ = vectors
    wrong = a + b
    wrong[7] += 1
    run = add.execute()
    with pytest.raises(AssertionError, match="`c` of vector_add"):
        run.check(c=wrong)
    with pytest.raises(AssertionError, match="no buffer `d`: a, b, c"):
        run.check(d=wrong)


def test_arrays_of_others_are_buffers(add_ptx, vectors):
    a, b, c = vectors

    class Interface:
        __array_interface__ = a.__array_interface__

    class Capsule:
        def __dlpack__(self, **keys):
            return b.__dlpack__()

        def __dlpack_device__(self):
            return b.__dlpack_device__()

    run = ww.Kernel.ptx(add_ptx, args=(Interface(), Capsule(), c, np.int32(3000)), grid=12, block=256).execute()
    run.check(arg2=a + b)


def test_one_array_twice_is_one_buffer(add_ptx, vectors):
    a, _, _ = vectors
    kernel = ww.Kernel.ptx(add_ptx, args=(a, a, a, 3000), grid=12, block=256)
    kernel.execute().check(arg0=a + a)


@pytest.mark.parametrize(
    "change, message",
    [
        (dict(args=(1, 2)), r"takes 4 arguments \(.u64 .*\), and 2 are given"),
        (dict(args=(np.zeros(0, np.float32),) * 3 + (1,)), "has no elements"),
        (dict(args=(np.zeros((4, 4), np.float32)[:, 1],) * 3 + (4,)), "has gaps between its elements"),
        (dict(args=(None, None, None, 1.5)), "takes a whole number"),
        (dict(args=(None, None, None, "n")), "is a str: pass an array"),
        (dict(entry="nothing"), "choose with `entry=`: vector_add"),
        (dict(text="no PTX"), "no PTX"),
    ],
)
def test_what_cannot_be_is_said(add_ptx, vectors, change, message):
    given = dict(text=add_ptx, args=(*vectors, 3000), grid=12, block=256)
    with pytest.raises((ww.Error, TypeError, ValueError), match=message):
        ww.Kernel.ptx(**{**given, **change})


def test_arrays_that_overlap_are_refused(add_ptx):
    a = np.zeros(100, np.float32)
    with pytest.raises(ValueError, match="share some of their memory"):
        ww.Kernel.ptx(add_ptx, args=(a[:60], a[40:], a[:60].copy(), 60), block=64)


def test_faults_have_the_command_s_words(add_ptx, vectors, command, tmp_path):
    a, b, c = vectors
    kernel = ww.Kernel.ptx(add_ptx, args=(a, b, c, 100_000), grid=400, block=256)
    with pytest.raises(ww.KernelFault) as raised:
        kernel.run(ww.Gpu("v100"))
    launch = kernel.save(tmp_path)
    assert str(raised.value) == command("kernel", launch.name, "--preset", "v100", "--no-cache", fails=True)
    assert raised.value.diagnostics[0]["code"] == "kernel::fault"
    assert isinstance(raised.value, ValueError)


def test_ptx_that_is_not_modelled_has_the_command_s_words(add_ptx, vectors, command, tmp_path):
    kernel = ww.Kernel.ptx(add_ptx.replace("ld.global.f32", "ld.global.v3.f32"), args=(*vectors, 4))
    launch = kernel.save(tmp_path)
    with pytest.raises(ww.PtxError) as raised:
        kernel.execute()
    assert str(raised.value) == command("kernel", launch.name, "--preset", "v100", "--no-cache", fails=True)


@pytest.mark.parametrize(
    "arguments, keys, message",
    [
        (("v1000",), {}, "did you mean `v100`"),
        (("v100",), dict(node="7nn"), "7nn"),
        (("v100",), dict(sm__threds=3), "sm.threds"),
        (("v100", {"sm.threads": "many"}), {}, "sm.threads"),
        ((), dict(board="titan"), "there is no board `titan`"),
        (("v100",), dict(lower="sas"), "called `sas`"),
        (("v100",), dict(vdd=0.7), "takes a node too"),
    ],
)
def test_gpus_that_cannot_be_are_refused(arguments, keys, message):
    with pytest.raises(ww.Error, match=message):
        ww.Gpu(*arguments, **keys)
    with pytest.raises(TypeError, match="is no key of a GPU"):
        ww.Gpu("v100", noed="7nm")


def test_a_clock_that_follows_is_no_run_s(add):
    with pytest.raises(ww.Error, match="is for what_if"):
        add.run(ww.Gpu("v100", node="7nm", clock="follows_vdd"))


def test_what_the_suite_has_not_is_said():
    with pytest.raises(ww.Error, match="did you mean `scan`"):
        ww.Kernel.suite("scann")
    with pytest.raises(ww.Error, match="no build of the suite is called `paper`"):
        ww.Kernel.suite("scan", build="paper")


LOOP = """
.version 7.0
.target sm_80
.address_size 64
.visible .entry loop(.param .u64 p, .param .u32 n)
{
    .reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %d<2>;
    ld.param.u64 %d1, [p];
    ld.param.u32 %r2, [n];
    mov.u32 %r1, 0;
L:  add.u32 %r1, %r1, 1;
    st.global.u32 [%d1], %r1;
    setp.ne.u32 %p1, %r1, %r2;
    @%p1 bra L;
    ret;
}
"""


def interrupted(work):
    """Seconds until Ctrl-C ends it."""
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        work()
    return time.monotonic() - started


def test_ctrl_c_ends_an_execution():
    kernel = ww.Kernel.ptx(LOOP, args=(np.zeros(1, np.uint32), 0))
    assert interrupted(lambda: kernel.execute(limit=10**12)) < 1.5


def test_ctrl_c_ends_timing():
    kernel = ww.Kernel.ptx(LOOP, args=(np.zeros(1, np.uint32), 5_000_000))
    gpu = ww.Gpu("v100")
    kernel.execute(gpu)
    assert interrupted(lambda: kernel.run(gpu)) < 1.5


SUMS = KERNELS / "reduction_tree/kernel.gfx600.o"


def test_machine_code(command, tmp_path):
    values = np.arange(1024, dtype=np.int32)
    kernel = ww.Kernel.gcn(SUMS, args={"in": values, "out": np.zeros(4, np.int32)}, grid=4, block=64)
    run = kernel.run(ww.Gpu("tahiti", node="32nm")).check(out=values.reshape(4, 256).sum(axis=1))
    launch = kernel.save(tmp_path)
    assert run.document == command("kernel", launch.name, "--preset", "tahiti", "--node", "32nm", "--json")
    again = pickle.loads(pickle.dumps(kernel))
    assert again.run(ww.Gpu("tahiti", node="32nm")).document == run.document


def test_other_objects_are_refused():
    with pytest.raises(ww.Error, match="gfx600"):
        ww.Kernel.gcn(b"\x7fELF")
    with pytest.raises(ww.Error, match="takes 2 arguments"):
        ww.Kernel.gcn(SUMS)


def test_ctrl_c_ends_machine_code():
    file = bytearray(SUMS.read_bytes())
    sections, size, count, names = struct.unpack_from("<Q", file, 40)[0], *struct.unpack_from("<HHH", file, 58)
    headers = [struct.unpack_from("<IIQQQQ", file, sections + size * at) for at in range(count)]
    code = next(one for one in headers if file[headers[names][4] + one[0] :].startswith(b".text\0"))
    struct.pack_into("<I", file, code[4], 0xBF82FFFF)  # s_branch to itself
    kernel = ww.Kernel.gcn(bytes(file), args={"in": np.zeros(4, np.int32), "out": np.zeros(1, np.int32)})
    assert interrupted(lambda: kernel.execute(ww.Gpu("tahiti"), limit=10**12)) < 1.5


def test_other_threads_go_on(add):
    ticks, over = [], threading.Event()

    def tick():
        while not over.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    ww.Kernel.suite("hotspot").run(ww.Gpu("v100"))
    over.set()
    thread.join()
    assert len(ticks) > 5


CUDA = r"""
#include <cuda_fp16.h>
extern "C" __global__ void scale(float* y, const __half* x, float a, int n)
{
    extern __shared__ float tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? __half2float(x[i]) : 0.0f;
    __syncthreads();
    if (i < n) y[i] = a * tile[threadIdx.x];
}
"""


def cuda_c(text, *arguments, **keys):
    try:
        return ww.Kernel.cuda_c(text, *arguments, **keys)
    except ww.Error as error:
        if "needs a compiler" in str(error):
            pytest.skip(str(error))
        raise


def test_cuda_c(command):
    x, y = np.arange(500, dtype=np.float16), np.zeros(500, np.float32)
    text = CUDA.replace("#include <cuda_fp16.h>\n", "").replace("__half2float(x[i])", "x[i]").replace("__half", "float")
    x = x.astype(np.float32)
    kernel = cuda_c(text, "scale", args=dict(y=y, x=x, a=2.5, n=500), grid=2, block=256, shared=1024)
    kernel.execute().check(y=2.5 * x)


def test_cuda_c_that_does_not_compile():
    with pytest.raises(ww.Error, match="does not compile:\n.*identifier"):
        cuda_c('extern "C" __global__ void k() { nothing(); }')


def triton():
    return pytest.importorskip("triton", reason="Triton is not installed")


def test_triton():
    triton()
    from triton_kernels import softmax

    random = np.random.default_rng(2)
    x = random.standard_normal((16, 1000), dtype=np.float32)
    y = np.zeros_like(x)
    kernel = ww.Kernel.triton(softmax, args=(y, x, 1000, 1000), constexpr=dict(B=1024), grid=(16,), target="sm_80", num_warps=4)
    run = kernel.run(ww.Gpu("h100", node="5nm"))
    e = np.exp(x - x.max(axis=1, keepdims=True))
    run.check(y=e / e.sum(axis=1, keepdims=True), rtol=1e-5)
    assert run.energy > 0


def test_numba():
    pytest.importorskip("numba.cuda", reason="numba-cuda is not installed")
    from numba_kernels import transpose

    a = np.arange(24 * 40, dtype=np.float64).reshape(24, 40)
    b = np.zeros((40, 24))
    kernel = ww.Kernel.numba(transpose, args=(a, b, 3.0), grid=(2, 3), block=(16, 16))
    kernel.run(ww.Gpu("v100", node="12nm")).check(b=3 * a.T)

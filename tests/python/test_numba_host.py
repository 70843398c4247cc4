"""Host code of Numba that runs here: arrays, streams, events, devices, and ways to launch."""

import numpy as np
import pytest

import warpwatt as ww

pytest.importorskip("numba.cuda", reason="numba-cuda is not installed")
import numba_kernels as kernels  # noqa: E402
from numba import cuda, guvectorize, vectorize  # noqa: E402
from numba.cuda.core.errors import TypingError  # noqa: E402

GPU = ww.Gpu("v100")


@pytest.fixture
def run():
    with ww.capture(GPU) as opened:
        yield opened


def test_arrays_go_to_a_device_and_back(run):
    host = np.arange(300)
    device = cuda.to_device(host)
    kernels.add_one[3, 128](device)
    assert (host == np.arange(300)).all(), "a device has a copy"
    assert (device.copy_to_host() == host + 1).all() and type(device.copy_to_host()) is np.ndarray
    assert device.copy_to_host(host) is host and host[0] == 1
    kernels.add_one[1, 128](device[:100])
    assert (device.copy_to_host() == np.where(np.arange(300) < 100, host + 1, host)).all()
    device.copy_to_device(np.zeros(300, np.int64))
    assert device.nbytes == 2400 and device.is_c_contiguous() and device.reshape(3, 100).shape == (3, 100) and not device.any()
    with pytest.raises(ValueError, match="incompatible shape"):
        device.copy_to_host(np.zeros(3, np.int64))
    with pytest.raises(TypeError, match="incompatible dtype"):
        device.copy_to_device(np.zeros(300))


def test_arrays_are_made(run):
    matrix = np.asfortranarray(np.ones((2, 3), np.float32))
    for made in (cuda.device_array_like(matrix), cuda.mapped_array_like(matrix), cuda.pinned_array_like(matrix), cuda.to_device(matrix)):
        assert made.shape == (2, 3) and made.dtype == np.float32 and made.flags.f_contiguous
    for make in (cuda.device_array, cuda.mapped_array, cuda.managed_array, cuda.pinned_array):
        assert make(5, np.int32).shape == (5,) and make((2, 3), order="F").flags.f_contiguous
        assert make((2, 2), np.int32, (16, 4)).strides == (16, 4)
    with cuda.pinned(matrix), cuda.mapped(matrix) as mapped:
        mapped[0, 0] = 7
    assert matrix[0, 0] == 7 and cuda.is_cuda_array(mapped) and cuda.as_cuda_array(mapped) is mapped
    assert cuda.to_device(mapped) is mapped


def test_what_was_imported_by_name_before(run):
    from numba.cuda.api import to_device

    assert (to_device(np.arange(3)).copy_to_host() == np.arange(3)).all()


def test_events_tell_the_time_of_what_is_between_them(run):
    x = cuda.to_device(np.zeros(128))
    stream = cuda.stream()
    with stream.auto_synchronize():
        first, last = cuda.event(), cuda.event()
        kernels.add_one[1, 128, stream](x)
        first.record(stream)
        kernels.add_one[1, 128, stream, 1024](x)
        kernels.add_one[1, 128](x)
        last.record(stream)
        last.synchronize()
        kernels.add_one[1, 128](x)
    cuda.synchronize()
    times = [one["time_s"] for one in run.launches]
    assert len(times) == 4 and last.query()
    assert first.elapsed_time(last) == pytest.approx(1e3 * sum(times[1:3])) == cuda.event_elapsed_time(first, last)
    with pytest.raises(ww.Error, match="before it is recorded"):
        first.elapsed_time(cuda.event())
    with pytest.raises(ww.Error, match="timing=False"):
        cuda.event(timing=False).elapsed_time(first)


def test_the_device_is_the_gpu():
    with ww.capture(ww.Gpu("v100", sm__count=12), target="sm_90"):
        device = cuda.get_current_device()
        assert cuda.is_available() and (device.name, device.compute_capability) == ("v100", (9, 0))
        assert (device.MULTIPROCESSOR_COUNT, device.WARP_SIZE, device.MAX_THREADS_PER_BLOCK) == (12, 32, 1024)
        assert list(cuda.gpus) == [cuda.select_device(0)] == list(cuda.list_devices()) and cuda.current_context().device is device
        memory = cuda.current_context().get_memory_info()
        assert 0 < memory.free <= memory.total
        with cuda.gpus[0], cuda.defer_cleanup():
            cuda.profile_start()
            cuda.profile_stop()
        cuda.close()
        with pytest.raises(ww.Error, match="there is no device 1"):
            cuda.select_device(1)
        with pytest.raises(AttributeError, match="does not tell `SOMETHING`"):
            device.SOMETHING


@pytest.mark.parametrize("tasks, words, threads", [(1000, {}, 128), (1000, dict(tpb=64), 64), (80 * 256, {}, 256)])
def test_as_many_threads_as_tasks(run, tasks, words, threads):
    x = np.zeros(tasks, np.int32)
    kernels.add_one.forall(tasks, **words)(x)
    assert x.all() and run.launches[0]["block"] == (threads, 1, 1)
    kernels.add_one.forall(0)(x)
    assert len(run.launches) == 1


def test_reductions(run):
    total = cuda.reduce(lambda a, b: a + b)
    values = np.arange(1000.0)
    result = cuda.device_array(1)
    total(cuda.to_device(values), res=result)
    assert total(values) == result[0] == values.sum() and total(values[:20], init=5.0) == 195


def test_functions_of_elements(run):
    @vectorize(["float32(float32, float32)"], target="cuda")
    def product(a, b):
        return a * b

    @guvectorize(["void(float32[:,:], float32[:,:], float32[:,:])"], "(m,n),(n,p)->(m,p)", target="cuda")
    def products(a, b, c):
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                c[i, j] = 0
                for k in range(a.shape[1]):
                    c[i, j] += a[i, k] * b[k, j]

    x = np.arange(24, dtype=np.float32)
    assert (product(x, np.float32(3)) == 3 * x).all()
    a, b = x.reshape(4, 2, 3), x.reshape(4, 3, 2)
    assert (products(a, b) == a @ b).all()


def test_signatures_of_the_decorator(run):
    @cuda.jit(["void(float32[:], int32)", "void(float64[:], int32)"])
    def fill(x, value):
        x[cuda.grid(1)] = value / 2

    x = np.zeros(32, np.float32)
    fill[1, 32](x, 5)
    assert (x == 2.5).all()
    made = ww.Kernel.numba(fill, (x, 5), 1, 32)
    assert ".param .u32" in made._program[1].decode(), "numbers are converted to what is declared"
    with pytest.raises(ww.Error, match="no signature of `fill` takes"):
        fill[1, 32](np.zeros(32, np.int8), 5)


def test_one_signature_takes_what_is_alike(run):
    @cuda.jit("void(int32[:], int32)")
    def fill(x, value):
        x[cuda.grid(1)] = value

    x = np.zeros(32, np.uint32)
    fill[1, 32](x, 5)
    assert (x == 5).all()
    with pytest.raises(ww.Error, match="no signature of `fill` takes"):
        fill[1, 32](x, x)


def test_arrays_of_a_device_are_arguments(run):
    around = cuda.to_device(np.ones(32))

    @cuda.jit
    def add(x):
        x[cuda.grid(1)] += around[cuda.grid(1)]

    with pytest.raises(TypingError, match="no argument of it: pass it as one"):
        add[1, 32](np.zeros(32))


def test_what_a_kernel_may_write(run):
    x = np.zeros(32)
    kernels.add_one[1, 32](cuda.In(x))
    assert not x.any()
    kernels.add_one[1, 32](cuda.InOut(x))
    kernels.add_one[1, 32](cuda.Out(x))
    assert (x == 2).all()


def launches(x):
    return {
        "griddim must be a sequence of integers": lambda: kernels.add_one[1.5, 32](x),
        "extents are at least 1": lambda: kernels.add_one[0, 32](x),
        r"is launched as add_one\[grid, block\]": lambda: kernels.add_one[32](x),
        "bytes of shared memory are a whole number": lambda: kernels.add_one[1, 32, 0, 0.5](x),
        "no negative number of tasks": lambda: kernels.add_one.forall(-1)(x),
        "kernel.get_regs_per_thread` is not for a capture": lambda: kernels.add_one.get_regs_per_thread(),
        "kernel.inspect_sass` is not for a capture": lambda: kernels.add_one.inspect_sass(),
        r"current_context\(\).memalloc` is not for a capture": lambda: cuda.current_context().memalloc(4),
        "cuda.open_ipc_array` is not for a capture": lambda: cuda.open_ipc_array(b"", 3, np.int8),
        "the driver's cuCtxSynchronize` is not for a capture": lambda: cuda.cudadrv.driver.driver.cuCtxSynchronize(),
    }


@pytest.mark.parametrize("message", launches(None))
def test_what_cannot_be_is_said(run, message):
    with pytest.raises(ww.Error, match=message):
        launches(np.zeros(32))[message]()


def test_numba_is_as_before():
    from numba.cuda import api, dispatcher
    from numba.cuda.cudadrv import devicearray, devices, driver

    owners = (cuda, api, dispatcher, dispatcher.CUDADispatcher, devicearray, devices._Runtime, driver.Driver)
    before = [dict(vars(owner)) for owner in owners]
    with pytest.raises(ZeroDivisionError), ww.capture(GPU):
        assert vars(cuda)["to_device"] is not before[0]["to_device"]
        1 / 0
    assert [dict(vars(owner)) for owner in owners] == before

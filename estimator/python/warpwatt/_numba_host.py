"""What host code of Numba calls while a capture is open: streams, events, devices, launches."""

import os
from contextlib import ExitStack, contextmanager, nullcontext
from numbers import Integral
from types import SimpleNamespace

import numpy as np

from ._native import Error
from ._numba_arrays import CALLS, DeviceArray, refused
from ._patches import patched

#: What every device of Numba tells, as NVIDIA's of this century have it.
_LIMITS = {
    "WARP_SIZE": 32,
    "MAX_THREADS_PER_BLOCK": 1024,
    "MAX_BLOCK_DIM_X": 1024,
    "MAX_BLOCK_DIM_Y": 1024,
    "MAX_BLOCK_DIM_Z": 64,
    "MAX_GRID_DIM_X": 2**31 - 1,
    "MAX_GRID_DIM_Y": 65535,
    "MAX_GRID_DIM_Z": 65535,
    "MAX_SHARED_MEMORY_PER_BLOCK": 48 << 10,
    "MAX_REGISTERS_PER_BLOCK": 65536,
    "TOTAL_CONSTANT_MEMORY": 64 << 10,
    "CAN_MAP_HOST_MEMORY": 1,
    "UNIFIED_ADDRESSING": 1,
    "MANAGED_MEMORY": 1,
    "COOPERATIVE_LAUNCH": 1,
    "KERNEL_EXEC_TIMEOUT": 0,
    "TCC_DRIVER": 0,
    "PCI_DEVICE_ID": 0,
    "PCI_BUS_ID": 0,
}


class Stream:
    """A stream: what is launched on any has run when the launch returns."""

    def __init__(self, handle=0):
        self.handle = handle

    def __int__(self):
        return int(self.handle)

    def __cuda_stream__(self):
        return 0, int(self)

    def synchronize(self):
        pass

    @contextmanager
    def auto_synchronize(self):
        yield self

    def add_callback(self, callback, arg=None):
        callback(self, 0, arg)

    def async_done(self):
        import asyncio

        done = asyncio.get_running_loop().create_future()
        done.set_result(self)
        return done

    def __repr__(self):
        return f"<warpwatt stream {int(self)}>"


class Event:
    """An event: how many launches there were when it was recorded."""

    def __init__(self, captured, timing):
        self._captured = captured
        self._timing = timing
        self._at = None

    def record(self, stream=0):
        self._at = len(self._captured.launches)

    def query(self):
        return True

    def synchronize(self):
        pass

    def wait(self, stream=0):
        pass

    def elapsed_time(self, evtend):
        """Milliseconds of the launches between the two, one after the other."""
        for event in (self, evtend):
            if not event._timing:
                raise Error("an event under timing=False has no time: cuda.event()")
            if event._at is None:
                raise Error("an event has no time before it is recorded: event.record()")
        first, last = sorted((self._at, evtend._at))
        time = sum(one["time_s"] for one in self._captured.launches[first:last])
        return 1e3 * (time if first == self._at else -time)


class Device:
    """The GPU of a capture, as Numba's device, and the only one in its list."""

    id = 0
    uuid = "GPU-00000000-0000-0000-0000-000000000000"
    supports_float16 = True

    def __init__(self, gpu, capability):
        self.name = gpu.preset
        self.compute_capability = capability[:2]
        self._told = {
            **_LIMITS,
            "MULTIPROCESSOR_COUNT": gpu.sms,
            "CLOCK_RATE": round(gpu.clock_hz / 1e3),
            "COMPUTE_CAPABILITY_MAJOR": capability[0],
            "COMPUTE_CAPABILITY_MINOR": capability[1],
        }

    def __getattr__(self, name):
        if name in self.__dict__.get("_told", ()):
            return self._told[name]
        raise AttributeError(f"a device of a capture does not tell `{name}`: {', '.join(_LIMITS)}, MULTIPROCESSOR_COUNT and CLOCK_RATE are known")

    @property
    def supports_bfloat16(self):
        return self.compute_capability >= (8, 0)

    @property
    def supports_fp8(self):
        return self.compute_capability >= (8, 9)

    def get_device_identity(self):
        return {"pci_domain_id": 0, "pci_bus_id": 0, "pci_device_id": 0}

    def reset(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass

    def __repr__(self):
        return f"<warpwatt device {self.name!r}>"


class Devices:
    """A list of one device."""

    def __init__(self, device):
        self.lst = [device]
        self.current = device

    def __getitem__(self, number):
        return self.lst[number]

    def __len__(self):
        return 1

    def __iter__(self):
        return iter(self.lst)

    def __str__(self):
        return str(self.current)


class Context:
    """The context of a device."""

    def __init__(self, device, captured):
        self.device = device
        self.deallocations = []
        self._captured = captured

    def create_event(self, timing=True):
        return Event(self._captured, timing)

    def get_memory_info(self):
        """Free bytes and bytes of the host's memory, where arrays are."""
        try:
            free, total = (os.sysconf("SC_PAGE_SIZE") * os.sysconf(name) for name in ("SC_AVPHYS_PAGES", "SC_PHYS_PAGES"))
        except (AttributeError, OSError, ValueError):
            free = total = 16 << 30
        return SimpleNamespace(free=free, total=total)

    def synchronize(self):
        pass

    push = pop = reset = prepare_for_use = synchronize

    def get_default_stream(self):
        return Stream()

    create_stream = get_legacy_default_stream = get_per_thread_default_stream = get_default_stream

    def create_external_stream(self, ptr):
        return Stream(ptr)

    def defer_cleanup(self):
        return nullcontext()

    def memhostalloc(self, bytesize, mapped=False, portable=False, wc=False):
        return bytearray(bytesize)

    def __getattr__(self, name):
        raise refused(f"cuda.current_context().{name}", "there is no driver: use numpy's arrays, or what numba.cuda itself has")


def detect(device):
    print(f"Found 1 CUDA devices\nid {device.id}  {device.name!r}  [SIMULATED by warpwatt]\n  Compute Capability: {'.'.join(map(str, device.compute_capability))}")
    return True


def calls(captured, capability):
    """What numba.cuda has while `captured` is open, by name."""
    device = Device(captured.gpu, capability)
    devices, context = Devices(device), Context(device, captured)

    def context_of(number=None):
        return select(number or 0) and context

    def select(number):
        if number != 0:
            raise Error(f"there is no device {number}: a capture has one GPU, which is device 0")
        return device

    def nothing(*_):
        pass

    return {
        **{one.__name__: one for one in CALLS},
        **dict.fromkeys(("synchronize", "close", "profile_start", "profile_stop"), nothing),
        **dict.fromkeys(("profiling", "defer_cleanup"), nullcontext),
        **dict.fromkeys(("stream", "default_stream", "legacy_default_stream", "per_thread_default_stream"), Stream),
        **dict.fromkeys(("is_available", "is_supported_version"), lambda: True),
        "external_stream": Stream,
        "event": context.create_event,
        "event_elapsed_time": Event.elapsed_time,
        "cuda_error": nothing,
        "current_context": context_of,
        "detect": lambda: detect(device),
        "get_current_device": lambda: device,
        "gpus": devices,
        "is_bfloat16_supported": lambda: device.supports_bfloat16,
        "is_fp8_supported": lambda: device.supports_fp8,
        "list_devices": lambda: devices,
        "select_device": select,
    }


def extents(name, grid, block, shared):
    """The shape of a launch, as Numba has it."""
    from numba.cuda.errors import normalize_kernel_dimensions

    try:
        grid, block = normalize_kernel_dimensions(grid, block)
    except (TypeError, ValueError) as wrong:
        raise Error(f"`{name}`: {wrong}: {name}[grid, block], each a whole number or up to three") from wrong
    if min(*grid, *block) < 1:
        raise Error(f"`{name}`: a grid of {grid} blocks of {block} threads has nothing to launch: extents are at least 1")
    if not isinstance(shared, Integral):
        raise Error(f"`{name}`: bytes of shared memory are a whole number, not {shared!r}: {name}[grid, block, stream, bytes]")
    return grid, block, int(shared)


def passed(value):
    """What a kernel is given: an argument under cuda.In is a copy, what it writes stays there."""
    from numba.cuda.args import ArgHint, In

    if isinstance(value, In):
        return np.array(value.value)
    return value.value if isinstance(value, ArgHint) else value


def threads_of(tasks, sms, bounds):
    """Threads of a block where the host leaves them open."""
    usual = 256 if tasks >= 256 * sms else 128
    bound = bounds[0] if isinstance(bounds, (tuple, list)) else bounds
    return min(usual, bound or usual)


class Declared:
    """A signature that @cuda.jit is given while a capture is open: a launch compiles it."""

    objectmode = False
    entry_point = None

    def __init__(self, args, result):
        from numba.cuda.typing import signature

        self.signature = signature(result, *args)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise refused(f"kernel.overloads[...].{name}", "a kernel whose signature is declared within it is compiled when it is launched, and for captures alone")


def _typed(array, context):
    """An array of a device that a kernel takes from around it would be frozen as it is when the kernel is compiled."""
    from numba.cuda.typing.typeof import Purpose, typeof_impl

    if context.purpose == Purpose.constant:
        raise Error("a kernel uses an array of a device that is no argument of it: pass it as one")
    return typeof_impl.dispatch(np.ndarray)(array, context)


def of_dispatchers(captured):
    """Methods of Numba's kernels while `captured` is open, by name."""

    def configure(kernel, griddim, blockdim, stream=0, sharedmem=0):
        shape = extents(kernel.__name__, griddim, blockdim, sharedmem)

        def launch(*args):
            captured._launch_numba(kernel, [passed(one) for one in args], shape)

        return launch

    def chosen(kernel, shape):
        if not isinstance(shape, tuple) or not 2 <= len(shape) <= 4:
            raise Error(f"`{kernel.__name__}` is launched as {kernel.__name__}[grid, block], with a stream and bytes of shared memory behind them")
        return configure(kernel, *shape)

    def forall(kernel, ntasks, tpb=0, stream=0, sharedmem=0):
        if ntasks < 0:
            raise Error(f"`{kernel.__name__}.forall({ntasks})`: there is no negative number of tasks")

        def launch(*args):
            threads = tpb or threads_of(ntasks, captured.gpu.sms, kernel.targetoptions.get("launch_bounds"))
            if ntasks:
                configure(kernel, -(-ntasks // threads), threads, stream, sharedmem)(*args)

        return launch

    def compile(kernel, signature):
        from numba.cuda.core.sigutils import normalize_signature

        args, result = normalize_signature(signature)
        return kernel.overloads.setdefault(tuple(args), Declared(args, result))

    told = ("get_regs_per_thread", "get_const_mem_size", "get_shared_mem_per_block", "get_max_threads_per_block", "get_local_mem_per_thread")
    shown = ("inspect_asm", "inspect_llvm", "inspect_lto_ptx", "inspect_sass", "inspect_sass_cfg")
    refused = {name: _refuse(f"kernel.{name}", "print(run) and run.document of Kernel.numba(...).run(gpu) tell what a launch takes") for name in told}
    refused |= {name: _refuse(f"kernel.{name}", "Kernel.numba(...).save(directory) writes the PTX") for name in shown}
    return {"configure": configure, "__getitem__": chosen, "forall": forall, "compile": compile, "specialize": lambda kernel, *args: kernel, **refused}


def _refuse(call, remedy):
    def refuse(*args, **words):
        raise refused(call, remedy)

    return refuse


@contextmanager
def hooked(captured, capability):
    """Numba's host calls go to `captured` while it is open."""
    from numba import cuda
    from numba.cuda import api, dispatcher
    from numba.cuda.cudadrv import devicearray, devices, driver
    from numba.cuda.typing.typeof import typeof_impl

    from ._numba_ptx import LOCK, askers

    typeof_impl.register(DeviceArray, _typed)
    here = calls(captured, capability)
    changes = [(owner, name, call) for owner in (cuda, api) for name, call in here.items()]
    changes += [(dispatcher.CUDADispatcher, name, method) for name, method in of_dispatchers(captured).items()]
    changes += [(devicearray, "DeviceNDArray", DeviceArray), (driver.Driver, "__getattr__", _driver)]
    with ExitStack() as stack:
        with LOCK:
            asked = dispatcher.get_current_device
            for owner, name, value in changes:
                if name in vars(owner):
                    stack.enter_context(patched(owner, name, value))
            for module in askers(asked):
                stack.enter_context(patched(module, "get_current_device", here["get_current_device"]))
            stack.enter_context(patched(devices._Runtime, "ensure_context", lambda _: nullcontext()))
            stack.enter_context(patched(devices._Runtime, "get_or_create_context", lambda _, number=None: here["current_context"](number)))
        try:
            yield
        finally:
            with LOCK:
                stack.close()


def _driver(_, name):
    """A call of the driver that nothing of the above is in place of."""
    raise refused(f"the driver's {name}", "there is no driver: call what numba.cuda has as `cuda.name(...)` while the capture is open")

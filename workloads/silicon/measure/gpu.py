"""One GPU through the driver's own interface (libcuda). Nothing of the GPU is ever set."""

import ctypes
import os
import struct

import numpy as np

from launches import KERNELS, Array

PACK = {"f32": "<f", "f64": "<d", "u32": "<I", "i32": "<i", "u64": "<Q"}
SIZE = {"f16": 2, **{kind: struct.calcsize(form) for kind, form in PACK.items()}}
CHUNK = 1 << 22  # bytes of random numbers, again and again through an array
BINARY_OF_LAUNCH = {"static_shared_bytes": 1, "local_bytes": 3, "registers": 4}  # CU_FUNC_ATTRIBUTE_...
MOST_DYNAMIC_SHARED, SMS, ERROR_LOG, ERROR_LOG_BYTES = 8, 16, 5, 6


def random_bytes(kind, zeros):
    """Numbers between -1.9 and 1.9, or any bits of an integer."""
    random = np.random.default_rng(7)
    if zeros:
        return bytes(CHUNK)
    if kind == "f16":
        return np.clip(random.normal(0, 0.6, CHUNK // 2), -1.89, 1.89).astype("f2").tobytes()
    if kind in ("f32", "f64"):
        return random.uniform(-1.89, 1.89, CHUNK // SIZE[kind]).astype(kind.replace("f32", "f4").replace("f64", "f8")).tobytes()
    return random.integers(0, 1 << 32, CHUNK // 4, dtype="u4").tobytes()


class Gpu:
    def __init__(self, index=0, library="libcuda.so.1"):
        os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"  # as the sensors number GPUs
        self.cuda = ctypes.CDLL(library)
        self.modules, self.bytes = {}, {}
        self.call("cuInit", 0)
        self.device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(self.device), index)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self.device)
        self.call("cuCtxSetCurrent", context)
        self.begin, self.end = self.event(), self.event()

    def call(self, function, *arguments):
        status = getattr(self.cuda, function)(*arguments)
        if status != 0:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorString(status, ctypes.byref(text))
            raise RuntimeError(f"{function}: {(text.value or b'').decode()} ({status})")

    def sms(self):
        count = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(count), SMS, self.device)
        return count.value

    def event(self):
        event = ctypes.c_void_p()
        self.call("cuEventCreate", ctypes.byref(event), 0)
        return event

    def allocate(self, count):
        pointer = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(max(count, 256)))
        return pointer.value

    def free(self, pointer):
        self.call("cuMemFree_v2", ctypes.c_uint64(pointer))

    def fill(self, pointer, array):
        """The first part from here, the rest from the first."""
        key = (array.type, array.zeros)
        if key not in self.bytes:
            self.bytes[key] = random_bytes(*key)
        count = array.count * SIZE[array.type]
        first = self.bytes[key][:count]
        self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(pointer), first, ctypes.c_size_t(len(first)))
        for done in range(CHUNK, count, CHUNK):
            self.call("cuMemcpyDtoD_v2", ctypes.c_uint64(pointer + done), ctypes.c_uint64(pointer), ctypes.c_size_t(min(CHUNK, count - done)))
        self.wait()

    def module(self, program):
        if program not in self.modules:
            text = (KERNELS / f"{program}.ptx").read_bytes() + b"\0"
            log, module = ctypes.create_string_buffer(4096), ctypes.c_void_p()
            options = (ctypes.c_int * 2)(ERROR_LOG, ERROR_LOG_BYTES)
            values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), ctypes.c_void_p(len(log)))
            try:
                self.call("cuModuleLoadDataEx", ctypes.byref(module), text, 2, options, values)
            except RuntimeError as error:
                raise RuntimeError(f"{program}.ptx: {error} {log.value.decode()[:300]}") from error
            self.modules[program] = module
        return self.modules[program]

    def function(self, launch):
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), self.module(launch.program), launch.entry.encode())
        if launch.shared > 48 << 10:
            self.call("cuFuncSetAttribute", function, MOST_DYNAMIC_SHARED, launch.shared)
        return function

    def wait(self):
        self.call("cuCtxSynchronize")

    def profiled(self, go):
        self.call("cuProfilerStart")
        go()
        self.wait()
        self.call("cuProfilerStop")

    def microseconds(self, go, count):
        """Of one of `count` launches in a row, between two events."""
        self.call("cuEventRecord", self.begin, None)
        for _ in range(count):
            go()
        self.call("cuEventRecord", self.end, None)
        self.call("cuEventSynchronize", self.end)
        milliseconds = ctypes.c_float()
        self.call("cuEventElapsedTime", ctypes.byref(milliseconds), self.begin, self.end)
        return milliseconds.value * 1e3 / count


class Prepared:
    """A launch with its arrays on the GPU, while its block runs."""

    def __init__(self, gpu, launch):
        self.gpu, self.launch = gpu, launch
        self.pointers = {}

    def __enter__(self):
        try:
            self.function = self.gpu.function(self.launch)
            self.parameters, self.keep = self.packed(self.launch.args)
            if self.launch.before:
                parameters, _keep = self.packed(self.launch.before.args)
                self.send(self.gpu.function(self.launch.before), self.launch.before, parameters)
            self.gpu.wait()
        except RuntimeError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for pointer in self.pointers.values():
            self.gpu.free(pointer)
        self.pointers = {}

    def pointer(self, place, array):
        if place not in self.pointers:
            self.pointers[place] = self.gpu.allocate(array.count * SIZE[array.type])
            self.gpu.fill(self.pointers[place], array)
        return self.pointers[place]

    def packed(self, arguments):
        """Pointers to the parameters, as the driver takes them, and what they point to."""
        parameters = []
        for place, argument in enumerate(arguments):
            is_array = isinstance(argument, Array)
            form, value = ("<Q", self.pointer(place, argument)) if is_array else (PACK[argument.type], argument.value)
            parameters.append(ctypes.create_string_buffer(struct.pack(form, value), struct.calcsize(form)))
        return (ctypes.c_void_p * len(parameters))(*map(ctypes.addressof, parameters)), parameters

    def send(self, function, launch, parameters):
        sizes = [*launch.grid, *[1] * (3 - len(launch.grid)), *launch.block, *[1] * (3 - len(launch.block))]
        self.gpu.call("cuLaunchKernel", function, *sizes, launch.shared, None, parameters, None)

    def go(self):
        self.send(self.function, self.launch, self.parameters)

    def microseconds(self, count=1):
        return self.gpu.microseconds(self.go, count)

    def binary(self):
        """Registers and memory, as the driver's compiler gave them."""
        found, value = {}, ctypes.c_int()
        for name, attribute in BINARY_OF_LAUNCH.items():
            self.gpu.call("cuFuncGetAttribute", ctypes.byref(value), attribute, self.function)
            found[name] = value.value
        return found

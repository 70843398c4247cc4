"""Arrays of a device for host code of Numba: numpy's, with what Numba's have besides."""

import ctypes
from contextlib import contextmanager
from numbers import Integral

import numpy as np

from ._native import Error


def refused(call, remedy):
    return Error(f"`{call}` is not for a capture: {remedy}")


class DeviceArray(np.ndarray):
    """An array of a device: one of numpy that also has what Numba's has."""

    __cuda_ndarray__ = __cuda_memory__ = True

    def __new__(cls, shape, strides=None, dtype=np.float64, stream=0, gpu_data=None):
        if gpu_data is None:
            return device_array(shape, dtype, strides)
        return np.lib.stride_tricks.as_strided(gpu_data, *_tuples(shape, strides)).astype(dtype, order="C").view(cls)

    def copy_to_host(self, ary=None, stream=0):
        """Its elements, in `ary` or in an array of numpy of their own."""
        if ary is None:
            return np.array(self, order="K", subok=False)
        _alike(ary, self)
        ary[...] = self
        return ary

    def copy_to_device(self, ary, stream=0):
        """Takes the elements of another array."""
        ary = np.asarray(ary)
        _alike(self, ary)
        self[...] = ary

    def is_c_contiguous(self):
        return self.flags.c_contiguous

    def is_f_contiguous(self):
        return self.flags.f_contiguous

    def split(self, section, stream=0):
        """Views of `section` elements each."""
        if self.ndim != 1:
            raise ValueError("only support 1d array")
        return [self[at : at + section] for at in range(0, self.size, section)]

    def ravel(self, order="C", stream=0):
        return super().ravel(order)

    def squeeze(self, axis=None, stream=0):
        return super().squeeze(axis)

    def getitem(self, item, stream=0):
        return self[item]

    def setitem(self, key, value, stream=0):
        self[key] = value

    def bind(self, stream=0):
        return self

    as_cuda_arg = bind

    @property
    def gpu_data(self):
        return self

    @property
    def device_ctypes_pointer(self):
        return ctypes.c_void_p(self.ctypes.data)

    @property
    def alloc_size(self):
        return self.nbytes

    @property
    def stream(self):
        return 0

    def get_ipc_handle(self):
        raise refused("array.get_ipc_handle", "its memory is this process's")


def _alike(to, other):
    """Numba copies between arrays of one shape and type."""
    if to.shape != other.shape:
        raise ValueError(f"incompatible shape: {to.shape} vs. {other.shape}")
    if to.dtype != other.dtype:
        raise TypeError(f"incompatible dtype: {to.dtype} vs. {other.dtype}")


def _tuples(*extents):
    return [(one,) if isinstance(one, Integral) else one and tuple(one) for one in extents]


def device_array(shape, dtype=np.float64, strides=None, order="C", stream=0):
    """Zeros, where a device's memory holds anything."""
    if not strides:
        return np.zeros(shape, dtype, order).view(DeviceArray)
    shape, strides = _tuples(shape, strides)
    size = np.dtype(dtype).itemsize + sum(stride * (extent - 1) for stride, extent in zip(strides, shape))
    return np.ndarray(shape, dtype, bytearray(size), strides=strides).view(DeviceArray)


def managed_array(shape, dtype=np.float64, strides=None, order="C", stream=0, attach_global=True):
    return device_array(shape, dtype, strides, order)


def mapped_array(shape, dtype=np.float64, strides=None, order="C", stream=0, portable=False, wc=False):
    return device_array(shape, dtype, strides, order)


def pinned_array(shape, dtype=np.float64, strides=None, order="C"):
    return device_array(shape, dtype, strides, order).view(np.ndarray)


def device_array_like(ary, stream=0):
    return np.zeros_like(ary, order="K", subok=False).view(DeviceArray)


def mapped_array_like(ary, stream=0, portable=False, wc=False):
    return device_array_like(ary)


def pinned_array_like(ary):
    return device_array_like(ary).view(np.ndarray)


def to_device(obj, stream=0, copy=True, to=None):
    """A copy of what is on the host; what is on the device stays as it is."""
    if to is not None:
        if copy:
            to.copy_to_device(obj)
        return to
    if isinstance(obj, DeviceArray):
        return obj
    return np.array(obj, order="K", subok=False).view(DeviceArray) if copy else device_array_like(np.asarray(obj))


def is_cuda_array(obj):
    return isinstance(obj, DeviceArray) or hasattr(obj, "__cuda_array_interface__")


def as_cuda_array(obj, sync=True):
    if isinstance(obj, DeviceArray):
        return obj
    raise refused("cuda.as_cuda_array", f"a {type(obj).__name__} is in the memory of a GPU, if anywhere: copy it to the host and pass a numpy array")


def from_cuda_array_interface(desc, owner=None, sync=True):
    raise refused("cuda.from_cuda_array_interface", "it tells of memory of a GPU: copy it to the host and pass a numpy array")


def open_ipc_array(handle, shape, dtype, strides=None, offset=0):
    raise refused("cuda.open_ipc_array", "a handle is of a GPU's memory: pass a numpy array")


@contextmanager
def pinned(*arrays):
    yield


@contextmanager
def mapped(*arrays, stream=0):
    views = [one.view(DeviceArray) for one in arrays]
    yield views[0] if len(views) == 1 else views


#: What numba.cuda has of arrays.
CALLS = (
    device_array,
    device_array_like,
    managed_array,
    mapped_array,
    mapped_array_like,
    pinned_array,
    pinned_array_like,
    to_device,
    is_cuda_array,
    as_cuda_array,
    from_cuda_array_interface,
    open_ipc_array,
    pinned,
    mapped,
)

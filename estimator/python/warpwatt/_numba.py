"""Kernels of Numba, compiled to PTX without a GPU."""

import functools
import re

from ._arguments import as_array
from ._native import Error


def _package():
    try:
        from numba import cuda, types
        from numba.np.numpy_support import from_dtype
    except ImportError as missing:
        raise Error('kernels of Numba need it: pip install "numba-cuda[cu12]"') from missing
    return cuda, types, from_dtype


def compiled(f, args, target):
    """PTX, entry, and arguments in the order of its parameters."""
    cuda, types, from_dtype = _package()
    function = getattr(f, "py_func", f)
    signature = tuple(_type(types, from_dtype, value) for value in args)
    capability = re.sub(r"\D", "", str(target))
    capability = (int(capability[:-1]), int(capability[-1]))
    ptx, name = _ptx(cuda, function, types.void(*signature), capability)
    return ptx, name, _arguments(function, args)


@functools.lru_cache(maxsize=256)
def _ptx(cuda, function, signature, capability):
    """PTX and the name of its entry."""
    ptx, _ = cuda.compile(function, signature, cc=capability, device=False, abi="numba", output="ptx")
    ptx = ptx.decode() if isinstance(ptx, bytes) else ptx
    found = re.search(r"\.entry\s+([\w$]+)", ptx)
    if not found:
        raise Error(f"Numba made no kernel of `{function.__name__}`")
    # Numba's names count compilations of a process; ours are the same every time.
    name = re.sub(r"\W", "_", function.__name__)
    return ptx.replace(found[1], name), name


def _type(types, from_dtype, value):
    array = as_array(value)
    if array is not None:
        layout = "C" if array.flags.c_contiguous else "F" if array.flags.f_contiguous else "A"
        return types.Array(from_dtype(array.dtype), array.ndim, layout)
    if hasattr(value, "dtype"):
        return from_dtype(value.dtype)
    if isinstance(value, bool):
        return types.boolean
    if isinstance(value, int):
        return types.int64 if value < 1 << 63 else types.uint64
    if isinstance(value, float):
        return types.float64
    raise Error(f"Numba has no type for {value!r}: pass an array or a number")


def _arguments(function, args):
    """By name. An array is seven parts or more: two pointers that are null, elements, bytes of one, the data, extents, strides."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    arguments = {}
    for name, value in zip(names, args):
        array = as_array(value)
        if array is None:
            arguments[name] = value
            continue
        arguments[f"{name}.meminfo"] = None
        arguments[f"{name}.parent"] = None
        arguments[f"{name}.nitems"] = array.size
        arguments[f"{name}.itemsize"] = array.itemsize
        arguments[name] = array
        arguments.update({f"{name}.shape{axis}": extent for axis, extent in enumerate(array.shape)})
        arguments.update({f"{name}.stride{axis}": stride for axis, stride in enumerate(array.strides)})
    return arguments

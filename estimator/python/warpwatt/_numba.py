"""Kernels of Numba: types, options, and arguments in the order of their parameters."""

import enum
import inspect
import re

from ._arguments import ELEMENTS, as_array, numpy
from ._native import Error

#: Options of @cuda.jit that the compiled kernel shows.
_COMPILED = ("debug", "fastmath", "launch_bounds", "lineinfo", "link", "opt")
#: Options that change nothing that is executed or timed here.
_WITHOUT_EFFECT = ("boundscheck", "cache", "device", "forceinline", "inline", "lto", "max_registers", "nopython")


def _package():
    """Numba, its types, and its types of numpy's."""
    try:
        from numba import config, cuda, types
        from numba.np.numpy_support import from_dtype
    except ImportError as missing:
        raise Error('kernels of Numba need it: pip install "numba-cuda[cu12]"') from missing
    if not hasattr(cuda, "compile_all"):
        raise Error('kernels of Numba need a newer numba-cuda: pip install -U "numba-cuda[cu12]"')
    if config.ENABLE_CUDASIM:
        raise Error("NUMBA_ENABLE_CUDASIM is set, and Numba's simulator compiles no kernels: unset it")
    return cuda, types, from_dtype


def compiled(f, args, target):
    """PTX, entry, arguments in the order of its parameters, and the most registers that @cuda.jit lets a thread have."""
    cuda, types, from_dtype = _package()
    from . import _numba_ptx

    function = getattr(f, "py_func", f)
    options = _options(f, function.__name__)
    names = _names(function, args)
    kinds = [_type(types, from_dtype, name, value) for name, value in zip(names, args)]
    signature = types.void(*_declared(f, kinds))
    chosen = tuple((name, tuple(value) if isinstance(value, (list, set)) else value) for name, value in options.items() if name in _COMPILED)
    ptx, name = _numba_ptx.compiled(function, signature, _capability(target), chosen)
    arguments = {}
    for name_of, kind, value in zip(names, signature.args, args):
        _add(arguments, types, name_of, kind, value)
    return ptx, name, arguments, options.get("max_registers")


def _capability(target):
    """sm_90a as (9, 0, "a")."""
    found = re.fullmatch(r"(?:sm_|compute_)?(\d+)(\d)([af]?)", str(target))
    if not found:
        raise Error(f'`{target}` is no target of Numba: choose one like "sm_80"')
    return (int(found[1]), int(found[2]), *filter(None, [found[3]]))


def _options(f, name):
    """Options of @cuda.jit, without those that are not given."""
    if not hasattr(f, "compile_device"):
        return {}
    options = {option: value for option, value in f.targetoptions.items() if value not in (None, False, (), [], "never")}
    if options.get("device"):
        raise Error(f"`{name}` is a function of a device: launch a kernel that calls it")
    if str(options.get("shared_memory_carveout", "default")).lower() in ("default", "-1"):
        options.pop("shared_memory_carveout", None)
    for option in options:
        if option not in (*_COMPILED, *_WITHOUT_EFFECT):
            raise Error(f"`{name}` has the option {option} of @cuda.jit, which is not modelled: leave it out")
    return {"opt": False, **options}


def _names(function, args):
    """Names of the parameters, which are as many as the arguments."""
    parameters = inspect.signature(function).parameters.values()
    if any(one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD, one.KEYWORD_ONLY) for one in parameters):
        raise Error(f"`{function.__name__}` takes *args, **kwargs or arguments by keyword only: a kernel has parameters by position")
    names = [one.name for one in parameters]
    if len(names) != len(args):
        raise Error(f"`{function.__name__}` takes {len(names)} arguments ({', '.join(names)}), and {len(args)} are given")
    return names


def _declared(f, kinds):
    """The signature of @cuda.jit that takes these arguments with the fewest conversions, where it has any; else their own types."""
    if getattr(f, "_can_compile", True):
        return kinds
    if f.specialized and all(map(_alike, kinds, *f.overloads)):
        return next(iter(f.overloads))
    ranks = {}
    for declared in f.overloads:
        ranks[declared] = [f.typingctx.can_convert(*pair) for pair in zip(kinds, declared)]
    fitting = [declared for declared, rank in ranks.items() if None not in rank and len(declared) == len(kinds)]
    if not fitting:
        takes = "; ".join(", ".join(map(str, declared)) for declared in ranks)
        raise Error(f"no signature of `{f.__name__}` takes {', '.join(map(str, kinds))}: it has {takes}")
    return min(fitting, key=lambda declared: sum(ranks[declared]))


def _alike(kind, declared):
    """Numba asks no more of arguments where there is one signature: arrays for arrays, of as many dimensions."""
    return getattr(kind, "ndim", None) == getattr(declared, "ndim", None)


def bounded(f, block):
    """Refuses more threads than launch_bounds allow."""
    bounds = getattr(f, "targetoptions", {}).get("launch_bounds")
    most = bounds[0] if isinstance(bounds, (tuple, list)) else bounds
    threads = block[0] * block[1] * block[2]
    if most and threads > most:
        raise Error(f"`{f.__name__}` is launched with {threads} threads a block, and its launch_bounds allow {most}")


def _type(types, from_dtype, name, value):
    array = as_array(value)
    if array is not None:
        layout = "C" if array.flags.c_contiguous else "F" if array.flags.f_contiguous else "A"
        return types.Array(_element(from_dtype, name, array.dtype), array.ndim, layout)
    if isinstance(value, (tuple, list)):
        return _tuple(types, [_type(types, from_dtype, f"{name}[{at}]", one) for at, one in enumerate(value)], value, name)
    if isinstance(value, enum.Enum) or hasattr(value, "dtype"):
        return _own_type(name, value)
    if isinstance(value, bool):
        return types.boolean
    if isinstance(value, int):
        return types.int64 if value < 1 << 63 else types.uint64
    if isinstance(value, float):
        return types.float64
    if isinstance(value, complex):
        return types.complex128
    raise Error(f"`{name}`: Numba's kernels take no {type(value).__name__}: pass an array, a number or a tuple of them")


def _element(from_dtype, name, dtype):
    if not dtype.isnative:
        raise Error(f"`{name}`: a GPU reads little-endian numbers: {name}.astype({dtype.newbyteorder('=')!s})")
    if not dtype.names and dtype.kind not in "mM" and dtype.name not in ELEMENTS or dtype.hasobject:
        raise Error(f"`{name}`: arrays of {dtype} have no type on a GPU: pass numbers or records of them")
    try:
        return from_dtype(dtype)
    except Exception as unknown:
        raise Error(f"`{name}`: Numba has no type for arrays of {dtype}: pass another type") from unknown


def _tuple(types, kinds, value, name):
    if isinstance(value, list):
        raise Error(f"`{name}` is a list: pass an array or a tuple")
    if hasattr(value, "_fields"):
        return types.NamedUniTuple(kinds[0], len(kinds), type(value)) if len(set(kinds)) == 1 else types.NamedTuple(kinds, type(value))
    return types.Tuple(kinds)


def _own_type(name, value):
    from numba import typeof

    try:
        return typeof(value)
    except ValueError as unknown:
        raise Error(f"`{name}`: Numba has no type for {value!r}: pass an array or a number") from unknown


def _add(arguments, types, name, kind, value):
    """An argument as Numba passes it: tuples one after the other, complex numbers as two, records by their address."""
    array = as_array(value)
    if array is not None:
        _add_array(arguments, name, array)
    elif isinstance(kind, types.BaseTuple):
        for at, (of, one) in enumerate(zip(kind, value)):
            _add(arguments, types, f"{name}.{at}", of, one)
    elif isinstance(kind, types.EnumMember):
        _add(arguments, types, name, kind.dtype, value.value)
    elif isinstance(kind, types.Complex):
        arguments[f"{name}.real"], arguments[f"{name}.imag"] = value.real, value.imag
    elif kind == types.float16:
        arguments[name] = numpy().float16(value).view("uint16")
    elif isinstance(kind, types.Record):
        arguments[name] = _record(value)
    elif isinstance(kind, (types.NPDatetime, types.NPTimedelta)):
        arguments[name] = value.view("int64")
    else:
        arguments[name] = value


class _Record:
    """The memory of a record, and what keeps it."""


def _record(value):
    """A record of numpy as an array of one, which shares its memory."""
    held = _Record()
    held.record = value
    known = numpy().frombuffer(value.data, value.dtype).__array_interface__
    held.__array_interface__ = {**known, "data": (known["data"][0], False)}
    return numpy().asarray(held)


def _add_array(arguments, name, array):
    """An array is seven parameters or more: two pointers that are null, elements, bytes of one, the data, extents, strides."""
    arguments[f"{name}.meminfo"] = None
    arguments[f"{name}.parent"] = None
    arguments[f"{name}.nitems"] = array.size
    arguments[f"{name}.itemsize"] = array.itemsize
    arguments[name] = None if not array.size else array.view("int64") if array.dtype.kind in "mM" else array
    arguments.update({f"{name}.shape{axis}": extent for axis, extent in enumerate(array.shape)})
    arguments.update({f"{name}.stride{axis}": stride for axis, stride in enumerate(array.strides)})

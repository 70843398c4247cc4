"""Kernels of Triton, compiled to PTX without a GPU."""

import re
from dataclasses import dataclass
from math import prod

from ._arguments import as_array, numpy
from ._kernel import extents
from ._native import Error

#: Types of Triton by numpy's names.
_POINTED = {
    "bool": "i1", "int8": "i8", "uint8": "u8", "int16": "i16", "uint16": "u16", "int32": "i32", "uint32": "u32", "int64": "i64", "uint64": "u64",
    "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64", "float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5",
}


def _package():
    try:
        import triton
        from triton.backends.compiler import GPUTarget
        from triton.compiler import ASTSource
    except ImportError as missing:
        raise Error("kernels of Triton need it: pip install triton") from missing
    return triton, GPUTarget, ASTSource


@dataclass
class Compiled:
    """A kernel of Triton with its launch."""

    ptx: str
    entry: str
    #: By name, in the order of the parameters.
    arguments: dict
    #: Grid, block, dynamic shared memory.
    shape: tuple
    cluster: tuple | None
    #: The most registers of a thread, if it is said.
    registers: int | None


def compiled(fn, args, constexpr, grid, target, options):
    """A kernel with its launch. options: num_warps, num_stages, num_ctas, maxnreg, debug (None: as @triton.jit says)."""
    triton, GPUTarget, ASTSource = _package()
    fn, constexpr = _plain(triton, fn, args, constexpr)
    passed, constants = bound(fn, (), {**_named(fn, args, constexpr), **constexpr}, constexpr)
    # As Triton specialises launches: None and 1 are constants.
    given = {**passed, **constants}
    constants.update({one.name: passed[one.name] for one in fn.params if one.name in passed and _is_constant(one, passed[one.name])})
    passed = {name: value for name, value in passed.items() if name not in constants}
    source = ASTSource(fn, signature=_signature(fn, passed), constexprs=constants, attrs=_attributes(fn, passed))
    options = {**options, "debug": bool(fn.debug if options["debug"] is None else options["debug"])}
    made = triton.compile(source, target=GPUTarget("cuda", _capability(target), 32), options=options)
    return _launch(made, passed, extents(grid(given) if callable(grid) else grid, "grid"), options["maxnreg"])


def _launch(made, passed, grid, registers):
    """What was compiled, with its launch: a program of Triton is as many CTAs as a cluster has."""
    ptx, metadata = made.asm["ptx"], made.metadata
    shape = (grid[0] * metadata.num_ctas, *grid[1:]), 32 * metadata.num_warps, metadata.shared
    cluster = (metadata.num_ctas, 1, 1) if metadata.num_ctas > 1 else None
    arguments = {**passed, **_scratch(ptx, metadata, len(passed), prod(shape[0]))}
    return Compiled(ptx, metadata.name, arguments, shape, cluster, registers)


def _plain(triton, fn, args, constexpr):
    """A function under @triton.jit, and constants: those of @triton.heuristics too."""
    if isinstance(fn, triton.runtime.Heuristics):
        inner, constexpr = _plain(triton, fn.fn, args, constexpr)
        given = {**_named(inner, args, {*constexpr, *fn.values}), **constexpr}
        return inner, {**constexpr, **{name: rule(given) for name, rule in fn.values.items()}}
    if isinstance(fn, triton.runtime.Autotuner):
        raise Error("@triton.autotune measures on a GPU: pass the function under it (kernel.fn), and the configuration as constexpr, num_warps and num_stages")
    if not isinstance(fn, triton.runtime.JITFunction):
        raise TypeError(f"Kernel.triton takes a function under @triton.jit, not {fn!r}")
    return fn, constexpr


def _named(fn, args, constants):
    """Arguments by name; those in order are for what is no constant."""
    if isinstance(args, dict):
        return args
    names = [one.name for one in fn.params if one.name not in constants]
    if not hasattr(args, "__iter__") or isinstance(args, str):
        raise TypeError(f"args is a list, a tuple or a dict of arguments, not {args!r}: args=(x, y, 3)")
    args = list(args)
    if len(args) > len(names):
        raise Error(f"`{fn.__name__}` takes {len(names)} arguments ({', '.join(names)}) besides its constants, and {len(args)} are given")
    return dict(zip(names, args))


def bound(fn, args, words, constants=()):
    """Arguments of a launch and constants by name, defaults among them. constants: names that are constants, whatever their parameters say."""
    names = [one.name for one in fn.params]
    if len(args) > len(names):
        raise Error(f"`{fn.__name__}` takes {len(names)} arguments ({', '.join(names)}), and {len(args)} are given")
    unknown = sorted(set(words) - set(names))
    if unknown:
        raise Error(f"`{fn.__name__}` has no parameter `{unknown[0]}`: it has {', '.join(names)}")
    given = {**dict(zip(names, args)), **words}
    passed, fixed = {}, {}
    for one in fn.params:
        if one.name not in given and not one.has_default:
            raise Error(f"`{fn.__name__}` lacks its {'constant' if one.is_constexpr else 'argument'} `{one.name}`{': constexpr=' if one.is_constexpr else ''}{_like(one)}")
        value = given[one.name] if one.name in given else one.default
        (fixed if one.is_constexpr or one.name in constants else passed)[one.name] = value
    return passed, fixed


def _like(one):
    return f"dict({one.name}=...)" if one.is_constexpr else ""


def _signature(fn, passed):
    return {one.name: _type(one.name, passed[one.name]) if one.name in passed else "constexpr" for one in fn.params}


def _attributes(fn, passed):
    divisible = [at for at, one in enumerate(fn.params) if one.name in passed and _is_divisible(one, passed[one.name])]
    return {(at,): [["tt.divisibility", 16]] for at in divisible}


def _type(name, value):
    array = as_array(value)
    if array is not None:
        if array.dtype.name not in _POINTED:
            raise Error(f"`{name}`: Triton has no type for arrays of {array.dtype}")
        return "*" + _POINTED[array.dtype.name]
    if hasattr(value, "dtype") and value.dtype.name in _POINTED:
        return _POINTED[value.dtype.name]
    if isinstance(value, bool):
        return "i1"
    if isinstance(value, float):
        return "fp32"
    if not isinstance(value, int):
        raise Error(f"`{name}` is {value!r}: pass an array, a number, or None; constants go into constexpr, descriptors are made in the kernel (tl.make_tensor_descriptor)")
    if not -(1 << 63) <= value < 1 << 64:
        raise Error(f"`{name}` is {value}: Triton has whole numbers of 64 bits")
    return "i32" if -(1 << 31) <= value < 1 << 31 else "i64" if value < 1 << 63 else "u64"


def _is_whole(value):
    return isinstance(value, int) and not isinstance(value, bool)


def _is_constant(parameter, value):
    return value is None or _is_whole(value) and value == 1 and not parameter.do_not_specialize


def _is_divisible(parameter, value):
    """Whether Triton may count on a multiple of 16: pointers to what an allocator gives, and such numbers."""
    if parameter.do_not_specialize or parameter.do_not_specialize_on_alignment:
        return False
    return as_array(value) is not None or _is_whole(value) and value % 16 == 0


def _capability(target):
    """90 of "sm_90a"; a number stays."""
    found = re.fullmatch(r"(?:sm_|compute_)?(\d+)[a-z]?", str(target))
    if not found:
        raise Error(f"`{target}` is no target: write sm_80 or sm_90")
    return int(found[1])


def _scratch(ptx, metadata, passed, ctas):
    """Memory of the whole grid that Triton adds behind the arguments (descriptors that a kernel makes lie in it), null where a kernel needs none."""
    from . import _native

    parameters = _native.entry(ptx, metadata.name, "triton.ptx")[1]
    sizes = (metadata.global_scratch_size, metadata.profile_scratch_size)
    return {f"scratch{number}": numpy().zeros(size * ctas, "uint8") if size else None for number, size in zip(range(len(parameters) - passed), sizes)}

"""Kernels of Triton, compiled to PTX without a GPU."""

import re

from ._arguments import as_array
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


def compiled(fn, args, constexpr, grid, target, num_warps, num_stages):
    """PTX, entry, arguments in the order of its parameters, and the launch: grid, block, dynamic shared memory."""
    triton, GPUTarget, ASTSource = _package()
    parameters = [one.name for one in fn.params]
    constants = {name: value for name, value in constexpr.items() if name in parameters}
    unknown = sorted(set(constexpr) - set(parameters))
    if unknown:
        raise Error(f"`{fn.__name__}` has no parameter `{unknown[0]}`: it has {', '.join(parameters)}")
    free = [name for name in parameters if name not in constants]
    if isinstance(args, dict):
        args = [args[name] for name in free if name in args]
    if len(args) != len(free):
        raise Error(f"`{fn.__name__}` takes {', '.join(free)} besides its constants, and {len(args)} arguments are given")
    bound = dict(zip(free, args))
    # As Triton specialises launches: None and 1 are constants.
    constants.update({one.name: bound[one.name] for one in fn.params if one.name in bound and _is_constant(one, bound[one.name])})
    passed = {name: value for name, value in bound.items() if name not in constants}
    types = {name: _type(name, value) for name, value in passed.items()}
    signature = {name: types.get(name, "constexpr") for name in parameters}
    divisible = [at for at, one in enumerate(fn.params) if one.name in passed and _is_divisible(one, passed[one.name])]
    attributes = {(at,): [["tt.divisibility", 16]] for at in divisible}
    source = ASTSource(fn, signature=signature, constexprs=constants, attrs=attributes)
    options = {"num_warps": num_warps, "num_stages": num_stages}
    made = triton.compile(source, target=GPUTarget("cuda", _capability(target), 32), options=options)
    ptx, metadata = made.asm["ptx"], made.metadata
    launch = _grid(grid, {**constants, **passed}), 32 * metadata.num_warps, metadata.shared
    return ptx, metadata.name, _arguments(ptx, metadata.name, passed), launch


def bound(fn, args, words):
    """Arguments of a launch and constants by name, defaults among them."""
    given = dict(zip((one.name for one in fn.params), args))
    unknown = sorted(set(words) - {one.name for one in fn.params})
    if unknown:
        raise Error(f"`{fn.__name__}` has no parameter `{unknown[0]}`")
    given.update(words)
    passed, constants = {}, {}
    for one in fn.params:
        if one.name not in given:
            if not one.has_default:
                raise Error(f"`{fn.__name__}` lacks its argument `{one.name}`")
            given[one.name] = one.default
        (constants if one.is_constexpr else passed)[one.name] = given[one.name]
    return passed, constants


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
    if isinstance(target, int):
        return target
    found = re.fullmatch(r"(?:sm_|compute_)?(\d+)[a-z]?", target)
    if not found:
        raise Error(f"`{target}` is no target: write sm_80 or sm_90")
    return int(found[1])


def _grid(grid, known):
    return grid(known) if callable(grid) else grid


def _arguments(ptx, entry, passed):
    """By name; behind them null pointers for what Triton adds (scratch memory)."""
    from . import _native

    parameters = _native.entry(ptx, entry, "triton.ptx")[1]
    arguments = dict(passed)
    for number in range(len(parameters) - len(passed)):
        arguments[f"scratch{number}"] = None
    return arguments

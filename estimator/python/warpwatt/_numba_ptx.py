"""PTX of functions of Numba, compiled and linked without a driver."""

import functools
import os
import re
import sys
import threading
from collections import OrderedDict
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from weakref import WeakKeyDictionary

from . import _cuda, _link
from ._native import Error
from ._patches import patched

#: Who holds it may change what Numba's modules have.
LOCK = threading.RLock()
#: What device functions were compiled to, by function and target.
_OVERLOADS = WeakKeyDictionary()
#: What `cuda.cg.this_grid().sync()` calls: cooperative groups find what they wait at through %envreg1 and %envreg2.
_GRIDS = """
.version 7.0
.target sm_70
.address_size 64
.visible .func (.param .b64 func_retval0) cudaCGGetIntrinsicHandle(.param .b32 cudaCGGetIntrinsicHandle_param_0)
{
	.reg .b32 %r<3>; .reg .b64 %rd<4>;
	mov.u32 %r1, %envreg2;
	mov.u32 %r2, %envreg1;
	cvt.u64.u32 %rd1, %r1;
	cvt.u64.u32 %rd2, %r2;
	bfi.b64 %rd3, %rd2, %rd1, 32, 32;
	st.param.b64 [func_retval0+0], %rd3;
	ret;
}
.visible .func (.param .b32 func_retval0) cudaCGSynchronize(.param .b64 cudaCGSynchronize_param_0, .param .b32 cudaCGSynchronize_param_1)
{
	.reg .pred %p<4>; .reg .b32 %r<21>; .reg .b64 %rd<3>;
	ld.param.u64 %rd1, [cudaCGSynchronize_param_0];
	barrier.sync 0;
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %tid.y;
	mov.u32 %r3, %tid.z;
	or.b32 %r4, %r1, %r2;
	or.b32 %r5, %r4, %r3;
	setp.ne.u32 %p1, %r5, 0;
	@%p1 bra $L_together;
	add.s64 %rd2, %rd1, 4;
	mov.u32 %r6, %nctaid.x;
	mov.u32 %r7, %nctaid.y;
	mov.u32 %r8, %nctaid.z;
	mul.lo.s32 %r9, %r6, %r7;
	mul.lo.s32 %r10, %r9, %r8;
	mov.u32 %r11, %ctaid.x;
	mov.u32 %r12, %ctaid.y;
	mov.u32 %r13, %ctaid.z;
	or.b32 %r14, %r11, %r12;
	or.b32 %r15, %r14, %r13;
	setp.eq.u32 %p2, %r15, 0;
	mov.u32 %r16, -2147483647;
	sub.s32 %r17, %r16, %r10;
	selp.b32 %r18, %r17, 1, %p2;
	atom.add.release.gpu.u32 %r19, [%rd2], %r18;
$L_apart:
	ld.acquire.gpu.u32 %r20, [%rd2];
	xor.b32 %r20, %r20, %r19;
	setp.gt.s32 %p3, %r20, -1;
	@%p3 bra $L_apart;
$L_together:
	barrier.sync 0;
	mov.u32 %r20, 0;
	st.param.b32 [func_retval0+0], %r20;
	ret;
}
"""


def askers(asked):
    """Numba's modules that have `asked`, which tells the current device."""
    modules = [module for name, module in list(sys.modules.items()) if name.startswith("numba.")]
    return [module for module in modules if getattr(module, "__dict__", {}).get("get_current_device") is asked]


@contextmanager
def _target(capability):
    """While it is open, this thread compiles device functions for `capability`, whatever GPU is there."""
    from numba.cuda import dispatcher

    here = threading.get_ident()

    def device():
        return SimpleNamespace(compute_capability=capability) if threading.get_ident() == here else asked()

    with LOCK, ExitStack() as stack:
        asked = dispatcher.get_current_device
        for module in askers(asked):
            stack.enter_context(patched(module, "get_current_device", device))
        stack.enter_context(_overloads_of(dispatcher.CUDADispatcher, capability, here))
        yield


@contextmanager
def _overloads_of(kind, capability, here):
    """While it is open, device functions that this thread compiles are those of one target."""
    before, compile_device = {}, kind.compile_device

    def compiled(function, args, return_type=None):
        if threading.get_ident() == here and function not in before:
            before[function] = function.overloads
            function.overloads = _OVERLOADS.setdefault(function, {}).setdefault(capability, OrderedDict())
        return compile_device(function, args, return_type)

    with patched(kind, "compile_device", compiled):
        try:
            yield
        finally:
            for function, overloads in before.items():
                function.overloads = overloads


@functools.lru_cache(maxsize=256)
def compiled(function, signature, capability, options):
    """PTX and the name of its entry. `options` are those of @cuda.jit, as pairs."""
    options = dict(options)
    _known(capability)
    with _target(capability):
        ptx = _compiled(function, signature, capability, options)
    found = re.search(r"\.entry\s+([\w$]+)", ptx)
    if not found:
        raise Error(f"Numba made no kernel of `{function.__name__}`")
    # Numba's names count compilations of a process; ours are the same every time.
    name = re.sub(r"\W", "_", function.__name__)
    while name in re.findall(r"\.func\s*(?:\([^)]*\))?\s*([\w$]+)", ptx):
        name += "_"
    return _without_environments(ptx.replace(found[1], name)), name


def _known(capability):
    """Refuses what Numba's compiler does not know."""
    from numba.cuda.cudadrv import nvrtc
    from numba.cuda.cudadrv.error import CCSupportError

    try:
        nvrtc.get_arch_option(*capability)
    except (CCSupportError, ValueError) as unknown:
        raise Error(f"Numba cannot compile for sm_{''.join(map(str, capability))}: {unknown}") from unknown


def _without_environments(ptx):
    """Without variables that Numba makes for each function and kernels never use."""
    return re.sub(r"^\.common \.global \.align 8 \.u64 _ZN08NumbaEnv[\w$]+;\n", "", ptx, flags=re.M)


def _compiled(function, signature, capability, options):
    library = _library(function, signature, capability, options)
    texts = library.get_asm_strs(cc=capability)
    sources = _sources(library, texts, options.get("link") or ())
    cuda = [(text, _flags(folder, options)) for kind, text, folder in sources if kind == "cu"]
    architecture = "compute_" + "".join(map(str, capability))
    ptx = _inlined(library, capability, cuda, architecture) if cuda and not options.get("debug") else None
    texts = [ptx] if ptx else [*texts, *(_cuda.compiled(text, architecture, flags) for text, flags in cuda)]
    texts += [text for kind, text, _ in sources if kind == "ptx"]
    if any("cudaCGSynchronize" in text for text in texts):
        texts.append(_GRIDS)
    if found := re.search(r"\.extern\s+\.func[^;]*?\b(NRT_\w+)", texts[0]):
        raise Error(f"`{function.__name__}` makes arrays while it runs ({found[1]}), which Numba's runtime does on a GPU: use cuda.local.array, or arguments")
    return _link.linked(*texts)


def _inlined(library, capability, cuda, architecture):
    """PTX of a kernel with the functions of CUDA C++ that it calls, which are inlined as on a GPU; None without nvJitLink."""
    codes = [_link.lto_code(text, architecture, flags) for text, flags in cuda]
    return None if None in codes else _link.optimised([library.get_ltoir(cc=capability), *codes], architecture)


def _library(function, signature, capability, options):
    """What Numba makes of a kernel, as its own launches have it made."""
    from numba.cuda import compiler

    debug, fastmath = bool(options.get("debug")), options.get("fastmath", False)
    nvvm_options = {"fastmath": fastmath, "opt": 3 if options.get("opt", True) else 0, **({"g": None} if debug else {})}
    words = {"debug": debug, "lineinfo": bool(options.get("lineinfo")), "fastmath": fastmath, "nvvm_options": nvvm_options}
    made = compiler.compile_cuda(function, signature.return_type, signature.args, cc=capability, **words)
    library = made.library
    kernel = library.get_function(made.fndesc.llvm_func_name)
    library._entry_name = made.fndesc.llvm_func_name
    helper = functools.partial(_stopping, compiler.add_exception_store_helper, made)
    with patched(compiler, "add_exception_store_helper", helper):
        compiler.kernel_fixup(kernel, debug)
    compiler.nvvm.set_launch_bounds(kernel, options.get("launch_bounds"))
    return library


def _stopping(make_helper, made, kernel):
    """What a kernel under debug=True calls when it raises: as Numba has it, and it stops the kernel like a failed `assert`, with the exception."""
    from llvmlite import ir

    helper = make_helper(kernel)
    raised_by = made.call_helper.exceptions
    raised = next(one for block in helper.blocks for one in block.instructions if isinstance(one, ir.instructions.CmpXchg))
    builder = ir.IRBuilder(raised.parent)
    builder.position_before(raised)
    text, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    told = [("an exception in a function that it calls", "kernel", "", 0), *map(_told, raised_by.values())]
    what = [[made.target_context.insert_string_const_addrspace(builder, one) for one in column] for column in list(zip(*told))[:3]]
    what.append([number(line) for *_, line in told])
    code = helper.args[0]
    for at, known in enumerate(raised_by, 1):
        found = builder.icmp_signed("==", code, code.type(known))
        for column in what:
            column[0] = builder.select(found, column[at], column[0])
    (message, *_), (file, *_), (name, *_), (line, *_) = what
    fail = ir.Function(kernel.module, ir.FunctionType(ir.VoidType(), [text, text, number, text, ir.IntType(64)]), "__assertfail")
    builder.call(fail, [message, file, line, name, ir.IntType(64)(1)])
    return helper


def _told(exception):
    """An exception of a kernel as texts: what, file, function; and the line."""
    kind, values, place = exception
    name, file, line = place or ("kernel", "unknown", 0)
    return f"{kind.__name__}: {', '.join(map(str, values or ()))}".rstrip(": "), file, name, line


def _sources(library, texts, link):
    """What is linked to a kernel, as (kind, text, folder of its file)."""
    from numba.cuda import dispatcher

    found = {*library._linking_files, *link}
    if any(f"{name}(" in text or f"{name}\n" in text for text in texts for name in getattr(dispatcher, "reshape_funcs", ())):
        found.add(os.path.join(os.path.dirname(dispatcher.__file__), "reshape_funcs.cu"))
    return sorted(map(_source, found))


def _source(one):
    from numba.cuda.cudadrv.linkable_code import LinkableCode

    folder = ""
    if isinstance(one, (str, os.PathLike)):
        one = os.fspath(one)
        folder = os.path.dirname(os.path.abspath(one))
        if not one.endswith((".cu", ".ptx")):
            raise Error(f"`{one}` cannot be linked: link CUDA C++ (.cu) or PTX (.ptx), which are texts")
        one = LinkableCode.from_path(one)
    kind = {"CUSource": "cu", "PTXSource": "ptx"}.get(type(one).__name__)
    if kind is None:
        raise Error(f"`{one.name}` ({type(one).__name__}) cannot be linked: link CUDA C++ (cuda.CUSource) or PTX (cuda.PTXSource), which are texts")
    if any(call and not call.__module__.startswith("numba.") for call in (one.setup_callback, one.teardown_callback)):
        raise Error(f"`{one.name}` has callbacks that set its module up, and there is no module of a driver here: link it without them")
    return kind, one.data.decode() if isinstance(one.data, bytes) else one.data, folder


@functools.lru_cache(maxsize=1)
def _includes():
    """Folders of Numba's own headers, for the version of NVRTC."""
    from numba.cuda import compiler

    place = os.path.dirname(compiler.__file__)
    return tuple(f"-I{os.path.join(place, *one)}" for one in (("include", str(_link.nvrtc_version() or 12)), ("memory_management",)))


def _flags(folder, options):
    own = [f"-I{folder}"] if folder else []
    return (*own, *_includes(), "--relocatable-device-code=true", *(["-lineinfo"] if options.get("lineinfo") else []))

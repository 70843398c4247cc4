"""Linking of code for GPUs without a driver: CUDA C++ into what a compiler made, and texts of PTX into one."""

import ctypes
import functools
import re
import sys
from glob import glob
from os import path

from . import _cuda
from ._native import Error

#: nvJitLink's number for LTO-IR.
_LTO_IR = 3
#: What stands at the head of a module and ends with its line.
_HEAD = re.compile(r"\.(version|target|address_size)\b[^\n]*")
_LINE = re.compile(r"(\.file\b|@@)[^\n]*")
_SPACE = re.compile(r"(\s+|//[^\n]*|/\*.*?\*/)+", re.S)
_NAME = r"[A-Za-z_$%][\w$]*"
_FUNCTION = re.compile(rf"\.(?:func|entry)\b\s*(?:\.noreturn\s*)?(?:\([^)]*\)\s*)?({_NAME})")
_VARIABLE = re.compile(rf"({_NAME})\s*(?:\[[^\]]*\]\s*)*(?:=|;)")
_LINKAGE = re.compile(r"\.(extern|visible|weak|common)\b")
_BOUNDS = re.compile(r"\.(maxntid|reqntid|minnctapersm|maxnreg|maxclusterrank|reqnctapercluster)\b[^.{;]*")
_BODY = re.compile(r"(\.\w+\s+)*\.(func|entry|section)\b")
_ENTRY = re.compile(r"(\.\w+\s+)*\.entry\b")
_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"[^"\n]*"|[{}();]', re.S)


class _Part:
    """A function or a variable of a module: its name, how it is linked, and whether it is only declared."""

    def __init__(self, text):
        self.text = text
        head = text.partition("{")[0]
        found = _FUNCTION.search(head)
        self.is_function = found is not None
        if not found and not text.startswith((".alias", ".pragma")):
            found = _VARIABLE.search(re.sub(r"(?<![\w$%])(\.[\w:]+|\d+)", " ", text))
        self.name = found[1] if found else None
        linkage = _LINKAGE.search(head)
        self.linkage = linkage[1] if linkage else None

    @property
    def is_declaration(self):
        """Whether what it names stands elsewhere. Dynamic shared memory is declared and nothing more."""
        return "{" not in self.text if self.is_function else self.linkage == "extern"

    @property
    def may_repeat(self):
        return self.linkage in ("weak", "common")

    def declared(self):
        """The declaration that belongs to the body."""
        return _BOUNDS.sub("", self.text.partition("{")[0]).rstrip() + "\n;"


def _end(text, start):
    """Where the statement that begins at `start` ends: behind its semicolon, or behind the body of a function."""
    depth, has_body = 0, _BODY.match(text, start)
    for token in _TOKEN.finditer(text, start):
        if token[0] in "{(":
            depth += 1
        elif token[0] in "})":
            depth -= 1
        if depth == 0 and (token[0] == ";" or (token[0] == "}" and has_body)):
            return token.end()
    return len(text)


def _module(text):
    """Head and parts of a module; sections of debuggers are left out."""
    head, parts, at = {}, [], 0
    while at < len(text):
        if found := _SPACE.match(text, at) or _LINE.match(text, at):
            at = found.end()
        elif found := _HEAD.match(text, at):
            head[found[1]] = found[0].strip()
            at = found.end()
        else:
            end = _end(text, at)
            if not text.startswith(".section", at):
                parts.append(_Part(text[at:end]))
            at = end
    return head, parts


def linked(text, *others):
    """One text of PTX out of several: what one declares and another one has is joined."""
    if not others:
        return text
    heads, modules = zip(*map(_module, (text, *map(_without_lines, others))))
    for number, parts in enumerate(modules):
        _rename(parts, {part.name for other in (*modules[:number], *modules[number + 1 :]) for part in other})
    head = {**heads[0], "version": max((one["version"] for one in heads if "version" in one), key=_numbers)}
    files = re.findall(r"^\s*\.file\b[^\n]*", text, re.M)
    joined = _joined(_reached(modules))
    return "\n".join([*(head[word] for word in ("version", "target", "address_size") if word in head), *joined, *files]) + "\n"


def _reached(modules):
    """What the entries of the first module reach, in its order; what has no name stays."""
    parts = [part for module in modules for part in module]
    uses = {}
    for part in parts:
        uses.setdefault(part.name, set()).update(re.findall(_NAME, part.text))
    reached, waiting = set(), [part.name for part in modules[0] if _ENTRY.match(part.text)]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += uses[name] & uses.keys()
    return [part for part in parts if part.name is None or part.name in reached]


def _numbers(text):
    return [int(number) for number in re.findall(r"\d+", text)]


def _without_lines(text):
    """Without numbers of lines, which count another module's files."""
    return re.sub(r"^\s*\.loc\b[^\n]*\n", "", text, flags=re.M)


def _rename(parts, taken):
    """What only this module sees gets another name where that one is taken."""
    for clash in dict.fromkeys(part.name for part in parts if part.name in taken and part.linkage is None and part.name):
        fresh = next(name for number in range(2, len(taken) + 3) if (name := f"{clash}_{number}") not in taken)
        for part in parts:
            part.text = re.sub(rf"(?<![\w$%]){re.escape(clash)}(?![\w$])", fresh, part.text)
            part.name = fresh if part.name == clash else part.name
        taken.add(fresh)


def _joined(parts):
    """Declarations of what is nowhere, declarations of functions, variables, functions."""
    bodies = {}
    for part in parts:
        if part.is_declaration or part.name is None:
            continue
        known = bodies.get(part.name)
        if known and not known.may_repeat and not part.may_repeat:
            raise Error(f"`{part.name}` has two bodies in what is linked: leave one of them out")
        if known is None or (known.may_repeat and not part.may_repeat):
            bodies[part.name] = part
    declared = {part.name: part for part in parts if part.is_declaration}
    absent = [part.text for name, part in declared.items() if name not in bodies]
    ahead = [bodies[name].declared() for name, part in declared.items() if name in bodies and part.is_function]
    nameless = [part.text for part in parts if part.name is None]
    return [*absent, *ahead, *(part.text for part in sorted(bodies.values(), key=lambda part: part.is_function)), *nameless]


@functools.lru_cache(maxsize=1)
def _linker():
    """nvJitLink's library, which comes with Numba's CUDA."""
    found = []
    for place in sys.path:
        for pattern in ("nvjitlink/lib/libnvJitLink.so.[0-9]*", "cu*/lib/libnvJitLink.so.[0-9]*", "nvjitlink/bin/nvJitLink_*.dll", "cu*/bin/nvJitLink_*.dll"):
            found += glob(path.join(place, "nvidia", pattern))
    for one in sorted(found, reverse=True):
        if library := _cuda._opened(one):
            return library
    return _cuda._opened("libnvJitLink.so")


def optimised(codes, arch, options=()):
    """PTX of LTO-IR that is linked and inlined; None where nvJitLink is absent or cannot read it."""
    library = _linker()
    if library is None:
        return None
    handle = ctypes.c_void_p()
    words = [f"-arch={arch.replace('compute_', 'sm_')}".encode(), b"-lto", b"-ptx", *(word.encode() for word in options)]
    if library.nvJitLinkCreate(ctypes.byref(handle), len(words), (ctypes.c_char_p * len(words))(*words)):
        return None
    try:
        failed = any(library.nvJitLinkAddData(handle, _LTO_IR, code, ctypes.c_size_t(len(code)), b"lto") for code in codes)
        if failed or library.nvJitLinkComplete(handle):
            return None
        size = ctypes.c_size_t()
        library.nvJitLinkGetLinkedPtxSize(handle, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value + 1)
        return None if library.nvJitLinkGetLinkedPtx(handle, text) else text.value.decode()
    finally:
        library.nvJitLinkDestroy(ctypes.byref(handle))


def nvrtc_version():
    """The first number of NVRTC's version; None without it."""
    found = _cuda._nvrtc()
    if found is None:
        return None
    major, minor = ctypes.c_int(), ctypes.c_int()
    found[0].nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return major.value


@functools.lru_cache(maxsize=64)
def lto_code(text, arch, options=()):
    """LTO-IR of a text in CUDA C++; None without NVRTC, or where it does not compile."""
    found = _cuda._nvrtc()
    if found is None:
        return None
    library, headers = found
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    given = [f"--gpu-architecture={arch}", "--dlink-time-opt", *(f"-I{folder}" for folder in headers), *options]
    if library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None):
        return None
    try:
        words = (ctypes.c_char_p * len(given))(*(word.encode() for word in given))
        if library.nvrtcCompileProgram(program, len(given), words) or library.nvrtcGetLTOIRSize(program, ctypes.byref(size)):
            return None
        code = ctypes.create_string_buffer(size.value)
        return None if library.nvrtcGetLTOIR(program, code) else code.raw
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))

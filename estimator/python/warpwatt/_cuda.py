"""CUDA C++ to PTX: NVRTC of the PyPI wheels, else nvcc or clang."""

import ctypes
import functools
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ._arguments import text
from ._native import Error

_ABSENT = "CUDA C++ needs a compiler: pip install nvidia-cuda-nvrtc, or have nvcc or clang on the PATH"


def compiled(source, arch, options):
    """PTX of a text in CUDA C++."""
    options = [options] if isinstance(options, str) else [text(option, "an option of the compiler") for option in options]
    found = re.fullmatch(r"(?:sm_|compute_)?(\d+[a-z]?)", str(arch))
    if not found:
        raise Error(f"`{arch}` is no architecture: write compute_80 or sm_90")
    return _compiled(text(source, "CUDA C++"), f"compute_{found[1]}", tuple(options))


@functools.lru_cache(maxsize=64)
def _compiled(text, architecture, options):
    found = _nvrtc()
    if found is not None:
        return _by_nvrtc(*found, text, architecture, options)
    if nvcc := shutil.which("nvcc"):
        return _by_command([nvcc, "-ptx", f"-arch={architecture}", *options, "-o"], text)
    if clang := shutil.which("clang++") or shutil.which("clang"):
        gpu = architecture.replace("compute_", "sm_")
        command = [clang, "-x", "cuda", "--cuda-device-only", f"--cuda-gpu-arch={gpu}", "-O3", "-S", *options, "-o"]
        return _by_command(command, text)
    raise Error(_ABSENT)


@functools.lru_cache(maxsize=1)
def _nvrtc():
    """NVRTC's library, and folders of headers (cuda_fp16.h and the like) that fit it: those of a wheel, else the system's. Without one, nothing."""
    for path in _wheels():
        if library := _opened(path):
            return library, _headers(path)
    for name in ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "nvrtc64_130_0.dll", "nvrtc64_120_0.dll"):
        if library := _opened(name):
            return library, []
    return None


def _wheels():
    """Where wheels keep it: those with headers first, of these the newest."""
    found = []
    for place in sys.path:
        for pattern in ("cu[0-9]*/lib", "cuda_nvrtc/lib", "cu[0-9]*/bin", "cuda_nvrtc/bin"):
            found += glob.glob(os.path.join(place, "nvidia", pattern, "*nvrtc.so.[0-9]*"))
            found += glob.glob(os.path.join(place, "nvidia", pattern, "nvrtc64_*_0.dll"))
    return sorted((path for path in found if ".alt." not in path), key=lambda path: (any(_fits(folder) for folder in _headers(path)), _version(path)), reverse=True)


def _fits(folder):
    return os.path.exists(os.path.join(folder, "cuda_fp16.h"))


def _version(path):
    """13 of libnvrtc.so.13 and of nvrtc64_130_0.dll."""
    found = re.search(r"\.so\.(\d+)|nvrtc64_(\d+)\d_", path)
    return int(found[1] or found[2]) if found else 0


def _headers(library):
    """Folders of headers beside a wheel's library: from version 13 on wheels share a folder, before each had its own."""
    family = Path(library).parents[1]
    return sorted(glob.glob(str(family.parent / (family.name if family.name != "cuda_nvrtc" else "cuda_*") / "include")))


def _opened(path):
    try:
        return ctypes.CDLL(path)
    except OSError:
        return None


def _by_nvrtc(library, headers, text, architecture, options):
    program = ctypes.c_void_p()
    given = [f"--gpu-architecture={architecture}", *(f"-I{folder}" for folder in headers), *options]
    words = (ctypes.c_char_p * len(given))(*(word.encode() for word in given))
    source = text.encode()
    _done(library.nvrtcCreateProgram(ctypes.byref(program), source, b"kernel.cu", 0, None, None), library)
    try:
        if library.nvrtcCompileProgram(program, len(given), words):
            raise Error("the CUDA C++ does not compile:\n" + _text(library, program, "ProgramLog").strip())
        return _text(library, program, "PTX")
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _text(library, program, what):
    size = ctypes.c_size_t()
    _done(getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)), library)
    contents = ctypes.create_string_buffer(size.value)
    _done(getattr(library, f"nvrtcGet{what}")(program, contents), library)
    return contents.value.decode()


def _done(result, library):
    if result:
        library.nvrtcGetErrorString.restype = ctypes.c_char_p
        raise Error(f"NVRTC: {library.nvrtcGetErrorString(result).decode()}")


def _by_command(command, text):
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "kernel.cu"), Path(folder, "kernel.ptx")
        source.write_text(text)
        done = subprocess.run([*command, str(target), str(source)], capture_output=True, text=True, cwd=folder)
        if done.returncode:
            raise Error("the CUDA C++ does not compile:\n" + done.stderr.strip())
        return target.read_text()

"""CUDA C++ to PTX: NVRTC of the PyPI wheels, else nvcc or clang."""

import ctypes
import functools
import glob
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ._native import Error

_ABSENT = "CUDA C++ needs a compiler: pip install nvidia-cuda-nvrtc, or have nvcc or clang on the PATH"


@functools.lru_cache(maxsize=64)
def compiled(text, arch, options):
    """PTX of a text in CUDA C++."""
    architecture = arch.replace("sm_", "compute_")
    library = _nvrtc()
    if library is not None:
        return _by_nvrtc(library, text, architecture, options)
    if nvcc := shutil.which("nvcc"):
        return _by_command([nvcc, "-ptx", f"-arch={architecture}", *options, "-o"], text)
    if clang := shutil.which("clang++") or shutil.which("clang"):
        gpu = architecture.replace("compute_", "sm_")
        command = [clang, "-x", "cuda", "--cuda-device-only", f"--cuda-gpu-arch={gpu}", "-O3", "-S", *options, "-o"]
        return _by_command(command, text)
    raise Error(_ABSENT)


@functools.lru_cache(maxsize=1)
def _nvrtc():
    """NVRTC's library: that of a wheel, else the system's."""
    for path in _wheels():
        if library := _opened(path):
            return library
    for name in ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "nvrtc64_130_0.dll", "nvrtc64_120_0.dll"):
        if library := _opened(name):
            return library
    return None


def _wheels():
    """Where wheels keep it, the newest first."""
    found = []
    for place in sys.path:
        for pattern in ("cu*/lib", "cuda_nvrtc/lib", "cu*/bin", "cuda_nvrtc/bin"):
            found += glob.glob(os.path.join(place, "nvidia", pattern, "*nvrtc*.so.[0-9]*"))
            found += glob.glob(os.path.join(place, "nvidia", pattern, "nvrtc64_*.dll"))
    return sorted((path for path in found if "builtins" not in path), reverse=True)


def _opened(path):
    try:
        return ctypes.CDLL(path)
    except OSError:
        return None


def _headers():
    """Folders of headers that wheels bring (cuda_fp16.h and the like)."""
    found = [path for place in sys.path for path in glob.glob(os.path.join(place, "nvidia", "*", "include"))]
    return [f"-I{path}" for path in found]


def _by_nvrtc(library, text, architecture, options):
    program = ctypes.c_void_p()
    given = [f"--gpu-architecture={architecture}", *_headers(), *options]
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

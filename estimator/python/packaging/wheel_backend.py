"""Builds the wheel: maturin's, with the command `warpwatt` and, on Linux, the runtime library of CUDA programs in it.

The files go through maturin's folder of data (pyproject.toml, `tool.maturin.data`): `scripts` is installed where commands are, `data/lib` beside that, where the command looks.

`WARPWATT_WHEEL_TARGET` builds for another machine, as cargo-zigbuild names it, with the oldest C library that the wheel is to run with: `aarch64-unknown-linux-gnu.2.17`.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import maturin
from maturin import get_requires_for_build_editable, get_requires_for_build_sdist  # noqa: F401

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "target/wheel-data"
COMMAND = "warpwatt.exe" if os.name == "nt" else "warpwatt"
LIBRARY = "libwarpwatt_cudart.so"
TARGET = os.environ.get("WARPWATT_WHEEL_TARGET", "")
TRIPLE, _, GLIBC = TARGET.partition(".")
LINUX = "linux" in (TRIPLE or sys.platform)


def get_requires_for_build_wheel(config_settings=None):
    """maturin's, and what links for another machine."""
    return maturin.get_requires_for_build_wheel(config_settings) + ["cargo-zigbuild", "ziglang"] * bool(TARGET)


def with_target(config_settings):
    """What maturin is told of the other machine."""
    if not TARGET:
        return config_settings
    compatibility = f" --compatibility manylinux_{GLIBC.replace('.', '_')}" if GLIBC else ""
    return {**(config_settings or {}), "build-args": f"--zig --target {TRIPLE}{compatibility}"}


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """The wheel."""
    os.chdir(ROOT)
    add_command()
    return maturin.build_wheel(wheel_directory, with_target(config_settings), metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """The wheel of an editable install; the command is a copy."""
    os.chdir(ROOT)
    add_command()
    return maturin.build_editable(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    """Refused: a source distribution would lack the command, whose crate the package does not depend on."""
    raise SystemExit("warpwatt is built from its checkout: pip install . or pip wheel . there")


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """What the wheel says of itself."""
    os.chdir(ROOT)
    # maturin wants the folder to be there.
    DATA.mkdir(parents=True, exist_ok=True)
    return maturin.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def add_command():
    """Builds the command and its library, and puts them where maturin takes them from."""
    cargo = ["cargo", "zigbuild", "--target", TARGET] if TARGET else ["cargo", "build"]
    # Names are a third of what is built, and `strip` knows this machine's programs only.
    environment = {**os.environ, "CARGO_PROFILE_RELEASE_STRIP": "symbols"} if TARGET else None
    subprocess.run([*cargo, "--release", "--locked", "-p", "warpwatt", "--bin", "warpwatt", "-p", "warpwatt-cudart", "--lib"], check=True, env=environment)
    shutil.rmtree(DATA, ignore_errors=True)
    put(COMMAND, DATA / "scripts")
    if LINUX:
        put(LIBRARY, DATA / "data/lib")


def put(file, folder):
    """Copies what was built into a folder, without its names."""
    folder.mkdir(parents=True)
    copy = shutil.copy(Path(os.environ.get("CARGO_TARGET_DIR", "target"), TRIPLE, "release", file), folder)
    if not TARGET and (strip := shutil.which("strip")):
        subprocess.run([strip, copy], check=False)

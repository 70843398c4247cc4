"""Builds the wheel: maturin's, with the command `warpwatt` and, on Linux, the runtime library of CUDA programs in it.

The files go through maturin's folder of data (pyproject.toml, `tool.maturin.data`): `scripts` is installed where commands are, `data/lib` beside that, where the command looks.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import maturin
from maturin import get_requires_for_build_editable, get_requires_for_build_sdist, get_requires_for_build_wheel  # noqa: F401

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "target/wheel-data"
COMMAND = "warpwatt.exe" if os.name == "nt" else "warpwatt"
LIBRARY = "libwarpwatt_cudart.so"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """The wheel."""
    os.chdir(ROOT)
    add_command()
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


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
    subprocess.run(["cargo", "build", "--release", "--locked", "-p", "warpwatt", "--bin", "warpwatt", "-p", "warpwatt-cudart", "--lib"], check=True)
    shutil.rmtree(DATA, ignore_errors=True)
    put(COMMAND, DATA / "scripts")
    if sys.platform == "linux":
        put(LIBRARY, DATA / "data/lib")


def put(file, folder):
    """Copies what was built into a folder, without its names: they are a third of it."""
    folder.mkdir(parents=True)
    copy = shutil.copy(Path(os.environ.get("CARGO_TARGET_DIR", "target"), "release", file), folder)
    if strip := shutil.which("strip"):
        subprocess.run([strip, copy], check=False)

"""Kernels and helpers of the tests."""

import json
import os
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

import warpwatt as ww

# A shell that starts something in the background has it ignore Ctrl-C, and whoever tests that would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "workloads/kernels"


@pytest.fixture
def add_ptx():
    """c[i] = a[i] + b[i] for i < n: a, b, c, n."""
    return (KERNELS / "vector_add/kernel.ptx").read_text()


@pytest.fixture
def vectors():
    """Two vectors and their sum's place."""
    random = np.random.default_rng(1)
    a, b = random.random((2, 3000), dtype=np.float32)
    return a, b, np.zeros_like(a)


@pytest.fixture
def add(add_ptx, vectors):
    """The sum of two vectors as a kernel."""
    a, b, c = vectors
    return ww.Kernel.ptx(add_ptx, args={"a": a, "b": b, "c": c, "n": 3000}, grid=12, block=256)


@pytest.fixture
def command(tmp_path):
    """Runs `warpwatt` in a folder and returns its document, or what it complains about."""
    program = os.environ.get("WARPWATT", "warpwatt")

    def run(*words, cwd=tmp_path, fails=False):
        done = subprocess.run([program, *map(str, words)], cwd=cwd, capture_output=True, text=True)
        if fails:
            return done.stderr.strip()
        assert done.returncode in (0, 1), done.stderr
        return json.loads(done.stdout)

    return run

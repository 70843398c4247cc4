"""Host code whose kernels run here."""

import numpy as np
import pytest

import warpwatt as ww


def test_triton_s_launches_come_here():
    pytest.importorskip("triton", reason="Triton is not installed")
    from triton_kernels import halve

    x = np.arange(1000, dtype=np.float32)
    y = np.zeros_like(x)
    with ww.capture(ww.Gpu("v100", node="12nm")) as run:
        while x.max() > 100:
            halve[lambda known: (-(-1000 // known["B"]),)](y, x, 1000, B=256)
            x, y = y, x
    assert x.max() <= 100 and x[1] == 1 / 16
    report = run.report()
    assert report.total["calls"] == 4 == len(run.launches)
    assert report.total["energy_j"] == pytest.approx(sum(one["energy_j"] for one in run.launches))
    assert "halve" in str(report) and "<table>" in report._repr_html_()


def test_numba_s_launches_come_here():
    pytest.importorskip("numba.cuda", reason="numba-cuda is not installed")
    from numba_kernels import add_one

    x = np.zeros(300, np.int64)
    with ww.capture(ww.Gpu("v100")) as run:
        for _ in range(3):
            add_one[3, 128](x)
    assert (x == 3).all() and run.report().total["calls"] == 3
    assert run.report().total["energy_j"] is None


def test_launches_of_one_s_own(add, vectors):
    a, b, c = vectors
    with ww.capture(ww.Gpu("v100")) as run:
        run.launch(add)
    assert (c == a + b).all()


def test_what_was_patched_is_as_before():
    jit = pytest.importorskip("triton.runtime.jit", reason="Triton is not installed").JITFunction
    before = jit.run
    with pytest.raises(ZeroDivisionError), ww.capture(ww.Gpu("v100")):
        assert jit.run is not before
        1 / 0
    assert jit.run is before


def test_what_is_read_only_stays(add_ptx, vectors):
    a, b, c = vectors
    a.flags.writeable = False
    kernel = ww.Kernel.ptx(add_ptx, args=dict(a=a, b=b, c=c, n=3000), grid=12, block=256)
    with ww.capture(ww.Gpu("v100")) as run:
        run.launch(kernel)
    assert (c == a + b).all()
    c.flags.writeable = False
    kernel = ww.Kernel.ptx(add_ptx, args=dict(a=a, b=a, c=c, n=3000), grid=12, block=256)
    with ww.capture(ww.Gpu("v100")) as run, pytest.raises(ww.Error, match="`c` is read-only"):
        run.launch(kernel)

"""How far a study is: tqdm's bar, Jupyter's display, or a line."""

import sys
import types

import pytest

import warpwatt as ww

STUDY = {"gpu": {"preset": "tesla-16sm", "node": ["16nm", "7nm"]}, "workloads": {"kernels": ["vector_add"]}}


@pytest.fixture
def no_tqdm(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)


def test_a_bar_of_tqdm(capsys):
    pytest.importorskip("tqdm", reason="tqdm is not installed")
    ww.Study(STUDY).run(progress=True)
    assert "2/2" in capsys.readouterr().err


def test_a_line_without_tqdm(no_tqdm, capsys):
    ww.Study(STUDY).run(progress=True)
    assert capsys.readouterr().err.endswith("\r2 of 2 points\n")


def test_jupyter_s_own_display(no_tqdm, monkeypatch, capsys):
    shown = []

    class Handle:
        @staticmethod
        def update(html):
            shown.append(html)

    display = types.ModuleType("IPython.display")
    display.HTML = str
    display.display = lambda html, display_id: shown.append(html) or Handle
    python = types.ModuleType("IPython")
    python.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", python)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    ww.Study(STUDY).run(progress=True)
    assert shown[0].endswith("0 of 2 points") and shown[-1].endswith("2 of 2 points") and "value='2'" in shown[-1]
    assert capsys.readouterr().err == ""


def test_silence(capsys):
    ww.Study(STUDY).run()
    assert capsys.readouterr() == ("", "")

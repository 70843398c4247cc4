"""What is public is documented, and its types are told."""

import ast
import inspect
import re
import subprocess
import sys

import pytest

import warpwatt as ww
from conftest import ROOT

#: What is a class or a function.
PUBLIC = set(ww.__all__) - {"__version__", "readers"}
STUBS = ast.parse((ROOT / "estimator/python/warpwatt/__init__.pyi").read_text())


def test_everything_has_types():
    told = {node.name for node in STUBS.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    assert told - {"Executor"} == PUBLIC


def test_types_have_the_parameters_that_there_are():
    classes = {node.name: node for node in STUBS.body if isinstance(node, ast.ClassDef)}
    for name, node in classes.items():
        if name == "Executor":
            continue
        for method in (one for one in node.body if isinstance(one, ast.FunctionDef)):
            found = inspect.getattr_static(getattr(ww, name), method.name)
            if isinstance(found, property) or not hasattr(found, "__code__") and not isinstance(found, classmethod):
                continue
            function = found.__func__ if isinstance(found, classmethod) else found
            real = inspect.signature(function).parameters
            if any(one.kind is one.VAR_KEYWORD for one in real.values()):
                continue
            some = [method.args.vararg] if method.args.vararg else []
            stated = [one.arg for one in method.args.args + some + method.args.kwonlyargs]
            assert stated == list(real), f"{name}.{method.name}"


def test_everything_is_documented():
    for name in PUBLIC:
        public = getattr(ww, name)
        assert inspect.getdoc(public), name
        for key, member in vars(public).items() if inspect.isclass(public) else ():
            if not key.startswith("_") and (callable(member) or isinstance(member, (property, classmethod))):
                assert inspect.getdoc(member), f"{name}.{key}"


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_the_first_lines_work(page):
    text = (ROOT / page).read_text()
    code = next(code for code in re.findall(r"```python\n(.*?)```", text, re.S) if "import numpy" in code)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    if "needs a compiler" in done.stderr:
        pytest.skip("there is no compiler of CUDA C++")
    assert done.returncode == 0 and len(done.stdout.split()) == 3, done.stderr


def test_names_are_there_when_they_are_asked_for():
    assert set(ww.__all__) <= set(dir(ww))
    code = "import sys, warpwatt; assert 'warpwatt._native' not in sys.modules; from warpwatt import *; print(Gpu, readers.gem5, __version__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with pytest.raises(AttributeError, match="no `Gpo`"):
        ww.Gpo


def test_nothing_is_imported_that_is_not_needed():
    code = "import sys, warpwatt; print([name for name in ('numpy', 'triton', 'numba', 'polars', 'pandas') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr

"""The notebooks of docs/notebooks are executed, and show what is checked in. WARPWATT_BLESS=1 writes what they show.

Cells are executed here, not in a kernel of Jupyter: what a cell prints, and what its last expression is as text and as HTML, are its outputs.
"""

import ast
import contextlib
import io
import json
import linecache
import os
import shutil
from importlib.metadata import PackageNotFoundError, version

import pytest

from conftest import ROOT

NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))


def lines(text):
    return text.splitlines(keepends=True)


def shown(value):
    data = {"text/plain": lines(repr(value))}
    if hasattr(value, "_repr_html_"):
        data["text/html"] = lines(value._repr_html_())
    return data


def outputs(source, names, number):
    """Executes a cell; its outputs as a notebook has them."""
    place = f"cell {number}"
    # Triton reads a function's source.
    linecache.cache[place] = len(source), None, lines(source), place
    body = ast.parse(source).body
    last = ast.Expression(body.pop().value) if body and isinstance(body[-1], ast.Expr) and not source.rstrip().endswith(";") else None
    found, printed = [], io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), place, "exec"), names)
        value = eval(compile(last, place, "eval"), names) if last else None
    if printed.getvalue():
        found.append({"name": "stdout", "output_type": "stream", "text": lines(printed.getvalue())})
    if value is not None:
        found.append({"data": shown(value), "execution_count": number, "metadata": {}, "output_type": "execute_result"})
    return found


def same_packages(notebook):
    """Whether what decides outputs, and is not warpwatt, has the versions that the notebook names."""
    wanted = notebook["metadata"].get("warpwatt", {}).get("packages", {})
    found = {}
    for name in wanted:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            pytest.skip(f"{name} is not installed")
    return wanted, found


def test_there_are_notebooks():
    assert len(NOTEBOOKS) == 4


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_it_says(path, monkeypatch, tmp_path):
    text = path.read_text()
    notebook = json.loads(text)
    wanted, found = same_packages(notebook)
    program = os.environ.get("WARPWATT") or shutil.which("warpwatt")
    monkeypatch.setenv("PATH", os.path.dirname(program or "") + os.pathsep + os.environ["PATH"])
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.chdir(path.parent)
    names, cells = {"__name__": "__main__"}, [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    before = [cell["outputs"] for cell in cells]
    for number, cell in enumerate(cells, 1):
        cell["outputs"] = outputs("".join(cell["source"]), names, number)
        cell["execution_count"] = number
    if os.environ.get("WARPWATT_BLESS"):
        if wanted:
            notebook["metadata"]["warpwatt"]["packages"] = found
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
    elif wanted != found:
        pytest.skip(f"its outputs are of {wanted}, and {found} is here: it was executed, its outputs were not compared")
    else:
        assert [cell["outputs"] for cell in cells] == before

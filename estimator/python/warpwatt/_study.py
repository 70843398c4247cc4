"""Studies and questions."""

import json
import os

from . import _native
from ._document import Document
from ._kernel import Kernel
from ._table import Table
from ._units import setting, with_unit


class Study:
    """A study (docs/studies.md): a GPU, kernels, techniques; a list anywhere is a sweep axis.

    Study.load("study.toml"); Study({"gpu": {"preset": "v100", "node": ["16nm", "7nm"]}, "workloads": {"kernels": ["hotspot", kernel]}})
    A kernel in a dict may be a warpwatt.Kernel. Whatever is wrong is an Error with every fault of the study.
    """

    def __init__(self, study, *, directory="."):
        with _folder() as folder:
            text = _toml(_with_kernels(study, folder))
            self._native = _native.Study.text("the study", text, os.fspath(directory))

    @classmethod
    def load(cls, path):
        """A study file."""
        study = cls.__new__(cls)
        study._native = _native.Study.load(os.fspath(path))
        return study

    @property
    def title(self):
        """What reports are headed with."""
        return self._native.title

    def __len__(self):
        """Points."""
        return len(self._native)

    def run(self, jobs=None, progress=False, out=None, cache=None):
        """Runs all points and returns Results.

        jobs: threads, one a core if left out; results do not depend on it. progress: True for a bar (tqdm where it is installed), or a function of (done, points).
        out: a directory of results, as `warpwatt run` has it: what is finished stays there when the run is interrupted, and the next one goes on. cache: a directory in
        which traces are kept.
        """
        bar = _Bar(len(self), progress)
        out, cache = (None if one is None else os.fspath(one) for one in (out, cache))
        how = _How(jobs, out, cache, bar.tell)
        try:
            return Results(self._native.run(how))
        finally:
            bar.close()

    def __repr__(self):
        return f"<warpwatt.Study {self.title!r}, {len(self)} points>"


class _How:
    def __init__(self, jobs, out, cache, progress):
        self.jobs, self.out, self.cache, self.progress = jobs, out, cache, progress


class _Bar:
    """How far a study is."""

    def __init__(self, points, wanted):
        self.tell, self._bar = None, None
        if callable(wanted):
            self.tell = wanted
        elif wanted:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return
            self._bar = tqdm(total=points, unit="point")
            self.tell = lambda done, _: self._bar.update(done - self._bar.n)

    def close(self):
        if self._bar is not None:
            self._bar.close()


class Results:
    """What a study came out as: tables, and where figures come from."""

    def __init__(self, native):
        self._native = native

    @property
    def tables(self):
        """Names of the tables that there are."""
        return self._native.tables()

    def table(self, name):
        """A table by its name; None if the study has no such rows."""
        native = self._native.table(name)
        return None if native is None else Table(native)

    @property
    def answer(self):
        """A row a configuration and technology: means over kernels, changes against the plain GPU."""
        return self.table("answer")

    @property
    def points(self):
        """A row a point: its metrics."""
        return self.table("points")

    @property
    def comparisons(self):
        """A row a technique on a kernel, against the plain GPU."""
        return self.table("comparisons")

    def explain(self, point, metric, depth=3):
        """Where a figure comes from, down to the technology's values and their sources.

        point: its row in `points`, from 1 on, or "kernel=bfs,node=7nm,technique=baseline". metric: "energy_j", "area_m2", ... depth: levels of the text.
        """
        return Explanation(*self._native.explain(str(point), metric, depth))

    def pareto(self, *metrics):
        """The points that no other point of their kernel beats in all of these: names of metrics; "-name" and "+name" say that less or more of it is better."""
        ways = {"-": False, "+": True}
        wanted = [(name.lstrip("+-"), ways.get(name[:1])) for name in metrics]
        return Table(self._native.pareto(wanted))

    @property
    def document(self):
        """Everything, as a dict."""
        return json.loads(self._native.document())

    def __str__(self):
        return self._native.text(100).rstrip("\n")

    def __repr__(self):
        return f"<warpwatt.Results: {', '.join(self.tables)}>"

    def _repr_html_(self):
        table = self.answer or self.points
        return table._repr_html_()

    def page(self):
        """The report as one page of HTML."""
        return self._native.page()


class Explanation(Document):
    """Where a figure comes from: `value`, `unit`, `sigma`, `derivation`; print it for the tree."""

    _noun = "an explanation"

    def __repr__(self):
        return f"<warpwatt.Explanation {self.metric} = {self.value:.6g} {self.unit}>"


def what_if(kernel, gpu, techniques=(), *, node=None, settings=None, jobs=None, **place):
    """What techniques bring for a kernel: a question as `warpwatt what-if` asks it. Returns Results.

    what_if(kernel, gpu, ["filter_cache(entries=16)"], node=["16nm", "7nm"]).answer.to_polars()

    kernel: a Kernel, a name of the suite, or a list of both. techniques: names with parameters; what works together is joined by `+`.
    node, vdd, temperature, flavour, library: one or a list, instead of the GPU's. settings: parameters of the techniques or settings of the GPU by name, lists too.
    """
    kernels = kernel if isinstance(kernel, (list, tuple)) else [kernel]
    techniques = [techniques] if isinstance(techniques, str) else list(techniques)
    units = {"node": "nm", "library": None, "flavour": None, "temperature": "K", "vdd": "V"}
    asked = {key: with_unit(key, value, units[key]) for key, value in {"node": node, **place}.items() if value is not None}
    asked = {"preset": gpu.preset, "node": "7nm", **gpu._place, **asked, "lower": gpu._lower, "clock": gpu._clock, "board": gpu.board}
    keys = ("preset", "node", "library", "flavour", "temperature", "vdd", "lower", "clock", "board")
    changed = [setting(key, value) for key, value in (settings or {}).items()]
    with _folder() as folder:
        names = [_named(one, os.path.join(folder, str(at))) for at, one in enumerate(kernels)]
        question = _native.Study.question(names, techniques, gpu._settings + changed, [asked.get(key) for key in keys])
    return Results(question.run(_How(jobs, None, None, None)))


def _folder():
    """A folder for launch files of kernels that are in memory, which are read at once."""
    import tempfile

    return tempfile.TemporaryDirectory(prefix="warpwatt-")


def _named(kernel, folder):
    """A kernel as a question names it."""
    if isinstance(kernel, str):
        return kernel
    if kernel._saved is not None:
        name, case = kernel._saved
        if case is not None:
            raise _native.Error(f"a question takes the first case of `{name}`: use a Study for `{case}`")
        return os.path.abspath(name) if name.endswith(".toml") else name
    return os.fspath(kernel.save(folder))


def _with_kernels(study, folder):
    """The study with launch files in the place of kernels that are objects."""
    study = dict(study)
    study.setdefault("study", {"title": "A study"})
    workloads = dict(study.get("workloads", {}))
    kernels = workloads.get("kernels")
    if isinstance(kernels, (list, tuple)):
        workloads["kernels"] = [_entry(one, os.path.join(folder, str(at))) for at, one in enumerate(kernels)]
        study["workloads"] = workloads
    return study


def _entry(kernel, folder):
    if not isinstance(kernel, Kernel):
        return kernel
    if kernel._saved is None:
        return {"launch": os.path.abspath(kernel.save(folder))}
    name, case = kernel._saved
    entry = {"launch": os.path.abspath(name)} if os.path.exists(name) else {"name": name}
    return entry if case is None else {**entry, "case": case}


def _toml(value, top=True):
    """A dict as TOML: tables of tables inline, so that the order stays."""
    if top:
        return "".join(f"{_key(key)} = {_toml(one, False)}\n" for key, one in value.items())
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_toml(one, False)}" for key, one in value.items()) + " }"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, os.PathLike):
        return json.dumps(os.fspath(value))
    if hasattr(value, "item") and not hasattr(value, "__len__"):
        return repr(value.item())
    if hasattr(value, "__iter__"):
        return "[" + ", ".join(_toml(one, False) for one in value) + "]"
    raise TypeError(f"{value!r} is no value of a study")


def _key(key):
    parts = str(key).split(".")
    return ".".join(part if part.replace("_", "").replace("-", "").isalnum() else json.dumps(part) for part in parts)

"""Studies and questions."""

import json
import os
from contextlib import ExitStack, closing

from . import _native
from ._document import Document
from ._kernel import Kernel, checked
from ._progress import Bar
from ._table import Table
from ._units import setting, threads, whole, with_unit


class Study:
    """A study (docs/studies.md): a GPU, kernels, techniques; a list anywhere is a sweep axis.

    Study.load("study.toml"); Study({"gpu": {"preset": "v100", "node": ["16nm", "7nm"]}, "workloads": {"kernels": ["hotspot", kernel]}})
    A kernel in a dict may be a warpwatt.Kernel. Whatever is wrong is an Error with every fault of the study.
    """

    def __init__(self, study, *, directory="."):
        directory = os.fspath(directory)
        with folder() as place:
            text = _toml(_with_kernels(study, place))
            self._native = _native.Study.text("the study", text, directory)
        #: What makes it again elsewhere.
        self._made = Study._of_dict, (study, os.path.abspath(directory))

    @classmethod
    def load(cls, path):
        """A study file."""
        path = os.fspath(path)
        study = cls.__new__(cls)
        study._native = _native.Study.load(path)
        study._made = cls._of_text, (path, study._native.source, os.path.dirname(os.path.abspath(path)))
        return study

    @classmethod
    def _of_dict(cls, study, directory):
        return cls(study, directory=directory)

    @classmethod
    def _of_text(cls, name, text, directory):
        study = cls.__new__(cls)
        study._native = _native.Study.text(name, text, directory)
        study._made = cls._of_text, (name, text, directory)
        return study

    @classmethod
    def _of_question(cls, kernels, techniques, settings, keys):
        study = cls.__new__(cls)
        with folder() as place:
            names = [_named(one, os.path.join(place, str(at))) for at, one in enumerate(kernels)]
            study._native = _native.Study.question(names, techniques, settings, keys)
        study._made = cls._of_question, (kernels, techniques, settings, keys)
        return study

    def __reduce__(self):
        return self._made

    @property
    def title(self):
        """What reports are headed with."""
        return self._native.title

    def __len__(self):
        """Points."""
        return len(self._native)

    def run(self, jobs=None, progress=False, out=None, cache=None, executor=None):
        """Runs all points and returns Results.

        jobs: threads, one a core if left out; results do not depend on it. progress: True for a bar (tqdm where it is installed), or a function of (done, points).
        out: a directory of results, as `warpwatt run` has it: what is finished stays there when the run is interrupted, and the next one goes on. cache: a directory in
        which traces are kept.
        executor: one of `concurrent.futures`, or ww.dask(client), whose workers do the study's units: a timing run with its points each. `jobs` are then threads of a unit, one if
        left out, and `cache` is a directory that workers can share. Results are the same bytes. What is finished when a worker fails is kept in `out`, and the next run goes on.
        """
        jobs = threads(jobs)
        out, cache = (None if one is None else os.fspath(one) for one in (out, cache))
        with ExitStack() as stack:
            workers = None
            if executor is not None:
                from ._executors import Workers

                workers = stack.enter_context(closing(Workers(executor, self, jobs, cache)))
            bar = stack.enter_context(closing(Bar(len(self), progress)))
            return Results(self._native.run(_How(jobs, out, cache, bar.tell, workers)))

    def __repr__(self):
        return f"<warpwatt.Study {self.title!r}, {len(self)} points>"


class _How:
    def __init__(self, jobs, out, cache, progress, workers=None):
        self.jobs, self.out, self.cache, self.progress, self.workers = jobs, out, cache, progress, workers


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

    def _first(self):
        """The answer, or the points of a study without one."""
        answer = self.answer
        return self.points if answer is None else answer

    def __arrow_c_stream__(self, requested_schema=None):
        return self._first().__arrow_c_stream__(requested_schema)

    def to_polars(self):
        """The answer as a DataFrame of Polars; the points, if there is none."""
        return self._first().to_polars()

    def to_pandas(self):
        """The same as one of pandas."""
        return self._first().to_pandas()

    def explain(self, point, metric, depth=3):
        """Where a figure comes from, down to the technology's values and their sources.

        point: its row in `points`, from 1 on, or "kernel=bfs,node=7nm,technique=baseline". metric: "energy_j", "area_m2", ... depth: levels of the text.
        """
        return Explanation(*self._native.explain(str(point), metric, whole("depth", depth, 0, 1000)))

    def pareto(self, *metrics):
        """The points that no other point of their kernel beats in all of these: names of metrics; "-name" and "+name" say that less or more of it is better."""
        ways = {"-": False, "+": True}
        wanted = [(name.lstrip("+-"), ways.get(name[:1])) for name in metrics]
        table, compared = self._native.pareto(wanted)
        return Front(table, compared)

    def plot(self, ax=None):
        """The change of energy of each configuration against the plain GPU, with its 95 % interval, by matplotlib. ax: its axes to draw on. Returns the axes.

        Without techniques there are no changes: `points.plot("energy_j")`.
        """
        from . import _plots

        if self.answer is None:
            return self.points.plot("energy_j", ax=ax)
        rows = [(row["configuration"].split(" ·")[0] + f" · {row['node']}", row["energy_change"], row["energy_change_low"], row["energy_change_high"]) for row in self.answer.rows()]
        rows = [tuple(100 * one if isinstance(one, float) else one for one in row) for row in rows if None not in row]
        return _plots.whiskers(rows, "change of energy (%)", ax)

    @property
    def document(self):
        """Everything, as a dict."""
        return json.loads(self._native.document())

    def __str__(self):
        return self._native.text(100).rstrip("\n")

    def __repr__(self):
        return f"<warpwatt.Results: {', '.join(self.tables)}>"

    def _repr_html_(self):
        from . import _plots

        table = self.answer or self.points
        return table._repr_html_() + _plots.html(self._native.pictures())

    def page(self):
        """The report as one page of HTML."""
        return self._native.page()


class Front(Table):
    """The points that no other point of their kernel beats, as a table; `plot()` draws them among all others."""

    def __init__(self, native, compared):
        super().__init__(native)
        self._compared = compared

    def plot(self, y=None, x=None, *, by="kernel", ax=None):
        """Two of the metrics against each other, by matplotlib: the points of the front on a line, the others hollow, a colour a kernel. Returns the axes.

        y, x: the first and the second of the metrics, if left out. by: None for one colour. ax: axes to draw on.
        """
        from . import _plots

        names = [name for name, _ in self._compared["metrics"]]
        if len(names) < 2 and not (x and y):
            raise _native.Error("a front is drawn with two metrics: pareto(\"energy_j\", \"area_m2\")")
        x, y = x or names[1], y or names[0]
        for name in (x, y):
            if name not in names:
                raise _native.Error(f"`{name}` is no metric of this front: {', '.join(names)}")
        at = names.index(x), names.index(y)
        series = {}
        for kernel, values, is_on in self._compared["candidates"]:
            series.setdefault(kernel if by else "", []).append((values[at[0]], values[at[1]], is_on))
        labels = [_labelled(*self._compared["metrics"][place]) for place in at]
        return _plots.scatter(series, labels, ax)

    def _repr_html_(self, most=20):
        from . import _plots

        return super()._repr_html_(most) + _plots.html(self._compared["pictures"])


def _labelled(name, unit):
    return f"{name} ({unit})" if unit and not name.endswith("_" + unit.lower()) else name


class Explanation(Document):
    """Where a figure comes from: `value`, `unit`, `sigma`, `derivation`; print it for the tree."""

    _noun = "an explanation"

    def __repr__(self):
        return f"<warpwatt.Explanation {self.metric} = {self.value:.6g} {self.unit}>"


def what_if(kernel, gpu, techniques=(), *, node=None, settings=None, jobs=None, progress=False, executor=None, **place):
    """What techniques bring for a kernel: a question as `warpwatt what-if` asks it. Returns Results.

    what_if(kernel, gpu, ["filter_cache(entries=16)"], node=["16nm", "7nm"]).answer.to_polars()

    kernel: a Kernel, a name of the suite, or a list of both. techniques: names with parameters; what works together is joined by `+`.
    node, vdd, temperature, flavour, library: one or a list, instead of the GPU's. settings: parameters of the techniques or settings of the GPU by name, lists too.
    jobs, progress, executor: as Study.run has them.
    """
    checked(gpu)
    kernels = kernel if isinstance(kernel, (list, tuple)) else [kernel]
    if wrong := [one for one in kernels if not isinstance(one, (str, Kernel))]:
        raise TypeError(f"what_if takes a Kernel, a name of the suite, or a list of both, not {wrong[0]!r}")
    techniques = [techniques] if isinstance(techniques, str) else list(techniques)
    units = {"node": "nm", "library": None, "flavour": None, "temperature": "K", "vdd": "V"}
    if unknown := sorted(set(place) - set(units)):
        raise TypeError(f"what_if has no `{unknown[0]}`: {', '.join(units)}, techniques, settings, jobs, progress, executor")
    asked = {key: with_unit(key, value, units[key]) for key, value in {"node": node, **place}.items() if value is not None}
    asked = {"preset": gpu.preset, "node": "7nm", **gpu._place, **asked, "lower": gpu._lower, "clock": gpu._clock, "board": gpu._board_file()}
    keys = ("preset", "node", "library", "flavour", "temperature", "vdd", "lower", "clock", "board")
    changed = [setting(key, value) for key, value in (settings or {}).items()]
    study = Study._of_question(list(kernels), techniques, gpu._settings + changed, [asked.get(key) for key in keys])
    return study.run(jobs=jobs, progress=progress, executor=executor)


def folder():
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

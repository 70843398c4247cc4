"""What a run showed."""

import json
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class _Kept:
    """What a run showed, without what it ran on: runs go from process to process as this."""

    document: str
    text: str
    passed: bool
    elements: list
    contents: list

    @classmethod
    def of(cls, run):
        elements = run.buffers()
        return cls(run.document, run.text, run.passed, elements, [bytes(run.buffer(number)) for number in range(len(elements))])

    def buffers(self):
        return self.elements

    def buffer(self, number):
        return self.contents[number]


def _compare(got, want, tolerance, message):
    """AssertionError, where a buffer holds something else."""
    from ._arguments import numpy

    np = numpy()
    if got.dtype.names:
        return np.testing.assert_array_equal(got, want, err_msg=message)
    rtol, atol = tolerance
    np.testing.assert_allclose(got, want, rtol=rtol, atol=atol, err_msg=message)


@dataclass(frozen=True)
class Page:
    """A page without other files."""

    html: str
    """All of it."""
    pictures: list
    """Heading, caption and SVG of each of its pictures."""

    def save(self, path):
        """Writes it to a file."""
        from pathlib import Path

        Path(path).write_text(self.html, encoding="utf-8")

    def __repr__(self):
        return f"<warpwatt.Page: {', '.join(heading for heading, _, _ in self.pictures)}>"

    def _repr_html_(self):
        from . import _plots

        return _plots.html(self.pictures)


class Run:
    """A launch on a GPU: cycles, energy, power, stalls, counters, and what its buffers hold.

    Everything that `warpwatt kernel --json` tells is in `document`; the attributes are shorter ways to it.
    """

    def __init__(self, native, kernel, gpu):
        self._native = native
        self.kernel = kernel
        self.gpu = gpu

    def __reduce__(self):
        return Run, (_Kept.of(self._native), self.kernel, self.gpu)

    @cached_property
    def document(self):
        """The document of `warpwatt kernel --json` for this launch, as a dict."""
        return json.loads(self._native.document)

    @property
    def cycles(self):
        """Cycles of the GPU's clock; None if the launch was only executed."""
        return self.document["cycles"]

    @property
    def time_s(self):
        """Seconds."""
        if "time_s" in self.document:
            return self.document["time_s"]
        return None if self.cycles is None else self.cycles / self.gpu.clock_hz

    @property
    def energy(self):
        """Joules; None without a node."""
        return self.document.get("energy_j")

    @property
    def dynamic_energy(self):
        """Joules that switching takes; None without a node."""
        return self.document.get("dynamic_energy_j")

    @property
    def leakage_energy(self):
        """Joules that leak; None without a node."""
        return self.document.get("leakage_energy_j")

    @property
    def power(self):
        """Mean watts of the chip; None without a node."""
        return self.document.get("power_w")

    @property
    def board(self):
        """What the board draws, as a dict in watts; None without a board."""
        return self.document.get("board")

    @property
    def stalls(self):
        """Cycles of all SMs by what they went into."""
        return self.document.get("stalls")

    @property
    def counters(self):
        """Counts by name."""
        return self.document.get("counters")

    @property
    def structures(self):
        """A list of dicts, the dearest structure first: name, area_m2, dynamic_j, leakage_j, energy_j, power_w."""
        return self.document.get("structures")

    @property
    def passed(self):
        """Whether every buffer that the launch file says something about holds what it must."""
        return self._native.passed

    @cached_property
    def outputs(self):
        """What buffers hold in the end: numpy arrays by name, in the shape in which they were passed."""
        from ._arguments import numpy

        np, arrays = numpy(), self.kernel._arrays or {}
        found = {}
        for number, (name, element) in enumerate(self._native.buffers()):
            contents = self._native.buffer(number)
            if name in arrays:
                like = arrays[name]
                order = "C" if like.flags.c_contiguous else "F"
                found[name] = np.frombuffer(bytearray(contents), like.dtype).reshape(like.shape, order=order)
            elif self.kernel._arrays is None:
                found[name] = np.frombuffer(bytearray(contents), _dtype(np, element))
        return found

    def check(self, /, *wrong, rtol=0.0, atol=0.0, **expected):
        """Compares buffers with what they must hold: `r.check(y=expected, rtol=1e-5)`. Returns the run; AssertionError tells what differs.

        |got - want| <= atol + rtol * |want|, and both zero (the default) means every element alike. Records are compared as they are. Without names: whether the launch file's
        own buffers hold what they must.
        """
        if wrong or not expected and self.kernel._arrays is not None:
            raise TypeError(f"name the buffers and what they must hold: check({next(iter(self.kernel._arrays or ()), 'y')}=expected)")
        if not (rtol >= 0 and atol >= 0):
            raise ValueError(f"rtol and atol are zero or more, not {rtol!r} and {atol!r}")
        if not expected and not self.passed:
            raise AssertionError(str(self))
        for name, want in expected.items():
            if name not in self.outputs:
                raise AssertionError(f"there is no buffer `{name}`: {', '.join(self.outputs)}")
            _compare(self.outputs[name], want, (rtol, atol), f"`{name}` of {self.kernel.name}")
        return self

    def plot(self, what=None, *, ax=None):
        """Where it went, by matplotlib, as bars: "energy" by structure, "area" by structure, or "stalls", cycles of all SMs by what they went into. Returns the axes.

        what: energy if the GPU has a node, else stalls. ax: axes to draw on.
        """
        from . import _plots

        what = what or ("energy" if self.structures else "stalls")
        if what == "stalls":
            parts = self.stalls and list(self.stalls.items())
            label = "cycles of all SMs"
        elif what in ("energy", "area"):
            key, label = {"energy": ("energy_j", "energy (J)"), "area": ("area_m2", "area (m2)")}[what]
            parts = self.structures and [(one["name"], one[key]) for one in self.structures]
        else:
            raise ValueError(f'"{what}" cannot be drawn: choose "energy", "area" or "stalls"')
        if not parts:
            missing = "its GPU has no node" if self.cycles is not None else "it was only executed"
            raise ValueError(f"there is no {what} to draw: {missing}")
        ax = _plots.bars(parts, label, ax)
        ax.set_title(f"{self.kernel.name} on {self.gpu.preset}", fontsize="medium")
        return ax

    def page(self, path=None):
        """The page of `warpwatt kernel --page`: energy from instructions to structures and line by line, power and cycles over time, power of each SM. The launch is
        timed once more and looked at.

        path: a file to write it to. Returns the page, which notebooks show, with its `pictures`: heading, caption and SVG of each.
        Raises ValueError for a run that was pickled, and Error if the GPU has no node.
        """
        if isinstance(self._native, _Kept):
            raise ValueError("a run that comes from another process has no page: run its kernel here")
        page = Page(*self._native.page(self.gpu._native))
        if path is not None:
            page.save(path)
        return page

    def __str__(self):
        return self._native.text.rstrip("\n")

    def __repr__(self):
        parts = [f"{self.cycles} cycles" if self.cycles is not None else "executed"]
        if self.energy is not None:
            parts += [f"{readable(self.time_s, 's')}", f"{readable(self.energy, 'J')}", f"{readable(self.power, 'W')}"]
        return f"<warpwatt.Run {self.kernel.name} on {self.gpu.preset}: {', '.join(parts)}>"

    def _repr_html_(self):
        import html

        rows = [("cycles", self.cycles)]
        if self.energy is not None:
            rows += [
                ("time", readable(self.time_s, "s")),
                ("energy", readable(self.energy, "J")),
                ("of it leakage", readable(self.leakage_energy, "J")),
                ("power", readable(self.power, "W")),
            ]
        if self.board:
            rows.append((f"board {self.board['name']}", readable(self.board["power_w"], "W")))
        cells = "".join(f"<tr><th style='text-align:left'>{html.escape(what)}</th><td>{figure}</td></tr>" for what, figure in rows)
        title = html.escape(f"{self.kernel.name} on {self.gpu!r}")
        return f"<table><caption>{title}</caption>{cells}</table>{self._bars()}"

    def _bars(self):
        """Energy by structure, else cycles by what they went into, as bars."""
        import html

        if self.structures:
            parts = [(one["name"], one["energy_j"], readable(one["energy_j"], "J")) for one in self.structures]
        else:
            parts = [(name, cycles, str(cycles)) for name, cycles in (self.stalls or {}).items()]
        total = sum(value for _, value, _ in parts)
        parts = sorted((part for part in parts if total and part[1] / total >= 0.01), key=lambda part: -part[1])
        bar = "<div style='background:#4c78a8;height:0.8em;width:{:.1f}em'></div>"
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{text}</td><td>{100 * value / total:.1f} %</td><td>{bar.format(20 * value / total)}</td></tr>"
            for name, value, text in parts
        )
        return f"<table>{rows}</table>" if rows else ""


def _dtype(np, element):
    plain = {"f16": "float16", "f32": "float32", "f64": "float64"}
    if element in plain:
        return np.dtype(plain[element])
    if element[0] in "iu":
        return np.dtype(f"{'u' if element[0] == 'u' else ''}int{element[1:]}")
    # Without a type of numpy's own: the bits.
    return np.dtype("uint16" if element == "bf16" else "uint8")


def readable(value, unit):
    """A figure with four digits and a prefix."""
    for factor, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"), (1e-12, "p")):
        if abs(value) >= factor:
            return f"{value / factor:.4g} {prefix}{unit}"
    return f"{value:.4g} {unit}"

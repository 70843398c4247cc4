"""Host code whose kernels run here instead of on a GPU."""

import sys
from contextlib import ExitStack, contextmanager

from ._kernel import CYCLE_LIMIT, LIMIT, Kernel, checked, extents
from ._native import Error
from ._patches import patched
from ._run import readable


class capture:
    """While it is open, `kernel[grid](*args)` of Triton and `kernel[grid, block](*args)` of Numba go to `gpu`.

    with ww.capture(gpu) as run:
        my_host_code()
    run.report()

    Arrays are numpy's, or share memory with one (`__array_interface__`, host DLPack); kernels write into them. The host code is Python: loops and conditions are its own.
    Numba's arrays of a device, streams, events and devices are there too.
    target: what Triton and Numba compile for. limit, cycle_limit: those of Kernel.run.
    """

    def __init__(self, gpu, *, target="sm_80", limit=LIMIT, cycle_limit=CYCLE_LIMIT):
        self.gpu = checked(gpu)
        self.target = target
        #: What each launch came to, in order: kernel, grid, block, cycles, time_s, energy_j, and the rest of its document.
        self.launches = []
        self._limits = {"limit": limit, "cycle_limit": cycle_limit}
        self._open = None

    def __enter__(self):
        if self._open is not None:
            raise Error("this capture is open already: another `with` takes a capture of its own")
        with ExitStack() as stack:
            for hook in (_triton_hook, _numba_hook):
                stack.enter_context(hook(self))
            self._open = stack.pop_all()
        return self

    def __exit__(self, *exception):
        opened, self._open = self._open, None
        return opened.__exit__(*exception)

    def launch(self, kernel):
        """Runs a launch (a Kernel) and writes what its buffers hold into the arrays that were passed."""
        run = kernel.run(self.gpu, **self._limits)
        for name, array in kernel._arrays.items():
            _write(name, array, run.outputs[name])
        document = run.document
        shape = {"grid": kernel.grid, "block": kernel.block}
        self.launches.append({"kernel": kernel.name, **shape, **_figures(run), "document": document})
        return run

    def _launch_numba(self, kernel, args, shape):
        self.launch(Kernel.numba(kernel, args, *shape, target=self.target))

    def report(self):
        """What all launches came to, by kernel and together."""
        return Report(self.gpu, self.launches)

    def __repr__(self):
        return f"<warpwatt.capture on {self.gpu.preset}: {len(self.launches)} launches>"


def _write(name, array, contents):
    """What a buffer holds, into its array; constants may stay as they are."""
    if array.flags.writeable:
        array[...] = contents
    elif array.tobytes() != contents.tobytes():
        raise Error(f"`{name}` is read-only, and the kernel writes into it: pass a copy")


def _figures(run):
    return {"cycles": run.cycles, "time_s": run.time_s, "energy_j": run.energy}


class Report:
    """Launches by kernel, and together: calls, cycles, seconds, joules, watts."""

    def __init__(self, gpu, launches):
        self.gpu = gpu
        names = dict.fromkeys(one["kernel"] for one in launches)
        of = {name: [one for one in launches if one["kernel"] == name] for name in names}
        #: A dict a kernel, the dearest first.
        self.kernels = sorted((_sums(name, ones) for name, ones in of.items()), key=lambda row: -(row["energy_j"] or row["time_s"]))
        #: All of them.
        self.total = _sums("all kernels", launches)

    def __str__(self):
        head = f"{self.gpu!r}\n  {'kernel':<32}{'calls':>8}{'cycles':>14}{'time':>12}{'energy':>12}{'power':>12}"
        rows = [f"  {row['kernel'][:31]:<32}{row['calls']:>8}{row['cycles']:>14}" + "".join(f"{cell:>12}" for cell in _cells(row)) for row in self._rows()]
        return "\n".join([head, *rows])

    __repr__ = __str__

    def _rows(self):
        return [*self.kernels, self.total]

    def _repr_html_(self):
        import html

        head = "".join(f"<th>{name}</th>" for name in ("kernel", "calls", "cycles", "time", "energy", "power"))
        rows = "".join(
            f"<tr><td>{html.escape(row['kernel'])}</td><td>{row['calls']}</td><td>{row['cycles']}</td>" + "".join(f"<td>{cell}</td>" for cell in _cells(row)) + "</tr>"
            for row in self._rows()
        )
        return f"<table><caption>{html.escape(repr(self.gpu))}</caption><tr>{head}</tr>{rows}</table>"


def _sums(name, launches):
    seconds = sum(one["time_s"] for one in launches)
    priced = all(one["energy_j"] is not None for one in launches)
    joules = sum(one["energy_j"] for one in launches) if priced else None
    power = joules / seconds if priced and seconds else None
    return {"kernel": name, "calls": len(launches), "cycles": sum(one["cycles"] for one in launches), "time_s": seconds, "energy_j": joules, "power_w": power}


def _cells(row):
    figures = ((row["time_s"], "s"), (row["energy_j"], "J"), (row["power_w"], "W"))
    return ["-" if value is None else readable(value, unit) for value, unit in figures]


#: Words of a launch of Triton that are no parameters.
_OPTIONS = {"num_warps": 4, "num_stages": 3, "num_ctas": 1, "maxnreg": None, "debug": None}
#: Those that change nothing here.
_IGNORED = ("stream", "launch_cooperative_grid", "launch_pdl")


@contextmanager
def _triton_hook(captured):
    if "triton" not in sys.modules:
        try:
            import triton  # noqa: F401
        except ImportError:
            yield
            return
    from triton.runtime.jit import JITFunction

    from . import _triton

    def run(function, *args, grid, warmup=False, **words):
        options = {name: words.pop(name, usual) for name, usual in _OPTIONS.items()}
        for name in _IGNORED:
            words.pop(name, None)
        passed, constants = _triton.bound(function, args, words)
        grid = extents(grid({**passed, **constants}) if callable(grid) else grid, "grid")
        # Triton launches nothing for a grid without programs.
        if not warmup and 0 not in grid:
            captured.launch(Kernel.triton(function, passed, constants, grid, captured.target, **options))

    with patched(JITFunction, "run", run):
        yield


@contextmanager
def _numba_hook(captured):
    from . import _numba

    try:
        _numba._package()
        capability = _numba._capability(captured.target)
    except Error:
        yield
        return
    from . import _numba_host

    with _numba_host.hooked(captured, capability):
        yield

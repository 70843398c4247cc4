"""warpwatt: power, energy, area and timing of GPU kernels, without a GPU.

    import warpwatt as ww
    gpu = ww.Gpu("h100", node="5nm", vdd=0.7)
    kernel = ww.Kernel.ptx(text, args=(x, y, 1000), grid=4, block=256)
    run = kernel.run(gpu)
    run.cycles, run.energy, run.power, run.outputs["arg1"]

All quantities are in SI units (joules, watts, seconds, square metres, hertz) unless a name says otherwise.
"""

#: Which module has a name: it is imported when the name is first asked for, so that importing the package takes next to nothing.
_WHERE = {
    "__version__": "_native",
    "Array": "_array",
    "array": "_array",
    "arrays": "_array",
    "Board": "_gpu",
    "calibrate": "_board",
    "Calibration": "_board",
    "capture": "_capture",
    "dask": "_executors",
    "Defect": "_native",
    "Error": "_native",
    "Explanation": "_study",
    "Front": "_study",
    "Gpu": "_gpu",
    "Kernel": "_kernel",
    "KernelFault": "_native",
    "Logic": "_array",
    "logic": "_array",
    "Page": "_run",
    "predict": "_board",
    "Prediction": "_board",
    "PtxError": "_native",
    "readers": None,
    "Results": "_study",
    "Run": "_run",
    "Study": "_study",
    "Table": "_table",
    "Technology": "_array",
    "what_if": "_study",
}

__all__ = list(_WHERE)


def __getattr__(name):
    if name not in _WHERE:
        raise AttributeError(f"warpwatt has no `{name}`: {', '.join(__all__[1:])}")
    from importlib import import_module

    where = _WHERE[name]
    module = import_module(f".{where or name}", __name__)
    globals()[name] = value = getattr(module, name) if where else module
    return value


def __dir__():
    return sorted({*globals(), *__all__})

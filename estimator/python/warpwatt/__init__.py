"""warpwatt: power, energy, area and timing of GPU kernels, without a GPU.

    import warpwatt as ww
    gpu = ww.Gpu("h100", node="5nm", vdd=0.7)
    kernel = ww.Kernel.ptx(text, args=(x, y, 1000), grid=4, block=256)
    run = kernel.run(gpu)
    run.cycles, run.energy, run.power, run.outputs["arg1"]

All quantities are in SI units (joules, watts, seconds, square metres, hertz) unless a name says otherwise.
"""

from ._array import Array, Technology, array, arrays
from ._capture import capture
from ._executors import dask
from ._gpu import Board, Gpu
from ._kernel import Kernel
from ._native import Defect, Error, KernelFault, PtxError, __version__
from ._run import Run
from ._study import Explanation, Front, Results, Study, what_if
from ._table import Table

__all__ = [
    "__version__",
    "Array",
    "array",
    "arrays",
    "Board",
    "capture",
    "dask",
    "Defect",
    "Error",
    "Explanation",
    "Front",
    "Gpu",
    "Kernel",
    "KernelFault",
    "PtxError",
    "Results",
    "Run",
    "Study",
    "Table",
    "Technology",
    "what_if",
]

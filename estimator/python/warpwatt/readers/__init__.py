"""Counts and watts of other simulators, read as far as a GPU's structures go; what was not used is named.

    counts = ww.readers.gem5("m5out/stats.txt", clock_hz=1.8e9)
    counts.price(ww.Gpu("v100", node="12nm")).points.to_polars()
    counts.unmapped, counts.assumed

What the command reads itself (Nsight Compute, what GPGPU-Sim prints, AccelWattch's table of hardware counters) is in docs/foreign-activity.md.
"""

from ._counts import Counts
from .accelwattch import Watts, accelwattch
from .gem5 import gem5
from .mcpat import mcpat

__all__ = ["accelwattch", "Counts", "gem5", "mcpat", "Watts"]

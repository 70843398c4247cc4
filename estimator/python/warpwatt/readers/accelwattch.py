"""AccelWattch's power report (accelwattch_power_report.log): watts by component, and the counts behind them."""

import re

from .._native import Error
from ._counts import lines, number

#: Components of gpgpu_sim_wrapper.cc by what they are of.
GROUPS = {
    "front end": ("IBP", "ICP", "SCHEDP"),
    "register file": ("RFP",),
    "integer": ("INTP", "INT_MUL24P", "INT_MUL32P", "INT_MULP", "INT_DIVP"),
    "floating point": ("FPUP", "DPUP", "FP_MULP", "FP_DIVP", "DP_MULP", "DP_DIVP"),
    "special functions": ("FP_SQRTP", "FP_LGP", "FP_SINP", "FP_EXP"),
    "tensor": ("TENSORP",),
    "texture": ("TEXP",),
    "pipeline": ("PIPEP",),
    "memory": ("DCP", "TCP", "CCP", "SHRDP", "L2CP", "NOCP", "MCP", "DRAMP"),
    "idle SMs": ("IDLE_COREP",),
    "constant": ("CONSTP",),
    "static": ("STATICP",),
}
_LINE = re.compile(r"(kernel_avg_power|gpu_(?:avg|tot)_\w+),?\s*=\s*(\S+)")
_NAME = re.compile(r"kernel_name\s*=\s*(\S+)")


class Watts:
    """Mean watts of a kernel as AccelWattch tells them.

    kernel, power (all of it), components (by AccelWattch's names), groups (front end, memory, tensor, idle SMs, ...), counts (totals of its counters, by its names), unmapped
    (components that are in no group).
    """

    def __init__(self, kernel):
        self.kernel = kernel
        self.power = None
        self.components = {}
        self.counts = {}

    @property
    def groups(self):
        """Watts by what they are of: memory is caches, shared memory, network, controllers and DRAM."""
        return {group: sum(self.components.get(name, 0.0) for name in names) for group, names in GROUPS.items()}

    @property
    def unmapped(self):
        """Components that are in no group."""
        known = {name for names in GROUPS.values() for name in names}
        return sorted(set(self.components) - known)

    def __repr__(self):
        told = ", ".join(f"{group} {watts:.3g}" for group, watts in self.groups.items() if watts)
        return f"<warpwatt.readers.Watts of {self.kernel}: {self.power} W ({told})>"


def accelwattch(source):
    """The kernels of a power report in order, a Watts each. source: path, or an open file.

    Counts of hardware (hw_perf.csv) are priced by a study, `activity = { file = "hw_perf.csv", map = "accelwattch" }`.
    """
    kernels, name = [], None
    for line in lines(source):
        if found := _NAME.search(line):
            name = found[1]
        elif found := _LINE.match(line.strip()):
            _take(kernels, name, *found.groups())
    if not kernels:
        raise Error("the file has no `kernel_avg_power`: AccelWattch writes it into accelwattch_power_report.log")
    return kernels


def _take(kernels, name, key, text):
    value = number(text)
    if key == "kernel_avg_power":
        kernels.append(Watts(name or f"kernel_{len(kernels) + 1}"))
        kernels[-1].power = value
    elif kernels and key.startswith("gpu_avg_") and _is_power(key[8:]):
        kernels[-1].components[key[8:]] = value
    elif kernels and key.startswith("gpu_tot_") and not key.endswith("_power"):
        kernels[-1].counts[key[8:]] = value


def _is_power(name):
    return any(name in names for names in GROUPS.values()) or name.endswith("P")

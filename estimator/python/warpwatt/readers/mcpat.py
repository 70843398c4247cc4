"""McPAT's input: an XML of components with `param` and `stat`, as McPAT 1.3 and GPUWattch read it."""

import os
from xml.etree import ElementTree

from .._native import Error
from ._counts import Counts, Rule, counted, number

_CORE = r"core\d*\."
_L2 = r"L2\d*\."
_LANES = "accesses are taken for operations of lanes, as GPUWattch fills them"
#: Names are those of McPAT's XML_Parse.cc.
_RULES = [
    Rule("cycles", ["total_cycles"], most=True),
    Rule("cycles", [f"{_CORE}total_cycles"], most=True, assumed="the core that ran longest stands for the GPU"),
    Rule("warp_instructions", [f"{_CORE}total_instructions"], assumed="an instruction is one of a warp"),
    Rule("instruction_buffer.read", [f"{_CORE}committed_instructions"], assumed="an instruction is taken from the buffer once"),
    Rule("instruction_buffer.write", [f"{_CORE}total_instructions"], assumed="nothing is fetched and thrown away"),
    Rule("scoreboard.read", [f"{_CORE}total_instructions"], assumed="one check an instruction"),
    Rule("register_words_read", [f"{_CORE}int_regfile_reads", f"{_CORE}float_regfile_reads"], assumed="an access is a word of a lane"),
    Rule("register_words_written", [f"{_CORE}int_regfile_writes", f"{_CORE}float_regfile_writes"], assumed="an access is a word of a lane"),
    Rule("int_add.read", [f"{_CORE}ialu_accesses"], assumed=_LANES),
    Rule("int_mul.read", [f"{_CORE}mul_accesses"], assumed=f"{_LANES}; GPUWattch counts special functions here"),
    Rule("fp32_mul.read", [f"{_CORE}fpu_accesses"], assumed=f"{_LANES}; all are taken for multiply-adds in single precision"),
    Rule("icache.tag.read", [rf"{_CORE}icache\.read_accesses"]),
    Rule("icache.data.read", [rf"{_CORE}icache\.read_accesses"]),
    Rule("icache_misses", [rf"{_CORE}icache\.read_misses"]),
    Rule("l1_reads", [rf"{_CORE}dcache\.read_accesses"], assumed="an access is a sector"),
    Rule("l1_read_hits", [rf"{_CORE}dcache\.read_accesses"], (rf"{_CORE}dcache\.read_misses",)),
    Rule("l1_read_misses", [rf"{_CORE}dcache\.read_misses"]),
    Rule("l1_writes", [rf"{_CORE}dcache\.write_accesses"], assumed="an access is a sector"),
    Rule("l1_lookups", [rf"{_CORE}dcache\.read_accesses", rf"{_CORE}dcache\.write_accesses"]),
    Rule("constant_accesses", [rf"{_CORE}ccache\.read_accesses"]),
    Rule("shared_words", [rf"{_CORE}sharedmemory\.read_accesses", rf"{_CORE}sharedmemory\.write_accesses"], assumed="an access is a word"),
    Rule("l2_reads", [f"{_L2}read_accesses"], assumed="an access is a sector"),
    Rule("l2_read_hits", [f"{_L2}read_accesses"], (f"{_L2}read_misses",)),
    Rule("l2_read_misses", [f"{_L2}read_misses"]),
    Rule("l2_writes", [f"{_L2}write_accesses"], assumed="an access is a sector"),
    Rule("dram_reads", [r"mc\.memory_reads"]),
    Rule("dram_writes", [r"mc\.memory_writes"]),
]
#: Parts that stand for all of their kind where the file says that they are alike.
_ALIKE = {"core": ("homogeneous_cores", "number_of_cores"), "L2": ("homogeneous_L2s", "number_of_L2s")}


def mcpat(source, *, kernel="mcpat"):
    """Counts of McPAT's input: statistics of cores, caches and memory controllers; cores that are said to be alike count as many times as there are.

    source: path, or an open file. kernel: what the counts are called. The clock is `target_core_clockrate`.
    """
    system = _system(source)
    parameters, statistics = {}, {}
    _gather(system, "", parameters, statistics)
    for kind, (alike, count) in _ALIKE.items():
        if parameters.get(alike) == 1:
            times = parameters.get(count) or 1
            # cycles pass in all of them at once
            statistics = {name: value * times if name.startswith(kind) and not name.endswith("cycles") else value for name, value in statistics.items()}
    counters, used, assumed = counted(statistics, _RULES)
    if not counters.get("cycles"):
        raise Error("the file has no `total_cycles`: a stat of McPAT's component `system`, or of its cores")
    if clock := parameters.get("target_core_clockrate"):
        counters = {"clock_hz": 1e6 * clock, **counters}
    unmapped = {name for name, value in statistics.items() if value and name not in used}
    return Counts("McPAT", {kernel: counters}, unmapped, assumed)


def _system(source):
    name = source if isinstance(source, (str, os.PathLike)) else "the file"
    try:
        root = ElementTree.parse(source).getroot()
    except ElementTree.ParseError as error:
        raise Error(f"`{name}` is no XML: {error}") from error
    except OSError as error:
        raise Error(f"cannot read `{name}`: {error.strerror}") from error
    system = next((one for one in root.iter("component") if one.get("id") == "system"), None)
    if system is None:
        raise Error(f"`{name}` has no component `system`: McPAT's input is meant, not what it prints")
    return system


def _gather(component, prefix, parameters, statistics):
    """Values by the ids of their components, without `system.`."""
    for one in component:
        if one.tag == "component":
            _gather(one, one.get("id", "").removeprefix("system.") + ".", parameters, statistics)
        elif one.tag in ("param", "stat") and (value := number(one.get("value", ""))) is not None:
            (parameters if one.tag == "param" else statistics)[prefix + one.get("name", "")] = value

"""gem5's stats.txt, of its model of AMD's GPUs (src/gpu-compute) with the caches of GPU_VIPER (src/mem/ruby)."""

import re

from .._native import Error
from ._counts import Counts, Rule, counted, lines, number

_CU = r".*\.CUs?\d*\."
_UNIT = rf"{_CU}numVecOpsExecuted"
_FUSED = (f"{_UNIT}FMA32", f"{_UNIT}MAC32", f"{_UNIT}MAD32")
#: Instruction caches, first and second levels: the controllers of GPU_VIPER.
_SQC, _TCP, _TCC = (rf".*\.{name}_cntrl\d*\.{cache}\." for name, cache in (("sqc", "L1cache"), ("tcp", "L1cache"), ("tcc", "L2cache")))
_DRAM = r".*\.mem_ctrls?\d*\."

#: Names are those of compute_unit.cc, register_file.cc, CacheMemory.cc and mem_ctrl.cc.
_RULES = [
    Rule("cycles", [f"{_CU}totalCycles"], most=True, assumed="the compute unit that ran longest stands for the GPU"),
    Rule("warp_instructions", [f"{_CU}numInstrExecuted"]),
    Rule("thread_instructions", [_UNIT], assumed="lanes of vector instructions; scalar instructions have none"),
    Rule("instruction_buffer.read", [f"{_CU}numInstrExecuted"]),
    Rule("instruction_buffer.write", [f"{_CU}numInstrExecuted"], assumed="nothing is fetched and thrown away"),
    Rule("scoreboard.read", [f"{_CU}numInstrExecuted"], assumed="one check an instruction"),
    Rule("register_words_read", [rf"{_CU}vector_register_file\d*\.registerReads"]),
    Rule("register_words_written", [rf"{_CU}vector_register_file\d*\.registerWrites"]),
    Rule("fp32_mul.read", _FUSED, assumed="fused operations; multiplications alone are counted as additions"),
    Rule("fp32_add.read", [f"{_UNIT}F32"], _FUSED),
    Rule("fp64.read", [f"{_UNIT}F64"]),
    Rule("int_add.read", [_UNIT], (f"{_UNIT}F16", f"{_UNIT}F32", f"{_UNIT}F64"), assumed="all vector operations but floating-point ones: lanes of memory instructions are among them"),
    Rule("shared_accesses", [f"{_CU}ldsNoFlatInsts", f"{_CU}flatLDSInsts"]),
    Rule("shared_words", [f"{_CU}ldsBankAccesses"], assumed="a word a bank access"),
    Rule("memory_accesses", [f"{_CU}vectorMemReads", f"{_CU}vectorMemWrites", f"{_CU}flatVMemInsts"]),
    Rule("constant_accesses", [f"{_CU}scalarMemReads"]),
    Rule("icache.tag.read", [f"{_SQC}m_demand_accesses"]),
    Rule("icache.data.read", [f"{_SQC}m_demand_accesses"]),
    Rule("icache_misses", [f"{_SQC}m_demand_misses"]),
    Rule("l1_reads", [f"{_TCP}m_demand_accesses"], assumed="lines for sectors, stores among them"),
    Rule("l1_read_hits", [f"{_TCP}m_demand_hits"]),
    Rule("l1_read_misses", [f"{_TCP}m_demand_misses"]),
    Rule("l1_lookups", [f"{_TCP}m_demand_accesses"]),
    Rule("l2_reads", [f"{_TCC}m_demand_accesses"], assumed="lines for sectors, stores among them"),
    Rule("l2_read_hits", [f"{_TCC}m_demand_hits"]),
    Rule("l2_read_misses", [f"{_TCC}m_demand_misses"]),
    Rule("dram_reads", [f"{_DRAM}readReqs"], assumed="of the whole system: the CPU's are among them where it shares the memory"),
    Rule("dram_writes", [f"{_DRAM}writeReqs"], assumed="of the whole system: the CPU's are among them where it shares the memory"),
]
#: Statistics of the GPU: what of them feeds nothing is named.
_OURS = re.compile(rf"(?:{_CU}|{_SQC}|{_TCP}|{_TCC}|{_DRAM}).*")
#: Shares, means and histograms, which are no counts, by their names.
_DERIVED = re.compile(r".*(PerWF|PerKiloInst|Dist\b.*|Utilization|\.ipc|\.vpc.*|Latency\b.*|Interleave\b.*|Parallelism\b.*|::.*|Rate|Bw\w*|avg\w*|Ratio\w*|percent\w*)")


def gem5(source, *, clock_hz=None):
    """Counts of gem5's stats.txt: a kernel a dump, called dump_1, dump_2, ... Dumps without a compute unit that ran are left out.

    source: path, or an open file. clock_hz: of the compute units; stats.txt does not say which clock is theirs, and without it the GPU's own is taken.
    """
    counters, unmapped, assumed, foreign = {}, set(), {}, 0
    for place, statistics in enumerate(_dumps(lines(source)), 1):
        counts, used, so = counted(statistics, _RULES)
        if not counts.get("cycles"):
            continue
        if clock_hz:
            counts = {"clock_hz": clock_hz, **counts}
        counters[f"dump_{place}"] = counts
        assumed.update(so)
        ours = {name for name in statistics if _OURS.fullmatch(name)}
        foreign = max(foreign, len(statistics) - len(ours))
        unmapped |= {name for name in ours - used if statistics[name] and not _DERIVED.fullmatch(name)}
    if not counters:
        raise Error("no dump of these statistics has a compute unit that ran (`....CUs0.totalCycles`): gem5 writes them for its GPU model, src/gpu-compute")
    return Counts("gem5", counters, {_general(name) for name in unmapped}, assumed, foreign)


def _general(name):
    """A name without the numbers of its instances."""
    return re.sub(r"(?<=[A-Za-z])\d+(?=\.)", "*", name)


def _dumps(all_lines):
    """A dict a dump."""
    statistics = {}
    for line in all_lines:
        if line.startswith("---------- End Simulation Statistics"):
            yield statistics
            statistics = {}
        words = line.split("#", 1)[0].split()
        if len(words) >= 2 and (value := number(words[1])) is not None:
            statistics[words[0]] = value
    if statistics:
        yield statistics

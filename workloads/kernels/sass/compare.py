#!/usr/bin/env python3
"""Sets what the suite's PTX executes beside what its machine code would: docs/machine-code.md says how far to trust it.

    cargo run --release -p warpwatt-suite --example line_counts > lines.csv
    python3 workloads/kernels/sass/compare.py lines.csv --arch 75 90 > workloads/kernels/sass/counts.csv

Needs ptxas and nvdisasm on the path (of PyPI: nvidia-cuda-nvcc and nvidia-cuda-nvdisasm); no GPU.
"""

import argparse
import csv
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass, field

KERNELS = pathlib.Path(__file__).resolve().parent.parent
KINDS = ["all", "integer", "fp32", "fp64", "sfu", "control", "barrier", "ld_global", "st_global", "ld_shared", "st_shared", "atomic", "constant", "texture", "other"]

# What PTX and machine code call the same: each such instruction of PTX becomes exactly one of the machine, so that copies can be counted.
ANCHORS = {
    "fma.rn.f32": "FFMA", "add.f32": "FADD", "sub.f32": "FADD", "add.rn.f32": "FADD", "sub.rn.f32": "FADD", "mul.f32": "FMUL", "mul.rn.f32": "FMUL",
    "fma.rn.f64": "DFMA", "add.f64": "DADD", "mul.f64": "DMUL",
    "bar.sync": "BAR", "st.global": "STG", "st.shared": "STS", "ld.global": "LDG", "ld.shared": "LDS", "shfl.sync": "SHFL",
    "ex2.approx": "MUFU", "lg2.approx": "MUFU", "sin.approx": "MUFU", "cos.approx": "MUFU", "rsqrt.approx": "MUFU", "rcp.approx": "MUFU", "tex.": "TEX",
}  # fmt: skip

MACHINE_KINDS = {
    "fp32": "FFMA FADD FMUL FSETP FMNMX FSEL FCHK FSET FFMA32I FADD32I FMUL32I FSWZADD",
    "fp64": "DFMA DADD DMUL DSETP",
    "sfu": "MUFU",
    "control": "BRA BSSY BSYNC EXIT RET CALL BREAK BRX BMOV WARPSYNC NOP YIELD JMP ENDCOLLECTIVE",
    "barrier": "BAR",
    "ld_global": "LDG LD",
    "st_global": "STG ST",
    "ld_shared": "LDS",
    "st_shared": "STS",
    "atomic": "ATOM ATOMG ATOMS RED REDG REDAS",
    "constant": "LDC ULDC LDCU",
    "texture": "TEX TLD TLD4 TXQ",
    "other": "LDL STL SHFL VOTE MATCH MEMBAR ERRBAR CCTL DEPBAR FENCE",
}
KIND_OF_MACHINE = {opcode: kind for kind, opcodes in MACHINE_KINDS.items() for opcode in opcodes.split()}


def kind_of_machine(opcode):
    """Integer work, moves, conversions and predicates are what is left."""
    return KIND_OF_MACHINE.get(opcode.split(".")[0], "integer")


def kind_of_ptx(opcode):
    word, *modifiers = opcode.split(".")
    space = next((space for space in ("global", "shared", "local", "const", "param") if space in modifiers), "global")
    if word in ("ld", "ldu"):
        return {"param": "constant", "const": "constant", "local": "other"}.get(space, f"ld_{space}")
    if word == "st":
        return {"local": "other", "param": "other"}.get(space, f"st_{space}")
    if word in ("atom", "red"):
        return "atomic"
    if word in ("bar", "barrier"):
        return "barrier"
    if word in ("bra", "ret", "exit", "call", "brx"):
        return "control"
    if word in ("tex", "tld4", "txq"):
        return "texture"
    if word in ("shfl", "vote", "match", "membar", "fence", "activemask"):
        return "other"
    if word in ("ex2", "lg2", "sin", "cos", "rsqrt", "rcp", "sqrt", "tanh") or (word == "div" and modifiers[-1].startswith("f")):
        return "sfu"
    if word in ("fma", "add", "sub", "mul", "mad", "min", "max", "setp", "abs", "neg", "set", "copysign", "testp"):
        return {"f32": "fp32", "f64": "fp64"}.get(modifiers[-1], "integer")
    return "integer"


def opcode_of(line):
    return re.sub(r"^@!?%\w+\s+", "", line.strip()).split()[0].rstrip(";")


def numbered(text):
    """The PTX with each instruction's line as its place in a source, which ptxas carries on into machine code."""
    out, inside = [], False
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if re.match(r"\.(file|loc)\s", stripped):
            continue
        if inside and re.match(r"(@!?%\w+\s+)?[a-z][\w.:]*\s|(ret|exit);", stripped):
            out.append(f".loc 1 {number} 0")
        out.append(line)
        if stripped.startswith(".address_size"):
            out.append('.file 1 "kernel.ptx"')
        if not stripped.startswith("//") and stripped.count("{") != stripped.count("}"):
            inside = stripped.count("{") > stripped.count("}")
    return "\n".join(out) + "\n"


@dataclass
class Block:
    """A basic block of machine code: its instructions, with the line of PTX that each comes from and whether it has a guard."""

    slow: bool = False
    code: list = field(default_factory=list)

    def copies(self, opcodes):
        """How often lines of PTX are there, by the opcode that they become. What has a guard may have been a branch around it in PTX, and then runs more often
        here: it counts only where there is nothing else."""
        found = {False: Counter(), True: Counter()}
        for line, opcode, guarded in self.code:
            if anchor_of(opcodes.get(line, "")) == opcode.split(".")[0]:
                found[guarded][line] += 1
        return found[False] or found[True]


def disassembled(text, arch, folder):
    """The blocks of all functions."""
    target = folder / "kernel.ptx"
    # PTX runs on what it names and on all that is newer; none of the suite needs more than sm_70.
    target.write_text(re.sub(r"\.target sm_\d+", ".target sm_70", numbered(text)))
    subprocess.run(["ptxas", f"-arch=sm_{arch}", "-lineinfo", "-o", folder / "cubin", target], check=True, capture_output=True)
    listing = subprocess.run(["nvdisasm", "-g", "-c", folder / "cubin"], check=True, capture_output=True, text=True).stdout
    return blocks_of(listing)


def blocks_of(listing):
    blocks, line, slow, inside = [], 0, False, False
    for row in listing.splitlines():
        if re.match(r"\s*\.section\s", row):
            inside, slow = ".text." in row, False
            blocks.append(Block())
        elif match := re.match(r"\s*(\$?[\w$.]+):\s*$", row):
            # The way that numbers outside the common range take: assumed to be never gone.
            slow = slow or "slowpath" in match[1]
            blocks.append(Block(slow))
        elif match := re.search(r'File "kernel.ptx", line (\d+)', row):
            line = int(match[1])
        elif inside and (match := re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)(.*)", row)):
            guard, opcode, rest = match.groups()
            if opcode != "NOP":
                blocks[-1].code.append((line, opcode, guard is not None))
            if opcode.split(".")[0] in ("BRA", "EXIT", "RET", "CALL", "BRX"):
                # What calls the slow way is as rare.
                blocks[-1].slow |= opcode.startswith("CALL") and "slowpath" in rest
                blocks.append(Block(slow))
    return [block for block in blocks if block.code]


def anchor_of(opcode):
    return next((machine for start, machine in ANCHORS.items() if opcode.startswith(start)), None)


def frequencies(blocks, executed, opcodes):
    """How often each block runs, from how often the lines do that are surely in it."""
    anchors = defaultdict(dict)  # line -> block -> copies
    places = defaultdict(set)
    for place, block in enumerate(blocks):
        for line, *_ in block.code:
            places[line].add(place)
        if not block.slow:
            for line, count in block.copies(opcodes).items():
                anchors[line][place] = count
    estimates = defaultdict(list)
    for line, found in anchors.items():
        most = max(found.values())
        main = [place for place, copies in found.items() if copies == most]
        for place in found:
            # Of an unrolled loop and what is left over, the unrolled one runs; of equal copies all run alike.
            estimates[place].append(executed.get(line, 0) / most / len(main) if place in main else 0.0)
    return [frequency(block, estimates.get(place), executed, places) for place, block in enumerate(blocks)]


def frequency(block, estimates, executed, places):
    if block.slow:
        return 0.0
    if not estimates:
        estimates = [executed.get(line, 0) / len(places[line]) for line, *_ in block.code]
    return statistics.median(estimates)


def machine_counts(blocks, often):
    counts = Counter()
    for block, times in zip(blocks, often):
        for _, opcode, _ in block.code:
            counts[kind_of_machine(opcode)] += times
            counts["all"] += times
    return counts


def ptx_counts(executed, opcodes):
    counts = Counter()
    for line, times in executed.items():
        counts[kind_of_ptx(opcodes[line])] += times
        counts["all"] += times
    return counts


def line_counts(path):
    counts = defaultdict(dict)
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            counts[row["kernel"]][int(row["line"])] = int(row["warp_instructions"])
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lines", help="what the example line_counts writes")
    parser.add_argument("--arch", nargs="+", type=int, default=[75, 90], help="compute capabilities, times ten")
    options = parser.parse_args()
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["kernel", "code", *KINDS])
    for kernel, executed in sorted(line_counts(options.lines).items()):
        text = (KERNELS / kernel / "kernel.ptx").read_text()
        lines = text.splitlines()
        opcodes = {number: opcode_of(lines[number - 1]) for number in executed}
        counts = {"ptx": ptx_counts(executed, opcodes)}
        for arch in options.arch:
            with tempfile.TemporaryDirectory() as folder:
                blocks = disassembled(text, arch, pathlib.Path(folder))
            counts[f"sm_{arch}"] = machine_counts(blocks, frequencies(blocks, executed, opcodes))
        for code, found in counts.items():
            table.writerow([kernel, code, *(round(found[kind]) for kind in KINDS)])


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""What `ptxas` makes of operations of PTX that are several instructions of the machine: their opcodes in order, on the way that common numbers take.

    python3 workloads/kernels/sass/expansions.py > workloads/kernels/sass/expansions.csv

Needs ptxas and nvdisasm on the path (of PyPI: nvidia-cuda-nvcc and nvidia-cuda-nvdisasm); no GPU. A kernel with the operation is set beside one that only
moves an operand of the same type; what it has more, is what the operation takes. Subroutines for numbers outside the common range are left out, and the branch
around their call is what follows `FCHK` or a comparison.
"""

import argparse
import pathlib
import re
import subprocess
import tempfile

# Operation: type of the operands, type of the result, operands.
OPERATIONS = {
    "add.s64": ("b64", "b64", 2), "sub.s64": ("b64", "b64", 2), "mul.lo.s64": ("b64", "b64", 2), "mul.hi.u64": ("b64", "b64", 2), "mad.lo.s64": ("b64", "b64", 3),
    "and.b64": ("b64", "b64", 2), "min.s64": ("b64", "b64", 2), "neg.s64": ("b64", "b64", 1), "abs.s64": ("b64", "b64", 1),
    "div.u32": ("b32", "b32", 2), "div.s32": ("b32", "b32", 2), "rem.u32": ("b32", "b32", 2), "rem.s32": ("b32", "b32", 2),
    "div.u64": ("b64", "b64", 2), "div.s64": ("b64", "b64", 2), "rem.u64": ("b64", "b64", 2), "rem.s64": ("b64", "b64", 2),
    "bfe.u32": ("b32", "b32", 3), "bfe.s32": ("b32", "b32", 3), "bfi.b32": ("b32", "b32", 4), "abs.s32": ("b32", "b32", 1), "clz.b32": ("b32", "b32", 1), "popc.b32": ("b32", "b32", 1),
    "mul.hi.u32": ("b32", "b32", 2), "mul.hi.s32": ("b32", "b32", 2), "sad.s32": ("b32", "b32", 3), "brev.b32": ("b32", "b32", 1),
    "mul.wide.u32": ("b32", "b64", 2),
    "div.rn.f32": ("f32", "f32", 2), "div.full.f32": ("f32", "f32", 2), "div.approx.f32": ("f32", "f32", 2), "div.approx.ftz.f32": ("f32", "f32", 2),
    "rcp.rn.f32": ("f32", "f32", 1), "sqrt.rn.f32": ("f32", "f32", 1), "sqrt.approx.f32": ("f32", "f32", 1), "sqrt.approx.ftz.f32": ("f32", "f32", 1),
    "rsqrt.approx.f32": ("f32", "f32", 1), "rsqrt.approx.ftz.f32": ("f32", "f32", 1), "rcp.approx.f32": ("f32", "f32", 1), "rcp.approx.ftz.f32": ("f32", "f32", 1),
    "ex2.approx.f32": ("f32", "f32", 1), "ex2.approx.ftz.f32": ("f32", "f32", 1), "lg2.approx.f32": ("f32", "f32", 1), "lg2.approx.ftz.f32": ("f32", "f32", 1),
    "sin.approx.f32": ("f32", "f32", 1), "sin.approx.ftz.f32": ("f32", "f32", 1), "cos.approx.f32": ("f32", "f32", 1), "tanh.approx.f32": ("f32", "f32", 1),
    "div.rn.f64": ("f64", "f64", 2), "rcp.rn.f64": ("f64", "f64", 1), "sqrt.rn.f64": ("f64", "f64", 1), "min.f64": ("f64", "f64", 2), "max.f64": ("f64", "f64", 2),
    "cvt.s64.s32": ("b32", "b64", 1), "cvt.u64.u32": ("b32", "b64", 1), "cvt.u32.u64": ("b64", "b32", 1), "cvt.rn.f32.s32": ("b32", "f32", 1), "cvt.rzi.s32.f32": ("f32", "b32", 1),
    "cvt.rn.f64.s32": ("b32", "f64", 1), "cvt.f64.f32": ("f32", "f64", 1), "cvt.rn.f32.f64": ("f64", "f32", 1),
}  # fmt: skip
# Operations whose operands do not have the type that their name ends with.
SHIFTS = {"shl.b64": "b64", "shr.u64": "b64", "shr.s64": "b64"}
SPECIAL = {"setp.lt.s64": "selp.b32 %r9, 1, 0, %p1;", "setp.eq.s64": "selp.b32 %r9, 1, 0, %p1;", "setp.lt.f64": "selp.b32 %r9, 1, 0, %p1;", "setp.lt.s32": "selp.b32 %r9, 1, 0, %p1;"}

REGISTER = {"b32": "%r", "b64": "%rd", "f32": "%f", "f64": "%fd"}


def kernel(lines, operands, result):
    """Operands come from memory, since nothing is known of them then."""
    kind, count = operands
    body = [f"ld.global.{kind} {REGISTER[kind]}{number}, [%rd10+{64 * number}];" for number in range(1, count + 1)]
    body += [*lines, f"st.global.{result} [%rd10], {REGISTER[result]}9;"]
    return (
        ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .pred %p<4>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<16>;\n.reg .f32 %f<16>;\n.reg .f64 %fd<16>;\n"
        + "ld.param.u64 %rd10, [p];\n" + "\n".join(body) + "\nret;\n}\n"
    )  # fmt: skip


def opcodes(text, arch, folder):
    """Of the entry alone, up to its first exit: subroutines stand behind it."""
    (folder / "k.ptx").write_text(text)
    subprocess.run(["ptxas", f"-arch=sm_{arch}", "-o", folder / "k.cubin", folder / "k.ptx"], check=True, capture_output=True)
    listing = subprocess.run(["nvdisasm", "-c", folder / "k.cubin"], check=True, capture_output=True, text=True).stdout
    found = []
    for row in listing.splitlines():
        if re.match(r"\s*\$\S*slowpath|\s*\$\S*__internal", row):
            break
        if match := re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)", row):
            found.append(match[1])
            if match[1] == "EXIT":
                break
    return found


def more(found, without):
    """What is left of one list when the other's are taken away, by the first word."""
    left = list(found)
    for opcode in without:
        same = [at for at, other in enumerate(left) if other.split(".")[0] == opcode.split(".")[0]]
        if same:
            del left[same[0]]
    return left


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arch", nargs="*", default=["75", "80", "90"])
    arguments = parser.parse_args()
    print("operation,code,count,opcodes")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for arch in arguments.arch:
            for operation, (kind, result, count) in OPERATIONS.items():
                sources = ", ".join(f"{REGISTER[kind]}{number}" for number in range(1, count + 1))
                line = f"{operation} {REGISTER[result]}9, {sources};"
                show(operation, arch, [line], (kind, count), result, folder)
            for operation, kind in SHIFTS.items():
                show(operation, arch, [f"cvt.u32.u64 %r2, %rd2;", f"{operation} %rd9, %rd1, %r2;"], (kind, 2), kind, folder)
                show(operation + " literal", arch, [f"{operation} %rd9, %rd1, 3;"], (kind, 1), kind, folder)
            for operation, rest in SPECIAL.items():
                kind = {"s64": "b64", "f64": "f64", "s32": "b32"}[operation.split(".")[-1]]
                register = REGISTER[kind]
                show(operation, arch, [f"{operation} %p1, {register}1, {register}2;", rest], (kind, 2), "b32", folder)


def show(operation, arch, lines, operands, result, folder):
    found = opcodes(kernel(lines, operands, result), arch, folder)
    # The same loads, and the result is as much of an operand as fits.
    move = {"b32": "mov.b32 %r9, {};", "b64": "mov.b64 %rd9, {};", "f32": "mov.f32 %f9, {};", "f64": "mov.f64 %fd9, {};"}
    kind, count = operands
    plain = move[result].format(f"{REGISTER[kind]}1") if kind == result else ""
    prepared = [] if plain else [f"mov.b{result[1:]} {REGISTER[result]}9, 1;" if result[0] == "b" else f"mov.{result} {REGISTER[result]}9, 0d0000000000000000;" if result == "f64" else f"mov.f32 {REGISTER[result]}9, 0f00000000;"]
    without = opcodes(kernel(prepared + ([plain] if plain else []), operands, result), arch, folder)
    # Operands that nobody reads are not loaded there.
    without += ["LDG"] * max(0, found.count("LDG.E.SYS") + found.count("LDG.E") + found.count("LDG.E.64.SYS") + found.count("LDG.E.64") - sum(opcode.startswith("LDG") for opcode in without))
    left = more(found, without)
    print(f"{operation},sm_{arch},{len(left)},{' '.join(left)}")


if __name__ == "__main__":
    main()

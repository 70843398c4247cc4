#!/usr/bin/env python3
"""Compiles the kernels of these cases and writes their inputs and what they must compute.

Needs clang-19, lld-19 and llvm-19. The outputs are computed here, an element at a time, from the meaning of the OpenCL source."""

import pathlib
import random
import struct
import subprocess

HERE = pathlib.Path(__file__).parent
TARGET = "-x cl -cl-std=CL2.0 -nogpulib -ffp-contract=off -target amdgcn-amd-amdhsa -mcpu=gfx600".split()
LEVELS = {"gather_scale": "-O2", "group_sum": "-O1", "lanes": "-O3", "calls": "-O0"}
FORMATS = {"u8": "B", "i16": "h", "i32": "i", "u32": "I", "u64": "Q", "f32": "f", "f64": "d"}
rng = random.Random(23)


def single(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def signed(value, bits=32):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def gather_scale():
    n, factor = 250, 1.5
    a = [single(rng.randrange(-4000, 4000) / 16) for _ in range(n)]
    at = [rng.randrange(1 << 20) for _ in range(n)]
    out, wide = [0.0] * 300, [0.0] * 300
    for i in range(n):
        v = a[at[i] % n]
        w = single(v * factor) if v < 0 else single(v + factor)
        out[i] = single(float(w // 1) - single(0.5 * v))
        wide[i] = v * 3.0 + i
    return ([3, 1, 1], [100, 1, 1],
            [("a", "f32", a, None), ("at", "u32", at, None), ("out", "f32", None, out), ("wide", "f64", None, wide), ("factor", "f32", factor), ("n", "i32", n)])


def group_sum():
    data = [rng.randrange(-1000, 1000) for _ in range(4 * 128)]
    sums, groups = [], [data[128 * g:128 * g + 128] for g in range(4)]
    for group in groups:
        sums += [sum(group), min(group)]
    seen = [sum(data), max(-5000, *(min(group) for group in groups))]
    return ([2, 2, 1], [32, 4, 1], [("in", "i32", data, None), ("sums", "i32", None, sums), ("seen", "i32", [0, -5000], seen)])


def lanes():
    count = 128
    data = [rng.randrange(256) for _ in range(count)]
    halves = [rng.randrange(-32768, 32768) for _ in range(count)]
    longs = [rng.randrange(1 << 64) for _ in range(count)]
    words, out, low = [], [], []
    for a, b, c in zip(data, halves, longs):
        steps, n = 0, a + 1
        while n != 1 and steps < 200:
            n = 3 * n + 1 if n & 1 else n >> 1
            steps += 1
        ub = b & 0xffffffff
        whole = (b + 40000) * 77777 & 0xffffffff
        words.append((steps + whole // (a + 3) * 7 + ((a << 20 & 0xffffffff) >> 3)) & 0xffffffff)
        words.append(((b >> 3) & 0xffffffff) ^ bin(a * 0x01010101 & 0xffffffff).count("1"))
        out.append((c * 0x100000001b3 + (c >> (a & 63)) - b) & (1 << 64) - 1)
        low.append(((a * 37 + ub) & 0xffffffff) >> 2 & 255)
    return ([2, 1, 1], [64, 1, 1],
            [("bytes", "u8", data, None), ("halves", "i16", halves, None), ("longs", "u64", longs, None), ("words", "u32", None, words), ("out", "u64", None, out), ("low", "u8", None, low)])


def calls():
    data = [rng.randrange(-1 << 20, 1 << 20) for _ in range(128)]
    rounds, out = 9, []

    def mixed(a, b, r):
        return signed(a * 31 + (b ^ r) - (a >> 3))

    for i in range(128):
        own = [signed(data[i] + k * 5) for k in range(24)]
        for r in range(rounds):
            at = (data[(i + r) & 127] & 0x7fffffff) % 24
            own[at] = mixed(own[at], own[(at + 7) % 24], r)
        total = 0
        for k in range(24):
            total = mixed(total, own[k], k)
        out.append(total)
    return ([2, 1, 1], [64, 1, 1], [("in", "i32", data, None), ("out", "i32", None, out), ("rounds", "i32", rounds)])


def write(folder, name, kind, values):
    (folder / "small").mkdir(exist_ok=True)
    (folder / "small" / name).write_bytes(struct.pack(f"<{len(values)}{FORMATS[kind]}", *values))


def launch_file(folder, name, grid, block, arguments):
    lines = [f'name = "{name}"', "", "[small]", f'kernel = "{name}"', f"grid = {grid}", f"block = {block}"]
    for index, (argument, kind, *values) in enumerate(arguments):
        lines += ["", "[[small.arg]]", f"index = {index}", f'name = "{argument}"', f'type = "{kind}"']
        if len(values) == 1:
            lines += ['kind = "scalar"', f"value = {values[0]}"]
            continue
        before, after = values
        lines += [f"count = {len(before or after)}"]
        if after is None:
            write(folder, f"{argument}.bin", kind, before)
            lines += ['kind = "in"', f'file = "small/{argument}.bin"']
        elif before is None:
            write(folder, f"{argument}.bin", kind, after)
            lines += ['kind = "out"', 'init = "zeros()"', f'file = "small/{argument}.bin"']
        else:
            write(folder, f"{argument}.bin", kind, before)
            write(folder, f"{argument}.after.bin", kind, after)
            lines += ['kind = "inout"', f'file = "small/{argument}.bin"', f'expect = "small/{argument}.after.bin"']
    (folder / "meta.toml").write_text("\n".join(lines) + "\n")


def listing(text):
    kept = []
    for line in text.splitlines():
        line = line.split(";")[0].rstrip()
        word = line.strip().split(" ")[0]
        if word.startswith(("s_", "v_", "ds_", "buffer_")) or word.startswith(".LBB") or (word.endswith(":") and word[:-1].isidentifier()):
            kept.append(line)
    return "\n".join(kept) + "\n"


for case in (gather_scale, group_sum, lanes, calls):
    folder = HERE / case.__name__
    launch_file(folder, case.__name__, *case())
    compile = ["clang-19", *TARGET, LEVELS[case.__name__]]
    subprocess.run([*compile, "-c", "kernel.cl", "-o", "kernel.o"], cwd=folder, check=True)
    subprocess.run(["ld.lld-19", "-shared", "kernel.o", "-o", "kernel.hsaco"], cwd=folder, check=True)
    text = subprocess.run([*compile, "-S", "kernel.cl", "-o", "-"], cwd=folder, check=True, capture_output=True, text=True).stdout
    (folder / "kernel.lst").write_text(listing(text))

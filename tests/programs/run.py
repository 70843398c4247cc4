#!/usr/bin/env python3
"""Builds public CUDA programs and runs them with `warpwatt exec`: a row of a Markdown table for each.

  python3 tests/programs/run.py --sources FOLDER --nvcc NVCC --warpwatt target/release/warpwatt [--programs NAME ...]

FOLDER holds clones of HeCBench, cuda-samples, polybenchGpu, gpu-rodinia: those that are not there are left out. Nothing of them belongs to this repository.
A program passes if it says so itself and its exit code is zero. `arguments.toml` beside this script has smaller sizes than the programs' own.
"""

import argparse
import os
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path

FLAGS = ["-std=c++17", "-cudart", "shared", "-gencode", "arch=compute_80,code=compute_80", "--expt-extended-lambda", "--expt-relaxed-constexpr", "-w",
         "-DcudaThreadSynchronize=cudaDeviceSynchronize", "-DcudaThreadExit=cudaDeviceReset"]
PASSED = re.compile(r"\bpass|success|\bok\b|all results match|correct\b|verified|non-matching cpu-gpu outputs[^:]*: 0$", re.I | re.M)
FAILED = re.compile(r"fail|mismatch|incorrect|wrong|not match|unsuccess", re.I)


def hecbench(root):
    for folder in sorted((root / "src").glob("*-cuda")):
        makefile = (folder / "Makefile").read_text() if (folder / "Makefile").exists() else ""
        listed = re.search(r"^source\s*[:+]?=\s*((?:[^\n\\]|\\\n)*)", makefile, re.M)
        sources = [folder / word for word in listed.group(1).replace("\\\n", " ").split() if "$" not in word] if listed else []
        if not sources or not all(source.exists() for source in sources):
            sources = sorted([*folder.glob("*.cu"), *folder.glob("*.cpp")])
        options = [word.replace(" ", "") for word in re.findall(r"-[DI]\s*[\w./=]+", makefile) if "$" not in word]
        yield folder.name.removesuffix("-cuda"), folder, sources, options + [f"-I{root}/src/include", f"-I{folder}/include"]


def samples(root):
    for folder in sorted({path.parent for path in root.glob("**/*.cu")}):
        yield folder.name, folder, sorted([*folder.glob("*.cu"), *folder.glob("*.cpp")]), [f"-I{root}/Common"]


def polybench(root):
    for source in sorted((root / "CUDA").glob("**/*.cu")):
        yield source.stem, source.parent, [source], [f"-I{root}/common", "-DMINI_DATASET", "-DRUN_ON_CPU"]


def rodinia(root):
    for source in sorted((root / "cuda").glob("**/*.cu")):
        yield source.stem, source.parent, [source], []


SUITES = {"HeCBench": hecbench, "cuda-samples": samples, "polybenchGpu": polybench, "gpu-rodinia": rodinia}


def build(options, folder, sources, flags, binary):
    if binary.exists():
        return None
    # The wheels of PyPI hold no `libcudart.so`, only the library with its version.
    command = [options.nvcc, *FLAGS, f"-I{folder}", *flags, *map(str, sources), "-o", str(binary), "-Xcompiler", "-fopenmp"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    problem = re.search(r"error[^\n]*|undefined reference[^\n]*", done.stdout + done.stderr)
    return None if done.returncode == 0 else (problem.group(0) if problem else "it does not compile")[:100]


def run(options, folder, binary, arguments):
    command = [str(Path(options.warpwatt).resolve()), "exec", *options.exec, "--", str(binary), *map(str, arguments)]
    begun = time.monotonic()
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=options.seconds)
    except subprocess.TimeoutExpired:
        return f"longer than {options.seconds} s", time.monotonic() - begun
    text = (done.stdout + done.stderr).decode(errors="replace")
    if done.returncode:
        told = [line for line in text.splitlines() if line.startswith(("warpwatt: ", "error"))]
        return f"exit code {done.returncode}: {(told or [''])[0][:100]}", time.monotonic() - begun
    said = done.stdout.decode(errors="replace")
    verdict = "says FAIL" if FAILED.search(said) else "PASS" if PASSED.search(said) else "runs, says nothing"
    return verdict, time.monotonic() - begun


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=Path, required=True, help="the folder with the clones")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--warpwatt", default="target/release/warpwatt")
    parser.add_argument("--binaries", type=Path, default=Path("/tmp/warpwatt-programs"), help="where programs are built, and kept")
    parser.add_argument("--programs", nargs="*", help="only these: SUITE/NAME or NAME")
    parser.add_argument("--seconds", type=int, default=120, help="how long a program may run")
    parser.add_argument("--exec", nargs="*", default=[], help="options of `warpwatt exec`, such as --functional (write --exec=--functional)")
    options = parser.parse_args()
    smaller = tomllib.loads((Path(__file__).parent / "arguments.toml").read_text())
    options.binaries.mkdir(parents=True, exist_ok=True)
    print("| program | result | seconds |\n| --- | --- | --- |")
    passed = 0
    for suite, programs in SUITES.items():
        root = options.sources / suite
        for name, folder, sources, flags in programs(root) if root.is_dir() else []:
            if options.programs and not {name, f"{suite}/{name}"} & set(options.programs):
                continue
            binary = options.binaries / f"{suite}-{name}"
            problem = build(options, folder, sources, flags, binary)
            arguments = smaller.get(suite, {}).get(name, [])
            verdict, seconds = (problem, 0.0) if problem else run(options, folder, binary, arguments)
            passed += verdict == "PASS"
            print(f"| {suite}/{name} | {verdict} | {seconds:.1f} |", flush=True)
    print(f"\n{passed} programs pass.", file=sys.stderr)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()

#!/usr/bin/env python3
"""Builds public CUDA programs and runs them with `warpwatt exec`: a line for each as it ends, and then the table of docs/exec.md.

  python3 tests/programs/run.py --sources FOLDER --nvcc NVCC --warpwatt target/release/warpwatt [--programs NAME ...]

FOLDER holds clones of HeCBench, cuda-samples, polybenchGpu, gpu-rodinia, llm.c: those that are not there are left out. Nothing of them belongs to this repository.
A program passes if it says so itself and its exit code is zero. `arguments.toml` beside this script has smaller sizes than the programs' own; where these stand in
the source, what stands in their place in a copy of it. `data.py` makes the files that some read.
"""

import argparse
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

import data

FLAGS = ["-std=c++17", "-cudart", "shared", "-gencode", "arch=compute_80,code=compute_80", "--expt-extended-lambda", "--expt-relaxed-constexpr", "-w",
         "-DcudaThreadSynchronize=cudaDeviceSynchronize", "-DcudaThreadExit=cudaDeviceReset"]
PASSED = re.compile(r"\bpass|success|\bok\b|all results match|correct\b|verified|non-matching cpu-gpu outputs[^:]*: 0$|^number of misses: 0$|^accuracy: \S+e-0[4-9]$", re.I | re.M)
FAILED = re.compile(r"(?<!\b0 )fail|mismatch|incorrect|wrong|not match|not ok\b|unsuccess|non-matching cpu-gpu outputs[^:\n]*: [1-9]", re.I)


def hecbench(root):
    for folder in sorted((root / "src").glob("*-cuda")):
        # What make would do names the sources and their options, whatever conditions and variables the Makefile has.
        asked = subprocess.run(["make", "-n", "-B", "CC=nvcc"], cwd=folder, capture_output=True, text=True, errors="replace")
        compiled = [line.split() for line in asked.stdout.splitlines() if line.startswith("nvcc ")]
        sources = list(dict.fromkeys(folder / word for words in compiled for word in words if re.search(r"\.(cu|cpp|cc|c)$", word)))
        if not sources or not all(source.exists() for source in sources):
            sources = sorted([*folder.glob("*.cu"), *folder.glob("*.cpp")])
        options = list(dict.fromkeys(word for words in compiled for word in words if re.match(r"-[DI].|-rdc|-x$|cu$|-dc$", word)))
        options = ["-rdc=true" if word == "-dc" else word for word in options]
        # Makefiles name it in several ways, some only where the program is linked.
        options += [f"-l{name}" for name in ("cublas", "cublasLt") if re.search(rf"(-l|cudalib=){name}\b", asked.stdout)]
        # Some have types of their own where OpenMP is on.
        options += ["-Xcompiler", "-fopenmp"] if "-fopenmp" in asked.stdout else []
        yield folder.name.removesuffix("-cuda"), folder, sources, options + [f"-I{root}/src/include"]


def samples(root):
    for folder in sorted({path.parent for path in root.glob("**/*.cu")}):
        yield folder.parent.name if folder.name == "src" else folder.name, folder, sorted([*folder.glob("*.cu"), *folder.glob("*.cpp")]), [f"-I{root}/Common", "-Xcompiler", "-fopenmp"] + ["-rdc=true"] * folder.name.startswith("cdp")


def polybench(root):
    for source in sorted((root / "CUDA").glob("**/*.cu")):
        yield source.stem, source.parent, [source], [f"-I{root}/common", "-DMINI_DATASET", "-DRUN_ON_CPU", "-Xcompiler", "-fopenmp"]


def rodinia(root):
    for source in sorted((root / "cuda").glob("**/*.cu")):
        if re.search(r"\bmain\s*\(", source.read_text(errors="replace")):
            yield str(source.relative_to(root / "cuda").with_suffix("")).replace("/", "-"), source.parent, [source], ["-Xcompiler", "-fopenmp"]


def llm(root):
    # A step of GPT-2, which compares with what `gpt2.py` made.
    yield "test_gpt2_fp32", root, [root / "test_gpt2_fp32.cu"], ["-lcublas"]


SOURCES = (".cu", ".cuh", ".cpp", ".cc", ".c", ".h", ".hpp")
SUITES = {"HeCBench": hecbench, "cuda-samples": samples, "polybenchGpu": polybench, "gpu-rodinia": rodinia, "llm.c": llm}


PASS, SILENT, LONG = "PASS", "runs, says nothing", "takes longer"


def libraries(options):
    """The wheels of PyPI hold no `libcudart.so`, only the library with its version, and so of cuBLAS: a folder where the linker finds them."""
    folder = options.binaries / "lib"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("libcudart.so", "libcublas.so", "libcublasLt.so"):
        found = sorted((Path(options.nvcc).resolve().parent.parent / "lib").glob(f"{name}.*"))
        link = folder / name
        if found and not link.exists():
            link.symlink_to(found[-1])
    return f"-L{folder}"


def smaller(options, folder, sources, flags, texts):
    """A copy of a program's folder in which some texts are others, among links to the folders beside it and beside the one above."""
    beside = options.binaries / "smaller" / folder.parent.parent.name / folder.parent.name
    beside.mkdir(parents=True, exist_ok=True)
    for place, original in ((beside, folder), (beside.parent, folder.parent)):
        for sibling in original.parent.iterdir():
            if sibling != original and not (place / sibling.name).exists():
                (place / sibling.name).symlink_to(sibling)
    copy = beside / folder.name
    if copy.is_symlink():
        copy.unlink()
    shutil.copytree(folder, copy, dirs_exist_ok=True)
    for old, new in texts.items():
        holders = [path for path in copy.rglob("*") if path.suffix in SOURCES and old in path.read_text(errors="surrogateescape")]
        if not holders:
            raise SystemExit(f"{folder.name} has no `{old}` any more")
        for path in holders:
            path.write_text(path.read_text(errors="surrogateescape").replace(old, new), errors="surrogateescape")
    moved = [copy / source.relative_to(folder) if source.is_relative_to(folder) else source for source in sources]
    return copy, moved, [flag.replace(str(folder), str(copy)) for flag in flags]


def build(options, folder, sources, flags, binary):
    if binary.exists():
        return None
    command = [options.nvcc, *FLAGS, libraries(options), f"-I{folder}", *flags, *map(str, sources), "-o", str(binary)]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=600)
    except subprocess.TimeoutExpired:
        return "it does not compile within 600 s"
    problem = re.search(r"error[^\n]*|undefined reference[^\n]*", done.stdout + done.stderr)
    return None if done.returncode == 0 else f"it does not compile: {problem.group(0) if problem else ''}"[:120]


def run(options, folder, binary, arguments):
    """What became of it, and the processor time that it took."""
    command = [str(Path(options.warpwatt).resolve()), "exec", *options.exec, "--", str(binary.resolve()), *map(str, arguments)]

    # Of processor time: the machine may have other work. A program that waits for ever is ended too.
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (options.seconds, options.seconds + 5))
        os.setpgrp()

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    program = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=limit)
    try:
        said, told = (text.decode(errors="replace") for text in program.communicate(timeout=4 * options.seconds))
    except subprocess.TimeoutExpired:
        os.killpg(program.pid, signal.SIGKILL)
        program.communicate()
        return LONG, 4.0 * options.seconds
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if program.returncode in (128 + signal.SIGXCPU, 128 + signal.SIGKILL, -signal.SIGXCPU, -signal.SIGKILL):
        return LONG, seconds
    if program.returncode:
        reasons = [line.strip() for line in told.splitlines() if line.startswith(("warpwatt: ", "error")) or "a kernel stopped" in line]
        reasons = [line for line in reasons if str(binary.resolve()) not in line] or [line for line in said.splitlines() if line.strip()][-1:] or [""]
        return f"exit code {program.returncode}: {reasons[0][:140]}", seconds
    stopped = re.search(r"a kernel stopped: ([^\n]*)", told)
    if stopped:
        return f"goes on after a kernel stopped: {stopped.group(1)[:140]}", seconds
    failed = FAILED.search(said)
    return f"says {failed.group(0)}" if failed else PASS if PASSED.search(said) else SILENT, seconds


def table(results):
    """How many of each suite passed, and which did not."""
    rows = ["| suite | tried | print that they pass | run and say nothing | take longer | do not compile | do not pass |", "| --- | --- | --- | --- | --- | --- | --- |"]
    for suite, verdicts in results.items():
        kinds = Counter(verdicts.values())
        unbuilt = [name for name, verdict in verdicts.items() if verdict.startswith("it does not compile")]
        others = [f"`{name}`" for name, verdict in verdicts.items() if verdict not in (PASS, SILENT, LONG) and name not in unbuilt]
        cells = [suite, len(verdicts), kinds[PASS], kinds[SILENT], kinds[LONG], len(unbuilt), ", ".join(others)]
        rows.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=Path, required=True, help="the folder with the clones")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--warpwatt", default="target/release/warpwatt")
    parser.add_argument("--binaries", type=Path, required=True, help="where programs are built, and kept")
    parser.add_argument("--built", action="store_true", help="only programs that were built before")
    parser.add_argument("--programs", nargs="*", help="only these: SUITE, SUITE/NAME or NAME")
    parser.add_argument("--seconds", type=int, default=60, help="processor time that a program may take")
    parser.add_argument("--exec", nargs="*", default=[], help="options of `warpwatt exec`, such as --functional (write --exec=--functional)")
    options = parser.parse_args()
    sizes = tomllib.loads((Path(__file__).parent / "arguments.toml").read_text())
    options.binaries = options.binaries.resolve()
    files = data.make(options.binaries / "data", (options.sources / "llm.c").is_dir())
    results = defaultdict(dict)
    for suite, programs in SUITES.items():
        root = (options.sources / suite).resolve()
        for name, folder, sources, flags in programs(root) if root.is_dir() else []:
            if options.programs and not {suite, name, f"{suite}/{name}"} & set(options.programs):
                continue
            binary = options.binaries / f"{suite}-{name}"
            if options.built and not binary.exists():
                continue
            texts = sizes.get(f"{suite} in the source", {}).get(name, {})
            if texts:
                folder, sources, flags = smaller(options, folder, sources, flags, texts)
            problem = build(options, folder, sources, flags, binary)
            arguments = [word.replace("DATA", str(files)) for word in sizes.get(suite, {}).get(name, [])]
            # Rodinia's programs write where they run, and one looks for its picture three folders above. That of llm.c reads there.
            where = {"gpu-rodinia": options.binaries / "run" / suite / name, "llm.c": files / "llm.c"}.get(suite, folder)
            where.mkdir(parents=True, exist_ok=True)
            verdict, seconds = (problem, 0.0) if problem else run(options, where, binary, arguments)
            results[suite][name] = verdict
            print(f"{suite}/{name}: {verdict} ({seconds:.1f} s)", file=sys.stderr, flush=True)
    print(table(results))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()

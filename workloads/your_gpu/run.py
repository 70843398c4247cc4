#!/usr/bin/env python3
"""Measures the power of this machine's GPU under micro-benchmarks and applications; docs/your-gpu.md says what and why.

    python3 run.py --out my-gpu

writes my-gpu/watts.csv, my-gpu/counts.csv and my-gpu/gpu.json. Needs nvcc, the driver and, for the counts, ncu; of Python its standard library alone.
"""

import argparse
import csv
import datetime
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys

import meter
import profiler

HERE = pathlib.Path(__file__).resolve().parent
# Run again between the others, to see how much a figure moves while the board warms up.
REPEATED = ["idle", "fma_f32", "dram_read"]
EVERY = 12


def arguments(words):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, type=pathlib.Path, help="the folder for the results, made if it is not there")
    parser.add_argument("--gpu", type=int, default=0, help="which one, by its number in nvidia-smi (0)")
    parser.add_argument("--seconds", type=float, default=4.0, help="measured, of each benchmark (4)")
    parser.add_argument("--warm", type=float, default=1.0, help="run before that (1)")
    parser.add_argument("--seed", type=int, default=1, help="of the order (1)")
    parser.add_argument("--only", help="benchmarks, by their names, with commas between")
    parser.add_argument("--ncu", default="ncu", help="the profiler (ncu)")
    parser.add_argument("--no-counts", action="store_true", help="power alone, without the profiler")
    parser.add_argument("--nvcc", default="nvcc", help="the compiler (nvcc)")
    parser.add_argument("--bench", type=pathlib.Path, help="a benchmark program that is built already")
    return parser.parse_args(words)


def target(gpu):
    """The architecture to compile for. Hopper's matrix instructions need its own target."""
    query = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader", f"--id={gpu}"]
    asked = subprocess.run(query, capture_output=True, text=True, check=True)
    version = asked.stdout.strip().replace(".", "")
    version = "90a" if version == "90" else version
    return f"arch=compute_{version},code=sm_{version}"


def build(options):
    program = options.out / "bench"
    # As the suite's PTX is made: multiply-adds are those of the sources.
    flags = ["-std=c++17", "-O3", "-fmad=false", "-gencode", target(options.gpu)]
    subprocess.run([options.nvcc, *flags, "-o", program, HERE / "bench.cu"], check=True)
    return program


def listed(bench):
    answer = subprocess.run([bench, "list"], capture_output=True, text=True, check=True)
    device, *benchmarks = map(json.loads, answer.stdout.splitlines())
    return device, benchmarks


def ordered(names, seed):
    """In random order, so that the board's warming up is in no benchmark more than in others; some again and again, idle first and last."""
    rest = [name for name in names if name != "idle"]
    random.Random(seed).shuffle(rest)
    again = [name for name in REPEATED if name in names]
    order = again[:1]
    for place, name in enumerate(rest, 1):
        order.append(name)
        if place % EVERY == 0:
            order += again
    return order + again[:1]


def measured(bench, watch, name, options):
    words = [bench, "run", name, "--warm", str(options.warm), "--seconds", str(options.seconds)]
    with meter.Recorder(watch) as recorder:
        ran = subprocess.run(words, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise RuntimeError(ran.stderr.strip()[-400:] or f"ended with {ran.returncode}")
    done = json.loads(ran.stdout.splitlines()[-1])
    seconds = done["end"] - done["begin"]
    return {
        **meter.summary(recorder.samples, done["begin"], done["end"]),
        "seconds": seconds,
        "launches": done["launches"],
        "iterations": done["iterations"],
        "grid": done["grid"],
        "block": done["block"],
        "operands": "zeros" if name.endswith("_zeros") else "random",
        "operation": done["operation"],
        "operations_per_s": done["operations"] / seconds,
        "bytes_per_s": done["bytes"] / seconds,
    }


def power_rows(bench, watch, benchmarks, options, failed):
    known = {benchmark["name"]: benchmark for benchmark in benchmarks}
    rows = []
    for place, name in enumerate(ordered(list(known), options.seed)):
        about = known[name]
        try:
            row = measured(bench, watch, name, options)
        except RuntimeError as error:
            failed[name] = str(error)
            print(f"{name}: {error}", file=sys.stderr)
            continue
        rows.append({"name": name, "role": about["role"], "part": about["part"], "order": place, **row})
        print(f"{name:20} {row['power_w'] or 0:8.1f} W {row['core_mhz'] or 0:6.0f} MHz {row['limited_by']}", flush=True)
    return rows


def count_rows(bench, rows, options, failed, missing):
    """Counts of one launch as long as those that were measured. Repeated benchmarks are counted once."""
    metrics, unknown = profiler.known_metrics(options.ncu)
    missing += unknown
    once = {row["name"]: row for row in rows if row["launches"] > 0}
    counted = []
    for name, row in once.items():
        try:
            found = profiler.profile(options.ncu, metrics, options.out / "ncu", bench, name, row["iterations"])
        except RuntimeError as error:
            failed[f"{name} (counts)"] = str(error)
            print(f"{name}: {error}", file=sys.stderr)
            continue
        counted.append({"name": name, "iterations": row["iterations"], **{metric: found.get(metric) for metric in metrics}})
        print(f"{name:20} counted", flush=True)
    return counted


def text(value):
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) and abs(value) < 1e6 else f"{value:.9g}" if isinstance(value, float) else str(value)


def write_table(path, rows):
    if not rows:
        return
    with path.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(rows[0])
        table.writerows([text(value) for value in row.values()] for row in rows)


def chosen(benchmarks, only):
    if only is None:
        return benchmarks
    wanted = only.split(",")
    unknown = set(wanted) - {benchmark["name"] for benchmark in benchmarks}
    if unknown:
        sys.exit(f"this GPU has no benchmark {', '.join(sorted(unknown))}")
    return [benchmark for benchmark in benchmarks if benchmark["name"] in wanted]


def main(words):
    options = arguments(words)
    options.out.mkdir(parents=True, exist_ok=True)
    bench = (options.bench or build(options)).resolve()
    # CUDA and NVML number GPUs alike only when told to.
    os.environ.update(CUDA_DEVICE_ORDER="PCI_BUS_ID", CUDA_VISIBLE_DEVICES=str(options.gpu))
    watch = meter.Meter(options.gpu)
    device, benchmarks = listed(bench)
    benchmarks = chosen(benchmarks, options.only)
    failed, missing = {}, []
    rows = power_rows(bench, watch, benchmarks, options, failed)
    write_table(options.out / "watts.csv", rows)
    if not options.no_counts and shutil.which(options.ncu):
        write_table(options.out / "counts.csv", count_rows(bench, rows, options, failed, missing))
    elif not options.no_counts:
        failed["counts"] = f"there is no {options.ncu}"
    about = {
        **device,
        **watch.about(),
        "date": datetime.date.today().isoformat(),
        "seed": options.seed,
        "seconds": options.seconds,
        "warm": options.warm,
        "metrics_missing": missing,
        "failed": failed,
    }
    (options.out / "gpu.json").write_text(json.dumps(about, indent=2) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

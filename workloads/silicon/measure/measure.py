#!/usr/bin/env python3
"""Measures the kernels of workloads/silicon on this machine's NVIDIA GPU.

    python3 measure.py times    --out my-gpu
    python3 measure.py watts    --out my-gpu
    python3 measure.py counters --out my-gpu

write my-gpu/times.csv, my-gpu/watts.csv and my-gpu/counters.csv; README.md says what each column means. Needs the driver, Python 3.11 with numpy, and for counters `ncu`, which
must be allowed to read them. No setting of the GPU is changed: clocks are as they are found. What cannot be measured is said and left out; the exit status is
then 1, and 2 where nothing can be.
"""

import argparse
import csv
import pathlib
import sys
import time

import counters
from gpu import Gpu, Prepared
from launches import launches

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "your_gpu"))
import meter  # noqa: E402

BATCHES, BATCH_US = 5, 4000
WARM_UP_S = 0.4
LONGEST_IN_A_ROW_US = 20000


def arguments(words):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["times", "watts", "counters", "once"], help="once: each launch that is counted, for the profiler")
    parser.add_argument("--out", type=pathlib.Path, help="the folder for the results, made if it is not there")
    parser.add_argument("--gpu", type=int, default=0, help="which one, by its number in nvidia-smi (0)")
    parser.add_argument("--only", default="", help="launches with this text in their group or name")
    parser.add_argument("--warm", type=float, default=0.5, help="seconds of the same work before watts are taken (0.5)")
    parser.add_argument("--seconds", type=float, default=2.0, help="during which watts are taken (2)")
    parser.add_argument("--ncu", default="ncu", help="the profiler (ncu)")
    options = parser.parse_args(words)
    if options.out is None and options.what != "once":
        parser.error("--out is missing")
    return options


def chosen(gpu, kind, only):
    return [launch for launch in launches(gpu.sms()) if kind in launch.kinds and only in f"{launch.group} {launch.name}"]


def each(gpu, kind, options, failed, measure):
    """What is measured of each launch of a kind, with its arrays on the GPU; a launch that fails is said."""
    for launch in chosen(gpu, kind, options.only):
        try:
            with Prepared(gpu, launch) as prepared:
                row = measure(prepared)
        except RuntimeError as error:
            failed.append(launch)
            print(f"{launch.group}: {launch.name}: {error}", file=sys.stderr)
            continue
        yield {"group": launch.group, "launch": launch.name, **row}


def warm_up(gpu):
    launch = next(launch for launch in launches(gpu.sms()) if launch.name.startswith("float_fma,"))
    with Prepared(gpu, launch) as prepared:
        end = time.monotonic() + WARM_UP_S
        while time.monotonic() < end:
            prepared.microseconds(20)


def median(values):
    return sorted(values)[len(values) // 2]


def clocks(watch):
    state = watch.state()
    return {"core_mhz": state["core_mhz"], "memory_mhz": state["memory_mhz"], "temperature_c": state["temperature_c"]}


def timed(prepared, watch):
    prepared.microseconds()
    batch = int(min(40, max(1, BATCH_US / max(prepared.microseconds(), 0.5))))
    batches = [prepared.microseconds(batch) for _ in range(BATCHES)]
    alone = [prepared.microseconds() for _ in range(BATCHES)]
    measured = {"us": median(batches), "least_us": min(batches), "alone_us": median(alone), "batch": batch}
    return {**measured, **prepared.binary(), **clocks(watch)}


def times(gpu, watch, options, failed):
    warm_up(gpu)
    return each(gpu, "times", options, failed, lambda prepared: timed(prepared, watch))


def work(prepared, burst, seconds):
    """Keeps the GPU busy: from when to when, how many launches, and microseconds of a launch."""
    begin, launched, us = time.monotonic(), 0, 0.0
    while time.monotonic() - begin < seconds:
        us += prepared.microseconds(burst) * burst
        launched += burst
    return begin, time.monotonic(), launched, us / launched


def drawn(watch, during):
    """Watts while `during` runs, which returns when it began and ended, launches, and their microseconds."""
    with meter.Recorder(watch) as recorder:
        begin, end, launched, us = during()
    inside = [sample for sample in recorder.samples if begin <= sample["t"] <= end]
    seen = meter.summary(recorder.samples, begin, end)
    last = inside[-1] if inside else {"average_w": None, "usage_w": None}
    return {
        "energy_w": meter.slope(inside),
        "sensor_w": last["usage_w"] if last["average_w"] is None else last["average_w"],
        "busy": us * launched * 1e-6 / (end - begin),
        "us": us,
        "launches": launched,
        **{name: seen[name] for name in ("core_mhz", "core_mhz_least", "memory_mhz", "temperature_c", "limited_by")},
    }


def rest(seconds):
    begin = time.monotonic()
    time.sleep(seconds)
    return begin, time.monotonic(), 0, 0.0


def powered(prepared, watch, options):
    prepared.microseconds()
    burst = int(max(1, min(200, LONGEST_IN_A_ROW_US / max(prepared.microseconds(2), 1))))
    work(prepared, burst, options.warm)
    return drawn(watch, lambda: work(prepared, burst, options.seconds))


def watts(gpu, watch, options, failed):
    rest(options.seconds)
    yield {"group": "idle", "launch": "idle", **drawn(watch, lambda: rest(options.seconds))}
    yield from each(gpu, "watts", options, failed, lambda prepared: powered(prepared, watch, options))


def once(gpu, options, failed):
    """Prints which launches ran, for the process that has the counters of them all."""
    for row in each(gpu, "counters", options, failed, lambda prepared: gpu.profiled(prepared.go) or {}):
        print("\t".join(row.values()), flush=True)


def counted(options):
    words = [HERE / "measure.py", "once", "--gpu", options.gpu, "--only", options.only]
    names, rows = counters.profile(options.ncu, options.out / "ncu.csv", words)
    if len(names) != len(rows):
        raise RuntimeError(f"{len(names)} launches ran, but the profiler saw {len(rows)}")
    return [dict(zip(["group", "launch"], name.split("\t"))) | row for name, row in zip(names, rows)]


def text(value):
    """Five digits of what was measured; counts in full."""
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    places = max(0, 4 - len(str(int(abs(value)))) + 1) if abs(value) >= 1 else 4
    return f"{value:.{places}f}"


def write(path, rows):
    """Row by row, so that what was measured is there if the rest fails."""
    with path.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        for place, row in enumerate(rows):
            if place == 0:
                table.writerow(row)
            table.writerow(map(text, row.values()))
            file.flush()


def run(options, failed):
    if options.what == "once":
        return once(Gpu(options.gpu), options, failed)
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / f"{options.what}.csv"
    if options.what == "counters":
        return write(path, counted(options))
    measured = {"times": times, "watts": watts}[options.what]
    return write(path, measured(Gpu(options.gpu), meter.Meter(options.gpu), options, failed))


def main(words):
    options, failed = arguments(words), []
    try:
        run(options, failed)
    except (OSError, RuntimeError) as error:  # no driver, no profiler, no sensors
        print(f"measure.py: {error}", file=sys.stderr)
        return 2
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

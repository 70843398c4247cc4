#!/bin/bash
# What a fleet gains on `study.toml`, whose kernels differ more than tenfold in cost: by the plan's own estimates; by the time that each unit took one worker, done in
# the plan's order by more of them; and measured with two workers at once.
#
#   tests/fleet/speedup.sh WARPWATT DIR      DIR is a new directory that gets everything
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "$1")
mkdir -p "$2"
dir=$(realpath "$2")
export WARPWATT_CACHE=

"$program" plan "$here/study.toml" --json > "$dir/plan.json"
for workers in 1 2; do
    "$program" plan "$here/study.toml" --out "$dir/queue-$workers" > "$dir/planned" 2>&1
    begun=$(date +%s.%N)
    for number in $(seq "$workers"); do
        "$program" work "$dir/queue-$workers" --jobs 1 > "$dir/out-$workers-$number" 2> "$dir/log-$workers-$number" &
    done
    wait
    echo "$begun $(date +%s.%N)" > "$dir/time-$workers"
done

python3 - "$dir" <<'PYTHON'
import heapq, json, pathlib, re, sys

place = pathlib.Path(sys.argv[1])
plan = json.loads((place / "plan.json").read_text())
for row in plan["schedules"]:
    if row["workers"] <= 16:
        print(f"estimated: {row['workers']:3} workers {row['seconds']:7.2f} s, {100 * row['efficiency']:5.1f} % of the ideal")

# One worker does the units in the plan's order, but that it may not wait.
took = [float(line.rsplit(", ", 1)[1].split()[0]) for line in (place / "log-1-1").read_text().splitlines() if line.startswith(("executed", "timed"))]
units = plan["units"]
assert len(took) == len(units)
costs = dict(zip((unit["name"] for unit in units), took))
kernels = {}
for unit in units:
    if unit["kind"] == "timing":
        kernels.setdefault(unit["label"].split()[0], []).append(costs[unit["name"]])
for name, times in kernels.items():
    print(f"a timing run of {name}: {sum(times) / len(times):.2f} s")


def makespan(workers):
    ready, waiting = [], {}
    for place, unit in enumerate(units):
        waiting.setdefault(unit["needs"], []).append((place, unit["name"]))
    for item in waiting.pop(None, []):
        heapq.heappush(ready, item)
    now, running = 0.0, []
    while ready or running:
        while ready and len(running) < workers:
            _, name = heapq.heappop(ready)
            heapq.heappush(running, (now + costs[name], name))
        now, name = heapq.heappop(running)
        for item in waiting.pop(name, []):
            heapq.heappush(ready, item)
    return now


total = sum(took)
for workers in (1, 2, 4, 8, 16):
    print(f"as units took: {workers:3} workers {makespan(workers):7.2f} s, {100 * total / workers / makespan(workers):5.1f} % of the ideal")


def measured(workers):
    begun, ended = map(float, (place / f"time-{workers}").read_text().split())
    return ended - begun


one, two = measured(1), measured(2)
print(f"measured: 1 worker {one:.2f} s, 2 workers {two:.2f} s, {100 * one / two / 2:.1f} % of the ideal")
PYTHON

"""The runner without a GPU: a program that only says that it ran, and a meter that counts up."""

import csv
import json
import pathlib
import stat
import tempfile
import time
import unittest
from unittest import mock

import meter
import profiler
import run

BENCH = """#!/usr/bin/env python3
import json, sys, time
if sys.argv[1] == "list":
    print(json.dumps({"device": "none", "capability": 90, "sms": 4, "l2_bytes": 1 << 20}))
    for name, role in (("idle", "fit"), ("fma_f32", "fit"), ("broken", "fit"), ("stencil5", "check")):
        print(json.dumps({"name": name, "role": role, "part": "x"}))
elif sys.argv[2] == "broken":
    sys.exit("no such luck")
elif sys.argv[1] == "run":
    begin = time.monotonic()
    time.sleep(0.4)
    end = time.monotonic()
    about = {"begin": begin, "end": end, "kernel_seconds": end - begin, "launches": 0 if sys.argv[2] == "idle" else 7, "iterations": 9}
    print(json.dumps({**about, "grid": 4, "block": 256, "operation": "fma.f32", "operations": 1e9, "bytes": 0}))
"""

NCU = """#!/usr/bin/env python3
import sys
words = sys.argv
if words[1] == "--query-metrics":
    print("Device none\\n-----\\nsmsp__inst_executed   Counter   inst   warp instructions")
else:
    with open(words[words.index("--log-file") + 1], "w") as log:
        log.write('==PROF== Connected\\n"ID","Kernel Name","smsp__inst_executed.sum"\\n"","","inst"\\n"0","k","1,234"\\n')
"""


class CountingMeter:
    """A board that draws 250 W, and an energy counter that moves twenty times a second."""

    def __init__(self, index=0):
        self.index = index

    def about(self):
        return {"device": "none", "power_limit_w": 300.0}

    def energy(self):
        steps = int(time.monotonic() * 20)
        return {"energy_j": steps * 250 / 20, "instant_w": 251.0, "average_w": 249.0, "usage_w": None}

    def state(self):
        return {"core_mhz": 1755, "memory_mhz": 3201, "temperature_c": 41, "utilisation": 1.0, "limits": 0x4}


def samples(energy, instant=None, usage=None):
    """Two seconds of readings, a hundred a second."""
    rows = []
    for place in range(200):
        t = place / 100
        rows.append({"t": t, "energy_j": energy(t), "instant_w": instant, "average_w": None, "usage_w": usage})
        if place % 10 == 0:
            rows[-1].update(core_mhz=1000 + place, memory_mhz=3201, temperature_c=40, utilisation=1.0, limits=0x4 if place < 10 else 0)
    return rows


class Summary(unittest.TestCase):
    def test_power_is_the_slope_of_a_counter_that_moves_in_steps(self):
        found = meter.summary(samples(lambda t: 1e6 + 400 * int(t * 20) / 20, instant=380.0), 0.1, 1.9)
        self.assertAlmostEqual(found["power_w"], 400, delta=0.5)
        self.assertEqual((found["power_from"], found["instant_w"]), ("energy", 380.0))

    def test_without_the_counter_the_best_reading_there_is_holds(self):
        nothing = lambda t: None
        found = meter.summary(samples(nothing, instant=380.0), 0.1, 1.9)
        self.assertEqual((found["power_w"], found["power_from"]), (380.0, "instant"))
        found = meter.summary(samples(nothing, usage=370.0), 0.1, 1.9)
        self.assertEqual((found["power_w"], found["power_from"]), (370.0, "usage"))
        found = meter.summary(samples(nothing), 0.1, 1.9)
        self.assertEqual((found["power_w"], found["power_from"]), (None, None))

    def test_only_readings_between_the_times_count(self):
        found = meter.summary(samples(lambda t: 100 * t if t < 1 else 300 * t - 200), 1.05, 1.95)
        self.assertAlmostEqual(found["power_w"], 300, delta=1)
        self.assertEqual(found["core_mhz_least"], 1110)

    def test_limits_that_hardly_ever_held_are_left_out(self):
        self.assertEqual(meter.summary(samples(lambda t: t), 0, 2)["limited_by"], "")
        self.assertEqual(meter.summary(samples(lambda t: t), 0, 0.5)["limited_by"], "power_cap")


class Order(unittest.TestCase):
    def test_all_come_once_and_some_again(self):
        names = ["idle", "fma_f32", "dram_read"] + [f"b{place}" for place in range(30)]
        order = run.ordered(names, 1)
        self.assertEqual(set(order), set(names))
        self.assertEqual((order[0], order[-1]), ("idle", "idle"))
        self.assertEqual({name for name in names if order.count(name) > 1}, set(run.REPEATED))
        self.assertEqual(order, run.ordered(names, 1))
        self.assertNotEqual(order, run.ordered(names, 2))


class Profile(unittest.TestCase):
    def test_a_raw_page_is_read_between_the_profilers_own_lines(self):
        page = '==PROF== x\n"ID","Kernel Name","dram__bytes_read.sum","sm__inst_executed_pipe_fma.sum"\n"","","byte","inst"\n"0","k","1,000,000","n/a"\n'
        self.assertEqual(profiler.counts(page), {"dram__bytes_read.sum": 1e6, "sm__inst_executed_pipe_fma.sum": None})
        self.assertEqual(profiler.counts("==ERROR== ERR_NVGPUCTRPERM\n"), {})


class Whole(unittest.TestCase):
    def test_a_folder_of_results(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for name, source in (("bench", BENCH), ("ncu", NCU)):
                (folder / name).write_text(source)
                (folder / name).chmod(stat.S_IRWXU)
            words = ["--out", str(folder / "out"), "--bench", str(folder / "bench"), "--ncu", str(folder / "ncu"), "--seconds", "1"]
            with mock.patch.object(meter, "Meter", CountingMeter), mock.patch("builtins.print"):
                self.assertEqual(run.main(words), 1, "one benchmark is broken")
            with (folder / "out" / "watts.csv").open() as file:
                watts = list(csv.DictReader(file))
            with (folder / "out" / "counts.csv").open() as file:
                counts = list(csv.DictReader(file))
            about = json.loads((folder / "out" / "gpu.json").read_text())
        self.assertEqual({row["name"] for row in watts}, {"idle", "fma_f32", "stencil5"})
        self.assertEqual({row["role"] for row in watts if row["name"] == "stencil5"}, {"check"})
        for row in watts:
            self.assertAlmostEqual(float(row["power_w"]), 250, delta=20)
            self.assertEqual((row["power_from"], row["limited_by"]), ("energy", "power_cap"))
        self.assertEqual({row["name"]: row["smsp__inst_executed.sum"] for row in counts}, {"fma_f32": "1234", "stencil5": "1234"})
        self.assertIn("no such luck", about["failed"]["broken"])
        self.assertIn("dram__bytes_read.sum", about["metrics_missing"])


if __name__ == "__main__":
    unittest.main()

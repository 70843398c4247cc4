"""The program without a GPU: a driver that says yes, and a meter that counts up. `python3 -m unittest discover workloads/silicon/measure`"""

import csv
import pathlib
import tempfile
import time
import unittest
from unittest import mock

import counters
import gpu
import launches
import measure

MEASURED = pathlib.Path(__file__).resolve().parents[1] / "measured"
PAGE = """==PROF== Connected
"ID","Kernel Name","Block Size","Grid Size","gpc__cycles_elapsed.max","gpc__cycles_elapsed.avg.per_second","dram__bytes_read.sum"
"","","","","cycle","hz","byte"
"0","heat","(16, 16, 1)","(86, 86, 1)","34,048","1,944,386,201.75","n/a"
"""


class Driver:
    """Each launch takes 20 us; what `missing` names cannot be loaded."""

    def __init__(self, missing=()):
        self.missing, self.launched, self.since, self.held, self.next = missing, 0, 0, {}, 4096

    def __getattr__(self, name):
        return lambda *arguments: 0

    def cuDeviceGetAttribute(self, value, *_):
        value._obj.value = 132
        return 0

    def cuMemAlloc_v2(self, pointer, count):
        self.next += count.value
        pointer._obj.value = self.next
        self.held[self.next] = count.value
        return 0

    def cuMemFree_v2(self, pointer):
        del self.held[pointer.value]
        return 0

    def cuModuleGetFunction(self, function, module, name):
        return 500 if name.decode() in self.missing else 0

    def cuLaunchKernel(self, *_):
        self.launched += 1
        return 0

    def cuEventRecord(self, *_):
        self.since, self.before = self.launched, self.since
        return 0

    def cuEventElapsedTime(self, milliseconds, *_):
        milliseconds._obj.value = (self.since - self.before) * 0.02
        return 0


class CountingMeter:
    """A board that draws 250 W, and an energy counter that moves twenty times a second."""

    def __init__(self, index=0):
        self.index = index

    def energy(self):
        return {"energy_j": int(time.monotonic() * 20) * 250 / 20, "instant_w": 251.0, "average_w": 249.0, "usage_w": None}

    def state(self):
        return {"core_mhz": 1755, "memory_mhz": 3201, "temperature_c": 41, "utilisation": 1.0, "limits": 0x4}


def ran(driver, *words):
    with tempfile.TemporaryDirectory() as folder, mock.patch("ctypes.CDLL", lambda _: driver), mock.patch("meter.Meter", CountingMeter):
        status = measure.main([*words, "--out", folder])
        with open(f"{folder}/{words[0]}.csv", newline="") as file:
            return status, list(csv.DictReader(file))


class Measuring(unittest.TestCase):
    def test_times_are_of_a_launch_and_its_memory_is_given_back(self):
        driver = Driver()
        status, rows = ran(driver, "times", "--only", "stream init")
        self.assertEqual(status, 0)
        self.assertEqual([row["launch"] for row in rows], [f"init, 2^{power}" for power in range(18, 27, 2)])
        self.assertEqual({(row["us"], row["batch"], row["core_mhz"]) for row in rows}, {("20.000", "40", "1755")})
        self.assertEqual(driver.held, {})

    def test_a_launch_that_fails_is_left_out_and_its_memory_given_back(self):
        driver = Driver(missing=["scale"])
        status, rows = ran(driver, "times", "--only", "2^18")
        self.assertEqual(status, 1)
        self.assertEqual([row["launch"][:4] for row in rows], ["init", "read", "tria"])
        self.assertEqual(driver.held, {})

    def test_watts_are_between_moves_of_the_counter(self):
        words = ["--only", "zeros", "--warm", "0.01", "--seconds", "0.6"]
        status, rows = ran(Driver(), "watts", *words)
        self.assertEqual(status, 0)
        self.assertEqual([row["group"] for row in rows], ["idle", "power", "power"])
        for row in rows:
            self.assertAlmostEqual(float(row["energy_w"]), 250, delta=20)
            self.assertEqual((row["sensor_w"], row["limited_by"]), ("249.00", "power_cap"))

    def test_a_ring_is_linked_before_it_is_followed(self):
        driver = Driver()
        with mock.patch("ctypes.CDLL", lambda _: driver), gpu.Prepared(gpu.Gpu(), launches.chase(32, 16384)) as prepared:
            self.assertEqual((driver.launched, len(driver.held)), (1, 1))
            prepared.go()
            self.assertEqual(driver.launched, 2)

    def test_counters_belong_to_the_launches_that_ran(self):
        with mock.patch("counters.profile", lambda *_: (["row\thotspot"], counters.table(PAGE))):
            (row,) = measure.counted(measure.arguments(["counters", "--out", "x"]))
        self.assertEqual((row["group"], row["launch"], row["kernel"], row["grid"]), ("row", "hotspot", "heat", "86 x 86 x 1"))
        self.assertEqual((row["cycles"], measure.text(row["clock_mhz"]), row["dram_read_bytes"]), (34048, "1944.4", None))
        with mock.patch("counters.profile", lambda *_: ([], counters.table(PAGE))), self.assertRaises(RuntimeError):
            measure.counted(measure.arguments(["counters", "--out", "x"]))

    def test_five_digits_are_kept(self):
        self.assertEqual([measure.text(value) for value in (6.8792, 303.51834, 12735.6, 0.98596, 174089.02)], ["6.8792", "303.52", "12736", "0.9860", "174089"])


class Launches(unittest.TestCase):
    def test_names_are_unique_and_kernels_are_there(self):
        found = launches.launches(132)
        self.assertGreater(len(found), 250)
        self.assertEqual(len({(launch.group, launch.name) for launch in found}), len(found))
        for program in {launch.program for launch in found}:
            text = (launches.KERNELS / f"{program}.ptx").read_text()
            for entry in {launch.entry for launch in found if launch.program == program}:
                self.assertIn(f".entry {entry}(", text)

    def test_what_was_measured_can_be_measured_again(self):
        """But chases of a part of the ring, of which watts once were taken."""
        known = {(kind, launch.group, launch.name) for launch in launches.launches(132) for kind in launch.kinds}
        for path in MEASURED.glob("*/*.csv"):
            if path.stem in launches.KINDS:
                with path.open(newline="") as file:
                    table = csv.DictReader(file)
                    measured = {(path.stem, row["group"], row["launch"]) for row in table}
                if path.stem == "counters":
                    self.assertEqual(table.fieldnames[5:], list(counters.METRICS))
                self.assertGreater(len(measured), 50)
                others = {row for row in measured - known if row[1] not in ("chase", "idle")}
                self.assertEqual(others, set())


if __name__ == "__main__":
    unittest.main()

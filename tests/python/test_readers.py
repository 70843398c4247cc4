"""Counts and watts of other simulators. The files have the names that these tools write, with numbers of our own."""

import csv
import io

import pytest

import warpwatt as ww
from conftest import ROOT

FOREIGN = ROOT / "tests/python/foreign"


def test_gem5_statistics_are_counts():
    counts = ww.readers.gem5(FOREIGN / "stats.txt", clock_hz=1.2e9)
    assert list(counts.counters) == ["dump_1"]
    kernel = counts.counters["dump_1"]
    assert kernel["cycles"] == 17473 and kernel["clock_hz"] == 1.2e9 and kernel["warp_instructions"] == 589824
    assert kernel["fp32_mul.read"] == 1048576 and kernel["fp32_add.read"] == 3200000 - 1048576
    assert kernel["int_add.read"] == 12800000 - 3200000
    assert kernel["register_words_read"] == 9000000 and kernel["icache_misses"] == 200
    assert (kernel["l1_read_hits"], kernel["l2_reads"], kernel["dram_reads"], kernel["dram_writes"]) == (20000, 10000, 4100, 1500)


def test_what_of_gem5_feeds_nothing_is_named():
    counts = ww.readers.gem5(FOREIGN / "stats.txt")
    assert counts.unmapped == ["system.cpu*.CUs*.vALUInsts", "system.cpu*.CUs*.vector_register_file*.sramReads"]
    assert counts.foreign == 3 and "int_add.read" in counts.assumed and "fp32_add.read" not in counts.assumed
    assert "clock_hz" not in counts.counters["dump_1"]


def test_mcpat_s_input_is_counts():
    counts = ww.readers.mcpat(FOREIGN / "mcpat.xml", kernel="bfs")
    kernel = counts.counters["bfs"]
    # alike cores count as many times as there are, slices of the second level as they stand
    assert kernel["cycles"] == 20000 and kernel["clock_hz"] == 700e6
    assert kernel["warp_instructions"] == 15 * 40000 and kernel["register_words_read"] == 15 * 2000000
    assert kernel["l1_read_hits"] == 15 * 5000 and kernel["l2_read_hits"] == 36000 and kernel["dram_writes"] == 7000
    assert counts.unmapped == ["NoC0.total_accesses", "busy_cycles", "core0.ROB_reads"]
    assert "fp32_mul.read" in counts.assumed


@pytest.mark.parametrize("read, file, kernel", [(ww.readers.gem5, "stats.txt", "dump_1"), (ww.readers.mcpat, "mcpat.xml", "mcpat")])
def test_counts_are_priced_as_the_command_prices_them(read, file, kernel, command, tmp_path):
    counts = read(FOREIGN / file)
    results = counts.price(ww.Gpu("v100", node="12nm", sm__count=60))
    counts.save(tmp_path / "counts.csv")
    study = '[study]\ntitle = "x"\n[gpu]\npreset = "v100"\nnode = "12nm"\nsm.count = 60\n[workloads]\nkernels = [{ activity = { file = "counts.csv" } }]\n'
    (tmp_path / "study.toml").write_text(study)
    told = command("run", "study.toml", "--out", "out", "--json")
    point = told["points"][0]
    assert results.points["kernel"] == [kernel] and results.points["cycles"] == [counts.counters[kernel]["cycles"]]
    assert results.document["points"][0]["totals"] == point["totals"]
    assert results.points["dynamic_energy_j"][0] > 0


def test_every_counter_is_one_of_ours(command):
    known = {one["name"] for one in command("list", "counters", "--json")} | {"clock_hz"}
    from warpwatt.readers import gem5, mcpat

    rules = [rule.counter for module in ("gem5", "mcpat") for rule in __import__(f"warpwatt.readers.{module}", fromlist=["_RULES"])._RULES]
    assert set(rules) <= known and len(rules) > 40
    text = csv.reader(io.StringIO(gem5(FOREIGN / "stats.txt").csv()))
    assert {row[1] for row in text} - {"counter"} <= known and mcpat


def test_accelwattch_s_watts_cover_memory_tensor_and_idle_sms():
    first, second = ww.readers.accelwattch(FOREIGN / "accelwattch_power_report.log")
    assert (first.kernel, first.power) == ("_Z6matmulPf", 150.5)
    groups = first.groups
    assert (groups["memory"], groups["tensor"], groups["idle SMs"]) == (24, 30, 8.5)
    assert sum(groups.values()) + first.components["NEWP"] == pytest.approx(first.power)
    assert first.unmapped == ["NEWP"] and first.counts == {"TENSOR_ACC": 5000, "IDLE_CORE_N": 600}
    assert (second.kernel, second.groups["memory"]) == ("_Z3addPf", 40)


@pytest.mark.parametrize(
    "read, text, message",
    [
        (ww.readers.gem5, "system.cpu.numCycles 5 # x\n", "no dump"),
        (ww.readers.accelwattch, "gpu_sim_cycle = 5\n", "kernel_avg_power"),
        (ww.readers.mcpat, "<component", "is no XML"),
        (ww.readers.mcpat, "<component id='root'/>", "no component `system`"),
        (ww.readers.mcpat, "<component id='system'/>", "total_cycles"),
    ],
)
def test_other_files_are_refused(read, text, message, tmp_path):
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises(ww.Error, match=message):
        read(path)
    with pytest.raises(ww.Error, match="cannot read"):
        read(tmp_path / "absent")


def test_counts_need_a_technology():
    with pytest.raises(ww.Error, match="node="):
        ww.readers.gem5(FOREIGN / "stats.txt").price(ww.Gpu("v100"))

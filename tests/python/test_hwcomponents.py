"""The models for hwcomponents: on the package itself where it runs (Python 3.12 or newer), else on a stand-in with the part of its interface that models use."""

import functools
import importlib
import sys
import types

import pytest

import warpwatt as ww
from conftest import ROOT

PLUGIN = ROOT / "estimator/python/hwcomponents_warpwatt"


def stand_in():
    """ComponentModel, action and ActionCost as hwcomponents documents them: an action's energy scales with `bits_per_action`."""

    class ActionCost:
        def __init__(self, energy, latency, throughput):
            self.energy, self.latency, self.throughput = energy, latency, throughput

    class ComponentModel:
        def __init__(self, leak_power=None, area=None):
            self.leak_power, self.area = leak_power, area

    def action(function=None, bits_per_action=None):
        if function is None:
            return functools.partial(action, bits_per_action=bits_per_action)

        @functools.wraps(function)
        def wrapper(self, **words):
            scale = words.pop("bits_per_action") / getattr(self, bits_per_action) if "bits_per_action" in words else 1
            cost = function(self, **words)
            return ActionCost(cost.energy * scale, cost.latency, cost.throughput / scale)

        wrapper._is_component_action = True
        return wrapper

    module = types.ModuleType("hwcomponents")
    module.ActionCost, module.ComponentModel, module.action = ActionCost, ComponentModel, action
    return module


@pytest.fixture(params=["hwcomponents", "stand-in"])
def models(request, monkeypatch):
    monkeypatch.syspath_prepend(str(PLUGIN))
    monkeypatch.delitem(sys.modules, "hwcomponents_warpwatt", raising=False)
    if request.param == "stand-in":
        monkeypatch.setitem(sys.modules, "hwcomponents", stand_in())
    else:
        try:
            import hwcomponents  # noqa: F401
        except ImportError:
            pytest.skip("hwcomponents is not installed: it needs Python 3.12")
        except SyntaxError:
            pytest.skip("hwcomponents needs Python 3.12")
    yield importlib.import_module("hwcomponents_warpwatt")
    sys.modules.pop("hwcomponents_warpwatt", None)


def test_memories_have_warpwatt_s_figures(models):
    sram = models.SRAM(7e-9, width=128, depth=1024)
    want = ww.array(words=1024, bits=128, ports="1rw", node="7nm")
    read = sram.read()
    assert (read.energy, read.latency, read.throughput) == pytest.approx((want.read_energy_j, want.access_time_s, 1 / want.cycle_time_s))
    assert sram.area == want.area_m2 and sram.leak_power == pytest.approx(want.leakage_w + want.gate_leakage_w)
    assert sram.read(bits_per_action=64).energy == pytest.approx(want.read_energy_j / 2)
    assert models.SRAM("7nm", width=128, size=128 * 1024).area == sram.area
    file = models.RegisterFile("7nm", width=32, depth=64, n_r_ports=3)
    assert file.write().energy == pytest.approx(ww.array(words=64, bits=32, ports="3r1w", node="7nm").write_energy_j)
    cam = models.CAM("32nm", width=40, depth=64, library="itrs")
    assert cam.search().energy == pytest.approx(ww.array(words=64, bits=40, kind="cam", ports="1rw1s", node="32nm", library="itrs").search_energy_j)


def test_blocks_have_warpwatt_s_figures(models):
    adder, want = models.Adder("7nm", width=64), ww.logic("adder", width=64, node="7nm")
    assert adder.add().energy == pytest.approx(want.energy_j) and adder.add().latency == pytest.approx(want.delay_s)
    multiplier = models.Multiplier("5nm", width=32)
    assert multiplier.multiply().energy == pytest.approx(ww.logic("mul", precision="int32", node="5nm").energy_j)
    # what warpwatt does not say of time counts for nothing
    assert (multiplier.multiply().latency, multiplier.multiply().throughput) == (0, float("inf"))
    assert models.Multiplier("5nm", precision="bf16", cycle_period=5e-10).multiply().throughput == pytest.approx(2e9)
    crossbar = models.Crossbar("7nm", width=128, n_inputs=16, n_outputs=8)
    want = ww.logic("crossbar", inputs=16, outputs=8, width=128, node="7nm")
    assert crossbar.transfer().energy == pytest.approx(want.energy_j) and crossbar.area == want.area_m2
    dram, want = models.DRAM("HBM3", width=512), ww.logic("dram", type="hbm3", width=512)
    assert dram.read().energy == pytest.approx(want.energy_j) and dram.write(bits_per_action=256).energy == pytest.approx(want.write_energy_j / 2)
    assert dram.area == 0 and dram.leak_power == want.leakage_w


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda models: models.SRAM("7nm", width=128), "depth, in words, or size"),
        (lambda models: models.SRAM("7nm", width=128, size=100), "no multiple of width"),
        (lambda models: models.SRAM("7nm", width=12.5, depth=4), "a whole number"),
        (lambda models: models.SRAM("0.1nm", width=32, depth=64), "nm"),
        (lambda models: models.Multiplier("7nm", width=24), "8, 16, 32 and 64"),
        (lambda models: models.Adder("7nm", activity=2), "no share"),
        (lambda models: models.DRAM("ddr9"), "ddr9"),
    ],
)
def test_what_cannot_be_says_why(models, make, message):
    with pytest.raises(ValueError, match=message):
        make(models)


def test_hwcomponents_finds_them(models):
    import hwcomponents

    if not hasattr(hwcomponents, "get_models"):
        pytest.skip("the stand-in finds nothing")
    found = hwcomponents.get_models()
    assert {model.__name__ for model in found} >= set(models.__all__)
    sram = hwcomponents.get_model("SRAM", {"tech_node": 7e-9, "width": 128, "depth": 1024}, models=found)
    assert isinstance(sram, models.SRAM)

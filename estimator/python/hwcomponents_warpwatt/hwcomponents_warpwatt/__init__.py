"""Models of hwcomponents whose figures are warpwatt's: SRAM, RegisterFile, CAM, Crossbar, Adder, Multiplier, DRAM.

hwcomponents finds them where this package is installed; `priority` says which model of a component is taken.

tech_node: metres, as hwcomponents has it (7e-9), or a text ("7nm"). temperature: kelvins, vdd: volts (the node's if left out), library: "silicon" or "itrs".
Areas are in square metres, energies in joules, leakage in watts. warpwatt says nothing about the delay of pipelined units and of DRAM: their latency is 0 and their throughput infinite,
which changes no sum, unless `cycle_period` (seconds) says what a step takes.
"""

from hwcomponents import ActionCost, ComponentModel, action

import warpwatt

__all__ = ["SRAM", "RegisterFile", "CAM", "Crossbar", "Adder", "Multiplier", "DRAM"]


class _Model(ComponentModel):
    """A component whose figures are a document of warpwatt."""

    priority = 0.5

    def __init__(self, figures, cycle_period=None):
        super().__init__(leak_power=figures.leakage_w + figures.gate_leakage_w, area=figures.area_m2)
        #: What warpwatt says, with intervals, breakdown and sources: a warpwatt.Array or warpwatt.Logic.
        self.figures = figures
        self.cycle_period = cycle_period

    def _cost(self, energy, latency=None, period=None):
        """An action; what is not known of its time counts for nothing."""
        latency = self.cycle_period if latency is None else latency
        period = self.cycle_period if period is None else period
        return ActionCost(energy=energy, latency=latency or 0.0, throughput=1 / period if period else float("inf"))


class _Memory(_Model):
    """A memory of `depth` words of `width` bits."""

    def __init__(self, tech_node, width, depth, size, ports, place, kind="sram", banks=1):
        self.width = _whole("width", width)
        self.depth = _depth(self.width, depth, size)
        self.size = self.width * self.depth
        self.tech_node = tech_node
        shape = {"words": self.depth, "bits": self.width, "ports": ports, "kind": kind, "banks": _whole("n_banks", banks)}
        super().__init__(warpwatt.array(**shape, **_place(tech_node, place)))

    def _access(self, energy):
        return self._cost(energy, self.figures.access_time_s, self.figures.cycle_time_s)

    @action(bits_per_action="width")
    def read(self) -> ActionCost:
        """One word read through one port."""
        return self._access(self.figures.read_energy_j)

    @action(bits_per_action="width")
    def write(self) -> ActionCost:
        """One word written through one port."""
        return self._access(self.figures.write_energy_j)


class SRAM(_Memory):
    """A memory of static cells: width bits a word, and depth words or size bits."""

    component_name = ["SRAM", "sram", "WarpwattSRAM"]

    def __init__(self, tech_node, width: int, depth: int = None, size: int = None, n_rw_ports: int = 1, n_banks: int = 1, temperature: float = 350, vdd: float = None, library: str = "silicon"):
        ports = f"{_whole('n_rw_ports', n_rw_ports)}rw"
        super().__init__(tech_node, width, depth, size, ports, (temperature, vdd, library), banks=n_banks)


class RegisterFile(_Memory):
    """A register file: reads and writes have ports of their own."""

    component_name = ["RegisterFile", "register_file", "regfile", "WarpwattRegisterFile"]

    def __init__(self, tech_node, width: int, depth: int = None, size: int = None, n_r_ports: int = 2, n_w_ports: int = 1, temperature: float = 350, vdd: float = None, library: str = "silicon"):
        ports = f"{_whole('n_r_ports', n_r_ports)}r{_whole('n_w_ports', n_w_ports)}w"
        super().__init__(tech_node, width, depth, size, ports, (temperature, vdd, library))


class CAM(_Memory):
    """A content-addressable memory: one port that reads or writes, one that searches."""

    component_name = ["CAM", "cam", "WarpwattCAM"]

    def __init__(self, tech_node, width: int, depth: int = None, size: int = None, temperature: float = 350, vdd: float = None, library: str = "silicon"):
        super().__init__(tech_node, width, depth, size, "1rw1s", (temperature, vdd, library), kind="cam")

    @action
    def search(self) -> ActionCost:
        """All words compared with one."""
        return self._access(self.figures.search_energy_j)


class _Block(_Model):
    """A block of `warpwatt logic`."""

    def __init__(self, block, options, tech_node, place, cycle_period):
        self.tech_node = tech_node
        super().__init__(warpwatt.logic(block, **options, **_place(tech_node, place)), cycle_period)

    def _operation(self):
        delay = self.figures.delay_s or None
        return self._cost(self.figures.energy_j, delay, self.cycle_period or delay)


class Crossbar(_Block):
    """Any input to any output: wires across and down with tri-state buffers where they cross."""

    component_name = ["Crossbar", "crossbar", "WarpwattCrossbar"]

    def __init__(self, tech_node, width: int, n_inputs: int, n_outputs: int, activity: float = 0.5, temperature: float = 350, vdd: float = None, library: str = "silicon", cycle_period: float = None):
        self.width = _whole("width", width)
        shape = {"inputs": _whole("n_inputs", n_inputs), "outputs": _whole("n_outputs", n_outputs), "width": self.width, "activity": _percent(activity)}
        super().__init__("crossbar", shape, tech_node, (temperature, vdd, library), cycle_period)

    @action(bits_per_action="width")
    def transfer(self) -> ActionCost:
        """One word from an input to an output."""
        return self._operation()

    @action(bits_per_action="width")
    def read(self) -> ActionCost:
        """As transfer."""
        return self._operation()


class Adder(_Block):
    """A sum of two whole numbers: a netlist with Sklansky's carry tree."""

    component_name = ["Adder", "IntAdder", "WarpwattAdder"]

    def __init__(self, tech_node, width: int = 32, activity: float = 0.5, temperature: float = 350, vdd: float = None, library: str = "silicon", cycle_period: float = None):
        self.width = _whole("width", width)
        super().__init__("adder", {"width": self.width, "activity": _percent(activity)}, tech_node, (temperature, vdd, library), cycle_period)

    @action
    def add(self) -> ActionCost:
        """One sum."""
        return self._operation()

    @action
    def read(self) -> ActionCost:
        """As add."""
        return self._operation()


class Multiplier(_Block):
    """A product: published figures of the arithmetic, brought to the node. width: 8, 16, 32 or 64 bits of whole numbers; or precision: "fp32", "bf16", "int8" and the like."""

    component_name = ["Multiplier", "IntMultiplier", "WarpwattMultiplier"]

    def __init__(self, tech_node, width: int = None, precision: str = None, temperature: float = 350, vdd: float = None, library: str = "silicon", cycle_period: float = None):
        if (width is None) == (precision is None):
            raise ValueError("give width, of whole numbers, or precision")
        if width is not None and _whole("width", width) not in (8, 16, 32, 64):
            raise ValueError(f"width={width}: figures are published for multipliers of 8, 16, 32 and 64 bits")
        self.precision = precision or f"int{_whole('width', width)}"
        super().__init__("mul", {"precision": self.precision}, tech_node, (temperature, vdd, library), cycle_period)

    @action
    def multiply(self) -> ActionCost:
        """One product."""
        return self._operation()

    @action
    def read(self) -> ActionCost:
        """As multiply."""
        return self._operation()


class DRAM(_Model):
    """A memory device with its interface: type is "hbm2", "hbm3", "gddr6", "ddr4" and the like. Leakage is background and refresh power of a device; area is none of the chip's."""

    component_name = ["DRAM", "dram", "WarpwattDRAM"]

    def __init__(self, type: str, width: int = 256, row_hits: float = 0.66, cycle_period: float = None):
        self.type = type.lower()
        self.width = _whole("width", width)
        super().__init__(warpwatt.logic("dram", type=self.type, width=self.width, row_hits=_percent(row_hits)), cycle_period)

    @action(bits_per_action="width")
    def read(self) -> ActionCost:
        """One access that reads."""
        return self._cost(self.figures.energy_j)

    @action(bits_per_action="width")
    def write(self) -> ActionCost:
        """One access that writes."""
        return self._cost(self.figures.write_energy_j)


def _place(tech_node, place):
    """Where it is made and how it runs, as warpwatt's options."""
    temperature, vdd, library = place
    node = tech_node if isinstance(tech_node, str) else round(tech_node * 1e9, 3)
    return {"node": node, "temperature": temperature, "vdd": vdd, "library": library}


def _whole(name, value):
    if int(value) != value or value < 1:
        raise ValueError(f"{name}={value}: a whole number from 1 on")
    return int(value)


def _percent(share):
    if not 0 <= share <= 1:
        raise ValueError(f"{share} is no share: from 0 to 1")
    return round(100 * share)


def _depth(width, depth, size):
    if (depth is None) == (size is None):
        raise ValueError("give depth, in words, or size, in bits")
    if size is not None and size % width:
        raise ValueError(f"size={size} is no multiple of width={width}")
    return _whole("depth", size // width if depth is None else depth)

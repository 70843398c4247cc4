"""Memory arrays and technologies."""

import json
from functools import cached_property

from . import _native
from ._document import Document
from ._table import Table, as_csv
from ._units import threads, with_unit


class Array(Document):
    """A memory array that was priced: area, delays, energies, leakage, with their intervals.

    Keys of `warpwatt array --json` (docs/arrays.md) are attributes: area_m2, access_time_s, cycle_time_s, read_energy_j, write_energy_j, leakage_w, intervals, breakdown.
    """

    _noun = "an array"

    def __dir__(self):
        return [*super().__dir__(), *self.document]

    def __repr__(self):
        figures = ", ".join(f"{key}={self.document[key]:.4g}" for key in ("area_m2", "access_time_s", "read_energy_j", "leakage_w"))
        return f"<warpwatt.Array {figures}>"


def array(capacity=None, **options):
    """One memory, cache or content-addressable memory.

    array("4KiB", word=128, ports="1r1w", node="7nm")
    array(words=64, bits=40, kind="cam", ports="1rw1s", node="32nm", library="itrs")

    capacity: "4KiB". word, line: a width, a bare number in bits. The other options are those of `warpwatt array --help` with `_` for `-`; node in nm, temperature in K
    and vdd in V where they are bare numbers.
    """
    units = {"node": "nm", "temperature": "K", "vdd": "V", "word": "b", "line": "b"}
    options = {"capacity": capacity, **options}
    texts = {key: _text(key, value, units.get(key)) for key, value in options.items() if value is not None}
    return Array(*_native.array(texts))


def _text(key, value, unit):
    if isinstance(value, (list, tuple)):
        raise TypeError(f"{key} is one value, not {value!r}: `arrays` takes a table")
    if isinstance(value, bool):
        return "true" if value else "false"
    return with_unit(key, value, unit)


class Logic(Document):
    """A block that was priced: area, delay, energy of an operation, leakage, with what they are made of.

    Keys of `warpwatt logic --json` (docs/logic.md) are attributes: area_m2, delay_s, energy_j, write_energy_j, leakage_w, gate_leakage_w, interval, breakdown, sources.
    """

    _noun = "a block"

    def __dir__(self):
        return [*super().__dir__(), *self.document]

    def __repr__(self):
        figures = ", ".join(f"{key}={self.document[key]:.4g}" for key in ("area_m2", "delay_s", "energy_j", "leakage_w") if self.document[key])
        return f"<warpwatt.Logic {self.block}: {figures}>"


def logic(block=None, **options):
    """A block of logic, a functional unit, an interconnect, or a memory device. Without one: a text with all of them and their parameters.

    logic("adder", width=32, node="7nm"); logic("fma", precision="fp32", node=5); logic("crossbar", inputs=16, outputs=16, width=128, node="7nm"); logic("dram", type="hbm3")

    Options are those of `warpwatt logic BLOCK`; node in nm, temperature in K and vdd in V where they are bare numbers.
    """
    if block is None:
        return _native.logic([])[1]
    if not isinstance(block, str) or block.startswith("-"):
        raise TypeError(f"a block is named, not {block!r}: logic() lists them")
    units = {"node": "nm", "temperature": "K", "vdd": "V"}
    words = [word for key, value in options.items() if value is not None for word in (f"--{key}", _text(key, value, units.get(key)))]
    return Logic(*_native.logic([block, *words]))


def arrays(table, *, library=None, profile=None, jobs=None):
    """A table of arrays, one a row, with figures added (columns: docs/arrays.md).

    table: a DataFrame, a Table, a dict of lists, a list of dicts, CSV as a text, or a path. library: "silicon" or "itrs". profile: "silicon", "cacti7" or "cacti65".
    jobs: threads. Results do not depend on it.
    """
    return Table(_native.arrays(as_csv(table), [library, profile], threads(jobs)))


class Technology:
    """A technology node: what it is made of, each value with its unit, uncertainty and source.

    Technology("7nm").values["vdd_v"]; Technology("45nm", library="itrs"); Technology("my-node.toml")
    """

    def __init__(self, node, *, library="silicon", flavour="hp", temperature="300 K", vdd=None):
        place = with_unit("node", node, "nm"), library, flavour
        supply = None if vdd is None else with_unit("vdd", vdd, "V")
        self._text = _native.technology(*place, with_unit("temperature", temperature, "K"), supply)
        self.node = place[0]

    @cached_property
    def document(self):
        """The document of `warpwatt tech show --json`."""
        return json.loads(self._text)

    @cached_property
    def values(self):
        """Figures at the operating point, in SI units, by name."""
        return self.document["figures"]

    def __repr__(self):
        return f"<warpwatt.Technology {self.node}>"

"""GPUs and boards."""

import os

from . import _native
from ._units import setting, with_unit

#: Where a run is priced, and the unit that a bare number has.
_PLACE = {"node": "nm", "library": None, "flavour": None, "temperature": "K", "vdd": "V"}
#: What a message lists.
_KEYS = "node, library, flavour, temperature (K), vdd (V), lower, board, clock"


class Gpu:
    """A GPU: a preset, settings that differ from it, and the technology in which its runs are priced.

    Gpu("h100", node="5nm", vdd=0.7)
    Gpu("v100", node="12nm", temperature=330, sm_count=40)
    Gpu("tesla-16sm", {"sm.threads": 512, "l2.kb": 1024}, node="7nm")

    preset: a name of `warpwatt list presets`.
    overrides: settings of the GPU by their dotted names (docs/gpu-model.md). As a keyword a setting has `__` for its first dot: `sm__threads=512`.
    node: technology node, as "7nm" or a number of nanometres. Without one, runs have cycles but no energy.
    vdd: supply, as "0.7V" or a number of volts. Left out, the nominal one.
    temperature: of the junctions, as "330 K" or a number of kelvins. Left out, 350 K.
    library: "silicon" or "itrs"; flavour: "hp", "lop" or "lstp".
    clock: "fixed" or "follows_vdd": the clock at another supply, for `what_if`.
    lower: what runs of PTX, "ptx" or "sass-like"; left out, as the preset says.
    board: a graphics board by name or file, or a calibration (`calibrate`), whose watts are told too.
    """

    def __init__(self, preset=None, overrides=None, *, lower=None, board=None, clock=None, **keys):
        place = {key: with_unit(key, keys.pop(key), unit) for key, unit in _PLACE.items() if keys.get(key) is not None}
        for key in _PLACE:
            keys.pop(key, None)
        settings = dict(overrides or {})
        for key, value in keys.items():
            if "__" not in key:
                raise TypeError(f"`{key}` is no key of a GPU: {_KEYS}; settings have a dot (`sm.threads`), which is `__` in a keyword (sm__threads=512)")
            settings[key.replace("__", ".", 1)] = value
        if place and "node" not in place:
            raise _native.Error(f'`{next(iter(place))}` says where a run is priced, which takes a node too: add node="7nm"')
        #: How it is made again elsewhere.
        self._made = preset, settings, {**place, "lower": lower, "board": board, "clock": clock}
        self._place = place
        self._clock = clock
        self._lower = lower
        self._overrides = settings
        self._settings = [setting(key, value) for key, value in settings.items()]
        where = [place.get(key) for key in _PLACE]
        self._board = board
        self._native = _native.Gpu(preset, self._settings, where, lower, None if board is None else native_board(board))

    def __reduce__(self):
        return _again, self._made

    @property
    def preset(self):
        """The preset's name."""
        return self._native.preset

    @property
    def board(self):
        """The board's name, if it is on one."""
        return self._native.board

    @property
    def node(self):
        """The technology node, if one is named."""
        return self._place.get("node")

    def keys(self):
        """This GPU as the table `[gpu]` of a study: Study({"gpu": gpu.keys(), ...})."""
        others = {"preset": self.preset, "lower": self._lower, "clock": self._clock, "board": self._board_file()}
        return {**{key: value for key, value in others.items() if value is not None}, **self._place, **self._overrides}

    def _board_file(self):
        """The board as a study names it."""
        if hasattr(self._board, "toml"):
            raise _native.Error("a study names a board by its file: save the calibration (calibration.save(\"board.toml\")) and use Board(\"board.toml\")")
        return None if self._board is None else os.fspath(self._board)

    @property
    def clock_hz(self):
        """The clock of its SMs in hertz."""
        return self._native.clock_hz

    @property
    def sms(self):
        """Streaming multiprocessors."""
        return self._native.sms

    def __repr__(self):
        parts = [repr(self.preset)]
        parts += [f"{key}={value!r}" for key, value in self._place.items()]
        parts += [f"board={self.board!r}"] if self.board else []
        parts += [repr(text) for text in self._settings]
        return f"warpwatt.Gpu({', '.join(parts)})"


def Board(name, **keys):
    """The GPU of a graphics board: runs tell what the board draws, in watts, with its interval.

    Board("titan-v"); Board("my-board.toml", node="12nm").
    name: a name of `warpwatt list boards`, the file of a board (docs/boards.md), or a calibration. Keys are those of Gpu.
    """
    return Gpu(keys.pop("preset", None), board=name, **keys)


def _again(preset, settings, keys):
    return Gpu(preset, settings, **keys)


def native_board(board):
    """The board of a name, a file, or a calibration."""
    if hasattr(board, "toml"):
        return _native.Board.text(board.toml)
    return _native.Board(os.fspath(board))

"""Boards learned from measured watts, and what a board draws for rows of counts."""

import os
from pathlib import Path

from . import _native
from ._document import Document
from ._gpu import Gpu, native_board
from ._table import Table, as_csv


class Calibration(Document):
    """A board that was learned. `Board(calibration)` is its GPU; `save` keeps it.

    Keys of `warpwatt calibrate --json` (docs/boards.md) are attributes: left_out_error and left_out_bias (parts of one; each case as the others predict it), values (a dict
    each: key, unit, value, sigma, prior, prior_sigma, told), refused, warnings, contradicted.

    toml: the board's file. compared: a Table with a row a measured row: name, measured_w, predicted_w by the other cases, low_w, high_w.
    """

    _noun = "a calibration"

    def __init__(self, document, text, toml, picture, compared):
        super().__init__(document, text)
        self.toml = toml
        self.compared = Table(compared)
        self._picture = picture

    def save(self, path):
        """Writes the board's file, `path` with `.toml`, and the picture beside it, as the command does. Returns the file's path."""
        path = Path(path).with_suffix(".toml")
        path.write_text(self.toml, encoding="utf-8")
        if self._picture is not None:
            path.with_suffix(".svg").write_text(self._picture, encoding="utf-8")
        return path

    def gpu(self, **keys):
        """The GPU on this board; keys are those of Gpu: calibration.gpu(node="12nm")."""
        return Gpu(board=self, **keys)

    def predict(self, counts, **keys):
        """What this board draws for rows of counts: `predict` with this board."""
        return predict(counts, self, **keys)

    def plot(self, *, ax=None):
        """Measured watts against those that the other cases predict, by matplotlib. Returns the axes. ax: axes to draw on."""
        from . import _plots

        cases = [(measured, predicted, False) for measured, predicted in zip(self.compared["measured_w"], self.compared["predicted_w"])]
        ax = _plots.scatter({self.board: cases}, ("measured in W", "predicted by the other cases in W"), ax)
        ax.axline((0, 0), slope=1, color="#57606a", linewidth=1)
        return ax

    def _repr_html_(self):
        import html

        return self._picture or f"<pre>{html.escape(str(self))}</pre>"

    def __dir__(self):
        return [*super().__dir__(), *self.document]

    def __repr__(self):
        error = "nothing measured" if self.left_out_error is None else f"left-out cases {100 * self.left_out_error:.1f} % off"
        return f"<warpwatt.Calibration {self.board}: {self.cases} cases, {error}>"


class Prediction(Document):
    """What a board draws for rows of counts. Keys of `warpwatt predict --json` are attributes: rows, errors (None without measured watts), refused.

    table: a Table with name, power_w, low_w, high_w (95 % of measurements lie between), measured_w, clipped, and watts by what they are for.
    """

    _noun = "a prediction"

    def __init__(self, document, text, table):
        super().__init__(document, text)
        self.table = Table(table)

    def _repr_html_(self):
        return self.table._repr_html_()

    def __dir__(self):
        return [*super().__dir__(), *self.document]

    def __repr__(self):
        errors = f", {self.errors['mean_absolute_percentage_error']:.1f} % off" if self.errors else ""
        return f"<warpwatt.Prediction {self.board}: {len(self.table)} rows{errors}>"


def calibrate(measured=None, board=None, *, transfer=(), map=None, operands=None):
    """What a graphics board draws, learned from measured watts: `warpwatt calibrate`. Returns a Calibration.

    calibrate(frame, "titan-xp"); calibrate("my-gpu/", "my-facts.toml"); calibrate(board="my-facts.toml", transfer=["titan-v", "titan-xp"])

    measured: rows with watts, clocks and rates, counts or utilisations (docs/boards.md): a file, the folder of the suite for a GPU of one's own, or anything that has columns
    (a DataFrame, a Table, a dict of lists, a list of dicts). Five cases are needed, a dozen is good.
    board: what is known before: a name of `warpwatt list boards`, or a file.
    transfer: begin with what these boards tell. map: which column is what, a shipped map or a file; else the columns tell.
    operands: "still" (loops on what they loaded once) or "random" (kernels on data); else as the map says.
    Warnings of the command are Python's.
    """
    if board is None:
        raise TypeError("calibrate needs board: a name of `warpwatt list boards`, or the file of one")
    if measured is None and not transfer:
        raise TypeError("calibrate needs measured rows, or transfer: the boards whose values it begins with")
    transfer = [transfer] if isinstance(transfer, str) else [os.fspath(name) for name in transfer]
    rows = None if measured is None else _rows(measured)
    *told, warnings = _native.calibrate(rows, os.fspath(board), transfer, (_path(map), operands))
    _warn(warnings)
    return Calibration(*told)


def predict(counts, board, *, map=None, operands=None, clock_mhz=None, memory_mhz=None, temperature_k=None, supply=None):
    """What a board draws for each row of counts: `warpwatt predict`. Returns a Prediction.

    predict(frame, "titan-v", clock_mhz=1350).table.to_polars()

    counts: rows as `calibrate` takes them, with or without watts. board: a name, a file, or a Calibration.
    map, operands: as in `calibrate`; operands are "random" if not said. clock_mhz, memory_mhz, temperature_k, supply (over that at the default clock): another state than the
    rows'. Warnings of the command are Python's.
    """
    state = {"clock_mhz": clock_mhz, "memory_mhz": memory_mhz, "temperature_k": temperature_k, "supply": supply}
    settings = [f"{key}={value}" for key, value in state.items() if value is not None]
    *told, warnings = _native.predict(_rows(counts), native_board(board), (_path(map), operands), settings)
    _warn(warnings)
    return Prediction(*told)


def _rows(table):
    """A path, or the CSV of what has columns."""
    if isinstance(table, (str, os.PathLike)):
        return Path(table)
    return as_csv(table).decode()


def _path(name):
    return None if name is None else os.fspath(name)


def _warn(texts):
    import warnings

    for text in texts:
        warnings.warn(text, UserWarning, stacklevel=3)

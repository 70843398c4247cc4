"""Tables: typed columns in SI units, the unit at the end of each name."""

class Table:
    """A table that Polars, pandas, DuckDB and others read without a copy: it has the Arrow PyCapsule interface (`__arrow_c_stream__`).

    polars.DataFrame(table), table.to_polars(), table.to_pandas(), table.to_dict(), table["energy_j"], len(table), table.columns
    """

    def __init__(self, native):
        self._native = native

    def __arrow_c_stream__(self, requested_schema=None):
        return self._native.__arrow_c_stream__(requested_schema)

    @property
    def columns(self):
        """Names of the columns."""
        return self._native.names

    def __len__(self):
        return len(self._native)

    def __getitem__(self, name):
        """The values of a column as a list; None where there is none."""
        column = self._native.column(name, None)
        if column is None:
            raise KeyError(f"there is no column `{name}`: {', '.join(self.columns)}")
        return column

    def to_dict(self):
        """Lists of values by column."""
        return {name: self[name] for name in self.columns}

    def to_numpy(self):
        """Arrays by column: numbers as they are (whole numbers with gaps as float64), NaN where a number is missing, texts as objects."""
        import numpy as np

        arrays = {}
        for name, values in self.to_dict().items():
            if any(value is None for value in values) and not any(isinstance(value, str) for value in values):
                values = np.array([np.nan if value is None else value for value in values], np.float64)
            arrays[name] = np.asarray(values, dtype=object if any(isinstance(value, str) for value in values) else None)
        return arrays

    def to_polars(self):
        """A DataFrame of Polars."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self):
        """A DataFrame of pandas."""
        import pandas

        if hasattr(pandas.DataFrame, "from_arrow"):
            try:
                return pandas.DataFrame.from_arrow(self)
            except ImportError:
                pass
        return pandas.DataFrame(self.to_dict(), columns=self.columns)

    def rows(self, most=None):
        """Dicts, one a row: all, or the first ones."""
        columns = {name: self._native.column(name, most) for name in self.columns}
        return [dict(zip(columns, row)) for row in zip(*columns.values())]

    def plot(self, y, x=None, *, by=None, ax=None):
        """A column, by matplotlib: against the column `x`, a line or a colour a value of `by`; without `x` as bars, a bar a row. Returns the axes.

        points.plot("cycles"); points.plot("leakage_energy_j", "vdd_v", by="kernel"). "energy_j" is the sum of dynamic and leakage energy where the table has these. ax: axes to
        draw on.
        """
        from . import _plots

        values = self._plotted(y)
        if x is None:
            return _plots.bars(zip(self._labels(), values), y, ax)
        names = self[by] if by else [y] * len(self)
        ax = _plots.axes(ax)
        places = self[x]
        for number, name in enumerate(dict.fromkeys(names)):
            rows = [(place, value) for place, value, whose in zip(places, values, names) if whose == name and None not in (place, value)]
            if all(not isinstance(place, str) for place, _ in rows):
                rows.sort()
            ax.plot(*zip(*rows), marker="o", markersize=4, color=_plots.COLOURS[number % len(_plots.COLOURS)], label=name)
        ax.set_xlabel(x)
        ax.set_ylabel(y)
        if by:
            ax.legend(frameon=False)
        return ax

    def _plotted(self, name):
        """Values of a column; the energy of a point."""
        if name == "energy_j" and name not in self.columns and "dynamic_energy_j" in self.columns:
            return [dynamic + leakage for dynamic, leakage in zip(self["dynamic_energy_j"], self["leakage_energy_j"])]
        return self[name]

    def _labels(self):
        """A row in words: columns that say what it is about, where they tell rows apart."""
        told = [()] * len(self)
        for name in ("configuration", "name", "kernel", "case", "gpu", "node", "technique", "vdd_v", "temperature_k"):
            if name in self.columns:
                more = [(*words, str(value)) for words, value in zip(told, self[name])]
                told = more if len(set(more)) > len(set(told)) else told
        return [" ".join(words) or str(number) for number, words in enumerate(told, 1)]

    def __repr__(self):
        shown = ", ".join(self.columns[:6]) + (", ..." if len(self.columns) > 6 else "")
        return f"<warpwatt.Table of {len(self)} rows: {shown}>"

    def _repr_html_(self, most=20):
        import html

        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns)
        body = "".join("<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row.values()) + "</tr>" for row in self.rows(most))
        more = f"<caption>{most} of {len(self)} rows</caption>" if len(self) > most else ""
        return f"<table>{more}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value):
    import html

    if value is None:
        return ""
    return html.escape(f"{value:.4g}" if isinstance(value, float) else str(value))


def as_csv(table):
    """CSV of whatever has columns: a Table, a DataFrame, a dict of lists, a list of dicts, a text, or a path."""
    import csv
    import io
    import os

    if isinstance(table, bytes):
        return table
    if isinstance(table, os.PathLike):
        with open(table, "rb") as file:
            return file.read()
    if isinstance(table, str):
        return table.encode()
    if hasattr(table, "write_csv"):
        return table.write_csv().encode()
    if hasattr(table, "to_csv"):
        return table.to_csv(index=False).encode()
    if hasattr(table, "to_dict") and not isinstance(table, dict):
        table = table.to_dict()
    if isinstance(table, dict):
        lengths = {name: len(values) for name, values in table.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"columns have as many values as each other: {', '.join(f'{name} {length}' for name, length in lengths.items())}")
        table = [dict(zip(table, row)) for row in zip(*table.values())]
    if not hasattr(table, "__iter__"):
        raise TypeError(f"a table is a Table, a DataFrame, a dict of lists, a list of dicts, CSV, or a path, not {type(table).__name__}")
    table = list(table)
    columns = list(dict.fromkeys(name for row in table for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue().encode()

"""Counts by our names, from statistics by another tool's."""

import csv
import io
import os
import re
from collections import namedtuple

from .._native import Error

#: How a counter comes from statistics: `plus` and `minus` are patterns of whole names whose values are summed; with `most` the largest stands for all. `assumed` says what is no
#: measurement of it.
Rule = namedtuple("Rule", "counter plus minus most assumed", defaults=((), False, None))


class Counts:
    """Counts of kernels by the names of `warpwatt list counters`, to be priced on a GPU.

    counters: {kernel: {counter: count}}. unmapped: names of the GPU's statistics that are not zero and feed nothing. assumed: {counter: what is no measurement}.
    foreign: how many other statistics the file has, which are not a GPU's.
    """

    def __init__(self, tool, counters, unmapped=(), assumed=None, foreign=0):
        self.tool = tool
        self.counters = counters
        self.unmapped = sorted(unmapped)
        self.assumed = dict(assumed or {})
        self.foreign = foreign

    def csv(self):
        """The text of a file of counts (docs/foreign-activity.md), for `activity = { file = "counts.csv" }` in a study."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["kernel", "counter", "value"])
        for kernel, counters in self.counters.items():
            writer.writerows([kernel, name, value] for name, value in counters.items())
        return text.getvalue()

    def save(self, path):
        """Writes the file of counts."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.csv())

    def price(self, gpu):
        """What the kernels cost on `gpu`, which has a node: a Results, whose notes say what has no counts."""
        from .._study import Study, folder

        if gpu.node is None:
            raise Error('counts are priced in a technology: Gpu(..., node="7nm")')
        with folder() as place:
            path = os.path.join(place, "counts.csv")
            self.save(path)
            return Study({"study": {"title": f"Counts of {self.tool}"}, "gpu": gpu.keys(), "workloads": {"kernels": [{"activity": {"file": path}}]}}).run()

    def __repr__(self):
        return f"<warpwatt.readers.Counts of {self.tool}: {', '.join(self.counters)}; {len(self.unmapped)} names feed nothing>"


def counted(statistics, rules):
    """Counts by `rules` of {name: value}; the names that were used; what is assumed."""
    counters, used, assumed = {}, set(), {}
    for rule in rules:
        plus, minus = (_matching(statistics, patterns) for patterns in (rule.plus, rule.minus))
        if not plus:
            continue
        used.update(plus, minus)
        values = [statistics[name] for name in plus]
        value = max(values) if rule.most else sum(values) - sum(statistics[name] for name in minus)
        counters[rule.counter] = max(round(value), 0)
        if rule.assumed:
            assumed[rule.counter] = rule.assumed
    return counters, used, assumed


def _matching(statistics, patterns):
    wanted = [re.compile(pattern) for pattern in patterns]
    return [name for name in statistics if any(pattern.fullmatch(name) for pattern in wanted)]


def lines(source):
    """The lines of a file, or of an open one."""
    if hasattr(source, "read"):
        return source.read().splitlines()
    try:
        with open(source, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except OSError as error:
        raise Error(f"cannot read `{os.fspath(source)}`: {error.strerror}") from error


def number(text):
    """A number; None for what is none, as gem5's nan."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value == value and abs(value) != float("inf") else None

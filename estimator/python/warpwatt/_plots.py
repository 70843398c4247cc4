"""Pictures: with matplotlib where somebody asks for a plot, as SVG of the report where a notebook shows a result."""

from base64 import b64encode
from html import escape

#: Colours of the report's series.
COLOURS = ("#2f6fb3", "#e08a1e", "#3a9a6e", "#b5507f", "#7a68b8", "#a3872b", "#4aa3b8", "#8a9099")
#: Bars of one picture; smaller ones become one.
MOST_BARS = 16


def axes(ax, height=4.0):
    """Axes to draw on: `ax`, or new ones."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as missing:
        raise ImportError("plots need matplotlib: pip install matplotlib (a notebook shows results without it)") from missing
    return pyplot.subplots(figsize=(7, height), layout="constrained")[1]


def bars(parts, label, ax=None):
    """Horizontal bars, the longest on top; parts: (name, value) pairs."""
    parts = sorted((part for part in parts if part[1]), key=lambda part: -abs(part[1]))
    if len(parts) > MOST_BARS:
        rest = parts[MOST_BARS - 1 :]
        parts = [*parts[: MOST_BARS - 1], (f"{len(rest)} others", sum(value for _, value in rest))]
    ax = axes(ax, 1 + 0.28 * max(len(parts), 2))
    names = [name for name, _ in parts]
    ax.barh(range(len(parts)), [value for _, value in parts], color=COLOURS[0])
    ax.set_yticks(range(len(parts)), names)
    ax.invert_yaxis()
    ax.set_xlabel(label)
    return ax


def whiskers(rows, label, ax=None):
    """Bars in order with their intervals; rows: (name, value, low, high)."""
    ax = axes(ax, 1 + 0.32 * max(len(rows), 2))
    places = range(len(rows))
    values = [value for _, value, _, _ in rows]
    errors = [[max(value - low, 0) for _, value, low, _ in rows], [max(high - value, 0) for _, value, _, high in rows]]
    ax.barh(places, values, xerr=errors, color=COLOURS[0], error_kw={"elinewidth": 1.2, "capsize": 3})
    ax.axvline(0, color="#57606a", linewidth=1)
    ax.set_yticks(places, [name for name, *_ in rows])
    ax.invert_yaxis()
    ax.set_xlabel(label)
    return ax


def scatter(series, labels, ax=None):
    """Points by name; series: {name: [(x, y, filled)]}. A line leads along the filled ones, the front."""
    ax = axes(ax)
    for number, (name, points) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        front = sorted((x, y) for x, y, filled in points if filled)
        others = [(x, y) for x, y, filled in points if not filled]
        if others:
            ax.scatter(*zip(*others), s=18, facecolors="none", edgecolors=colour)
        if front:
            ax.plot(*zip(*front), marker="o", markersize=5, linewidth=1.2, color=colour, label=name)
    ax.set_xlabel(labels[0])
    ax.set_ylabel(labels[1])
    if len(series) > 1:
        ax.legend(frameon=False)
    return ax


def html(pictures):
    """Pictures for a notebook: (heading, caption, SVG) each. As images, so that no style of theirs reaches the page."""
    figures = [
        f"<figure style='margin:0 0 1em'><figcaption><b>{escape(heading)}</b>. {escape(caption)}</figcaption>"
        f"<img style='max-width:100%;width:640px' alt='{escape(heading, quote=True)}' src='data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}'></figure>"
        for heading, caption, svg in pictures
    ]
    return "".join(figures)

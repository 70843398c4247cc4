"""Input of Rodinia's programs and of llm.c's, made from fixed seeds: small, and the same each time."""

import random
import subprocess
import sys
from pathlib import Path


def graph(path, nodes, edges):
    """Of breadth-first search: where each node's edges begin and how many there are, the source, the edges with their weights."""
    draw = random.Random(1)
    lines = [str(nodes), *(f"{node * edges} {edges}" for node in range(nodes)), "", "0", "", str(nodes * edges)]
    lines += [f"{draw.randrange(nodes)} {draw.randint(1, 10)}" for _ in range(nodes * edges)]
    path.write_text("\n".join(lines) + "\n")


def numbers(path, count, low, high):
    """One a line."""
    draw = random.Random(2)
    path.write_text("".join(f"{draw.uniform(low, high):.6f}\n" for _ in range(count)))


def hurricanes(folder):
    """Of nearest neighbours: a list of files, and one file with records of 49 characters."""
    draw = random.Random(3)
    record = "{:4d} {:2d} {:2d} {:2d} {:2d} {:>10} {:5.1f} {:5.1f} {:4d} {:3d}"
    days = lambda: (draw.randint(1950, 2004), draw.randint(1, 12), draw.randint(1, 28), 6 * draw.randint(0, 3), draw.randint(1, 24))
    places = lambda: (draw.uniform(7, 69), draw.uniform(0, 358), draw.randint(10, 166), draw.randint(0, 100))
    lines = [record.format(*days(), "NAME", *places()) for _ in range(2000)]
    (folder / "hurricanes.db").write_text("".join(line.ljust(48)[:48] + "\n" for line in lines))
    (folder / "hurricanes.txt").write_text(f"{folder / 'hurricanes.db'}\n")


def picture(path, rows, columns):
    """Of speckles: a grey picture in the portable format."""
    draw = random.Random(4)
    path.parent.mkdir(exist_ok=True)
    pixels = "\n".join(" ".join(str(draw.randint(1, 255)) for _ in range(columns)) for _ in range(rows))
    path.write_text(f"P2\n# speckles\n{columns} {rows}\n255\n{pixels}\n")


def gpt2(folder):
    """Of llm.c's test, if JAX is there."""
    made = subprocess.run([sys.executable, Path(__file__).parent / "gpt2.py", folder], capture_output=True, text=True)
    if made.returncode:
        print(f"llm.c's test has no model: {made.stderr.splitlines()[-1]}", file=sys.stderr)


def make(folder, with_gpt2):
    """All of them, if they are not there, that of GPT-2 where it is asked for; the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    graph(folder / "graph.txt", 2048, 6)
    numbers(folder / "temp_64", 64 * 64, 320, 340)
    numbers(folder / "power_64", 64 * 64, 0, 0.01)
    numbers(folder / "temp_64x8", 64 * 64 * 8, 320, 340)
    numbers(folder / "power_64x8", 64 * 64 * 8, 0, 0.01)
    hurricanes(folder)
    picture(folder / "srad" / "image.pgm", 502, 458)
    if with_gpt2 and not (folder / "llm.c").exists():
        gpt2(folder / "llm.c")
    return Path(folder)

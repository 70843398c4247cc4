"""What is launched: kernels of workloads/silicon with their grids, blocks and arguments, and which of times, watts and counters are measured."""

import pathlib
import tomllib
from dataclasses import dataclass

KERNELS = pathlib.Path(__file__).resolve().parents[1]
ROWS = KERNELS.parents[1] / "estimator/validation/silicon/rows.toml"
KINDS = ("times", "watts", "counters")


@dataclass(frozen=True)
class Array:
    type: str
    count: int
    zeros: bool = False  # instead of random numbers


@dataclass(frozen=True)
class Value:
    type: str
    value: float


NULL = Value("u64", 0)


@dataclass(frozen=True)
class Launch:
    group: str
    name: str
    program: str  # the PTX file, without its ending
    entry: str
    grid: tuple
    block: tuple
    args: tuple
    shared: int = 0  # dynamic, in bytes
    kinds: tuple = ("times",)
    before: "Launch | None" = None  # launched once; it has the same arrays


def u32(value):
    return Value("u32", value)


def evaluated(expression, n):
    """A number of rows.toml: "n / 256" and the like."""
    return expression if isinstance(expression, int) else int(eval(expression.replace("/", "//"), {"__builtins__": {}}, {"n": n}))


def argument(text, n):
    if "[" in text:
        kind, count = text.rstrip("]").split("[")
        return Array(kind, evaluated(count, n))
    kind, value = text.split(None, 1)
    return Value(kind, float(value) if kind in ("f32", "f64") else evaluated(value, n))


def row(table, n, name, kinds):
    args = tuple(argument(text, n) for text in table["args"])
    grid = tuple(evaluated(size, n) for size in table["grid"])
    return Launch("row", name, table["program"], table["entry"], grid, tuple(table["block"]), args, table.get("shared", 0), kinds)


def rows():
    """The rows that are set beside silicon, at full size; probes have their own launches below."""
    seen = set()
    for table in tomllib.loads(ROWS.read_text())["rows"]:
        key = (table["entry"], table["n"], *table["args"])
        if table["program"] == "probes" or key in seen:
            continue
        seen.add(key)
        each = table.get("each", [])
        stream = table["entry"] in ("init", "read", "scale", "triad")
        if not each:
            yield row(table, table["n"], table["what"], ("times", "watts") if stream else KINDS)
        for n in each:
            name = f"{table['what'].split(', mean of')[0]}, stride {n}"
            yield row(table, n, name, KINDS if n == each[0] else ("times",))
    matrix = Array("f32", 1 << 26)
    yield Launch("row", "transpose, naive, one element a thread, 8192 x 8192", "streams", "turn1", (256, 256), (32, 32), (matrix, matrix, u32(8192), u32(8192)), kinds=KINDS)


def streams():
    for power in range(18, 27, 2):
        kinds = ("times", "counters") if power in (22, 24) else ("times",)
        array = Array("f64", 1 << power)
        kernels = {"init": (array, Value("f64", 0.23)), "read": (array, Array("f64", 1)), "scale": (array,) * 2, "triad": (array,) * 4}
        for entry, args in kernels.items():
            yield Launch("stream", f"{entry}, 2^{power}", "streams", entry, ((1 << power) // 1024,), (1024,), args, kinds=kinds)


def chase(lines, steps, kinds=("times",)):
    args = (Array("u64", lines * 16), u32(steps))
    link = Launch("chase", "", "probes", "link", (max(1, lines // 256),), (min(256, lines),), (args[0], u32(lines)))
    return Launch("chase", f"ring of {lines * 128} bytes, {steps} steps", "probes", "chase", (1,), (1,), args, kinds=kinds, before=link)


def chases():
    """The whole ring, or more than a second level holds: each launch walks the same lines."""
    for power in range(5, 16):
        yield from (chase(1 << power, steps) for steps in (16384, 49152) if steps >= 1 << power)
    for power in range(15, 23):
        lines = 1 << power
        yield chase(lines, min(lines, 1 << 20), ("times", "watts") if power == 20 else ("times",))
    for steps in (16384, 49152):
        yield Launch("chase", f"shared memory, {steps} steps", "probes", "chase_shared", (1,), (1,), (Array("u32", 16), u32(steps)))


def pieces(parts, blocks):
    args = (Array("f64", parts * 65536), Array("f64", 1), u32(parts))
    return Launch("pieces", f"{parts * 512} KB, {blocks} blocks", "probes", "read_pieces", (blocks,), (1024,), args)


def levels(sms):
    """What the first and the second level give."""
    for parts in (2, 4, 8, 16, 22, 32, 48, 64, 80, 96, 128, 192, 512):
        yield from (pieces(parts, turns * sms) for turns in (20, 60))
    yield from (pieces(16, blocks) for blocks in sorted({1, 8, sms // 4, sms // 2, sms, 2 * sms}))
    for turns in (512, 1536):
        yield Launch("own", f"{turns} turns", "probes", "read_own", (sms,), (1024,), (Array("f64", sms * 8192), Array("f64", 1), u32(turns)))
        for stride in (*range(1, 18), 20, 24, 31, 32, 33):
            args = (Array("f32", 4096), Array("f32", 1), u32(stride), u32(turns))
            yield Launch("strided", f"stride {stride}, {turns} turns", "probes", "read_strided", (1,), (1024,), args)


def words(sms):
    """Words written, and added, in 8 MB of the second level."""
    span = 1 << 21
    for entry in ("write_words", "add_words"):
        for blocks in sorted({1, sms // 4, sms // 2, sms, 2 * sms}):
            for stride in (1, 8, 32):
                for turns in (64, 192):
                    kinds = ("times", "counters") if blocks in (sms // 4, sms) and turns == 192 else ("times",)
                    args = (Array("u32", span), u32(span), u32(stride), u32(turns))
                    yield Launch("words", f"{entry}, stride {stride}, {blocks} blocks, {turns} turns", "probes", entry, (blocks,), (1024,), args, kinds=kinds)


TYPES = {
    **dict.fromkeys(["int_add", "int_logic", "int_shift", "int_multiply", "shared_words", "shared_quads", "first_level", "mma_s8"], "u32"),
    **dict.fromkeys(["float_add", "float_fma", "float_fma_8_lanes", "float_logarithm", "float_and_logic"], "f32"),
    **{"double_fma": "f64", "half_fma": "f16", "mma_f16": "f16", "warpgroup_f16": "f16"},
}


def power(entry, blocks, threads, turns, kinds, zeros=False):
    name = f"{entry}, {blocks} blocks of {threads}, {turns} turns{', zeros' if zeros else ''}"
    program = "warpgroup" if entry == "warpgroup_f16" else "power"
    args = (Array(TYPES[entry], 16384, zeros), Array("f64", 16), u32(turns))
    return Launch("power", name, program, entry, (blocks,), (threads,), args, kinds=kinds)


def one_kind_of_work(sms):
    long, short = ("times", "watts"), ("times", "counters")
    for entry in TYPES:
        if entry == "warpgroup_f16":
            for blocks in (sms, 2 * sms):
                yield power(entry, blocks, 128, 256, short)
                yield power(entry, blocks, 128, 4096, long)
            continue
        yield power(entry, 8 * sms, 256, 4096, long)
        yield power(entry, 8 * sms, 256, 256, short)
    yield from (power(entry, 8 * sms, 256, 4096, long, zeros=True) for entry in ("float_fma", "mma_f16"))
    yield from (power("float_fma", blocks, 1024, 16384, long) for blocks in (1, sms // 4, sms // 2, sms))
    yield power("float_fma", sms, 128, 16384, long)
    yield power("int_add", sms, 32, 16384, long)
    yield from (power("int_add", blocks, threads, 0, short) for blocks, threads in ((8 * sms, 256), (1, 32), (sms, 1024)))
    for megabytes in (8, 16, 32, 256):
        span = megabytes << 18
        args = (Array("u32", span), Array("f64", 16), u32(1024), u32(span))
        yield Launch("power", f"second_level, {8 * sms} blocks of 256, 1024 turns, {megabytes} MB", "power", "second_level", (8 * sms,), (256,), args, kinds=long)


def shape(program):
    """Threads of a block and its dynamic shared memory, as attention.py notes them in the first line."""
    with (KERNELS / f"{program}.ptx").open() as file:
        words = file.readline().split()
    return (int(words[2]),), int(words[4])


def kinds_of_size(largest):
    return KINDS if largest else ("times", "counters")


def attention():
    for program, depth in (("attention80", 64), ("attention80_d128", 128), ("attention90", 64), ("attention90_d128", 128)):
        block, shared = shape(program)
        for heads, length in ((16, 512), (32, 1024), (64, 2048), (64, 4096)):
            scale = Value("f32", 1.4426950408889634 / depth**0.5)
            args = (*[Array("f16", heads * length * depth)] * 4, scale, u32(length), NULL, NULL)
            name = f"{program}, {heads} heads of {length}"
            yield Launch("attention", name, program, "attention", (length // 128, heads), block, args, shared, kinds_of_size(length == 4096))


def products():
    for program in ("product80", "product90"):
        block, shared = shape(program)
        for n in (1024, 2048, 4096, 8192):
            args = (*[Array("f16", n * n)] * 3, *[u32(n)] * 3, NULL, NULL)
            yield Launch("product", f"{program}, {n} cubed", program, "product", (n // 128, n // 128), block, args, shared, kinds_of_size(n == 8192))


def softmax():
    block, shared = shape("softmax")
    for count, length in ((1024, 3000), (16384, 4096)):
        args = (Array("f32", count * length), Array("f32", count * length), u32(length), NULL, NULL)
        yield Launch("softmax", f"{count} rows of {length}", "softmax", "softmax", (count,), block, args, shared, kinds_of_size(length == 4096))


def launches(sms):
    """All of them, for a GPU of so many SMs. What keeps it hottest comes last."""
    groups = (rows(), streams(), chases(), levels(sms), words(sms), softmax(), one_kind_of_work(sms), attention(), products())
    return [launch for group in groups for launch in group]

"""Arguments of a launch: what a host passes, as the launch file says it."""

import json
import sys
from urllib.parse import quote

# By numpy's names for them: element types of launch files.
ELEMENTS = {
    "bool": "u8",
    "int8": "i8",
    "uint8": "u8",
    "int16": "i16",
    "uint16": "u16",
    "int32": "i32",
    "uint32": "u32",
    "int64": "i64",
    "uint64": "u64",
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "float8_e4m3fn": "e4m3",
    "float8_e5m2": "e5m2",
    "complex64": "f32",
    "complex128": "f64",
}
SIGNED = {1: "i8", 2: "i16", 4: "i32", 8: "i64"}
UNSIGNED = {1: "u8", 2: "u16", 4: "u32", 8: "u64"}
FLOATS = {2: "f16", 4: "f32", 8: "f64"}


def numpy():
    """numpy, which only buffers need."""
    try:
        import numpy as np
    except ImportError as missing:
        raise ImportError("buffers need numpy: pip install numpy") from missing
    return np


def as_array(value):
    """`value` as a numpy array that shares its memory; None if it is no array."""
    np = numpy()
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError("a masked array has no mask on a GPU: pass its .filled(...), or .data and .mask as two arrays")
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, np.generic):
        return None
    if hasattr(value, "__array_interface__"):
        return np.asarray(value)
    if hasattr(value, "__dlpack__"):
        kind = int(value.__dlpack_device__()[0])
        if kind not in (1, 3):  # kDLCPU, kDLCUDAHost
            raise TypeError(
                f"an array on a device (DLPack type {kind}) cannot be read: copy it to the host first"
            )
        array = np.from_dlpack(value)
        # Some exporters do not say that their memory may be written.
        return array if array.flags.writeable or not hasattr(value, "numpy") else value.numpy()
    return None


class Argument:
    """One argument of a launch, ready to be written."""

    def __init__(self, name, kind, element=None, count=None, value=None, array=None, plus=None):
        self.name = name
        self.kind = kind
        self.element = element
        self.count = count
        self.value = value
        self.array = array
        self.target = plus

    def text(self, case):
        """Its table in the launch file."""
        lines = [f"[[{case}.arg]]", f"name = {quoted(self.name)}", f'kind = "{self.kind}"']
        if self.element:
            lines.append(f'type = "{self.element}"')
        if self.count is not None:
            lines.append(f"count = {self.count}")
            lines.append(f"file = {quoted(self.file)}")
        if self.value is not None:
            lines.append(f"value = {self.value}")
        if self.target:
            lines.append(f"buffer = {quoted(self.target)}")
        return "\n".join(lines) + "\n"

    @property
    def file(self):
        return file_of(self.name)


def file_of(name, extension="bin"):
    """The file of a buffer or a program: another one a name, without what could lead out of its folder."""
    return f"{quote(name, safe='')}.{extension}"


def text(value, what):
    """`value`, which is a text."""
    if not isinstance(value, str):
        raise TypeError(f"{what} is a text, not {value!r}")
    return value


def quoted(text):
    """A string of TOML."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def buffer(name, array):
    """An array as a buffer that a kernel reads and writes."""
    element = ELEMENTS.get(array.dtype.name)
    width = array.dtype.itemsize
    if element is None and array.dtype.names:
        element, width = "u8", 1
    if element is None:
        raise TypeError(f"`{name}`: arrays of {array.dtype} have no type on a GPU: choose one of {', '.join(ELEMENTS)}")
    if array.dtype.byteorder == ">" or (array.dtype.byteorder == "=" and sys.byteorder == "big"):
        raise TypeError(f"`{name}`: a GPU reads little-endian numbers: {name}.astype({array.dtype.newbyteorder('<')!s})")
    if array.size == 0:
        raise ValueError(f"`{name}` has no elements: a buffer has at least one")
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise ValueError(f"`{name}` has gaps between its elements: pass numpy.ascontiguousarray({name})")
    parts = {"e4m3": 1, "e5m2": 1, "f16": 2, "bf16": 2}.get(element) or int(element[1:]) // 8
    return Argument(name, "inout", element, array.nbytes // parts, array=array)


def scalar(name, value, parameter):
    """A number as the parameter takes it: (type of its elements in PTX, bytes)."""
    element, size = parameter
    np_name = getattr(getattr(value, "dtype", None), "name", None)
    known = np_name in ELEMENTS and np_name != "bool" and value.dtype.itemsize == size
    if element == "b8" and size > 1 and not known:
        raise TypeError(f"`{name}` is {value!r}, and the kernel takes a structure of {size} bytes: pass bytes, a numpy.void or a numpy number of as many")
    if known and (element.startswith("b") or element.startswith("f") == (value.dtype.kind not in "iu")):
        return Argument(name, "scalar", ELEMENTS[np_name], value=number(value.item()))
    value = value.item() if hasattr(value, "item") else value
    is_float = isinstance(value, float)
    if element.startswith("f") or (is_float and element.startswith("b")):
        kind = FLOATS.get(size)
    elif is_float:
        raise TypeError(f"`{name}` is {value!r}, and the kernel takes a whole number (.{element})")
    else:
        value = int(value)
        kind = (SIGNED if value < 0 else UNSIGNED).get(size)
        if element.startswith("s"):
            kind = SIGNED.get(size)
        if kind == "u64" and value >= 1 << 63:
            kind, value = "i64", value - (1 << 64)
    if kind is None:
        raise TypeError(f"`{name}` is {value!r}, and the kernel takes {size} bytes: pass bytes or a numpy.void of as many")
    return Argument(name, "scalar", kind, value=number(float(value) if kind.startswith("f") else value))


def number(value):
    """A number of TOML."""
    if isinstance(value, float):
        text = repr(value)
        return text if any(mark in text for mark in ".ein") else text + ".0"
    return str(int(value))


def structure(name, value):
    """The bytes of a structure that is passed by value."""
    contents = value.tobytes() if hasattr(value, "tobytes") else bytes(value)
    argument = Argument(name, "struct", "u8", len(contents))
    argument.array = contents
    return argument


def is_structure(value):
    """Bytes, a record, or a complex number of numpy, which a kernel has as two numbers."""
    return isinstance(value, (bytes, bytearray, memoryview)) or type(value).__name__ in ("void", "complex64", "complex128")


class Arguments:
    """Arguments of a launch in the order of the entry's parameters."""

    def __init__(self):
        self.all = []
        self.names = set()
        self._arrays = []

    def add(self, name, value, parameter):
        """Adds a value of a host: an array, a number, bytes of a structure, or None for a null pointer."""
        name = self._unique(text(name, "the name of an argument"))
        if value is None:
            self.all.append(Argument(name, "null"))
        elif is_structure(value):
            self.all.append(structure(name, value))
        elif (array := as_array(value)) is not None:
            self._add_array(name, array)
        elif isinstance(value, (bool, int, float)) or hasattr(value, "dtype"):
            if parameter is None:
                raise TypeError(f"`{name}`: the kernel has no parameter for it")
            self.all.append(scalar(name, value, parameter))
        else:
            raise TypeError(
                f"`{name}` is a {type(value).__name__}: pass an array, a number, bytes of a structure, or None for a null pointer"
            )

    def _add_array(self, name, array):
        np = numpy()
        span = (array.__array_interface__["data"][0], array.nbytes)
        for known, other in self._arrays:
            if known == span:
                self.all.append(Argument(name, "pointer", plus=other.name))
                return
            if np.may_share_memory(array, other.array):
                raise ValueError(
                    f"`{name}` and `{other.name}` share some of their memory: pass the whole array once, and offsets as numbers"
                )
        argument = buffer(name, array)
        self._arrays.append((span, argument))
        self.all.append(argument)

    def _unique(self, name):
        unique, number = name, 2
        while unique in self.names:
            unique, number = f"{name}_{number}", number + 1
        self.names.add(unique)
        return unique

    def files(self):
        """What buffers hold, by the names of their files."""
        contents = {}
        for argument in self.all:
            if isinstance(argument.array, bytes):
                contents[argument.file] = argument.array
            elif argument.array is not None:
                contents[argument.file] = argument.array.tobytes(order="A")
        return contents

    def arrays(self):
        """Arrays by name."""
        found = ((argument.name, argument.array) for argument in self.all)
        return {name: array for name, array in found if array is not None and not isinstance(array, bytes)}

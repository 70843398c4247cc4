"""Numbers as texts with units, as studies and options have them, and whole numbers."""

import operator


def whole(key, value, least=0, most=(1 << 64) - 1):
    """A whole number in a range; `True` is none, nor is 4.0."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None:
        raise TypeError(f"{key} is a whole number, not {value!r}")
    if not least <= number <= most:
        raise ValueError(f"{key} is {least} to {most}, not {number}")
    return number


def threads(jobs):
    """How many threads are asked for; None: one a core."""
    return None if jobs is None else whole("jobs", jobs, 1, 1024)


def several(value):
    """A list of what may be one: a list, a tuple, an array or a column."""
    if isinstance(value, (list, tuple)):
        return list(value)
    if hasattr(value, "tolist"):
        value = value.tolist()
        return value if isinstance(value, list) else [value]
    if hasattr(value, "to_list"):
        return value.to_list()
    return [value]


def with_unit(key, value, unit):
    """A quantity as text: a bare number is in `unit`."""
    if isinstance(value, (list, tuple)) or hasattr(value, "__len__") and not isinstance(value, str):
        values = several(value)
        if not values:
            raise ValueError(f"{key} is an empty list: leave it out, or name one")
        return ",".join(with_unit(key, one, unit) for one in values)
    if isinstance(value, bool) or not isinstance(value, (int, float, str)) and not hasattr(value, "item"):
        raise TypeError(f"{key}={value!r}: give a text with a unit, or a number" + (f" of {unit}" if unit else ""))
    if isinstance(value, str) or unit is None:
        return str(value)
    return f"{shortest(value)}{unit}"


def shortest(value):
    """The shortest text of a number."""
    value = value.item() if hasattr(value, "item") else value
    return str(int(value)) if float(value).is_integer() else repr(value)


def setting(key, value):
    """A setting as `key=value`, lists as lists of TOML."""
    return f"{key}={toml(value)}"


def toml(value):
    """A value of TOML; a text at the top stays as it is."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(f'"{one}"' if isinstance(one, str) else toml(one) for one in value) + "]"
    if isinstance(value, str):
        return value
    value = value.item() if hasattr(value, "item") else value
    return repr(value)

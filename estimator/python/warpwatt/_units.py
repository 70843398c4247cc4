"""Numbers as texts with units, as studies and options have them."""


def with_unit(key, value, unit):
    """A quantity as text: a bare number is in `unit`."""
    if isinstance(value, (list, tuple)):
        return ",".join(with_unit(key, one, unit) for one in value)
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

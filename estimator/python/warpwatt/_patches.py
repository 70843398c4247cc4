"""Attributes of others that are changed for a while."""

from contextlib import contextmanager


@contextmanager
def patched(owner, name, value):
    """`owner` with another attribute while it is open."""
    before = vars(owner)[name]
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)

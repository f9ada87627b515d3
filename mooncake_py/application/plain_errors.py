"""What the plain call raises, where a rule or a replacement in Python raises something else."""

from __future__ import annotations

from types import NoneType
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.errors import MooncakeError
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.tangents.memory import is_writeable

__all__ = ["as_plain", "plain_error"]

DATA = frozenset({NoneType, bool, int, float, complex, str, bytes, slice, type(Ellipsis)})
KINDS = "biufcSU"


def as_plain(error: Exception, f: Any, args: Any, kwargs: Any) -> Exception:
    """Return what the plain call raises in place of an error, which it is if that is not known."""
    if isinstance(error, MooncakeError):
        return error
    found = plain_error(f, args, kwargs)
    if found is None:
        return error
    found.__context__ = error.__context__
    return found


def plain_error(f: Any, args: Any, kwargs: Any) -> Exception | None:
    """Return what the plain call raises for these arguments; None if nothing, or if not known.

    It runs on copies, and only on data, which neither have code of their own nor remember a call.
    """
    given = [unwrapped(value) for value in (*args, *kwargs.values())]
    if not all(map(is_data, given)):
        return None
    copies = [copied(value) for value in given]
    positional, named = copies[: len(args)], dict(zip(kwargs, copies[len(args) :], strict=True))
    try:
        with np.errstate(all="ignore"):
            f(*positional, **named)
    except Exception as error:
        return error.with_traceback(None)
    return None


def is_data(value: Any) -> bool:
    """Return whether a value is a number, a text, an array, or a list, tuple or dtype of these."""
    t = type(value)
    if t is list or t is tuple:
        return all(map(is_data, value))
    if t is ndarray:
        return value.dtype.kind in KINDS
    if isinstance(value, np.generic):
        return t.__module__ == "numpy"  # a subclass has code of its own
    return t in DATA or isinstance(value, (np.dtype, np.ufunc, type))


def copied(value: Any) -> Any:
    """Return a copy of an array, read-only if it is, and a list or a tuple of copies."""
    if type(value) is ndarray:
        new = value.copy()
        new.flags.writeable = is_writeable(value)
        return new
    if type(value) is list or type(value) is tuple:
        return type(value)(map(copied, value))
    return value

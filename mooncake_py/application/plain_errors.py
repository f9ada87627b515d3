"""The exception of the plain call, where a rule or a replacement in Python raises another one.

Compiled functions check their arguments.  A replacement need not repeat that: where it raises, the
function says what; and before one of a function of SciPy, or one that draws, runs for arguments of
new types and shapes, the function itself has run for them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from types import BuiltinFunctionType, NoneType
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.errors import MooncakeError
from mooncake_py.modules import draws_numbers, module_of, package_of
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.quiet import Unheard
from mooncake_py.tangents.memory import WRITEABLE, is_writeable

__all__ = ["as_plain", "check_first", "copies_of", "plain_error"]

DATA = frozenset({NoneType, bool, int, float, complex, str, bytes, slice, type(Ellipsis)})
BY_TYPE = (float, complex, np.inexact)
KINDS = "biufcSU"
LAYOUT = 0x103 | WRITEABLE  # contiguous in C or Fortran order, aligned
MOST = 4096
OF_NUMBERS = frozenset({"dok", "lil"})
"""Formats of sparse matrices in lists and dicts."""

_sound: set[Any] = set()


def as_plain(error: Exception, f: Any, args: Any, kwargs: Any) -> Exception:
    """Return the exception that the plain call raises in place of an error; else the error."""
    if isinstance(error, MooncakeError):
        return error
    found = plain_error(f, args, kwargs)
    if found is None:
        return error
    found.__context__ = error.__context__
    return found


def check_first(f: Any, args: Any, kwargs: Any) -> None:
    """Raise what a function raises for arguments of types and shapes that are new to it.

    It runs once for those; that it raises for values, its replacement must find out.
    """
    if not args or type(f) is BuiltinFunctionType:  # which SciPy calls itself
        return
    if package_of(f) != "scipy" and not draws_numbers(type(args[0])):
        return
    given = [unwrapped(value) for value in (*args, *kwargs.values())]
    if not all(map(is_data, given)):
        return
    key = f, len(args), *kwargs, *map(signature, given)
    if key in _sound:
        return
    error = plain_error(f, args, kwargs)
    if error is not None:
        raise error
    if len(_sound) >= MOST:
        _sound.clear()
    _sound.add(key)


def plain_error(f: Any, args: Any, kwargs: Any) -> Exception | None:
    """Return the exception that the plain call raises for these arguments; None if none is known.

    It runs on copies, and only on data, which neither have code of their own nor remember a call.
    """
    found = copies_of(args, kwargs)
    if found is None:
        return None
    try:
        with Unheard():
            undrawn(f, *found)
    except Exception as error:
        return error.with_traceback(None)
    return None


def undrawn(f: Callable[..., Any], args: Any, kwargs: Any) -> None:
    """Call a function, and leave NumPy's global generator as it is: SciPy draws from it."""
    generator: Any = np.random.random.__self__ if package_of(f) == "scipy" else None
    state = None if generator is None else generator.get_state()
    try:
        f(*args, **kwargs)
    finally:
        if generator is not None:
            generator.set_state(state)


def copies_of(args: Any, kwargs: Any) -> tuple[list[Any], dict[str, Any]] | None:
    """Return copies of the plain numbers and arrays in arguments, None if they are not data."""
    given = [unwrapped(value) for value in (*args, *kwargs.values())]
    if not all(map(is_data, given)):
        return None
    copies = [copied(value) for value in given]
    return copies[: len(args)], dict(zip(kwargs, copies[len(args) :], strict=True))


def is_data(value: Any) -> bool:
    """Return whether a value is a number, a text, an array, or a list, tuple or dtype of these.

    Sparse matrices and random generators are data too.
    """
    t = type(value)
    if t is list or t is tuple:
        return all(map(is_data, value))
    if t is ndarray:
        return value.dtype.kind in KINDS
    if isinstance(value, np.generic):
        return t.__module__ == "numpy"  # a subclass has code of its own
    if t in DATA or isinstance(value, (np.dtype, np.ufunc, type)):
        return True
    if is_sparse(value):
        return True
    return module_of(t).startswith("numpy.random") and draws_numbers(t)


def is_sparse(value: Any) -> bool:
    """Return whether a value is a sparse matrix of SciPy's own classes that keeps arrays.

    Those that keep Python's numbers may keep active ones.
    """
    kind = module_of(type(value))
    return kind.startswith("scipy.sparse.") and getattr(value, "format", "dok") not in OF_NUMBERS


def copied(value: Any) -> Any:
    """Return a copy of an array, read-only if it is, and a list or a tuple of copies."""
    if type(value) is ndarray:
        new = value.copy("K")
        new.flags.writeable = is_writeable(value)
        return new
    if type(value) is list or type(value) is tuple:
        return type(value)(map(copied, value))
    if is_sparse(value) or draws_numbers(type(value)):
        return copy.deepcopy(value)
    return value


def signature(value: Any) -> Any:
    """Return the types, shapes and options that a function may check."""
    t = type(value)
    if t is ndarray:
        return t, value.shape, value.dtype, value.flags.num & LAYOUT
    if t is list or t is tuple:
        return t, *map(signature, value)
    if isinstance(value, BY_TYPE) or draws_numbers(t):
        return t
    if is_sparse(value):
        return t, value.shape, value.dtype
    return t, repr(value) if t is slice else value

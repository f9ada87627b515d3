"""Functions that compiled text calls: what stands for them, and how they are told apart."""

from __future__ import annotations

import builtins
import hashlib
import math
import operator
from collections.abc import Iterator
from functools import cache
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from mooncake_py.compiler.derivatives.number_functions import NUMPY_FUNCTIONS
from mooncake_py.compiler.native.regions import helpers
from mooncake_py.optional import import_extension
from mooncake_py.rules.math_functions import hypotenuse

__all__ = ["digest", "fingerprint", "has_blas", "instead", "names_read"]

DISPATCHER = type(np.dot)
"""Of functions of NumPy that arrays of other types may take over."""

INSTEAD: dict[Any, Any] = {f: own for f, (own, _) in NUMPY_FUNCTIONS.items()} | {
    np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul,
    np.divide: operator.truediv, np.power: operator.pow, np.negative: operator.neg,
    np.floor_divide: operator.floordiv, np.remainder: operator.mod,
    np.absolute: math.fabs, np.fabs: math.fabs, np.arctan2: math.atan2, np.hypot: helpers.hypot,
    np.heaviside: helpers.heaviside, np.maximum: helpers.maximum, np.minimum: helpers.minimum,
    math.hypot: helpers.hypot, hypotenuse: helpers.hypot, np.tanh: helpers.tanh,
    math.tanh: helpers.tanh,
}  # fmt: skip
"""Functions that compiled do on floats what those of NumPy do, without warnings or exceptions."""


def instead(f: Any) -> Any:
    """Return the function that is compiled in place of another one."""
    return INSTEAD.get(f, f)


@cache
def has_blas() -> bool:
    """Return True if there is SciPy, whose BLAS multiplies matrices.  Imports a part of it."""
    try:
        import_extension("scipy.linalg", "cython_blas")
    except ImportError:
        return False
    return True


def fingerprint(f: Any, *, within: tuple[Any, ...] = ()) -> str | None:
    """Return a text that differs where a function does, in every process; None if there is none.

    For a function of Python that is its code, with what it reads.

    Parameters
    ----------
    within : tuple of functions
        Those that read it.
    """
    if f is None or isinstance(f, np.ufunc | DISPATCHER | BuiltinFunctionType | ModuleType | type):
        return f"{getattr(f, '__module__', '')}.{getattr(f, '__name__', '')}"
    if isinstance(f, bool | int | float | str):
        return repr(f)
    f = getattr(f, "py_func", f)
    if type(f) is not FunctionType:
        return None
    if f in within:
        return str(within.index(f))
    cells = [cell.cell_contents for cell in f.__closure__ or ()]
    named = [
        f.__globals__.get(name, getattr(builtins, name, None)) for name in names_read(f.__code__)
    ]
    parts = [
        fingerprint(value, within=(*within, f))
        for value in (*(f.__defaults__ or ()), *cells, *named)
    ]
    return code_text(f.__code__) + repr(parts) if None not in parts else None


def digest(text: str) -> str:
    """Return a short text that differs where a text does."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def names_read(code: CodeType) -> Iterator[str]:
    """Yield the names that code reads, attributes too."""
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from names_read(part)


def code_text(code: CodeType) -> str:
    """Return code as text."""
    consts = [code_text(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return repr((code.co_code, code.co_names, code.co_varnames, consts))

"""What all objects that a program can reach hold, read past the methods of their classes."""

from __future__ import annotations

import random
import types
from collections import deque
from typing import Any

import numpy as np

from mooncake_py.tangents.bits import bits_of

__all__ = ["held"]

LEFT_OUT = {"__builtins__", "__name__", "seen"}
GENERATORS = (
    np.random.Generator,
    np.random.RandomState,
    random.Random,
)  # they move on, as iterators do


def held(value: Any, above: tuple[int, ...] = ()) -> Any:
    """Return something equal for two states of a value only if all that it holds is the same."""
    if id(value) in above:
        return "circle", len(above) - above.index(id(value))
    above = (*above, id(value))
    if len(above) > 12 or isinstance(value, GENERATORS):
        return type(value).__name__
    if isinstance(value, np.ndarray):
        return (type(value).__name__, value.dtype.str, value.shape, value.strides,
                value.flags.writeable, bits_of(np.ndarray.view(value, np.ndarray)),
                attributes(value, above))  # fmt: skip
    if isinstance(value, (int, float, complex, np.generic)):
        return type(value).__name__, digits(value), attributes(value, above)
    if isinstance(value, types.ModuleType):
        return value.__name__
    if type(value).__module__.partition(".")[0] in ("pandas", "xarray"):  # they keep caches
        return type(value).__name__, bits_of(np.asarray(value))
    if isinstance(value, types.FunctionType):
        return of_function(value, above)
    if isinstance(value, type):
        return of_class(value, above)
    return type(value).__name__, items(value, above), attributes(value, above)


def digits(value: Any) -> Any:
    """Return a number as text or bytes, by the methods of the base type."""
    if isinstance(value, np.generic):
        return np.generic.tobytes(value)
    for kind, show in ((int, int.__repr__), (float, float.hex), (complex, complex.__repr__)):
        if isinstance(value, kind):
            return show(value)
    return None


def items(value: Any, above: tuple[int, ...]) -> Any:
    """Return the contents of a container."""
    if isinstance(value, (str, bytes)):
        return repr(value)
    if isinstance(value, dict):
        return [(key if isinstance(key, str) else held(key, above), held(v, above))
                for key, v in dict.items(value)]  # fmt: skip
    for kind in (list, tuple, deque):
        if isinstance(value, kind):
            return [held(v, above) for v in kind.__iter__(value)]
    if isinstance(value, (set, frozenset)):
        return sorted(map(repr, set(value)))
    return None


def attributes(value: Any, above: tuple[int, ...]) -> Any:
    """Return the attributes of an object, in its dict and in slots."""
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None
    named = {k: v for k, v in dict.items(found) if not k.startswith("__")}
    return {name: held(v, above) for name, v in sorted(named.items())}


def of_function(value: types.FunctionType, above: tuple[int, ...]) -> Any:
    cells = [held(c.cell_contents, above) for c in value.__closure__ or ()]
    return value.__qualname__, held(value.__defaults__, above), cells, attributes(value, above)


def of_class(value: type, above: tuple[int, ...]) -> Any:
    if value.__module__ != "program":
        return value.__qualname__
    own = {k: v for k, v in vars(value).items() if not k.startswith("__")}
    return value.__qualname__, {k: held(v, above) for k, v in sorted(own.items())}


def names_of(f: Any) -> dict[str, Any]:
    """Return the variables of the module that a program's function stands in."""
    return {k: v for k, v in f.__globals__.items() if k not in LEFT_OUT}

"""Functions of C that call Python back: see `nodes`."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.native.llvm.listening import INTERRUPTED
from mooncake_py.compiler.native.llvm.signature import Foreign, Shaped
from mooncake_py.compiler.native.nodes.node import Outside
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, INT

__all__ = ["outside_address"]

DTYPES = {FLOAT: np.dtype(np.float64), INT: np.dtype(np.int64), BOOL: np.dtype(np.bool_)}


def outside_address(foreign: Foreign) -> int:
    """Return the address of a function of C, which is there as long as what it calls."""
    outside = foreign.function
    assert isinstance(outside, Outside)
    found = outside.calls.get(foreign.kinds)
    if found is None:
        made = function_of_c(outside, foreign.kinds)
        found = outside.calls.setdefault(foreign.kinds, made)
    return ctypes.cast(found, ctypes.c_void_p).value or 0


def function_of_c(outside: Outside, kinds: tuple[Shaped, ...]) -> Any:
    """Return a function of C that takes the addresses and lengths of arrays."""
    types: list[Any] = []
    for _, axes in kinds:
        assert axes is not None
        types += [ctypes.c_void_p, *[ctypes.c_int64] * axes]
    forms = [(DTYPES[kind], axes or 0) for kind, axes in kinds]

    def call(*words: Any) -> int:
        try:
            return int(outside(*arrays_at(words, forms)))
        except KeyboardInterrupt:
            return INTERRUPTED
        except BaseException:  # the plain call raises it
            return 0

    return ctypes.CFUNCTYPE(ctypes.c_int8, *types)(call)


def arrays_at(words: tuple[Any, ...], forms: list[tuple[np.dtype[Any], int]]) -> list[ndarray]:
    """Return arrays in the memory of compiled code."""
    found: list[ndarray] = []
    place = 0
    for dtype, axes in forms:
        shape = words[place + 1 : place + 1 + axes]
        size = dtype.itemsize
        for n in shape:
            size *= n
        if size:
            memory: Any = (ctypes.c_char * size).from_address(words[place])
            found.append(ndarray(shape, dtype, memory))
        else:
            found.append(np.empty(shape, dtype))
        place += 1 + axes
    return found

"""Functions of numbers that our reader does not read, as functions of C: Numba compiles them.

Whether a function came to its end is what it returns; its result goes to an address that it takes.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

import mooncake_py
from mooncake_py.compiler.native.llvm.called import instead, names_read
from mooncake_py.compiler.native.llvm.signature import Foreign
from mooncake_py.compiler.native.regions.refused import CannotCompile
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, FLOAT32, INT
from mooncake_py.modules import package_of

__all__ = ["compilable", "function_of_c", "is_ours", "require_steady"]

TYPES = {FLOAT: "float64", FLOAT32: "float32", INT: "int64", BOOL: "int8"}
OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True}
FIXED = (FunctionType, BuiltinFunctionType, ModuleType, np.ufunc, type)
"""Types of what a function reads of its module that does not change for certain, or as good as."""
OWN = mooncake_py.__name__
TEXT = """\
def outer({names}, result):
    try:
        result[0] = inner({values})
    except Exception:
        return 0
    return 1
"""


def function_of_c(foreign: Foreign) -> Any:
    """Return the owner of a function's address, and the address.  Imports Numba.

    Raises
    ------
    CannotCompile
        Numba is not there, or does not compile it.
    """
    try:
        numba = import_module("numba")
    except ImportError as error:
        raise CannotCompile(str(error)) from None
    if numba.config.DISABLE_JIT:
        raise CannotCompile("NUMBA_DISABLE_JIT is set")
    types = numba.types
    kinds = [kind for kind, _ in foreign.kinds]
    names = [f"a{k}" for k in range(len(kinds))]
    values = [f"{a} != 0" if kind == BOOL else a for a, kind in zip(names, kinds, strict=True)]
    passed = [getattr(types, TYPES[kind]) for kind in kinds]
    passed.append(types.CPointer(getattr(types, TYPES[foreign.result])))
    scope = {"inner": compilable(foreign.function)}
    text = TEXT.format(names=", ".join(names), values=", ".join(values))
    exec(compile(text, "<native function>", "exec"), scope)
    try:
        return numba.cfunc(types.int8(*passed), **OPTIONS)(scope["outer"])
    except Exception as error:
        raise CannotCompile(f"Numba does not compile {foreign.function}: {error}") from error


@lru_cache(maxsize=256)
def compilable(f: Any) -> Any:
    """Return the stand-in for a function in code that Numba compiles.

    A function of Python is compiled with the functions that it calls.

    Raises
    ------
    CannotCompile
        It reads what may change.
    """
    f = instead(f)
    if type(f) is not FunctionType:
        return f
    require_steady(f)
    scope = dict(f.__globals__)
    for name in names_read(f.__code__):
        value = scope.get(name)
        if type(value) is FunctionType and value is not f:
            scope[name] = compilable(value)
    own = FunctionType(f.__code__, scope, f.__name__, f.__defaults__, f.__closure__)
    return import_module("numba").njit(**OPTIONS)(own)


def require_steady(f: FunctionType) -> None:
    """Require that a function reads nothing that may change: compiled it is taken for constant.

    Raises
    ------
    CannotCompile
    """
    if is_ours(f):
        return
    for name in names_read(f.__code__):
        value = f.__globals__.get(name)
        if value is not None and not isinstance(value, FIXED):
            raise CannotCompile(f"{f.__qualname__} reads the global variable {name}")


def is_ours(f: FunctionType) -> bool:
    """Return True for a function of this package."""
    return package_of(f) == OWN

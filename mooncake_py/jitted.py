"""Functions jitted by Numba, and the Python functions that they were compiled from.

This module never imports Numba: it recognises Numba's objects by their classes.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator
from contextlib import suppress
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from mooncake_py.modules import module_of

__all__ = [
    "Difference", "captured", "cuts", "difference", "effects", "is_its_python", "is_jitted",
    "is_of_numba", "is_prange", "is_written_by_numba", "key_of", "python_function", "with_items",
]  # fmt: skip

DISPATCHER = ("numba.core.registry", "CPUDispatcher")
PRANGE = ("numba.misc.special", "prange")
OBJECT_MODE = ("numba.core.withcontexts", "_ObjModeContextType")
GENERATORS = frozenset({"numpy.random", "random"})
LOADS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF"})
LOADS_OF_PART = frozenset({"LOAD_ATTR", "LOAD_METHOD"})
EXACT = frozenset({"float64", "complex128"})


def key_of(cls: type) -> tuple[str, str]:
    """Return the module and the name of a class."""
    return cls.__module__, cls.__name__


def is_jitted(value: Any) -> bool:
    """Return True for a function jitted by ``numba.njit``."""
    t = type(value)
    return t.__name__ == DISPATCHER[1] and t.__module__ == DISPATCHER[0]


def is_of_numba(cls: type) -> bool:
    """Return True for the classes of Numba's objects, and of instances of jitted classes."""
    return module_of(cls).startswith("numba.")


def is_written_by_numba(f: FunctionType) -> bool:
    """Return True for Python functions of Numba, including generated ones."""
    name = f.__globals__.get("__name__")
    return type(name) is str and name.startswith("numba.")


def is_prange(value: Any) -> bool:
    """Return True for ``numba.prange``, which is ``range`` in Python."""
    return type(value) is type and key_of(value) == PRANGE


def python_function(value: Any) -> FunctionType | None:
    """Return a Python function, or the one that Numba compiled; None for anything else."""
    if type(value) is FunctionType:
        return value
    return value.py_func if is_jitted(value) else None


def with_items(y: Any) -> Any:
    """Return a result with NumPy's scalars as Python's numbers, as compiled code returns them."""
    if type(y) is tuple:
        return tuple(map(with_items, y))
    return y.item() if isinstance(y, np.generic) else y


# The names in a function.


def captured(f: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the captured variables of a function that are bound."""
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
        with suppress(ValueError):  # empty
            yield name, cell.cell_contents


def named_in(f: FunctionType) -> Iterator[Any]:
    """Yield the values of global and captured names in a function, and of attributes of modules."""
    scope = {**f.__globals__, **dict(captured(f))}
    rest: list[CodeType] = [f.__code__]
    for code in rest:
        rest += [part for part in code.co_consts if isinstance(part, CodeType)]
        value: Any = None
        for instruction in dis.get_instructions(code):
            if instruction.opname in LOADS:
                value = scope.get(instruction.argval)
            elif instruction.opname in LOADS_OF_PART and type(value) is ModuleType:
                value = value.__dict__.get(instruction.argval)
            else:
                continue
            if value is not None:
                yield value


def reached(f: FunctionType) -> Iterator[Any]:
    """Yield the values that a function names, and those that reachable jitted functions name."""
    rest = [f]
    for function in rest:
        for value in named_in(function):
            yield value
            if is_jitted(value) and value.py_func not in rest:
                rest.append(value.py_func)


def draws(value: Any) -> bool:
    """Return True for the modules of random numbers, and for functions of their generators."""
    if type(value) is ModuleType:
        return value.__name__ in GENERATORS
    return module_of(type(getattr(value, "__self__", None))).startswith(("numpy.random", "random"))


def is_object_mode(value: Any) -> bool:
    """Return True for ``numba.objmode``."""
    return key_of(type(value)) == OBJECT_MODE


class Effects(NamedTuple):
    """The side effects of compiled code, other than changes of its arguments."""

    draws: bool  # from the generators of this thread
    unknown: bool


_effects: WeakKeyDictionary[Any, Effects] = WeakKeyDictionary()


def effects(f: Any) -> Effects:
    """Return the side effects of a jitted function, other than changes of its arguments.

    Names are looked up once, as Numba does: to compiled code globals are constants.
    """
    known = _effects.get(f)
    if known is None:
        values = list(reached(f.py_func))
        random = any(map(draws, values))
        parallel = any(v.targetoptions.get("parallel") for v in (f, *values) if is_jitted(v))
        unknown = any(map(is_object_mode, values)) or (random and bool(parallel))
        known = _effects[f] = Effects(random, unknown)
    return known


# Where Python would compute something else.


class Difference(NamedTuple):
    """A reason why the Python source of a jitted function means something else than its code."""

    why: str
    fix: str


_differences: WeakKeyDictionary[Any, Difference | None] = WeakKeyDictionary()


def difference(f: Any) -> Difference | None:
    """Return why a jitted function cannot be derived from its Python source, or None."""
    if f not in _differences:
        _differences[f] = next(differences(f), None)
    return _differences[f]


def differences(f: Any) -> Iterator[Difference]:
    """Yield the reasons; functions that it calls are checked separately."""
    for name, type_ in f.locals.items():
        if str(type_) not in EXACT:
            yield Difference(
                f"locals={{{name!r}: {type_}}} converts a variable, which its Python does not",
                "leave it out: the type of the variable is then that of its values",
            )
    for value in named_in(f.py_func):
        if draws(value):
            yield Difference(
                "np.random and random have separate generators in compiled code:\n"
                "its Python source would draw other numbers",
                "pass a generator, rng = np.random.default_rng(seed), and draw from it by\n"
                "rng.normal(...); or draw in a jitted function of its own, which runs compiled;\n"
                f"or call {f.py_func.__name__}.py_func, which draws from NumPy's",
            )
        elif is_object_mode(value):
            yield Difference(
                "objmode runs Python in it, and converts what that binds",
                f"call {f.py_func.__name__}.py_func without the block, or the Python function",
            )
        elif type(value) is FunctionType and is_overloaded(value):
            yield Difference(
                f"compiled code has another {value.__name__}, by numba.extending.overload",
                f"make {value.__name__} a jitted function, or register a rule for "
                f"{f.py_func.__name__}",
            )


def cuts(f: Any, position: int | None, value: Any) -> bool:
    """Return True if the signature makes an int of a float: an argument, or the result for None.

    This is so if the signature allows no other type.
    """
    if f._can_compile:
        return False
    signatures = [compiled.signature for compiled in f.overloads.values()]
    types = [
        s.return_type if position is None else s.args[position]
        for s in signatures
        if position is None or position < len(s.args)
    ]
    return bool(types) and all(makes_int(t, value) for t in types)


def makes_int(type_: Any, value: Any) -> bool:
    """Return True if a float, or one in a tuple, is made an int to be of a type of Numba's."""
    if type(value) is tuple:
        return any(map(makes_int, getattr(type_, "types", ()), value))
    is_float = isinstance(value, (float, complex, np.inexact))  # an active one passes for it
    return is_float and type(type_).__name__ in ("Boolean", "Integer")


def is_its_python(f: Any) -> bool:
    """Return True if a jitted function equals its Python source for all arguments."""
    if difference(f) is not None:
        return False
    signatures = [] if f._can_compile else [made.signature for made in f.overloads.values()]
    types = [t for s in signatures for t in (*s.args, s.return_type)]
    return not any(makes_int(t, 0.0) or getattr(t, "types", ()) for t in types)


def is_overloaded(f: FunctionType) -> bool:
    """Return True if compiled code replaces this function by one with another source."""
    templates = sys.modules.get("numba.core.typing.templates")
    if templates is None or is_of_library(f.__module__):
        return False
    for value, type_ in templates.builtin_registry.globals:
        if value is f:
            made = [getattr(t, "_overload_func", None) for t in getattr(type_, "templates", ())]
            return not all(map(is_jitable, made))
    return False


def is_of_library(module: str | None) -> bool:
    """Return True for a function that Numba itself implements twice, with one meaning."""
    return (module or "").partition(".")[0] in ("numba", "numpy", "scipy")


def is_jitable(made: Any) -> bool:
    """Return True if ``register_jitable`` gave compiled code the function itself."""
    return getattr(made, "__qualname__", "").startswith("register_jitable.")

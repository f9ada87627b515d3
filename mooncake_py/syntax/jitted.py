"""The Python source of jitted functions, with tests of ints that would wrap around."""

from __future__ import annotations

import ast
from contextlib import suppress
from inspect import signature
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from mooncake_py.syntax.machine_ints import guarded
from mooncake_py.syntax.names import Names
from mooncake_py.syntax.source import keep, locate
from mooncake_py.syntax.static_integers import bindings

__all__ = ["may_overflow", "python_for"]

Made = dict[frozenset[str], FunctionType | None]
_made: WeakKeyDictionary[Any, Made] = WeakKeyDictionary()  # by the parameters that are ints


def python_for(f: Any, args: Any, kwargs: Any) -> FunctionType:
    """Return the Python function to derive for a call of a jitted one: its own as a rule.

    Raises
    ------
    SourceUnavailableError
        If there is no source.
    """
    own = f.py_func
    if may_overflow(f, parameters(own)):
        with suppress(TypeError):  # which the call is about to raise
            call = signature(own).bind(*args, **kwargs)
            call.apply_defaults()
            given = call.arguments.items()
            ints = frozenset(name for name, v in given if isinstance(v, (int, np.integer)))
            return tested(f, ints) or own
    return own


def may_overflow(f: Any, ints: frozenset[str]) -> bool:
    """Return True if an int may outgrow 64 bits where parameters of these names are ints."""
    return tested(f, ints) is not None


def parameters(f: FunctionType) -> frozenset[str]:
    """Return the names of the parameters of a function, without variadic ones."""
    code = f.__code__
    return frozenset(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])


def tested(f: Any, ints: frozenset[str]) -> FunctionType | None:
    """Return what there is of a jitted function with tests of its ints, None if it needs none."""
    made = _made.setdefault(f, {})
    if ints not in made:
        made[ints] = with_tests(f.py_func, ints)
    return made[ints]


def with_tests(f: FunctionType, ints: frozenset[str]) -> FunctionType | None:
    """Return a copy of a function with tests of its ints, None if it needs none."""
    source = locate(f.__code__)
    node = source.node
    if not isinstance(node, ast.FunctionDef):
        return None  # a lambda binds nothing
    names = Names(f.__globals__, bindings(node).bound().union(f.__code__.co_freevars))
    tested = guarded(node, names, ints)
    if tested is node:
        return None
    code = f.__code__.replace()
    keep(code, source._replace(node=tested))
    new = FunctionType(code, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    new.__kwdefaults__ = f.__kwdefaults__
    new.__module__ = f.__module__
    return new

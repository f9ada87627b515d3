"""Derivatives taken inside a function that is itself being differentiated."""

from __future__ import annotations

import os
from types import CodeType, FunctionType
from typing import Any

from mooncake_py.derive.activity import contains_active
from mooncake_py.derive.places import PACKAGE
from mooncake_py.errors import NestedDerivativeError

__all__ = ["call_derivative", "is_derivative", "nested_derivative"]

RULES = os.path.join(PACKAGE, "rules")  # with replacements of built-in functions, in Python


def is_derivative(f: FunctionType) -> bool:
    """Tell whether a function is one of this package's own, ``grad(g)`` for example."""
    file = f.__code__.co_filename
    return file.startswith(PACKAGE) and not file.startswith(RULES)


def call_derivative(ctx: Any, f: FunctionType, args: Any, kwargs: Any) -> Any:
    """Run a function of this package if nothing active goes into it, else refuse."""
    seen: set[int] = set()
    read: set[int] = set()
    functions = [g for v in (f, *args) for g in (v, getattr(v, "__wrapped__", None))]
    globals_read = [value for g in functions for value in captured_globals(g, read)]
    values = (f, *args, *kwargs.values(), *globals_read)
    if any(contains_active(ctx, value, seen) for value in values):
        raise nested_derivative(ctx)
    return f(*args, **kwargs)


def captured_globals(f: Any, seen: set[int]) -> list[Any]:
    """Return the global variables that a function and the functions it captured may read."""
    if not isinstance(f, FunctionType) or id(f) in seen:
        return []
    seen.add(id(f))
    found: list[Any] = []
    if not is_derivative(f):
        found += [f.__globals__[n] for n in names_of(f.__code__) if n in f.__globals__]
    for cell in f.__closure__ or ():
        try:
            found += captured_globals(cell.cell_contents, seen)
        except ValueError:
            continue  # not assigned yet
    return found


def names_of(code: CodeType) -> set[str]:
    """Return the names that code reads, nested functions included."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= names_of(constant)
    return names


def nested_derivative(ctx: Any) -> NestedDerivativeError:
    """Return the error for a derivative of a derivative."""
    return ctx.failed(
        NestedDerivativeError(
            "a derivative was asked for inside a function that is being differentiated",
            where=ctx.user_location(),
            why="the inner derivative depends on what the outer one is taken with respect to; "
            "reverse mode does not differentiate derivatives",
            mend="take the derivative outside, or write the inner one out by hand",
        )
    )

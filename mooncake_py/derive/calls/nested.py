"""Derivatives taken inside a function that is itself being differentiated.

An inner derivative of constants is a constant, and runs as it is.  What it reads shows only while
it runs: a global, an attribute or a captured variable may hold what the outer derivative is taken
with respect to.  So the contexts of such calls know those round them (see `inner`).
"""

from __future__ import annotations

import os
import threading
from types import FunctionType
from typing import Any

from mooncake_py.derive.recording.activity import contains_active
from mooncake_py.derive.reports.places import PACKAGE
from mooncake_py.errors import NestedDerivativeError

__all__ = ["call_derivative", "enclosed", "enclosing", "is_derivative", "nested_derivative"]

RULES = os.path.join(PACKAGE, "rules")  # with replacements of built-in functions, in Python
RUNS = tuple(os.path.join(PACKAGE, part) for part in ("interface.py", "derive", "utilities"))


class _Thread(threading.local):
    """The context, if any, whose rewritten code has just called for a derivative."""

    context: Any = None


_thread = _Thread()


def enclosing() -> Any:
    """Return the context round a derivative that begins now, or None."""
    return _thread.context


class enclosed:
    """Let derivatives that begin meanwhile in this thread be inner ones of a context, or of none.

    Rules written by hand may take derivatives of their own, of the arrays that they are given.
    """

    def __init__(self, ctx: Any) -> None:
        self.ctx = ctx

    def __enter__(self) -> None:
        self.before = _thread.context
        _thread.context = self.ctx

    def __exit__(self, *exception: object) -> None:
        _thread.context = self.before


def is_derivative(f: FunctionType) -> bool:
    """Tell whether a function is one of this package's own, ``grad(g)`` for example."""
    file = f.__code__.co_filename
    return file.startswith(PACKAGE) and not file.startswith(RULES)


def call_derivative(ctx: Any, f: FunctionType, args: Any, kwargs: Any) -> Any:
    """Run a function of this package if nothing active goes into it, else refuse."""
    runs = f.__code__.co_filename.startswith(RUNS)
    seen: set[int] = set()
    for value in (*args, *kwargs.values()):
        # What a function has captured, or a pullback holds, shows when the inner derivative runs.
        if runs and (callable(value) or is_receiver(value, f)):
            continue
        if contains_active(ctx, value, seen):
            raise nested_derivative(ctx)
    with enclosed(ctx):
        return f(*args, **kwargs)


def is_receiver(value: Any, f: FunctionType) -> bool:
    """Tell whether a function is a method of the class of a value."""
    return getattr(type(value), f.__name__, None) is f


def nested_derivative(*contexts: Any) -> NestedDerivativeError:
    """Return the error for a derivative of a derivative; no context forgets it."""
    error = NestedDerivativeError(
        "a derivative was asked for inside a function that is being differentiated",
        where=contexts[0].user_location(),
        why="the inner derivative depends on what the outer one is taken with respect to;\n"
        "reverse mode does not differentiate derivatives",
        mend="take the derivative outside, or write the inner one out by hand",
    )
    for ctx in contexts:
        ctx.failed(error)
    return error

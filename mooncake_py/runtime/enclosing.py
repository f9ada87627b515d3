"""The enclosing derivatives of a call, and the functions that are derivatives.

The data that an inner derivative reads are known only when it runs: a global, an attribute or a
captured variable may hold a variable of the outer derivative.  So the contexts of inner calls have
references to the outer ones (see `inner`).
"""

from __future__ import annotations

import os
import threading
from types import FunctionType
from typing import TYPE_CHECKING, Any

from mooncake_py.errors import NestedDerivativeError
from mooncake_py.rooms import ENGINE, PACKAGE
from mooncake_py.runtime.activity import contains_active

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["call_derivative", "enclosed", "enclosing", "is_derivative", "nested_derivative"]


def paths(*names: str) -> tuple[str, ...]:
    return tuple(PACKAGE + name.replace("/", os.sep) for name in names)


# Ordinary Python that is derived where it is called: replacements of built-in functions, how
# tangents go through rules, the Duals that forward rules take, derivatives in terms of others,
# what the tester differentiates twice, the arguments of functions of other packages.
ORDINARY = paths(
    "integrations", "rules",
    "modes/forward/pushforward.py", "modes/forward/transposed.py",
    "recomputation/structures.py", "hessian_vectors.py", "higher_order.py", "jacobian_blocks.py",
    "jacobians.py", "pickling.py", "checkpointing.py",
    "solvers", "sparse", "tangents/contents.py", "tangents/pairs.py", "testing/program.py",
    "utilities/flattening.py", "utilities/holomorphic.py", "utilities/trees.py",
)  # fmt: skip
DECLARES = paths("rules/declare.py")
"""The files that register rules: rules are permanent, so their parts must be permanent too."""
RUNS = (
    *paths("first_order.py", "interface.py", "derivatives.py", "prepared.py", "utilities"),
    *paths("tangents/kinds.py"),
    *ENGINE,
)


class _Thread(threading.local):
    """The context, if any, whose rewritten code has just called for a derivative."""

    context: Mode | None = None


_thread = _Thread()


def enclosing() -> Mode | None:
    """Return the context around a derivative that begins now, or None."""
    return _thread.context


class enclosed:
    """Let derivatives that begin meanwhile in this thread be inner ones of a context, or of none.

    Handwritten rules may take their own derivatives, of the arrays that they are given.
    """

    def __init__(self, ctx: Mode | None) -> None:
        self.ctx = ctx

    def __enter__(self) -> None:
        self.before = _thread.context
        _thread.context = self.ctx

    def __exit__(self, *exception: object) -> None:
        _thread.context = self.before


def is_derivative(f: FunctionType) -> bool:
    """Return whether a function is one of this package's own, ``grad(g)`` for example."""
    file = f.__code__.co_filename
    return file.startswith(PACKAGE) and (file.startswith(DECLARES) or not file.startswith(ORDINARY))


def call_derivative(ctx: Mode, f: FunctionType, args: Any, kwargs: Any) -> Any:
    """Run a function of this package, whose derivatives are inner ones of this context."""
    if not f.__code__.co_filename.startswith(RUNS):
        values = [*args, *kwargs.values()]
        if f.__code__.co_filename.startswith(DECLARES):  # which reject non-functions
            values = [value for value in values if callable(value)]
        seen: set[int] = set()
        if any(contains_active(ctx, value, seen) for value in values):
            raise nested_derivative((ctx,))
    with enclosed(ctx):
        return f(*args, **kwargs)


def nested_derivative(contexts: Any) -> NestedDerivativeError:
    """Return the error for what does not work on active data; no context forgets it."""
    error = NestedDerivativeError(
        "a rule or a tool of mooncake_py was run on active data inside a differentiated function",
        where=contexts[0].user_location(),
        why="only grad, vjp, jvp and functions made of them nest",
        fix="use these, or call it outside",
    )
    for ctx in contexts:
        ctx.failed(error)
    return error

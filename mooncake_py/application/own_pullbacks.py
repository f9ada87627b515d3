"""Pullbacks written by users: what they write on the way back does not change the derivative."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any, cast

from numpy import ndarray

from mooncake_py.containers import effects
from mooncake_py.modules import package_of
from mooncake_py.runtime.activity import INERT
from mooncake_py.tangents import CoDual
from mooncake_py.tangents.memory import owner

if TYPE_CHECKING:
    from mooncake_py.rules.kinds import Rule
    from mooncake_py.runtime.mode import Mode

__all__ = ["apart"]

LIBRARIES = frozenset({"builtins", "mooncake_py", "numpy", "scipy"})


def apart(ctx: Mode, rule: Rule, pullback: Any, own: Iterable[Any] = ()) -> Any:
    """Return a pullback whose writes into arrays of the derivative take effect in the end.

    Most pullbacks only compute, as their bytecode shows, or write into nothing but their `own`
    memory, to restore what the rule has written; these are called as they are.
    """
    written = pullback.pullback if type(pullback) is Checked else pullback
    if not rule.by_user or not may_write(written):
        return pullback
    own = tuple(own)
    arrays = reached(written, {id(owner(a)) for a in own if type(a) is ndarray})
    if arrays is not None and not arrays:
        return pullback
    from mooncake_py.utilities.effects import Apart

    def run(*args: Any, **kwargs: Any) -> Any:
        with Apart(cast("Any", ctx), written, own, arrays):
            return pullback(*args, **kwargs)

    return run


class Checked:
    """A pullback, and a function that runs it with checks, which write nothing."""

    __slots__ = ("pullback", "run")

    def __init__(self, pullback: Callable[..., Any], run: Callable[..., Any]) -> None:
        self.pullback = pullback
        self.run = run

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run it."""
        return self.run(*args, **kwargs)


def may_write(function: Callable[..., Any]) -> bool:
    """Return whether a function may write into something that outlives its call."""
    if type(function) is not FunctionType:
        return type(function) is not BuiltinFunctionType
    return effects.changes_something(function)


def reached(function: Any, own: set[int]) -> list[ndarray] | None:
    """Return the arrays that a function names, except those whose owners it owns.

    None stands for more: it names objects that may hold arrays.
    """
    if type(function) is not FunctionType:
        return None
    arrays: list[ndarray] = []
    for value in named(function):
        t = type(value)
        if t is ndarray:
            if id(owner(value)) not in own:
                arrays.append(value)
        elif t is FunctionType:
            if may_write(value):
                return None
        elif isinstance(value, type):  # a class of the user's may hold arrays
            if package_of(value) not in LIBRARIES:
                return None
        elif not (t in INERT or isinstance(value, (CoDual, BuiltinFunctionType))):
            return None
    return arrays


def named(function: FunctionType) -> Iterator[Any]:
    """Yield the captured variables and the globals of a function."""
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not bound yet
            continue
    names = function.__globals__
    for name in function.__code__.co_names:
        if name in names:
            yield names[name]

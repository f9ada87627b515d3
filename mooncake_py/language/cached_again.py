"""Another run of a cached function, for a number that is equal and has another derivative.

The plain call takes the first result from the cache.  So what the other run writes is taken back,
what it draws is put back, and its result must be one for which it makes no difference that it is
another object.
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.containers.holders import Elements
from mooncake_py.containers.reach import LRU_WRAPPER
from mooncake_py.containers.reachable import State
from mooncake_py.diagnostics.reporting import dropped
from mooncake_py.errors import MooncakeError
from mooncake_py.language.draws import Draws, source_of
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.silence import silent
from mooncake_py.tangents.bits import bits_of

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Results", "compares_numbers", "contents_of", "run_again"]

CONSTANTS = (str, bytes, bool, type(None), type(Ellipsis), type, FunctionType, np.ufunc)
NUMBERS = (int, float, complex, np.generic)
OTHER = object()


def run_again(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a cached function where the plain call does not, and leave nothing but its result."""
    state = State(ctx, [f.__wrapped__, *args, *kwargs.values()])
    if any(map(moves_on, state.streams)):
        raise changed(ctx, f, "uses an iterator or a stream, which moves on")
    draws = Draws()
    try:
        with draws, silent():
            result = ctx.call(f.__wrapped__, *args, **kwargs)
    except MooncakeError:
        raise
    except Exception as error:
        raise changed(ctx, f, f"raises {type(error).__name__} this time") from error
    draws.rewind()
    for place, old in state.changes():
        if isinstance(place, Elements) and (
            ctx.find(place.holder) is not None or place in state.active_arrays
        ):
            raise changed(ctx, f, f"changes {place.path}, which is active")
        place.put(ctx, old)
    return result


def moves_on(stream: Any) -> bool:
    """Return whether something changes as it is used, other than generators and cached results."""
    return not issubclass(type(stream), LRU_WRAPPER) and source_of(stream) is None


class Results:
    """Pairs of results of one cached function that are one object in the plain call."""

    def __init__(self, f: Any) -> None:
        self.f = f
        self.kept: list[tuple[Any, Any]] = []

    def add(self, ctx: Mode, first: Any, second: Any) -> None:
        """Take two results, which must not differ in anything that the program may see."""
        one, other = contents_of(first), contents_of(second)
        if one is OTHER or other is OTHER:
            raise changed(ctx, self.f, f"returns an object of type {kind_of(first, second)}")
        if one != other:
            raise dropped(
                ctx,
                f"the cached function {self.f.__name__} returns another result for an equal "
                "argument",
                why=WHY,
                fix="let the function depend on its arguments only",
            )
        self.kept += [(first, one), (second, one)]

    def require_unchanged(self, ctx: Mode) -> None:
        """Raise if the program has written into one of two results that should be one."""
        if any(contents_of(result) != contents for result, contents in self.kept):
            raise changed(ctx, self.f, "returns an array that the program has changed since")


def contents_of(value: Any) -> Any:
    """Return a key that identifies a value, `OTHER` if its contents are not all there is to it."""
    value = unwrapped(value)
    t = type(value)
    if issubclass(t, tuple):
        parts = tuple(map(contents_of, value))
        return OTHER if any(part is OTHER for part in parts) else (t, parts)
    if issubclass(t, ndarray) and value.dtype != object:
        return t, value.dtype, value.shape, bits_of(value)
    if issubclass(t, CONSTANTS):
        return t, id(value) if issubclass(t, (type, FunctionType, np.ufunc)) else value
    if issubclass(t, NUMBERS):
        return t, bits_of(np.asarray(value))
    return OTHER


def kind_of(*values: Any) -> str:
    """Return the name of the class of the first value that is more than its contents."""
    return next(type(value).__name__ for value in values if contents_of(value) is OTHER)


def changed(ctx: Mode, f: Any, what: str) -> Exception:
    """Return the error about a function that does more than to return a value."""
    return dropped(
        ctx,
        f"the cached function {f.__name__} is called for an equal number of another origin, and "
        f"{what}",
        why=WHY,
        fix="let the function only compute and return numbers or arrays, or call it without cache",
    )


def compares_numbers(ctx: Mode, f: Any) -> Exception:
    """Return the error about an object that is equal to another one by code of the program."""
    return dropped(
        ctx,
        f"the cached function {f.__name__} is called for an object that equals an earlier one, "
        "and active numbers in them have been compared",
        why="the plain call takes the first result from the cache; whether its derivative is that "
        "of this\ncall too depends on how the class compares them",
        fix="let the class compare names or ints, make it a dataclass, or call the function "
        "without cache",
    )


WHY = (
    "the plain call takes the first result from the cache, and the derivative for this argument\n"
    "needs another run, in which the function finds another state or makes another object"
)

"""Iterators in C that call a function of the program for each item: what they call runs derived.

They are those of Python: they go on after an error of the function, end where it raises
StopIteration, and leave what they iterate over where it is.
"""

from __future__ import annotations

import itertools
import operator
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Handler, Mode

__all__ = ["HANDLERS"]


class Predicate:
    """A function of the program that answers with an object, whose truth is asked for."""

    __slots__ = ("_ctx", "_function")

    def __init__(self, ctx: Mode, function: Any) -> None:
        self._ctx = ctx
        self._function = function

    def holds(self, item: Any) -> Any:
        """Return something native with the truth of the answer for an item."""
        return self._ctx.truth(self._ctx.call(self._function, item))


def run_map(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``map(function, *iterables)``."""
    if len(args) < 2:
        return f(*args, **kwargs)  # raises
    function, *iterables = args
    return f(partial(ctx.call, function), *map(ctx.iter, iterables), **kwargs)


def run_starmap(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``itertools.starmap(function, rows)``, which makes a tuple of each row."""
    if kwargs or len(args) != 2:
        return f(*args, **kwargs)
    function, rows = args
    return f(partial(ctx.call, function), map(ctx.items, ctx.iter(rows)))


def run_filter(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``filter(function, items)`` and others that choose items by a function."""
    if kwargs or len(args) != 2:
        return f(*args, **kwargs)
    function, items = args
    by_truth = (function is None or function is bool) and f in BY_TRUTH
    return f(ctx.truth if by_truth else Predicate(ctx, function).holds, ctx.iter(items))


def run_accumulate(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``itertools.accumulate(iterable, func, initial=value)``."""
    given = {**dict(zip(ACCUMULATED, args[:2], strict=False)), **kwargs}
    known = {"iterable"} <= given.keys() <= ACCUMULATED.keys()
    if not known or len(given) < len(args) + len(kwargs):
        return f(*args, **kwargs)  # raises
    func = given.get("func")
    step = partial(ctx.call, operator.add if func is None else func)
    return f(ctx.iter(given["iterable"]), step, initial=given.get("initial"))


ACCUMULATED = dict.fromkeys(("iterable", "func", "initial"))
BY_TRUTH = frozenset({filter, itertools.filterfalse})
CHOOSING = (*BY_TRUTH, itertools.takewhile, itertools.dropwhile)

HANDLERS: dict[Any, Handler] = {
    map: run_map,
    itertools.starmap: run_starmap,
    **dict.fromkeys(CHOOSING, run_filter),
    itertools.accumulate: run_accumulate,
}

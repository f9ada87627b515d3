"""Iterators in C that call a function of the program for each item: what they call runs derived.

They are those of Python: they go on after an error of the function, end where it raises
StopIteration, and leave what they iterate over where it is.
"""

from __future__ import annotations

import itertools
import operator
from typing import TYPE_CHECKING, Any

from mooncake_py.containers.reach import StandIn
from mooncake_py.runtime.sites import CallSite

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Handler, Mode

__all__ = ["HANDLERS", "Callee"]


class Callee(StandIn):
    """A function of the program that an iterator in C calls again and again."""

    __slots__ = ("_ctx", "_site")

    def __init__(self, ctx: Mode, function: Any) -> None:
        super().__init__(function)
        self._ctx = ctx
        self._site = CallSite()

    def call(self, *items: Any) -> Any:
        """Return its result."""
        site: Any = self._site
        return site.way.star(site, self._ctx, self.function, *items)

    def call_one(self, item: Any) -> Any:
        """Return its result for one item."""
        site: Any = self._site
        return site.way.call1(site, self._ctx, self.function, item)

    def holds(self, item: Any) -> Any:
        """Return something native with the truth of what it returns for an item."""
        return self._ctx.truth(self.call_one(item))


def run_map(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``map(function, *iterables)``."""
    if len(args) < 2:
        return f(*args, **kwargs)  # raises
    function, *iterables = args
    callee = Callee(ctx, function)
    step = callee.call_one if len(iterables) == 1 else callee.call
    return f(step, *map(ctx.iter, iterables), **kwargs)


def run_starmap(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``itertools.starmap(function, rows)``, which makes a tuple of each row."""
    if kwargs or len(args) != 2:
        return f(*args, **kwargs)
    function, rows = args
    return f(Callee(ctx, function).call, map(ctx.items, ctx.iter(rows)))


def run_filter(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``filter(function, items)`` and others that choose items by a function."""
    if kwargs or len(args) != 2:
        return f(*args, **kwargs)
    function, items = args
    by_truth = (function is None or function is bool) and f in BY_TRUTH
    return f(ctx.truth if by_truth else Callee(ctx, function).holds, ctx.iter(items))


def run_accumulate(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``itertools.accumulate(iterable, func, initial=value)``."""
    given = {**dict(zip(ACCUMULATED, args[:2], strict=False)), **kwargs}
    known = {"iterable"} <= given.keys() <= ACCUMULATED.keys()
    if not known or len(given) < len(args) + len(kwargs):
        return f(*args, **kwargs)  # raises
    func = given.get("func")
    step = Callee(ctx, operator.add if func is None else func).call
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

"""Sums, the smallest and largest item, and order: Python's own functions, over what they iterate.

Each takes the items one after the other, and runs what it calls for them, when the original does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.application.structural_ways import serve_sum
from mooncake_py.containers import effects
from mooncake_py.rules.numbers import NUMBERS
from mooncake_py.rules.python_builtins import (
    order_left,
    order_of,
    sorting_order,
    sum_of_numbers,
    sum_of_rows,
)
from mooncake_py.runtime.active import Active, primal_of
from mooncake_py.runtime.activity import INERT
from mooncake_py.runtime.sites import DECLINED, CallSite

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Handler, Mode

__all__ = ["HANDLERS"]

NUMERIC = NUMBERS | {Active}
STILL = NUMERIC | {str}
"""Types of values that run no code of the program as they are compared."""
MISSING = object()


def run_sum(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``sum(iterable, start)``, which compensates rounding errors from Python 3.12 on."""
    if not 0 < len(args) < 3 or (kwargs and (len(args) == 2 or kwargs.keys() != {"start"})):
        return f(*args, **kwargs)  # raises
    iterable, total = args[0], args[1] if len(args) == 2 else kwargs.get("start", 0)
    t = type(iterable)
    if type(total) not in NUMERIC:
        if isinstance(total, (str, bytes, bytearray)):
            return f((), total)  # raises
    elif t is ndarray and iterable.dtype != object and iterable.ndim:
        return ctx.call(sum_of_rows, iterable, total)
    iterator, add = iter(ctx.iter(iterable)), getattr(ctx, "add")  # noqa: B009
    if type(total) in NUMERIC:
        numbers, others = numbers_first(iterator)
        if numbers:
            total = sum_numbers(ctx, numbers, total)
        if not others:
            return total
        if t is list or t is tuple:  # which the operators of items may change
            return sum_rest(ctx, iterable, len(numbers), total)
        total = add(total, *others)
    for item in iterator:
        total = add(total, item)
    return total


def numbers_first(iterator: Any) -> tuple[list[Any], tuple[Any, ...]]:
    """Return the numbers that come first, and the item after them if there is one.

    Instances of subclasses are not numbers here: they may have operators of their own.
    """
    found: list[Any] = []
    for item in iterator:
        if type(item) not in NUMERIC:
            return found, (item,)
        found.append(item)
    return found, ()


def sum_numbers(ctx: Mode, items: list[Any], start: Any) -> Any:
    """Add numbers, as one operation."""
    y = DECLINED if ctx.rules is None else serve_sum(ctx, items, start)
    return ctx.call(sum_of_numbers, items, start) if y is DECLINED else y


def sum_rest(ctx: Mode, items: Any, i: int, total: Any) -> Any:
    """Add the items of a list from one on, by their places.

    No iterator is left that a part which runs again would have to find.
    """
    add = getattr(ctx, "add")  # noqa: B009
    while i < len(items):
        total = add(total, items[i])
        i += 1
    return total


def run_extreme(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run `min` or `max`: of several equal items the first one carries the derivative."""
    if len(args) == 2 and not kwargs:
        first, second = args
        return second if is_better(ctx, f, second, first) else first
    known = {"key"} if len(args) > 1 else {"key", "default"}
    if not args or not kwargs.keys() <= known:
        return f(*args, **kwargs)  # raises
    best = best_of(ctx, f, args[0] if len(args) == 1 else args, kwargs.get("key"))
    if best is not MISSING:
        return best
    return kwargs["default"] if "default" in kwargs else f(())  # raises


def is_better(ctx: Mode, choose: Any, value: Any, best: Any) -> bool:
    """Return whether an item, or its key, is to be taken rather than the best one so far."""
    if is_still(value) and is_still(best):
        return value > best if choose is max else value < best
    return ctx.truth(getattr(ctx, "gt" if choose is max else "lt")(value, best))


def best_of(ctx: Mode, choose: Any, items: Any, key: Any) -> Any:
    """Return the first item with the smallest or largest key, MISSING if there is none.

    Python asks for the key of each item, and compares it, before it takes the next one.  Where no
    code of the program runs, all items are compared at once.
    """
    t = type(items)
    if key is None:
        if t is ndarray and items.ndim and items.dtype.kind != "O":
            return ctx.getitem(items, position_of(choose, items)) if len(items) else MISSING
        if (t is list or t is tuple) and all(map(is_still, items)):
            keys = [*map(primal_of, items)]
            return items[position_of(choose, keys)] if keys else MISSING
    best = best_key = MISSING
    site: Any = CallSite()
    for item in iter(ctx.iter(items)):
        value = item if key is None else site.way.call1(site, ctx, key, item)
        if best is MISSING or is_better(ctx, choose, value, best_key):
            best, best_key = item, value
    return best


def position_of(choose: Callable[..., Any], keys: Any) -> int:
    """Return the first position of the smallest or largest key."""
    return choose(range(len(keys)), key=keys.__getitem__)


def is_still(value: Any) -> bool:
    """Return whether a value runs no code of the program as it is compared with others like it."""
    t = type(value)
    return t in STILL or (t is tuple and STILL.issuperset(map(type, value)))


def run_sorted(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``sorted(iterable, key=..., reverse=...)``; where keys tie, the order stays."""
    if len(args) != 1 or not kwargs.keys() <= {"key", "reverse"}:
        return f(*args, **kwargs)  # raises
    items = list(ctx.items(args[0]))
    keys = keys_of(ctx, items, kwargs.get("key"))
    return [items[i] for i in ordered(ctx, order_of, keys, kwargs.get("reverse", False))]


def run_sorting_order(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run `sorting_order`, by which lists are sorted in place."""
    items, key, reverse = args
    return ordered(ctx, order_left, keys_of(ctx, items, key), reverse)


def ordered(ctx: Mode, order: Any, keys: list[Any], reverse: Any) -> Any:
    """Return the result of `order`, one of two functions that order keys by compiled code."""
    if type(reverse) is bool and all(map(is_still, keys)):
        return order([*map(primal_of, keys)], reverse)
    if not INERT.issuperset(map(type, keys)):
        effects.refuse_writers(ctx, keys, effects.COMPARING)
    return ctx.call(order, keys, reverse)


def keys_of(ctx: Mode, items: list[Any], key: Any) -> list[Any]:
    """Return the keys that items are ordered by."""
    if key is None:
        return items
    site: Any = CallSite()
    return [site.way.call1(site, ctx, key, item) for item in items]


HANDLERS: dict[Any, Handler] = {
    sum: run_sum,
    max: run_extreme,
    min: run_extreme,
    sorted: run_sorted,
    sorting_order: run_sorting_order,
}

"""The smallest and the largest item: each is compared, by its key, before the next one is read."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.rules.numbers import NUMBERS
from mooncake_py.rules.python_builtins import MISSING, best_of, position_of
from mooncake_py.runtime.active import Active, primal_of
from mooncake_py.runtime.sites import CallSite

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Handler, Mode

__all__ = ["HANDLERS"]

STILL = NUMBERS | {Active, str}
"""Types of values that run no code of the program as they are compared."""


def run_best_of(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run `best_of`: where no code of the program runs, all items are compared at once."""
    choose, items, key = args
    t = type(items)
    if key is None:
        if t is ndarray and items.ndim and items.dtype.kind != "O":
            return ctx.getitem(items, position_of(choose, items)) if len(items) else MISSING
        if (t is list or t is tuple) and all(map(is_still, items)):
            keys = [*map(primal_of, items)]
            return items[position_of(choose, keys)] if keys else MISSING
    name = "gt" if choose is max else "lt"
    native, derived = getattr(operator, name), getattr(ctx, name)
    best = best_key = MISSING
    site = CallSite()
    for item in iter(ctx.iter(items)):
        value = item if key is None else site.way.call1(site, ctx, key, item)
        if best is not MISSING:
            if is_still(value) and is_still(best_key):
                better = native(value, best_key)
            else:
                better = ctx.truth(derived(value, best_key))
            if not better:
                continue
        best, best_key = item, value
    return best


def is_still(value: Any) -> bool:
    """Return whether a value runs no code of the program as it is compared with others like it."""
    t = type(value)
    return t in STILL or (t is tuple and STILL.issuperset(map(type, value)))


HANDLERS: dict[Any, Handler] = {best_of: run_best_of}

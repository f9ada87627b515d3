"""``functools.lru_cache`` and ``cache``: one that is empty when the differentiated call begins.

What the original remembers has no derivative.  A call with active numbers in its key is computed
anew each time: equal numbers may depend on different inputs.
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from typing import Any

__all__ = ["HANDLERS", "LRU_WRAPPER", "call_cached"]

LRU_WRAPPER = type(functools.lru_cache(lambda: None))


class Cache:
    """What one cached function has returned during a differentiated call.

    Parameters
    ----------
    function : callable
        As ``lru_cache`` made it.
    """

    def __init__(self, function: Any) -> None:
        self.function = function  # kept: the cache is found by its id
        parameters = function.cache_parameters()
        self.maxsize: int | None = parameters["maxsize"]
        self.typed: bool = parameters["typed"]
        self.before = function.cache_info()
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self.results: OrderedDict[Any, Any] = OrderedDict()
        self.hits = self.misses = 0

    def call(self, ctx: Any, args: Any, kwargs: Any) -> Any:
        """Return what was remembered, or run the function."""
        key = functools._make_key(args, kwargs, self.typed)
        if key in self.results:
            self.hits += 1
            self.results.move_to_end(key)
            return self.results[key]
        self.misses += 1
        result = ctx.call(self.function.__wrapped__, *args, **kwargs)
        self.results[key] = result
        if self.maxsize is not None and len(self.results) > self.maxsize:
            self.results.popitem(last=False)
        return result


def cache_of(ctx: Any, f: Any) -> Cache:
    """Return the cache of a function for this differentiated call."""
    if id(f) not in ctx.caches:
        ctx.caches[id(f)] = Cache(f)
    return ctx.caches[id(f)]


def call_cached(ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
    """Call a function that ``lru_cache`` made."""
    values = (*args, *kwargs.values())
    if any(is_known_by_value(v) and ctx.contains_active(v) for v in values):
        return ctx.call(f.__wrapped__, *args, **kwargs)
    return cache_of(ctx, f).call(ctx, args, kwargs)


def is_known_by_value(value: Any) -> bool:
    """Tell whether two different objects may count as the same argument."""
    return type(value).__hash__ is not object.__hash__


def run_cache_info(ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``function.cache_info()``: the counts of before go on."""
    cache = cache_of(ctx, args[0])
    before = cache.before
    return before._replace(
        hits=before.hits + cache.hits,
        misses=before.misses + cache.misses,
        currsize=before.currsize + len(cache.results),
    )


def run_cache_clear(ctx: Any, f: Any, args: Any, kwargs: Any) -> None:
    """Run ``function.cache_clear()``; what was remembered before the call stays for after it."""
    cache = cache_of(ctx, args[0])
    cache.before = cache.before._replace(hits=0, misses=0, currsize=0)
    cache.clear()


HANDLERS = {
    LRU_WRAPPER.cache_info: run_cache_info,
    LRU_WRAPPER.cache_clear: run_cache_clear,
}

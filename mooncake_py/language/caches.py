"""``functools.lru_cache`` and ``cache``: a separate cache for each differentiated call.

Results in the original cache have no derivative, and results for active numbers must not outlive
the call.  So the engine reads the original cache, never writes it, and reads it only if neither the
arguments nor the captured variables are active.
"""

from __future__ import annotations

import copy
import functools
import gc
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple

from mooncake_py.containers.equality import BY_THEMSELVES, compared, is_same, may_differ
from mooncake_py.containers.origins import NOTHING, have_one_origin, origins_of
from mooncake_py.containers.reach import LRU_WRAPPER
from mooncake_py.language.cached_again import Results, compares_numbers, run_again
from mooncake_py.runtime.activity import unwrapped

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Calling, Mode

__all__ = ["HANDLERS", "call_cached"]


class Cache:
    """The results of an ``lru_cache`` function during a differentiated call."""

    def __init__(self, function: Any) -> None:
        self.function = function  # kept: the cache is found by its id
        parameters = function.cache_parameters()
        self.maxsize: int | None = parameters["maxsize"]
        self.typed: bool = parameters["typed"]
        self.before = function.cache_info()
        self.original = Original(function)
        self.twins = Results(function)
        self.clear()

    def copy(self) -> Cache:
        """Return a copy that remembers the same results."""
        new = copy.copy(self)
        new.results = self.results.copy()
        new.twins = copy.copy(self.twins)
        new.twins.kept = self.twins.kept.copy()
        return new

    def clear(self) -> None:
        """Forget everything."""
        self.results: OrderedDict[Any, tuple[Variant, ...]] = OrderedDict()
        self.hits = self.misses = 0

    def first_results(self) -> list[Any]:
        """Forget all but the first result for arguments of each value, and return these.

        Two runs of a part of a program agree in them, and not in how often the function runs for
        the derivative only.
        """
        for key, variants in self.results.items():
            self.results[key] = variants[:1]
        return [variants[0].result for variants in self.results.values()]

    def call(self, ctx: Mode, args: Any, kwargs: Any) -> Any:
        """Return the cached result, or run the function.

        It is found by value, as in the plain call.  Equal numbers may depend on different inputs,
        though: for others than before the function runs again, for the derivative.
        """
        given = (*args, *kwargs.values())
        if not BY_THEMSELVES.issuperset(map(type, given)):
            given = tuple([compared(ctx, value) for value in given])
        named = dict(zip(kwargs, map(unwrapped, kwargs.values()), strict=True))
        key = functools._make_key(tuple(map(unwrapped, args)), named, self.typed)
        variants = self.results.get(key, ())
        if variants:
            self.hits += 1
            if self.maxsize is not None:
                self.results.move_to_end(key)
            for known in variants:
                if all(map(is_same, known.given, given)):
                    return known.result
            if ctx.rehearsal is not None:  # only values count; the second run has the derivative
                return variants[0].result
        elif not ctx.contains_active((self.function.__wrapped__, *args, *kwargs.values())):
            result = self.original.result(args, kwargs)
            if result is not NOTHING:
                self.hits += 1
                return result
        origins = tuple(map(origins_of, given))
        for known in variants:
            if all(map(have_one_origin, origins, known.origins)):
                return known.result
        self.misses += not variants
        if variants:
            if any(map(may_differ, given)):
                raise compares_numbers(ctx, self.function)
            result = run_again(ctx, self.function, args, kwargs)
            self.twins.add(ctx, variants[0].result, result)
        else:
            result = ctx.call(self.function.__wrapped__, *args, **kwargs)
        self.results[key] = *self.results.get(key, ()), Variant(given, origins, result)
        if self.maxsize is not None and len(self.results) > self.maxsize:
            self.results.popitem(last=False)
        return result


class Variant(NamedTuple):
    """A result for arguments of one value, and where their active numbers are from."""

    given: tuple[Any, ...]
    origins: tuple[Any, ...]
    result: Any


class Original:
    """The original cache of a cached function.

    There is no public way to look into it.  What the collector sees of it is, after the class,
    three objects for each result if their number is limited (key, result and a class); then the
    dict that finds them.
    """

    def __init__(self, function: Any) -> None:
        held = gc.get_referents(function)
        parameters = function.cache_parameters()
        limited = parameters["maxsize"] is not None
        end = 1 + 3 * function.cache_info().currsize if limited else 1
        self.typed: bool = parameters["typed"]
        self.mark = next((v for v in held[end:] if type(v) is object), NOTHING)
        self.results: dict[Any, Any] = (
            dict(zip(held[1:end:3], held[2:end:3], strict=True)) if limited else held[1]
        )

    def result(self, args: Any, kwargs: Any) -> Any:
        """Return the cached result of a call, or `NOTHING`."""
        key = tuple(args)
        if kwargs:
            key += (self.mark, *(part for item in kwargs.items() for part in item))
        if self.typed:
            key += (*map(type, args), *map(type, kwargs.values()))
        elif len(key) == 1 and type(key[0]) in (int, str):
            key = key[0]
        return self.results.get(key, NOTHING)


def cache_of(ctx: Calling, f: Any) -> Cache:
    """Return the cache of a function for this differentiated call."""
    if id(f) not in ctx.caches:
        ctx.caches[id(f)] = Cache(f)
    return ctx.caches[id(f)]


def call_cached(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Call a function that ``lru_cache`` made."""
    return cache_of(ctx, f).call(ctx, args, kwargs)


def run_cache_info(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``function.cache_info()``: the counts of before go on."""
    cache = cache_of(ctx, args[0])
    before = cache.before
    return before._replace(
        hits=before.hits + cache.hits,
        misses=before.misses + cache.misses,
        currsize=before.currsize + len(cache.results),
    )


def run_cache_clear(ctx: Mode, f: Any, args: Any, kwargs: Any) -> None:
    """Run ``function.cache_clear()``; what was remembered before the call stays for after it."""
    cache = cache_of(ctx, args[0])
    cache.before = cache.before._replace(hits=0, misses=0, currsize=0)
    cache.original.results = {}
    cache.clear()


HANDLERS = {LRU_WRAPPER.cache_info: run_cache_info, LRU_WRAPPER.cache_clear: run_cache_clear}

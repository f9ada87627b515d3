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
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy import ndarray

from mooncake_py.containers.reach import LRU_WRAPPER
from mooncake_py.diagnostics.reporting import dropped
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.mode_of import is_forward
from mooncake_py.runtime.pulls import pull_state
from mooncake_py.tangents.bits import bits_of

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Calling, Mode

__all__ = ["HANDLERS", "call_cached"]

NOTHING = object()
RECENT = 32  # entries of the tape that are looked through for where a number is from
PLAIN = frozenset({int, float, str, bool, np.float64})
SIMPLE = PLAIN | {Active, type(None), FunctionType, slice, type(Ellipsis), np.ufunc}
NUMBERS = (int, float, complex, np.number, ndarray)


class Cache:
    """The results of an ``lru_cache`` function during a differentiated call."""

    def __init__(self, function: Any) -> None:
        self.function = function  # kept: the cache is found by its id
        parameters = function.cache_parameters()
        self.maxsize: int | None = parameters["maxsize"]
        self.typed: bool = parameters["typed"]
        self.before = function.cache_info()
        self.original = Original(function)
        self.clear()

    def copy(self) -> Cache:
        """Return a copy that remembers the same results."""
        new = copy.copy(self)
        new.results = self.results.copy()
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
        given = *args, *kwargs.values()
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
        elif not ctx.contains_active((self.function.__wrapped__, *given)):
            result = self.original.result(args, kwargs)
            if result is not NOTHING:
                self.hits += 1
                return result
        origins = tuple(map(origins_of, given))
        for known in variants:
            if all(map(have_one_origin, origins, known.origins)):
                return known.result
        self.misses += not variants
        result = ctx.call(self.function.__wrapped__, *args, **kwargs)
        if variants and difference(unwrapped(result), unwrapped(variants[0].result)):
            raise dropped(
                ctx,
                f"the cached function {self.function.__name__} returns another result for an equal "
                "argument",
                why="the plain call takes the first result from the cache, and the derivative for "
                "this argument\nneeds another run, in which the function finds another state",
                fix="let the function depend on its arguments only",
            )
        self.results[key] = *self.results.get(key, ()), Variant(given, origins, result)
        if self.maxsize is not None and len(self.results) > self.maxsize:
            self.results.popitem(last=False)
        return result


class Variant(NamedTuple):
    """A result for arguments of one value, and where their active numbers are from."""

    given: tuple[Any, ...]
    origins: tuple[Any, ...]
    result: Any


class Origin(NamedTuple):
    """The entry of the tape that made a number."""

    position: int
    entry: tuple[Any, ...]
    context: Any


class Moving(NamedTuple):
    """A number of forward mode: where it and its tangent are from, or these themselves."""

    primal: Any
    tangent: Any
    context: Any


def is_same(a: Any, b: Any) -> bool:
    """Return whether two equal arguments are one as far as the derivative goes."""
    if type(a) is tuple and type(b) is tuple:
        return all(map(is_same, a, b))
    return a is b or (type(a) is not Active and type(b) is not Active)


def origins_of(value: Any) -> Any:
    """Return where a number is from, as far as the last entries of the tape say so."""
    if type(value) is tuple:
        return tuple(map(origins_of, value))
    if type(value) is not Active:
        return None
    if is_forward(value.context):
        return Moving(trace_of(value.primal), trace_of(value.grad), value.context)
    tape = getattr(value.context, "tape", ())
    for position in range(len(tape) - 1, max(len(tape) - RECENT, 0) - 1, -1):
        entry = tape[position]
        if len(entry) > 2 and entry[1] is value:
            return Origin(position, entry, value.context)
    return NOTHING


def trace_of(part: Any) -> Any:
    """Return where a number is from, or the number itself where nothing below is active."""
    return origins_of(part) if type(part) is Active else part


def are_alike(a: Any, b: Any) -> bool:
    """Return whether two numbers, or tangents along several directions, are equal."""
    if type(a) is not type(b):
        return False
    if type(a) in (Moving, Origin):
        return have_one_origin(a, b)
    if issubclass(type(a), NUMBERS):
        return bits_of(np.asarray(a)) == bits_of(np.asarray(b))
    rows = getattr(a, "rows", None)
    return a is b or (type(rows) is ndarray and bits_of(rows) == bits_of(b.rows))


def have_one_origin(new: Any, old: Any) -> bool:
    """Return whether two numbers are the same element, which has not been written between.

    In forward mode it is enough that they move alike.
    """
    if type(new) is Moving and type(old) is Moving:
        alike = are_alike(new.primal, old.primal) and are_alike(new.tangent, old.tangent)
        return alike and new.context is old.context
    if type(new) is tuple and type(old) is tuple:
        return len(new) == len(old) and all(map(have_one_origin, new, old))
    if type(new) is not Origin or type(old) is not Origin:
        return new is None and old is None
    if type(new.entry[1].primal) is Active or new.context is not old.context:
        return False
    a, b = new.entry, old.entry
    if a[0] is not b[0] or len(a) != len(b) or not all(map(is_one, a[2:], b[2:])):
        return False
    read = {id(memory_of(new.context, part)) for part in a[2:]} - {id(None)}
    between = new.context.tape[old.position + 1 : new.position]
    return all(
        e[0] is a[0]
        or (e[0] is pull_state and not issubclass(type(e[2]), ndarray))
        or is_apart(new.context, e, read)
        for e in between
    )


def is_apart(ctx: Mode, entry: Any, memory: set[int]) -> bool:
    """Return whether an entry has surely nothing to do with some memory."""
    for part in entry:
        t = type(part)
        if t is tuple or t is list:
            if not is_apart(ctx, part, memory):
                return False
        elif t not in SIMPLE:
            found = memory_of(ctx, part)
            if id(found) in memory or (found is None and not issubclass(t, ndarray)):
                return False
    return True


def is_one(a: Any, b: Any) -> bool:
    """Return whether two parts of entries are the same."""
    if a is b or type(a) is not type(b):
        return a is b
    if type(a) is list or type(a) is tuple:
        return len(a) == len(b) and all(map(is_one, a, b))
    return type(a) in PLAIN and repr(a) == repr(b)


def memory_of(ctx: Mode, part: Any) -> Any:
    """Return the memory that a part of an entry is about; None if there is none."""
    if issubclass(type(part), ndarray):
        part = ctx.find(part)
    return getattr(part, "memory", None) if type(part) is not Active else None


def difference(a: Any, b: Any) -> bool:
    """Return whether two numbers or arrays differ; of other results nothing is said."""
    if not issubclass(type(a), NUMBERS) or not issubclass(type(b), NUMBERS):
        return False
    return bits_of(np.asarray(a)) != bits_of(np.asarray(b))


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
    values = (*args, *kwargs.values())
    if any(is_known_by_value(v) and ctx.contains_active(v) for v in values):
        hash(values)  # raises where Python does
        return ctx.call(f.__wrapped__, *args, **kwargs)
    return cache_of(ctx, f).call(ctx, args, kwargs)


def is_known_by_value(value: Any) -> bool:
    """Return whether two different objects may count as the same argument."""
    if type(value) is tuple:
        return any(map(is_known_by_value, value))
    return type(value) is not Active and type(value).__hash__ is not object.__hash__


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

"""Iteration over objects: iterators in Python run derived, elements of arrays are active."""

from __future__ import annotations

import dis
import functools
import itertools
import math
from collections.abc import Iterator
from contextlib import suppress
from types import CodeType, FunctionType, GeneratorType, MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.seen_calls import (
    IN_C,
    OF_CONTAINERS,
    is_derived,
    runs_python,
    steps_seen,
    takes_from_containers,
)
from mooncake_py.containers.state import note_raised
from mooncake_py.diagnostics.places import is_library
from mooncake_py.diagnostics.reporting import dropped
from mooncake_py.language import moved, outside_iterators, records, subclass_operators
from mooncake_py.language.calling_iterators import Callee
from mooncake_py.language.elements import as_element, is_element
from mooncake_py.language.subclass_instances import dressed
from mooncake_py.modules import module_of
from mooncake_py.remembered import remembered
from mooncake_py.runtime import buffers, overlapping
from mooncake_py.runtime.active import Active, innermost, plain_class
from mooncake_py.runtime.activity import INERT, contains_active, is_iterator, unwrapped
from mooncake_py.runtime.attribute_lookup import MISSING, in_class, mapping_of
from mooncake_py.runtime.iterators import resumable
from mooncake_py.runtime.late_errors import refuse_if_written, unusual
from mooncake_py.runtime.methods import derivable, python_method
from mooncake_py.runtime.sites import NO_SITE
from mooncake_py.runtime.slots import type_name
from mooncake_py.syntax.compiled import walk_code
from mooncake_py.tangents.memory import has_overlaps, is_writeable, overlap
from mooncake_py.tangents.subclasses import is_instance, plain, plain_parts
from mooncake_py.words import with_article

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Language, Mode, Tracking

__all__ = [
    "ask_length", "assign_flat", "has_own_items", "items_for_star", "iterate_elements",
    "iterate_object", "read_flat", "refuse_foreign", "run_generator_method", "run_iter",
    "run_length_hint", "run_next", "run_reversed",
]  # fmt: skip


def iterate_object(ctx: Mode, iterable: Any) -> Any:
    """Return the iterator of a loop over an object of an uncommon type."""
    t = type(iterable)
    if t is Active:
        return innermost(iterable)  # for the error of whoever iterates over it
    if t is GeneratorType:
        refuse_foreign(ctx, iterable)
        return moved.items_of(ctx, iterable)
    given = iterable
    if not moves_on(t):
        method, way = ctx.special(iterable, "__iter__")
        if way is not None:
            return iterate_derived(ctx, as_iterator(way.call1(NO_SITE, ctx, method, iterable)))
    else:
        passes_on = takes_from_containers(iterable)
        if passes_on and outside_iterators.is_idle():
            return iterable
        iterable = outside_iterators.in_place_of(ctx, iterable, passes_on)
        if passes_on:
            return moved.recorded(ctx, given, iterable)
        if t in NEXT:
            return iterate_remaining(ctx, iterable)
    method = python_method(t, "__iter__")
    if method is not None:
        return iterate_derived(ctx, as_iterator(ctx.call(method, iterable)))
    native = in_class(t, "__iter__")
    if native is MISSING and python_method(t, "__getitem__") is not None:
        return iterate_by_index(ctx, iterable)
    if native is not MISSING and native is not None and python_method(t, "__next__") is not None:
        return iterate_derived(ctx, iterable)
    if issubclass(type(iterable), np.memmap) and ctx.contains_active(iterable):
        return ctx.iterate_array(iterable.view(ndarray))
    if issubclass(type(iterable), ndarray):
        if iterable.ndim and type(t.__getitem__) is FunctionType:
            return iterate_by_index(ctx, iterable)
        runs = ctx.contains_active(iterable) or runs_python(iterable)
        return subclass_operators.items(ctx, iterable) if runs else iterable
    if records.is_record(iterable):
        return records.fields(ctx, iterable)
    if t is MappingProxyType:
        return ctx.iter(mapping_of(iterable))
    if issubclass(t, buffers.BUFFERS):
        refuse_unseen(ctx, iterable, with_article(t.__name__))
    elif (moves_on(t) or module_of(t) in IN_C) and runs_python(iterable):
        iterable = steps_seen(ctx, iter(iterable))
    return moved.recorded(ctx, given, iterable) if moves_on(t) else iterable


@remembered
def moves_on(t: type) -> bool:
    """Return whether a type is that of iterators in C, which a second run finds elsewhere."""
    return t in NEXT or (is_iterator(t) and not issubclass(t, GeneratorType))


def refuse_unseen(ctx: Tracking, iterable: Any, kind: str) -> None:
    """Raise if an iterator in C would return numbers of an active array."""
    if contains_active(ctx, iterable, set()):
        raise dropped(
            ctx,
            f"{kind} gives access to an active array",
            why="it yields plain numbers, which carry no derivative",
            fix="loop over the array itself, or over its indices",
        )


def refuse_foreign(ctx: Tracking, generator: Any) -> None:
    """Raise if a generator that was made outside could read or write arrays unseen."""
    code = generator.gi_code
    if is_derived(code) or (frame := generator.gi_frame) is None or not computes(code):
        return  # one that is exhausted loses nothing
    values = [*frame.f_locals.values(), *globals_read(code, frame.f_globals, set())]
    if any(type(v) is ndarray or contains_active(ctx, v, set()) for v in values):
        raise dropped(
            ctx,
            f"the generator {generator.__name__} was made outside of the differentiated function",
            why="the engine cannot see its code, and would miss its reads and writes of arrays",
            fix="call the generator function inside, or take the values before the call",
        )


def globals_read(code: CodeType, scope: dict[str, Any], seen: set[int]) -> Iterator[Any]:
    """Yield the global variables that code reads, and those of the functions among them."""
    if id(code) in seen or is_library(code.co_filename):
        return
    seen.add(id(code))
    for inner in walk_code(code):
        for name in inner.co_names:
            value = scope.get(name)
            if type(value) is FunctionType:
                yield from globals_read(value.__code__, value.__globals__, seen)
            yield value


@remembered
def computes(code: CodeType) -> bool:
    """Return whether a generator does anything but pass values on.

    Of an expression without operations, or with those of constants only, nothing was rewritten: it
    may be of the function itself.
    """
    if code.co_name != "<genexpr>":
        return True
    constants = 0  # on top of the stack
    for instruction in dis.get_instructions(code):
        name = instruction.opname
        if name in CONSTANTS:
            constants += 1
        elif name in OF_CONSTANTS and constants >= OF_CONSTANTS[name]:
            constants -= OF_CONSTANTS[name] - 1
        elif name in OPERATIONS:
            return True
        else:
            constants = 0
    return False


CONSTANTS = frozenset({"LOAD_CONST", "LOAD_SMALL_INT"})
OF_CONSTANTS = {"BINARY_OP": 2, "BINARY_SUBSCR": 2, "UNARY_NEGATIVE": 1}
OPERATIONS = frozenset({
    "BINARY_OP", "BINARY_SUBSCR", "BINARY_SLICE", "CALL", "CALL_FUNCTION_EX", "CALL_KW",
    "LOAD_ATTR", "LOAD_METHOD", "STORE_SUBSCR", "UNARY_NEGATIVE",
})  # fmt: skip


def as_iterator(result: Any) -> Any:
    """Return the result of ``__iter__``, if Python accepts it."""
    if not hasattr(plain_class(result), "__next__"):
        raise TypeError(f"iter() returned non-iterator of type {type_name(plain_class(result))!r}")
    return result


def ask_length(ctx: Mode, iterable: Any, default: int = 0) -> int | None:
    """Ask an object in Python for its length, as Python does before it makes a list.

    None if there is no method in Python to ask.
    """
    if type(iterable) is GeneratorType:
        return ask_what_is_left(ctx, iterable)
    if derivable(iterable, "__len__") is not None:
        with suppress(TypeError):
            return ctx.call(len, iterable)
    elif derivable(iterable, "__length_hint__") is None:
        return None
    hinting = derivable(iterable, "__length_hint__")
    hint: Any = NotImplemented
    if hinting is not None:
        with suppress(TypeError):
            hint = ctx.call(hinting, iterable)
    if hint is NotImplemented:
        return default
    if not isinstance(hint, int):
        raise TypeError(f"__length_hint__ must be an integer, not {type_name(plain_class(hint))}")
    if hint < 0:
        raise ValueError("__length_hint__() should return >= 0")
    return hint


def items_for_star(ctx: Mode, iterable: Any, first: int) -> list[Any]:
    """Return the items for targets one of which has a star, after the `first` ones.

    Python makes a list of what the iterator has left for it, and asks that for its iterator again.
    """
    iterator = ctx.call(iter, iterable)
    items: list[Any] = []
    for _ in range(first):
        try:
            items.append(ctx.call(next, iterator))
        except StopIteration:
            return items
    return [*items, *ctx.items(iterator)]


def has_own_items(sequence: Any = None) -> bool:
    """Return whether the methods by which a sequence is read, or inserted to, are in Python."""
    return any(derivable(sequence, name) for name in ("__getitem__", "__len__", "insert"))


def run_length_hint(ctx: Mode, f: Any, args: Any, kwargs: Any) -> int:
    """Run ``operator.length_hint(iterable, default)``."""
    found = ask_length(ctx, *args) if len(args) in (1, 2) else None
    return f(*args, **kwargs) if found is None else found


def ask_what_is_left(ctx: Mode, generator: GeneratorType[Any, Any, Any]) -> int | None:
    """Return how many items an iterator by indices has left, for which it asks the sequence."""
    frame, code = generator.gi_frame, generator.gi_code
    if frame is None or code not in (iterate_by_index.__code__, iterate_backwards.__code__):
        return None
    sequence, i = frame.f_locals["sequence"], frame.f_locals["i"]
    if derivable(sequence, "__len__") is None:
        return None
    size = ctx.call(len, sequence)
    if code is iterate_backwards.__code__:
        return i if i <= size else 0
    return max(size - i, 0)


def iterate_derived(ctx: Mode, iterator: Any) -> Any:
    """Return an iterator whose Python ``__next__``, if it has one, is derived."""
    step = python_method(type(iterator), "__next__")
    if step is None:
        return iterator
    # As often as somebody asks, also after an error or the end: a generator would be at its end.
    call = functools.partial(Step(ctx, step).call_one, iterator)
    return itertools.starmap(call, itertools.repeat(()))


class Step(Callee):
    """The ``__next__`` of an iterator, which Python looks up at each step."""

    __slots__ = ()

    def call_one(self, item: Any) -> Any:
        """Return the next item of an iterator."""
        t = type(item)
        step = in_class(t, "__next__")
        if step is not self.function:
            step = python_method(t, "__next__") or t.__next__
        site: Any = self._site
        return site.way.call1(site, self._ctx, step, item)


@resumable
def iterate_elements(ctx: Language, a: ndarray, i: int = 0) -> Iterator[Any]:
    """Yield the elements of a vector one by one, as a loop over it would read them."""
    while i < len(a):
        item = ctx.getitem(a, i)
        i += 1
        yield item


@resumable
def iterate_by_index(ctx: Language, sequence: Any, i: int = 0) -> Iterator[Any]:
    """Yield ``sequence[0]``, ``sequence[1]``, ... until IndexError."""
    while True:
        try:
            item = ctx.getitem(sequence, i)
        except (IndexError, StopIteration):
            return
        i += 1
        yield item


def next_broadcast(ctx: Language, broadcast: np.broadcast) -> Any:
    """Run ``next(np.broadcast(...))``."""
    shape, i = broadcast.shape, broadcast.index
    next(broadcast)
    index = np.unravel_index(i, shape)
    arrays = [np.broadcast_to(it.base, shape) for it in broadcast.iters]
    return tuple(ctx.getitem(a, index) for a in arrays)


def next_flat(ctx: Mode, flat: np.flatiter[Any]) -> Any:
    """Run ``next(array.flat)``."""
    i = flat.index
    next(flat)
    return read_flat(ctx, flat, i)


NEXT: dict[type, Any] = {np.flatiter: next_flat, np.broadcast: next_broadcast}


@resumable
def iterate_remaining(ctx: Language, iterator: Any) -> Iterator[Any]:
    """Yield the remaining items of ``array.flat`` or of arrays broadcast together."""
    step = NEXT[type(iterator)]
    size = len(iterator) if type(iterator) is np.flatiter else iterator.size
    while iterator.index < size:
        yield step(ctx, iterator)


def flat_index(base: ndarray, i: Any) -> Any:
    """Return the multi-dimensional index of ``base.flat[i]``; `base` has dimensions.

    The iterator reads some indices otherwise than an array does: `True` is a position.
    """
    return np.unravel_index(np.arange(base.size).flat[i], base.shape)


def with_dimensions(a: ndarray) -> ndarray:
    """Return an array, that of a single element without dimensions as a vector."""
    return a if a.ndim else a.reshape(1)


def read_flat(ctx: Mode, flat: np.flatiter[Any], i: Any) -> Any:
    """Run ``array.flat[i]``: a copy, or one element."""
    whole = flat.base
    base = with_dimensions(plain(whole))
    y = ctx.getitem(base, flat_index(base, i))
    return dressed(ctx, y, type(whole), whole) if type(y) is ndarray and is_instance(whole) else y


AS_THEY_ARE = INERT - {range} | {ndarray, Active, list, tuple}
"""Types of values for the elements of ``array.flat`` that need no conversion before."""


def assign_flat(ctx: Mode, base: ndarray, i: Any, v: Any) -> None:
    """Run ``array.flat[i] = v``, or ``array.flat = v`` if `i` is `...`; a shorter `v` repeats."""
    base = with_dimensions(plain(base))
    if not is_writeable(base):
        copy_flat(base, unwrapped(v), i)  # raises, in NumPy's words
    is_one = i is not Ellipsis and is_element(base.reshape(-1)[:1], i)
    if is_one:
        v = as_element(ctx, base.dtype, v)
    v = plain_parts(v)
    if type(v) is ndarray and overlap(base, v):
        overlapping.copy_in_turn(ctx, base, v, functools.partial(copy_flat, i=i))
        return
    is_object = base.dtype.kind in "OV"
    if type(v) not in AS_THEY_ARE and not is_object:
        v = ctx.as_value(base, (0,) * base.ndim if is_one else Ellipsis, v)
        v = v if type(v) is Active else np.asarray(v, base.dtype)
    is_sequence = type(v) in (ndarray, list, tuple) and not (is_object and is_one)
    if is_object and is_sequence and type(v) is not ndarray:
        v = ctx.call(np.array, v, base.dtype)  # of the objects themselves
    if type(i) is int and not is_sequence and -base.size <= i < base.size:
        ctx.assign(base, np.unravel_index(i % base.size, base.shape), v)
        return
    try:
        positions, parts = placed(ctx, base, i, np.shape(unwrapped(v)) if is_sequence else ())
    except IndexError as error:
        copy = functools.partial(copy_flat, of=unwrapped(v), i=i)
        refuse_if_written(ctx, error, copy, unusual(base))
        raise
    if not positions.size:
        return
    if is_sequence:
        v = ctx.call(np.ravel, v)
        if v.dtype != base.dtype:
            v = ctx.call(np.astype, v, base.dtype)  # NumPy converts before it writes
        v = ctx.getitem(v, int(parts[0]) if is_one else parts)
    ctx.assign(base, np.unravel_index(positions[0] if is_one else positions, base.shape), v)


def placed(ctx: Mode, base: ndarray, i: Any, of: tuple[int, ...]) -> tuple[Any, Any]:
    """Return which positions ``base.flat[i] = v`` writes, and which elements of `v` to these.

    `of` is the shape of `v`.  NumPy tells, which writes the numbers of the elements to an array.
    """
    marks = np.full(base.shape, -1)
    if base.base is not None and has_overlaps(base):  # what is written last stays
        owner = ctx.registry.owner(base)
        marks = overlapping.twin(base, owner, np.full(owner.size, -1))
    copy_flat(marks, np.arange(math.prod(of)).reshape(of), i)
    flat = marks.reshape(-1)
    positions = np.flatnonzero(flat >= 0)
    return positions, flat[positions]


def copy_flat(into: ndarray, of: ndarray, i: Any) -> None:
    """Run ``into.flat[i] = of``, which copies one element after the other."""
    if i is Ellipsis:
        into.flat = of  # pyright: ignore[reportAttributeAccessIssue] - its stubs make it read-only
    else:
        into.flat[i] = of


# Handlers.


def run_next(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``next(iterator)``, with a default or without."""
    iterator = args[0]
    if type(iterator) in OF_CONTAINERS and outside_iterators.is_idle():
        return f(*args, **kwargs)
    step = python_method(type(iterator), "__next__")
    try:
        if step is not None:
            return ctx.call(step, iterator)
        if type(iterator) in NEXT:
            return NEXT[type(iterator)](ctx, outside_iterators.in_place_of(ctx, iterator))
    except StopIteration:
        if len(args) > 1:
            return args[1]
        raise
    if not is_iterator(type(iterator)):
        return next(innermost(iterator), *args[1:])  # raises
    iterator = iterate_object(ctx, iterator)  # refuses what would lose a derivative
    return next(iterator, *args[1:]) if is_iterator(type(iterator)) else next(*args)


def run_iter(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``iter(iterable)`` or ``iter(function, sentinel)``."""
    if len(args) == 2:
        if not callable(args[0]):
            return f(*args)  # raises
        return iterate_calls(ctx, *args)
    if type(args[0]) is np.flatiter or type(args[0]) is GeneratorType:
        return args[0]
    method = python_method(type(args[0]), "__iter__")
    if method is not None:
        return as_iterator(ctx.call(method, args[0]))
    return iter(ctx.iter(args[0]))


@resumable
def iterate_calls(ctx: Language, function: Any, sentinel: Any) -> Iterator[Any]:
    """Yield the results of a function until it returns the sentinel."""
    while True:
        try:
            item = ctx.call(function)
        except StopIteration:
            return
        if ctx.identical(sentinel, item) or ctx.truth(ctx.eq(sentinel, item)):
            return
        yield item


def run_reversed(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``reversed(sequence)``."""
    if len(args) != 1:
        return f(*args)  # raises
    t = type(args[0])
    method = python_method(t, "__reversed__")
    if method is not None:
        return ctx.call(method, args[0])
    by_index = in_class(t, "__reversed__") is MISSING
    array = issubclass(t, ndarray) and args[0].ndim
    if array or (by_index and python_method(t, "__getitem__") is not None):
        return iterate_backwards(ctx, args[0], ctx.call(len, args[0]))
    return reversed(innermost(args[0]))


@resumable
def iterate_backwards(ctx: Language, sequence: Any, i: int) -> Iterator[Any]:
    """Yield the elements of an array or a sequence before `i`, each as it is by then."""
    while i > 0:
        i -= 1
        try:
            item = ctx.getitem(sequence, i)
        except (IndexError, StopIteration):
            return
        yield item


def run_generator_method(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``generator.send(value)`` and similar."""
    refuse_foreign(ctx, args[0])
    moved.let_go(ctx, args[0])
    for value in args[1:]:
        if issubclass(type(value), BaseException):  # that is thrown
            note_raised(ctx, value)
    return f(*args, **kwargs)

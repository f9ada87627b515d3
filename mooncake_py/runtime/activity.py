"""Activity of values, at any depth of containers, objects and functions."""

from __future__ import annotations

import collections
import functools
import gc
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator
from types import (
    AsyncGeneratorType,
    BuiltinFunctionType,
    CellType,
    CodeType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    MappingProxyType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    TracebackType,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.jitted import is_jitted, is_of_numba
from mooncake_py.remembered import remembered
from mooncake_py.rules.kinds import Like
from mooncake_py.runtime import buffers
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.classes import class_parts, is_imported, leads, may_be_active
from mooncake_py.runtime.held_in_c import held_in_c
from mooncake_py.tangents.contents import FACTORY, dict_base, elements_of
from mooncake_py.tangents.fields import instance_dict, own_attributes, slots
from mooncake_py.tangents.memory import objects_in
from mooncake_py.tangents.subclasses import plain

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Tracking

__all__ = ["CLOSED", "CONTAINERS", "INERT", "are_numbers", "contains_active", "elements",
           "holds_inert", "parts", "unwrapped", "windows", "within"]  # fmt: skip

INERT = frozenset({
    int, float, complex, bool, str, bytes, type(None), type, slice, range, type(Ellipsis),
    np.dtype, np.bool_, np.int64, np.int32, np.intp, np.float64, np.float32, np.complex128,
    type(NotImplemented), np.ufunc, ModuleType, Like,
})  # fmt: skip
"""Types of operands that have no derivative."""
CLOSED = INERT - {type, slice, ModuleType}
"""Types of values that hold nothing at all."""

NUMBERS = frozenset({int, float, np.float64})
ACTIVE_TOO = NUMBERS | {Active}


def are_numbers(values: Collection[Any]) -> bool:
    """Return whether there are only numbers among some values, active or not."""
    return ACTIVE_TOO.issuperset(map(type, values))


def unwrapped(value: Any) -> Any:
    """Return a value with active scalars replaced by their numbers, inside containers too."""
    try:
        return unwrapped_tree(value)
    except RecursionError:  # a container that contains itself, for which nothing else is slower
        return unwrapped_graph(value, {})


def unwrapped_tree(value: Any) -> Any:
    """Do so for a value no part of which contains itself."""
    while type(value) is Active:  # of several levels
        value = value.primal
    t = type(value)
    if t is tuple or t is list:
        return t([v if type(v) in NUMBERS else unwrapped_tree(v) for v in value])
    if t is dict:
        return {unwrapped_tree(k): unwrapped_tree(v) for k, v in value.items()}
    return value


def unwrapped_graph(value: Any, known: dict[int, Any]) -> Any:
    """Do so for any value; `known` are the copies of containers, by the ids of these."""
    while type(value) is Active:
        value = value.primal
    t = type(value)
    if t is tuple:
        return tuple([unwrapped_graph(v, known) for v in value])
    if id(value) in known:
        return known[id(value)]
    if t is list:
        known[id(value)] = items = []
        items.extend([unwrapped_graph(v, known) for v in value])
        return items
    if t is dict:
        known[id(value)] = pairs = {}
        pairs.update(
            {unwrapped_graph(k, known): unwrapped_graph(v, known) for k, v in value.items()}
        )
        return pairs
    return value


def contains_active(ctx: Tracking, value: Any, seen: set[int]) -> bool:
    """Return whether a value is active, or holds something active at any depth."""
    t = type(value)
    if t in CLOSED:
        return False
    if t is Active:
        return True
    if issubclass(t, ndarray) and not value.dtype.hasobject:
        if t is ndarray:
            return ctx.find(value) is not None
        if ctx.find(plain(value)) is not None:
            return True
        return bool(instance_dict(value)) and holds_active(ctx, value, seen, attributes)
    if issubclass(t, ndarray) and value.dtype.names and ctx.find(plain(value)) is not None:
        return True
    if issubclass(t, buffers.BUFFERS) and buffers.is_active(ctx, value):
        return True
    return holds_active(ctx, value, seen, parts)


def holds_active(
    ctx: Tracking, value: Any, seen: set[int], parts: Callable[[Any], Iterable[Any]]
) -> bool:
    """Return whether a part of a value is active.

    The context is left out, which iterators lead to: `filter` has its method as the predicate.
    """
    if value is ctx or id(value) in seen:
        return False
    seen.add(id(value))
    return any(contains_active(ctx, part, seen) for part in parts(value))


def within(value: Any, is_leaf: Callable[[Any], bool], seen: set[int]) -> Iterator[Any]:
    """Yield the leaves in a value, at any depth; what was seen is not looked into again."""
    if is_leaf(value):
        yield value
    elif type(value) not in CLOSED and id(value) not in seen:
        seen.add(id(value))
        for part in parts(value):
            yield from within(part, is_leaf, seen)


def holds_inert(container: Any) -> bool:
    """Return whether all parts of a list, a deque or a dict are inert: quick for many of them."""
    t = type(container)
    if issubclass(t, dict):
        return INERT.issuperset(map(type, dict.values(container)))
    parts = container if t in CONTAINERS else elements_of(container)
    return INERT.issuperset(map(type, parts))


def parts(value: Any) -> Iterable[Any]:
    """Return the parts of a value, in an order that copies share.

    This is all that it holds: of objects in C that have no other reader what the collector of
    garbage finds, and with an object its class if that may hold something active.
    """
    t = type(value)
    if t is list or t is tuple:
        return list(value)
    if t is dict:
        return [*value, *value.values()]
    held = reader_of(t)(value)
    return [*held, t] if leads(t) else held


@remembered
def reader_of(t: type) -> Callable[[Any], Iterable[Any]]:
    """Return the function that reads what the objects of a class hold."""
    for kinds, read in READERS:
        if issubclass(t, kinds):
            return read
    if is_of_numba(t):
        return lambda value: [value.py_func] if is_jitted(value) else ()
    if is_iterator(t):
        return held_by_iterator
    return referents if has_hidden_parts(t) else attributes


def attributes(value: Any) -> Iterable[Any]:
    """Return the values of an object's attributes."""
    return own_attributes(value).values()


def referents(value: Any) -> list[Any]:
    """Return the referents of an object in C, and the attributes that a class in Python adds."""
    left_out = type(value), instance_dict(value)  # a dict that is made when it is asked for
    held = [part for part in held_in_c(value) if not any(part is o for o in left_out)]
    return [*held, *own_attributes(value).values()]


def has_hidden_parts(t: type) -> bool:
    """Return whether the objects of a class may refer to more than their attributes, in C."""
    if not t.__flags__ & HAS_REFERENTS:
        return False
    visible = object.__basicsize__ + POINTER * len(slots(t))
    visible += POINTER * ((t.__dictoffset__ > 0) + (t.__weakrefoffset__ > 0))
    return t.__basicsize__ > visible


HAS_REFERENTS = 1 << 14  # Py_TPFLAGS_HAVE_GC
POINTER = np.dtype(np.intp).itemsize

CONTAINERS = (
    list, tuple, dict, set, frozenset, collections.deque, functools.partial, MappingProxyType,
)  # fmt: skip


def elements(value: Any) -> list[Any]:
    """Return the elements of a container, bypassing the methods of its class; see `CONTAINERS`."""
    if issubclass(type(value), functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    if issubclass(type(value), MappingProxyType):
        return gc.get_referents(value)  # the mapping
    if issubclass(type(value), dict):
        has_factory = issubclass(type(value), collections.defaultdict)
        factory = [FACTORY.__get__(value)] if has_factory else []
        base = dict_base(value)  # in the order of the program, which may have moved items
        return [*base.keys(value), *base.values(value), *factory]
    return elements_of(value)


def held_by_iterator(iterator: Any) -> list[Any]:
    """Return the referents of an iterator, and those of its tuples.

    That of a `zip_longest` has no object where a source has ended: nobody else may read it.
    """
    held = gc.get_referents(iterator)
    tuples = [part for part in held if type(part) is tuple]
    return [part for part in held if type(part) is not tuple] + gc.get_referents(*tuples)


def held_by_array(a: ndarray) -> list[Any]:
    """Return the elements of an array, and its attributes; of records with objects the objects."""
    own = plain(a)
    places = objects_in(own) if own.dtype.hasobject else (own,)
    held = [part for place in places for part in place.ravel().tolist()]
    return held if type(a) is ndarray else [*held, *own_attributes(a).values()]


def held_by_function(f: FunctionType) -> list[Any]:
    """Return the captured variables, defaults and attributes of a function."""
    captured = [c.cell_contents for c in f.__closure__ or () if _filled(c)]
    keyword_only = (f.__kwdefaults__ or {}).values()
    return [*captured, *(f.__defaults__ or ()), *keyword_only, *f.__dict__.values()]


def held_by_class(cls: type) -> Iterable[Any]:
    """Return the attributes of a class that may be active, and its bases."""
    return [*class_parts(cls).values(), *cls.__mro__[1:]] if may_be_active(cls) else ()


def held_by_module(module: ModuleType) -> Iterable[Any]:
    """Return the objects in a module that the program has made."""
    return () if is_imported(module) else vars(module).values()


def held_by_exception(error: BaseException) -> list[Any]:
    """Return the arguments of an exception, its attributes, and other exceptions it tells of."""
    return [*error.args, *own_attributes(error).values(), error.__cause__, error.__context__]


def held_by_frame(value: Any) -> Iterable[Any]:
    """Return the local variables of a generator or a coroutine that has not ended."""
    frame = next(getattr(value, name) for name in FRAMES if hasattr(value, name))
    return () if frame is None else list(frame.f_locals.values())


FRAMES = ("gi_frame", "cr_frame", "ag_frame")
VIEWS = (type({}.keys()), type({}.values()), type({}.items()))
READERS: tuple[tuple[Any, Callable[[Any], Iterable[Any]]], ...] = (
    (CONTAINERS, lambda value: [*elements(value), *own_attributes(value).values()]),
    (ndarray, held_by_array),
    (FunctionType, held_by_function),
    (MethodType, lambda method: [method.__self__, method.__func__]),
    ((np.flatiter, np.broadcast, memoryview, np.void), lambda value: windows(value)),
    ((BuiltinFunctionType, MethodWrapperType), lambda method: [method.__self__]),
    (CellType, lambda cell: [cell.cell_contents] if _filled(cell) else ()),
    (BaseException, held_by_exception),
    (weakref.ProxyTypes, attributes),  # those of what it stands for
    (weakref.ref, lambda value: [value(), *own_attributes(value).values()]),
    (slice, lambda value: [value.start, value.stop, value.step]),
    (type, held_by_class),
    (ModuleType, held_by_module),
    ((GeneratorType, CoroutineType, AsyncGeneratorType), held_by_frame),
    (type(functools.lru_cache(len)), attributes),  # a call knows the results of its own
    (np.nditer, lambda it: it.operands),
    ((FrameType, TracebackType, CodeType), lambda value: ()),
)  # fmt: skip
"""How to read what objects of these classes hold, the first that fits."""


def is_iterator(t: type) -> bool:
    """Return whether a type is that of iterators in C, or of generators."""
    for base in t.__mro__:
        if "__next__" in base.__dict__:
            return type(base.__dict__["__next__"]) is WrapperDescriptorType
    return False


def windows(value: Any) -> list[Any]:
    """Return the arrays whose elements an iterator, a buffer or a record gives access to."""
    if issubclass(type(value), np.flatiter):
        return [value.base]
    if issubclass(type(value), np.broadcast):
        return [it.base for it in value.iters]
    if issubclass(type(value), np.void):
        return [np.asarray(value)]  # a view, as the record is one
    return [value.obj]


def _filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True

"""Native code that calls Python code of the user's: what that changes is recorded.

A function of the standard library may call a hook, write to a file that is an object of the user's,
or print an element.  The Python code runs as it is.  All state that it can reach is compared with
the state before, so that each change is undone after the derivative.
"""

from __future__ import annotations

import functools
import gc
import itertools
from array import array
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GeneratorType,
    MethodType,
    ModuleType,
)
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.containers.holders import Elements, Place
from mooncake_py.containers.reachable import Reachable, State
from mooncake_py.diagnostics.refusals import missing_rule
from mooncake_py.modules import module_of
from mooncake_py.remembered import remembered
from mooncake_py.rooms import PACKAGE
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import INERT, holds_inert, is_iterator
from mooncake_py.runtime.iterators import reduced
from mooncake_py.runtime.silence import hear_native, is_silent, run_muted
from mooncake_py.runtime.users_code import (
    is_of_library,
    is_users_function,
    is_written_in_python,
    runs_derived,
)
from mooncake_py.tangents.fields import own_attributes

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = [
    "IN_C", "OF_CONTAINERS", "PAIRING", "PASSING", "Seen", "call_checked", "call_seen",
    "is_derived", "is_quiet", "reaches_active", "run_logged", "run_seen", "runs_python",
    "steps_seen", "takes_from_containers",
]  # fmt: skip

CONTAINERS = (list, tuple, dict, set, frozenset, deque)
NUMBERS = (float, complex, np.inexact, ndarray, array)
OF_CONTAINERS = frozenset(map(type, (
    iter([]), reversed([]), iter(()), iter(""), iter("\u0100"), iter(b""), iter(bytearray()),
    iter(range(0)), iter(range(1 << 70)), iter(set()), iter({}), iter({}.values()),
    iter({}.items()), reversed({}), reversed({}.values()), reversed({}.items()),
)))  # fmt: skip
"""Iterators that take their items out of memory, whatever the class of the container is."""
QUIET = INERT | OF_CONTAINERS | {Active}
WITHOUT_CODE = QUIET - {type}
"""Classes whose objects neither have Python code nor hold any."""
OF_ITERATORS = frozenset({
    enumerate, zip, map, filter, itertools.accumulate, itertools.chain, itertools.compress,
    itertools.count, itertools.cycle, itertools.dropwhile, itertools.filterfalse, itertools.groupby,
    itertools.islice, itertools.pairwise, itertools.product, itertools.repeat, itertools.starmap,
    itertools.takewhile, itertools.zip_longest,
})  # fmt: skip
"""Iterators that take items of others, or call a function."""
PAIRING = frozenset({zip, enumerate})
PASSING = PAIRING | {map, filter}
"""Iterators that have no length, and pass on what others give, or a function returns."""
STILL = QUIET | (set(CONTAINERS) - {tuple}) | {ndarray, BuiltinFunctionType, GeneratorType}
"""Classes of parts of such iterators that run no code unseen as these move on."""
FUNCTIONS = (FunctionType, MethodType, functools.partial)
OPAQUE = (type, FunctionType, MethodType, BuiltinFunctionType, ModuleType, Active)
IN_C = frozenset({
    "_csv", "_ctypes", "_io", "_json", "_pickle", "_sqlite3", "ctypes", "pyexpat", "sqlite3",
})  # fmt: skip
"""Modules in C whose objects call methods of the user's objects that they hold."""
DEEP = 4


def runs_python(value: Any, depth: int = 0) -> bool:
    """Return whether native code that is given a value may call Python code of the user's."""
    t = type(value)
    if t in WITHOUT_CODE or depth > DEEP:
        return False
    if t is ndarray:
        return value.dtype.hasobject and runs_python(value.ravel().tolist(), depth + 1)
    if t in CONTAINERS:
        if t not in (set, frozenset) and t is not tuple and holds_inert(value):
            return False
        held = list(value.values() if isinstance(value, dict) else value)
        return any(runs_python(part, depth + 1) for part in held)
    if t in OF_ITERATORS and is_still(value):
        return False
    if (t is functools.partial or t is MethodType) and runs_derived(value):
        return False
    if t is MethodType:
        return runs_python(value.__func__, depth + 1) or runs_python(value.__self__, depth + 1)
    if t in FUNCTIONS:
        return t is not FunctionType or bool(value.__closure__) or is_users_function(value)
    if isinstance(value, type):
        return not is_of_library(value) and is_written_in_python(value)
    if not is_of_library(t) and is_written_in_python(t):
        return True
    return any(runs_python(part, depth + 1) for part in held_by(value))


def held_by(value: Any) -> Iterable[Any]:
    """Return the parts of an object whose class is not a part of the program."""
    t = type(value)
    if module_of(t) in IN_C:
        return gc.get_referents(value)
    if t is GeneratorType:  # it runs derived, or was looked into
        return ()
    if is_iterator(t):
        return [part for part in flat(reduced(value) or ()) if runs_steps(part)]
    if issubclass(t, BaseException):
        return value.args, value.__cause__, value.__context__, *own_attributes(value).values()
    return own_attributes(value).values() if is_of_library(t) else ()


def is_still(iterator: Any, depth: int = 0) -> bool:
    """Return whether an iterator runs no code unseen, as far as a quick look tells."""
    if depth > DEEP:
        return False
    for held in gc.get_referents(iterator):
        # The tuple of a `zip_longest` has no object where a source has ended, so it is not read.
        for part in gc.get_referents(held) if type(held) is tuple else (held,):
            t = type(part)
            if t in STILL or t is tuple:  # a tuple in a tuple is an item
                continue
            if t in FUNCTIONS and runs_derived(part):
                continue
            if t not in OF_ITERATORS or not is_still(part, depth + 1):
                return False
    return True


def takes_from_containers(iterator: Any) -> bool:
    """Return whether an iterator only passes on what containers hold and derived code yields."""
    t = type(iterator)
    if t in OF_CONTAINERS:
        return True
    if t is GeneratorType:
        return is_derived(iterator.gi_code)
    if t not in PASSING:
        return False
    sources = gc.get_referents(iterator)
    if t in PAIRING:  # also refer to the tuple that they have returned
        sources = sources[0] if t is zip else sources[:1]
    for part in sources:
        for source in part if type(part) is tuple else (part,):
            if not (takes_from_containers(source) or runs_derived(source)):
                return False
    return True


@remembered
def is_derived(code: CodeType) -> bool:
    """Return whether a generator runs code that sees that elements are active."""
    names = (*code.co_varnames, *code.co_freevars)
    return "_mk_ctx" in names or code.co_filename.startswith(PACKAGE)


def flat(parts: Iterable[Any]) -> Iterator[Any]:
    """Yield values, and those in tuples in place of these."""
    for part in parts:
        if type(part) is tuple:
            yield from part
        else:
            yield part


def runs_steps(part: Any) -> bool:
    """Return whether a part of an iterator is a function, or an iterator that it goes through."""
    t = type(part)
    if t in INERT or t in CONTAINERS:
        return False
    return t in FUNCTIONS or is_iterator(t) or type(getattr(t, "__next__", None)) is FunctionType


def run_seen(ctx: Mode, f: Any, values: Iterable[Any], run: Callable[[], Any]) -> Any:
    """Run native code that may call Python code, and record what that changes."""
    values = list(values)
    if is_silent():
        run = functools.partial(run_muted, run)
    else:
        hear_native(f, values)
    for value in values:
        if type(value) not in WITHOUT_CODE and runs_python(value):
            break
    else:
        return run()
    state = State(ctx, [f, *within(values)])
    try:
        y = run()
    finally:
        settle(ctx, state, f, values)
    if state.is_active and not any(map(ctx.contains_active, values)):
        known = {id(part) for value in values for part in parts_of(value)}
        if may_be_active(y, known.union(state.known)):
            raise missing_rule(ctx, f, values, RETURNS_NUMBERS)
    return y


def settle(ctx: Mode, state: State, f: Any, values: Iterable[Any]) -> None:
    """Record what has changed of a state; raise if that may have a derivative."""
    changes = state.put_back()
    if state.is_active and any(brings_numbers(place, new, state.known) for place, new in changes):
        raise missing_rule(ctx, f, values, STORES_NUMBERS)
    for place, contents in changes:
        place.put(ctx, contents)


class Seen:
    """A block in which native code calls some functions; what these change is recorded."""

    def __init__(self, ctx: Mode, f: Any, values: list[Any]) -> None:
        self.ctx = ctx
        self.of = f, values

    def __enter__(self) -> None:
        f, values = self.of
        self.state = State(self.ctx, [f, *within(values)])

    def __exit__(self, *exception: object) -> None:
        settle(self.ctx, self.state, *self.of)


def call_seen(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``f(*args, **kwargs)`` likewise."""
    for value in args:
        if type(value) not in QUIET and not is_quiet(value):
            break
    else:
        if not kwargs or holds_inert(kwargs):
            return f(*args, **kwargs)
    return run_seen(ctx, f, (*args, *kwargs.values()), functools.partial(f, *args, **kwargs))


def call_checked(ctx: Mode, f: Any, *args: Any) -> Any:
    """Run ``f(*args)``, where methods of the arguments themselves are known to write nothing.

    It is watched only if objects of libraries hold others: to read all that a program's object can
    reach takes long.
    """
    if any(map(hides_python, args)):
        return call_seen(ctx, f, args, {})
    return f(*args)


def hides_python(value: Any) -> bool:
    """Return whether an object, or an array of objects, holds what may run Python code."""
    t = type(value)
    if t in QUIET or t in CONTAINERS:
        return False
    return is_of_library(t) and runs_python(value)


def is_quiet(value: Any) -> bool:
    """Return whether a value runs no code of the user's, as far as a quick look tells."""
    t = type(value)
    if t is ndarray:
        return not value.dtype.hasobject
    return t in QUIET or ((t is list or t is tuple) and QUIET.issuperset(map(type, value)))


STORES_NUMBERS = "it calls Python code unseen, which stores numbers and can reach active data"


RETURNS_NUMBERS = "it calls Python code unseen, which can reach active data, and returns numbers"


def may_be_active(value: Any, known: Container[int], depth: int = 0) -> bool:
    """Return whether a result is, or holds, numbers that may have derivatives and are not known."""
    t = type(value)
    if isinstance(value, ndarray):
        return value.dtype.kind in "fcO"
    if isinstance(value, CONTAINERS):
        held = [*parts_of(value)]
    elif issubclass(t, NUMBERS):
        return id(value) not in known
    elif t in INERT or depth > DEEP or id(value) in known or isinstance(value, OPAQUE):
        return False
    else:
        held = []
    held += own_attributes(value).values() if t not in CONTAINERS else ()
    return any(may_be_active(part, known, depth + 1) for part in held)


def brings_numbers(place: Place, new: Any, met: Container[int]) -> bool:
    """Return whether numbers that a place does not hold now, and may have derivatives, are new."""
    if isinstance(place, Elements):
        return new.dtype.kind in "fcO"
    known = set(map(id, parts_of(place.read())))
    return any(
        issubclass(type(v), NUMBERS) or (is_instance(v) and may_be_active(v, met))
        for v in parts_of(new)
        if id(v) not in known
    )


def is_instance(value: Any) -> bool:
    """Return whether a value is an instance of a class of the program."""
    return not is_of_library(type(value)) and not isinstance(value, OPAQUE)


def parts_of(contents: Any) -> Iterable[Any]:
    """Return the parts of a place that was read: a value, or the contents of a holder."""
    t = type(contents)
    base = next((kind for kind in CONTAINERS if issubclass(t, kind)), None)
    if base is None:
        return (contents,)
    return dict.values(contents) if base is dict else base.__iter__(contents)


def steps_seen(ctx: Mode, iterator: Any) -> Iterator[Any]:
    """Yield the items of an iterator in C, which may come from an iterator of the user's."""
    step = functools.partial(next, iterator)
    while True:
        try:
            item = run_seen(ctx, next, (iterator,), step)
        except StopIteration:
            return
        yield item


def reaches_active(ctx: Mode, values: Iterable[Any]) -> bool:
    """Return whether Python code that native code may call can reach active data."""
    return Reachable(ctx, list(values)).is_active


def within(values: Iterable[Any], depth: int = 0) -> Iterator[Any]:
    """Yield values, and what objects of the standard library hold."""
    for value in values:
        yield value
        t = type(value)
        if t in INERT or t in FUNCTIONS or depth > DEEP:
            continue
        if t in CONTAINERS:
            if depth and not holds_inert(value):  # of such an object
                held = value.values() if isinstance(value, dict) else value
                yield from within(list(held), depth + 1)
            continue
        if t is ndarray and value.dtype.hasobject:
            yield from within(value.ravel().tolist(), depth + 1)
        elif not isinstance(value, type):
            yield from within(held_by(value), depth + 1)


def run_logged(ctx: Mode, f: Any, args: Any, kwargs: Any, run: Callable[[], Any]) -> Any:
    """Run a function of `logging`, whose handlers and filters may be the user's."""
    import logging  # not above: few programs use it

    of = args[0] if args else None
    found: list[Any] = []
    while isinstance(of, logging.LoggerAdapter):
        found.append(of)
        of = getattr(of, "logger", None)  # none as it is made
    here: logging.Logger | None = of if isinstance(of, logging.Logger) else logging.getLogger()
    while here is not None:
        found += [vars(here), *here.filters, *here.handlers]
        here = here.parent if here.propagate else None
    for handler in list(found):
        if isinstance(handler, logging.Handler):
            found += [handler.formatter, *handler.filters, getattr(handler, "stream", None)]
    return run_seen(ctx, f, (*found, *args[1:], *kwargs.values()), run)

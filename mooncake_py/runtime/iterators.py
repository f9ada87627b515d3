"""Copies of iterators in C, which continue from the same position.

Some cannot be copied, such as generators and, in new versions of Python, those of itertools.
"""

from __future__ import annotations

import gc
import itertools
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import (
    CodeType,
    FunctionType,
    GeneratorType,
    MethodDescriptorType,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np

from mooncake_py.modules import module_of
from mooncake_py.rooms import PACKAGE
from mooncake_py.runtime.activity import is_iterator
from mooncake_py.runtime.users_code import is_own, runs_derived

__all__ = [
    "Copies", "contexts_of", "holds", "reduced", "resumable", "set_state",
]  # fmt: skip

OF_CALLS = type(iter(int, 0))
"""Of a function, which may have state of its own."""
METHODS: dict[Any, str] = {iter: "__iter__", reversed: "__reversed__"}
HEAP_TYPE = 1 << 9
RESUMABLE: dict[CodeType, Any] = {}
ARRAYS = frozenset({np.ndarray, np.flatiter, np.broadcast})
"""Where such a generator reads one of these, it runs no code of the program."""
TEE_DATA = {getattr(itertools, "_tee_dataobject", None)}
CALLED = (FunctionType, type)
DEEP = 32
WARNS = sys.version_info >= (3, 12)


class _NoCopyError(Exception):
    """An iterator, or one that it takes its items from, cannot be copied."""


@contextmanager
def in_silence() -> Iterator[None]:
    """Silence that itertools warn when they are copied, as they do from Python 3.12 on."""
    if not WARNS:
        yield
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def resumable(f: Any) -> Any:
    """Mark a generator function of the engine, whose first argument is the context.

    It goes on from the values that its arguments have while it waits.
    """
    RESUMABLE[f.__code__] = f
    return f


def contexts_of(value: Any, depth: int = 0) -> list[Any]:
    """Return the contexts of derived code that an iterator, or what it takes items from, runs."""
    t = type(value)
    if depth > DEEP or not (t is tuple or is_iterator(t) or runs_derived(value)):
        return []
    if t is GeneratorType:
        frame = value.gi_frame
        names = {} if frame is None else frame.f_locals
        if "_mk_ctx" in names:
            return [names["_mk_ctx"]]
        held: Any = names.values()
        if frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
            found = [part for part in held if is_own(type(part)) and hasattr(part, "getitem")]
            if found:
                return found
    elif t is tuple or is_iterator(t):
        held = gc.get_referents(value)
    else:
        owner = owner_of(value)
        if hasattr(owner, "_ctx") or not hasattr(owner, "iterator"):
            return [getattr(owner, "_ctx", owner)]
        held = [owner.iterator]
    return [ctx for part in held for ctx in contexts_of(part, depth + 1)]


def owner_of(function: Any) -> Any:
    """Return the object of the engine of which a function is a method."""
    method: Any = function.func if type(function) is partial else function
    return method.__self__


def holds(iterator: Any) -> list[Any]:
    """Return the items that an iterator keeps, as the last sum, and what it runs over."""
    found: list[Any] = []
    todo = [iterator]
    while todo:
        value = todo.pop()
        if type(value) is tuple:
            todo.extend(value)
        elif type(value) in TEE_DATA or (
            is_iterator(type(value)) and module_of(type(value)) == "itertools"
        ):
            todo.extend(reduced(value) or ())
        elif type(value) is list:
            found.extend(value)
        elif not is_iterator(type(value)):
            if type(value) not in CALLED and not runs_derived(value):
                found.append(value)
        elif type(value) is not GeneratorType:
            todo.extend(gc.get_referents(value))
    return found


class Copies:
    """Copies of iterators; those that two take their items from are copied once.

    Attributes
    ----------
    may_run : callable
        Whether copies may run code that was derived in a context, and may only read: it may belong
        to one run of the program.
    made : dict
        The copies by the ids of the iterators.
    """

    def __init__(self, may_run: Callable[[Any, bool], bool] = lambda ctx, reads: False) -> None:
        self.may_run = may_run
        self.made: dict[int, Any] = {}
        self.new: list[tuple[Any, Any]] = []
        self.runs = False  # whether the last copy runs such code, which may change something

    def of(self, iterator: Any) -> list[tuple[Any, Any]] | None:
        """Return the iterators that are copied now with their copies, the given one last.

        None if it cannot be copied.
        """
        self.new = []
        self.runs = False
        try:
            self.copied(iterator)
        except _NoCopyError:
            for other, _ in self.new:
                del self.made[id(other)]
            return None
        return self.new

    def forget(self, iterator: Any) -> None:
        """Forget the copy of an iterator that is deleted next."""
        self.made.pop(id(iterator), None)

    def copied(self, value: Any) -> Any:
        """Return a copy of an iterator or of a tuple of some; any other value as it is."""
        if type(value) is tuple:
            return tuple([self.copied(part) for part in value])
        if not is_iterator(type(value)) and type(value) not in TEE_DATA:
            return self.own_function(value) if runs_derived(value) else value
        if id(value) not in self.made:
            new = _copied_elements(value)
            if new is None:
                new = self.resumed(value) if type(value) is GeneratorType else self.again(value)
            self.made[id(value)] = new
            self.new.append((value, new))
        return self.made[id(value)]

    def own_function(self, function: Any) -> Any:
        """Return a method of the engine for a copy; of one that has state, that of its copy."""
        owner = owner_of(function)
        if hasattr(owner, "copied"):
            return getattr(owner.copied(), function.__name__)
        if not self.may_run(getattr(owner, "_ctx", owner), False):
            raise _NoCopyError
        self.runs = True
        return function

    def resumed(self, generator: Any) -> Any:
        """Return a copy of a generator of the engine."""
        code, frame = generator.gi_code, generator.gi_frame
        if code not in RESUMABLE:
            raise _NoCopyError
        if frame is None:
            return iter(())
        names = code.co_varnames[: code.co_argcount]
        ctx, *arguments = [frame.f_locals[name] for name in names]
        reads = type(arguments[0]) in ARRAYS
        if not self.may_run(ctx, reads):
            raise _NoCopyError
        self.runs = self.runs or not reads
        return RESUMABLE[code](ctx, *self.copied(tuple(arguments)))

    def again(self, iterator: Any) -> Any:
        """Return a copy of an iterator that says how it is made."""
        t = type(iterator)
        native = type(t.__reduce__) is not FunctionType and t.__reduce__ is not object.__reduce__
        found = reduced(iterator) if native and t is not OF_CALLS else None
        if found is None:
            raise _NoCopyError
        make, arguments, *state = found
        if make in METHODS and arguments and type(arguments[0]).__flags__ & HEAP_TYPE:
            new = _native(METHODS[make], arguments[0], t)
        else:
            new = make(*self.copied(arguments))
        if state and state[0] is not None:
            set_state(new, self.copied(with_lists_copied(state[0])))
        return new


def _native(name: str, value: Any, t: type) -> Any:
    """Return the iterator in C over an object, whose class may have a method of its own."""
    methods = (base.__dict__.get(name) for base in type(value).__mro__)
    native = (WrapperDescriptorType, MethodDescriptorType)
    method: Any = next((method for method in methods if type(method) in native), None)
    new = None if method is None else method(value)
    if type(new) is not t:
        raise _NoCopyError
    return new


def with_lists_copied(state: Any) -> Any:
    """Return a state in which an iterator may go on to collect items."""
    if type(state) is not tuple:
        return state
    return tuple([part.copy() if type(part) is list else part for part in state])


def _copied_elements(iterator: Any) -> Any:
    """Return a copy of an iterator over the elements of an array, None for any other."""
    if type(iterator) is not np.flatiter:
        return None
    new = iterator.base.flat
    for _ in range(iterator.index):
        next(new)
    return new


def reduced(iterator: Any) -> tuple[Any, ...] | None:
    """Return how an iterator is made again where it is, None if it does not say so.

    What `object` says of a subclass of a class in C is of no use, and calls that class with the
    iterator: a file would be wrapped in another one, and closed with it.
    """
    if type(iterator).__reduce__ is object.__reduce__:
        return None
    if not WARNS:  # the block takes longer than the method
        return _reduced(iterator)
    with in_silence():
        return _reduced(iterator)


def _reduced(iterator: Any) -> tuple[Any, ...] | None:
    try:
        found = iterator.__reduce__()
    except TypeError:
        return None
    return found if type(found) is tuple else None


def set_state(iterator: Any, state: Any) -> None:
    """Move an iterator on to where another one is."""
    with in_silence():
        iterator.__setstate__(state)

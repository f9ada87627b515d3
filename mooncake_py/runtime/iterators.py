"""Copies of iterators in C, which continue from the same position.

Some cannot be copied, such as generators and, in new versions of Python, those of itertools.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType, MethodDescriptorType, WrapperDescriptorType
from typing import Any

import numpy as np

from mooncake_py.runtime.activity import is_iterator
from mooncake_py.runtime.users_code import runs_derived

__all__ = ["copied", "reduced", "set_state"]

OF_CALLS = type(iter(int, 0))
"""Of a function, which may have state of its own."""
METHODS: dict[Any, str] = {iter: "__iter__", reversed: "__reversed__"}
HEAP_TYPE = 1 << 9
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


def copied(iterator: Any) -> Any:
    """Return an iterator over what another one has left, None if there is none.

    The iterators that it takes its items from are copied too.
    """
    try:
        return _copied(iterator, {})
    except _NoCopyError:
        return None


def _copied(value: Any, made: dict[int, Any]) -> Any:
    """Return a copy of an iterator or of a tuple of some; any other value as it is."""
    if type(value) is tuple:
        return tuple([_copied(part, made) for part in value])
    if not is_iterator(type(value)):
        if runs_derived(value):
            raise _NoCopyError  # it may belong to one run of the program
        return value
    if id(value) not in made:
        made[id(value)] = _copied_elements(value) or _made_again(value, made)
    return made[id(value)]


def _made_again(iterator: Any, made: dict[int, Any]) -> Any:
    t = type(iterator)
    native = type(t.__reduce__) is not FunctionType and t.__reduce__ is not object.__reduce__
    found = reduced(iterator) if native and t is not OF_CALLS else None
    if found is None:
        raise _NoCopyError
    make, arguments, *state = found
    if make in METHODS and arguments and type(arguments[0]).__flags__ & HEAP_TYPE:
        new = _native(METHODS[make], arguments[0], t)
    else:
        new = make(*_copied(arguments, made))
    if state and state[0] is not None:
        set_state(new, _copied(with_lists_copied(state[0]), made))
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

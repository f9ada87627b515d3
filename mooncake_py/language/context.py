"""The context of rewritten code: the meaning of calls, attributes and loops.

Rewritten code calls a method of the context for every operation.  Values are passed by reference as
in Python.  The context also derives Python code that compiled code would call (properties, special
methods, iterators, context managers), and records how to undo changes to objects.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from sys import getrefcount
from typing import Any

from numpy import ndarray

from mooncake_py.application.arity import MISFITS, require_arguments
from mooncake_py.application.seen_calls import OF_CONTAINERS, PASSING
from mooncake_py.containers import containers
from mooncake_py.containers.containers import CONTAINERS
from mooncake_py.containers.positions import position
from mooncake_py.language import (
    delegation,
    dispatch,
    iteration,
    managers,
    scalars,
    unfinished,
)
from mooncake_py.language.comparisons import Comparisons
from mooncake_py.language.objects import Objects
from mooncake_py.language.outside_iterators import holds_its_own
from mooncake_py.runtime import numerals
from mooncake_py.runtime.active import Active, plain_class
from mooncake_py.runtime.methods import LookedUp, python_method
from mooncake_py.runtime.references import HELD_ONCE
from mooncake_py.runtime.sites import DECLINED
from mooncake_py.tangents.subclasses import Met

__all__ = ["Context"]

INT = frozenset({int})
IN_MEMORY = frozenset({
    list, tuple, dict, range, str, set, frozenset, deque, bytes,
    type({}.keys()), type({}.values()), type({}.items()),
})  # fmt: skip
FLAT = frozenset([(None,) * n for n in range(10)])
"""Patterns of targets that are names, each of one item."""
OF_TUPLES = frozenset({
    zip, enumerate, itertools.zip_longest, itertools.pairwise, itertools.product,
    type({}.items()), type(iter({}.items())),
})  # fmt: skip
"""Iterators, and what else a loop runs over, of which each item is a tuple."""


def is_unpacked(value: Any, pattern: Any) -> bool:
    """Return whether a value, and what is in it for targets within, is a tuple or a list."""
    t = type(value)
    if t is not tuple and t is not list:
        return False
    if pattern in FLAT:
        return True
    if "*" in pattern:
        return False
    for item, part in zip(value, pattern, strict=False):
        if part is not None and not is_unpacked(item, part):
            return False
    return True


class Context(Comparisons, Objects):
    """The part of a differentiated call that does not depend on the mode."""

    def call_one(self, f: Any, x: Any, /) -> Any:
        """Run ``f(x)``, the commonest call."""
        way = self.rule_ways.get(id(f))
        if way is not None:
            y = way.on[1](self, x)
            if y is not DECLINED:
                return y
        return self.call_in_general(f, x)

    def method(self, o: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
        """Run ``o.name(*args, **kwargs)``."""
        t = type(o)
        if t is ndarray:
            descriptor = getattr(ndarray, name, None)
            handler = self.handlers.get(descriptor)
            if handler is not None:
                if descriptor is type:  # what `__class__` is of a class
                    return self.call(ndarray, *args, **kwargs)
                if self.watches:
                    return self.call(descriptor, o, *args, **kwargs)
                try:
                    return handler(self, descriptor, (o, *args), kwargs)
                except Met:
                    return self.call(descriptor, o, *args, **kwargs)
                except MISFITS:
                    require_arguments(descriptor, (o, *args), kwargs)
                    raise
            return dispatch.call_array_method(self, o, name, args, kwargs)
        if t is Active:
            return scalars.call_scalar_method(self, o, name, args, kwargs)
        if t in CONTAINERS:
            try:
                return containers.call_method(self, o, name, args, kwargs)
            except MISFITS:
                require_arguments(getattr(t, name), (o, *args), kwargs)
                raise
        if t is LookedUp:
            return type(self).call(self, o.method, *args, **kwargs)
        # From Python 3.12 on a starred call of a function takes no C stack; that of a method does.
        return type(self).call(self, self.getattr(o, name), *args, **kwargs)

    def looked_up(self, o: Any, name: str) -> Any:
        """Return the receiver for :meth:`method` if the arguments may have effects or raise.

        Python looks up ``o.name`` before it evaluates them.  The methods of arrays, numbers and
        containers are always the same.
        """
        t = type(o)
        if (t is Active or t is ndarray or t in CONTAINERS) and hasattr(plain_class(o), name):
            return o
        return LookedUp(self.getattr(o, name))

    def range_of(self, *bounds: Any) -> Any:
        """Run ``range(*bounds)``, which asks each object that stands for an int."""
        if not INT.issuperset(map(type, bounds)):
            bounds = tuple([position(self, bound) for bound in bounds])
        return range(*bounds)

    def iter(self, iterable: Any, pattern: Any = None) -> Iterable[Any]:
        """Return the iterable that a loop over `iterable` runs over, with its active elements."""
        t = type(iterable)
        if t is ndarray:
            found = self.iterate_array(iterable)
        elif t in IN_MEMORY:
            found = iterable
        elif getrefcount(iterable) == HELD_ONCE and holds_its_own(iterable):
            found = iterable  # a second run makes its own
        else:
            found = iteration.iterate_object(self, iterable)
        if pattern is None or (pattern in FLAT and type(found) in OF_TUPLES):
            return found
        return self.unpacked(found, pattern)

    def items(self, iterable: Any) -> Iterable[Any]:
        """Return the items for a list of all of them: an object is asked for its length too."""
        found = self.iter(iterable)
        t = type(iterable)
        if t in CONTAINERS or t is tuple or t is ndarray or t in PASSING or t in OF_CONTAINERS:
            return found
        return found if iteration.ask_length(self, iterable) is None else iter(found)

    def iterate_array(self, a: ndarray) -> Iterable[Any]:
        """Iterate over the first axis; elements of an active vector are active."""
        # A constant vector may become active within the loop; integers cannot.
        if a.ndim != 1 or a.dtype.kind not in "fcV":
            return a
        return iteration.iterate_elements(self, a)

    def unpacked(self, items: Iterable[Any], pattern: Any) -> Iterator[Any]:
        """Yield each item unpacked for the targets of a loop."""
        is_flat = pattern in FLAT
        for item in items:
            t = type(item)
            if is_flat and (t is tuple or t is list):
                yield item
            else:
                yield item if is_unpacked(item, pattern) else self.unpack(item, pattern)

    def unpack(self, value: Any, pattern: Any) -> Any:
        """Prepare a value for assignment to a tuple of targets.

        `pattern` is a tuple with None for a target, "*" for a starred one and a tuple for a
        nested one.
        """
        t = type(value)
        if t is tuple or t is list:
            if is_unpacked(value, pattern):
                return value
        else:
            if "*" in pattern and python_method(t, "__iter__") is not None:
                value = iteration.items_for_star(self, value, pattern.index("*"))
            else:
                value = self.iter(value)
        if all(part is None or part == "*" for part in pattern):
            return value
        star = pattern.index("*") if "*" in pattern else None
        items = list(value)
        if star is not None:
            spread = len(items) - len(pattern) + 1
            pattern = (*pattern[:star], *[None] * spread, *pattern[star + 1 :])
        for i, part in enumerate(pattern[: len(items)]):
            if type(part) is tuple:
                items[i] = self.unpack(items[i], part)
        return items

    def delegate(self, iterable: Any) -> Any:
        """Return the iterator that ``yield from`` delegates to."""
        return delegation.delegate(self, iterable)

    def manager(self, manager: Any) -> Any:
        """Return a context manager whose Python code is derived."""
        return managers.derived_manager(self, manager)

    def cleaning(self) -> unfinished.Cleanup:
        """Return the block that is the body of a generator with code for its end."""
        return unfinished.Cleanup(self)

    def decorator(self, decorator: Any) -> Callable[[Any], Any]:
        """Return a function that applies a decorator by a derived call."""
        return lambda function: self.call(decorator, function)

    def written(self, text: Any, *, whole: bool = False) -> Any:
        """Return a text that was made of active values."""
        return numerals.written(self, text, whole=whole)

    def scalar_attribute(self, value: Active, name: str) -> Any:
        """Return an attribute of an active scalar."""
        return scalars.scalar_attribute(self, value, name)

"""Python builtins with callbacks or sums, as Python that can be derived.

The C functions would call user functions natively.  The generators are as lazy as the originals;
checks that the originals make when they are called, not when they are first advanced, are outside
of the generators.
"""

from __future__ import annotations

import collections
import functools
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.declare import from_vjp, overlay, zero_derivative
from mooncake_py.rules.numbers import NUMBERS
from mooncake_py.rules.sequences import of_sequences
from mooncake_py.rules.stand_ins import standing_for

__all__: list[str] = []

MISSING = object()


def items_of(iterable: Iterable[Any]) -> list[Any]:
    """Return the items, as functions read them that never ask how many there are."""
    return [item for item in iterable]  # noqa: C416


def iterating(iterable: Iterable[Any]) -> Iterator[Any]:
    """Return the iterator that functions in C ask for once, and that a loop does not ask again."""
    return iter(iterable)


# Sums.


def are_numbers(items: list[Any]) -> bool:
    """Return whether all items are numbers, and none an array or an instance of a subclass."""
    return NUMBERS.issuperset(map(type, items))


def sum_of_numbers(items: list[Any], start: Any) -> Any:
    """Add a list of numbers."""
    return sum(items, start)


@of_sequences
def sum_tangent(tangents: Any, y: Any, items: list[Any], start: Any) -> Any:
    """Add the tangents that are not zero."""
    parts, t = tangents
    kept = [] if parts is None else [part for part in parts if part is not None]
    return sum(kept, 0.0 if t is None else t)


@from_vjp(sum_of_numbers, jvp=sum_tangent)
def sum_of_numbers_rule(items: list[Any], start: Any) -> tuple[Any, Any]:
    """Pass the whole cotangent to each number."""
    return sum(items, start), lambda dy: ([dy] * len(items), dy)


def sum_of_rows(x: ndarray, start: Any) -> Any:
    """Add the elements or rows of an array one by one."""
    return sum(x, start)


@from_vjp(sum_of_rows)
def sum_of_rows_rule(x: ndarray, start: Any) -> tuple[Any, Any]:
    """Pass the whole cotangent to each row."""
    shape = x.shape
    return sum(x, start), lambda dy: (np.broadcast_to(dy, shape), dy)


# Order.


def order_of(keys: list[Any], reverse: bool) -> list[int]:
    """Return the positions of the keys in sorted order."""
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)


def sorting_order(
    items: list[Any], key: Any = None, reverse: bool = False
) -> tuple[list[int], Exception | None]:
    """Return in which order `list.sort` leaves items, and the error of a comparison or None."""
    return order_left(items if key is None else [key(item) for item in items], reverse)


def order_left(keys: list[Any], reverse: bool) -> tuple[list[int], Exception | None]:
    """Return the positions of the keys as far as they are sorted, and the error that ended it."""
    order = list(range(len(keys)))
    try:
        order.sort(key=keys.__getitem__, reverse=reverse)
    except Exception as error:
        return order, error
    return order, None


# Arithmetic with two results, or in steps.


@overlay(divmod)
def divmod_of(a: Any, b: Any, /) -> Any:
    if are_numbers([a, b]):
        if isinstance(a, complex) or isinstance(b, complex):
            return complex_divmod(a, b)
        return a // b, a % b
    return divmod_of_others(a, b)


def complex_divmod(a: Any, b: Any) -> Any:
    """Raise what `divmod` raises for complex numbers."""
    return divmod(a, b)


def divmod_of_others(a: Any, b: Any) -> Any:
    """Run `divmod` for arrays and objects; the engine finds out which operand's method does it."""
    return divmod(a, b)


@overlay(pow)
def pow_of(base: Any, exp: Any, mod: Any = None) -> Any:
    if mod is None:
        return base**exp
    if not defines_power(base):
        return modular_power(base, exp, mod)
    y = type(base).__pow__(base, exp, mod)
    if y is NotImplemented:
        names = ", ".join(repr(type(v).__name__) for v in (base, exp, mod))
        raise TypeError(f"unsupported operand type(s) for ** or pow(): {names}")
    return y


def defines_power(base: Any) -> bool:
    """Return whether a class has its own method for powers, of three numbers too."""
    return isinstance(getattr(type(base), "__pow__", None), FunctionType)


def modular_power(base: Any, exp: Any, mod: Any) -> Any:
    """Return base ** exp % mod, which Python computes for integers only."""
    return pow(base, exp, mod)


@overlay(round)
def round_of(number: Any, ndigits: Any = None) -> Any:
    if are_numbers([number]) or not hasattr(type(number), "__round__"):
        return rounded(number, ndigits)
    return special_method(number, "__round__", *(() if ndigits is None else (ndigits,)))


def special_method(value: Any, name: str, *args: Any) -> Any:
    """Call a special method of the class of a value, bound to it as Python does."""
    return getattr(type(value), name)(value, *args)


def rounded(number: Any, ndigits: Any) -> Any:
    """Round a number."""
    return round(number) if ndigits is None else round(number, ndigits)


zero_derivative(
    are_numbers,
    complex_divmod,
    defines_power,
    order_of,
    order_left,
    because="returns positions, an answer or nothing",
)
zero_derivative(modular_power, rounded, because="piecewise constant")


# Functions applied to neighbours.


@overlay(functools.reduce)
def reduce(function: Callable[[Any, Any], Any], iterable: Iterable[Any], /, *initial: Any) -> Any:
    if len(initial) > 1:
        raise TypeError(f"reduce expected at most 3 arguments, got {len(initial) + 2}")
    if not is_iterable(iterable):
        raise TypeError("reduce() arg 2 must support iteration")
    value = initial[0] if initial else MISSING
    for item in iterable:
        value = item if value is MISSING else function(value, item)
    if value is MISSING:
        raise TypeError("reduce() of empty iterable with no initial value")
    return value


def is_iterable(value: Any) -> bool:
    """Return whether ``iter(value)`` finds a method for it."""
    return hasattr(type(value), "__iter__") or hasattr(type(value), "__getitem__")


@overlay(itertools.groupby)
def groupby(iterable: Iterable[Any], key: Any = None) -> Iterator[Any]:
    return standing_for(groups(iter(iterable), key), itertools.groupby)


def groups(items: Iterator[Any], key: Any) -> Iterator[Any]:
    """Yield each key with its group; what the caller leaves of a group is passed over."""
    ahead: list[tuple[Any, Any]] = []  # at most one item that was read but belongs further on
    read_ahead(items, key, ahead)
    while ahead:
        group_key = ahead[0][0]
        group = group_of(items, key, ahead, group_key)
        yield group_key, group
        if not ahead and is_exhausted(group):
            read_ahead(items, key, ahead)  # the original asks once more
            group = group_of(items, key, ahead, group_key)
        for _ in group:
            pass


def is_exhausted(generator: Any) -> bool:
    """Return whether a generator has come to its end."""
    return generator.gi_frame is None


zero_derivative(is_exhausted, because="returns an answer")


def group_of(items: Iterator[Any], key: Any, ahead: list[Any], group_key: Any) -> Iterator[Any]:
    """Yield items as long as their key stays the same."""
    while ahead and (ahead[0][0] is group_key or ahead[0][0] == group_key):
        yield ahead.pop()[1]
        read_ahead(items, key, ahead)


def read_ahead(items: Iterator[Any], key: Any, ahead: list[Any]) -> None:
    """Read one item, if there is one."""
    try:
        item = next(items)
    except StopIteration:
        return
    ahead.append((item if key is None else key(item), item))


# Callable objects of the `operator` module; the engine looks up the `__call__` of their type.


@overlay(operator.itemgetter.__call__)
def itemgetter_call(getter: Any, obj: Any, /) -> Any:
    found = [obj[item] for item in getter.__reduce__()[1]]
    return found[0] if len(found) == 1 else tuple(found)


@overlay(operator.attrgetter.__call__)
def attrgetter_call(getter: Any, obj: Any, /) -> Any:
    found = [attribute(obj, path) for path in getter.__reduce__()[1]]
    return found[0] if len(found) == 1 else tuple(found)


def attribute(obj: Any, path: str) -> Any:
    """Follow a dotted path of attributes."""
    for name in path.split("."):
        obj = getattr(obj, name)
    return obj


@overlay(operator.methodcaller.__call__)
def methodcaller_call(caller: Any, obj: Any, /) -> Any:
    name, args, kwargs = call_of(caller)
    return getattr(obj, name)(*args, **kwargs)


def call_of(caller: Any) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """Return the method name and the arguments that a methodcaller was made with."""
    maker, arguments = caller.__reduce__()[:2]
    if isinstance(maker, functools.partial):  # made with keywords
        return maker.args[0], arguments, maker.keywords
    return arguments[0], arguments[1:], {}


@overlay(operator.countOf)
def count_of(a: Iterable[Any], b: Any, /) -> int:
    found = 0
    for item in a:
        if item is b or item == b:
            found += 1
    return found


def count_elements(mapping: Any, iterable: Iterable[Any], /) -> None:
    """Count items one after the other, for ``Counter.update``."""
    for item in iterable:
        mapping[item] = mapping.get(item, 0) + 1


_count_elements = getattr(collections, "_count_elements", None)
if _count_elements is not None:
    overlay(_count_elements)(count_elements)


@overlay(operator.indexOf)
def index_of(a: Iterable[Any], b: Any, /) -> int:
    for i, item in enumerate(a):
        if item is b or item == b:
            return i
    raise ValueError("sequence.index(x): x not in sequence")

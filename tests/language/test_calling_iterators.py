"""Iterators in C that call a function of the program, and functions that read iterators, in turn.

A stream is read as far as Python reads it: what is left of it afterwards, also after an error of
the function or of an item, and what runs between two items, is that of the plain call.
"""

from __future__ import annotations

import collections
import copy
import functools
import itertools
import math
import operator
import statistics
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, jvp, value_and_grad
from tests.support.pairs import rotating

X = np.array([0.7, 1.3, 2.1])


def inverse(v: Any) -> Any:
    if v > 2.0:
        raise KeyError(v)
    return 1.0 / v


def stream(x: Any) -> Iterator[Any]:
    return map(inverse, [x[0], x[2], x[1], x[0] * x[1]])


def broken(x: Any) -> Iterator[Any]:
    return iter([x[0], [], x[1], x[2]])


def texts(x: Any) -> Iterator[Any]:
    return (v for v in [x[0], "end", x[1], x[2]])


class Reader:
    """An iterator of the program that raises at its second item, and has its end twice."""

    def __init__(self, x: Any) -> None:
        self.x = x
        self.i = 0

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        self.i += 1
        if self.i == 2:
            raise KeyError(self.i)
        if self.i > 3:
            raise StopIteration
        return self.x[self.i - 1]


def zipped(x: Any) -> Iterator[Any]:
    return zip(Reader(x), itertools.count(1), strict=False)


SLOW = pytest.mark.slow
STREAMS = (
    stream,
    broken,
    pytest.param(texts, marks=SLOW),
    pytest.param(zipped, marks=SLOW),
)

CONSUMERS: dict[str, Callable[[Any], Any]] = {
    "sum": sum,
    "sum of arrays": lambda it: sum(it, np.zeros(1)),
    "max": max,
    "min": min,
    "key": lambda it: max(it, key=lambda v: -v),
    "default": lambda it: min(it, default=1.0),
    "fsum": math.fsum,
    "prod": math.prod,
    "mean": statistics.mean,
    "fmean": statistics.fmean,
    "set": set,
    "frozenset": frozenset,
    "Counter": collections.Counter,
    "update": lambda it: collections.Counter().update(it),
    "fromiter": lambda it: np.fromiter(it, float),
    "two": lambda it: np.fromiter(it, float, 2),
    "reduce": lambda it: functools.reduce(operator.add, it),
    "sorted": sorted,
    "list": list,
    "map": lambda it: list(map(inverse, it)),
    "starmap": lambda it: list(itertools.starmap(operator.mul, zip(it, it, strict=False))),
    "rows": lambda it: list(itertools.starmap(operator.mul, it)),
    "filter": lambda it: list(filter(None, it)),
    "filterfalse": lambda it: list(itertools.filterfalse(lambda v: v > 1.0, it)),
    "takewhile": lambda it: list(itertools.takewhile(lambda v: v < 1.0, it)),
    "dropwhile": lambda it: next(itertools.dropwhile(lambda v: v < 1.0, it)),
    "accumulate": lambda it: list(itertools.accumulate(it)),
    "initial": lambda it: list(itertools.accumulate(it, operator.mul, initial=2.0)),
    "chain": lambda it: list(itertools.chain(it, [1.0])),
    "product": lambda it: list(itertools.product(it, [1.0])),
    "star": lambda it: [*it],
    "unpacked": lambda it: first_of(it),
}


def first_of(items: Any) -> Any:
    first, *_ = items
    return first


def number(value: Any) -> Any:
    """Return a number that depends on all numbers in a result."""
    if isinstance(value, (list, tuple)):
        return sum([number(v) * (i + 1) for i, v in enumerate(value)], 0.0)
    return 1.0 if value is None or isinstance(value, (str, dict, set, frozenset)) else value


def agrees(f: Callable[[Any], Any]) -> None:
    """Check a function of three numbers in each mode."""
    f_of = lambda x: np.sum(f(x)) * 1.0  # noqa: E731
    h = 1e-6
    slopes = [(f_of(X + h * e) - f_of(X - h * e)) / (2 * h) for e in np.eye(3)]
    y = f_of(X.copy())
    for g in (f_of, lambda x: checkpoint(f_of, x) * 1.0):
        value, gradient = value_and_grad(g)(X)
        np.testing.assert_allclose(value, y, rtol=1e-12)
        np.testing.assert_allclose(gradient, slopes, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(jvp(g, (X,), (np.ones(3),))[1], sum(slopes), rtol=1e-5)


@pytest.mark.parametrize(("source", "name"), rotating(STREAMS, CONSUMERS, times=2))
def test_a_stream_is_where_python_leaves_it(source: Any, name: str) -> None:
    consume = CONSUMERS[name]

    def f(x: Any) -> Any:
        it = source(x)
        try:
            found = number(consume(it))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            found = float(len(type(error).__name__))
        rest = []
        for _ in range(4):
            try:
                rest.append(next(it, 5.0))
            except KeyError:
                rest.append(7.0)
        return (np.sum(found) + number(rest)) * x[0]

    agrees(f)


def parsed(x: Any) -> Any:
    """Go on after an error of the function."""
    it = map(inverse, [x[0], x[2], x[1]])
    total = 0.0
    while True:
        try:
            total = total + next(it)
        except KeyError:
            total = total * 2.0
        except StopIteration:
            return total


def grown(x: Any) -> Any:
    """Add to a list while it is searched."""
    items = [x[0], x[1]]

    def key(v: Any) -> Any:
        if len(items) < 4:
            items.append(2.0 * v)
        return v

    return max(items, key=key)


class Scaled:
    def __init__(self, v: Any, scale: list[float]) -> None:
        self.v = v
        self.scale = scale

    def __add__(self, other: Any) -> Any:
        return Scaled(self.v + other.v * self.scale[0], self.scale)

    def __lt__(self, other: Any) -> Any:
        self.scale[0] *= 2.0
        return self.v * self.scale[0] < other.v

    __gt__ = __lt__


def added(x: Any) -> Any:
    """Add objects while the generator runs."""
    scale = [1.0]

    def items() -> Iterator[Any]:
        for v in x:
            scale[0] *= 2.0
            yield Scaled(v, scale)

    return sum(items(), Scaled(0.0, scale)).v * scale[0]


def compared(x: Any) -> Any:
    """Compare objects that change what they are compared by."""
    scale = [0.1]
    least = min([Scaled(v, scale) for v in x])
    largest = max(Scaled(v, scale) for v in x)
    return (least.v + 3.0 * largest.v) * scale[0]


def refined(x: Any) -> Any:
    """Change the second of two chained sources while the first one is read."""

    class Layer:
        v = x

        def __iter__(self) -> Any:
            return iter(self.v)

    first, second = Layer(), Layer()
    total = 0.0
    for v in itertools.chain(first, second):
        total = total + v
        second.v = 10.0 * x
    return total


def stopped(x: Any) -> Any:
    """End where the function raises StopIteration."""

    def until(v: Any) -> Any:
        if v > 1.0:
            raise StopIteration
        return v

    return sum(map(until, x)) + len(list(itertools.starmap(until, [(v,) for v in x])))


def copied(x: Any) -> Any:
    it = map(inverse, iter([x[0], x[1]]))
    return next(copy.copy(it)) * next(it)


def named(x: Any) -> Any:
    it = itertools.accumulate(iterable=x, func=operator.mul)
    return sum(it) * (type(map(abs, x)) is map) * isinstance(it, itertools.accumulate)


@pytest.mark.parametrize(
    "f", [parsed, grown, added, compared, refined, stopped, copied, named], ids=lambda f: f.__name__
)
def test_what_runs_between_two_items(f: Callable[[Any], Any]) -> None:
    agrees(f)


@pytest.mark.parametrize(
    "call",
    [
        lambda: map(abs),  # pyright: ignore[reportCallIssue]
        lambda: filter(abs),  # pyright: ignore[reportCallIssue]
        lambda: itertools.accumulate(),  # pyright: ignore[reportCallIssue]
        lambda: itertools.accumulate([1], iterable=[1]),  # pyright: ignore[reportCallIssue]
        lambda: itertools.starmap(abs),  # pyright: ignore[reportCallIssue]
        lambda: map(abs, 1),  # pyright: ignore[reportArgumentType]
        lambda: next(map(1, [1])),  # pyright: ignore[reportArgumentType]
    ],
)
def test_wrong_arguments_raise_as_in_python(call: Callable[[], Any]) -> None:
    with pytest.raises(TypeError) as plain:
        call()
    with pytest.raises(TypeError) as derived:
        value_and_grad(lambda a: (call(), a)[1])(1.0)
    assert str(derived.value) == str(plain.value)

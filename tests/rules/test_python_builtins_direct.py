"""The overlays of Python's functions do what the originals do, also with regard to laziness."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Iterator
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad
from mooncake_py.rules import python_builtins as overlays
from mooncake_py.rules import registry
from tests.rules.equal_calls import assert_same_call

NAN = float("nan")
GET_ITEM = operator.itemgetter.__call__


class Modular:
    """A number whose arithmetic is its own."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __divmod__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, str) else ("divmod", self.value, other)

    def __rdivmod__(self, other: Any) -> Any:
        return ("rdivmod", other, self.value)

    def __round__(self, *digits: int) -> Any:
        return ("round", self.value, *digits)

    def __pow__(self, exp: Any, mod: Any = None) -> Any:
        return ("pow", self.value, exp, mod)


CALLS: list[tuple[Any, Any, tuple[Any, ...], dict[str, Any]]] = [
    (overlays.divmod_of, divmod, (7.5, 2), {}),
    (overlays.divmod_of, divmod, (-7, 2), {}),
    (overlays.divmod_of, divmod, (1.0, 0.0), {}),
    (overlays.divmod_of, divmod, (np.arange(3.0), 2.0), {}),
    (overlays.divmod_of, divmod, (Fraction(7, 2), 2), {}),
    (overlays.divmod_of, divmod, (7, Fraction(3, 2)), {}),
    (overlays.divmod_of, divmod, (Modular(3), 2), {}),
    (overlays.divmod_of, divmod, ("x", Modular(3)), {}),
    (overlays.divmod_of, divmod, (Modular(3), "x"), {}),
    (overlays.divmod_of, divmod, ("x", "y"), {}),
    (overlays.pow_of, pow, (2.0, 3), {}),
    (overlays.pow_of, pow, (3, -1, 7), {}),
    (overlays.pow_of, pow, (3.0, 2, 7), {}),
    (overlays.pow_of, pow, (Modular(3), 2, 5), {}),
    (overlays.round_of, round, (2.5,), {}),
    (overlays.round_of, round, (2.345, 2), {}),
    (overlays.round_of, round, (1234, -2), {}),
    (overlays.round_of, round, (np.float32(2.345), 1), {}),
    (overlays.round_of, round, (Modular(3),), {}),
    (overlays.round_of, round, (Modular(3), 1), {}),
    (overlays.round_of, round, ("x",), {}),
    (overlays.reduce, functools.reduce, (operator.sub, [5, 2, 1]), {}),
    (overlays.reduce, functools.reduce, (operator.sub, [5, 2], 10), {}),
    (overlays.reduce, functools.reduce, (operator.sub, [], 10), {}),
    (overlays.reduce, functools.reduce, (operator.sub, []), {}),
    (overlays.reduce, functools.reduce, (operator.sub, [], None), {}),
    (overlays.reduce, functools.reduce, (operator.sub, [], 1, 2), {}),
    (overlays.itemgetter_call, GET_ITEM, (operator.itemgetter(1), "abc"), {}),
    (overlays.itemgetter_call, GET_ITEM, (operator.itemgetter(2, 0), "abc"), {}),
    (overlays.itemgetter_call, GET_ITEM, (operator.itemgetter(9), "abc"), {}),
    (
        overlays.attrgetter_call,
        operator.attrgetter.__call__,
        (operator.attrgetter("a.b", "c"), SimpleNamespace(a=SimpleNamespace(b=1), c=2)),
        {},
    ),
    (overlays.attrgetter_call, operator.attrgetter.__call__, (operator.attrgetter("x"), 1), {}),
    (
        overlays.methodcaller_call,
        operator.methodcaller.__call__,
        (operator.methodcaller("split", "b", maxsplit=1), "abcb"),
        {},
    ),
    (
        overlays.methodcaller_call,
        operator.methodcaller.__call__,
        (operator.methodcaller("split", "b"), "abcb"),
        {},
    ),
]


@pytest.mark.parametrize(("ours", "theirs", "args", "kwargs"), CALLS)
def test_overlay_equals_original(ours: Any, theirs: Any, args: Any, kwargs: Any) -> None:
    assert_same_call(ours, theirs, *args, **kwargs)


@pytest.mark.parametrize("key", [None, abs, str], ids=["none", "abs", "str"])
@pytest.mark.parametrize("items", [[], [1], [1, -1, 2, 2, 1], [NAN, NAN, 1.0]], ids=str)
def test_groupby_equals_original(items: list[Any], key: Any) -> None:
    def read(groupby: Any) -> list[Any]:
        return [(k, list(group)) for k, group in groupby(items, key)]

    assert repr(read(overlays.groupby)) == repr(read(itertools.groupby))


def test_groupby_passes_over_what_is_left_of_a_group() -> None:
    def read(groupby: Any) -> list[Any]:
        return [(k, next(group)) for k, group in groupby("aaabbc")]

    assert read(overlays.groupby) == read(itertools.groupby)


def counted(events: list[Any]) -> Iterator[int]:
    """Count up, noting each step."""
    for i in itertools.count():
        events.append(i)
        yield i


def test_groupby_reads_no_more_than_is_asked_for() -> None:
    seen: list[list[Any]] = []
    for make in (overlays.groupby, itertools.groupby):
        events: list[Any] = []
        iterator = make(counted(events))
        events.append("made")
        next(iterator), next(iterator)
        seen.append(events)
    assert seen[0] == seen[1]


def test_sum_rules_give_each_item_the_cotangent() -> None:
    y, pullback = registry.find(overlays.sum_of_numbers).rule([1.0, 2, 3.0], 0)  # type: ignore[union-attr]
    assert y == 6.0
    assert pullback(2.0) == ([2.0, 2.0, 2.0], 2.0)
    x = np.arange(6.0).reshape(2, 3)
    y, pullback = registry.find(overlays.sum_of_rows).rule(x, 0)  # type: ignore[union-attr]
    dy = np.array([1.0, 2.0, 3.0])
    assert (pullback(dy)[0] == np.stack([dy, dy])).all()


def test_a_sum_of_texts_is_refused_at_once() -> None:
    """It once called itself until Python had no depth left, for which an error was handled."""
    with pytest.raises(TypeError, match="can't sum strings") as caught:
        grad(lambda x: sum([x], "a"))(1.0)  # type: ignore[call-overload]
    assert caught.value.__context__ is None

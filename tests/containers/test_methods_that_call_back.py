"""Methods of containers that call code of the user's meanwhile, as CPython calls it."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, grad
from tests.support.gradients import check
from tests.support.pairs import rotating

X = np.array([2.1, 0.7, 1.3])
NUMBERS = [3.0, 1.0, 2.0]


# A list is empty while it is sorted.


def key_that_measures(x):
    items = [x[0], x[1], x[2]]
    items.sort(key=lambda v: len(items) * v)
    return items[0] + 10 * items[1] + 100 * items[2]


def key_that_appends(x):
    items = [x[0], x[1], x[2]]

    def key(v):
        items.append(v)
        return v

    try:
        items.sort(key=key)
    except ValueError as error:
        return items[2] * len(str(error)) + len(items)
    return items[2]


def key_that_raises(x):
    items = [x[0], x[1], x[2]]

    def key(v):
        items.append(v)
        if len(items) > 1:
            raise KeyError
        return v

    try:
        items.sort(key=key, reverse=True)
    except KeyError:
        return items[0] * 2 + items[1] * 3 + len(items)
    return items[0]


def comparison_that_looks(x):
    class Item:
        def __init__(self, v):
            self.v = v

        def __lt__(self, other):
            return self.v < other.v if items else self.v > other.v

    items = [Item(v) for v in x]
    items.sort()
    return items[0].v + 10 * items[1].v + 100 * items[2].v


def global_list(x):
    try:
        NUMBERS.sort(key=lambda v: NUMBERS.append(v) or v)
    except ValueError:
        return NUMBERS[0] * x[0] + 3 * NUMBERS[1] * x[1]
    return x[0]


# What is missing is made by name too.


class ByName(defaultdict):
    def __missing__(self, key):
        return super().__missing__(key)


class Twice(defaultdict):
    def __missing__(self, key):
        return defaultdict.__missing__(self, key) * 2


LISTS, TWICE = ByName(list), Twice(lambda: 2.0)


def missing_by_super(x):
    d = ByName(lambda: x[0])
    return d["a"] * x[1]


def missing_by_class(x):
    d = Twice(lambda: x[0])
    return d["a"] * x[1] + d["a"] + len(d)


def missing_by_name(x):
    d: Any = defaultdict(lambda: x[0])
    d.__missing__("a")
    return d["a"] * x[1]


def without_factory(x):
    d: Any = defaultdict(None)
    try:
        d.__missing__("a")
    except KeyError:
        return 3 * x[0]
    return x[1]


def global_dicts(x):
    LISTS["a"].append(x[0])
    return sum(LISTS["a"]) * TWICE["a"]


@pytest.mark.parametrize("f", [
    key_that_measures, key_that_appends, key_that_raises, comparison_that_looks, global_list,
    missing_by_super, missing_by_class, missing_by_name, without_factory, global_dicts,
])  # fmt: skip
def test_gradient_and_state(f: Callable[[Any], Any]) -> None:
    NUMBERS[:] = [3.0, 1.0, 2.0]
    LISTS.clear()
    TWICE.clear()
    expected = grad(f)(X)
    assert NUMBERS == [3.0, 1.0, 2.0]
    assert not LISTS
    assert not TWICE
    np.testing.assert_array_equal(grad(lambda x: checkpoint(f, x))(X), expected)
    if f not in (global_list, global_dicts):
        check(f, X)
    slopes = {global_list: [1.0, 6.0, 0.0], global_dicts: [4.0, 0.0, 0.0]}
    np.testing.assert_allclose(expected, slopes.get(f, expected))


# Dicts of other classes are read as they are stored, unless they iterate in their own way.


class Keys(dict):
    def keys(self) -> Any:
        return ["a"]

    def __getitem__(self, key: Any) -> Any:
        return dict.__getitem__(self, key) * 10


class KeysAndOrder(Keys):
    def __iter__(self) -> Any:
        return iter(["b"])


class Order(dict):
    def __iter__(self) -> Any:
        return iter(["a"])

    def __getitem__(self, key: Any) -> Any:
        return dict.__getitem__(self, key) * 10


def total(**values: Any) -> Any:
    return sum(values.values())


def updated(d: Any, other: Any) -> Any:
    d.update(other)
    return d


def merged(d: Any, other: Any) -> Any:
    d |= other
    return d


COPIES: dict[str, Callable[[Any, Any], Any]] = {
    "dict": lambda d, x: sum(dict(d).values()),
    "call": lambda d, x: total(**d),
    "display": lambda d, x: sum({**d}.values()),
    "update": lambda d, x: sum(updated({"a": x[2], "c": x[1]}, d).values()),
    "by name": lambda d, x: dict.update(e := {"a": x[2]}, d) or sum(e.values()),
    "merge": lambda d, x: sum(merged({"a": x[2], "c": x[1]}, d).values()),
    "or": lambda d, x: sum(({} | d).values()),
    "defaultdict": lambda d, x: sum(defaultdict(float, d).values()),
    "counter": lambda d, x: sum(Counter(d).values()),
    "ordered": lambda d, x: sum(OrderedDict(d).values()),
    "ordered update": lambda d, x: sum(updated(OrderedDict(a=x[2]), d).values()),
    "copy": lambda d, x: sum(d.copy().values()),
}


@pytest.mark.parametrize(("kind", "name"), rotating([Keys, KeysAndOrder, Order], COPIES))
def test_copies_of_dicts_of_other_classes(kind: type[dict[Any, Any]], name: str) -> None:
    check(lambda x: COPIES[name](kind(a=x[0], b=x[1]), x) * x[2], X)

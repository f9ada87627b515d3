"""Tangents and cotangents with more parts, or other shapes, than the values that they belong to."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    InvalidTangentError,
    MutableTangent,
    NoTangent,
    Tangent,
    debug_mode,
    grad,
    hook,
    hvp,
    jvp,
    value_and_hvp,
    vjp,
)

pytestmark = pytest.mark.without_modes("what is refused is the same in every mode")

Pair = namedtuple("Pair", "a b")
Triple = namedtuple("Triple", "a b c")


@dataclass
class Point:
    a: Any
    b: Any

    @cached_property
    def size(self) -> Any:
        return self.a + self.b


@dataclass
class Point3(Point):
    c: Any


@dataclass(frozen=True)
class Frozen:
    a: Any
    b: Any


class Slots:
    __slots__ = ("a", "b")

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b


ONE = {"a": 1.0, "b": 1.0}
MORE = {**ONE, "c": 1.0}
A = np.array([1.0, 2.0])


def total(v: Any) -> Any:
    """Return the sum of all squares in a value."""
    if isinstance(v, (float, np.ndarray)):
        return np.sum(v * v)
    if isinstance(v, (int, str)):
        return 0.0
    if isinstance(v, dict):
        return sum([total(v[key]) for key in v])
    if isinstance(v, (tuple, list, deque)):
        return sum([total(part) for part in v])
    return total(v.a) + total(v.b)


UNFIT = [
    ([3.0, 2.0], [1.0, 1.0, 7.0]),
    ([3.0, 2.0], np.ones(3)),
    ([3.0, 2.0], {0: 1.0, 1: 1.0, 2: 1.0}),
    ([3, 2.0], [NoTangent(), 1.0, 1.0]),
    ((3.0, 2.0), (1.0, 1.0, 7.0)),
    ((1.0, (2.0, A)), (1.0, (1.0, np.ones(2), 3.0))),
    ([[1.0, 2.0], [3.0]], [[1.0, 1.0], [1.0, 1.0]]),
    (deque([1.0, 2.0]), deque([1.0, 1.0, 1.0])),
    ({"a": 1.0, "b": 2.0}, MORE),
    ({"a": 1.0, "b": 2.0}, Tangent(**MORE)),
    ({"a": 1.0, "b": 2.0}, defaultdict(float, a=1.0)),
    ({"a": 1.0, "b": 2.0}, Counter(a=1)),
    (OrderedDict(a=1.0, b=2.0), MORE),
    ([{"a": A}], [{"a": np.ones(2), "z": 1.0}]),
    (Pair(1.0, 2.0), Triple(1.0, 1.0, 1.0)),
    (Pair(1.0, 2.0), Tangent(**MORE)),
    (Point(1.0, 2.0), Point3(1.0, 1.0, 1.0)),
    (Point(1.0, 2.0), MutableTangent(**MORE)),
    (Frozen(1.0, 2.0), Tangent(**MORE)),
    (Slots(1.0, 2.0), MutableTangent(**MORE)),
    (SimpleNamespace(a=1.0, b=2.0), SimpleNamespace(**MORE)),
    ([A, A[:1]], [np.ones(2), np.ones(1), np.ones(1)]),
    (A, np.ones((1, 2))),
    (A, np.ones(1)),
    (A, 1.0),
    (2.0, np.ones(1)),
]
FIT = [
    ([3.0, 2.0], [1.0, 1.0]),
    ([3, 2.0], [NoTangent(), 1.0]),
    ({"a": 1.0, "b": 2.0}, dict(ONE)),
    ({"a": 1.0, "b": 2.0}, defaultdict(float, ONE)),
    (Pair(1.0, 2.0), Pair(1.0, 1.0)),
    (Pair(1.0, 2.0), Tangent(**ONE)),
    (Point(1.0, 2.0), Point(1.0, 1.0)),
    (Point(1.0, 2.0), MutableTangent(**ONE)),
    (Frozen(1.0, 2.0), Frozen(1.0, 1.0)),
    (Slots(1.0, 2.0), MutableTangent(**ONE)),
    (SimpleNamespace(a=1.0, b=2.0), SimpleNamespace(**ONE)),
    (A, [1.0, 1.0]),
    (2.0, 1),
]


def in_debug_mode(p: Any, t: Any) -> Any:
    with debug_mode():
        return jvp(total, (p,), (t,))


WAYS = {
    "jvp": lambda p, t: jvp(total, (p,), (t,)),
    "debug": in_debug_mode,
    "hvp": lambda p, t: hvp(total, (p,), t),
    "value_and_hvp": lambda p, t: value_and_hvp(total, (p,), t),
    "jvp inside": lambda p, t: grad(lambda x: jvp(total, (p,), (t,))[1] * x)(1.0),
    "vjp": lambda p, t: vjp(lambda x: x, p)[1](t),
    "hook": lambda p, t: grad(lambda x: total(hook(lambda g: t, x)))(p),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_does_not_fit_is_refused(way: str) -> None:
    for primal, tangent in UNFIT:
        before = repr(tangent)
        with pytest.raises(InvalidTangentError):
            WAYS[way](deepcopy(primal), tangent)
        assert repr(tangent) == before


@pytest.mark.parametrize("way", WAYS)
def test_what_fits_is_taken(way: str) -> None:
    for primal, tangent in FIT:
        WAYS[way](deepcopy(primal), deepcopy(tangent))


def test_the_part_is_named() -> None:
    with pytest.raises(InvalidTangentError, match=r"tangents\[0\]\[1\]\['c'\].*parts 'a', 'b'"):
        jvp(lambda v: total(v[1]), ((1.0, {"a": 1.0, "b": 2.0}),), ((1.0, MORE),))
    with pytest.raises(InvalidTangentError, match=r"v\['c'\] does not fit"):
        hvp(total, ({"a": 1.0, "b": 2.0},), MORE)
    with pytest.raises(InvalidTangentError, match=r"for its part \['c'\]"):
        grad(lambda v: total(hook(lambda g: MORE, v)))({"a": 1.0, "b": 2.0})


def test_properties_that_are_computed_once_are_no_parts() -> None:
    tangent = Point(1.0, 1.0)
    assert tangent.size == 2.0
    assert jvp(total, (Point(1.0, 2.0),), (tangent,)) == (5.0, 6.0)

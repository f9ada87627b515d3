"""Lengths of arguments that decide structure: they are compared in each call."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from mooncake_py import value_and_grad
from tests.compiler.native.reading.decided import agrees, agrees_compiled

pytestmark = pytest.mark.plain

X = np.array([0.3, 0.7, -0.4, 1.1])


class Tank:
    def __init__(self, level, area):
        self.level, self.area = level, area
        self.links = []

    def connect(self, other, rate):
        self.links.append((other, rate))
        other.links.append((self, rate))

    def gain(self):
        total = -0.1 * self.level
        for other, rate in self.links:
            total = total + rate * (other.level - self.level)
        return total / self.area


class Model:
    def __init__(self, areas):
        self.areas = areas


def of_an_array(x, rate):
    """Objects that know one another, one for each element."""
    tanks = [Tank(h * h, 1.0 + 0.1 * k) for k, h in enumerate(x)]
    for a, b in pairwise(tanks):
        a.connect(b, rate)
    for _ in range(5):
        gains = [t.gain() for t in tanks]
        for t, g in zip(tanks, gains, strict=True):
            t.level = t.level + 0.2 * g
    return sum(t.level * t.area for t in tanks)


def of_a_list(x, p):
    tanks = []
    for n, area in enumerate(p["areas"]):
        tanks.append(Tank(x[n % len(x)] * area, area))
    names = {f"tank {k}": t for k, t in enumerate(tanks)}
    return names["tank 1"].gain() + names[f"tank {len(tanks) - 1}"].level ** 2


def of_an_attribute(x, o):
    ends = {0: 2.0, len(o.areas): 3.0}
    total = 0.0
    for i in range(len(o.areas) + 1):
        total += ends.get(i, 0.5) * x[i % 4] ** 2
    return total


def of_pairs(x, a):
    """Pairs of ints that loops make are indices of objects."""
    tanks = [Tank(h, 1.0) for h in x]
    pairs = [(i, i + 1) for i in range(len(x) - 1)]
    for i in range(len(x) - 2):
        pairs += [(i, i + 2)]
    for i, j in pairs:
        tanks[i].connect(tanks[j], a[i])
    return sum(t.gain() ** 2 for t in tanks)


def either_list(x, a):
    more = [x[0], x[1] ** 2] if len(a) > 2 else [x[2]]
    return sum(v * v for v in more)


CALLS = [
    (of_an_array, [(0.3,), (0.4,)]),
    (of_a_list, [({"areas": [1.0, 2.0]},), ({"areas": [1.0, 2.0, 0.5]},), ({"areas": [3.0] * 5},)]),
    (of_an_attribute, [(Model(np.ones(2)),), (Model(np.ones(3)),), (Model(np.zeros(2)),)]),
    (of_pairs, [(np.array([0.2, 0.4, 0.3]),), (np.array([0.1, 0.4, 0.3, 7.0]),)]),
    (either_list, [(np.ones(2),), (np.ones(4),), (np.zeros(2),)]),
]


@pytest.mark.parametrize(("f", "calls"), CALLS)
def test_lengths_are_compared_in_each_call(f: Any, calls: Any, tried: list[bool]) -> None:
    for args in calls:
        agrees_compiled(f, tried, X, *args)


def test_other_lengths_are_read_again(tried: list[bool]) -> None:
    for n in (4, 2, 3, 4, 3, 1):
        agrees_compiled(of_an_array, tried, X[:n].copy(), 0.3)
    for n in (5, 6, 7):  # too many: the plain way
        agrees(of_an_array, np.linspace(0.1, 1.0, n), 0.3)


def test_long_ones_run_plainly(tried: list[bool]) -> None:
    agrees(of_an_array, np.linspace(0.1, 1.0, 70), 0.3)
    with pytest.raises(KeyError):
        value_and_grad(of_a_list, compile=True)(X, {"areas": [1.0]})

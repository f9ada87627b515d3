"""`map`, `filter`, `zip`, `enumerate` and `reversed` as values."""

# ruff: noqa: C417, RUF007

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.compiler.native.reading.every_way import require_agreement, require_whole

pytestmark = pytest.mark.plain


def of_all(x, a):
    s = sum(map(math.sin, x)) + max(map(abs, x)) + sum(map(lambda p, q: p * q, x, x[1:]))
    p, q = map(lambda t: t * a, (x[0], x[1]))
    rows = np.array(list(map(np.cos, x)))
    is_small = all(map(lambda t: t < 50.0, x))
    is_small = is_small and not any(map(lambda t: t > 40.0, x))
    return s + p * q + np.sum(rows * x) + (a if is_small else 0.0)


def of_loops(x, a):
    s = 0.0
    for v in map(float, x):
        s += v * v
    for k, v in enumerate(filter(lambda t: t > 0, x)):
        s += v * (k + a)
    kept = list(filter(None, [x[0], 0.0, x[2] * a]))
    return s * len(kept) + kept[1]


def once(x, a):
    """What an iterator has given it does not give again."""
    pairs = zip(x[:3], x[1:], strict=True)
    s = sum(p * q for p, q in pairs)
    known = zip((1, 2), (3, 4), strict=True)
    first, second = len(list(known)), len(list(known))
    numbered, back = enumerate([x[0], x[1] * a]), reversed([x[2], a, x[3]])
    for k, v in numbered:
        s += k * v
    for v in back:
        s = s * 0.5 + v
    return s * (first + 10 * second)


class Meter:
    def __init__(self, rate):
        self.rate = rate
        self.read = 0.0

    def __call__(self, v):
        self.read += v
        return v * self.rate


def interleaved(x, a):
    """The function runs where an item is taken, with what there is then."""
    meter, k, total = Meter(a), 1.0, 0.0
    scaled = map(lambda v: v * k, (x[0], x[1], x[2]))
    for v in scaled:
        k = k + v
        total += v * k
    for v in map(meter, x[:3]):
        meter.rate = meter.rate * 0.5
        total += v * meter.read
    f = lambda v: v * a  # noqa: E731
    later = map(f, [x[0], x[3]])
    f = lambda v: v * 100.0  # noqa: E731
    return total + sum(later) + f(x[1])


@pytest.mark.parametrize("f", [of_all, of_loops, once, interleaved], ids=lambda f: f.__name__)
def test_iterators_of_builtin_functions_are_read(f: Any, tried: list[bool]) -> None:
    require_whole(f, tried)


def left_early(x, a):
    values = map(lambda v: v * a, x)
    s = 0.0
    for v in values:
        s += v
        break
    return s + sum(values)


def changed_meanwhile(x, a):
    items = [x[0], x[1]]
    values = map(lambda v: v * a, items)
    items.append(x[2])
    items[0] = x[3]
    return sum(values)


def my(f, x):
    return [2.0 * f(v) for v in x]


def another_map(x, a):
    map = my
    return sum(map(math.sin, x)) * a


@pytest.mark.parametrize("f", [left_early, changed_meanwhile, another_map])
def test_values_are_those_of_the_plain_way(f: Any) -> None:
    require_agreement(f)


def test_unequal_lengths_end_with_the_shorter_one(tried: list[bool]) -> None:
    def f(x, a):
        s = sum(p * q for p, q in zip(x, x[1:], strict=False))
        for p, q, r in zip(x[2:], x, x[1:], strict=False):
            s += p * q * r
        return s * a

    require_whole(f, tried)

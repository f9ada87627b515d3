"""`sorted`, `list.sort` and `bisect` by numbers that are known only when the code runs."""

from __future__ import annotations

import bisect
import math
from typing import NamedTuple

import numpy as np
import pytest

from mooncake_py import value_and_grad
from mooncake_py.compiler.native.site import report
from tests.compiler.native.reading.every_way import require_agreement, require_whole

pytestmark = pytest.mark.plain


class Event(NamedTuple):
    time: float
    size: float
    kind: int


class Body:
    def __init__(self, at, mass):
        self.at, self.mass = at, mass


def of_numbers(x, a):
    values = [float(x[0]), a, float(x[2]), 0.1, a * 2.0]
    found = sorted(values)
    down = sorted(values, reverse=True)
    found[0] = 5.0 * a  # a new list
    total = down[0] - 2.0 * down[4] + values[3]
    for k, v in enumerate(found):
        total += v * v * (k + 1)
    return total


def of_tuples(x, a):
    events = [Event(float(x[k % 4]), a * k, k) for k in range(6)]  # with equal times
    total, before = 0.0, -1.0
    for e in sorted(events, key=lambda e: e.time):
        total += (e.time - before) * math.sin(e.size + a) * (e.kind + 1)
        before = e.time
    first = sorted([(x[1] * a, 1.0), (x[0], a)], key=lambda p: p[0], reverse=True)[0]
    return total + first[1] * first[0]


def of_objects(x, a):
    bodies = [Body(x[k], a * (k + 1)) for k in range(4)]
    ranked = sorted(bodies, key=lambda b: b.at * a)
    ranked[0].mass += 2.0 * a
    total = 0.0
    for k, b in enumerate(ranked):
        total += b.mass * b.at * (k + 1)
    return total + bodies[1].mass * bodies[0].mass


def in_place(x, a):
    queue = [(float(x[2]), a), (float(x[0]), 2.0)]
    queue.append((a, 3.0 * a))
    queue.sort(key=lambda p: p[0])
    time, size = queue.pop(0)
    numbers = [float(v) * a for v in x]
    kept = numbers
    numbers.sort()
    return time * size + queue[0][1] + kept[0] - numbers[3] * numbers[1]


def of_arrays(x, a):
    ordered = sorted(x * a)
    total = 0.0
    for k in range(len(ordered)):
        total += ordered[k] * (k + a)
    return total


def by_search(x, a):
    times = [0.0, 0.25, float(a), 2.0]
    total = 0.0
    for v in x:
        k = bisect.bisect_right(times, v)
        j = bisect.bisect_left(times, 0.25)
        total += times[max(k - 1, 0)] * v + j * v * v
    return total + bisect.bisect(times, a)


CASES = [of_numbers, of_tuples, of_objects, in_place, of_arrays, by_search]


@pytest.mark.parametrize("f", CASES)
def test_it_is_compiled_whole(f, tried) -> None:
    require_whole(f, tried)


def test_other_orders_ties_and_lengths_are_noticed() -> None:
    def f(pairs, a):
        total = 0.0
        for k, (t, w) in enumerate(sorted(pairs, key=lambda p: -p[0])):
            total += t * w * (k + a)
        return total

    derivative = value_and_grad(f, compile=True)
    pairs = [(0.5, 1.0), (0.2, 3.0), (0.9, -1.0)]
    for found in (pairs, pairs[::-1], [*pairs, (0.5, 7.0)], [*pairs, (1.5, 7.0)], pairs[:1]):
        for _ in range(2):
            assert derivative(found, 0.3) == value_and_grad(f)(found, 0.3)
    with_nan = [*pairs, (math.nan, 1.0)]
    assert math.isnan(derivative(with_nan, 0.3)[0])
    assert report(f)[0].found.startswith("compiled")


def by_ints(x, a):
    kinds = sorted([3, int(a * 3.0), 1])
    return kinds[1] * x[0] + sorted("hello")[1].count("h")


def by_tuples(x, a):
    return sorted([(float(x[0]), a), (float(x[1]), 2.0)])[0][1]


def test_other_keys_are_right() -> None:
    for f in (by_ints, by_tuples):
        require_agreement(f)


def test_a_vector_is_left_as_it_was() -> None:
    x = np.array([3.0, 1.0, 2.0])
    value, g = value_and_grad(lambda x: sorted(x)[1] * x[0], compile=True)(x)
    assert value == 6.0
    np.testing.assert_array_equal(g, [2.0, 0.0, 3.0])
    np.testing.assert_array_equal(x, [3.0, 1.0, 2.0])

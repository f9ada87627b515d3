"""`collections.deque` of known length."""

from __future__ import annotations

import math
from collections import deque

import pytest
from numpy.testing import assert_allclose

from mooncake_py import hvp, jvp, value_and_grad
from mooncake_py.compiler.native.building.types import type_of
from mooncake_py.compiler.native.building.values import Unfit
from mooncake_py.compiler.native.reading.reader import read_function
from tests.compiler.native.agreeing import require_compiled

pytestmark = pytest.mark.plain


def delay(a, n, size):
    """A line of delays, of which each pass pushes the oldest item out."""
    line, total, x = deque([0.0] * size, maxlen=size), 0.0, a
    other = line
    for i in range(n):
        out = line[0]
        line.append(x)
        x = 0.9 * x - 0.1 * out + math.sin(a * i)
        total += out * line[-1]
    return total + sum(other) * max(other) + len(line) + line.maxlen


def methods(a, n, size):
    d = deque([a, 2.0 * a, 3.0])
    d.appendleft(a * a)
    d.append(7.0)
    d.rotate(size)
    total = d[0] * d[1]
    d.rotate(-1)
    total += d.pop() * 2.0 + d.popleft()
    d.extend([a, 1.0])
    d.extendleft((a * 3.0, 2.0))
    d.reverse()
    e = d.copy()
    e.append(a)
    d.clear()
    d.append(4.0 * a)
    d[0] += 1.0
    d += [a]
    last_two = deque((x * 2.0 for x in (a, 3.0, a * 4.0)), maxlen=2)
    last_two.appendleft(a**3)
    nothing = deque([a], 0)
    nothing.append(3.0)
    if isinstance(d, list) or nothing or not isinstance(d, deque):
        total += 100.0
    total += sum(k * x for k, x in enumerate(e)) + list(e)[1:][0] * tuple(e)[2] + len(e)
    return total + d[-1] + last_two[0] * last_two[1] + (5.0 if e.maxlen is None else 0.0)


def at_both_ends(a, n, size):
    d = deque([0.0, a, 1.0], size)
    for i in range(n):
        if math.sin(i * a) > 0.0:
            d.append(d[0] * 0.5 + a)
        else:
            d.appendleft(i * a)
        if i > 50:
            break
    return sum(k * x for k, x in enumerate(d))


class Walker:
    def __init__(self):
        self.trail, self.x = deque([0.0] * 3, maxlen=3), 0.0

    def go(self, step):
        self.x += step
        self.trail.append(self.x * self.x)


def trails(a, n, size):
    one, other = Walker(), Walker()
    for _ in range(n):
        one.go(a)
        other.go(a * one.x)
    return sum(one.trail) + sum(other.trail) * other.trail[0]


FUNCTIONS = [delay, methods, at_both_ends, trails]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_agree_with_the_plain_way(f, tried) -> None:
    for a, n, size in ((0.31, 70, 3), (0.3, 80, 3), (0.31, 70, 5)):  # another length is noticed
        if f is at_both_ends and size > 3:
            continue  # that would get longer
        found, h = value_and_grad(f, 0, compile=True)(a, n, size)
        assert_allclose(found, f(a, n, size), rtol=1e-12)
        assert_allclose(h, value_and_grad(f, 0)(a, n, size)[1], rtol=1e-10)
        require_compiled(f, tried)
    of_a = lambda a: f(a, 70, 3)  # noqa: E731
    slope = (of_a(0.31 + 1e-6) - of_a(0.31 - 1e-6)) / 2e-6
    assert_allclose(jvp(of_a, (0.31,), (1.0,), compile=True)[1], slope, rtol=1e-5)
    second = [hvp(of_a, (0.31,), 1.0, compile=way) for way in (False, True)]
    assert_allclose(second[1], second[0], rtol=1e-9)


def of_another_type(a):
    return a if deque([1.0, 2.0]) == [1.0, 2.0] else 2.0 * a


def as_a_sum(a):
    return sum(deque([a]) + deque([1.0]))


def given_back(a):
    return deque([a, 2.0])


@pytest.mark.parametrize("f", [of_another_type, as_a_sum, given_back], ids=lambda f: f.__name__)
def test_what_is_no_list_is_not_read_as_one(f) -> None:
    with pytest.raises(Unfit, match="deque"):
        read_function(f, [type_of(0.3)])
    if f is not given_back:
        assert value_and_grad(f, compile=True)(0.3) == value_and_grad(f)(0.3)


def changed_meanwhile(a):
    d, total = deque([a, 2.0, 3.0]), 0.0
    for x in d:
        total += x
        d.append(1.0)
        d.popleft()
    return total


def sliced(a):
    return sum(deque([1.0, 2.0, a])[1:])


@pytest.mark.parametrize(("f", "error"), [(changed_meanwhile, RuntimeError), (sliced, TypeError)])
def test_what_python_refuses_is_refused(f, error) -> None:
    with pytest.raises(error):
        value_and_grad(f, compile=True)(0.3)


def windows(a, n):
    """Filled in the first passes, which come before the loop."""
    short, full, total, x = deque(maxlen=4), deque(maxlen=3), 0.0, a
    sums = {}
    for i, y in enumerate([a * math.cos(k) for k in range(n)]):
        x = 0.9 * x + y
        short.append(x)
        full.append(x * i)
        sums["all"] = sums.get("all", 0.0) + x
        total += sum(short) / len(short)
        if len(full) < full.maxlen:
            continue
        total += full[0] * full[2] * i
    return total * sums["all"] + len(short)


def test_a_window_that_fills_is_read(tried) -> None:
    f = value_and_grad(windows, 0, compile=True)
    for n in (100, 120, 5, 4, 3, 2):  # with few passes it does not get full
        assert_allclose(f(0.31, n), value_and_grad(windows, 0)(0.31, n), rtol=1e-10)
        if n == 120:
            require_compiled(windows, tried)
    with pytest.raises(KeyError):
        f(0.31, 0)
    of_a = lambda a: windows(a, 100)  # noqa: E731
    slope = (of_a(0.31 + 1e-6) - of_a(0.31 - 1e-6)) / 2e-6
    assert_allclose(jvp(of_a, (0.31,), (1.0,), compile=True)[1], slope, rtol=1e-5)
    second = [hvp(of_a, (0.31,), 1.0, compile=way) for way in (False, True)]
    assert_allclose(second[1], second[0], rtol=1e-9)

"""Functions that bind variables of functions around them, and outlast these."""

from __future__ import annotations

from typing import Any

import pytest

from tests.compiler.native.reading.every_way import require_agreement, require_whole

pytestmark = pytest.mark.plain


def make_counter(start, factor):
    count, total = 0, start

    def step(t):
        nonlocal count, total
        count += 1
        total = total * factor + t
        return total

    def seen():
        return total * count

    return step, seen


def counters(x, a):
    step, seen = make_counter(x[0], a)
    other, others = make_counter(a, x[1])
    y = step(x[2]) + 10.0 * step(x[3])
    for v in x:
        y += other(v)
        if v > 0.4:
            y += other(a)
    return y + seen() * others()


def in_branches(x, a):
    best = x[0]

    def improve(t):
        nonlocal best
        if t > best:
            best = t * a
            return 1
        return 0

    found = 0
    for v in x:
        found += improve(v)
    return best * found


def operands(x, a):
    n = x[0]

    def double():
        nonlocal n
        n = n * 2.0
        return n

    def passed(k):
        double()
        return k * n

    y = n * double() + double() * n
    y += passed(n) + passed(k=n)
    n = n + a
    return y + double()


def made_by_makers(x, a):
    def scaled(k):
        return lambda t: k * t

    def both(f, g):
        return lambda t: f(t) + g(t * t)

    u = x * a
    f = both(scaled(a), scaled(u[1]))
    a = a * 3.0
    return f(x[2]) * f(a)


class Account:
    def __init__(self, value):
        self.value = value

    def grow(self):
        self.value = self.value * 2.0
        return self.value

    def both(self, k):
        self.grow()
        return k + self.value


def attributes_that_are_passed(x, a):
    account = Account(x[0] * a)
    pair = (account.value, a)
    y = account.both(account.value)
    return y * account.both(k=account.value) + pair[0]


FUNCTIONS = [counters, in_branches, operands, made_by_makers, attributes_that_are_passed]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_every_mode(f: Any, tried: list[bool]) -> None:
    require_whole(f, tried)


@pytest.mark.usefixtures("tried")
def test_arrays_that_a_function_within_binds_anew() -> None:
    def f(x, a):
        u = x * a
        old = u

        def step():
            nonlocal u
            u[0] = a
            u = u * 2.0

        step()
        for _ in range(3):
            step()
        return (u @ u) + old[0] * old[1]

    require_agreement(f)

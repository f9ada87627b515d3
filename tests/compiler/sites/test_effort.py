"""Loops that have little to do run as they are written; what they do is estimated before."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py.compiler.regions.evaluate import Work
from mooncake_py.compiler.regions.ir import Assign, Const, For, If, Load, Name, Op, While
from mooncake_py.compiler.regions.ir import Compare as Comparison
from mooncake_py.compiler.sites import effort
from tests.compiler.comparing import agrees

S, ONE = Name("s"), Const(1.0)
STEP = Assign(S, Op("add", (S, Load("x", (Name("i"),)))))  # three: itself, the sum, the element


def loop(name, n, *body):
    return For(name, Op("range", (n,)), body)


def test_work_is_counted_pass_by_pass():
    flat = loop("i", Name("n"), STEP, STEP)
    assert Work(flat.body).own == 6
    assert Work(flat.body).amount(flat, range(10), {}) == 60
    assert Work(flat.body).amount(flat, range(10), {}, more=4) == 100
    assert Work(flat.body).amount(flat, range(0), {}) == 0


def test_work_of_nests_is_that_of_the_middle_of_each_range():
    nest = loop("k", Name("n"), STEP, loop("i", Name("k"), STEP))
    assert Work(nest.body).amount(nest, range(10), {}) == 10 * (3 + 5 * 3)
    assert Work(nest.body).amount(nest, range(10), {}, more=1) == 10 * (3 + 5 * 4)
    unknown = loop("k", Name("n"), loop("i", Name("m"), STEP))
    assert Work(unknown.body).amount(unknown, range(10), {}) is None


def test_work_that_may_go_on_has_no_known_end():
    test = Comparison(("lt",), (S, ONE))
    assert not Work((While(test, (STEP,)),)).ends
    assert not Work((loop("i", ONE, While(test, (STEP,))),)).ends
    assert Work((If(test, (STEP,), (STEP,)),)).own == 7


def numbers(x, n):
    s = x[0]
    for _ in range(n):
        s = s * 0.9 + 0.1
    return s


def pairs(x, n):
    s, items = 0.0, [x[0]] * n
    for a, b in zip(items, items):  # noqa: B905
        s = s + a * b
    return s


def made(x, n):
    items = [x[0], x[1]] * (n // 2)
    items = [a * 0.9 for a in items]
    return items[0] * items[-1]


def within(x, n):
    s = 0.0
    for _ in range(2):
        for _ in range(n):
            s = s + x[0] * x[1]
    return s


@pytest.mark.plain
@pytest.mark.parametrize("f", [numbers, pairs, made, within])
def test_only_long_loops_are_tried(f, taken, monkeypatch):
    monkeypatch.setattr(effort, "LEAST", 160)
    x = np.array([0.7, -1.2])
    for n in (4, 400):
        tried = list(taken)
        agrees(f, x, n)
        assert (True in taken[len(tried) :]) == (n > 4)

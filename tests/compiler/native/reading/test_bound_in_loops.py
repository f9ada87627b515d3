"""Variables that only loops bind: where these have not run, they are not bound after them.

Compiled functions leave that to the plain way, which raises `UnboundLocalError`.
"""
# pyright: reportPossiblyUnboundVariable=false, reportOperatorIssue=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, jvp
from mooncake_py.compiler.native.site import report

pytestmark = pytest.mark.plain

X = np.array([1.0, 2.0, 3.0, 4.0])


def within_a_loop(x, n):
    for _ in range(2):
        for j in range(n):
            w = x[j] * 2.0
    return w * x[0]


def within_two_loops(x, n):
    for _ in range(2):
        for i in range(3):
            for j in range(n):
                w = x[j] * i
    return w * x[0]


def within_a_loop_of_its_counter(x, n):
    for i in range(n):
        q = x[i] * 2.0
        for j in range(i):
            w = q * x[j]
    return q + w


def over_elements(x, n):
    for a in x[:2]:
        for b in x[:n]:
            w = a * b
    return w


def on_two_sides(x, n):
    if x[0] > 0.0:
        for i in range(n):
            w = x[i] * 2.0
    else:
        for i in range(4):
            w = x[i] * 3.0
    return w * x[1]


def by_two_loops(x, n):
    for i in range(n):
        w = x[i] * 2.0
    for i in range(n - 1):
        w = w * x[i]
    return w


def by_a_loop_and_a_while_loop(x, n):
    for i in range(n):
        w = x[i] * 2.0
    i = 0
    while i < n:
        w = w * x[i]
        i += 1
    return w


def before_a_branch(x, n):
    for i in range(n):
        w = x[i] * 2.0
    if n > 2:
        w = w * x[1]
    return w


def before_a_break(x, n):
    for i in range(4):
        for j in range(n):
            w = x[j] * 2.0
        if i > n:
            break
    return w


WHOLE = [
    within_a_loop, within_two_loops, over_elements, on_two_sides, by_two_loops,
    by_a_loop_and_a_while_loop, before_a_branch, before_a_break,
]  # fmt: skip


def outcome(f: Any, n: int, **options: Any) -> Any:
    try:
        return grad(f, **options)(X, n)
    except UnboundLocalError as error:
        return np.array([ord(c) for c in str(error)], float)


@pytest.mark.parametrize("f", [*WHOLE, within_a_loop_of_its_counter], ids=lambda f: f.__name__)
def test_names_that_no_loop_has_bound_raise_as_without_compilation(f, tried):
    for n in (4, 3, 2, 1, 0):
        assert_allclose(outcome(f, n, compile=True), outcome(f, n))
    with pytest.raises(UnboundLocalError):
        jvp(f, (X, 0), (X, None), compile=True)


@pytest.mark.parametrize("f", WHOLE, ids=lambda f: f.__name__)
def test_functions_that_read_them_are_compiled(f, tried):
    assert_allclose(grad(f, compile=True)(X, 3), grad(f)(X, 3))
    assert report(f)[0].found == "compiled", report(f)
    assert tried == [True]


class Rod:
    def __init__(self, n: int) -> None:
        self.n = n

    def run(self, x):
        for _ in range(2):
            for j in range(self.n):
                self.w = x[j] * 2.0
        return self.w * x[0]


def test_attributes_that_no_loop_has_bound(tried):
    def f(x, n):
        return Rod(n).run(x)

    assert_allclose(grad(f, compile=True)(X, 3), grad(f)(X, 3))
    with pytest.raises(AttributeError, match="no attribute 'w'"):
        grad(f, compile=True)(X, 0)
